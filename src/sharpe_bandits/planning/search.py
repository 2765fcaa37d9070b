"""The smallest budget at which the error is small enough, found by simulation; and the error at a given budget.

The error falls with the budget, but is known only from a count of wrong runs. To avoid choosing a lucky budget:

1. budgets are doubled until the 95% interval of the error lies below the target;
2. three budgets near the crossing of the target are simulated with many runs;
3. a line through all counts near the target gives the crossing, with an interval (:mod:`.crossing`), and the smallest
   budget at which the upper limit of the error is below the target: that one is recommended;
4. fresh runs at that budget measure the error there. If it is above the target, they are added to the fit, and the
   step is repeated.

Every budget has its own rewards: with shared rewards the errors of neighbouring budgets, and the line, would deviate to
the same side. The policies are compared with a method that sees every arm in every period, and needs no policy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._support.validation import check_keywords, real, whole
from ..errors import InvalidInputError, shown
from ..policies.base import EliminationPolicy, as_list, check_policy
from ..results.metrics import Estimate
from ..simulation.api import LARGEST_HORIZON, LARGEST_SEED, simulate
from ..simulation.executors import Backend, backend_for
from .crossing import Line, fit
from .needs import ASKED, BRACKET, CURVE, EVERY_ARM, FIT, STAGES, VERIFY, Need, Plan, Point, Stage
from .phases import is_drawn_directly, recommended
from .problem import BestArmProblem

#: A policy, which sees the reward of one arm per period; None for seeing every arm in every period, and taking the one
#: that looks best.
Method = EliminationPolicy | None
#: Default number of runs at a given budget.
ASKED_RUNS = 4000
#: Relative standard error of the budget at which the error is the target, from the runs at one budget: if means are
#: drawn directly, if rewards are drawn one by one, and while the target is bracketed.
DIRECT, SIMULATED, ROUGH = 0.02, 0.06, 0.13
#: Budgets near the target, relative to the first guess; and the range around it whose counts enter the fit.
GRID, REACH = (1 / math.sqrt(2), 1.0, math.sqrt(2)), 2.5
#: The smallest permitted target: the number of runs grows as its inverse, half a million for this one.
LEAST_ERROR = 1e-4
#: n runs without a wrong one show an error below this number divided by n (Wilson's upper limit is 3.84 / n).
NONE_WRONG = 4
#: Minimum number of periods in which every arm is seen.
LEAST_PERIODS = 4
#: Maximum number of times that the budgets near the target are moved if the line crosses it outside of them.
TURNS = 4


@check_keywords(objective="it belongs to the problem, as in BestArmProblem.from_gap(..., objective=...)")
def plan(
    problem: BestArmProblem,
    *,
    error: float | None = None,
    budget: int | Sequence[int] | None = None,
    policies: EliminationPolicy | Iterable[EliminationPolicy] | None = None,
    runs: int | None = None,
    max_budget: int = 10_000_000,
    seed: int = 0,
    workers: int | None = None,
    executor: Any = None,
    progress: bool | None = None,
) -> Plan:
    """The budget needed for a probability of error of at most ``error``; or the error with a given ``budget``.

    The same seed gives the same result, bit for bit, for any number of workers.

    Parameters
    ----------
    problem : BestArmProblem
        the arms, for example from :meth:`BestArmProblem.from_gap`
    error : float | None, optional
        target, from 0.0001 to below 0.5; 0.05 if no budget is given either
    budget : int | Sequence[int] | None, optional
        rounds, one number or several, instead of a target
    policies : EliminationPolicy | Iterable[EliminationPolicy] | None, optional
        fixed-budget policies; by default halving, rejects and uniform sampling on the problem's objective
    runs : int | None, optional
        runs per budget near the target, or per given budget. By default as many as locate the budget needed to within
        2%, or 6% if rewards are drawn one by one; 4,000 per given budget
    max_budget : int, optional
        larger budgets are not tried
    seed : int, optional
        a whole number from 0
    workers, executor, progress : int | None and Any and bool | None, optional
        as for :func:`sharpe_bandits.simulate`

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> problem = sb.BestArmProblem.from_gap(2, best_sharpe=3.0, gap=3.0, volatility=0.15, periods_per_year=252)
    >>> plan = sb.plan(problem, budget=252, policies=sb.SuRSR(L=1e-5, signed=True), runs=1_000)
    >>> max(point.budget for point in plan.points)
    252
    """
    if not isinstance(problem, BestArmProblem):
        raise InvalidInputError(f"a problem such as sb.BestArmProblem.from_gap(8, 1.0, 0.3) is needed, got {problem!r}")
    if error is not None and budget is not None:
        raise InvalidInputError(f"give a target error ({error!r}) or a budget ({budget!r}), not both")
    players = _players(problem, policies)
    max_budget = whole("max_budget", max_budget, 2, LARGEST_HORIZON)
    seed = whole("seed", seed, 0, LARGEST_SEED)
    play = _Play(problem, seed, backend_for(workers, executor), progress)
    least = max(player.least_budget(problem.K) for player in players)
    groups: list[tuple[list[Method], int]] = [(list(players), least), ([None], LEAST_PERIODS)]
    if problem.table is not None:  # with a table every arm is seen: that comes first
        groups.reverse()
    if budget is not None:
        count = ASKED_RUNS if runs is None else whole("runs", runs, 1)
        too_small = _ask(play, groups, budget, count)
        return Plan(problem, None, (), tuple(play.points), seed, count, max_budget, too_small)
    target = _target(0.05 if error is None else error)
    if max_budget < least:
        raise InvalidInputError(
            f"max_budget is {max_budget}, but these policies need at least {least} rounds for {problem.K} arms"
        )
    n_runs = None if runs is None else whole("runs", runs, 100)
    least_runs = math.ceil(NONE_WRONG / target)
    if n_runs is not None and n_runs < least_runs:
        raise InvalidInputError(
            f"{n_runs} runs cannot show an error below {target:g}, even if none of them is wrong; pass "
            f"runs={least_runs} or more"
        )
    rough = max(_enough(target, ROUGH), least_runs)
    rough = rough if n_runs is None else min(n_runs, rough)
    needs: list[Need] = []
    for methods, smallest in groups:
        _bracket(play, methods, target, rough, smallest, max_budget)
        for method in methods:
            count = n_runs or _enough(target, DIRECT if play.is_direct(method) else SIMULATED)
            needs.append(_search(play, method, target, count, smallest, max_budget))
    most = max(need.check.runs for need in needs)
    return Plan(problem, target, tuple(needs), tuple(play.points), seed, most, max_budget)


def _enough(target: float, precision: float) -> int:
    """Number of runs that locates the budget of an error Φ(-c√n) with this relative standard error."""
    from scipy.special import ndtri

    score = float(ndtri(target))
    # the slope of the error with respect to the logarithm of the budget
    slope = math.exp(-(score**2) / 2) / math.sqrt(2 * math.pi) * abs(score) / 2
    return math.ceil(target * (1 - target) / (slope * precision) ** 2)


def _target(error: float) -> float:
    target = real(error)
    if not LEAST_ERROR <= target < 0.5:
        raise InvalidInputError(
            f"error, the accepted probability of a wrong choice, must be from {LEAST_ERROR:g} (smaller ones take too "
            f"many runs to observe) to below 0.5, got {shown(error)}"
        )
    return target


def _players(
    problem: BestArmProblem, policies: EliminationPolicy | Iterable[EliminationPolicy] | None
) -> list[EliminationPolicy]:
    if policies is None:
        return problem.policies()
    players: list[EliminationPolicy] = as_list(policies)
    for player in players:
        if not check_policy(player).has_fixed_budget or player.n_recommended != 1:
            raise InvalidInputError(f"{player.name} is not a fixed-budget policy for one best arm, such as SHSR(L=...)")
    return players


@dataclass
class _Play:
    """Plays methods at budgets and keeps the counts of wrong runs."""

    problem: BestArmProblem
    seed: int
    backend: Backend
    progress: bool | None
    points: list[Point] = field(default_factory=list)

    def __call__(self, method: Method, budget: int, runs: int, stage: Stage, turn: int = 0) -> Point:
        arms = self.arms(method, budget, runs, (self.seed, STAGES.index(stage), turn, budget))
        wrong, loss = ~np.isin(arms, self.problem.right), self.problem.shortfalls[arms]
        point = Point(_name(method), budget, runs, int(wrong.sum()), stage, float(loss.mean()))
        self.points.append(point)
        return point

    def is_direct(self, method: Method) -> bool:
        """Whether the cost of a run does not grow with the budget."""
        return self.problem.table is None if method is None else is_drawn_directly(method, self.problem)

    def arms(self, method: Method, budget: int, runs: int, entropy: tuple[int, ...]) -> np.ndarray:
        """The arm that a method recommends in each run."""
        problem = self.problem
        if method is None:
            return problem.leaders(budget, runs, np.random.default_rng((*entropy, 1)))
        if self.is_direct(method):
            return recommended(method, problem, budget, runs, np.random.default_rng(entropy))
        if problem.correlation:
            raise InvalidInputError(
                "a plan with a correlation takes policies that share pulls equally, as SequentialHalving and "
                "SuccessiveRejects do; simulate others on a FactorBandit"
            )
        seed = int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])
        study = simulate(
            method, problem.bandit, horizon=budget, runs=runs, seed=seed, executor=self.backend,
            checkpoints=[budget], progress=self.progress,
        )  # fmt: skip
        return study[method.name].recommended[:, 0]

    def points_of(self, method: Method, stage: Stage) -> list[Point]:
        return [point for point in self.points if point.policy == _name(method) and point.stage == stage]


def _name(method: Method) -> str:
    return EVERY_ARM if method is None else method.name


def _ask(
    play: _Play, groups: list[tuple[list[Method], int]], budget: int | Sequence[int], runs: int
) -> tuple[str, ...]:
    """Simulate the errors at these budgets, and a curve up to the largest of them.

    Methods that cannot play with such a budget are left out; the names of those that cannot with any are returned.
    """
    given = np.atleast_1d(np.asarray(budget, object)).tolist()
    if not given:
        raise InvalidInputError("there is no budget; pass at least one")
    budgets = sorted({whole("budget", n, LEAST_PERIODS, LARGEST_HORIZON) for n in given})
    too_small: list[str] = []
    for methods, smallest in groups:
        if budgets[-1] < smallest:
            too_small += map(_name, methods)
        curve = {budgets[-1] >> k for k in range(1, 7)}.difference(budgets)
        for stage, count, sizes in ((CURVE, max(1, runs // 8), sorted(curve)), (ASKED, runs, budgets)):
            for n in sizes:
                if n >= smallest:
                    for method in methods:
                        play(method, n, count, stage)
    return tuple(too_small)


def _bracket(play: _Play, methods: list[Method], target: float, runs: int, min_budget: int, max_budget: int) -> None:
    """Double the budget until the interval of every method's error is below the target, up to the largest budget."""
    budget, left = min_budget, list(methods)
    while left:
        left = [method for method in left if play(method, budget, runs, BRACKET).error.high >= target]
        if budget == max_budget:
            return
        budget = min(2 * budget, max_budget)


def _search(play: _Play, method: Method, target: float, runs: int, min_budget: int, max_budget: int) -> Need:
    """Narrow down the budget of one method, and check it."""
    name, rough = _name(method), play.points_of(method, BRACKET)
    smallest = Estimate(min_budget, 0.0, min_budget, min_budget)
    if len(rough) == 1 and rough[0].error.high < target:
        return Need(name, smallest, None, play(method, min_budget, runs, VERIFY))
    end = rough[-4:]
    guess = _crossing(end, target)
    if guess > max_budget:  # before giving up, the largest budget is simulated with all runs
        there = play(method, max_budget, runs, FIT)
        guess = _crossing([*end, there], target)
        if guess > max_budget:
            return Need(name, None, None, there)
    for turn in range(1, TURNS + 1):
        guess = min(max(guess, min_budget), max_budget)
        for n in sorted({min(max(math.ceil(guess * f), min_budget), max_budget) for f in GRID}):
            play(method, n, runs, FIT, turn)
        counted = [*end, *play.points_of(method, FIT)]
        near = [p for p in counted if guess / REACH <= p.budget <= guess * REACH]
        if _line(near) is None:
            near = counted
        line = _line(near)
        if line is None:
            raise InvalidInputError(f"{runs} runs are too few to show that the error of {name} falls; pass more runs")
        rounds, safe = line.crossing(target), line.safe(target)
        if guess * GRID[0] <= rounds.mean <= guess * GRID[-1]:
            break
        guess = rounds.mean
    if safe < min_budget:
        return Need(name, smallest, None, play(method, min_budget, runs, VERIFY))
    budget, turn = safe, 0
    while budget <= max_budget:
        check = play(method, math.ceil(budget), runs, VERIFY, turn)
        if check.error.mean <= target:
            return Need(name, rounds, line, check)
        near, turn = [*near, check], turn + 1
        budget = check.budget + 1
        again = _line(near)
        if again is not None:
            line, rounds = again, again.crossing(target)
            budget = max(again.safe(target), budget)
    return Need(name, None, line, play(method, max_budget, runs, VERIFY, turn))


def _line(points: Sequence[Point]) -> Line | None:
    return fit([p.budget for p in points], [p.wrong for p in points], [p.runs for p in points])


def _crossing(points: Sequence[Point], target: float) -> float:
    line = _line(points)
    if line is None:
        return points[-1].budget if points[-1].error.mean <= target else math.inf
    return line.crossing(target).mean
