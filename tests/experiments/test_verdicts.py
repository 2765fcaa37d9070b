"""Verdicts as files have them."""

import json
import math

from sharpe_bandits.experiments.verdicts import Evidence, Verdict
from sharpe_bandits.results import Estimate


def test_a_verdict_without_a_standard_error_is_written_and_read_as_json():
    """Few runs leave no standard error, and JSON has no word for that but null."""
    unknown = Estimate(1.5, math.nan, -math.inf, math.inf)
    verdict = Verdict(
        "R1.1", "R1", "paper", "less", "undecided", (Evidence("a < b", 2.0, math.nan, unknown, "undecided"),)
    )
    again = Verdict.from_dict(json.loads(json.dumps(verdict.to_dict(), allow_nan=False)))
    (evidence,) = again.evidence
    assert math.isnan(evidence.right)
    assert math.isnan(evidence.difference.se)
    assert (evidence.difference.mean, evidence.difference.low, evidence.difference.high) == (1.5, -math.inf, math.inf)
    assert again.says == verdict.says
