"""Options that say how a file of returns or prices is to be read, the same for every command that reads one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..returns.table import Returns, read_returns


def add(parser: argparse.ArgumentParser, optional: bool = False) -> None:
    """The file and what settles doubts about it; with ``optional`` the file is an option, ``--table``."""
    data = parser.add_argument_group("the data")
    content = "CSV or Parquet: a row per date, a column per arm"
    if optional:
        data.add_argument("--table", dest="file", type=Path, metavar="FILE", help=content)
    else:
        parser.add_argument("file", type=Path, help=content)
    data.add_argument("--kind", choices=("prices", "returns"), required=not optional, help="what the numbers are")
    data.add_argument("--periods-per-year", type=float, required=not optional, metavar="N", help="rows in a year: 252 "
                      "trading days, 12 months")  # fmt: skip
    data.add_argument("--date", metavar="COLUMN", help="the column of dates (the first, if it holds dates)")
    data.add_argument("--columns", nargs="+", metavar="COLUMN", help="only these")
    scale = data.add_mutually_exclusive_group()
    scale.add_argument("--percent", dest="scale", action="store_const", const=0.01, help="returns are in per cent")
    scale.add_argument("--scale", type=float, metavar="X", help="multiply returns; 1 accepts gains above 100%%")
    data.add_argument("--missing", choices=("error", "drop", "fill"), default="error", help="gaps: drop the rows, or "
                      "fill with the last price or a return of 0")  # fmt: skip
    data.add_argument("--duplicates", choices=("error", "first", "last"), default="error", help="rows of one date")
    data.add_argument("--unsorted", choices=("error", "sort"), default="error", help="dates that are not in order")
    data.add_argument("--timezones", choices=("error", "utc"), default="error", help="dates of several time zones")
    data.add_argument("--constant", choices=("error", "drop"), default="error", help="columns that do not vary")
    data.add_argument(
        "--separator", default=",", metavar="SIGN", help="between the values of a CSV file; tab for a tab"
    )


def add_risk_free(parser: argparse.ArgumentParser) -> None:
    """The risk-free rate, annual or per period."""
    rate = parser.add_mutually_exclusive_group()
    rate.add_argument("--risk-free", type=float, default=0.0, metavar="RATE", help="annual: 0.02 is 2%% (0)")
    rate.add_argument("--risk-free-per-period", type=float, metavar="RATE", help="instead of the annual one")


def risk_free(options: argparse.Namespace) -> dict[str, Any]:
    """The risk-free rate as functions take it."""
    return {"risk_free": options.risk_free, "risk_free_per_period": options.risk_free_per_period}


def read(options: argparse.Namespace) -> Returns:
    """The returns that the options describe."""
    return read_returns(
        options.file,
        kind=options.kind,
        periods_per_year=options.periods_per_year,
        date=options.date,
        columns=options.columns,
        scale=options.scale,
        missing=options.missing,
        duplicates=options.duplicates,
        unsorted=options.unsorted,
        timezones=options.timezones,
        constant=options.constant,
        separator="\t" if options.separator == "tab" else options.separator,
    )
