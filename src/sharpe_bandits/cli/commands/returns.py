"""``sharpe-bandits rank`` and ``compare``, and the options of all commands that read a file of returns or prices."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...returns.comparison import compare
from ...returns.ranking import rank
from ...returns.table import Returns, read_returns
from ..parser import add_options, arguments, output

_DATA = {
    "--kind KIND": "what the numbers are: %(choices)s",
    "--periods-per-year N": "rows per year: 252 for trading days, 12 for months",
}
_CONTENT = {
    "--date COLUMN ...": "column of dates (the first, if it holds dates), or those of dates and of times of day",
    "--columns COLUMN ...": "read only these columns",
}
_DOUBTS = {
    "--capital MONEY": "what profits and losses are divided by (pnl)",
    "--missing": "missing values: drop the rows; fill with the last price or a return of 0; or keep them, so that "
    "every column has its own history",
    "--duplicates": "several rows with the same date",
    "--unsorted": "dates that are not in order",
    "--timezones": "dates in several time zones",
    "--constant": "columns that do not vary",
}
_FORMAT = {
    "--separator SIGN": "field separator of a CSV file; tab for a tab",
    "--encoding NAME": "encoding of a CSV file, such as cp1252",
    "--skip-rows N": "lines before the header",
    "--sheet": "name of the sheet, if a spreadsheet has several",
    "--field": "which number of each asset, such as Close, if two lines name the columns",
    "--pivot NAMES NUMBERS": "columns of asset names and of numbers, if the table has a row per date and asset",
    "--date-format FORMAT": "format of dates: %%d/%%m/%%Y; excel, s, ms, us or ns for numbers",
    "--decimal SIGN": "decimal separator",
    "--thousands SIGN": "thousands separator",
    "--currency SIGN": "currency symbol beside amounts",
}
_BOOTSTRAP = {
    "--confidence C": "confidence level",
    "--replications N": "bootstrap resamples",
    "--block ROWS": "mean block length (chosen from the data)",
    "--seed N": "seed of the bootstrap",
}
_COMPARE = {
    "--against COLUMN": "compare all others with this one (all pairs, or with the best if there are many)",
    "--by": "what to compare (sharpe; mean-risk for costs)",
    "--aversion A": "mean that a unit of standard deviation is worth, for mean-risk",
}
_RANK = {
    "--by": "criterion (sharpe; mean-risk for costs)",
    "--aversion A": "mean that a unit of standard deviation is worth, for mean-risk",
    "--L": "regulariser of RSSR, in units of variance per period (a tenth of the smallest variance of a column)",
    "--trials N": "number of strategies tried, discarded ones included (number of columns)",
    "--trials-sd SD": "standard deviation of annualised Sharpe ratios among trials (the larger of observed and chance)",
}


def add_compare(parser: argparse.ArgumentParser) -> None:
    add_options(parser, compare, _COMPARE)
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write comparison.html, .csv, .json, .svg and .png")
    add(parser)
    add_options(parser.add_argument_group("intervals"), compare, _BOOTSTRAP)
    parser.set_defaults(do=lambda options: _present(compare, options))


def add_rank(parser: argparse.ArgumentParser) -> None:
    full = "show all numbers: other measures with intervals, standard errors, false discovery rates"
    add_options(parser, rank, {"--full": full})
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write ranking.html, .csv, .json, .svg and .png")
    add_options(parser.add_argument_group("question"), rank, _RANK)
    add(parser)
    add_options(parser.add_argument_group("intervals"), rank, _BOOTSTRAP)
    parser.set_defaults(do=lambda options: _present(rank, options))


def _present(function: Callable[..., Any], options: argparse.Namespace) -> None:
    present(function(read(options), **arguments(function, options)), options, options.out)


def add(parser: argparse.ArgumentParser, optional: bool = False) -> None:
    data = parser.add_argument_group("data")
    content = "CSV, Parquet or spreadsheet: a row per date, a column per arm"
    parser.add_argument("file", type=Path, metavar="FILE", nargs="?" if optional else None, help=content)
    add_options(data, read_returns, _DATA, required=not optional)
    add_options(data, read_returns, _CONTENT)
    scale = data.add_mutually_exclusive_group()
    scale.add_argument("--percent", dest="scale", action="store_const", const=0.01, help="returns are in per cent")
    add_options(scale, read_returns, {"--scale X": "multiply returns; 1 accepts gains above 100%%"})
    data.add_argument(
        "--minimise", dest="direction", action="store_const", const="min", default="max", help="the numbers are costs"
    )
    add_options(data, read_returns, _DOUBTS)
    rate = parser.add_argument_group("risk-free rate or benchmark")
    hurdle = rate.add_mutually_exclusive_group()
    hurdle.add_argument("--annual-risk-free", type=float, default=0.0, metavar="RATE", help="annual rate: 0.02 is 2%%")
    hurdle.add_argument("--risk-free-series", metavar="COLUMN", help="instead: rates by row, a column or another file")
    hurdle.add_argument(
        "--benchmark", metavar="COLUMN", help="returns in excess of a benchmark: a column, or a file of the same kind"
    )
    add_options(rate, read_returns, {"--risk-free-quote": "how the rates of a series are quoted"})
    add_options(parser.add_argument_group("file format"), read_returns, _FORMAT)


def present(result: Any, options: argparse.Namespace, folder: Path | None) -> None:
    """Print a result, as JSON if asked for, and write its report if a folder is given."""
    output(options, result.to_dict(), result)
    if folder is not None:
        print(f"saved: {result.report(folder)}", file=sys.stderr if options.json else sys.stdout)


def read(options: argparse.Namespace) -> Returns:
    """The returns that the options describe."""
    how = arguments(read_returns, options)
    how["separator"] = "\t" if options.separator == "tab" else options.separator
    return read_returns(options.file, **how)
