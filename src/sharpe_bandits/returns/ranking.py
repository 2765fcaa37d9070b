"""Columns of returns ranked by Sharpe ratio or RSSR, with what is needed not to over-believe the first.

Intervals are from the stationary bootstrap [1], which resamples blocks of rows, of random length, from all columns at
once: dependence over time and between columns stays. Its mean block length is chosen for the influence function of the
Sharpe ratio [2, 3]: the median of the columns, since the largest of many is that of the noisiest. Needs arch (the extra
``data``).

References
----------
.. [1] D. N. Politis and J. P. Romano (1994). The stationary bootstrap. J. American Statistical Association 89(428).
.. [2] D. N. Politis and H. White (2004). Automatic block-length selection for the dependent bootstrap. Econometric
       Reviews 23(1).
.. [3] A. Patton, D. N. Politis and H. White (2009). Correction to [2]. Econometric Reviews 28(4).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import console
from ..errors import InvalidInputError, require, unknown
from ..metrics import wilson
from ..objectives import RSSR, usual_regulariser
from ..validation import inside, one_of, positive, real, whole
from . import statistics
from .table import Returns

if TYPE_CHECKING:
    from rich.console import RenderableType

#: Fewer returns do not say how long blocks should be.
LEAST_FOR_BLOCKS = 20
#: Resamples computed at a time.
_BATCH = 100
#: A resample whose variance is so small a part of the column's does not vary.
_FLAT = 1e-12


@dataclass(frozen=True)
class Ranked:
    """One column of a ranking. Mean, volatility, Sharpe ratio and RSSR are per period unless named annual.

    Attributes
    ----------
    name : of the column
    mean, volatility : and ``annual_mean``, ``annual_volatility``: times the periods in a year, and times their root
    drawdown : largest loss from a peak of compounded wealth
    sharpe, sharpe_low, sharpe_high : Sharpe ratio and its bootstrap interval; ``annual_...``: times the root of periods
    se, se_hac : its standard errors, if returns were independent, and in spite of autocorrelation
    rssr, rssr_low, rssr_high : signed RSSR and its bootstrap interval
    psr : probabilistic Sharpe ratio, the confidence that the Sharpe ratio is above 0
    dsr : deflated Sharpe ratio, the same in spite of so many trials
    best, best_low, best_high : share of resamples in which the column is first, and its Wilson interval
    """

    name: str
    mean: float
    volatility: float
    annual_mean: float
    annual_volatility: float
    drawdown: float
    sharpe: float
    sharpe_low: float
    sharpe_high: float
    se: float
    se_hac: float
    annual_sharpe: float
    annual_sharpe_low: float
    annual_sharpe_high: float
    annual_se: float
    annual_se_hac: float
    rssr: float
    rssr_low: float
    rssr_high: float
    psr: float
    dsr: float
    best: float
    best_low: float
    best_high: float


@dataclass(frozen=True)
class Ranking:
    """Columns, best first, and all that the numbers depend on.

    Attributes
    ----------
    columns : the best first
    by : what they are ranked by, "sharpe" or "rssr"
    L : regulariser of RSSR, in the unit of variance per period
    risk_free, risk_free_per_period : annual rate, and the rate per period that compounds to it
    confidence : of the intervals
    replications, block, seed : resamples, their mean block length in rows, and their seed
    selection : the trials that the deflated Sharpe ratio allows for
    given_sd : annual standard deviation of Sharpe ratios among trials, if it was given
    sharpe_error, rssr_error : standard errors of the ends of the intervals that the resamples leave, the largest
    periods_per_year, kind, span, convention, notes, remarks : of the returns, see :class:`Returns`
    """

    columns: tuple[Ranked, ...]
    by: str
    L: float
    risk_free: float
    risk_free_per_period: float
    confidence: float
    replications: int
    block: float
    seed: int
    selection: statistics.Selection
    given_sd: float | None
    sharpe_error: float
    rssr_error: float
    periods_per_year: float
    kind: str
    span: str
    convention: str
    notes: tuple[str, ...]
    remarks: tuple[str, ...]

    def __getitem__(self, name: str) -> Ranked:
        """The column of this name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise unknown("column", name, [column.name for column in self.columns])

    @property
    def trials(self) -> int:
        """How many were tried."""
        return self.selection.trials

    @property
    def annual_expected_maximum(self) -> float:
        """Annualised Sharpe ratio to expect of the best of so many trials without skill."""
        return float(statistics.annualised(self.selection.expected_maximum, self.periods_per_year))

    @property
    def summary(self) -> str:
        """What to make of it, in a few sentences."""
        first = self.columns[0]
        what = "Sharpe ratio" if self.by == "sharpe" else "RSSR"
        said = f"{first.name} has the largest {what}, and ranks first in {first.best:.0%} of the resamples."
        if self.trials > 1:
            said += (
                f" Its annualised Sharpe ratio is {first.annual_sharpe:.2f}; the expected maximum of {self.trials} "
                f"trials without skill is {self.annual_expected_maximum:.2f}. The probability that its true Sharpe "
                f"ratio is above 0 is {_confidence(first.dsr)} after correcting for {self.trials} trials (deflated "
                f"Sharpe ratio), and {_confidence(first.psr)} without the correction (probabilistic Sharpe ratio)."
            )
        else:
            said += f" The probability that its true Sharpe ratio is above 0 is {_confidence(first.psr)}."
        return said

    def settings(self) -> dict[str, str]:
        """What every number depends on, in words."""
        q = self.periods_per_year
        return {
            "data": self.span + (", made from prices" if self.kind == "prices" else ""),
            "scale": self.convention,
            "annualised": f"mean × {q:g}, volatility and Sharpe ratio × √{q:g}; RSSR is per period",
            "risk-free rate": f"{self.risk_free:.4g} a year, {self.risk_free_per_period:.4g} per period",
            "RSSR": f"signed, L = {self.L:.4g} (variance per period)",
            "intervals": f"{100 * self.confidence:g}%, stationary bootstrap: {self.replications:,} resamples, blocks "
            f"of {self.block:.3g} rows on average, seed {self.seed}",
            "trials": self._trials(),
            **({"data preparation": "; ".join(self.notes)} if self.notes else {}),
        }

    def _trials(self) -> str:
        """What the deflated Sharpe ratio takes the trials to be, in words."""
        chosen, given = self.selection, len(self.columns)
        if chosen.trials == 1:
            return "1"
        annual = {
            key: float(statistics.annualised(math.sqrt(getattr(chosen, key)), self.periods_per_year))
            for key in ("variance", "given", "sampling")
        }
        rest = chosen.trials - given
        aside = f" ({rest:,} not given, taken to be independent)" if rest else ""
        if self.given_sd is not None:
            source = "as given"
        elif chosen.given > chosen.sampling:
            source = f"as among the columns; chance alone makes it {annual['sampling']:.2f}"
        else:
            source = f"by chance alone; among the columns it is {annual['given']:.2f}"
        return (
            f"{chosen.trials:,}{aside}, as good as {chosen.effective:.3g} independent ones by their average "
            f"correlation of {chosen.correlation:.2f}; annualised Sharpe ratios among them scatter by "
            f"{annual['variance']:.2f} ({source})"
        )

    def tables(self) -> list[tuple[list[str], list[list[str]]]]:
        """What is shown, as text: two tables, each with its heads and its rows."""
        interval = f"{100 * self.confidence:g}% interval"
        d = console.decimals(float(statistics.annualised(self.sharpe_error, self.periods_per_year)), least=1)
        first = console.decimals(100 * max(math.sqrt(c.best * (1 - c.best) / self.replications) for c in self.columns))
        ratios = [
            [
                c.name, f"{c.annual_sharpe:.{d}f}", f"[{c.annual_sharpe_low:.{d}f}, {c.annual_sharpe_high:.{d}f}]",
                f"{c.annual_se_hac:.{d}f}", f"{c.annual_se:.{d}f}", f"{c.psr:.3f}", f"{c.dsr:.3f}",
                f"{c.best:.{first}%}",
            ]
            for c in self.columns
        ]  # fmt: skip
        e = console.decimals(self.rssr_error, most=12)
        others = [
            [
                c.name, f"{c.annual_mean:.2%}", f"{c.annual_volatility:.2%}", f"{c.drawdown:.1%}", f"{c.sharpe:.4f}",
                f"{c.rssr:.3g}", f"[{c.rssr_low:.{e}f}, {c.rssr_high:.{e}f}]",
            ]
            for c in self.columns
        ]  # fmt: skip
        return [
            (["", "annualised Sharpe", interval, "s.e.", "s.e. iid", "PSR", "DSR", "ranked first"], ratios),
            (
                ["", "annualised mean", "annualised volatility", "max drawdown", "Sharpe per period", "RSSR", interval],
                others,
            ),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        expected = {"expected_maximum": self.selection.expected_maximum}
        return {**asdict(self), **expected, "annual_expected_maximum": self.annual_expected_maximum}

    def save(self, folder: str | Path) -> None:
        """Write ``ranking.csv``, ``.json``, ``.svg``, ``.png`` and ``.html``; needs the extra ``report``."""
        from ..report.ranking import save

        save(self, Path(folder))

    def __rich__(self) -> RenderableType:
        return console.results(self.tables(), self.summary, self.settings(), self.remarks)

    def __str__(self) -> str:
        return console.as_text(self)


def rank(
    returns: Returns,
    *,
    L: float | None = None,
    risk_free: float = 0.0,
    risk_free_per_period: float | None = None,
    by: str = "sharpe",
    trials: int | None = None,
    trials_sd: float | None = None,
    confidence: float = 0.95,
    replications: int = 2000,
    block: float | None = None,
    seed: int = 0,
) -> Ranking:
    """Rank the columns of returns, with intervals and with the best of many deflated.

    Parameters
    ----------
    returns : from :func:`read_returns`
    L : regulariser of RSSR, in the unit of variance per period; by default a tenth of the smallest variance of a column
    risk_free : annual rate, 0.02 for 2%
    risk_free_per_period : the rate per period, instead of the annual one
    by : "sharpe" or "rssr"
    trials : how many strategies were tried, those thrown away included; by default the columns, which are then taken to
        be all of them. How far they resemble one another is estimated from the columns (:func:`statistics.selection`)
    trials_sd : standard deviation of annualised Sharpe ratios among all trials, if it is known
    confidence : of the intervals
    replications, seed : of the bootstrap
    block : mean block length in rows; by default chosen from the data
    """
    if not isinstance(returns, Returns):
        raise InvalidInputError(f"returns must come from read_returns, got {type(returns).__name__}")
    one_of("by", by, ("sharpe", "rssr"))
    rate = statistics.risk_free_rate(risk_free, risk_free_per_period, returns.periods_per_year)
    inside("confidence", confidence)
    least = math.ceil(round(2 / (1 - confidence), 6))  # one beyond each end
    if whole("replications", replications, 2) < least:
        raise InvalidInputError(
            f"{replications} resamples say too little of the ends of a {confidence:.4g} interval; take at least {least}"
        )
    whole("seed", seed, 0)
    x, q = returns.values, returns.periods_per_year
    known = None if trials_sd is None else positive("trials_sd", trials_sd) ** 2 / q
    selection = statistics.selection(x, trials, known, rate)
    mean, variance = x.mean(axis=0), x.var(axis=0, ddof=1)
    objective = RSSR(usual_regulariser(variance) if L is None else L, rate, signed=True)
    block = block_length(x, rate) if block is None else check_block(block, len(x))
    resampled = list(_resamples(returns, block, replications, seed))
    means, variances = (np.concatenate(parts) for parts in zip(*resampled, strict=True))
    drawn = {"sharpe": (means - rate) / np.sqrt(variances), "rssr": objective.value(means, variances)}
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = ({key: np.quantile(values, end, axis=0) for key, values in drawn.items()} for end in ends)
    errors = {key: max(_quantile_error(values, end) for end in ends) for key, values in drawn.items()}
    first = np.bincount(drawn[by].argmax(axis=1), minlength=x.shape[1])

    sharpe, se = statistics.sharpe(x, rate), statistics.sharpe_se(x, rate)
    numbers = {
        "mean": mean, "volatility": np.sqrt(variance), "annual_mean": mean * q,
        "annual_volatility": np.sqrt(variance * q), "drawdown": statistics.drawdown(x), "sharpe": sharpe,
        "sharpe_low": low["sharpe"], "sharpe_high": high["sharpe"], "se": se,
        "se_hac": statistics.sharpe_se_hac(x, rate), "rssr": objective.value(mean, variance),
        "rssr_low": low["rssr"], "rssr_high": high["rssr"], "psr": statistics.probabilistic_sharpe(sharpe, se),
        "dsr": statistics.deflated_sharpe(sharpe, se, trials=selection.trials, variance=selection.variance),
    }  # fmt: skip
    for key in ("sharpe", "sharpe_low", "sharpe_high", "se", "se_hac"):
        numbers[f"annual_{key}"] = statistics.annualised(numbers[key], q)
    shares = [wilson(int(count), replications, confidence) for count in first]
    order = np.argsort(-np.asarray(numbers[by]), kind="stable")
    columns = tuple(
        Ranked(
            name=returns.names[k],
            **{key: float(values[k]) for key, values in numbers.items()},
            best=shares[k].mean, best_low=shares[k].low, best_high=shares[k].high,
        )
        for k in order
    )  # fmt: skip
    return Ranking(
        columns, by, objective.L, statistics.per_year(rate, q), rate, float(confidence), replications, block, seed,
        selection, trials_sd, errors["sharpe"], errors["rssr"], q, returns.kind, returns.span, returns.convention,
        returns.notes, returns.remarks,
    )  # fmt: skip


def _quantile_error(values: np.ndarray, end: float) -> float:
    """Standard error of a quantile of resamples (rows), the largest of the columns: by the quantiles beside it."""
    step = math.sqrt(end * (1 - end) / len(values))
    below, above = np.quantile(values, np.clip([end - step, end + step], 0, 1), axis=0)
    return float((above - below).max()) / 2


def _confidence(p: float) -> str:
    return "over 99.9%" if p > 0.999 else f"{p:.1%}"


def _bootstrap() -> Any:
    require("arch", "ranking", "data")
    from arch import bootstrap

    return bootstrap


def check_block(block: float, rows: int) -> float:
    """``block`` as a float, if it is a mean block length for so many rows."""
    if not 1 <= real(block) <= rows:
        raise InvalidInputError(f"block, the mean length of a block, must be from 1 to the {rows} rows, got {block!r}")
    return float(block)


def block_length(x: np.ndarray, risk_free_per_period: float = 0.0) -> float:
    """Mean block length for all columns at once: the median of those that suit each [2, 3]."""
    bootstrap = _bootstrap()
    if len(x) < LEAST_FOR_BLOCKS:
        raise InvalidInputError(
            f"{len(x)} returns are too few to choose the block length from (at least {LEAST_FOR_BLOCKS}); "
            "pass block= (--block), 1 if returns are independent"
        )
    lengths = bootstrap.optimal_block_length(statistics.influence(x, risk_free_per_period))["stationary"]
    return float(np.clip(np.nanmedian(lengths), 1, len(x)))


def resampled_rows(generator: np.random.Generator, rows: int, length: int, block: float) -> np.ndarray:
    """Rows of one resample of the stationary bootstrap, ``length`` of them, from so many that wrap round at the end."""
    begins = generator.random(length) < 1 / block
    begins[0] = True
    at = np.flatnonzero(begins)
    starts = generator.integers(rows, size=len(at))
    return np.asarray((np.repeat(starts - at, np.diff(np.append(at, length))) + np.arange(length)) % rows)


def _resamples(returns: Returns, block: float, replications: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Means and variances of resamples (rows) of every column, some resamples at a time."""
    x = returns.values
    n = len(x)
    centre = x.mean(axis=0)
    away = x - centre
    draws = _bootstrap().StationaryBootstrap(block, np.arange(n), seed=seed).bootstrap(replications)
    for start in range(0, replications, _BATCH):
        size = min(_BATCH, replications - start)
        counts = np.array([np.bincount(next(draws)[0][0], minlength=n) for _ in range(size)], float)
        means = counts @ away / n
        variances = (counts @ away**2 / n - means**2) * n / (n - 1)
        flat = variances <= _FLAT * away.var(axis=0)
        if flat.any():
            column = int(flat.any(axis=0).argmax())
            raise InvalidInputError(
                f"column {returns.names[column]!r} varies so rarely that a resample of it does not vary at all; "
                "leave it out with columns= (--columns), or give more rows"
            )
        yield centre + means, variances
