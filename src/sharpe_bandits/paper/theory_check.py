"""The paper's theory against measurement: bounds, growth, coverage, and "the best RSSR arm is the best SR arm"."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from .. import theory
from .._support.display import Table
from ..arms.bandit import Bandit
from ..arms.base import Arm
from ..arms.uniform import Uniform
from ..experiments.description import Case
from ..experiments.panel import PROMISED, PROMISED_RATE, PanelResult
from ..experiments.verdicts import (
    CONFIDENCE,
    EXPERIMENTS,
    FAILS,
    HOLDS,
    THEORY,
    UNDECIDED,
    VACUOUS,
    Evidence,
    Verdict,
    together,
)
from ..objectives import Sharpe, Variance, gaps_of
from ..policies.elimination import SHVV
from ..policies.ucb_vv import UCBVV
from ..results.metrics import Estimate, mean_of, wilson
from ..results.policy_result import PolicyResult
from ..results.study import Study
from ..simulation.api import simulate
from ..theory.bound import Form, Judgement, within
from .claims import AS_PLOTTED, plotted_gap, source_of, under

SAMPLES = 20_000
#: What happens to an arm with bad luck at first, by policy.
_MISLED = {
    "UCB-RSSR": "spread widely got a low estimate and, since D also divides the width, a small width, and is never "
    "played again"
}
#: Maximum length of an arm's name on an axis.
_LONGEST = 20
#: Regret whose linear part is a smaller share of the final regret may be called logarithmic.
LITTLE = 0.1


def _bounds_table() -> Table:
    return Table(
        [
            "panel", "profile", "case", "horizon", "policy", "form", "bound", "measured", "up to", "below 1 from",
            "verdict",
        ],
        [],
        "Bounds",
        "Every bound at its horizon (or budget), compared with the measured value (up to: the upper end of its 99% "
        "interval). Printed: as in the paper; repaired: with its errors corrected; proved: valid for the policy as it "
        "is played. A bound is vacuous if it is a probability of at least 1, or a regret of at least the horizon times "
        "the largest gap. Claims are judged by printed bounds if their assumptions are met: rewards within the "
        "support, a pilot of two pulls. Below 1 from: the smallest budget at which a printed bound on the error says "
        "anything.",
        "bounds",
    )  # fmt: skip


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
        "99% confidence, the linear part is below a tenth, and p below 0.1 or the whole growth below a tenth of the "
        "final regret. The upper end of the linear part allows for lock-ins too rare to be seen in so many runs, "
        "unless a proved bound excludes them. It fails if, with 99% confidence, the linear part is above a tenth. A "
        "run is locked in at 10% if the best arms got less than that share of the pulls in its second half.",
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
    rows = findings.rows[f.panel.key] = []
    if f.panel.metric == "coverage":
        _coverage(f, seed, findings)
        return
    _add(_bounds(f, findings), f, _bounds, findings)
    if f.panel.metric == "regret":
        rows += _plotted_rows(f)
        _add(_growth(f, findings), f, _growth, findings)
    if f.panel.profile and f.panel.claims and source_of(f.panel) == EXPERIMENTS:
        _same_arm(f, runs, seed, findings)
        _evident(f, findings)


def _add(
    verdict: Verdict | None,
    f: PanelResult,
    judge: Callable[[PanelResult, Findings], Verdict | None],
    findings: Findings,
) -> None:
    """Add a verdict to the findings, with those under the readings that have games as long."""
    if verdict is None:
        return
    for other in f.readings:
        found = judge(other, findings) if other.long_studies else None
        if found is not None:
            verdict = under(verdict, found, other)
    findings.verdicts.append(verdict)


def _verdict(
    f: PanelResult,
    what: str,
    says: str,
    verdict: Judgement | Literal["vacuous"],
    evidence: list[Evidence],
    why: str = "",
) -> Verdict:
    panel, source = f.panel, source_of(f.panel, theory=True)
    return Verdict(f"{panel.id}.{what}", panel.id, panel.profile, says, verdict, tuple(evidence), why, source)


def _beside(check: str, measured: Estimate, most: float, verdict: Judgement) -> Evidence:
    """A measured value compared with its upper bound."""
    over = Estimate(measured.mean - most, measured.se, measured.low - most, measured.high - most)
    return Evidence(check, measured.mean, most, over, verdict)


def _measured(study: Study, result: PolicyResult) -> Estimate:
    if study.metric == "error":
        return result.error(study.objective, CONFIDENCE)
    return result.regret(study.objective, CONFIDENCE).final


def _bounds(f: PanelResult, findings: Findings) -> Verdict | None:
    """Bounds against what was measured; the verdict is on those that are printed."""
    panel, table = f.panel, findings.bounds
    judged: list[Evidence] = []
    locked, bounded = [], []
    silent: dict[str, list[tuple[float, int | None]]] = {}  # by policy: vacuous bounds, and when they cease to be
    pairs = list(zip((*panel.cases, *panel.long_cases), (*f.studies, *f.long_studies), strict=False))
    for case, study in pairs:
        for policy in case.policies:
            measured = _measured(study, study[policy.name])
            kind = "probability" if panel.metric == "error" else "regret"
            bounds = [b for b in theory.bounds_for(policy, case.environment, case.horizon) if b.kind == kind]
            telling = [bound.form for bound in bounds if not bound.vacuous]
            if telling and study in f.studies and not panel.reading:  # the longer runs are not plotted
                findings.rows[panel.key] += _bound_rows(f, case, study, policy, telling)
            for bound in bounds:
                verdict = within(measured, bound.value)
                printed = bound.form == "printed"
                start = None
                if printed and kind == "probability" and policy.name == policy.title:
                    start = theory.informative_budget(policy, case.environment)
                table.rows.append(
                    [
                        panel.id, ", ".join(filter(None, (panel.profile, panel.reading))), case.label, case.horizon,
                        policy.name, bound.form, None if np.isinf(bound.value) else bound.value, measured.mean,
                        measured.high, start, "vacuous" if bound.vacuous else verdict,
                    ]
                )  # fmt: skip
                if not printed or policy.name != policy.title:
                    continue
                if bound.vacuous:
                    silent.setdefault(policy.name, []).append((bound.value, start))
                elif bound.applies:
                    check = f"{policy.name} @ {case.label}, n = {case.horizon:,} within its bound"
                    judged.append(_beside(check, measured, bound.value, verdict))
                    bounded.append(policy.name)
                    if verdict == FAILS and panel.metric == "regret":
                        share = study[policy.name].locked_in(study.objective, CONFIDENCE).mean
                        locked.append(f"{share:.1%} ({case.label}, n = {case.horizon:,})")
    if not panel.profile:
        return None
    if not judged:
        return _silent(f, silent) if panel.metric == "error" and silent else None
    runs = f"Runs that lock in to a wrong arm have linear regret, which no bound in ln n covers: {', '.join(locked)}. "
    why = (runs if any(not text.startswith("0.0%") for text in locked) else "") + (
        "It is not a valid bound, even for rewards in [0, 1]: its proof uses Jensen's inequality and a bound on a "
        "root in the wrong direction, and so counts 1/gap pulls where 1/gap² are needed; and it treats rewards "
        "above 1 as if they were within [0, 1]. See the table of bounds."
    )
    says = (
        f"The printed bound of {' and of '.join(dict.fromkeys(bounded))} holds where it is not vacuous, up to n = "
        f"{max(case.horizon for case, _ in pairs):,}"
    )
    return _verdict(f, "bound", says, together([e.verdict for e in judged]), judged, why)


def _silent(f: PanelResult, silent: dict[str, list[tuple[float, int | None]]]) -> Verdict:
    """The verdict on bounds that are all vacuous: from which budget on they would not be."""
    parts = []
    for name, found in silent.items():
        values, starts = [value for value, _ in found], [start for _, start in found if start is not None]
        later = f", and below 1 from a budget of {_range(starts)} on" if starts else ""
        parts.append(f"that of {name} is {_range(values)} here{later}")
    why = (
        f"A probability is never above 1, so these bounds say nothing: {'; '.join(parts)}. E3 has cases where they do."
    )
    says = f"The printed bound of {' and of '.join(silent)} holds where it is not vacuous"
    return _verdict(f, "bound", says, VACUOUS, [], why)


def _range(values: Sequence[float]) -> str:
    low, high = (f"{value:,}" if isinstance(value, int) else f"{value:.3g}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _evident(f: PanelResult, findings: Findings) -> None:
    """ "This behaviour is also evident from the upper bound guarantee": the bounds of SHSR and SuRSR compared."""
    values: dict[str, list[float]] = {"SHSR": [], "SuRSR": []}
    for case in f.panel.cases:
        for policy in case.policies:
            if policy.name in values and isinstance(case.environment, Bandit):
                bounds = theory.bounds_for(policy, case.environment, case.horizon, forms=["printed"])
                values[policy.name] += [bound.value for bound in bounds]
    halving, rejects = values.values()
    if not halving or not rejects:
        return
    smaller = sum(a < b for a, b in zip(halving, rejects, strict=True))
    why = (
        f"The printed bounds of SHSR are {_range(halving)}, those of SuRSR {_range(rejects)} (that of SHSR is the "
        f"smaller in {smaller} of {len(halving)} cases): a bound of 1 or more says nothing about an error. Uniform "
        "sampling has none."
    )
    verdict: Judgement | Literal["vacuous"] = VACUOUS
    if max(halving) < 1:
        verdict = HOLDS if smaller == len(halving) else FAILS
    says = "That SHSR has the least error is evident from the upper bounds"
    findings.verdicts.append(_verdict(f, "evident", says, verdict, [], why))


def _plotted_rows(f: PanelResult) -> list[dict[str, Any]]:
    """The quantity that the released code plots as regret, where it differs from regret, in the authors profile."""
    if f.panel.profile != "authors":
        return []
    rows = []
    for study in f.studies:
        if study.K == 2:
            continue
        for row in study.rows(panel=f.panel.id, profile=f.panel.profile):
            if row["metric"] == "sub-optimal plays":
                gap = plotted_gap(study, study[row["policy"]])
                scaled = {name: gap * row[name] for name in ("mean", "se", "low", "high")}
                rows.append({**row, "metric": AS_PLOTTED, **scaled})
    return rows


def _bound_rows(f: PanelResult, case: Case, study: Study, policy: Any, forms: list[Form]) -> list[dict[str, Any]]:
    """Bounds as tidy rows, form by form, at the times where they are not vacuous."""
    times = study.checkpoints if f.panel.metric == "regret" else study.checkpoints[-1:]
    rows: dict[Form, list[dict[str, Any]]] = {form: [] for form in forms}
    for t in times:
        if f.panel.metric == "regret" and t < 2 * case.environment.K:
            continue
        for bound in theory.bounds_for(policy, case.environment, int(t), horizon=case.horizon, forms=forms):
            if not bound.vacuous:
                ends = dict.fromkeys(("mean", "low", "high"), bound.value)
                numbers = {"t": int(t), "metric": f"bound ({bound.form})", **ends, "se": 0.0}
                rows[bound.form].append(_row(f, study, policy.name, study.runs, numbers))
    return [row for of_form in rows.values() for row in of_form]


def _row(f: PanelResult, study: Study, policy: str, runs: int, numbers: dict[str, Any]) -> dict[str, Any]:
    return study.row(policy, runs, numbers, f.panel.id, f.panel.profile)


def _growth(f: PanelResult, findings: Findings) -> Verdict | None:
    """How regret grows; the verdict is on "logarithmic"."""
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
        locked = result.locked_in(study.objective, CONFIDENCE)
        curves = totals / result.batch_sizes[:, None]
        found = theory.growth(result.checkpoints, curves, start=start, confidence=CONFIDENCE)
        part, power = found.linear_part, found.exponent
        final = float(totals[:, -1].sum() / result.runs) or math.nan  # without regret there is nothing to fit
        # Runs that lock in may be rare, but cost a gap in every round: as many as may have been missed count.
        missed = 0.0
        if not _proved(case, name):
            gaps = result.gaps(study.objective)
            missed = (locked.high - locked.mean) * float(gaps[gaps > 0].min(initial=math.inf)) * case.horizon / final
        part = replace(part, high=part.high + missed)
        first = int(np.argmax(result.checkpoints >= start))
        grown = mean_of(totals[:, -1] - totals[:, first], result.batch_sizes, CONFIDENCE).high / final
        verdict: Judgement = UNDECIDED
        if part.high < LITTLE and (power.high < 0.1 or grown < LITTLE):
            verdict = HOLDS
        elif part.low > LITTLE:
            verdict = FAILS
        slope = found.logarithmic.slope
        table.rows.append(
            [
                panel.id, ", ".join(filter(None, (panel.profile, panel.reading))), name, case.label, case.horizon,
                slope.mean, slope.se, power.mean, power.se, part.mean, part.se,
                locked.mean, verdict,
            ]
        )  # fmt: skip
        fit = (
            f"p = {power.mean:.2f} ± {power.se:.2f}, {locked.mean:.1%} of {result.runs:,} runs locked in at 10%, which "
            f"may be up to {locked.high:.2%}"
        )
        check = f"linear part of the regret of {name} @ {case.label}, n = {case.horizon:,} below a tenth ({fit})"
        evidence.append(_beside(check, part, LITTLE, verdict))
        horizons.add(case.horizon)
    if not evidence or not panel.profile:
        return None
    why = (
        "A part of the regret grows in proportion to t (see the evidence). If runs are locked in, a good arm whose "
        f"first rewards happened to {_MISLED.get(name, 'look poor is never played again')}. If none is, all arms "
        "are still being explored at this horizon."
    )
    verdict = together([e.verdict for e in evidence])
    says = f"The regret of {name} is logarithmic in n, up to n = {max(horizons):,}"
    return _verdict(f, "log", says, verdict, evidence, why)


def _proved(case: Case, name: str) -> bool:
    """Whether a proved bound in ln n, not a vacuous one, excludes that runs lock in."""
    policy = next(policy for policy in case.policies if policy.name == name)
    form: Form = "repaired" if isinstance(policy, UCBVV) else "proved"  # for UCB-VV the two are one
    return any(not bound.vacuous for bound in theory.bounds_for(policy, case.environment, case.horizon, forms=[form]))


def _same_arm(f: PanelResult, runs: int, seed: int, findings: Findings) -> None:
    """ "The arm with the best RSSR is the arm with the best SR": exact, from the true moments."""
    differs = []
    for case in f.panel.cases:
        if isinstance(case.objective, Variance) or case.L is None:
            return
        best, sharpe = (
            gaps_of(case.environment.true_values(objective, seed, runs)) == 0
            for objective in (case.objective, Sharpe(case.L))
        )
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
    within_unit: dict[str, list[Judgement]] = {}
    sizes: set[int] = set()
    for case, study in zip(f.panel.cases, f.studies, strict=True):
        environment = case.environment
        assert isinstance(environment, Bandit)
        measured = list(_inequalities(environment, case, seed))
        if case.horizon not in sizes:  # the others do not depend on L
            measured += [*_orders(environment, case.horizon, seed), *_phases(environment, case.horizon, seed)]
            sizes.add(case.horizon)
        for kind, place, promise, rate, verdict, unit in measured:
            promised = dict.fromkeys(("mean", "low", "high"), min(promise, 1.0))
            for numbers in ({"metric": "violation rate", **vars(rate)}, {"metric": PROMISED, "se": 0.0, **promised}):
                rows.append({**_row(f, study, kind, SAMPLES, {"t": case.horizon, **numbers}), "case": place})
            check = f"{kind} @ {place} within its promise"
            by_kind.setdefault(kind, []).append(_beside(check, rate, promise, verdict))
            if unit:
                within_unit.setdefault(kind, []).append(verdict)
    for claim in f.panel.claims:
        evidence = [e for check in claim.checks for e in by_kind[check]]
        small = [verdict for check in claim.checks for verdict in within_unit.get(check, [])]
        why = f"{claim.why} With rewards in [0, 1] it failed in {small.count(FAILS)} of {len(small)} comparisons."
        verdict = together([e.verdict for e in evidence])
        findings.verdicts.append(
            Verdict(claim.id, f.panel.id, f.panel.profile, claim.says, verdict, tuple(evidence), why, THEORY)
        )


#: The measurement of a statement: its kind, case, promised rate, measured rate, verdict, and whether rewards are in
#: [0, 1].
Measured = tuple[str, str, float, Estimate, Judgement, bool]


def _unit(*arms: Arm) -> bool:
    return all(arm.support[0] >= 0 and arm.support[1] <= 1 for arm in arms)


def _short(arm: Arm) -> str:
    """The arm's name on an axis, where there is little room."""
    return repr(arm) if len(repr(arm)) <= _LONGEST else type(arm).__name__


def _inequalities(bandit: Bandit, case: Case, seed: int) -> Iterator[Measured]:
    """The concentration inequalities on every arm: how often an estimate is outside its width."""
    for found in theory.coverage(
        bandit, case.horizon, case.names["L"], samples=SAMPLES, level=PROMISED_RATE, seed=seed, confidence=CONFIDENCE
    ):
        arm = bandit.arms[found.arm]
        kind = f"{found.statistic}, {found.form}"
        yield kind, f"{_short(arm)}, {case.label}", found.promise, found.rate, found.verdict, _unit(arm)


def _orders(bandit: Bandit, n: int, seed: int) -> Iterator[Measured]:
    """Lemma 2 on every pair of arms: how often the smaller variance looks larger."""
    for a, b, found in theory.order_coverage(bandit, n, samples=SAMPLES, seed=seed, confidence=CONFIDENCE):
        larger, smaller = bandit.arms[a], bandit.arms[b]
        place = f"{_short(smaller)} over {_short(larger)}, n = {n}"
        kind = f"{found.statistic}, {found.form}"
        yield kind, place, found.promise, found.rate, found.verdict, _unit(larger, smaller)


def _phases(bandit: Bandit, n: int, seed: int) -> Iterator[Measured]:
    """Lemma 3 on the four arms with the smallest variances, and on four arms of the paper's experiments with SHVV: how
    often the best of them is dropped in a phase of SHVV.

    An arm's final number of pulls shows in which phase it was dropped; an arm dropped in the last phase has as many as
    the one that stays.
    """
    smallest = [bandit.arms[i] for i in np.argsort(bandit.variances, kind="stable")[:4]]
    of_paper = [Uniform.from_moments(0.5, 1 / v) for v in (17, 15, 14, 12)]
    policy = SHVV()
    upto = np.cumsum([pulls for pulls, _ in policy.phases(n, 4)])
    for arms, label in ((smallest, ""), (of_paper, " of arms in [0, 1]")):
        four = Bandit(arms)
        result = simulate(policy, four, horizon=n, runs=SAMPLES, seed=seed)[policy.name]
        wrong = result.wrong(Variance())
        for phase, pulls in enumerate(upto):
            rate = wilson(int((wrong & (result.final[:, 3] == pulls)).sum()), result.runs, CONFIDENCE)
            for form in ("printed", "repaired"):
                promise = theory.shvv_phase_error(four, n, phase, form).value
                place = f"phase {phase + 1} of {len(upto)}{label}, n = {n}"
                yield f"phases of SHVV, {form}", place, promise, rate, within(rate, promise), _unit(*arms)
