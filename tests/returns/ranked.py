"""Strategies that are ranked."""

import numpy as np

from sharpe_bandits.returns.table import read_returns


def table(values, names, **options):
    return read_returns(np.asarray(values), **{"kind": "returns", "periods_per_year": 252, "names": names, **options})


def three_strategies():
    """A year of three strategies that share a market: good, fair, losing."""
    g = np.random.default_rng(4)
    market = g.normal(0, 0.01, (250, 1))
    return table(market + g.normal([0.002, 0.0005, -0.002], 0.008, (250, 3)), ["good", "fair", "bad"])
