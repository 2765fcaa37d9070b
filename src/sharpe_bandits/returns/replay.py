"""Policies played through a table of returns in time order, beside benchmarks that need no policy.

In every row a policy holds one column, or several in equal parts, and earns the return, which its holding is assumed
not to affect. It decides in every row, or once per period: a round of the policy is one such period.

Policies try the columns in order, and their results depend on that order. So every policy is played many times, each
time with the columns in another random order, and the variation over these runs is reported with every number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, get_args

import numpy as np

from .._support import console
from .._support.console import Findings
from .._support.display import Table
from .._support.validation import check_keywords, one_of, positive, true_or_false, whole
from ..errors import InvalidInputError, unknown
from ..play.choose import Holding
from ..policies.base import Policy
from ..report.reported import Reported
from ..simulation.spec import Feedback
from . import playing, statistics
from .dates import in_one_form
from .decisions import costs_of
from .draft import counted
from .players import chosen_policies, past_their_pilot
from .playing import ALL, COST_NUMBERS, EQUAL, NUMBERS, Evaluator, Paths, Player, TablePaths, first_regulariser
from .resampling import block_length, check_block
from .table import ANNUAL, Returns, read_returns, table_of
from .yardstick import Yardstick

#: Maximum number of columns listed in the table of shares.
_LISTED = 25
#: What a column of a table shows of a player, by its head.
_Columns = dict[str, Callable[[Player], str]]


@dataclass(frozen=True, eq=False, repr=False)
class Replay(Reported):
    """Players, policies first, and the settings that all numbers depend on: those of :func:`replay`.

    ``L`` is the regulariser of policies given by name, ``block`` None without resampling, ``dates`` those of the rows
    after the warm-up (None if the table has none, or if runs use other rows), ``annual_sharpes`` those of the columns
    over the rows that are played, and ``yardstick`` what players are judged by.
    """

    page_name: ClassVar = "replay"
    players: tuple[Player, ...]
    feedback: Feedback
    L: float
    annual_risk_free: float
    risk_free_per_period: float
    cost: float | dict[str, float]
    every: int | str
    hold: int
    top: int
    warm_up: int
    lag: int
    cost_aware: bool
    budget: int
    runs: int
    seed: int
    paths: Paths
    length: int
    block: float | None
    dates: np.ndarray | None
    annual_sharpes: tuple[float, ...]
    remarks: tuple[str, ...]
    returns: Returns = field(repr=False)
    yardstick: Yardstick = field(default_factory=Yardstick)

    def __getitem__(self, name: str) -> Player:
        for player in self.players:
            if player.name == name:
                return player
        raise unknown("player", name, [player.name for player in self.players])

    @property
    def names(self) -> tuple[str, ...]:
        return self.returns.names

    @property
    def policies(self) -> tuple[Player, ...]:
        return tuple(player for player in self.players if player.kind == "policy")

    @property
    def conclusion(self) -> str:
        equal, costs = self[EQUAL], self.yardstick.costs
        better = -1 if costs else 1
        best = max(self.policies, key=lambda p: better * p.annual_sharpe)
        of_best, of_equal = (f"{p.annual_sharpe:z.2f} ± {p.annual_se:.2f}" for p in (best, equal))
        if costs:
            text = (
                f"The best policy is {best.name}: it paid {best.annual_mean:.2f} bp on average with a standard "
                f"deviation of {best.annual_volatility:.2f}, equal weight {equal.annual_mean:.2f} bp with "
                f"{equal.annual_volatility:.2f}. Judged by {self.yardstick.name}: {of_best} against {of_equal} with "
                "equal weight, which splits every trade among all columns. "
            )
        else:
            what = self.yardstick.name
            text = f"Equal weight had an {what} of {of_equal}. The best policy is {best.name} with {of_best}. "
            if self.returns.losses(self.risk_free_per_period):
                return (
                    f"{text}Neither is better by this: every mean return is below the hurdle, where Sharpe ratios "
                    "reward volatility."
                )
        words = []
        for sign, word in ((better, "better"), (-better, "worse")):
            clear = [p.name for p in self.policies if sign * p.annual_difference > 2 * p.total_difference_se]
            if clear:
                words.append(f"{word} than equal weight by more than two standard errors: {', '.join(clear)}")
        text += f"Clearly {'; clearly '.join(words)}." if words else "No policy is two standard errors away from it."
        low, middle, high = np.quantile(self.annual_sharpes, [0, 0.5, 1])
        wide = max(self.policies, key=lambda p: p.sd_over_runs["annual_sharpe"])
        least, most = wide.band["annual_sharpe"]
        places = "one column" if self.top == 1 else f"{self.top} columns"
        return (
            f"{text} Results vary from run to run: nine in ten runs of {wide.name} are between {least:z.2f} and "
            f"{most:z.2f}. A policy holds {places} at a time, equal weight holds all of them; the individual columns "
            f"had values from {low:z.2f} to {high:z.2f} (median {middle:z.2f})."
        )

    @property
    def warning(self) -> str:
        """When a bandit is the wrong tool."""
        if self.feedback == "full":
            return (
                "Policies saw the returns of all columns in every row (full feedback). If you would see them too, you "
                "need no bandit: follow the leader, or a portfolio of all columns, uses all of this information."
            )
        what = "cost" if self.yardstick.costs else "return"
        return (
            f"Policies saw only the {what}s of what they held. If you see every column's {what} whether you hold it or "
            "not, a bandit is the wrong tool: it pays for exploring what you can observe for free. Full feedback shows "
            "how much that costs."
        )

    def settings(self) -> dict[str, str]:
        q, of = self.returns.periods_per_year, self.returns
        ratio = "information" if self.yardstick.active else "Sharpe"
        annualised = f"mean and turnover × {q:g}, volatility and {ratio} ratio × √{q:g}; total is compounded"
        if self.yardstick.costs:
            annualised = "nothing: costs are per row, in basis points, and total is their sum"
        seen = "only the return of the column held" if self.feedback == "bandit" else "the returns of all columns"
        active = (
            "the information ratio is that of active returns; means, volatilities, totals and drawdowns are those of "
            "the returns themselves"
        )
        played = {
            "recorded": "on the recorded rows",
            "starts": f"on {self.length:,} consecutive rows from a random start",
            "blocks": f"on {self.length:,} rows resampled in blocks of {self.block or 1:.3g} on average",
        }
        every = f"every {self.every}" if isinstance(self.every, str) else f"every {self.every} rows"
        decisions = {
            "in every row" if self.every == 1 else f"{every}; a round of a policy is one such period": True,
            f", {self.top} columns at a time in equal parts" if self.top > 1 else ", one column at a time": True,
            f", each for at least {self.hold} decisions": self.hold > 1,
            f"; decided {counted(self.lag, 'row')} before the trade or earlier": self.lag,
            f"; the first {self.warm_up:,} rows are observed, not played": self.warm_up,
        }
        by_column = isinstance(self.cost, dict)
        costs = [*self.cost.values()] if isinstance(self.cost, dict) else [self.cost]
        cost = f"{min(costs):.4g} to {max(costs):.4g}" if by_column else f"{costs[0]:.4g}"
        facts = {
            "annualised": annualised,
            **of.hurdle_in_words(self.annual_risk_free, self.risk_free_per_period),
            "benchmark": active * self.yardstick.active,
            "seen": f"{seen} ({self.feedback} feedback)",
            "decisions": "".join(words for words, holds in decisions.items() if holds),
            "cost": f"{cost} of wealth per switch{', by column' * by_column}; the first purchase is free"
            f"{'; policies allow for it' * self.cost_aware}",
            "L": f"{self.L:.4g} (variance per {'period' if self.every == 1 else 'round'}), unless a policy has its own",
            "runs": f"{self.runs} of each policy {played[self.paths]}, the columns in a random order; seed {self.seed}",
        }
        return of.facts(facts, f"; {len(self.names)} columns")

    def log(self, name: str) -> Table:
        """What a player held and earned in every row, in its run with the median total return.

        Columns: date or row, what was held, share of wealth traded before it, gross return, cost, net return, wealth.
        """
        held = self[name].held
        wealth = statistics.wealth(held.net)
        numbers = np.array([held.traded, held.gross, held.cost, held.net, wealth]).T.tolist()
        rows = zip(self._days, map(self._held, held.columns), numbers, strict=True)
        heads = [self._row, "held", "traded", "gross", "cost", "net", "wealth"]
        return Table(heads, [[day, own, *of_row] for day, own, of_row in rows])

    def weights(self, name: str) -> Table:
        """Share of wealth in each column that a player ever held, at the beginning of every row, in the same run."""
        held = self[name].held
        weights = held.weights
        if weights is None:
            weights = np.zeros((len(held.gross), len(self.names)), np.float32)
            np.put_along_axis(weights, held.columns, 1.0, axis=1)
        ever = np.flatnonzero(weights.any(axis=0))
        rows = [[day, *map(float, row)] for day, row in zip(self._days, weights[:, ever], strict=True)]
        return Table([self._row, *(self.names[k] for k in ever)], rows)

    def switches(self, name: str) -> Table:
        """The trades of a player from one set of columns to another, in the same run."""
        held = self[name].held
        changed, days = np.flatnonzero((np.diff(held.columns, axis=0) != 0).any(axis=1)) + 1, self._days
        rows = []
        for row in changed:
            before, after = map(self._held, held.columns[row - 1 : row + 1])
            rows.append([days[row], before, after, float(held.traded[row]), float(held.cost[row])])
        return Table([self._row, "from", "to", "traded", "cost"], rows)

    @property
    def _row(self) -> str:
        return "row" if self.dates is None else "date"

    @property
    def _days(self) -> list[Any]:
        if self.dates is None:
            return list(range(self.warm_up + 1, self.warm_up + 1 + len(self.players[0].held.gross)))
        return in_one_form(self.dates)

    def _held(self, columns: np.ndarray) -> str:
        if not columns.size or (columns == ALL).all():
            return "all"
        return " + ".join(self.names[k] for k in columns if k >= 0) or "cash"

    @property
    def table(self) -> Table:
        table = []
        for p in self.players:
            names = COST_NUMBERS if self.yardstick.costs else {key: key for key in NUMBERS}
            numbers = [(name, "", key, getattr(p, key)) for key, name in names.items()]
            numbers += [("share", name, f"share of {name}", share) for name, share in p.shares.items()]
            for metric, column, key, value in numbers:
                over_runs = [p.sd_over_runs.get(key, ""), *p.band.get(key, ("", ""))]
                table.append([p.name, p.kind, p.runs, metric, column, value, *over_runs])
        heads = ["player", "kind", "runs", "metric", "column", "value", "sd_over_runs", "low_of_runs", "high_of_runs"]
        return Table(heads, table)

    def rules(self) -> dict[str, str]:
        return {player.name: player.rule for player in self.players}

    def tables(self) -> list[console.Cells]:
        costs = self.yardstick.costs
        total, each, unit = (",.0f", ".2f", "bp") if costs else (",.0%", ".1%", "")
        ratios: _Columns = {
            "": lambda p: p.name,
            self.yardstick.name.removesuffix(" ratio"): lambda p: f"{p.annual_sharpe:z.2f}",
            "90% of runs": _band("annual_sharpe", "z.2f"),
            "s.e.": lambda p: f"{p.annual_se:.2f}",
            "vs equal weight": lambda p: "" if p.name == EQUAL else f"{p.annual_difference:+z.2f}",
            "its 90% of runs": _band("annual_difference", "+z.2f"),
            "its s.e.": lambda p: "" if p.name == EQUAL else f"{p.annual_difference_se:.2f}",
        }
        wealth: _Columns = {
            "": lambda p: p.name,
            f"total {f'cost ({unit})' if costs else 'return'}": lambda p: f"{p.total:{total}}",
            "90% of runs": _band("total", total),
            f"{f'mean cost ({unit})' if costs else 'annualised mean'}": lambda p: f"{p.annual_mean:{each}}",
            f"{f's.d. ({unit})' if costs else 'annualised volatility'}": lambda p: f"{p.annual_volatility:{each}}",
            **({} if costs else {"max drawdown": lambda p: f"{p.drawdown:.0%}"}),
            "turnover per period": lambda p: f"{p.turnover:.3f}",
            "annualised turnover": lambda p: f"{p.annual_turnover:.1f}",
        }
        first, second = console.cells(ratios, self.players), console.cells(wealth, self.players)
        hurdle = self.returns.hurdle
        if self.yardstick.active and hurdle is not None and self.paths == "recorded":
            own, q = hurdle.values[self.warm_up :], self.returns.periods_per_year
            second[1].append([
                f"{hurdle.name} (benchmark)", f"{statistics.wealth(own)[-1] - 1:,.0%}", "", f"{q * own.mean():.1%}",
                f"{math.sqrt(q) * own.std(ddof=1):.1%}", f"{statistics.drawdown(own):.0%}", "", "",
            ])  # fmt: skip
        return [first, second, self._shares()]

    def _shares(self) -> console.Cells:
        """Share of time in each column (of many, the most held ones and the rest); that of equal weight is equal."""
        players = [p for p in self.players if p.name != EQUAL]
        most = sorted(self.names, key=lambda name: -max(p.shares[name] for p in players))
        names = set(most if len(most) <= _LISTED else most[: _LISTED - 1])
        rows = [[name, *(f"{p.shares[name]:.1%}" for p in players)] for name in self.names if name in names]
        others = [name for name in self.names if name not in names]
        if others:
            rest = (sum(p.shares[name] for name in others) for p in players)
            rows.append([f"{len(others)} others", *(f"{share:.1%}" for share in rest)])
        return ["share of time in", *(p.name for p in players)], rows

    def to_dict(self) -> dict[str, Any]:
        apart = ("players", "dates", "annual_sharpes", "remarks", "returns", "yardstick")
        of, costs = self.returns, self.yardstick.costs
        return {
            **{own.name: getattr(self, own.name) for own in fields(self) if own.name not in apart},
            "periods_per_year": of.periods_per_year,
            "source": of.kind,
            "span": of.span,
            "convention": of.convention,
            "hurdle": of.hurdle.words if of.hurdle else "",
            "by": self.yardstick.name,
            "notes": list(of.notes),
            "remarks": list(self.remarks),
            ("costs_plus_risk" if costs else "annual_sharpes"): dict(zip(self.names, self.annual_sharpes, strict=True)),
            "summary": self.conclusion,
            "warning": self.warning,
            "players": [p.costs() if costs else p.to_dict() for p in self.players],
        }

    def findings(self) -> Findings:
        words = f"{self.conclusion}\n\n{self.warning}"
        return Findings(self.remarks, self.tables(), words, {**self.rules(), **self.settings()})


@check_keywords(read_returns, risk_free=ANNUAL)
def replay(
    source: Any,
    policies: Policy | str | Iterable[Policy | str] | None = None,
    *,
    L: float | None = None,
    annual_risk_free: float = 0.0,
    aversion: float = 1.0,
    feedback: Feedback = "bandit",
    runs: int = 100,
    seed: int = 0,
    cost: float | Mapping[str, float] = 0.0,
    cost_aware: bool = False,
    every: int | str = 1,
    hold: int = 1,
    top: int = 1,
    warm_up: int = 0,
    lag: int = 0,
    budget: int | None = None,
    paths: Paths = "recorded",
    length: int | None = None,
    block: float | None = None,
    **reading: Any,
) -> Replay:
    """Play policies through returns in time order, beside equal weight, the best column in hindsight, and the leader.

    Every run has its own random order of columns; the same seed yields the same runs. With unequal histories, a column
    can be held from its first return to its last; a gap in prices in between is spanned by the next return.

    Parameters
    ----------
    source : Any
        returns from :func:`read_returns`; or a file, frame or other table, with options of that function
    policies : Policy | str | Iterable[Policy | str] | None, optional
        policies, or their names as in "SlidingWindowUCB:window=250,c=1"; by default SF-UCB, its sliding-window variant,
        SF-TS, and with bandit feedback UCB-RSSR. RSSR must be signed, as it is in policies given by name, except in
        UCB-RSSR
    L : float | None, optional
        regulariser of policies given by name, in the unit of variance per round; by default a tenth of the smallest
        variance of a column in the first 20 rounds, or two rounds per column if these are more
    annual_risk_free : float, optional
        annual rate, 0.02 for 2%; in Sharpe ratios, and, per round, in policies given by name
    aversion : float, optional
        for costs: players are judged by mean cost plus this times the standard deviation, and so are the default
        policies, MeanRisk(aversion)
    feedback : Feedback, optional
        "bandit": a policy sees the return of the column it holds; "full": the returns of all
    runs, seed : int, optional
        runs of every policy, and the seed of everything random
    cost : float | Mapping[str, float], optional
        share of wealth that a switch costs, 0.001 for a tenth of a per cent; or one per column, by name, 0 for those
        without one. Half of it is paid on buying and half on selling
    cost_aware : bool, optional
        whether indices allow for that cost: it is subtracted, spread over ``hold`` rounds, from the returns of columns
        that are not held
    every : int | str, optional
        when policies and benchmarks decide: a number of rows between decisions, or the first row of every "week",
        "month", "quarter" or "year". A round of a policy is one such period
    hold, top : int, optional
        minimum number of rounds that a column is held, and number of columns held at a time, in equal parts
    warm_up : int, optional
        number of first rows in which policies and benchmarks observe all returns, and nothing is held or counted
    lag : int, optional
        rows between a decision and its trade: with 1, what is held in a row was decided before the row above it; with
        0, a trade is at the very prices that its decision uses. With ``every``, trades stay on the first row of a
        period, and what was seen in the last period is used one period later. With bandit feedback, it needs ``top=1``,
        ``hold=1``, no warm-up and columns with the same history
    budget : int | None, optional
        rounds in which fixed-budget policies, such as SHSR, may explore before they hold what they recommend; by
        default half of the rounds
    paths, length, block : Paths and int | None and float | None, optional
        rows of a run. "recorded": all rows in order. "starts": ``length`` consecutive rows from a random start, half of
        the rows by default. "blocks": as many rows as the table has, resampled in blocks (the stationary bootstrap) of
        ``block`` rows on average, by default chosen as for :func:`rank`
    **reading : Any
        options for reading a table; see :func:`read_returns`

    Examples
    --------
    >>> import numpy as np
    >>> import sharpe_bandits as sb
    >>> rng = np.random.default_rng(1)
    >>> returns = {"A": rng.normal(0.002, 0.01, 500), "B": rng.normal(-0.002, 0.01, 500)}
    >>> replay = sb.replay(returns, [sb.ScaleFreeUCB(L=1e-5)], kind="returns", periods_per_year=252, runs=2)
    >>> [player.name for player in replay.players]
    ['SF-UCB', 'equal weight', 'best in hindsight', 'follow the leader']
    """
    returns = table_of(source, reading)
    columns = returns.values.shape[1]
    if columns < 2:
        raise InvalidInputError(f"a replay needs at least two columns, but there is only {returns.names[0]!r}")
    rate = returns.rate(annual_risk_free)
    yardstick = Yardstick.of(returns, rate, None, aversion)
    one_of("feedback", feedback, get_args(Feedback))
    whole("runs", runs, 2)
    whole("seed", seed, 0, 2**64 - 1)
    whole("hold", hold, 1)
    whole("top", top, 1, columns - 1)
    costs = costs_of(cost, returns.names)
    if not returns.complete and paths != "recorded":
        raise InvalidInputError(f"paths={paths!r} needs columns with the same history; read them with missing='drop'")
    one_of("paths", paths, get_args(Paths))
    for name, value, own in (("length", length, "starts"), ("block", block, "blocks")):
        if value is not None and paths != own:
            raise InvalidInputError(f"{name}={value!r} is for paths={own!r}; leave it out")
    rows = len(returns)
    if paths == "starts":
        rows = rows // 2 if length is None else whole("length", length, 3, rows - 1)
    if paths == "blocks":
        block = block_length(returns.excess, rate) if block is None else check_block(block, rows)
    drawn = TablePaths(returns, seed, rows, block, every, warm_up)
    shortest = int(np.diff([*drawn.begins, drawn.length])[:-1].min())
    late = -(-whole("lag", lag, 0, drawn.length // 2) // shortest)
    L = first_regulariser(drawn) if L is None else positive("L", L)
    rounds = drawn.rounds - drawn.warm_rounds
    given, budget = budget, rounds // 2 if budget is None else whole("budget", budget, 1, rounds)
    rate_of_round = (1 + rate) ** (drawn.length / drawn.rounds) - 1 if drawn.rounds < drawn.length else rate
    chosen = chosen_policies(policies, drawn.rounds, returns.names, L, rate_of_round, feedback, yardstick.aversion)
    if given is not None and not any(policy.has_fixed_budget for policy in chosen):
        raise InvalidInputError(f"budget={given!r} is for policies such as SHSR, and none is given: leave it out")
    kept, remarks = (chosen, []) if warm_up else past_their_pilot(chosen, rounds * top, columns)
    holding = Holding(top, hold, drawn.warm_rounds, true_or_false("cost_aware", cost_aware), costs)
    plain = top == 1 and hold == 1 and not warm_up and not cost_aware and returns.complete
    if late and not plain and feedback == "bandit":
        raise InvalidInputError(
            f"lag={lag!r} with bandit feedback needs top=1, hold=1, warm_up=0, cost_aware=False and columns with the "
            "same history; pass feedback='full', or leave the others out"
        )
    table = Evaluator(returns, yardstick, costs, drawn)
    if plain and not (late and feedback == "full"):
        played = [playing.play(policy, table, feedback, runs, budget, late) for policy in kept]
    else:
        played = [playing.held_by(policy, table, holding, feedback == "full", runs, late) for policy in kept]
    beside, doubts = playing.benchmarks(table, runs if drawn.varied else 1, top, lag)
    own = yardstick.factor * yardstick.of_columns(returns.excess[warm_up:])
    dates = None if drawn.varied or returns.dates is None else returns.dates[warm_up:]
    same = bool((costs == costs[0]).all())
    by_risk = "pass policies=['SF-UCB:objective=MeanRisk,aversion=1']"
    losses = () if yardstick.costs else returns.losses(rate, by_risk)
    return Replay(
        tuple(played + beside), feedback, L, float(annual_risk_free), rate,
        float(costs[0]) if same else dict(zip(returns.names, costs.tolist(), strict=True)),
        drawn.every, hold, top, warm_up, lag, cost_aware, budget, runs, seed, paths, drawn.length, drawn.block, dates,
        tuple(map(float, own)), (*losses, *returns.remarks, *remarks, *doubts), returns, yardstick,
    )  # fmt: skip


def _band(key: str, form: str) -> Callable[[Player], str]:
    """The cell of a table that shows how a number varies over runs; empty for a single run."""

    def cell(player: Player) -> str:
        if player.runs == 1 or (player.name == EQUAL and key == "annual_difference"):
            return ""
        return "{0:{form}} to {1:{form}}".format(*player.band[key], form=form)

    return cell
