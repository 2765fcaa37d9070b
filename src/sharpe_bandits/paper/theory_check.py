"""The paper's theory against measurement: bounds, growth, coverage, and "the best RSSR arm is the best SR arm"."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import theory
from ..arms.bandit import Bandit
from ..charts.tidy_rows import ANY_POLICY, LOWER_BOUND
from ..display import Table
from ..errors import InvalidInputError
from ..experiments.description import Case
from ..experiments.panel import PanelResult
from ..metrics import Estimate
from ..objectives import RSSR, Sharpe, Variance
from ..results import PolicyResult
from ..study import Study
from .claims import CONFIDENCE, FAILS, HOLDS, UNDECIDED, Evidence, Verdict, together

#: What each inequality promises in the coverage panel, and how many samples are drawn.
LEVEL = 0.1
SAMPLES = 20_000


@dataclass
class Findings:
    """What theory adds: tidy rows per panel, verdicts and tables."""

    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)


def examine(results: list[PanelResult], runs: int, seed: int) -> Findings:
    """Look at every panel with the eyes of theory."""
    findings = Findings()
    bounds = Table(
        ["panel", "profile", "case", "policy", "form", "bound", "measured", "up to", "verdict"],
        [],
        "Bounds",
        "Every bound at the horizon beside what was measured (up to: the upper end of its 99% interval). Printed: as "
        "the paper has it; repaired: with its slips set right; proved: valid for the policy as it is played. A bound "
        "that says nothing (a probability of at least 1, a regret of at least n times the largest gap) is vacuous.",
        "bounds",
    )
    growth = Table(
        [
            "panel", "profile", "case", "slope of ln t", "s.e.", "lower bound", "p", "s.e. of p",
            "unexplained by ln t", "by t", "runs locked in", "verdict",
        ],
        [],
        "Growth of regret",
        "Fits of a + b ln t and of a + b t to the regret of UCB-RSSR over the last nine tenths of the rounds, and "
        "the power p for which a + b t^p fits best (0 stands for ln t). Unexplained is the share of the curve's "
        "variation that a fit leaves. The claim holds if the logarithm surely fits better and p is surely below 1/2, "
        "and fails if the line surely fits better and p is surely above 1/2 (99% confidence). A run is locked in if "
        "more than four fifths of its rounds went to one wrong arm. The lower bound is the slope that the regret of no "
        "policy can stay below for ever (Burnetas and Katehakis, rewards within the common support of the arms).",
        "growth",
    )  # fmt: skip
    for f in results:
        if f.panel.metric == "coverage":
            _coverage(f, seed, findings)
            continue
        findings.rows[f.panel.key] = []
        _bounds(f, findings, bounds)
        if f.panel.metric == "regret":
            findings.rows[f.panel.key] += _lower_bound_rows(f)
            _growth(f, findings, growth)
        if f.panel.profile and f.panel.claims:  # a panel of the paper
            _same_arm(f, runs, seed, findings)
    findings.tables = [table for table in (bounds, growth) if table.rows]
    return findings


def _verdict(f: PanelResult, what: str, says: str, verdict: str, evidence: list[Evidence], why: str = "") -> Verdict:
    return Verdict(f"{f.panel.id}.{what}", f.panel.id, f.panel.profile, says, verdict, tuple(evidence), why)


def _measured(study: Study, result: PolicyResult) -> Estimate:
    if study.metric == "error":
        return result.error(study.objective, CONFIDENCE)
    return result.regret(study.objective, CONFIDENCE).final


def _bounds(f: PanelResult, findings: Findings, table: Table) -> None:
    panel = f.panel
    judged: list[Evidence] = []
    for case, study in zip(panel.cases, f.studies, strict=True):
        for policy in case.policies:
            measured = _measured(study, study[policy.name])
            for bound in theory.bounds_for(policy, case.environment, case.horizon):
                if bound.kind != ("probability" if panel.metric == "error" else "regret"):
                    continue
                verdict = _within(measured, bound.value)
                shown = "vacuous" if bound.vacuous else verdict
                table.rows.append(
                    [
                        panel.id, panel.profile, case.label, policy.name, bound.form,
                        None if np.isinf(bound.value) else bound.value, measured.mean, measured.high, shown,
                    ]
                )  # fmt: skip
                if bound.vacuous:
                    continue
                findings.rows[panel.key] += _bound_rows(f, case, study, policy, bound.form)
                if bound.form == "printed" and bound.applies:
                    difference = Estimate(
                        measured.mean - bound.value,
                        measured.se,
                        measured.low - bound.value,
                        measured.high - bound.value,
                    )
                    check = f"{policy.name} @ {case.label} within its bound"
                    judged.append(Evidence(check, measured.mean, bound.value, difference, verdict))
    if judged and panel.profile:
        verdict = together([e.verdict for e in judged])
        why = (
            "It is not a true bound, even for rewards in [0, 1]: its proof uses Jensen's inequality and a bound on a "
            "root in the wrong direction, and so counts 1/gap pulls where 1/gap² are needed; and it takes rewards "
            "beyond 1 for rewards within. See the table of bounds."
        )
        findings.verdicts.append(
            _verdict(f, "bound", "The printed bounds that say anything hold", verdict, judged, why)
        )


def _lower_bound_rows(f: PanelResult) -> list[dict[str, Any]]:
    """The asymptotic lower bound C ln t of any policy, where the arms have a common bounded support."""
    rows = []
    for case, study in zip(f.panel.cases, f.studies, strict=True):
        constant = _lower_bound(case)
        if constant is None:
            continue
        for t in study.checkpoints:
            value = constant * float(np.log(t))
            numbers = {"t": int(t), "metric": LOWER_BOUND, "mean": value, "se": 0.0, "low": value, "high": value}
            rows.append(_row(f, study, ANY_POLICY, study.runs, numbers))
    return rows


def _lower_bound(case: Case) -> float | None:
    environment, objective = case.environment, case.objective
    if not isinstance(environment, Bandit) or not isinstance(objective, RSSR):
        return None
    if not all(np.isfinite(arm.support).all() for arm in environment.arms):
        return None
    try:
        found = theory.lower_bound(environment, objective.L, risk_free=objective.risk_free, signed=objective.signed)
    except InvalidInputError:
        return None  # a density that it cannot integrate is no reason to lose a user's experiment
    return float(found.constant) if np.isfinite(found.constant) else None


def _within(measured: Estimate, bound: float) -> str:
    if measured.high <= bound:
        return HOLDS
    return FAILS if measured.low > bound else UNDECIDED


def _bound_rows(f: PanelResult, case: Case, study: Study, policy: Any, form: str) -> list[dict[str, Any]]:
    """A bound as tidy rows, at the times where it says something."""
    times = study.checkpoints if f.panel.metric == "regret" else study.checkpoints[-1:]
    rows = []
    for t in times:
        if f.panel.metric == "regret" and t < 2 * case.environment.K:
            continue
        found = [b for b in theory.bounds_for(policy, case.environment, int(t), horizon=case.horizon) if b.form == form]
        if found and not found[0].vacuous:
            value = found[0].value
            numbers = {"t": int(t), "metric": f"bound ({form})", "mean": value, "se": 0.0, "low": value, "high": value}
            rows.append(_row(f, study, policy.name, study.runs, numbers))
    return rows


def _row(f: PanelResult, study: Study, policy: str, runs: int, numbers: dict[str, Any]) -> dict[str, Any]:
    return study.row(policy, runs, numbers, f.panel.id, f.panel.profile)


def _growth(f: PanelResult, findings: Findings, table: Table) -> None:
    panel = f.panel
    evidence = []
    for case, study in zip(panel.cases, f.studies, strict=True):
        result = study.get("UCB-RSSR")
        if result is None or case.environment.pregenerated or len(result.batch_sizes) < 3:
            continue
        if (10 * result.checkpoints >= case.horizon).sum() < 5:
            continue  # a user's own experiment may keep too few points for a fit
        totals = result.regret_per_batch(study.objective)
        locked = result.locked_in(study.objective, CONFIDENCE).mean
        found = theory.growth(result.checkpoints, totals / result.batch_sizes[:, None], confidence=CONFIDENCE)
        verdict = UNDECIDED
        if found.difference.low > 0 and found.exponent.high < 0.5:
            verdict = HOLDS
        elif found.difference.high < 0 and found.exponent.low > 0.5:
            verdict = FAILS
        log, line = found.logarithmic, found.linear
        table.rows.append(
            [
                panel.id, panel.profile, case.label, log.slope.mean, log.slope.se, _lower_bound(case),
                found.exponent.mean,
                found.exponent.se, log.unexplained.mean, line.unexplained.mean, locked, verdict,
            ]
        )  # fmt: skip
        flipped = Estimate(-found.difference.mean, found.difference.se, -found.difference.high, -found.difference.low)
        fit = f"p = {found.exponent.mean:.2f}, {locked:.0%} of the runs locked in"
        check = f"residual of a + b ln t < residual of a + b t, UCB-RSSR @ {case.label} ({fit})"
        evidence.append(Evidence(check, log.residual.mean, line.residual.mean, flipped, verdict))
    if evidence and panel.profile:
        why = (
            "Regret is nearly a straight line in t over the last nine tenths of the rounds (see p in the evidence). "
            "Where many runs are locked in, a good arm whose first rewards happened to spread widely got a low "
            "estimate and, since D divides the width too, a small width, and is not played again. Where few runs "
            "are, the widths are still larger than the gaps at this horizon, and all arms are explored."
        )
        verdict = together([e.verdict for e in evidence])
        findings.verdicts.append(
            _verdict(f, "log", "The regret of UCB-RSSR is logarithmic in n", verdict, evidence, why)
        )


def _same_arm(f: PanelResult, runs: int, seed: int, findings: Findings) -> None:
    """ "The arm with the best RSSR is the arm with the best SR": exact, from the true moments."""
    differs = []
    for case in f.panel.cases:
        if isinstance(case.objective, Variance) or case.L is None:
            return
        mean, variance = case.environment.truth(seed, runs)
        best = case.objective.gaps(mean, variance) == 0
        sharpe = Sharpe(case.L).gaps(mean, variance) == 0
        apart = ~(best & sharpe).any(axis=1)
        if isinstance(case.environment, Bandit):
            if apart[0]:
                differs.append(
                    f"{case.label}: RSSR prefers arm {best[0].argmax() + 1}, SR arm {sharpe[0].argmax() + 1}"
                )
        elif apart.any():
            differs.append(f"{case.label}: they differ in {apart.mean():.1%} of the runs")
    verdict = FAILS if differs else HOLDS
    why = f"A matter of arithmetic, not of chance: squaring the mean gives it more weight. {'; '.join(differs)}."
    findings.verdicts.append(
        _verdict(f, "arm", "The arm with the best RSSR is the arm with the best SR", verdict, [], why)
    )


def _coverage(f: PanelResult, seed: int, findings: Findings) -> None:
    """The coverage panel: violation rates beside what was promised."""
    rows = findings.rows.setdefault(f.panel.key, [])
    by_kind: dict[str, list[Evidence]] = {}
    for case, study in zip(f.panel.cases, f.studies, strict=True):
        environment = case.environment
        assert isinstance(environment, Bandit)
        for found in theory.coverage(
            environment, case.horizon, case.names["L"], samples=SAMPLES, level=LEVEL, seed=seed, confidence=CONFIDENCE
        ):
            kind = f"{found.statistic}, {found.form}"
            place = f"{environment.arms[found.arm]!r}, {case.label}"
            rate = found.rate
            numbers = {"t": case.horizon, "mean": rate.mean, "se": rate.se, "low": rate.low, "high": rate.high}
            row = _row(f, study, kind, found.samples, {**numbers, "metric": "violation rate"})
            rows.append({**row, "case": place})
            difference = Estimate(
                rate.mean - found.promise, rate.se, rate.low - found.promise, rate.high - found.promise
            )
            by_kind.setdefault(kind, []).append(
                Evidence(f"{kind} @ {place} within its promise", rate.mean, found.promise, difference, found.verdict)
            )
    for claim in f.panel.claims:
        evidence = [e for check in claim.checks for e in by_kind[check]]
        verdict = together([e.verdict for e in evidence])
        findings.verdicts.append(
            Verdict(claim.id, f.panel.id, f.panel.profile, claim.says, verdict, tuple(evidence), claim.why)
        )
