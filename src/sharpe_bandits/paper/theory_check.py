"""The paper's theory against measurement: bounds, growth, coverage, and "the best RSSR arm is the best SR arm"."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .. import theory
from .._support.display import Table
from ..arms.bandit import Bandit
from ..arms.base import Arm
from ..arms.uniform import Uniform
from ..charts.tidy_rows import AS_PLOTTED, PROMISED, Rows
from ..experiments.description import Case
from ..experiments.panel import PanelResult
from ..experiments.verdicts import CONFIDENCE, Evidence, Verdict, Word
from ..objectives import Sharpe, Variance, gaps_of
from ..policies.base import Policy
from ..policies.elimination import SHVV
from ..policies.ucb_sharpe import UCBRSSR
from ..policies.ucb_vv import UCBVV
from ..results.metrics import Estimate, sample_mean, wilson
from ..results.study import ENDS, Study
from ..simulation.api import simulate
from ..theory.bound import Form, Judgement, within
from . import lock_ins
from .claims import plotted_gap, verdict_on, with_reading
from .panels import sources

#: Samples of a coverage panel, and the violation rate that each of its inequalities promises.
SAMPLES, PROMISED_RATE = 20_000, 0.1
#: Maximum length of an arm's name on an axis.
_LONGEST = 20
#: Regret whose linear part is a smaller share of the final regret may be called logarithmic.
LITTLE = 0.1
#: Where a smaller share of the long games locks in, more of these runs are searched for.
RARE, MIN_RUNS = 0.005, 40


#: Columns of the tables: where a row is from, and what it says of growth or of a bound.
_PLACE = ("panel", "profile", "case", "policy", "n")
_OF_GROWTH = ("linear part", "s.e.", "p", "runs", "locked in", "verdict")
_OF_BOUNDS = ("form", "bound", "measured", "below 1 from", "verdict")


@dataclass
class TheoryFindings:
    """What theory says of panels: verdicts, and tables of the growth of regret and of bounds."""

    runs: int
    seed: int
    verdicts: list[Verdict] = field(default_factory=list)
    growth: Table = field(default_factory=lambda: Table([*_PLACE, *_OF_GROWTH], [], "Growth of regret"))
    bounds: Table = field(default_factory=lambda: Table([*_PLACE, *_OF_BOUNDS], [], "Bounds"))

    @property
    def tables(self) -> dict[str, Table]:
        """The tables that have rows; the page says what they mean."""
        return {name: table for name in ("growth", "bounds") if (table := getattr(self, name)).rows}


def examine(results: Iterable[PanelResult], runs: int, seed: int) -> TheoryFindings:
    """Compare panels with theory, and add its rows to their tidy tables."""
    findings = TheoryFindings(runs, seed)
    for result in results:
        panel = result.panel
        if panel.metric == "coverage":
            _coverage(result, findings)
            continue
        judges = [_bounds]
        judges += [_growth] if panel.metric == "regret" else []
        judges += [_same_arm, _evident] if "experiments" in sources(panel) else []
        for judge in judges:
            if verdict := judge(result, findings):
                for other in result.readings:
                    if other.long_studies and (under := judge(other, findings)):  # games as long
                        verdict = with_reading(verdict, under, other)
                findings.verdicts.append(verdict)
        if panel.metric == "regret" and panel.profile == "authors":
            result.of_theory.extend(_plotted_rows(result))
    return findings


def _against_bound(check: str, measured: Estimate, most: float, verdict: Judgement) -> Evidence:
    """A measured value compared with its upper bound."""
    over = Estimate(measured.mean - most, measured.se, measured.low - most, measured.high - most)
    return Evidence(check, measured.mean, most, over, verdict)


def _place(result: PanelResult, case: Case, policy: Policy) -> list[Any]:
    """Where a row of a table is from: panel, profile and reading, case, policy, horizon."""
    profile = ", ".join(filter(None, (result.panel.profile, result.panel.reading)))
    return [result.panel.id, profile, case.label, policy.name, case.horizon]


def _bounds(result: PanelResult, findings: TheoryFindings) -> Verdict | None:
    """Bounds against what was measured; the verdict is on those that are printed."""
    panel = result.panel
    of_errors = panel.metric == "error"
    judged: dict[str, list[Evidence]] = defaultdict(list)
    silent: dict[str, list[tuple[float, int | None]]] = defaultdict(list)  # vacuous bounds, and until which budget
    locked: list[str] = []
    pairs = list(zip((*panel.cases, *panel.long_cases), (*result.studies, *result.long_studies), strict=False))
    for case, study in pairs:
        for policy in case.policies:
            outcome, judged_by = study[policy.name], (study.objective, CONFIDENCE)
            measured = outcome.error(*judged_by) if of_errors else outcome.regret(*judged_by).final
            bounds = theory.bounds_for(policy, case.environment, case.horizon)
            bounds = [bound for bound in bounds if (bound.kind == "probability") == of_errors]
            if study in result.studies and not panel.reading:  # the longer runs are not plotted
                # A bound is drawn where its assumptions are met, and in the authors' figures, which have it although
                # their pilot is too short for it.
                authors = panel.profile == "authors"
                forms = [bound.form for bound in bounds if not bound.vacuous and (bound.applies or authors)]
                result.of_theory.extend(_bound_rows(case, study, policy, forms))
            for bound in bounds:
                verdict, value = within(measured, bound.value), None if np.isinf(bound.value) else bound.value
                printed = bound.form == "printed" and policy.name == policy.title
                start = theory.informative_budget(policy, case.environment) if printed and of_errors else None
                word = "vacuous" if bound.vacuous else verdict
                row = [*_place(result, case, policy), bound.form, value, measured.mean, start, word]
                findings.bounds.rows.append(row)
                if printed and bound.vacuous:
                    silent[policy.name].append((bound.value, start))
                elif printed and bound.applies:
                    check = f"{policy.name} @ {case.label}, n = {case.horizon:,} within its bound"
                    judged[policy.name].append(_against_bound(check, measured, bound.value, verdict))
                    if verdict == "fails" and not of_errors:
                        share = outcome.locked_in(*judged_by).mean
                        locked += [f"{share:.1%} ({case.label}, n = {case.horizon:,})"] if share >= 0.0005 else []
    of_others = "others" in sources(panel)
    if not panel.profile or not (judged or (silent and of_errors and not of_others)):
        return None
    names = " and of ".join(judged or silent)
    says, statement = f"The printed bound of {names} holds where it is not vacuous", "errors" if of_errors else names
    if not judged:
        return verdict_on(f"bound:{statement}", result, (), _why_vacuous(silent), says, "vacuous")
    runs = (
        "Runs that lock in to a wrong arm have linear regret up to these horizons, which the bound does not cover: "
        f"{', '.join(locked)}. "
    )
    why = (runs if locked else "") + (
        "It is not a valid bound, even for rewards in [0, 1]: its proof uses Jensen's inequality and a bound on a "
        "root in the wrong direction, and so counts 1/gap pulls where 1/gap² are needed; and it treats rewards "
        "above 1 as if they were within [0, 1]. See the table of bounds."
    )
    says += f", up to n = {max(case.horizon for case, _ in pairs):,}"
    return verdict_on(f"bound:{statement}", result, [e for own in judged.values() for e in own], why, says)


def _why_vacuous(silent: dict[str, list[tuple[float, int | None]]]) -> str:
    """How large bounds are that say nothing, and from which budget on they would say something."""
    parts = []
    for name, bounds in silent.items():
        starts = [start for _, start in bounds if start is not None]
        later = f", and below 1 from a budget of {_range(starts)} on" if starts else ""
        parts.append(f"that of {name} is {_range([value for value, _ in bounds])} here{later}")
    every = "; ".join(parts)
    return f"A probability is never above 1, so these bounds say nothing: {every}. E3 has cases where they do."


def _range(values: Sequence[float]) -> str:
    low, high = (f"{value:,}" if isinstance(value, int) else f"{value:.3g}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _evident(result: PanelResult, findings: TheoryFindings) -> Verdict | None:
    """ "This behaviour is also evident from the upper bound guarantee": the bounds of SHSR and SuRSR compared."""
    values: dict[str, list[float]] = {"SHSR": [], "SuRSR": []}
    for case in result.panel.cases:
        for policy in case.policies:
            if policy.name in values:
                bounds = theory.bounds_for(policy, case.environment, case.horizon, forms=["printed"])
                values[policy.name] += [bound.value for bound in bounds]
    halving, rejects = values.values()
    if not (halving and rejects):
        return None
    smaller = sum(a < b for a, b in zip(halving, rejects, strict=True))
    why = (
        f"The printed bounds of SHSR are {_range(halving)}, those of SuRSR {_range(rejects)} (that of SHSR is the "
        f"smaller in {smaller} of {len(halving)} cases): a bound of 1 or more says nothing about an error. Uniform "
        "sampling has none."
    )
    word: Word = "vacuous" if max(halving) >= 1 else "holds" if smaller == len(halving) else "fails"
    return verdict_on("evident:SHSR", result, (), why, word=word)


def _plotted_rows(result: PanelResult) -> Rows:
    """The quantity that the released code plots as regret, where it differs from regret."""
    studies = {study.label: study for study in result.studies if study.K > 2}
    rows = []
    for row in result.rows():
        if row["metric"] == "sub-optimal plays" and (study := studies.get(row["case"])):
            gap = plotted_gap(study, study[row["policy"]])
            rows.append({**row, "metric": AS_PLOTTED, **{name: gap * row[name] for name in ENDS}})
    return rows


def _bound_rows(case: Case, study: Study, policy: Policy, forms: list[Form]) -> Rows:
    """Bounds as tidy rows, form by form, at the times where they are not vacuous."""
    times = [t for t in study.checkpoints if t >= 2 * study.K] if study.metric == "regret" else [study.horizon]
    rows = []
    for form, t in itertools.product(forms, map(int, times)):
        for bound in theory.bounds_for(policy, case.environment, t, horizon=case.horizon, forms=[form]):
            if not bound.vacuous:
                numbers = dict.fromkeys(ENDS, bound.value) | {"t": t, "metric": f"bound ({form})", "se": 0.0}
                rows.append(study.row(policy.name, study.runs, numbers))
    return rows


def _growth(result: PanelResult, findings: TheoryFindings) -> Verdict | None:
    """How regret grows; the verdict is on "logarithmic"."""
    panel = result.panel
    evidence = []
    far = bool(result.long_studies)
    played = (panel.long_cases, result.long_studies) if far else (panel.cases, result.studies)
    name, horizon = "UCB-RSSR", 0
    for case, study in zip(*played, strict=True):
        policy = case.policies[0] if far else next((p for p in case.policies if p.name == "UCB-RSSR"), None)
        start = case.horizon / (100 if far else 10)
        if policy is None or case.environment.pregenerated or len(study[policy.name].batch_sizes) < 3:
            continue
        name, outcome = policy.name, study[policy.name]
        if (outcome.checkpoints >= start).sum() < 5:
            continue  # a user's experiment may keep too few points for a fit
        games, locked = outcome.runs, outcome.locked_in(study.objective, CONFIDENCE)
        curves = outcome.regret_per_batch(study.objective) / outcome.batch_sizes[:, None]
        excluded = _excluded(case, policy)
        enough = far and outcome.runs >= MIN_RUNS  # fewer would call almost any share rare
        if enough and type(policy) is UCBRSSR and locked.mean < RARE and not excluded:
            games = lock_ins.GAMES * findings.runs
            curves, locked = lock_ins.screen(case, policy, outcome, games, findings.seed, CONFIDENCE)
        fit = theory.growth(outcome.checkpoints, curves, start=start, confidence=CONFIDENCE)
        part, power = fit.linear_part, fit.exponent
        final = float(curves[:, -1].mean()) or math.nan  # without regret there is nothing to fit
        if not excluded:  # as many runs as may have been missed count
            gaps = outcome.gaps(study.objective)
            missed = (locked.high - locked.mean) * float(gaps[gaps > 0].min(initial=math.inf)) * case.horizon / final
            part = replace(part, high=part.high + missed)
        first = int(np.argmax(outcome.checkpoints >= start))
        grown = sample_mean(curves[:, -1] - curves[:, first], CONFIDENCE).high / final
        logarithmic = part.high < LITTLE and (power.high < 0.1 or grown < LITTLE)
        verdict: Judgement = "holds" if logarithmic else "fails" if part.low > LITTLE else "undecided"
        row = [*_place(result, case, policy), part.mean, part.se, power.mean, games, locked.mean, verdict]
        findings.growth.rows.append(row)
        runs = f"{locked.mean:.2%} of {games:,} runs locked in, which may be up to {locked.high:.2%}"
        check = f"linear part of the regret of {name} @ {case.label}, n = {case.horizon:,} below a tenth "
        check += f"(p = {power.mean:.2f} ± {power.se:.2f}, {runs})"
        evidence.append(_against_bound(check, part, LITTLE, verdict))
        horizon = max(horizon, case.horizon)
    if not evidence or not panel.profile:
        return None
    misled = "look poor"
    if name == "UCB-RSSR":
        misled = "spread widely got a low estimate and, since D also divides the width, a small width, and"
    why = (
        "Up to the longest horizon played, a part of the regret grows in proportion to t. If runs are locked in, a "
        f"good arm whose first rewards happened to {misled} is not played again. If none is, all arms are still being "
        "explored at this horizon."
    )
    says = f"The regret of {name} is logarithmic in n, up to n = {horizon:,}"
    return verdict_on(f"log:{name}", result, evidence, why, says)


def _excluded(case: Case, policy: Any) -> bool:
    """Whether a proved bound in ln n, not a vacuous one, excludes that runs lock in."""
    form: Form = "repaired" if isinstance(policy, UCBVV) else "proved"  # for UCB-VV the two are one
    return any(not bound.vacuous for bound in theory.bounds_for(policy, case.environment, case.horizon, forms=[form]))


def _same_arm(result: PanelResult, findings: TheoryFindings) -> Verdict | None:
    """ "The arm with the best RSSR is the arm with the best SR": exact, from the true moments."""
    differs = []
    for case in result.panel.cases:
        if isinstance(case.objective, Variance) or case.L is None:
            return None
        objectives = (case.objective, Sharpe(case.L))
        values = [case.environment.true_values(o, findings.seed, findings.runs) for o in objectives]
        best, sharpe = (gaps_of(of_arms) == 0 for of_arms in values)
        apart = ~(best & sharpe).any(axis=1)
        how = f"they differ in {apart.mean():.1%} of the runs"
        if isinstance(case.environment, Bandit):
            how = f"RSSR prefers arm {best[0].argmax() + 1}, SR arm {sharpe[0].argmax() + 1}"
        differs += [f"{case.label}: {how}"] if apart.any() else []
    word: Word = "fails" if differs else "holds"
    why = f"This is arithmetic, not chance: squaring the mean gives it more weight. {'; '.join(differs)}."
    return verdict_on("arm:RSSR", result, (), why, word=word)


#: The measurement of a statement: its kind, case, promised rate, measured rate, and the arms it is about.
Measured = tuple[str, str, float, Estimate, Sequence[Arm]]


def _coverage(result: PanelResult, findings: TheoryFindings) -> None:
    """The coverage panel: violation rates compared with what the inequalities promise."""
    by_kind: dict[str, list[tuple[Evidence, bool]]] = defaultdict(list)  # and whether rewards are in [0, 1]
    sizes: set[int] = set()
    for case, study in zip(result.panel.cases, result.studies, strict=True):
        bandit, n, seed = case.environment, case.horizon, findings.seed
        assert isinstance(bandit, Bandit)
        lemmas = [] if n in sizes else [*_orders(bandit, n, seed), *_phases(bandit, n, seed)]  # they do not depend on L
        sizes.add(n)
        for kind, place, promise, rate, arms in [*_inequalities(bandit, case, seed), *lemmas]:
            promised = {**dict.fromkeys(ENDS, min(promise, 1.0)), "se": 0.0}
            for metric, numbers in (("violation rate", vars(rate)), (PROMISED, promised)):
                row = study.row(kind, SAMPLES, {"t": n, "metric": metric, **numbers})
                result.of_theory.append({**row, "case": place})
            evidence = _against_bound(f"{kind} @ {place} within its promise", rate, promise, within(rate, promise))
            unit = all(arm.support[0] >= 0 and arm.support[1] <= 1 for arm in arms)
            by_kind[kind].append((evidence, unit))
    for claim in result.panel.claims:
        pairs = [pair for check in claim.checks for pair in by_kind[check]]
        small = [evidence.verdict for evidence, unit in pairs if unit]
        why = f"{claim.why} With rewards in [0, 1] it failed in {small.count('fails')} of {len(small)} comparisons."
        every = [evidence for evidence, _ in pairs]
        findings.verdicts.append(verdict_on(claim.statement, result, every, why, claim.says, id=claim.id))


def _short(arm: Arm) -> str:
    """The arm's name on an axis, where there is little room."""
    return repr(arm) if len(repr(arm)) <= _LONGEST else type(arm).__name__


def _inequalities(bandit: Bandit, case: Case, seed: int) -> Iterator[Measured]:
    """The concentration inequalities on every arm: how often an estimate is outside its width."""
    settings: Any = {"samples": SAMPLES, "level": PROMISED_RATE, "seed": seed, "confidence": CONFIDENCE}
    for one in theory.coverage(bandit, case.horizon, case.names["L"], **settings):
        arm = bandit.arms[one.arm]
        yield f"{one.statistic}, {one.bound.form}", f"{_short(arm)}, {case.label}", one.bound.value, one.rate, [arm]


def _orders(bandit: Bandit, n: int, seed: int) -> Iterator[Measured]:
    """Lemma 2 on every pair of arms: how often the smaller variance looks larger."""
    for a, b, pair in theory.order_coverage(bandit, n, samples=SAMPLES, seed=seed, confidence=CONFIDENCE):
        larger, smaller = bandit.arms[a], bandit.arms[b]
        place = f"{_short(smaller)} over {_short(larger)}, n = {n}"
        yield f"{pair.statistic}, {pair.bound.form}", place, pair.bound.value, pair.rate, [larger, smaller]


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
        result = simulate(policy, arms, horizon=n, runs=SAMPLES, seed=seed)[policy.name]
        wrong = result.wrong(Variance())
        for phase, pulls in enumerate(upto):
            rate = wilson(int((wrong & (result.final[:, 3] == pulls)).sum()), result.runs, CONFIDENCE)
            place = f"phase {phase + 1} of {len(upto)}{label}, n = {n}"
            for form in ("printed", "repaired"):
                promise = theory.shvv_phase_error(arms, n, phase, form).value
                yield f"phases of SHVV, {form}", place, promise, rate, arms
