"""The pictures of the documentation, each drawn from data of its own by a function below.

``make docs-pictures`` draws them all into docs/images, ``python -m docs.site.pictures lock_in`` one. Every function
returns its figure and the numbers that pages quote from it. ``docs/images/pictures.json`` keeps those numbers and a
digest of the function, so that a test can tell a picture that is older than its code and a page that quotes a number
the picture no longer has.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from docs.site import numbers

import sharpe_bandits as sb

matplotlib.use("agg")
import matplotlib.pyplot as plt

IMAGES = Path(__file__).parents[1] / "images"
INDEX = IMAGES / "pictures.json"
#: Colours that can be told apart by everyone (Okabe and Ito) and read on white and on black.
BLUE, ORANGE, GREEN, PURPLE, GREY = "#2f7fc1", "#d9730d", "#1f9e77", "#a45fb0", "#7d828a"
STYLE = {
    "font.family": "DejaVu Sans", "font.size": 10.5, "svg.fonttype": "path", "svg.hashsalt": "sharpe-bandits",
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": GREY, "axes.labelcolor": GREY,
    "xtick.color": GREY, "ytick.color": GREY, "text.color": GREY, "axes.titlecolor": GREY,
    "axes.titlelocation": "left", "axes.titlesize": 11.5, "axes.titleweight": "bold", "lines.linewidth": 2.0,
    "figure.constrained_layout.use": True, "axes.facecolor": "none",
}  # fmt: skip

Drawn = tuple[Any, dict[str, str]]
PICTURES: dict[str, Callable[[], Drawn]] = {}

#: Daily returns of three strategies: the second has the best Sharpe ratio, the first the largest mean.
STRATEGIES = [sb.Normal(0.0010, sd=0.020), sb.Normal(0.0008, sd=0.005), sb.Normal(0.0002, sd=0.004)]
TEN_YEARS = 2_520
#: Two of the paper's own arms (its second experiment).
PAPER_ARMS = [sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)]


def picture(draw: Callable[[], Drawn]) -> Callable[[], Drawn]:
    """Register a picture under the name of its function."""
    PICTURES[draw.__name__] = draw
    return draw


def label(axes: Any, curve: Any, text: str, dy: float = 0.0) -> None:
    """Write the name of a curve at its right end."""
    x, y = curve.get_data()
    axes.annotate(
        text, (x[-1], y[-1]), xytext=(5, dy), textcoords="offset points", va="center", color=curve.get_color()
    )


def best_share(study: sb.Study, name: str, objective: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rounds, and the share of all rounds up to then that went to the best arm."""
    plays = study[name].suboptimal_plays(objective)
    return plays.t, 1 - plays.mean / plays.t


@picture
def same_mean() -> Drawn:
    """Two strategies with the same mean return, four times the risk."""
    days, mean = TEN_YEARS, 0.0004
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.1), sharey=True)
    rng = np.random.default_rng(3)
    for panel, sd, colour, ratio in ((axes[0], 0.005, BLUE, 1.27), (axes[1], 0.020, ORANGE, 0.32)):
        wealth = np.cumprod(1 + rng.normal(mean, sd, (days, 12)), axis=0)
        panel.plot(np.arange(0, days, 21) / 252, wealth[::21], color=colour, alpha=0.55, linewidth=1)
        panel.set_title(f"Sharpe ratio {ratio}")
        panel.set_xlabel("years")
        panel.set_yscale("log")
        panel.set_yticks([0.25, 0.5, 1, 2, 4, 8], ["¼", "½", "1", "2", "4", "8"])
        panel.minorticks_off()
    axes[0].set_ylabel("wealth")
    return figure, {}


@picture
def what_is_seen() -> Drawn:
    """Fifty days of three strategies: what happened, and what a bandit saw of it."""
    days = 50
    rng = np.random.default_rng(8)
    returns = np.array([rng.normal(m, s, days) for m, s in ((0.0010, 0.020), (0.0008, 0.005), (0.0002, 0.004))])
    agent = sb.ScaleFreeUCB(L=1e-6).agent(arms=3, seed=1)
    seen = np.full_like(returns, np.nan)
    for day in range(days):
        arm = agent.ask()
        seen[arm, day] = returns[arm, day]
        agent.tell(arm, returns[arm, day])
    figure, axes = plt.subplots(2, 1, figsize=(8.4, 2.9), sharex=True)
    for panel, cells, title in ((axes[0], returns, "What happened"), (axes[1], seen, "What a bandit sees")):
        panel.imshow(cells, cmap="RdBu", vmin=-0.03, vmax=0.03, aspect="auto", interpolation="nearest")
        panel.set_yticks(range(3), ["A", "B", "C"])
        panel.set_facecolor("#c8ccd2")  # not seen
        panel.set_title(title)
        panel.tick_params(length=0)
        for side in panel.spines.values():
            side.set_visible(False)
    axes[1].set_xlabel("day")
    return figure, {}


@picture
def paper_arms() -> Drawn:
    """The paper's policy on two of its own arms."""
    objective = sb.RSSR(L=0.5)
    study = sb.simulate(
        [sb.UCBRSSR(L=0.5), sb.policies.UUCB(epsilon0=0.5), sb.ScaleFreeUCB(L=0.5)], PAPER_ARMS, horizon=10_000,
        runs=10_000, seed=1, checkpoints=range(100, 10_001, 100),
    )  # fmt: skip
    figure, axes = plt.subplots(figsize=(7.2, 3.4))
    numbers = {}
    for name, colour in (("U-UCB", GREY), ("UCB-RSSR", BLUE), ("SF-UCB", GREEN)):
        curve = study[name].regret(objective)
        (line,) = axes.plot(curve.t, curve.mean, color=colour)
        label(axes, line, name)
        numbers[name] = f"{curve.final.mean:.0f}"
    axes.set(xlabel="round", ylabel="regret", xlim=(0, 11_500), ylim=(0, None), xticks=range(0, 10_001, 2_500))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    return figure, numbers


@picture
def lock_in() -> Drawn:
    """One average, two kinds of runs: the share of the last half that UCB-RSSR gives to the best arm."""
    objective = sb.RSSR(L=0.5)
    study = sb.simulate(sb.UCBRSSR(L=0.5), PAPER_ARMS, horizon=10_000, runs=10_000, seed=1, checkpoints=[5_000, 10_000])
    result = study["UCB-RSSR"]
    gap = float(np.max(result.gaps(objective)))
    share = 1 - result.regret_per_run(objective) / (gap * 10_000)
    stuck = study.locked_in(objective)["UCB-RSSR"]
    figure, axes = plt.subplots(figsize=(7.2, 3.0))
    counts, _, bars = axes.hist(100 * share, bins=np.arange(0, 101, 2.5), color=BLUE, alpha=0.85)
    for bar in bars[:8]:
        bar.set_color(ORANGE)
    axes.set(xlabel="rounds on the best arm, %", ylabel="runs of 10,000", xlim=(0, 100))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    low, high = float(np.mean(share < 0.2)), float(np.mean(share > 0.8))
    axes.annotate(f"{low:.0%} of runs: under a fifth", (10, counts[:8].max()), xytext=(8, 12), color=ORANGE,
                  textcoords="offset points")  # fmt: skip
    return figure, {"under a fifth": f"{low:.0%}", "over four fifths": f"{high:.0%}", "locked in": f"{stuck.mean:.0%}"}


@picture
def downside() -> Drawn:
    """Regret in the mean of the worst tenth of rewards: a policy for that, and one for the Sharpe ratio."""
    objective = sb.objectives.CVaR(alpha=0.1)
    arms = [
        sb.Empirical([0.6] * 92 + [-2.5] * 8), sb.Normal(0.2, sd=0.8), sb.Normal(0.06, sd=0.25),
        sb.Empirical([-0.2] * 84 + [1.8] * 16),
    ]  # fmt: skip
    policies = [
        sb.ScaleFreeUCB(objective=sb.Sharpe(L=0.01), name="for the Sharpe ratio"),
        sb.ScaleFreeUCB(objective=objective, name="for CVaR"),
    ]
    study = sb.simulate(policies, arms, horizon=5_000, runs=1_000, seed=33)
    figure, axes = plt.subplots(figsize=(7.2, 3.2))
    numbers = {}
    for policy, colour in zip(policies, (ORANGE, GREEN), strict=True):
        curve = study[policy.name].regret(objective)
        (line,) = axes.plot(curve.t, curve.mean, color=colour)
        label(axes, line, policy.name)
        numbers[policy.name] = f"{curve.final.mean:,.0f}"
    axes.set(xlabel="round", ylabel="regret in CVaR at 10%", xlim=(0, 6_600), xticks=range(0, 5_001, 1_000))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    return figure, numbers


@picture
def covariate() -> Drawn:
    """Five strategies that move with the market: the share of days on the best one, with and without the market."""
    years, numbers = 20, {}
    objective = sb.RSSR(L=1e-5, signed=True)
    adjusted = sb.ScaleFreeUCB(objective=sb.objectives.Adjusted(objective), name="adjusted")
    figure, axes = plt.subplots(figsize=(7.2, 3.2))
    for explained, colour in ((0.9, GREEN), (0.6, BLUE), (0.0, GREY)):
        arms = [sb.Normal(0.01 * h, sd=0.01 * (1 - explained) ** 0.5) for h in (0.10, 0.06, 0.05, 0.03, 0.0)]
        bandit = sb.FactorBandit(arms, factor=sb.Normal(0.0, sd=max(0.01 * explained**0.5, 1e-6)))
        policy = adjusted if explained else sb.ScaleFreeUCB(L=1e-5)
        study = sb.simulate(
            policy, bandit, horizon=252 * years, runs=1_000, seed=5, checkpoints=range(21, 252 * years + 1, 21)
        )
        t, share = best_share(study, policy.name, objective)
        (line,) = axes.plot(t / 252, 100 * share, color=colour)
        text = f"market explains {explained:.0%}" if explained else "without the market"
        label(axes, line, text)
        numbers[text] = f"{share[-1]:.0%}"
    axes.set(xlabel="years", ylabel="days on the best strategy, %", xlim=(0, 27), ylim=(0, 100), xticks=range(0, 21, 5))
    return figure, numbers


@picture
def daily_returns() -> Drawn:
    """Three policies on daily returns: the share of days on the strategy with the best Sharpe ratio."""
    objective = sb.RSSR(L=1e-6, signed=True)
    study = sb.simulate(
        [sb.policies.UCB1(), sb.UCBRSSR(L=1e-6), sb.ScaleFreeUCB(L=1e-6)], STRATEGIES, horizon=TEN_YEARS,
        runs=2_000, seed=1, checkpoints=range(21, TEN_YEARS + 1, 21),
    )  # fmt: skip
    figure, axes = plt.subplots(figsize=(7.2, 3.4))
    numbers = {}
    for name, colour, dy in (("SF-UCB", GREEN, 0), ("UCB1", GREY, 7), ("UCB-RSSR", BLUE, -7)):
        t, share = best_share(study, name, objective)
        (line,) = axes.plot(t / 252, 100 * share, color=colour)
        label(axes, line, name, dy)
        numbers[name] = f"{share[-1]:.0%}"
    axes.axhline(100 / 3, color=GREY, linewidth=0.8, linestyle=":")
    axes.set(
        xlabel="years", ylabel="days on the best strategy, %", xlim=(0, 11.6), ylim=(0, 100), xticks=range(0, 11, 2)
    )
    return figure, numbers


@picture
def scale() -> Drawn:
    """The same three strategies in other units: returns, per cent, basis points."""
    scales = (1e-2, 1e-1, 1.0, 10.0, 100.0, 1e3)
    shares: dict[str, list[float]] = {"UCB-RSSR": [], "SF-UCB": []}
    for unit in scales:
        arms = [sb.Normal(unit * m, sd=unit * s) for m, s in ((0.10, 2.0), (0.08, 0.5), (0.02, 0.4))]
        L = 0.01 * unit**2
        study = sb.simulate([sb.UCBRSSR(L=L), sb.ScaleFreeUCB(L=L)], arms, horizon=TEN_YEARS, runs=2_000, seed=1)
        for name in shares:
            shares[name].append(float(best_share(study, name, sb.RSSR(L=L, signed=True))[1][-1]))
    figure, axes = plt.subplots(figsize=(7.2, 3.0))
    for name, colour in (("SF-UCB", GREEN), ("UCB-RSSR", BLUE)):
        (line,) = axes.plot(scales, 100 * np.array(shares[name]), "o-", color=colour)
        label(axes, line, name)
    axes.set_xscale("log")
    axes.set(xlabel="unit: 0.01 returns, 1 per cent, 100 basis points", ylabel="days on the best strategy, %",
             ylim=(0, 100), xlim=(0.007, 4_000))  # fmt: skip
    return figure, {
        "UCB-RSSR, least": f"{min(shares['UCB-RSSR']):.0%}",
        "UCB-RSSR, most": f"{max(shares['UCB-RSSR']):.0%}",
    }


@picture
def how_long() -> Drawn:
    """Years of daily returns until the best of eight strategies is found with 95% confidence."""
    gaps = (0.2, 0.3, 0.5, 0.7, 1.0)
    years: dict[str, list[float]] = {}
    for gap in gaps:
        problem = sb.BestArmProblem.from_gap(8, best_sharpe=1.0, gap=gap, periods_per_year=252)
        for need in sb.plan(problem, error=0.05, runs=2_000, seed=1).needs:
            years.setdefault(need.policy, []).append(need.check.budget / 252)
    seen = next(name for name in years if "every" in name or "full" in name)
    one = min((name for name in years if name != seen), key=lambda name: years[name][1])
    figure, axes = plt.subplots(figsize=(7.2, 3.4))
    for name, text, colour in ((one, "one strategy a day", ORANGE), (seen, "all eight, every day", BLUE)):
        axes.plot(gaps, years[name], "o-", color=colour)
        axes.annotate(text, (gaps[0], years[name][0]), xytext=(10, 2), textcoords="offset points", color=colour)
    axes.axhline(40, color=GREY, linewidth=0.8, linestyle=":")
    axes.annotate("a career", (1.0, 40), xytext=(0, 3), textcoords="offset points", ha="right")
    axes.set_yscale("log")
    axes.set_yticks([10, 100, 1000], ["10", "100", "1,000"])
    axes.set(xlabel="the best strategy leads by this Sharpe ratio", ylabel="years")
    return figure, {"one at a time, 0.3": f"{years[one][1]:.0f}", "all seen, 0.3": f"{years[seen][1]:.0f}"}


@picture
def price() -> Drawn:
    """Ten years of twenty stocks: what it costs to see only what one holds."""
    from skfolio.datasets import load_sp500_dataset

    returns = sb.read_returns(load_sp500_dataset().iloc[-TEN_YEARS - 1 :], kind="prices", periods_per_year=252)
    names = ["SF-UCB", "ScaleFreeIMED", "ScaleFreeTS"]
    common = {"every": 21, "cost": 0.001, "paths": "blocks", "runs": 40, "seed": 1}
    one = sb.replay(returns, names, **common)
    every = sb.replay(returns, names, feedback="full", **common)
    figure, axes = plt.subplots(figsize=(7.2, 2.8))
    shown = [player.name for player in every.policies]
    for row, name in enumerate(reversed(shown)):
        low, high = one[name].annual_sharpe, every[name].annual_sharpe
        axes.plot([low, high], [row, row], color=GREY, linewidth=1.2, zorder=1)
        axes.plot(low, row, "o", color=ORANGE, markersize=9)
        axes.plot(high, row, "o", color=BLUE, markersize=9)
        if row == len(shown) - 1:
            axes.annotate("one seen", (low, row), xytext=(0, 9), textcoords="offset points", ha="center", color=ORANGE)
            axes.annotate("all seen", (high, row), xytext=(0, 9), textcoords="offset points", ha="center", color=BLUE)
    equal = one["equal weight"].annual_sharpe
    axes.axvline(equal, color=GREEN)
    axes.annotate("equal weight", (equal, -0.45), xytext=(5, 0), textcoords="offset points", color=GREEN)
    axes.set_yticks(range(len(shown)), list(reversed(shown)))
    axes.set(xlabel="annualised Sharpe ratio after costs", ylim=(-0.6, len(shown) - 0.4), xlim=(None, equal + 0.25))
    return figure, {
        "SF-UCB, one seen": f"{one['SF-UCB'].annual_sharpe:.2f}",
        "SF-UCB, all seen": f"{every['SF-UCB'].annual_sharpe:.2f}",
        "equal weight": f"{equal:.2f}",
    }


@picture
def algo_wheel() -> Drawn:
    """Four execution algorithms, one order at a time: cost and risk of the orders sent, against an even split."""
    costs = {"VWAP": (4.0, 9.0), "TWAP": (4.6, 8.0), "IS": (3.6, 14.0), "POV": (5.5, 25.0)}
    arms = [sb.Normal(-mean, sd=sd) for mean, sd in costs.values()]
    objective = sb.MeanRisk(aversion=0.3)
    policies = [sb.ScaleFreeUCB(objective=objective), sb.policies.RoundRobin(), sb.policies.UCB1()]
    horizon = 20_000
    study = sb.simulate(policies, arms, horizon=horizon, runs=500, seed=1, checkpoints=range(500, horizon + 1, 500))
    figure, axes = plt.subplots(figsize=(7.2, 3.2))
    numbers = {}
    for name, text, colour in (
        ("Round robin", "even split", GREY), ("UCB1", "UCB1", ORANGE), ("SF-UCB", "SF-UCB on mean − 0.3 sd", GREEN),
    ):  # fmt: skip
        curve = study[name].regret(objective)
        (line,) = axes.plot(curve.t, curve.mean / curve.t, color=colour)
        label(axes, line, text)
        numbers[text.split(" on ")[0]] = f"{curve.final.mean / horizon:.2f}"
    axes.set(xlabel="orders", ylabel="risk-adjusted cost above the best, bp", xlim=(0, 29_000), ylim=(0, None))
    axes.set_xticks(range(0, 20_001, 5_000))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    return figure, numbers


@picture
def choosing_l() -> Drawn:
    """Regret and lock-ins against L, on returns, on the paper's arms and on arms of unit scale."""
    five = [sb.Normal(m, sd=s) for m, s in ((1, 1), (0.8, 0.6), (0.6, 0.5), (0.5, 0.9), (1.2, 2))]
    bandits = {
        "daily returns": (STRATEGIES, 0.004**2, TEN_YEARS),
        "paper's arms": (PAPER_ARMS, 3.0, 10_000),
        "five normal arms": (five, 0.25, 10_000),
    }
    factors = np.logspace(-3, 1, 9)
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.3))
    numbers = {}
    for (name, (arms, least, horizon)), colour in zip(bandits.items(), (GREEN, BLUE, ORANGE), strict=True):
        judge = sb.RSSR(L=1e-9 * least, signed=True)
        shares, stuck = [], []
        for factor in factors:
            study = sb.simulate(sb.ScaleFreeUCB(L=float(factor * least)), arms, horizon=horizon, runs=1_000, seed=1)
            shares.append(float(best_share(study, "SF-UCB", judge)[1][-1]))
            stuck.append(float(study.locked_in(judge)["SF-UCB"].mean))
        axes[0].plot(factors, 100 * np.array(shares), "o-", color=colour, markersize=4, label=name)
        axes[1].plot(factors, 100 * np.array(stuck), "o-", color=colour, markersize=4)
        numbers[name] = f"{shares[0]:.0%} to {shares[-1]:.0%}"
    for panel, text in zip(axes, ("rounds on the best arm, %", "runs locked in, %"), strict=True):
        panel.set_xscale("log")
        panel.axvline(0.1, color=GREY, linewidth=0.8, linestyle=":")
        panel.set(xlabel="L over the smallest variance", ylabel=text, ylim=(0, 100))
    axes[0].legend(frameon=False, labelcolor="linecolor", loc="lower left")
    return figure, numbers


@picture
def ranking() -> Drawn:
    """Sharpe ratios of twenty stocks with their intervals, and how often each ranks first."""
    stocks = sb.rank(twenty_stocks())
    figure, axes = plt.subplots(figsize=(8.4, 4.6))
    for place, row in enumerate(reversed(stocks.columns)):
        first = row is stocks.columns[0]
        colour = GREEN if first else BLUE
        axes.plot([row.annual_sharpe_low, row.annual_sharpe_high], [place, place], color=colour, alpha=0.6)
        axes.plot(row.annual_sharpe, place, "o", color=colour, markersize=5)
        axes.text(1.62, place, f"{row.best:.0%}", va="center", ha="right", color=colour, fontsize=9)
    axes.text(1.62, len(stocks.columns), "ranked first", va="center", ha="right", fontsize=9)
    axes.set_yticks(range(len(stocks.columns)), [row.name for row in reversed(stocks.columns)], fontsize=8.5)
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set(xlabel="annualised Sharpe ratio, 95% interval", xlim=(-0.25, 1.65))
    return figure, {"ranked first": f"{stocks.columns[0].best:.0%}"}


@picture
def difference() -> Drawn:
    """Differences of Sharpe ratios between five stocks and the one that ranks first among them."""
    table = twenty_stocks(["UNH", "MSFT", "HD", "JNJ", "KO", "XOM"])
    found = sb.compare(table, against="UNH", replications=500)
    figure, axes = plt.subplots(figsize=(8.4, 2.6))
    rows = sorted(found.differences, key=lambda row: row.annual_difference)
    for place, row in enumerate(rows):
        colour = ORANGE if row.p_corrected < 0.05 else BLUE
        axes.plot([row.annual_low, row.annual_high], [place, place], color=colour)
        axes.plot(row.annual_difference, place, "o", color=colour)
        axes.text(0.72, place, f"p = {row.p_corrected:.2f}", va="center", ha="right", color=colour, fontsize=9.5)
    axes.set_yticks(range(len(rows)), [f"{row.first} − {row.second}" for row in rows])
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set(xlabel="difference of annualised Sharpe ratios, 95% interval", xlim=(None, 0.74))
    return figure, {}


@picture
def wealth() -> Drawn:
    """What policies made of twenty stocks, beside equal weight."""
    replay = sb.replay(twenty_stocks(), ["SF-UCB", "SF-TS"], every="month", cost=0.001, runs=40, seed=1)
    figure, axes = plt.subplots(figsize=(8.4, 3.4))
    colours = {"SF-UCB": GREEN, "SF-TS": BLUE, "equal weight": ORANGE, "follow the leader": PURPLE}
    dates = replay.dates.astype("datetime64[D]")
    for name, colour in colours.items():
        player = replay[name]
        (line,) = axes.plot(dates[::21], player.wealth[::21], color=colour, linewidth=1.6)
        label(axes, line, name, {"SF-UCB": -6.0, "SF-TS": 6.0}.get(name, 0.0))
    axes.set_yscale("log")
    axes.set(ylabel="wealth", xlim=(dates[0], dates[0] + np.timedelta64(40 * 365, "D")))
    axes.set_yticks([1, 10, 100], ["1", "10", "100"])
    axes.minorticks_off()
    return figure, {}


@picture
def situations() -> Drawn:
    """Regret of four policies in five situations, beside the best of them: the table of evidence/which-policy.md."""
    figure, axes = plt.subplots(figsize=(8.4, 3.0))
    text = (IMAGES.parent / "evidence" / "which-policy.md").read_text("utf-8")
    rows = [cells for _, heading, cells in numbers.rows(text) if heading and heading[0] == "situation"]
    names = ("UCB1", "UCB-RSSR", "SF-UCB", "SF-TS", "sliding window")
    for place, cells in enumerate(reversed(rows)):
        regrets = [float(cell.split(" ")[0].replace(",", "")) for cell in cells[1:6]]
        least = min(regrets)
        for name, regret, colour in zip(names, regrets, (GREY, ORANGE, GREEN, BLUE, PURPLE), strict=True):
            axes.plot(
                regret / least, place, "o", color=colour, markersize=8, alpha=0.85, label=name if place == 0 else None
            )
    axes.set_yticks(range(len(rows)), [cells[0] for cells in reversed(rows)])
    axes.set_xscale("log")
    axes.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    axes.minorticks_off()
    axes.set(xlabel="regret, as a multiple of the lowest in the row")
    figure.legend(frameon=False, ncols=5, loc="outside upper center", labelcolor="linecolor")
    return figure, {}


def table(page: str, first: str) -> list[list[str]]:
    """The rows of the table of a page of evidence whose first heading this is."""
    text = (IMAGES.parent / "evidence" / page).read_text("utf-8")
    return [cells for _, heading, cells in numbers.rows(text) if heading and heading[0] == first]


@picture
def frontier() -> Drawn:
    """Seventy-two ways to explore: regret against lock-ins, the table of evidence/negative-results.md."""
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.4), sharey=True)
    rows = [cells for cells in table("negative-results.md", "variant") if "," in cells[2]]
    for panel, place, title in ((axes[0], 1, "first twenty bandits"), (axes[1], 3, "other twenty")):
        points = {}
        for cells in rows:
            regret = float(cells[place].split(" ")[0])
            locked = float(cells[place + 1].split(", ")[1].rstrip("%"))
            points[cells[0]] = regret, locked
            known = "n − N" in cells[0] or "horizon" in cells[0] or "rounds left" in cells[0]
            if regret < 2.3:
                panel.plot(regret, locked, "o", color=ORANGE if known else GREY, markersize=5, alpha=0.8)
        curve = [points[f"c = {c:g}"] for c in (0.3, 0.4)] + [points["SF-UCB (c = 0.5)"]]
        curve += [points[f"c = {c:g}"] for c in (0.6, 0.7, 0.8, 1.0, 1.5)]
        panel.plot(*zip(*curve, strict=True), "-", color=GREEN, linewidth=1.5)
        panel.plot(*points["SF-UCB (c = 0.5)"], "o", color=GREEN, markersize=8)
        panel.set(xlabel="regret, as a multiple of SF-UCB's", title=title, xlim=(0.55, 2.3), ylim=(-0.3, 9))
    axes[0].set_ylabel("runs locked in at 10%, %")
    axes[0].annotate("SF-UCB, other c", (1.9, 0.4), xytext=(1.45, 2.2), color=GREEN)
    axes[0].annotate("horizon known", (0.8, 6.0), xytext=(0.95, 6.2), color=ORANGE)
    return figure, {}


@picture
def fixed_budget() -> Drawn:
    """Runs that name a wrong arm, mean over 76 problems: the table of evidence/best-arm.md."""
    rows = table("best-arm.md", "problem")
    (mean,) = [cells for cells in rows if cells[0] == "mean of 76"]
    names = ("OCBA rejects", "successive rejects", "sequential halving", "variance-aware halving", "equal play")
    figure, axes = plt.subplots(figsize=(7.2, 2.2))
    for place, cell in enumerate(mean[3:8]):
        axes.barh(-place, 100 * float(cell), color=GREEN if place == 0 else GREY, height=0.62)
        axes.annotate(f"{100 * float(cell):.0f}%", (100 * float(cell), -place), xytext=(4, 0), va="center",
                      textcoords="offset points")  # fmt: skip
    axes.set_yticks([-place for place in range(5)], names)
    axes.set(xlabel="runs that name a wrong arm, %", xlim=(0, 50))
    return figure, {}


@picture
def stopping() -> Drawn:
    """Rounds until LUCB and TopTwo stop, beside the lower bound: the table of evidence/fixed-confidence.md."""
    rows = [cells for cells in table("fixed-confidence.md", "bandit") if "[" not in cells[-1]]
    figure, axes = plt.subplots(figsize=(7.2, 2.4))
    for place, cells in enumerate(reversed(rows)):
        bound, lucb, top_two = (float(cell.split(" ")[0].replace(",", "")) for cell in cells[1:4])
        axes.plot([lucb / bound, top_two / bound], [place, place], color=GREY, linewidth=1)
        axes.plot(lucb / bound, place, "o", color=ORANGE, label="LUCB" if place == 0 else None)
        axes.plot(top_two / bound, place, "o", color=GREEN, label="TopTwo" if place == 0 else None)
    axes.set_yticks(range(len(rows)), [cells[0] for cells in reversed(rows)])
    axes.set(xlabel="rounds until it stops, against the lower bound", xlim=(1, 7))
    figure.legend(frameon=False, ncols=2, loc="outside upper center", labelcolor="linecolor")
    return figure, {}


@picture
def late_rewards() -> Drawn:
    """Regret with rewards that arrive late, as a multiple of that without delay: three strategies, ten years."""
    delays = (0, 10, 30, 100, 300, 1_000)
    policies = [sb.ScaleFreeUCB(L=1e-6), sb.ScaleFreeTS(L=1e-6)]
    objective = sb.RSSR(L=1e-6, signed=True)
    figure, axes = plt.subplots(figsize=(8.4, 3.0))
    regrets: dict[str, list[float]] = {"SF-UCB": [], "SF-TS": []}
    for delay in delays:
        study = sb.simulate(policies, STRATEGIES, horizon=10_000, runs=400, seed=1, delay=delay)
        for name in regrets:
            regrets[name].append(study[name].regret(objective).final.mean)
    for (name, values), colour in zip(regrets.items(), (GREEN, BLUE), strict=True):
        (line,) = axes.plot(np.arange(len(delays)), np.array(values) / values[0], "o-", color=colour)
        label(axes, line, name)
    axes.set_xticks(range(len(delays)), [f"{delay:,}" for delay in delays])
    axes.set(
        xlabel="rewards pending at any time", ylabel="regret, against none pending", ylim=(0.8, None), xlim=(None, 5.6)
    )
    return figure, {}


@picture
def watching() -> Drawn:
    """A series without skill, watched every day: its ordinary 95% interval and its confidence sequence."""
    days = 2_000
    for seed in range(100):  # the first series that leaves its ordinary interval late enough to be seen
        rewards = np.random.default_rng(seed).normal(0.0, 1.0, days)
        n = np.arange(1, days + 1)
        mean = np.cumsum(rewards) / n
        half = 1.96 / np.sqrt(n)
        if (np.abs(mean[200:]) > half[200:]).any():
            break
    sequence = sb.confidence_sequence(rewards, sb.Mean())
    figure, axes = plt.subplots(figsize=(8.4, 3.1))
    shown = slice(60, None, 10)
    axes.fill_between(n[shown], sequence.low[shown], sequence.high[shown], color=BLUE, alpha=0.18, linewidth=0)
    axes.fill_between(n[shown], (mean - half)[shown], (mean + half)[shown], color=ORANGE, alpha=0.45, linewidth=0)
    axes.plot(n[shown], mean[shown], color=GREY, linewidth=1)
    axes.axhline(0, color=GREY, linewidth=0.8)
    wrong = np.flatnonzero((np.abs(mean) > half) & (n > 60))[::5]
    axes.plot(n[wrong], np.zeros(len(wrong)), "|", color=ORANGE, markersize=9)
    axes.text(days, sequence.high[-1] + 0.02, "confidence sequence", ha="right", color=BLUE)
    axes.text(n[wrong[0]], -0.24, "here the ordinary interval excludes the truth, 0", color=ORANGE, va="top")
    axes.set(xlabel="rewards", ylabel="mean", ylim=(-0.5, 0.5))
    return figure, {}


@picture
def plan_error() -> Drawn:
    """How often a wrong one of eight strategies is named: the best has a Sharpe ratio of 3, the others 1.5."""
    problem = sb.BestArmProblem.from_gap(8, best_sharpe=3.0, gap=1.5, volatility=0.15, periods_per_year=252)
    years = [1, 2, 3, 5, 7, 10, 15, 20, 25, 30]
    plan = sb.plan(problem, budget=[252 * year for year in years], runs=4_000, seed=1)
    figure, axes = plt.subplots(figsize=(8.4, 3.1))
    names = {"Successive rejects": GREEN, "Sequential halving": BLUE, "Uniform sampling": GREY}
    for name in plan.policies:
        points = [point for point in plan.asked if point.policy == name]
        (line,) = axes.plot(
            [p.budget / 252 for p in points], [100 * p.error.mean for p in points], "o-", markersize=3.5,
            color=names.get(name, ORANGE),
        )  # fmt: skip
        line.set_label(name)
    axes.legend(frameon=False, labelcolor="linecolor")
    axes.set(xlabel="years of daily rounds", ylabel="a wrong strategy is named, %", ylim=(0, None), xlim=(0, None))
    return figure, {}


def twenty_stocks(columns: list[str] | None = None) -> sb.Returns:
    """Daily returns of the stocks that come with skfolio."""
    from skfolio.datasets import load_sp500_dataset

    prices = load_sp500_dataset()
    return sb.read_returns(prices[columns] if columns else prices, kind="prices", periods_per_year=252)


@picture
def dashboard() -> Drawn:
    """A campaign in the dashboard, with 1,500 rewards, by headless Chromium."""
    import random
    import shutil
    import socket
    import subprocess
    import tempfile
    import time

    from playwright.sync_api import sync_playwright

    arms = {"momentum": (0.0040, 0.010), "carry": (0.0006, 0.006), "value": (0.0003, 0.009), "cash": (0.0001, 0.002)}
    generator = random.Random(1)
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path, token = Path(folder) / "campaigns.db", "picture" * 6
        with sb.Store(path) as store:
            campaign = store.campaign(
                "desks", policy=sb.ScaleFreeUCB(L=1e-5), arms=list(arms), lease="1 day", explore=0.1, seed=1
            )
            for _ in range(150):
                decisions = campaign.ask(count=10)
                campaign.tell_many({decision: generator.gauss(*arms[decision.arm]) for decision in decisions})
        tokens = Path(folder) / "tokens.toml"
        tokens.touch(0o600)
        tokens.write_text(f'[reader]\ntoken = "{token}"\naccess = "read"\n')
        command = [sys.executable, "-m", "sharpe_bandits", "serve", str(path), "--port", url.rpartition(":")[2]]
        server = subprocess.Popen([*command, "--token-file", str(tokens)])
        try:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1180, "height": 860}, device_scale_factor=1.5)
            for _ in range(300):
                try:
                    page.goto(f"{url}/campaign/desks")
                    break
                except Exception:  # not up yet
                    time.sleep(0.2)
            page.fill("#token", token)
            page.click("main button[type=submit]")
            page.wait_for_url("**/campaign/desks")
            page.wait_for_selector("#live.on")
            page.wait_for_timeout(3_000)
            return page.screenshot(), {}
        finally:
            server.terminate()
            server.wait()


dashboard.shows = [  # type: ignore[attr-defined]
    path
    for path in sorted((Path(sb.__file__).parent / "service").rglob("*.*"))
    if path.suffix in (".html", ".js", ".css")
]


def digest(name: str) -> str:
    """Of what a picture is made by: its own function, and the files that it shows."""
    code = ast.dump(ast.parse(inspect.getsource(PICTURES[name]))).encode()
    shown = b"".join(path.read_bytes() for path in getattr(PICTURES[name], "shows", ()))
    return hashlib.sha256(code + shown).hexdigest()[:16]


def main(names: list[str]) -> None:
    index = json.loads(INDEX.read_text("utf-8")) if INDEX.exists() else {}
    for name in names or list(PICTURES):
        with plt.rc_context(STYLE):
            figure, quoted = PICTURES[name]()
            if isinstance(figure, bytes):  # what a browser showed
                (IMAGES / f"{name}.png").write_bytes(figure)
            else:
                figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None}, facecolor="none")
                figure.savefig(IMAGES.parents[1] / "out" / f"{name}.png", dpi=110, transparent=False)
                plt.close(figure)
        index[name] = {"code": digest(name), "numbers": quoted}
        print(name, quoted, flush=True)
        INDEX.write_text(json.dumps(index, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
