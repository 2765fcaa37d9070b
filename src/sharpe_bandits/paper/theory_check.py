"""The paper's theory against measurement: bounds, growth, coverage, and "the best RSSR arm is the best SR arm"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import theory
from ..arms.bandit import Bandit
from ..display import Table
from ..experiments.description import Case
from ..experiments.panel import PROMISED_RATE, PanelResult
from ..experiments.verdicts import CONFIDENCE, FAILS, HOLDS, UNDECIDED, Evidence, Verdict, together
from ..metrics import Estimate, wilson
from ..objectives import Sharpe, Variance
from ..policies.elimination import SHVV
from ..results import PolicyResult
from ..simulation import simulate
from ..study import Study
from ..theory.bound import Form, Judgement, within

#: Number of samples of the coverage panel.
SAMPLES = 20_000
#: What happens to an arm with bad luck at first, by policy.
_MISLED = {
    "UCB-RSSR": "spread widely got a low estimate and, since D also divides the width, a small width, and is never "
    "played again"
}
#: Regret whose linear part is a smaller share of the final regret may be called logarithmic.
LITTLE = 0.1


def _bounds_table() -> Table:
    return Table(
        ["panel", "profile", "case", "horizon", "policy", "form", "bound", "measured", "up to", "verdict"],
        [],
        "Bounds",
        "Every bound at its horizon (or budget), compared with the measured value (up to: the upper end of its 99% "
        "interval). Printed: as in the paper; repaired: with its errors corrected; proved: valid for the policy as it "
        "is played. A bound is vacuous if it is a probability of at least 1, or a regret of at least the horizon times "
        "the largest gap. Claims are judged by printed bounds if their assumptions are met: rewards within the "
        "support, a pilot of two pulls.",
        "bounds",
    )


def _growth_table() -> Table:
    return Table(
        [
            "panel", "profile", "policy", "case", "horizon", "slope of ln t", "s.e.", "p", "s.e. of p",
            "linear part", "s.e. of it", "locked in at 10%", "verdict",
        ],
        [],
        "Growth of regret",
        "How the regret of UCB-RSSR, and of other policies claimed to have logarithmic regret, grows up to the "
        "horizon: over the last two decades of rounds, or the last one for panels without a longer run. The linear "
        "part is the share of the final regret due to the last term of a + b ln t + c t; p is the power for which "
        "a + b t^p fits best (0 stands for ln t, negative values for regret that levels off). The claim holds if, with "
        "99% confidence, the linear part is below a tenth and p below 0.1: regret is at most logarithmic. It fails if, "
        "with 99% confidence, the linear part is above a tenth. A run is locked in at 10% if the best arms got less "
        "than that share of the pulls in its second half.",
        "growth",
    )  # fmt: skip


@dataclass
class Findings:
    """Theory results for panels: tidy rows by panel, verdicts, and tables of bounds and of growth."""

    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)
    bounds: Table = field(default_factory=_bounds_table)
    growth: Table = field(default_factory=_growth_table)

    @property
    def tables(self) -> list[Table]:
        """The tables that have rows."""
        return [table for table in (self.bounds, self.growth) if table.rows]


def examine(f: PanelResult, findings: Findings, runs: int, seed: int) -> None:
    """Compare a panel with theory, and add the findings."""
    findings.rows[f.panel.key] = []
    if f.panel.metric == "coverage":
        _coverage(f, seed, findings)
        return
    _bounds(f, findings)
    if f.panel.metric == "regret":
        _growth(f, findings)
    if f.panel.profile and f.panel.claims and not f.panel.cites:  # a panel of the paper
        _same_arm(f, runs, seed, findings)


def _verdict(
    f: PanelResult, what: str, says: str, verdict: Judgement, evidence: list[Evidence], why: str = ""
) -> Verdict:
    return Verdict(f"{f.panel.id}.{what}", f.panel.id, f.panel.profile, says, verdict, tuple(evidence), why)


def _beside(check: str, measured: Estimate, most: float, verdict: Judgement) -> Evidence:
    """A measured value compared with its upper bound."""
    over = Estimate(measured.mean - most, measured.se, measured.low - most, measured.high - most)
    return Evidence(check, measured.mean, most, over, verdict)


def _measured(study: Study, result: PolicyResult) -> Estimate:
    if study.metric == "error":
        return result.error(study.objective, CONFIDENCE)
    return result.regret(study.objective, CONFIDENCE).final


def _bounds(f: PanelResult, findings: Findings) -> None:
    panel, table = f.panel, findings.bounds
    judged: list[Evidence] = []
    locked = []
    pairs = list(zip((*panel.cases, *panel.long_cases), (*f.studies, *f.long_studies), strict=False))
    for case, study in pairs:
        for policy in case.policies:
            measured = _measured(study, study[policy.name])
            kind = "probability" if panel.metric == "error" else "regret"
            bounds = [b for b in theory.bounds_for(policy, case.environment, case.horizon) if b.kind == kind]
            telling = [bound.form for bound in bounds if not bound.vacuous]
            if telling and study in f.studies:  # the longer runs are not plotted
                findings.rows[panel.key] += _bound_rows(f, case, study, policy, telling)
            for bound in bounds:
                verdict = within(measured, bound.value)
                shown = "vacuous" if bound.vacuous else verdict
                table.rows.append(
                    [
                        panel.id, panel.profile, case.label, case.horizon, policy.name, bound.form,
                        None if np.isinf(bound.value) else bound.value, measured.mean, measured.high, shown,
                    ]
                )  # fmt: skip
                if bound.vacuous:
                    continue
                if bound.form == "printed" and bound.applies:
                    check = f"{policy.name} @ {case.label}, n = {case.horizon:,} within its bound"
                    judged.append(_beside(check, measured, bound.value, verdict))
                    if verdict == FAILS and panel.metric == "regret":
                        share = study[policy.name].locked_in(study.objective, CONFIDENCE).mean
                        locked.append(f"{share:.1%} ({case.label}, n = {case.horizon:,})")
    if judged and panel.profile:
        verdict = together([e.verdict for e in judged])
        runs = (
            f"Runs that lock in to a wrong arm have linear regret, which no bound in ln n covers: {', '.join(locked)}. "
        )
        why = (runs if locked else "") + (
            "It is not a valid bound, even for rewards in [0, 1]: its proof uses Jensen's inequality and a bound on a "
            "root in the wrong direction, and so counts 1/gap pulls where 1/gap² are needed; and it treats rewards "
            "above 1 as if they were within [0, 1]. See the table of bounds."
        )
        says = f"All non-vacuous printed bounds hold, up to n = {max(case.horizon for case, _ in pairs):,}"
        findings.verdicts.append(_verdict(f, "bound", says, verdict, judged, why))


def _bound_rows(f: PanelResult, case: Case, study: Study, policy: Any, forms: list[Form]) -> list[dict[str, Any]]:
    """Bounds as tidy rows, form by form, at the times where they are not vacuous."""
    times = study.checkpoints if f.panel.metric == "regret" else study.checkpoints[-1:]
    rows: dict[Form, list[dict[str, Any]]] = {form: [] for form in forms}
    for t in times:
        if f.panel.metric == "regret" and t < 2 * case.environment.K:
            continue
        for bound in theory.bounds_for(policy, case.environment, int(t), horizon=case.horizon):
            if bound.form in forms and not bound.vacuous:
                ends = dict.fromkeys(("mean", "low", "high"), bound.value)
                numbers = {"t": int(t), "metric": f"bound ({bound.form})", **ends, "se": 0.0}
                rows[bound.form].append(_row(f, study, policy.name, study.runs, numbers))
    return [row for of_form in rows.values() for row in of_form]


def _row(f: PanelResult, study: Study, policy: str, runs: int, numbers: dict[str, Any]) -> dict[str, Any]:
    return study.row(policy, runs, numbers, f.panel.id, f.panel.profile)


def _growth(f: PanelResult, findings: Findings) -> None:
    panel, table = f.panel, findings.growth
    evidence = []
    far = bool(f.long_studies)
    pairs = zip(panel.long_cases, f.long_studies, strict=True) if far else zip(panel.cases, f.studies, strict=True)
    horizons = set()
    for case, study in pairs:
        name = case.policies[0].name if far else "UCB-RSSR"
        result = study.get(name)
        start = case.horizon / (100 if far else 10)
        if result is None or case.environment.pregenerated or len(result.batch_sizes) < 3:
            continue
        if (result.checkpoints >= start).sum() < 5:
            continue  # a user's experiment may keep too few points for a fit
        totals = result.regret_per_batch(study.objective)
        locked = result.locked_in(study.objective, CONFIDENCE).mean
        curves = totals / result.batch_sizes[:, None]
        found = theory.growth(result.checkpoints, curves, start=start, confidence=CONFIDENCE)
        part, power = found.linear_part, found.exponent
        verdict: Judgement = UNDECIDED
        if part.high < LITTLE and power.high < 0.1:
            verdict = HOLDS
        elif part.low > LITTLE:
            verdict = FAILS
        slope = found.logarithmic.slope
        table.rows.append(
            [
                panel.id, panel.profile, name, case.label, case.horizon, slope.mean, slope.se,
                power.mean, power.se, part.mean, part.se, locked, verdict,
            ]
        )  # fmt: skip
        fit = f"p = {power.mean:.2f} ± {power.se:.2f}, {locked:.1%} of the runs locked in at 10%"
        check = f"linear part of the regret of {name} @ {case.label}, n = {case.horizon:,} below a tenth ({fit})"
        evidence.append(_beside(check, part, LITTLE, verdict))
        horizons.add(case.horizon)
    if evidence and panel.profile:
        why = (
            "A part of the regret grows in proportion to t (see the evidence). If runs are locked in, a good arm whose "
            f"first rewards happened to {_MISLED.get(name, 'look poor is never played again')}. If none is, all arms "
            "are still being explored at this horizon."
        )
        verdict = together([e.verdict for e in evidence])
        says = f"The regret of {name} is logarithmic in n, up to n = {max(horizons):,}"
        findings.verdicts.append(_verdict(f, "log", says, verdict, evidence, why))


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
    verdict: Judgement = FAILS if differs else HOLDS
    why = f"This is arithmetic, not chance: squaring the mean gives it more weight. {'; '.join(differs)}."
    findings.verdicts.append(
        _verdict(f, "arm", "The arm with the best RSSR is the arm with the best SR", verdict, [], why)
    )


def _coverage(f: PanelResult, seed: int, findings: Findings) -> None:
    """The coverage panel: violation rates compared with what the inequalities promise."""
    rows = findings.rows[f.panel.key]
    by_kind: dict[str, list[Evidence]] = {}
    for case, study in zip(f.panel.cases, f.studies, strict=True):
        environment = case.environment
        assert isinstance(environment, Bandit)
        for kind, place, promise, rate, verdict in (
            *_inequalities(environment, case, seed),
            *_orders(environment, case, seed),
            *_phases(environment, case, seed),
        ):
            numbers = {"t": case.horizon, "metric": "violation rate", **vars(rate)}
            rows.append({**_row(f, study, kind, SAMPLES, numbers), "case": place})
            check = f"{kind} @ {place} within its promise"
            by_kind.setdefault(kind, []).append(_beside(check, rate, promise, verdict))
    for claim in f.panel.claims:
        evidence = [e for check in claim.checks for e in by_kind[check]]
        verdict = together([e.verdict for e in evidence])
        findings.verdicts.append(
            Verdict(claim.id, f.panel.id, f.panel.profile, claim.says, verdict, tuple(evidence), claim.why)
        )


#: The measurement of a statement: its kind, case, promised rate, measured rate, and verdict.
Measured = tuple[str, str, float, Estimate, Judgement]


def _inequalities(bandit: Bandit, case: Case, seed: int) -> Iterator[Measured]:
    """The concentration inequalities on every arm: how often an estimate is outside its width."""
    for found in theory.coverage(
        bandit, case.horizon, case.names["L"], samples=SAMPLES, level=PROMISED_RATE, seed=seed, confidence=CONFIDENCE
    ):
        place = f"{bandit.arms[found.arm]!r}, {case.label}"
        yield f"{found.statistic}, {found.form}", place, found.promise, found.rate, found.verdict


def _orders(bandit: Bandit, case: Case, seed: int) -> Iterator[Measured]:
    """Lemma 2 on every pair of arms: how often the smaller variance looks larger."""
    for a, b, found in theory.order_coverage(bandit, case.horizon, samples=SAMPLES, seed=seed, confidence=CONFIDENCE):
        place = f"{bandit.arms[b]!r} over {bandit.arms[a]!r}, {case.label}"
        yield f"{found.statistic}, {found.form}", place, found.promise, found.rate, found.verdict


def _phases(bandit: Bandit, case: Case, seed: int) -> Iterator[Measured]:
    """Lemma 3 on the four arms with the smallest variances: how often the best of them is dropped in a phase of SHVV.

    An arm's final number of pulls shows in which phase it was dropped; an arm dropped in the last phase has as many as
    the one that stays.
    """
    arms = [bandit.arms[i] for i in np.argsort(bandit.variances, kind="stable")[:4]]
    four, policy = Bandit(arms), SHVV()
    result = simulate(policy, four, horizon=case.horizon, runs=SAMPLES, seed=seed)[policy.name]
    upto = np.cumsum([pulls for pulls, _ in policy.phases(case.horizon, 4)])
    wrong = result.wrong(Variance())
    for phase, pulls in enumerate(upto):
        rate = wilson(int((wrong & (result.final[:, 3] == pulls)).sum()), result.runs, CONFIDENCE)
        for form in ("printed", "repaired"):
            promise = theory.shvv_phase_error(four, case.horizon, phase, form).value
            place = f"phase {phase + 1} of {len(upto)}, {case.label}"
            yield f"phases of SHVV, {form}", place, promise, rate, within(rate, promise)
