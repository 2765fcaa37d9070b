"""Play policies and benchmarks through a table of returns, run by run, and measure their results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np

from .._support.validation import whole
from ..arms.base import Draws
from ..arms.environment import Environment, stack
from ..errors import InvalidInputError
from ..objectives import usual_regulariser
from ..objectives.statistics import moments_so_far
from ..play.choose import Holding
from ..play.rewards import TAPE, ArmTable
from ..policies.base import Policy
from ..simulation.families.index import hold
from ..simulation.spec import Feedback, Spec, prepare, run_chunk
from . import statistics
from .cleaning import CONSTANT
from .decisions import Held, check_every, compounded, drifting, one_at_a_time, starts, weighted
from .resampling import resampled_rows
from .table import Returns
from .yardstick import BASIS_POINTS, Yardstick

#: Kinds of players.
PlayerKind = Literal["policy", "benchmark"]
EQUAL, BEST, LEADER = "equal weight", "best in hindsight", "follow the leader"
#: Stands for a column number if all available columns are held.
ALL = -2
#: Quantiles over runs that figures and tables show.
BAND = (0.05, 0.95)
#: Rows of a run: all of them as recorded; consecutive ones from a random start; or resampled blocks.
Paths = Literal["recorded", "starts", "blocks"]
#: The default L is estimated from this many first rounds, or two per column if these are more.
FIRST_ROWS = 20


#: Numeric attributes of a player that are about costs, and what they are called then.
COST_NUMBERS = {
    "total": "total_cost", "annual_mean": "mean_cost", "annual_volatility": "sd", "annual_sharpe": "cost_plus_risk",
    "annual_se": "se", "annual_difference": "difference", "annual_difference_se": "difference_se",
    "turnover": "turnover", "annual_turnover": "annual_turnover",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Player:
    """A policy or a benchmark, and its results: means over its runs, but medians of ``total`` and ``wealth``, since a
    few lucky runs would dominate a mean.

    Sharpe ratios are per period, and ``annual_...`` times the root of the periods per year; ``se`` is robust to
    autocorrelation (HAC), ``se_iid`` for independent returns, both for a single run. ``annual_difference`` is that from
    equal weight; its standard error allows for common holdings. For costs ``sharpe`` is mean less risk, and totals,
    means, volatilities and ``annual_...`` are costs in basis points. ``turnover`` is the share of wealth traded per
    period, a switch counting as 1. ``sd_over_runs`` and ``band`` (5% and 95% quantiles) of all numbers are empty for a
    single run. ``held`` are the holdings in the run with the median total return, number ``typical``.
    """

    name: str
    kind: PlayerKind
    rule: str
    runs: int
    total: float
    annual_mean: float
    annual_volatility: float
    sharpe: float
    se: float
    se_iid: float
    annual_sharpe: float
    annual_se_iid: float
    annual_se: float
    annual_difference: float
    annual_difference_se: float
    drawdown: float
    turnover: float
    annual_turnover: float
    shares: dict[str, float]
    sd_over_runs: dict[str, float]
    band: dict[str, tuple[float, float]]
    wealth: np.ndarray
    wealth_low: np.ndarray
    wealth_high: np.ndarray
    typical: int
    held: Held

    @property
    def drawdowns(self) -> np.ndarray:
        """Loss from the last peak of wealth after each row, in the run with the median total return."""
        return statistics.drawdowns(self.held.net)

    @property
    def total_difference_se(self) -> float:
        """Standard error of the difference from equal weight, including the variation over runs."""
        return math.hypot(self.annual_difference_se, self.sd_over_runs["annual_difference"])

    def to_dict(self) -> dict[str, Any]:
        fixed = (own.name for own in fields(self) if own.name != "held" and not own.name.startswith("wealth"))
        return {key: getattr(self, key) for key in fixed}

    def costs(self) -> dict[str, Any]:
        numbers = {name: getattr(self, key) for key, name in COST_NUMBERS.items()}
        return {**numbers, "name": self.name, "kind": self.kind}


#: Numeric attributes of a player.
NUMBERS = tuple(own.name for own in fields(Player) if own.type == "float")


class TablePaths(Environment):
    """The rows and the order of columns of every run: a function of seed and run.

    ``values`` and ``active`` (rows, columns) are returns, and returns minus the hurdle, which policies learn from; NaN
    before the first and after the last return of a column. ``begins`` is the first row of each round,
    ``covariate`` the benchmark's returns, which policies see in every round, if there is one.
    """

    varies = True
    clock = "rounds"
    arm_kinds = "recorded"

    def __init__(
        self, returns: Returns, seed: int, length: int, block: float | None, every: Any = 1, warm: int = 0
    ) -> None:
        self.values = _within_histories(returns)
        self.active = self.values if returns.hurdle is None else self.values - returns.hurdle.values[:, None]
        self.lowest = float(np.nanmin(self.active))
        self.covariate = returns.hurdle.values if returns.hurdle is not None and returns.active else None
        self.has_covariate = returns.active
        self.seed, self.length, self.block = seed, length, block
        self.K = self.values.shape[1]
        self.varied = length < len(self.values) or block is not None
        self.every = check_every(every, returns.dates, not self.varied)
        self.warm = whole("warm_up", warm, 0, length - 3)
        self.begins = starts(length, self.every, self.warm, returns.days)
        self.warm_rounds = int((self.begins < self.warm).sum())
        if self.rounds - self.warm_rounds < 3:
            raise InvalidInputError(
                f"every={every!r} leaves {self.rounds - self.warm_rounds} decisions in {length:,} rows, and at least "
                "3 are needed; decide more often"
            )

    @property
    def rounds(self) -> int:
        """Decision periods of a run, those of the warm-up included."""
        return len(self.begins)

    def drawn(self, run: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows and the order of columns of a run."""
        generator = np.random.Generator(np.random.Philox(key=np.array([self.seed, run], np.uint64)))
        order = generator.permutation(self.K)
        if not self.varied:
            return np.arange(self.length), order
        if self.block is not None:
            return resampled_rows(generator, len(self.values), self.length, self.block), order
        return int(generator.integers(len(self.values) - self.length + 1)) + np.arange(self.length), order

    def played(self, run: int) -> np.ndarray:
        return self.values[self.drawn(run)[0][self.warm :]]

    def table(self, seed: int, runs: Iterable[int]) -> ArmTable:
        rows = []
        for run in runs:
            at, order = self.drawn(int(run))
            x = compounded(self.active[at], self.begins)
            columns = [x[:, k] for k in order]
            if self.covariate is not None:
                columns.append(self.seen(at))
            rows.append([Draws(TAPE, size=len(x), pool=np.ascontiguousarray(column)) for column in columns])
        return stack(rows)

    def seen(self, rows: np.ndarray) -> np.ndarray:
        """The benchmark's return in each round of these rows."""
        assert self.covariate is not None
        return np.asarray(compounded(self.covariate[rows][:, None], self.begins)[:, 0])


def _within_histories(returns: Returns) -> np.ndarray:
    """Returns with gaps between the first and the last return of a column set to 0, if the next one spans the gap.

    Only returns made from prices span gaps. What else was not observed cannot be replayed.
    """
    x = returns.values
    gaps = np.isnan(x)
    if not gaps.any():
        return x
    begun = np.logical_or.accumulate(~gaps, axis=0)
    ended = ~np.logical_or.accumulate(~gaps[::-1], axis=0)[::-1]
    within = gaps & begun & ~ended
    if within.any() and returns.kind not in ("prices", "cumulative-returns"):
        column = int(within.sum(axis=0).argmax())
        remedy = "compare columns that are seen one at a time (compare)"
        if not gaps.any(axis=1).all():
            remedy = f"read the table with missing='drop', or with missing='fill' if these returns were 0, or {remedy}"
        raise InvalidInputError(
            f"column {returns.names[column]!r} has no return in {within[:, column].sum():,} of {len(x):,} rows between "
            f"its first and its last, and what was not observed cannot be replayed; {remedy}"
        )
    return np.where(within, 0.0, x)


@dataclass(frozen=True, eq=False)
class Evaluator:
    """Measures players: the returns, the paths through them, what they are judged by, and the costs."""

    returns: Returns
    yardstick: Yardstick
    costs: np.ndarray
    paths: TablePaths
    _equal: dict[int, np.ndarray] = field(default_factory=dict)

    @property
    def begins(self) -> np.ndarray:
        return self.paths.begins[self.paths.warm_rounds :] - self.paths.warm

    def active_returns(self, run: int, net: np.ndarray) -> np.ndarray:
        """Net returns minus the hurdle of their rows, if there is one."""
        if self.returns.hurdle is None:
            return net
        return np.asarray(net - self.returns.hurdle.values[self.paths.drawn(run)[0][self.paths.warm :]])

    def equal(self, run: int) -> np.ndarray:
        """Returns of equal weight in a run minus the hurdle; the same in all runs on the recorded rows."""
        run = run if self.paths.varied else 0
        if run not in self._equal:
            self._equal[run] = self.active_returns(run, self.equal_weight(run).net)
        return self._equal[run]

    def equal_weight(self, run: int) -> Held:
        """Holdings of all available columns in equal parts."""
        x = self.paths.played(run)
        there = ~np.isnan(x[self.begins])
        with np.errstate(invalid="ignore"):
            targets = np.nan_to_num(there / there.sum(axis=1, keepdims=True))
        x = np.nan_to_num(x)
        return weighted(x, drifting(targets, x, self.begins), self.costs)

    def measure(self, name: str, run: int, held: Held) -> tuple[dict[str, float], np.ndarray]:
        """All numbers of a player in a run, from its holdings, and its wealth after every row."""
        q, yardstick = self.returns.periods_per_year, self.yardstick
        net = held.net
        active = self.active_returns(run, net)
        if np.ptp(net) <= CONSTANT:
            raise InvalidInputError(f"the returns of {name} do not vary, so it has no Sharpe ratio; give more rows")
        costs = -BASIS_POINTS * net
        wealth = np.cumsum(costs) if yardstick.costs else statistics.wealth(net)
        difference, difference_se = yardstick.difference(active, self.equal(run))
        values = {"sharpe": float(yardstick.of_columns(active)), "difference": difference}
        errors = {
            "se_iid": yardstick.se(active, 0), "se": yardstick.se(active), "difference_se": difference_se,
        }  # fmt: skip
        turnover = float(held.traded.mean())
        numbers = {
            "total": float(wealth[-1]) - (not yardstick.costs),
            "annual_mean": float(costs.mean()) if yardstick.costs else float(net.mean()) * q,
            "annual_volatility": float(net.std(ddof=1)) * (BASIS_POINTS if yardstick.costs else q**0.5),
            "drawdown": statistics.drawdown(net), "turnover": turnover, "annual_turnover": turnover * q,
            **values, **errors,
            **{f"annual_{key}": value * yardstick.factor for key, value in values.items()},
            **{f"annual_{key}": value * abs(yardstick.factor) for key, value in errors.items()},
        }  # fmt: skip
        shares = {f"share of {n}": float(w) for n, w in zip(self.returns.names, held.shares, strict=True)}
        return {**{key: numbers[key] for key in NUMBERS}, **shares}, wealth

    def player(self, name: str, kind: PlayerKind, rule: str, runs: Sequence[Held]) -> Player:
        """A player from what it held in each run."""
        measured = [self.measure(name, run, held) for run, held in enumerate(runs)]
        numbers = {key: np.array([own[key] for own, _ in measured]) for key in measured[0][0]}
        wealth = np.array([path for _, path in measured])
        several = len(measured) > 1
        low, middle, high = np.quantile(wealth, [BAND[0], 0.5, BAND[1]], axis=0) if several else wealth[[0, 0, 0]]
        band = {key: tuple(np.quantile(values, BAND).tolist()) for key, values in numbers.items()} if several else {}
        typical = int(np.argsort(numbers["total"], kind="stable")[(len(measured) - 1) // 2])
        return Player(
            name=name, kind=kind, rule=rule, runs=len(measured),
            **{key: float(numbers[key].mean()) for key in NUMBERS if key != "total"},
            total=float(middle[-1]) - (not self.yardstick.costs),
            shares={n: float(numbers[f"share of {n}"].mean()) for n in self.returns.names},
            sd_over_runs={key: float(values.std(ddof=1)) for key, values in numbers.items()} if several else {},
            band=band, wealth=middle, wealth_low=low, wealth_high=high, typical=typical, held=runs[typical],
        )  # fmt: skip


def held_by(policy: Policy, table: Evaluator, holding: Holding, full: bool, runs: int, late: int = 0) -> Player:
    """Play a policy with several columns, a minimum holding period, unequal histories, a warm-up or known costs.

    Holdings follow decisions ``late`` rounds later, which is right only if all returns are seen whatever is held.
    """
    paths = table.paths
    begins, rounds = table.begins, np.arange(paths.rounds - paths.warm_rounds)
    held, top = [], holding.places
    for run in range(runs):
        rows, order = paths.drawn(run)
        rewards = compounded(paths.active[rows], paths.begins)[:, order]
        terms = holding._replace(costs=table.costs[order])
        seen = None if paths.covariate is None else paths.seen(rows)
        portfolio = hold(policy, rewards, terms, full, paths.seed, run, seen)
        portfolio = np.where(portfolio < 0, -1, order[portfolio])
        portfolio = np.concatenate([np.full((late, top), -1), portfolio[: len(portfolio) - late]])[paths.warm_rounds :]
        x = np.nan_to_num(paths.played(run))
        of_rows = portfolio[np.repeat(rounds, np.diff([*begins, len(x)]))]
        if top == 1 and (of_rows >= 0).all():
            held.append(one_at_a_time(x, of_rows[:, 0], table.costs))
            continue
        targets = np.zeros((len(portfolio), paths.K + 1))  # the last column is cash
        for place in range(top):
            targets[rounds, portfolio[:, place]] += 1 / top
        cash = np.hstack([x, np.zeros((len(x), 1))])
        own = weighted(cash, drifting(targets, cash, begins), np.append(table.costs, 0.0), of_rows)
        held.append(replace(own, shares=own.shares[:-1], weights=None if own.weights is None else own.weights[:, :-1]))
    return table.player(policy.name, "policy", policy.in_words(), held)


def play(policy: Policy, table: Evaluator, feedback: Feedback, runs: int, budget: int, late: int = 0) -> Player:
    """Play a policy that holds one column; rewards reach it ``late`` rounds after they are earned."""
    paths, explores = table.paths, policy.has_fixed_budget
    horizon = budget if explores else paths.rounds
    spec = Spec(policy, paths, horizon, runs, paths.seed, (horizon,), feedback=feedback, delay=late)
    prepare(spec)
    held, rule = [], policy.in_words()
    in_round = np.repeat(np.arange(paths.rounds), np.diff([*paths.begins, paths.length]))
    for run in range(runs):
        order = paths.drawn(run)[1]
        chunk = run_chunk(spec, [run], trace=True)
        choices = chunk.choices[0]
        if explores:
            explored = int(chunk.final[0].sum())
            choices = np.concatenate([choices[:explored], np.full(paths.rounds - explored, chunk.recommended[0, 0])])
            of_all = f"{explored:,} of the {paths.rounds:,} {'rows' if paths.rounds == paths.length else 'rounds'}"
            rule = f"{policy.in_words()}; explores for {of_all}, then holds what it recommends"
        held.append(one_at_a_time(paths.played(run), order[choices][in_round], table.costs))
    return table.player(policy.name, "policy", rule, held)


def benchmarks(table: Evaluator, runs: int, top: int, lag: int = 0) -> tuple[list[Player], list[str]]:
    """Benchmarks that need no policy, and remarks on those that could not be played."""
    names, paths = table.returns.names, table.paths
    samples = [paths.played(run) for run in range(runs)]
    seen = [paths.active[paths.drawn(run)[0]] for run in range(runs)]  # the warm-up included
    whole_history = [k for k in range(len(names)) if not np.isnan(samples[0][:, k]).any()]
    when = "row" if paths.rounds == paths.length else "decision"
    balanced = [table.equal_weight(run) for run in range(runs)]
    rule = f"all columns, rebalanced to equal weights before every {when}"
    players, remarks = [table.player(EQUAL, "benchmark", rule, balanced)], []
    if whole_history:
        best = [whole_history[int(np.argmax(table.yardstick.of_columns(x[paths.warm :, whole_history])))] for x in seen]
        subject = f"{names[best[0]]}, whose" if runs == 1 else "the one whose"
        among = "" if len(whole_history) == len(names) else ", of the columns with a return in every row"
        rule = f"{subject} {table.yardstick.name} over all rows is best{among}: known only afterwards"
        held = [one_at_a_time(x, np.full(len(x), k), table.costs) for x, k in zip(samples, best, strict=True)]
        players.append(table.player(BEST, "benchmark", rule, held))
    else:
        remarks.append("no column has a return in every row, so that none can be called best in hindsight")
    led = []
    for x, active in zip(samples, seen, strict=True):
        targets = follow_the_leader(active, table.yardstick, top)
        targets = np.concatenate([np.repeat(targets[:1], lag, axis=0), targets[: len(targets) - lag]])
        targets = targets[paths.warm :][table.begins]
        filled = np.nan_to_num(x)
        ranked = np.argsort(-targets, axis=1, kind="stable")[:, :top]
        ranked[(targets > 0).sum(axis=1) > top] = ALL
        columns = np.repeat(ranked, np.diff([*table.begins, len(x)]), axis=0)
        led.append(weighted(filled, drifting(targets, filled, table.begins), table.costs, columns))
    which = f"the {top} columns" if top > 1 else "the column"
    rule = (
        f"{which} with the best {table.yardstick.name} so far, all of them observed; equal weight until one has varied"
    )
    return [*players, table.player(LEADER, "benchmark", rule, led)], remarks


def follow_the_leader(x: np.ndarray, yardstick: Yardstick, top: int = 1) -> np.ndarray:
    """Weights (rows, columns): in every row the columns with the best value so far; ties go to the first.

    A column that has not varied yet, or is not available, cannot lead. Until enough columns have varied, all available
    ones have equal weight.
    """
    rows, columns = x.shape
    before = np.full((rows, columns), -np.inf)
    for k in range(columns):
        own = np.flatnonzero(~np.isnan(x[:, k]))
        moments = moments_so_far(x[own, k])
        so_far = yardstick.value(moments.mean, np.where(moments.variance > 0, moments.variance, np.nan))
        before[own[1:], k] = np.nan_to_num(so_far[:-1], nan=-np.inf)
    weights = np.zeros((rows, columns))
    first = np.argsort(-before, axis=1, kind="stable")[:, :top]
    np.put_along_axis(weights, first, 1 / top, axis=1)
    few = np.isinf(before).sum(axis=1) > columns - top
    there = ~np.isnan(x[few])
    weights[few] = there / np.maximum(there.sum(axis=1, keepdims=True), 1)
    return weights


def first_regulariser(paths: TablePaths) -> float:
    """L from the first rounds only: policies cannot know later ones when they start."""
    rewards = compounded(paths.active[: paths.length], paths.begins)
    first = rewards[: max(FIRST_ROWS, 2 * paths.K, paths.warm_rounds)]
    seen = [column[~np.isnan(column)] for column in first.T]
    varied = [column.var(ddof=1) for column in seen if len(column) > 1 and np.ptp(column) > CONSTANT]
    if not varied:
        raise InvalidInputError(f"no column varies in the first {len(first)} rows, from which L is estimated; pass L=")
    return usual_regulariser(np.array(varied))
