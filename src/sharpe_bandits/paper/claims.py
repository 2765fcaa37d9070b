"""Verdicts on the claims of the paper, from paired differences and 99% intervals, under every reading of its text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..charts.tidy_rows import AsPlotted
from ..experiments.panel import Claim, PanelResult
from ..experiments.verdicts import CONFIDENCE, SOURCES, Evidence, UnderReading, Verdict, Word, together
from ..results.metrics import Estimate, mean_of
from ..results.policy_result import Compared, PolicyResult
from ..results.study import Study
from ..theory.bound import Judgement
from .panels import statements

_SIDE = re.compile(r"^\s*(?:(?P<factor>[\d.]+)\s*\*\s*)?(?P<policy>[^@]+?)\s*@\s*(?P<case>[^@]+?)\s*$")


def judge(result: PanelResult) -> list[Verdict]:
    """Verdicts on all claims of a panel, under every reading."""
    if result.panel.metric == "coverage":
        return []  # judged by theory, not by comparing policies
    verdicts = {claim.id: _judge(claim, result) for claim in result.panel.claims}
    for other in result.readings:
        for claim in other.panel.claims:
            verdict = _judge(claim, other)
            if claim.id not in verdicts:  # a claim that is judged only there
                verdicts[claim.id] = verdict
                continue
            numbers = [[(e.left, e.right) for e in one.evidence] for one in (verdict, verdicts[claim.id])]
            if numbers[0] != numbers[1]:  # the reading concerns it
                verdicts[claim.id] = with_reading(verdicts[claim.id], verdict, other)
    return list(verdicts.values())


def with_reading(verdict: Verdict, other: Verdict, result: PanelResult) -> Verdict:
    """The verdict with that under another reading."""
    added = UnderReading(result.panel.reading, result.panel.condition, other.verdict, other.evidence)
    return replace(verdict, readings=(*verdict.readings, added))


def verdict_on(
    statement: str, result: PanelResult, evidence: Sequence[Evidence], why: str, says: str = "",
    word: Word | None = None, id: str = "",
) -> Verdict:  # fmt: skip
    """The verdict on a statement (by its name, in ``statements.toml``) in the setting of a panel: that of the evidence,
    or ``word`` if there is none.
    """
    facts = {"text": "", "important": False, **statements().get(statement, {})}
    source = SOURCES[facts.get("source", "theory" if ":" in statement else "experiments")]
    id = id or f"{result.panel.id}.{statement.partition(':')[0]}"
    word = word or together([e.verdict for e in evidence])
    setting = (id, result.panel.id, result.panel.profile, says or facts["text"], word)
    return Verdict(*setting, tuple(evidence), why, source, (), facts["text"], facts["important"])


def _judge(claim: Claim, result: PanelResult) -> Verdict:
    evidence = [compare(check, result, claim.metric) for check in claim.checks]
    return verdict_on(claim.statement, result, evidence, claim.why, claim.says, id=claim.id)


def below_zero(difference: Estimate) -> Judgement:
    """The verdict on "this difference is below zero"."""
    return "holds" if difference.high < 0 else "fails" if difference.low > 0 else "undecided"


def compare(check: str, result: PanelResult, metric: Compared | AsPlotted | None = None) -> Evidence:
    """Judge one comparison ``"A @ K=5 < 0.5 * B @ K=5"`` at the horizon, of a metric (default: that of the study)."""
    (left, sizes), (right, other) = (_totals(side, result, metric) for side in check.split("<"))
    assert np.array_equal(sizes, other), f"{check!r} compares cases whose runs are not paired"
    difference = mean_of(left - right, sizes, CONFIDENCE)
    runs = sizes.sum()
    check = check if metric is None else f"{metric}: {check}"
    return Evidence(check, float(left.sum() / runs), float(right.sum() / runs), difference, below_zero(difference))


def _totals(side: str, result: PanelResult, metric: Compared | AsPlotted | None) -> tuple[np.ndarray, np.ndarray]:
    """The metric at the horizon per batch, times the factor; and the sizes of the batches."""
    match = _SIDE.match(side)
    assert match, f"{side!r} is not of the form 'factor * policy @ variable=value'"
    study, played = find(result, match["policy"], match["case"])
    factor = float(match["factor"] or 1.0)
    if metric == "regret as plotted":
        factor, metric = factor * plotted_gap(study, played), "sub-optimal plays"
    totals, sizes = played.totals(metric or study.metric, study.objective)
    return factor * totals, sizes


def plotted_gap(study: Study, result: PolicyResult) -> float:
    """The gap of the first two arms, by which the released code multiplies sub-optimal plays, whatever K is."""
    return float(abs(np.diff(result.values(study.objective)[0, :2])[0]))


def find(result: PanelResult, policy: str, selector: str) -> tuple[Study, PolicyResult]:
    """The study of the case selected by, for example, ``"K=5, L=0.75"``, and the result of a policy in it."""
    selection = {tuple(part.strip().split("=")) for part in selector.split(",")}
    names = ({(name, str(value)) for name, value in case.names.items()} for case in result.panel.cases)
    studies = [study for study, own in zip(result.studies, names, strict=True) if selection <= own]
    assert len(studies) == 1, f"{selector!r} names {len(studies)} cases of {result.panel.key}, not one"
    return studies[0], studies[0][policy]
