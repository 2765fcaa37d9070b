"""Columns of daily returns that share a market."""

import numpy as np
import pandas as pd

import sharpe_bandits as sb

DAYS = pd.bdate_range("2020-01-01", periods=300)


def market(rows=300, columns=4, seed=8):
    g = np.random.default_rng(seed)
    return g.normal(0, 0.006, (rows, 1)) + g.normal(np.linspace(-0.001, 0.002, columns), 0.01, (rows, columns))


def with_dates():
    """Four columns of daily returns with their dates."""
    frame = pd.DataFrame(market(), index=DAYS, columns=list("abcd"))
    return sb.read_returns(frame, kind="returns", periods_per_year=252)


def table(values, **options):
    names = [chr(ord("a") + k) for k in range(values.shape[1])]
    return sb.read_returns(values, names=names, kind="returns", periods_per_year=252, **options)
