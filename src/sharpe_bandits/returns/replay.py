"""Policies played through a table of returns, row by row in time order, beside what one could have done without them.

In every row a policy holds one column and earns its return. Returns are taken as they stand: holding a column changes
none of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import console
from ..arms.bandit import Tape
from ..engine.work import FEEDBACK, Work, is_random, prepare, run_chunk
from ..errors import InvalidInput, unknown
from ..objectives import usual_regulariser
from ..policies.base import EliminationPolicy, Policy, StoppingPolicy, check_policy
from ..policies.by_name import policies_by_name
from ..validation import finite, one_of, positive, real, whole
from . import statistics
from .table import CONSTANT, Returns

if TYPE_CHECKING:
    from rich.console import RenderableType

POLICY, BENCHMARK = "policy", "benchmark"
EQUAL, BEST, LEADER = "equal weight", "best in hindsight", "follow the leader"
#: Runs of a randomised policy lie between these quantiles in figures.
BAND = (0.05, 0.95)
#: A difference is called one only beyond so many standard errors.
CLEAR = 2.0
#: Columns listed one by one in the table of shares.
_LISTED = 25


@dataclass(frozen=True, eq=False)
class Player:
    """A policy or a benchmark, and how it fared. Numbers of a randomised policy are means over its runs.

    But for total and wealth, which are medians: a few lucky runs would make most of a mean.

    Attributes
    ----------
    name, kind : and whether it is a "policy" or a "benchmark"
    rule : what it does, in words
    runs : how often it was played; 1 if it draws no random numbers
    total : return from first to last row, compounded
    annual_mean, annual_volatility : of its returns, times the periods in a year, and times their root
    sharpe, se, se_hac : Sharpe ratio per period; its standard errors, if returns were independent, and in spite of
        autocorrelation; ``annual_...``: times the root of periods in a year. The errors are those of a single run
    annual_difference, annual_difference_se : annual Sharpe ratio less that of equal weight, and its standard error,
        which allows for both holding the same columns and for autocorrelation
    drawdown : largest loss from a peak of compounded wealth
    turnover, annual_turnover : share of wealth that changes hands per period, and a year: 1 for a switch
    shares : share of time in each column
    spread : standard deviation over runs of all these numbers; empty for a single run
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
    risk_free : rate per period
    cost : share of wealth lost in a switch
    budget : rows in which policies that look for the best column may explore
    seed : of the policies' random numbers
    names, dates : of the columns, and of the rows (None if the table has none)
    annual_sharpes : of the columns
    periods_per_year, source, span, convention, notes : of the returns, see :class:`Returns`; source is its ``kind``
    """

    players: tuple[Player, ...]
    feedback: str
    L: float
    risk_free: float
    cost: float
    budget: int
    seed: int
    names: tuple[str, ...]
    dates: np.ndarray | None
    annual_sharpes: tuple[float, ...]
    periods_per_year: float
    source: str
    span: str
    convention: str
    notes: tuple[str, ...]

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
        said = f"Equal weight had a Sharpe ratio of {equal.annual_sharpe:.2f} ± {equal.annual_se_hac:.2f} a year. "
        words = []
        for sign, word in ((1, "above"), (-1, "below")):
            clear = [p.name for p in self.policies if sign * p.annual_difference > CLEAR * p.annual_difference_se]
            if clear:
                words.append(f"{word} it by more than two standard errors: {', '.join(clear)}")
        said += f"Clearly {'; clearly '.join(words)}." if words else "No policy is two standard errors away from it."
        low, middle, high = np.quantile(self.annual_sharpes, [0, 0.5, 1])
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
        random = [p for p in self.policies if p.runs > 1]
        return {
            "data": f"{self.span}{', made from prices' * (self.source == 'prices')}; {len(self.names)} columns",
            "scale": self.convention,
            "annualised": f"mean and turnover × {q:g}, volatility and Sharpe ratio × √{q:g}; total is compounded",
            "risk-free rate": f"{statistics.per_year(self.risk_free, q):.4g} a year, {self.risk_free:.4g} per period",
            "seen": f"{seen} ({self.feedback} feedback)",
            "cost": f"{self.cost:.4g} of wealth per switch",
            "L": f"{self.L:.4g} (variance per period), unless a policy has its own",
            **({"runs": f"{random[0].runs} of each randomised policy, seed {self.seed}"} if random else {}),
            **({"on the way in": "; ".join(self.notes)} if self.notes else {}),
        }

    def rules(self) -> dict[str, str]:
        """What every player does, in words."""
        return {player.name: player.rule for player in self.players}

    def tables(self) -> list[console.Cells]:
        """What is shown, as text: ratios, wealth and trade, and shares of time; each with its heads and rows."""
        ratios, others = [], []
        for p in self.players:
            own = p.name == EQUAL
            ratios.append([
                p.name, f"{p.annual_sharpe:.3f}", f"{p.annual_se_hac:.3f}", f"{p.annual_se:.3f}",
                f"{p.spread['annual_sharpe']:.3f}" if p.spread else "", "" if own else f"{p.annual_difference:+.3f}",
                "" if own else f"{p.annual_difference_se:.3f}",
            ])  # fmt: skip
            others.append([
                p.name, f"{p.total:,.1%}", _range(p), f"{p.annual_mean:.2%}",
                f"{p.annual_volatility:.2%}", f"{p.drawdown:.1%}", f"{p.turnover:.4f}", f"{p.annual_turnover:.2f}",
            ])  # fmt: skip
        heads, shares = self.shares()
        return [
            (["", "Sharpe a year", "s.e.", "s.e. iid", "s.d. over runs", "less equal weight", "s.e. of that"], ratios),
            (["", "total return", "90% of runs", "mean a year", "volatility a year", "drawdown",
              "turnover per period", "a year"], others),
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
            numbers = [(key, "", getattr(p, key), p.spread.get(key, "")) for key in NUMBERS]
            numbers += [
                ("share", name, share, p.spread.get(f"share of {name}", "")) for name, share in p.shares.items()
            ]
            fixed = {"player": p.name, "kind": p.kind, "runs": p.runs}
            table += [{**fixed, "metric": m, "column": c, "value": v, "sd_over_runs": sd} for m, c, v, sd in numbers]
        return table

    def to_dict(self) -> dict[str, Any]:
        """Plain data, but for dates and the wealth of every row."""
        words = {key: getattr(self, key) for key in ("feedback", "L", "risk_free", "cost", "budget", "seed")}
        words |= {key: getattr(self, key) for key in ("periods_per_year", "source", "span", "convention")}
        return {
            **words,
            "notes": list(self.notes),
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
        return console.results(self.tables(), f"{self.summary}\n\n{self.warning}", {**self.rules(), **self.settings()})

    def __str__(self) -> str:
        return console.as_text(self)


def replay(
    returns: Returns,
    policies: Policy | str | Iterable[Policy | str] | None = None,
    *,
    L: float | None = None,
    risk_free: float = 0.0,
    feedback: str = "bandit",
    runs: int = 100,
    seed: int = 0,
    cost: float = 0.0,
    budget: int | None = None,
) -> Replay:
    """Play policies through returns in time order, beside equal weight, the best column in hindsight, and the leader.

    Parameters
    ----------
    returns : from :func:`read_returns`
    policies : policies, or their names as in "SlidingWindowUCB:window=250,c=1"; by default those of
        :func:`usual_policies`
    L : regulariser of policies given by name, in the unit of variance per period; by default a tenth of the smallest
        variance of a column
    risk_free : rate per period (see :func:`statistics.per_period`); in Sharpe ratios, and in policies given by name
    feedback : "bandit": a policy sees the return of the column it holds; "full": the returns of all
    runs, seed : of policies that draw random numbers; others are played once
    cost : share of wealth that a switch costs, 0.001 for a tenth of a per cent; policies learn from returns without it
    budget : rows in which policies that look for the best column, such as SHSR, may explore; they hold what they
        recommend in the rest. By default half of the rows
    """
    if not isinstance(returns, Returns):
        raise InvalidInput(f"returns must come from read_returns, got {type(returns).__name__}")
    rows, columns = returns.values.shape
    if columns < 2:
        raise InvalidInput(f"a replay chooses among columns, and there is only {returns.names[0]!r}; give at least two")
    L = usual_regulariser(returns.values.var(axis=0, ddof=1)) if L is None else positive("L", L)
    finite("risk_free", risk_free)
    one_of("feedback", feedback, FEEDBACK)
    whole("runs", runs, 2)
    whole("seed", seed, 0, 2**64 - 1)
    if not 0 <= real(cost) < 1:
        raise InvalidInput(f"cost must be a share of wealth from 0 to below 1, got {cost!r}; 0.001 is 0.1% per switch")
    given, budget = budget, rows // 2 if budget is None else whole("budget", budget, 1, rows)
    chosen = _policies(policies, returns, L, risk_free, feedback)
    if given is not None and not any(isinstance(policy, EliminationPolicy) for policy in chosen):
        raise InvalidInput(
            f"budget={given!r} is for policies that explore and then hold, such as SHSR; there is none: leave it out"
        )
    table = _Table(returns, float(risk_free), float(cost))
    found = [_play(policy, table, feedback, runs, seed, budget) for policy in chosen]
    players = tuple(found + _benchmarks(table))
    own = statistics.annualised(statistics.sharpe(returns.values, risk_free), returns.periods_per_year)
    return Replay(
        players, feedback, L, float(risk_free), float(cost), budget, seed, returns.names, returns.dates,
        tuple(map(float, own)), returns.periods_per_year, returns.kind, returns.span, returns.convention, returns.notes,
    )  # fmt: skip


def _range(player: Player) -> str:
    low, high = player.wealth_low[-1] - 1, player.wealth_high[-1] - 1
    return f"{low:,.0%} to {high:,.0%}" if player.runs > 1 else ""


def usual_policies(returns: Returns, L: float, risk_free: float = 0.0, feedback: str = "bandit") -> list[Policy]:
    """SF-UCB, the same with a window of a quarter of the rows, SF-TS; and UCB-RSSR as published.

    The last is left out with full feedback: on returns its index is infinite for all columns alike, which makes it play
    them in turn, or, where all have been seen as often, the first for ever.
    """
    window = max(len(returns) // 4, 6 * len(returns.names))
    names = ["ScaleFreeUCB", f"SlidingWindowUCB:window={window}", "ScaleFreeTS"]
    names += ["UCBRSSR"] if feedback == "bandit" else []
    return policies_by_name(names, L=L, risk_free=risk_free)


def _policies(given: Any, returns: Returns, L: float, risk_free: float, feedback: str) -> list[Policy]:
    if given is None:
        return usual_policies(returns, L, risk_free, feedback)
    listed = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    if not listed:
        raise InvalidInput("there is no policy to play; pass at least one, or None for the usual ones")
    named = iter(policies_by_name([p for p in listed if isinstance(p, str)], L=L, risk_free=risk_free))
    chosen = [next(named) if isinstance(p, str) else check_policy(p) for p in listed]
    taken = {EQUAL, BEST, LEADER}
    for policy in chosen:
        if policy.name in taken:
            raise InvalidInput(f"two players are called {policy.name!r}; give the policy another name=")
        taken.add(policy.name)
        if isinstance(policy, StoppingPolicy):
            raise InvalidInput(
                f"{policy.name} stops when it is sure, which recorded returns do not let it be; play one that does "
                "not stop, or SHSR, which explores for a given number of rows"
            )
        if policy.sought > 1:
            raise InvalidInput(f"{policy.name} looks for {policy.sought} columns, but one is held at a time; pass m=1")
    return chosen


@dataclass(frozen=True, eq=False)
class _Table:
    """Returns, and what every player is measured with."""

    returns: Returns
    risk_free: float
    cost: float

    @property
    def x(self) -> np.ndarray:
        return self.returns.values

    def net(self, weights: np.ndarray, traded: np.ndarray) -> np.ndarray:
        """Returns of who holds ``weights`` (rows, columns), less the cost of trading."""
        gross = (weights * self.x).sum(axis=1)
        return np.asarray(gross - self.cost * traded * (1 + gross))

    def measure(self, name: str, weights: np.ndarray) -> tuple[dict[str, float], np.ndarray]:
        """All numbers of who holds ``weights``, and wealth after every row."""
        q, rf = self.returns.periods_per_year, self.risk_free
        traded = statistics.traded(weights, self.x)
        net = self.net(weights, traded)
        if np.ptp(net) <= CONSTANT:
            raise InvalidInput(f"the returns of {name} do not vary, so it has no Sharpe ratio; give more rows")
        wealth = statistics.wealth(net)
        difference, difference_se = statistics.sharpe_difference(net, self.equal, rf)
        ratios = {
            "sharpe": statistics.sharpe(net, rf), "se": statistics.sharpe_se(net, rf),
            "se_hac": statistics.sharpe_se_hac(net, rf), "difference": difference, "difference_se": difference_se,
        }  # fmt: skip
        numbers = {
            "total": float(wealth[-1]) - 1, "annual_mean": float(net.mean()) * q,
            "annual_volatility": float(net.std(ddof=1)) * q**0.5, "drawdown": statistics.drawdown(net),
            "turnover": float(traded.mean()), "annual_turnover": float(traded.mean()) * q, **ratios,
            **{f"annual_{key}": statistics.annualised(value, q) for key, value in ratios.items()},
        }  # fmt: skip
        shares = {f"share of {n}": float(w) for n, w in zip(self.returns.names, weights.mean(axis=0), strict=True)}
        return {**{key: numbers[key] for key in NUMBERS}, **shares}, wealth

    @cached_property
    def equal(self) -> np.ndarray:
        """Returns of equal weight."""
        weights = np.full_like(self.x, 1 / self.x.shape[1])
        return self.net(weights, statistics.traded(weights, self.x))

    def player(self, name: str, kind: str, rule: str, runs: Iterable[np.ndarray]) -> Player:
        """A player from its weights in each run."""
        measured = [self.measure(name, weights) for weights in runs]
        numbers = {key: np.array([own[key] for own, _ in measured]) for key in measured[0][0]}
        wealth = np.array([path for _, path in measured])
        several = len(measured) > 1
        low, middle, high = np.quantile(wealth, [BAND[0], 0.5, BAND[1]], axis=0) if several else wealth[[0, 0, 0]]
        return Player(
            name=name, kind=kind, rule=rule, runs=len(measured),
            **{key: float(numbers[key].mean()) for key in NUMBERS if key != "total"}, total=float(middle[-1]) - 1,
            shares={n: float(numbers[f"share of {n}"].mean()) for n in self.returns.names},
            spread={key: float(values.std(ddof=1)) for key, values in numbers.items()} if several else {},
            wealth=middle, wealth_low=low, wealth_high=high,
        )  # fmt: skip


def _play(policy: Policy, table: _Table, feedback: str, runs: int, seed: int, budget: int) -> Player:
    rows, columns = table.x.shape
    explores = isinstance(policy, EliminationPolicy)
    horizon = budget if explores else rows
    tape = Tape(table.x.T, clock="rounds")
    count = runs if is_random(policy) else 1
    work = Work(policy, tape, horizon, count, seed, (horizon,), feedback=feedback)
    prepare(work)
    chunk = run_chunk(work, 0, count, trace=True)
    rule = policy.in_words()
    if explores:
        played = int(chunk.final[0].sum())
        held = np.full((1, rows), chunk.recommended[0, 0])
        held[0, :played] = chunk.choices[0, :played]
        rule += f"; explores for {played:,} of the {rows:,} rows, then holds {table.returns.names[held[0, -1]]}"
    else:
        held = chunk.choices
    one = np.eye(columns)
    return table.player(policy.name, POLICY, rule, (one[choices] for choices in held))


def _benchmarks(table: _Table) -> list[Player]:
    x, names = table.x, table.returns.names
    rows, columns = x.shape
    best = int(np.argmax(statistics.sharpe(x, table.risk_free)))
    one = np.eye(columns)
    held = {
        EQUAL: (np.full_like(x, 1 / columns), "all columns, brought back to the same weight before every row"),
        BEST: (
            one[np.full(rows, best)],
            f"{names[best]}, whose Sharpe ratio over all rows is largest: known only afterwards",
        ),
        LEADER: (
            follow_the_leader(x, table.risk_free),
            "the column of largest Sharpe ratio so far, all returns being seen; equal weight until one has varied",
        ),
    }
    return [table.player(name, BENCHMARK, rule, [weights]) for name, (weights, rule) in held.items()]


def follow_the_leader(x: np.ndarray, risk_free: float = 0.0) -> np.ndarray:
    """Weights (rows, columns): in every row the column of largest Sharpe ratio in the rows before, ties to the first.

    A column that has not varied yet cannot lead; until one has, all have equal weight.
    """
    rows, columns = x.shape
    before = np.full((rows, columns), -np.inf)
    before[1:] = np.nan_to_num(statistics.sharpe_so_far(x, risk_free)[:-1], nan=-np.inf)
    weights = np.eye(columns)[before.argmax(axis=1)]
    weights[np.isinf(before).all(axis=1)] = 1 / columns
    return weights
