"""Small tables of prices in files and in memory, how they are read, and the returns that they must give."""

import datetime

import numpy as np
import pandas as pd
import pytest

import sharpe_bandits as sb
from sharpe_bandits.returns.table import read_returns

DAYS = ["2020-01-02", "2020-01-03", "2020-01-06", "2020-01-07"]
A = [100.0, 110.0, 99.0, 99.0]
B = [50.0, 50.0, 60.0, 30.0]
WANTED = [[0.1, 0.0], [-0.1, 0.2], [0.0, -0.5]]
CSV = "date,A,B\n" + "".join(f"{d},{a},{b}\n" for d, a, b in zip(DAYS, A, B, strict=True))
#: Longer prices of two funds, with their dates; and some without.
DATES = [datetime.date(2020, 1, d) for d in (2, 3, 6, 7, 8)]
FUND_A, FUND_B = [1000.0, 1010.5, 1005.25, 1020.0, 1015.0], [2.0, 2.1, 2.05, 2.2, 2.15]
PRICES = {"A": [100.0, 101.5, 99.0, 103.0, 104.0], "B": [50.0, 50.5, 51.5, 51.0, 52.0]}


def written(folder, text, name="table.csv"):
    path = folder / name
    path.write_text(text)
    return path


def prices(source, **options):
    return read_returns(source, **{"kind": "prices", "periods_per_year": 252, **options})


def returns(source, **options):
    return prices(source, kind="returns", **options)


def frame():
    return pd.DataFrame({"A": A, "B": B}, index=pd.DatetimeIndex(DAYS, name="date"))


def expected():
    """What the prices of the two funds lead to."""
    return np.array([np.diff(FUND_A) / FUND_A[:-1], np.diff(FUND_B) / FUND_B[:-1]]).T


def csv(tmp_path, lines, encoding="utf-8"):
    path = tmp_path / "table.csv"
    path.write_bytes("\n".join(lines).encode(encoding) + b"\n")
    return path


def suggested(source, **options):
    """The error's message."""
    with pytest.raises(sb.errors.InvalidInputError) as error:
        prices(source, **options)
    return str(error.value)
