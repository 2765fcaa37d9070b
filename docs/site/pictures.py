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


def digest(name: str) -> str:
    """Of what a picture is made by: its own function."""
    return hashlib.sha256(ast.dump(ast.parse(inspect.getsource(PICTURES[name]))).encode()).hexdigest()[:16]


def main(names: list[str]) -> None:
    index = json.loads(INDEX.read_text("utf-8")) if INDEX.exists() else {}
    for name in names or list(PICTURES):
        with plt.rc_context(STYLE):
            figure, numbers = PICTURES[name]()
            figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None}, facecolor="none")
            figure.savefig(IMAGES.parents[1] / "out" / f"{name}.png", dpi=110, transparent=False)
        plt.close(figure)
        index[name] = {"code": digest(name), "numbers": numbers}
        print(name, numbers, flush=True)
        INDEX.write_text(json.dumps(index, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
