"""Policies played through a table of returns, row by row in time order, beside what one could have done without them.

In every row a policy holds one column and earns its return. Returns are taken as they stand: holding a column changes
none of them.

Which column a policy tries first depends on their order, and much follows from that. So every policy is played many
times, with the columns in another random order each time; and, if asked for, from other first rows, or on blocks of
rows drawn again. The spread over these runs is shown beside every number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from .. import console
from ..arms.bandit import Environment, stack
from ..arms.base import Draws
from ..engine.spec import Feedback, Spec, prepare, run_chunk
from ..errors import BudgetTooSmallError, InvalidInputError, unknown
from ..kernels.rewards import TAPE, ArmTable
from ..objectives import RSSR, usual_regulariser
from ..policies.base import Policy, check_policy
from ..policies.by_name import policies_by_name
from ..validation import one_of, positive, real, whole
from . import statistics
from .ranking import block_length, check_block, resampled_rows
from .table import CONSTANT, Returns

if TYPE_CHECKING:
    from rich.console import RenderableType

POLICY, BENCHMARK = "policy", "benchmark"
EQUAL, BEST, LEADER = "equal weight", "best in hindsight", "follow the leader"
#: Runs of a policy lie between these quantiles in figures and tables.
BAND = (0.05, 0.95)
#: What runs are played on: the rows as recorded; stretches of them that begin anywhere; blocks of rows drawn again.
Paths = Literal["recorded", "starts", "blocks"]
PATHS = ("recorded", "starts", "blocks")
#: The default L is estimated from the first rows: so many, or two per column.
FIRST_ROWS = 20
#: A difference is called one only beyond so many standard errors.
CLEAR = 2.0
#: Columns listed one by one in the table of shares.
_LISTED = 25


@dataclass(frozen=True, eq=False)
class Player:
    """A policy or a benchmark, and how it fared. Numbers are means over its runs.

    But for total and wealth, which are medians: a few lucky runs would make most of a mean.

    Attributes
    ----------
    name, kind : and whether it is a "policy" or a "benchmark"
    rule : what it does, in words
    runs : how often it was played; 1 for a benchmark on the recorded rows, which does not depend on the run
    total : return from first to last row, compounded
    annual_mean, annual_volatility : of its returns, times the periods in a year, and times their root
    sharpe, se, se_hac : Sharpe ratio per period; its standard errors, if returns were independent, and in spite of
        autocorrelation; ``annual_...``: times the root of periods in a year. The errors are those of a single run
    annual_difference, annual_difference_se : annualised Sharpe ratio minus that of equal weight, and its standard
        error, which allows for both holding the same columns and for autocorrelation
    drawdown : largest loss from a peak of compounded wealth
    turnover, annual_turnover : share of wealth that changes hands per period, and a year: 1 for a switch
    shares : share of time in each column
    spread : standard deviation over runs of all these numbers; empty for a single run
    band : their 5% and 95% quantiles over runs; empty for a single run
    wealth, wealth_low, wealth_high : what 1 has become after each row: median, 5% and 95% quantile over runs
    """

    name: str
    kind: str
    rule: str
    runs: int
    total: float
    annual_mean: float
    annual_volatility: float
    sharpe: float
    se: float
    se_hac: float
    annual_sharpe: float
    annual_se: float
    annual_se_hac: float
    annual_difference: float
    annual_difference_se: float
    drawdown: float
    turnover: float
    annual_turnover: float
    shares: dict[str, float]
    spread: dict[str, float]
    band: dict[str, tuple[float, float]]
    wealth: np.ndarray
    wealth_low: np.ndarray
    wealth_high: np.ndarray

    def to_dict(self) -> dict[str, Any]:
        """Plain data, but for the wealth of every row."""
        return {key: value for key, value in asdict(self).items() if not key.startswith("wealth")}


#: The numbers of a player.
NUMBERS = (
    "total", "annual_mean", "annual_volatility", "sharpe", "se", "se_hac", "annual_sharpe", "annual_se",
    "annual_se_hac", "annual_difference", "annual_difference_se", "drawdown", "turnover", "annual_turnover",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Replay:
    """Players, policies first, and all that the numbers depend on.

    Attributes
    ----------
    players : policies in the order given, then benchmarks
    feedback : "bandit": policies saw the return of the column they held; "full": of all columns
    L : regulariser of policies given by name, in the unit of variance per period
    risk_free, risk_free_per_period : annual rate, and the rate per period that compounds to it
    cost : share of wealth lost in a switch
    budget : rows in which policies that look for the best column may explore
    runs, seed : how often policies were played, and the seed of paths, orders and of the policies' random numbers
    paths : what runs were played on, "recorded", "starts" or "blocks"
    length, block : rows of a run, and the mean length of blocks in rows (None where rows are as recorded)
    names, dates : of the columns, and of the rows (None if the table has none, or if runs are of other rows)
    annual_sharpes : of the columns
    periods_per_year, source, span, convention, notes : of the returns, see :class:`Returns`; source is its ``kind``
    remarks : doubts about the returns and about what was played, each with its remedy
    """

    players: tuple[Player, ...]
    feedback: Feedback
    L: float
    risk_free: float
    risk_free_per_period: float
    cost: float
    budget: int
    runs: int
    seed: int
    paths: Paths
    length: int
    block: float | None
    names: tuple[str, ...]
    dates: np.ndarray | None
    annual_sharpes: tuple[float, ...]
    periods_per_year: float
    source: str
    span: str
    convention: str
    notes: tuple[str, ...]
    remarks: tuple[str, ...]

    def __getitem__(self, name: str) -> Player:
        """The policy or benchmark of this name."""
        for player in self.players:
            if player.name == name:
                return player
        raise unknown("player", name, [player.name for player in self.players])

    @property
    def policies(self) -> tuple[Player, ...]:
        """The players that are policies."""
        return tuple(player for player in self.players if player.kind == POLICY)

    @property
    def summary(self) -> str:
        """What to make of it, in a few sentences."""
        equal = self[EQUAL]
        said = f"Equal weight had an annualised Sharpe ratio of {equal.annual_sharpe:.2f} ± {equal.annual_se_hac:.2f}. "
        words = []
        for sign, word in ((1, "above"), (-1, "below")):
            clear = [p.name for p in self.policies if sign * p.annual_difference > CLEAR * _luck(p)]
            if clear:
                words.append(f"{word} it by more than two standard errors: {', '.join(clear)}")
        said += f"Clearly {'; clearly '.join(words)}." if words else "No policy is two standard errors away from it."
        low, middle, high = np.quantile(self.annual_sharpes, [0, 0.5, 1])
        wide = max(self.policies, key=lambda p: p.spread["annual_sharpe"])
        least, most = wide.band["annual_sharpe"]
        said += (
            f" The same policy has other luck in every run: that of {wide.name} is from {least:.2f} to {most:.2f} in "
            "nine runs of ten."
        )
        return (
            f"{said} A policy holds one column at a time, equal weight all of them; the columns alone had Sharpe "
            f"ratios from {low:.2f} to {high:.2f} (median {middle:.2f})."
        )

    @property
    def warning(self) -> str:
        """When a bandit is the wrong tool."""
        if self.feedback == "full":
            return (
                "Policies saw the returns of all columns in every row (full feedback). Where you would too, there is "
                "nothing to explore and no need for a bandit: follow the leader, or a portfolio of all columns, uses "
                "what is seen."
            )
        return (
            "This table shows what every column paid in every row; policies were shown only what they held. If you, "
            "too, see every column's return whether you hold it or not, a bandit is the wrong tool: it pays for what "
            "you could read for nothing. The same with full feedback (--full-feedback) shows how much."
        )

    def settings(self) -> dict[str, str]:
        """What every number depends on, in words."""
        q = self.periods_per_year
        seen = "only the return of the column held" if self.feedback == "bandit" else "the returns of all columns"
        played = {
            "recorded": "on the recorded rows",
            "starts": f"on {self.length:,} rows that begin at a random one",
            "blocks": f"on {self.length:,} rows drawn again in blocks of {self.block or 1:.3g} on average",
        }
        return {
            "data": f"{self.span}{', made from prices' * (self.source == 'prices')}; {len(self.names)} columns",
            "scale": self.convention,
            "annualised": f"mean and turnover × {q:g}, volatility and Sharpe ratio × √{q:g}; total is compounded",
            "risk-free rate": f"{self.risk_free:.4g} a year, {self.risk_free_per_period:.4g} per period",
            "seen": f"{seen} ({self.feedback} feedback)",
            "cost": f"{self.cost:.4g} of wealth per switch",
            "L": f"{self.L:.4g} (variance per period), unless a policy has its own",
            "runs": f"{self.runs} of each policy {played[self.paths]}, the columns in a random order; seed {self.seed}",
            **({"data preparation": "; ".join(self.notes)} if self.notes else {}),
        }

    def rules(self) -> dict[str, str]:
        """What every player does, in words."""
        return {player.name: player.rule for player in self.players}

    def tables(self) -> list[console.Cells]:
        """What is shown, as text: ratios, wealth and trade, and shares of time; each with its heads and rows."""
        ratios, others = [], []
        # the last digit shown is one that other seeds leave alone
        d = console.decimals(max(p.spread["annual_sharpe"] for p in self.policies) / self.runs**0.5, least=1)
        for p in self.players:
            own = p.name == EQUAL
            ratios.append([
                p.name, f"{p.annual_sharpe:.{d}f}", _band(p, "annual_sharpe", f".{d}f"), f"{p.annual_se_hac:.{d}f}",
                f"{p.annual_se:.{d}f}", "" if own else f"{p.annual_difference:+.{d}f}",
                "" if own else _band(p, "annual_difference", f"+.{d}f"),
                "" if own else f"{p.annual_difference_se:.{d}f}",
            ])  # fmt: skip
            others.append([
                p.name, f"{p.total:,.0%}", _band(p, "total", ",.0%"), f"{p.annual_mean:.1%}",
                f"{p.annual_volatility:.1%}", f"{p.drawdown:.0%}", f"{p.turnover:.3f}", f"{p.annual_turnover:.1f}",
            ])  # fmt: skip
        heads, shares = self.shares()
        return [
            (["", "annualised Sharpe", "90% of runs", "s.e.", "s.e. iid", "vs equal weight", "90% of runs",
              "s.e. of difference"], ratios),
            (["", "total return", "90% of runs", "annualised mean", "annualised volatility", "max drawdown",
              "turnover per period", "annualised turnover"], others),
            (heads, [[name, *(f"{share:.1%}" for share in row)] for name, row in shares]),
        ]  # fmt: skip

    def shares(self) -> tuple[list[str], list[tuple[str, list[float]]]]:
        """Share of time in each column: heads, and a row per column (if there are many, those most held, and a rest).

        Equal weight has no column of its own here: its shares are all alike.
        """
        players = [p for p in self.players if p.name != EQUAL]
        most = sorted(self.names, key=lambda name: -max(p.shares[name] for p in players))
        listed = set(most if len(most) <= _LISTED else most[: _LISTED - 1])
        rows = [(name, [p.shares[name] for p in players]) for name in self.names if name in listed]
        others = [name for name in self.names if name not in listed]
        if others:
            rows.append((f"{len(others)} others", [sum(p.shares[name] for name in others) for p in players]))
        return ["share of time in", *(p.name for p in players)], rows

    def rows(self) -> list[dict[str, Any]]:
        """Every number as a tidy table: a row per player and metric, and per column held."""
        table = []
        for p in self.players:
            numbers = [(key, "", key, getattr(p, key)) for key in NUMBERS]
            numbers += [("share", name, f"share of {name}", share) for name, share in p.shares.items()]
            for metric, column, key, value in numbers:
                low, high = p.band.get(key, ("", ""))
                over = {"sd_over_runs": p.spread.get(key, ""), "low_of_runs": low, "high_of_runs": high}
                fixed = {"player": p.name, "kind": p.kind, "runs": p.runs, "metric": metric, "column": column}
                table.append({**fixed, "value": value, **over})
        return table

    def to_dict(self) -> dict[str, Any]:
        """Plain data, but for dates and the wealth of every row."""
        words = (
            "feedback", "L", "risk_free", "risk_free_per_period", "cost", "budget", "runs", "seed", "paths", "length",
            "block", "periods_per_year", "source", "span", "convention",
        )  # fmt: skip
        return {
            **{key: getattr(self, key) for key in words},
            "notes": list(self.notes),
            "remarks": list(self.remarks),
            "annual_sharpes": dict(zip(self.names, self.annual_sharpes, strict=True)),
            "summary": self.summary,
            "warning": self.warning,
            "players": [player.to_dict() for player in self.players],
        }

    def save(self, folder: str | Path) -> None:
        """Write ``replay.html``, ``.csv`` and ``.json``, ``wealth.csv``, and figures; needs the extra ``report``."""
        from ..report.replay import save

        save(self, Path(folder))

    def __rich__(self) -> RenderableType:
        words = f"{self.summary}\n\n{self.warning}"
        return console.results(self.tables(), words, {**self.rules(), **self.settings()}, self.remarks)

    def __str__(self) -> str:
        return console.as_text(self)


def replay(
    returns: Returns,
    policies: Policy | str | Iterable[Policy | str] | None = None,
    *,
    L: float | None = None,
    risk_free: float = 0.0,
    risk_free_per_period: float | None = None,
    feedback: Feedback = "bandit",
    runs: int = 100,
    seed: int = 0,
    cost: float = 0.0,
    budget: int | None = None,
    paths: Paths = "recorded",
    length: int | None = None,
    block: float | None = None,
) -> Replay:
    """Play policies through returns in time order, beside equal weight, the best column in hindsight, and the leader.

    Every run has the columns in a random order of its own; same seed, same runs.

    Parameters
    ----------
    returns : from :func:`read_returns`
    policies : policies, or their names as in "SlidingWindowUCB:window=250,c=1"; by default those of
        :func:`usual_policies`. RSSR is signed in a replay: by name it is made so, an object without it is refused
    L : regulariser of policies given by name, in the unit of variance per period; by default a tenth of the smallest
        variance of a column in the first 20 rows, or in the first two per column if these are more
    risk_free : annual rate, 0.02 for 2%; in Sharpe ratios, and, per period, in policies given by name
    risk_free_per_period : the rate per period, instead of the annual one
    feedback : "bandit": a policy sees the return of the column it holds; "full": the returns of all
    runs, seed : how often every policy is played, and the seed of all that is random
    cost : share of wealth that a switch costs, 0.001 for a tenth of a per cent; policies learn from returns without it
    budget : rows in which policies that look for the best column, such as SHSR, may explore; they hold what they
        recommend in the rest. By default half of the rows
    paths : what a run is played on. "recorded": the rows as they are. "starts": ``length`` rows that begin at a random
        one, half of the rows by default. "blocks": as many rows as there are, drawn again in blocks (the stationary
        bootstrap) of ``block`` rows on average, by default chosen as for :func:`rank`
    length, block : see ``paths``
    """
    if not isinstance(returns, Returns):
        raise InvalidInputError(f"returns must come from read_returns, got {type(returns).__name__}")
    columns = returns.values.shape[1]
    if columns < 2:
        raise InvalidInputError(
            f"a replay chooses among columns, and there is only {returns.names[0]!r}; give at least two"
        )
    rate = statistics.risk_free_rate(risk_free, risk_free_per_period, returns.periods_per_year)
    L = _regulariser(returns) if L is None else positive("L", L)
    one_of("feedback", feedback, get_args(Feedback))
    whole("runs", runs, 2)
    whole("seed", seed, 0, 2**64 - 1)
    if not 0 <= real(cost) < 1:
        raise InvalidInputError(
            f"cost must be a share of wealth from 0 to below 1, got {cost!r}; 0.001 is 0.1% per switch"
        )
    drawn = _paths(returns, rate, seed, paths, length, block)
    rows = drawn.length
    given, budget = budget, rows // 2 if budget is None else whole("budget", budget, 1, rows)
    chosen = _policies(policies, returns, L, rate, feedback)
    if given is not None and not any(policy.setting == "fixed budget" for policy in chosen):
        raise InvalidInputError(
            f"budget={given!r} is for policies that explore and then hold, such as SHSR; there is none: leave it out"
        )
    judged, remarks = _past_their_pilot(chosen, rows, columns)
    table = _Table(returns, rate, float(cost), drawn)
    found = [_play(policy, table, feedback, runs, budget) for policy in judged]
    players = tuple(found + _benchmarks(table, runs if drawn.varied else 1))
    own = statistics.annualised(statistics.sharpe(returns.values, rate), returns.periods_per_year)
    return Replay(
        players, feedback, L, statistics.per_year(rate, returns.periods_per_year), rate, float(cost), budget, runs,
        seed, paths, rows, drawn.block, returns.names, None if drawn.varied else returns.dates, tuple(map(float, own)),
        returns.periods_per_year, returns.kind, returns.span, returns.convention, returns.notes,
        (*returns.remarks, *remarks),
    )  # fmt: skip


def _regulariser(returns: Returns) -> float:
    """L from the first rows alone: later ones are not known yet when policies begin to use it."""
    first = returns.values[: max(FIRST_ROWS, 2 * returns.values.shape[1])]
    varied = first[:, np.ptp(first, axis=0) > CONSTANT].var(axis=0, ddof=1)
    if not varied.size:
        raise InvalidInputError(
            f"no column varies in the first {len(first)} rows, from which L is estimated; pass L= (--L)"
        )
    return usual_regulariser(varied)


def _past_their_pilot(policies: list[Policy], rows: int, columns: int) -> tuple[list[Policy], list[str]]:
    """The policies that come to choose, and remarks on those that do not, or only late: trying all columns takes long.

    A policy that has not a row per column left after its pilot has chosen nothing.
    """

    def too_short(policy: Policy, horizon: int) -> bool:
        try:
            policy.check_horizon(horizon, columns)
        except BudgetTooSmallError:
            return True
        return False

    of_regret = [policy for policy in policies if policy.setting == "regret"]
    never = [p for p in of_regret if not too_short(p, rows) and too_short(p, rows - columns)]
    late = [p for p in of_regret if p not in never and not too_short(p, rows) and too_short(p, rows // 2)]
    remedy = "give fewer columns with columns= (--columns), or more rows"
    if len(never) == len(policies):
        raise InvalidInputError(
            f"{columns:,} columns are too many for {rows:,} rows: {_named(never)} would try all of them and be at the "
            f"end of the table; {remedy}"
        )
    remarks = []
    if never:
        remarks.append(
            f"{_named(never)} would be at the end of the {rows:,} rows when all {columns:,} columns have been tried "
            f"often enough, and would have chosen none: left out; {remedy}"
        )
    if late:
        remarks.append(
            f"{_named(late)} spends more than half of the {rows:,} rows on trying all {columns:,} columns; {remedy}"
        )
    return [policy for policy in policies if policy not in never], remarks


def _named(policies: Iterable[Policy]) -> str:
    return ", ".join(policy.name for policy in policies)


def _luck(player: Player) -> float:
    """Standard error of the difference from equal weight, the scatter of runs included."""
    return math.hypot(player.annual_difference_se, player.spread["annual_difference"])


def _quantiles(values: np.ndarray) -> tuple[float, float]:
    low, high = np.quantile(values, BAND)
    return float(low), float(high)


def _band(player: Player, key: str, form: str) -> str:
    if player.runs == 1:
        return ""
    low, high = player.band[key]
    return f"{low:{form}} to {high:{form}}"


def usual_policies(
    returns: Returns, L: float, risk_free_per_period: float = 0.0, feedback: Feedback = "bandit"
) -> list[Policy]:
    """SF-UCB, the same with a window of a quarter of the rows, W-TS; and UCB-RSSR as published.

    The last is left out with full feedback: on returns its index is infinite for all columns alike, which makes it play
    them in turn, or, where all have been seen as often, the first for ever.
    """
    window = max(len(returns) // 4, 6 * len(returns.names))
    names = ["ScaleFreeUCB", f"SlidingWindowUCB:window={window}", "ScaleFreeTS"]
    names += ["UCBRSSR"] if feedback == "bandit" else []
    return policies_by_name(names, L=L, risk_free=risk_free_per_period)


def _policies(given: Any, returns: Returns, L: float, rate: float, feedback: Feedback) -> list[Policy]:
    if given is None:
        return usual_policies(returns, L, rate, feedback)
    listed = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    if not listed:
        raise InvalidInputError("there is no policy to play; pass at least one, or None for the usual ones")
    named = iter(policies_by_name([p for p in listed if isinstance(p, str)], L=L, risk_free=rate))
    chosen = [next(named) if isinstance(p, str) else check_policy(p) for p in listed]
    taken = {EQUAL, BEST, LEADER}
    for policy in chosen:
        if policy.name in taken:
            raise InvalidInputError(f"two players are called {policy.name!r}; give the policy another name=")
        taken.add(policy.name)
        if policy.setting == "fixed confidence":
            raise InvalidInputError(
                f"{policy.name} stops when it is sure, which recorded returns do not let it be; play one that does "
                "not stop, or SHSR, which explores for a given number of rows"
            )
        if policy.n_recommended > 1:
            raise InvalidInputError(
                f"{policy.name} looks for {policy.n_recommended} columns, but one is held at a time; pass m=1"
            )
        if _unsigned(policy):
            raise InvalidInputError(
                f"{policy.name} has an RSSR without its sign, which takes a column that loses steadily for a good one; "
                "pass signed=True"
            )
    return chosen


def _unsigned(policy: Policy) -> bool:
    """Whether a policy that could keep the sign of RSSR does not."""
    objective = getattr(policy, "objective", None)
    return getattr(policy, "signed", True) is False or (isinstance(objective, RSSR) and not objective.signed)


class _Paths(Environment):
    """The rows of a table in every run, and the order of its columns: a function of seed and run.

    Attributes
    ----------
    values : (rows, columns) returns
    seed : of rows and orders
    length : rows of a run
    block : mean length of blocks that are drawn again; None if they are not
    varied : whether runs are played on other rows than the recorded ones, all of them and in order
    """

    varies = True
    clock = "rounds"
    sort = "recorded"

    def __init__(self, values: np.ndarray, seed: int, length: int, block: float | None) -> None:
        self.values, self.seed, self.length, self.block = values, seed, length, block
        self.K = values.shape[1]
        self.varied = length < len(values) or block is not None

    @property
    def lowest(self) -> float:
        return float(self.values.min())

    def drawn(self, run: int) -> tuple[np.ndarray, np.ndarray]:
        """The returns of a run, (rows, columns) as in the table, and its order of columns."""
        generator = np.random.Generator(np.random.Philox(key=np.array([self.seed, run], np.uint64)))
        order = generator.permutation(self.K)
        if not self.varied:
            return self.values, order
        if self.block is not None:
            return self.values[resampled_rows(generator, len(self.values), self.length, self.block)], order
        start = int(generator.integers(len(self.values) - self.length + 1))
        return self.values[start : start + self.length], order

    def table(self, seed: int, first: int, runs: int) -> ArmTable:
        rows = []
        for run in range(first, first + runs):
            x, order = self.drawn(run)
            rows.append([Draws(TAPE, size=self.length, pool=np.ascontiguousarray(x[:, k])) for k in order])
        return stack(rows)


def _paths(returns: Returns, rate: float, seed: int, paths: Paths, length: int | None, block: float | None) -> _Paths:
    rows = len(returns)
    one_of("paths", paths, PATHS)
    if length is not None and paths != "starts":
        raise InvalidInputError(f"length={length!r} is for paths='starts' (--paths starts); leave it out")
    if block is not None and paths != "blocks":
        raise InvalidInputError(f"block={block!r} is for paths='blocks' (--paths blocks); leave it out")
    if paths == "starts":
        return _Paths(returns.values, seed, rows // 2 if length is None else whole("length", length, 3, rows - 1), None)
    if paths == "blocks":
        mean = block_length(returns.values, rate) if block is None else check_block(block, rows)
        return _Paths(returns.values, seed, rows, mean)
    return _Paths(returns.values, seed, rows, None)


@dataclass(frozen=True)
class _Held:
    """What a player held in a run: gross returns, what changed hands, and its share of time in each column."""

    gross: np.ndarray
    traded: np.ndarray
    shares: np.ndarray


def _one_at_a_time(x: np.ndarray, held: np.ndarray) -> _Held:
    """Of a player that holds the column ``held`` in each row."""
    gross = x[np.arange(len(x)), held]
    # after a total loss there is nothing to trade
    traded = np.concatenate([[0.0], (held[1:] != held[:-1]) & (gross[:-1] > -1)])
    return _Held(gross, traded, np.bincount(held, minlength=x.shape[1]) / len(x))


def _weighted(x: np.ndarray, weights: np.ndarray) -> _Held:
    """Of a player that holds ``weights`` (rows, columns)."""
    return _Held((weights * x).sum(axis=1), statistics.traded(weights, x), weights.mean(axis=0))


@dataclass(frozen=True, eq=False)
class _Table:
    """Returns, the paths through them, and what every player is measured with."""

    returns: Returns
    rate: float
    cost: float
    paths: _Paths

    def net(self, held: _Held) -> np.ndarray:
        """Returns less the cost of trading."""
        return np.asarray(held.gross - self.cost * held.traded * (1 + held.gross))

    def equal(self, run: int) -> np.ndarray:
        """Returns of equal weight in a run; the same in all where rows are as recorded."""
        return self._equal(run if self.paths.varied else 0)

    @cached_property
    def _equal(self) -> Callable[[int], np.ndarray]:
        return lru_cache(maxsize=None)(lambda run: self.net(_equal_weight(self.paths.drawn(run)[0])))

    def measure(self, name: str, run: int, held: _Held) -> tuple[dict[str, float], np.ndarray]:
        """All numbers of what a player held in a run, and wealth after every row."""
        q, rate = self.returns.periods_per_year, self.rate
        net = self.net(held)
        if np.ptp(net) <= CONSTANT:
            raise InvalidInputError(f"the returns of {name} do not vary, so it has no Sharpe ratio; give more rows")
        wealth = statistics.wealth(net)
        difference, difference_se = statistics.sharpe_difference(net, self.equal(run), rate)
        ratios = {
            "sharpe": statistics.sharpe(net, rate), "se": statistics.sharpe_se(net, rate),
            "se_hac": statistics.sharpe_se_hac(net, rate), "difference": difference, "difference_se": difference_se,
        }  # fmt: skip
        turnover = float(held.traded.mean())
        numbers = {
            "total": float(wealth[-1]) - 1, "annual_mean": float(net.mean()) * q,
            "annual_volatility": float(net.std(ddof=1)) * q**0.5, "drawdown": statistics.drawdown(net),
            "turnover": turnover, "annual_turnover": turnover * q, **ratios,
            **{f"annual_{key}": statistics.annualised(value, q) for key, value in ratios.items()},
        }  # fmt: skip
        shares = {f"share of {n}": float(w) for n, w in zip(self.returns.names, held.shares, strict=True)}
        return {**{key: numbers[key] for key in NUMBERS}, **shares}, wealth

    def player(self, name: str, kind: str, rule: str, runs: Iterable[_Held]) -> Player:
        """A player from what it held in each run."""
        measured = [self.measure(name, run, held) for run, held in enumerate(runs)]
        numbers = {key: np.array([own[key] for own, _ in measured]) for key in measured[0][0]}
        wealth = np.array([path for _, path in measured])
        several = len(measured) > 1
        low, middle, high = np.quantile(wealth, [BAND[0], 0.5, BAND[1]], axis=0) if several else wealth[[0, 0, 0]]
        band = {key: _quantiles(values) for key, values in numbers.items()} if several else {}
        return Player(
            name=name, kind=kind, rule=rule, runs=len(measured),
            **{key: float(numbers[key].mean()) for key in NUMBERS if key != "total"}, total=float(middle[-1]) - 1,
            shares={n: float(numbers[f"share of {n}"].mean()) for n in self.returns.names},
            spread={key: float(values.std(ddof=1)) for key, values in numbers.items()} if several else {},
            band=band, wealth=middle, wealth_low=low, wealth_high=high,
        )  # fmt: skip


def _play(policy: Policy, table: _Table, feedback: Feedback, runs: int, budget: int) -> Player:
    paths, names = table.paths, table.returns.names
    explores = policy.setting == "fixed budget"
    horizon = budget if explores else paths.length
    spec = Spec(policy, paths, horizon, runs, paths.seed, (horizon,), feedback=feedback)
    prepare(spec)
    held, explored, found = [], 0, np.zeros(len(names), int)
    for run in range(runs):
        x, order = paths.drawn(run)
        chunk = run_chunk(spec, run, 1, trace=True)
        choices = chunk.choices[0]
        if explores:
            explored = int(chunk.final[0].sum())
            recommended = chunk.recommended[0, 0]
            choices = np.concatenate([choices[:explored], np.full(paths.length - explored, recommended)])
            found[order[recommended]] += 1
        held.append(_one_at_a_time(x, order[choices]))
    rule = policy.in_words()
    if explores:
        often = ", ".join(
            f"{names[k]} in {found[k] / runs:.0%}" for k in np.argsort(-found, kind="stable")[:3] if found[k]
        )
        rule += (
            f"; explores for {explored:,} of the {paths.length:,} rows, then holds what it found: {often} of the runs"
        )
    return table.player(policy.name, POLICY, rule, held)


def _equal_weight(x: np.ndarray) -> _Held:
    return _weighted(x, np.full_like(x, 1 / x.shape[1]))


def _benchmarks(table: _Table, runs: int) -> list[Player]:
    names = table.returns.names
    drawn = [table.paths.drawn(run)[0] for run in range(runs)]
    best = [int(np.argmax(statistics.sharpe(x, table.rate))) for x in drawn]
    known = f"{names[best[0]]}, whose" if runs == 1 else "the one whose"
    held = {
        EQUAL: (
            [_equal_weight(x) for x in drawn],
            "all columns, brought back to the same weight before every row",
        ),
        BEST: (
            [_one_at_a_time(x, np.full(len(x), k)) for x, k in zip(drawn, best, strict=True)],
            f"{known} Sharpe ratio over all rows is largest: known only afterwards",
        ),
        LEADER: (
            [_weighted(x, follow_the_leader(x, table.rate)) for x in drawn],
            "the column of largest Sharpe ratio so far, all returns being seen; equal weight until one has varied",
        ),
    }  # fmt: skip
    return [table.player(name, BENCHMARK, rule, players) for name, (players, rule) in held.items()]


def follow_the_leader(x: np.ndarray, risk_free_per_period: float = 0.0) -> np.ndarray:
    """Weights (rows, columns): in every row the column of largest Sharpe ratio in the rows before, ties to the first.

    A column that has not varied yet cannot lead; until one has, all have equal weight.
    """
    rows, columns = x.shape
    before = np.full((rows, columns), -np.inf)
    before[1:] = np.nan_to_num(statistics.sharpe_so_far(x, risk_free_per_period)[:-1], nan=-np.inf)
    weights = np.eye(columns)[before.argmax(axis=1)]
    weights[np.isinf(before).all(axis=1)] = 1 / columns
    return weights
