"""Verdicts on the claims of the paper, from paired differences and 99% intervals."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..errors import InvalidInputError, unknown
from ..experiments.panel import Claim, PanelResult
from ..experiments.verdicts import CONFIDENCE, FAILS, HOLDS, UNDECIDED, Evidence, Verdict, together
from ..metrics import Estimate, mean_of
from ..objectives import Objective
from ..results import Compared, PolicyResult
from ..study import Study
from ..theory.bound import Judgement

_SIDE = re.compile(r"^\s*(?:(?P<factor>[\d.]+)\s*\*\s*)?(?P<policy>[^@]+?)\s*@\s*(?P<case>[^@]+?)\s*$")


def judge(result: PanelResult) -> list[Verdict]:
    """Verdicts on all claims of a panel."""
    if result.panel.metric == "coverage":
        return []  # judged by theory, not by comparing policies
    return [_judge(claim, result) for claim in result.panel.claims]


def _judge(claim: Claim, result: PanelResult) -> Verdict:
    evidence = tuple(compare(check, result, claim.metric) for check in claim.checks)
    verdict = together([e.verdict for e in evidence])
    return Verdict(claim.id, result.panel.id, result.panel.profile, claim.says, verdict, evidence, claim.why)


def below_zero(difference: Estimate) -> Judgement:
    """The verdict on "this difference is below zero"."""
    if difference.high < 0:
        return HOLDS
    return FAILS if difference.low > 0 else UNDECIDED


def compare(check: str, result: PanelResult, metric: Compared | None = None) -> Evidence:
    """Judge one comparison ``"A @ K=5 < 0.5 * B @ K=5"`` at the horizon, of a metric (default: that of the study).

    Regrets in units of different objectives are not compared.
    """
    sides = check.split("<")
    if len(sides) != 2:
        raise InvalidInputError(f"{check!r} is not a comparison; write it as 'A @ K=5 < B @ K=5'")
    (left, sizes, unit), (right, other, other_unit) = (_totals(side, result, metric) for side in sides)
    if not np.array_equal(sizes, other):
        raise InvalidInputError(f"{check!r} compares cases whose runs are not paired")
    if unit != other_unit:
        raise InvalidInputError(
            f"{check!r} compares regrets of {unit} and of {other_unit}, which are in different units; compare the "
            'metric "sub-optimal plays"'
        )
    difference = mean_of(left - right, sizes, CONFIDENCE)
    runs = sizes.sum()
    check = check if metric is None else f"{metric}: {check}"
    return Evidence(check, float(left.sum() / runs), float(right.sum() / runs), difference, below_zero(difference))


def _totals(side: str, result: PanelResult, metric: Compared | None) -> tuple[np.ndarray, np.ndarray, Objective | None]:
    """The metric at the horizon per batch, times the factor; sizes of the batches; and the unit: an objective."""
    match = _SIDE.match(side)
    if match is None:
        raise InvalidInputError(f"{side!r} is not of the form 'factor * policy @ variable=value'")
    study, played = find(result, match["policy"], match["case"])
    metric = study.metric if metric is None else metric
    totals, sizes = played.totals(metric, study.objective)
    return float(match["factor"] or 1.0) * totals, sizes, study.objective if metric == "regret" else None


def find(result: PanelResult, policy: str, selector: str) -> tuple[Study, PolicyResult]:
    """The study of the case selected by, for example, ``"K=5, L=0.75"``, and the result of a policy in it."""
    parts = [part.strip().split("=") for part in selector.split(",")]
    if any(len(part) != 2 for part in parts):
        raise InvalidInputError(f"{selector!r} names no case; write it as 'K=5, L=0.75'")
    wanted = dict(parts)
    found = [
        study
        for case, study in zip(result.panel.cases, result.studies, strict=True)
        if all(_same(case.names.get(name), value) for name, value in wanted.items())
    ]
    if len(found) != 1:
        raise InvalidInputError(f"{selector!r} names {len(found)} cases of {result.panel.key}, not one")
    if policy not in found[0].names:
        raise unknown(f"policy in {result.panel.key}", policy, found[0].names)
    return found[0], found[0][policy]


def _same(value: Any, text: str) -> bool:
    if isinstance(value, str) or value is None:
        return value == text
    try:
        return float(value) == float(text)
    except ValueError:
        return False
