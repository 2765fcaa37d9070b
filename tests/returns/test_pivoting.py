"""Tables with a row per date and asset."""

import numpy as np
import pandas as pd

from tests.returns.reading import DATES, FUND_A, FUND_B, csv, expected, prices, suggested


def test_long_tables(tmp_path):
    rows = [
        f"{d},{name},{p}" for d, a, b in zip(DATES, FUND_A, FUND_B, strict=True) for name, p in (("A", a), ("B", b))
    ]
    path = csv(tmp_path, ["date,ticker,close", *rows])
    assert "pass pivot=('ticker', 'close')" in suggested(path)
    found = prices(path, pivot=("ticker", "close"))
    assert found.names == ("A", "B")
    np.testing.assert_allclose(found.values, expected(), rtol=1e-12)
    said = suggested(csv(tmp_path, ["date,ticker,close", *rows, rows[0]]), pivot=("ticker", "close"))
    assert "line 2 and line 12 have the same date and ticker, 'A'" in said
    lacking = csv(tmp_path, ["date,ticker,close", *rows[2:]])
    assert prices(lacking, pivot=("ticker", "close")).values.shape == (3, 2)
    frame = pd.DataFrame(
        {
            "date": np.repeat(pd.to_datetime(DATES), 2),
            "ticker": ["A", "B"] * 5,
            "close": np.ravel([FUND_A, FUND_B], "F"),
        }
    )
    np.testing.assert_allclose(prices(frame, pivot=("ticker", "close")).values, expected(), rtol=1e-12)
