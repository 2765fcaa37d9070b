"""Tables that are replayed, and what a trace says that policies hold in them."""

import numpy as np

import sharpe_bandits as sb


def table(*columns, names=None, q=12):
    names = names or [chr(ord("A") + k) for k in range(len(columns))]
    return sb.read_returns(np.array(columns).T, kind="returns", periods_per_year=q, names=names)


def two_years():
    """Two years of four columns that share a market; the third is the best."""
    g = np.random.default_rng(8)
    x = g.normal(0, 0.006, (500, 1)) + g.normal([0, 0.0005, 0.002, -0.001], [0.01, 0.008, 0.01, 0.02], (500, 4))
    return table(*x.T, names=["a", "b", "c", "d"], q=252)


def orders(seed, runs, columns):
    """The order of columns in each run: a permutation by Philox with the key (seed, run)."""
    keys = [np.array([seed, run], np.uint64) for run in range(runs)]
    return [np.random.Generator(np.random.Philox(key=key)).permutation(columns) for key in keys]


def traced(policy, daily, seed, runs, horizon=500, feedback="bandit"):
    """Columns held and recommended in each run, by traces of tapes with columns in that run's order."""
    for run, order in enumerate(orders(seed, runs, 4)):
        tape = sb.Tape(daily.values.T[order], clock="rounds")
        found = sb.trace(policy, tape, horizon=horizon, seed=seed, run=run, feedback=feedback)
        yield order[found.choices], order[found.recommended]
