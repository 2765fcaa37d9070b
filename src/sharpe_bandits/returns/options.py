"""Options for reading a table that take one of a few values."""

from typing import Literal

#: Why functions for returns take no ``risk_free``: policies and objectives have one, per round.
ANNUAL_OR_PER_PERIOD = "pass annual_risk_free=, the annual rate (0.02 for 2%), or risk_free_per_period="
#: What the numbers of a table are.
Kind = Literal["prices", "returns", "log-returns", "price-relatives", "cumulative-returns", "pnl"]
#: How missing values are handled.
Missing = Literal["error", "drop", "fill", "keep"]
#: How rows with the same date are handled.
Duplicates = Literal["error", "first", "last"]
#: How rows that are not sorted by date are handled.
Unsorted = Literal["error", "sort"]
#: How dates in several time zones are handled.
TimeZones = Literal["error", "utc"]
#: How columns that do not vary are handled.
Constant = Literal["error", "drop"]
#: How a series of risk-free rates is quoted.
Quote = Literal["per-period", "annual", "per-period-percent", "annual-percent"]
