"""Published policies and policies without a scale: geometric mean of regret, share of runs that lock in, and cost.

On the paper's regret panels, on the same arms scaled down and up, and on bootstrapped returns. Then what a smaller
share of locked-in runs costs, and how that share falls with the horizon.

Run with: python examples/scale_free.py [runs]     (needs the extra "data")
"""

import dataclasses
import math
import sys
import time
from collections.abc import Callable

import numpy as np
import scipy.stats
from arch.data import frenchdata, nasdaq, sp500, wti
from scipy.optimize import minimize_scalar

import sharpe_bandits as sb
from sharpe_bandits.paper.panels import panels

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 128
HORIZON = 10_000
#: Best arms' shares of the last half of a run below which it is locked in.
SHARES = (0.01, 0.1, 0.5)


def published(L: float) -> list[sb.policies.Policy]:
    return [
        sb.UCBRSSR(L=L),
        sb.policies.UUCB(epsilon0=L),
        sb.policies.ModifiedGRAUCB(L=L),
        sb.policies.ModifiedMVTS(L=L),
        sb.policies.ModifiedMVTS(L=L, form="repaired", name="Modified-MVTS, repaired"),
        sb.policies.NormalGammaTS(L=L),
        sb.policies.SRTS(L=L),
    ]


def scale_free(L: float) -> list[sb.policies.Policy]:
    return [
        sb.ScaleFreeUCB(L=L),
        sb.ScaleFreeUCB(L=L, c=1.0, name="SF-UCB, c = 1"),
        sb.ScaleFreeIMED(L=L),
        sb.ScaleFreeTS(L=L),
        sb.ScaleFreeTS(L=L, optimistic=True, name="SF-TS, optimistic"),
        sb.policies.ScaleFreeNPTS(L=L),
        sb.policies.NPTS(L=L),
    ]


def every(L: float) -> list[sb.policies.Policy]:
    return published(L) + scale_free(L)


def scaled(arm: sb.arms.Arm, c: float) -> sb.arms.Arm:
    """The arm whose rewards are c times as large."""
    words = arm.to_dict()
    kind = words.pop("arm")
    powers = {"low": 1, "high": 1, "mean": 1, "scale": 1, "variance": 2}
    return getattr(sb.arms, kind)(**{key: value * c ** powers.get(key, 0) for key, value in words.items()})


def bandits(c: float) -> list[tuple[sb.Bandit, float]]:
    """All cases of R1 to R7, rewards times c and L times c squared."""
    cases = [case for panel in panels(["R1", "R2", "R3", "R4", "R5", "R6", "R7"], "paper") for case in panel.cases]
    return [(sb.Bandit([scaled(a, c) for a in case.environment.arms]), case.names["L"] * c**2) for case in cases]


def returns() -> list[tuple[sb.Bandit, float]]:
    """Monthly returns of the market, size and value factors; daily ones of two indices and oil; with replacement."""
    factors = frenchdata.load()[["Mkt-RF", "SMB", "HML"]].dropna().to_numpy().T / 100
    prices = [source.load()[column].dropna() for source, column in ((sp500, "Adj Close"), (nasdaq, "Adj Close"))]
    prices.append(wti.load()["DCOILWTICO"].dropna())
    daily = [series.pct_change().dropna().to_numpy() for series in prices]
    problems = []
    for values in (list(factors), daily):
        bandit = sb.Bandit([sb.Empirical(column) for column in values])
        problems.append((bandit, float(bandit.variances.min()) / 10))
    return problems


def geometric_mean(regrets: list[sb.results.Estimate]) -> str:
    """With its standard error, to first order."""
    mean = math.exp(np.mean([math.log(r.mean) for r in regrets]))
    error = mean * math.sqrt(sum((r.se / r.mean) ** 2 for r in regrets)) / len(regrets)
    return f"{mean:.4g} ± {error:.2g}"


def table(
    title: str, problems: list[tuple[sb.Bandit, float]], policies: Callable[[float], list[sb.policies.Policy]]
) -> None:
    names = [p.name for p in policies(1.0)]
    regrets, locked, seconds = ({name: [] for name in names} for _ in range(3))
    for bandit, L in problems:
        objective = sb.RSSR(L, signed=True)
        for policy in policies(L):
            for _ in range(2):  # the first may have to compile
                started = time.process_time()
                study = sb.simulate(policy, bandit, horizon=HORIZON, runs=RUNS, seed=1, workers=1)
                spent = time.process_time() - started
            seconds[policy.name].append(spent)
            result = study[policy.name]
            regrets[policy.name].append(result.regret(objective).final)
            locked[policy.name].append([result.locked_in(objective, share=share).mean for share in SHARES])
    print(f"\n{title}\n\n| policy | regret, geometric mean | locked in at 1% | at 10% | at 50% | most at 10% | cost |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name in names:
        rates = " | ".join(f"{rate:.1%}" for rate in np.mean(locked[name], axis=0))
        most, cost = np.max(locked[name], axis=0)[1], sum(seconds[name]) / sum(seconds["UCB-RSSR"])
        print(f"| {name} | {geometric_mean(regrets[name])} | {rates} | {most:.1%} | {cost:.1f} |", flush=True)


def one_bandit(
    title: str, bandit: sb.Bandit, L: float, policies: list[sb.policies.Policy], horizon: int, runs: int
) -> None:
    """Regret and lock-in on a single bandit."""
    objective = sb.RSSR(L, signed=True)
    print(f"\n{title} (n = {horizon:,}, {runs} runs)\n\n| policy | regret | locked in at 1% | at 10% | at 50% |")
    print("|---|---:|---:|---:|---:|")
    for policy in policies:
        result = sb.simulate(policy, bandit, horizon=horizon, runs=runs, seed=1, workers=1)[policy.name]
        final = result.regret(objective).final
        rates = " | ".join(f"{result.locked_in(objective, share=share).mean:.1%}" for share in SHARES)
        print(f"| {policy.name} | {final.mean:.4g} ± {final.se:.2g} | {rates} |", flush=True)


def kl_inf(arm: sb.arms.Arm, value: float, L: float, low: float, high: float) -> float:
    """The least divergence from the arm to a distribution on [low, high] whose signed RSSR is ``value``, above 0.

    That RSSR is reached where the mean of the quadratic below is at most 0 for some t; for each t the dual is that of
    Honda and Takemura (2010). Expectations are over the middles of 4,000 equally likely parts of the distribution.
    """
    plain = arm.to_dict()
    ends = plain["low"], plain["high"]
    law = {
        "Uniform": lambda: scipy.stats.uniform(ends[0], ends[1] - ends[0]),
        "TruncatedNormal": lambda: scipy.stats.norm(plain["mean"], math.sqrt(plain["variance"])),
        "TruncatedGamma": lambda: scipy.stats.gamma(plain["shape"], scale=plain["scale"]),
    }[plain["arm"]]()
    below, above = law.cdf(ends)
    rewards = law.ppf(below + (above - below) * (np.arange(4000) + 0.5) / 4000)

    def divergence(t: float) -> float:
        lowest = np.clip((1 + 1 / value) * t, low, high)
        q, least = ((1 + 1 / value) * (x - t) ** 2 - x**2 / value + L for x in (rewards, lowest))
        if least >= 0:
            return math.inf
        dual = minimize_scalar(lambda share: -np.log1p(-share * q / least).mean(), bounds=(0, 1), method="bounded")
        return max(float(-dual.fun), 0.0)

    grid = np.linspace(0, high, 200)
    best = min(range(1, 199), key=lambda k: divergence(grid[k]))
    return float(minimize_scalar(divergence, bounds=grid[[best - 1, best + 1]], method="bounded").fun)


def least_regret(chance: float) -> float:
    """Geometric mean over R1 to R7 of the cost of knowing, on every bandit of the model, all but this chance of error.

    An arm that may be the best must be played ln(1 / (2.4 chance)) / KLinf times (Kaufmann, Cappé & Garivier, 2016).
    """
    logs, needed = [], math.log(1 / (2.4 * chance))
    for bandit, L in bandits(1.0):
        span = min(arm.support[0] for arm in bandit.arms), max(arm.support[1] for arm in bandit.arms)
        values = [sb.RSSR(L, signed=True).true_value(arm) for arm in bandit.arms]
        gaps = [(max(values) - value, arm) for value, arm in zip(values, bandit.arms, strict=True)]
        pulls = [(gap, needed / kl_inf(arm, max(values), L, *span)) for gap, arm in gaps if gap > 0]
        logs.append(math.log(sum(gap * min(HORIZON, count) for gap, count in pulls)))
    return math.exp(np.mean(logs))


def frontier(runs: int) -> None:
    """Less exploration, less regret, more runs that lock in; both against the horizon."""
    tried = [sb.ScaleFreeUCB(L=1.0, c=c, name=f"SF-UCB, c = {c:g}") for c in (0.3, 0.5, 0.7, 1.0, 1.5)]
    tried += [sb.ScaleFreeIMED(L=1.0), sb.ScaleFreeTS(L=1.0)]
    tried += [sb.ScaleFreeTS(L=1.0, optimistic=True, name="SF-TS, optimistic")]
    tried += [sb.UCBRSSR(L=1.0), sb.policies.ModifiedGRAUCB(L=1.0), sb.policies.NormalGammaTS(L=1.0)]
    horizons = (1_000, 10_000, 100_000)
    print(f"\nR1–R7, regret and runs locked in at 1%, 10% and 50% against the horizon ({runs} runs)\n")
    print("| policy |" + "".join(f" n = {n:,} | locked in |" for n in horizons))
    print("|---|" + "---:|---:|" * len(horizons))
    for policy in tried:
        words = []
        for n in horizons:
            regrets, locked = [], []
            for bandit, L in bandits(1.0):
                own = dataclasses.replace(policy, L=L)
                result = sb.simulate(own, bandit, horizon=n, runs=runs, seed=1, workers=1)[policy.name]
                objective = sb.RSSR(L, signed=True)
                regrets.append(result.regret(objective).final)
                locked.append([result.locked_in(objective, share=share).mean for share in SHARES])
            rates = ", ".join(f"{100 * rate:.1f}" for rate in np.mean(locked, axis=0))
            words += [geometric_mean(regrets), f"{rates}%"]
        print(f"| {policy.name} | {' | '.join(words)} |", flush=True)
    print(
        "\nTo know, on every bandit of the model, all but a chance of error costs a regret of at least (n = 10,000)\n"
    )
    print("| chance of error | 10% | 5% | 1% | 0.1% |\n|---|---:|---:|---:|---:|")
    print("| geometric mean | " + " | ".join(f"{least_regret(p):.4g}" for p in (0.1, 0.05, 0.01, 0.001)) + " |")


if __name__ == "__main__":
    table(f"R1–R7 (n = {HORIZON:,}, {RUNS} runs)", bandits(1.0), every)
    for c in (0.01, 100.0):
        table(f"R1–R7, rewards times {c:g} (n = {HORIZON:,}, {RUNS} runs)", bandits(c), published)
    table(f"Real returns, drawn with replacement (n = {HORIZON:,}, {RUNS} runs)", returns(), every)
    skewed = sb.Bandit([sb.Bernoulli(p) for p in (0.99, 0.97, 0.95)])
    one_bandit(
        "Left-skewed rewards: Bernoulli 0.99, 0.97, 0.95, L = 0.1", skewed, 0.1, scale_free(0.1), 100_000, RUNS // 4
    )
    losing = sb.Bandit([sb.Normal(mean, variance=1.0) for mean in (0.1, -0.3, -0.6)])
    one_bandit("Arms that lose: normal, means 0.1, −0.3, −0.6, L = 0.1", losing, 0.1, every(0.1), HORIZON, RUNS)
    frontier(RUNS // 2)
