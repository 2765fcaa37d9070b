"""Options for reading a file of returns or prices, shared by all commands that read one."""

from __future__ import annotations

import argparse
import sys
from inspect import signature
from pathlib import Path
from typing import Any, get_args

from ..._support import console
from ...returns.options import Constant, Duplicates, Kind, Missing, Quote, TimeZones, Unsorted
from ...returns.table import Returns, read_returns
from ..parser import print_json

#: Options for reading a table, with their defaults.
READING = {k: p.default for k, p in signature(read_returns).parameters.items() if k not in ("source", "names")}


def add(parser: argparse.ArgumentParser, optional: bool = False) -> None:
    """Add the file and the options for reading it; with ``optional`` it can be left out."""
    data = parser.add_argument_group("data")
    content = "CSV, Parquet or spreadsheet: a row per date, a column per arm"
    parser.add_argument("file", type=Path, metavar="FILE", nargs="?" if optional else None, help=content)
    needed = not optional
    data.add_argument("--kind", choices=get_args(Kind), required=needed, help="what the numbers are")
    data.add_argument(
        "--periods-per-year",
        type=float,
        required=needed,
        metavar="N",
        help="rows per year: 252 for trading days, 12 for months",
    )
    data.add_argument(
        "--date",
        nargs="+",
        metavar="COLUMN",
        help="column of dates (the first, if it holds dates), or those of dates and of times of day",
    )
    data.add_argument("--columns", nargs="+", metavar="COLUMN", help="read only these columns")
    scale = data.add_mutually_exclusive_group()
    scale.add_argument("--percent", dest="scale", action="store_const", const=0.01, help="returns are in per cent")
    scale.add_argument("--scale", type=float, metavar="X", help="multiply returns; 1 accepts gains above 100%%")
    data.add_argument(
        "--minimise", dest="direction", action="store_const", const="min", default="max", help="the numbers are costs"
    )
    data.add_argument("--capital", type=float, metavar="MONEY", help="what profits and losses are divided by (pnl)")
    data.add_argument(
        "--missing",
        choices=get_args(Missing),
        default="error",
        help="missing values: drop the rows; fill with the last price or a return of 0; or keep them, so that every "
        "column has its own history",
    )
    data.add_argument(
        "--duplicates", choices=get_args(Duplicates), default="error", help="several rows with the same date"
    )
    data.add_argument("--unsorted", choices=get_args(Unsorted), default="error", help="dates that are not in order")
    data.add_argument("--timezones", choices=get_args(TimeZones), default="error", help="dates in several time zones")
    data.add_argument("--constant", choices=get_args(Constant), default="error", help="columns that do not vary")
    rate = parser.add_argument_group("risk-free rate or benchmark")
    hurdle = rate.add_mutually_exclusive_group()
    hurdle.add_argument("--annual-risk-free", type=float, default=0.0, metavar="RATE", help="annual rate: 0.02 is 2%%")
    hurdle.add_argument("--risk-free-per-period", type=float, metavar="RATE", help="instead: rate per period")
    hurdle.add_argument("--risk-free-series", metavar="COLUMN", help="instead: rates by row, a column or another file")
    hurdle.add_argument(
        "--benchmark", metavar="COLUMN", help="returns in excess of a benchmark: a column, or a file of the same kind"
    )
    rate.add_argument(
        "--risk-free-quote", choices=get_args(Quote), default="per-period", help="how the rates of a series are quoted"
    )
    form = parser.add_argument_group("file format")
    form.add_argument("--separator", default=",", metavar="SIGN", help="field separator of a CSV file; tab for a tab")
    form.add_argument("--encoding", default="utf-8", metavar="NAME", help="encoding of a CSV file, such as cp1252")
    form.add_argument("--skip-rows", type=int, default=0, metavar="N", help="lines before the header")
    form.add_argument("--sheet", help="name of the sheet, if a spreadsheet has several")
    form.add_argument("--field", help="which number of each asset, such as Close, if two lines name the columns")
    form.add_argument(
        "--pivot",
        nargs=2,
        metavar=("NAMES", "NUMBERS"),
        help="columns of asset names and of numbers, if the table has a row per date and asset",
    )
    form.add_argument(
        "--date-format", metavar="FORMAT", help="format of dates: %%d/%%m/%%Y; excel, s, ms, us or ns for numbers"
    )
    form.add_argument("--decimal", default=".", metavar="SIGN", help="decimal separator")
    form.add_argument("--thousands", default="", metavar="SIGN", help="thousands separator")
    form.add_argument("--currency", default="", metavar="SIGN", help="currency symbol beside amounts")


def add_bootstrap(parser: argparse.ArgumentParser, replications: int) -> None:
    """Add the confidence level of a command's results, and the settings of the bootstrap."""
    group = parser.add_argument_group("intervals")
    group.add_argument("--confidence", type=float, default=0.95, metavar="C", help="confidence level")
    group.add_argument("--replications", type=int, default=replications, metavar="N", help="bootstrap resamples")
    group.add_argument("--block", type=float, metavar="ROWS", help="mean block length (chosen from the data)")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the bootstrap")


def given(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """The risk-free rate and the named options, as keyword arguments."""
    return {name: getattr(options, name) for name in ("annual_risk_free", "risk_free_per_period", *names)}


def present(result: Any, options: argparse.Namespace, folder: Path | None) -> None:
    """Print a result, as JSON if asked for, and write its report if a folder is given."""
    print_json(result.to_dict()) if options.json else console.show(result)
    if folder is not None:
        print(f"saved: {result.report(folder)}", file=sys.stderr if options.json else sys.stdout)


def read(options: argparse.Namespace) -> Returns:
    """The returns that the options describe."""
    how = {name: getattr(options, name) for name in READING}
    how["separator"] = "\t" if options.separator == "tab" else options.separator
    return read_returns(options.file, **how)
