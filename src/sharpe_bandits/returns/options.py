"""How a table is read: options that are one of a few words."""

from typing import Literal

#: What the numbers of a table are.
Kind = Literal["prices", "returns", "log-returns"]
#: What becomes of gaps.
Missing = Literal["error", "drop", "fill", "keep"]
#: What becomes of rows with the same date.
Duplicates = Literal["error", "first", "last"]
#: What becomes of rows that are not in the order of their dates.
Unsorted = Literal["error", "sort"]
#: What becomes of dates of several time zones.
TimeZones = Literal["error", "utc"]
#: What becomes of columns that do not vary.
Constant = Literal["error", "drop"]
#: How a series of risk-free rates is quoted.
Quote = Literal["per-period", "annual", "per-period-percent", "annual-percent"]
