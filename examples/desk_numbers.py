"""Cases in which a usual default misleads a desk, and what is printed here instead. Everything is simulated and seeded.

Run with: python examples/desk_numbers.py [samples]
"""

import sys
import warnings

import numpy as np

import sharpe_bandits as sb
from sharpe_bandits.returns import statistics

#: Mean and standard deviation of costs in basis points of four execution algorithms.
COSTS = {"VWAP": (4.0, 9.0), "TWAP": (4.6, 8.0), "IS": (3.6, 14.0), "POV": (5.5, 25.0)}
#: Weights of the last three months in a hedge fund's reported return (Getmansky, Lo and Makarov 2004, about average).
SMOOTHING = (0.5, 0.3, 0.2)


def row(case: str, usual: str, here: str) -> None:
    print(f"| {case} | {usual} | {here} |", flush=True)


def orders(objective: sb.objectives.Objective) -> float:
    """Orders of 4,000 that SF-UCB sends to POV, the dearest and riskiest algorithm."""
    bandit = sb.Bandit([sb.Normal(-mean, sd=sd) for mean, sd in COSTS.values()], list(COSTS))
    policy = sb.ScaleFreeUCB(objective=objective)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sb.errors.RewardWarning)
        study = sb.simulate(policy, bandit, horizon=4000, runs=64, seed=1)
    return float(study[policy.name].final.mean(axis=0)[3])


def execution() -> None:
    row("orders of 4,000 sent to POV: by signed RSSR; by mean less 0.3 s.d.",
        f"{orders(sb.RSSR(L=1.0, signed=True)):,.0f}", f"{orders(sb.MeanRisk(aversion=0.3)):,.0f}")  # fmt: skip
    means, deviations = np.array(list(COSTS.values())).T
    costs = np.random.default_rng(2).normal(means, deviations, (4000, 4))
    reading = {"names": list(COSTS), "kind": "returns", "periods_per_year": 252, "scale": 1e-4}
    wrong = sb.rank(sb.read_returns(-costs, **reading), replications=500)
    right = sb.rank(sb.read_returns(costs, direction="min", **reading), aversion=0.3, replications=500)
    row("first by rank: minus the costs by Sharpe ratio; costs with `direction=\"min\"`, aversion 0.3",
        f"{wrong.columns[0].name} in {wrong.columns[0].best:.0%}, with a remark",
        f"{right.columns[0].name} in {right.columns[0].best:.0%}")  # fmt: skip


def smoothed(samples: int) -> None:
    """Monthly returns of a hedge fund: 23 years, true annual Sharpe ratio 0.5, reported with smoothing."""
    usual, here, true = [], [], 0.5
    for sample in range(samples):
        monthly = np.random.default_rng((sample, 7)).normal(true / np.sqrt(12), 1, 276 + 2)
        reported = sum(w * monthly[2 - k : 278 - k] for k, w in enumerate(SMOOTHING))
        table = sb.read_returns(0.01 * reported[:, None], names=["fund"], kind="returns", periods_per_year=12)
        (fund,) = sb.rank(table, replications=100, seed=sample).columns
        years = statistics.track_record(fund.sharpe, fund.se_iid, fund.rows) / 12 if fund.sharpe > 0 else np.inf
        usual.append((fund.annual_sharpe, fund.psr_iid, years))
        here.append((fund.adjusted_sharpe, fund.psr, (fund.track_record or np.inf) / 12))
    words = [
        f"{a:.2f}, {p:.1%}, {y:.1f} years" for a, p, y in (np.median(found, axis=0) for found in (usual, here))
    ]  # fmt: skip
    row(f"Sharpe ratio, PSR and record needed of a smoothed fund, true ratio {true:g} (medians)", *words)


def overfitting(samples: int) -> None:
    found = []
    for sample in range(samples):
        x = np.random.default_rng((sample, 8)).normal(size=(240, 3))
        found.append((_not_above(x), statistics.backtest_overfitting(x, blocks=8)))
    usual, here = np.mean(found, axis=0)
    row("probability of backtest overfitting, 3 columns without skill: “not above” the median; here",
        f"{usual:.2f}", f"{here:.2f} ± {np.std(found, axis=0)[1] / np.sqrt(samples):.2f}")  # fmt: skip


def _not_above(x: np.ndarray) -> float:
    """The share of splits in which the best column of one half is at or below the median in the other."""
    from itertools import combinations

    blocks = np.array_split(x, 8)
    hits = []
    for chosen in combinations(range(8), 4):
        inside = np.concatenate([blocks[k] for k in chosen])
        outside = np.concatenate([blocks[k] for k in range(8) if k not in chosen])
        ratio = statistics.sharpe(outside)
        hits.append(ratio[statistics.sharpe(inside).argmax()] <= np.median(ratio))
    return float(np.mean(hits))


def superior() -> None:
    x = np.random.default_rng(9).normal(0.003, 0.01, (500, 3))
    found = sb.compare(x, names=["A", "B", "C"], kind="returns", periods_per_year=252, replications=500)
    row("smallest p-value of the test for superior predictive ability with 500 resamples", "0.000",
        f"{found.superior['consistent']:.3f}")  # fmt: skip


def unpaired() -> None:
    generator = np.random.default_rng(10)
    values = np.full((2000, 2), np.nan)
    seen = generator.integers(2, size=2000)
    values[np.arange(2000), seen] = generator.normal(np.where(seen, 0.0012, 0.0), 0.01)
    options = {"names": ["A", "B"], "kind": "returns", "periods_per_year": 252}
    (found,) = sb.compare(values, missing="keep", replications=500, **options).differences
    row("p-value of two venues that share no row, Sharpe ratios 0.12 apart per trade", "1.000", f"{found.p:.3f}")


def plans() -> None:
    """13 monthly arms with volatilities from 2% to 25%, all seen every month."""
    sharpes, volatility = [0.7, *np.linspace(0.6, 0.2, 12)], np.linspace(0.02, 0.25, 13).tolist()
    years = []
    for objective in ("rssr", "sharpe"):
        problem = sb.BestArmProblem.from_sharpes(
            sharpes, volatility=volatility, periods_per_year=12, objective=objective
        )  # fmt: skip
        need = sb.plan(problem, error=0.05, runs=2000, seed=1).periods_at_once
        years.append("never" if need is None else f"{need.mean / 12:,.0f} years")
    row("time to find the best of 13 monthly arms, all seen: RSSR; Sharpe ratio, the default", *years)


def main(samples: int = 200) -> None:
    print("| case | usual default | here |")
    print("|---|---:|---:|")
    execution()
    smoothed(samples)
    overfitting(samples)
    superior()
    unpaired()
    plans()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
