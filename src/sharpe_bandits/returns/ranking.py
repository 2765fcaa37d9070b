"""Columns of returns ranked by Sharpe ratio or RSSR, with what is needed not to over-believe the first.

Intervals are from the stationary bootstrap [1], which resamples blocks of rows, of random length, from all columns at
once: dependence over time and between columns stays. Its mean block length is chosen for the influence function of the
Sharpe ratio [2, 3], the largest of the columns. Needs arch (the extra ``data``).

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
from ..errors import InvalidInput, SharpeBanditsError
from ..metrics import wilson
from ..objectives import RSSR, usual_regulariser
from ..validation import finite, inside, one_of, real, whole
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
    risk_free : rate per period
    confidence : of the intervals
    replications, block, seed : resamples, their mean block length in rows, and their seed
    trials : how many were tried, for the deflated Sharpe ratio
    expected_maximum : Sharpe ratio per period to expect of the best of so many without skill
    periods_per_year, kind, span, convention, notes : of the returns, see :class:`Returns`
    """

    columns: tuple[Ranked, ...]
    by: str
    L: float
    risk_free: float
    confidence: float
    replications: int
    block: float
    seed: int
    trials: int
    expected_maximum: float
    periods_per_year: float
    kind: str
    span: str
    convention: str
    notes: tuple[str, ...]

    def __getitem__(self, name: str) -> Ranked:
        """The column of this name."""
        from ..errors import unknown

        for column in self.columns:
            if column.name == name:
                return column
        raise unknown("column", name, [column.name for column in self.columns])

    @property
    def annual_expected_maximum(self) -> float:
        """Annualised Sharpe ratio to expect of the best of so many trials without skill."""
        return float(statistics.annualised(self.expected_maximum, self.periods_per_year))

    @property
    def summary(self) -> str:
        """What to make of it, in a few sentences."""
        first = self.columns[0]
        what = "Sharpe ratio" if self.by == "sharpe" else "RSSR"
        said = f"{first.name} has the largest {what}, and had it in {first.best:.0%} of the resamples."
        if self.trials > 1:
            said += (
                f" The best of {self.trials} without skill would show a Sharpe ratio of "
                f"{self.annual_expected_maximum:.2f} a year; {first.name} shows {first.annual_sharpe:.2f}. That it is "
                f"above 0 has a confidence of {_confidence(first.dsr)} in spite of the choice (deflated Sharpe ratio), "
                f"{_confidence(first.psr)} if it had been the only one."
            )
        else:
            said += f" That its Sharpe ratio is above 0 has a confidence of {_confidence(first.psr)}."
        return said

    def settings(self) -> dict[str, str]:
        """What every number depends on, in words."""
        q = self.periods_per_year
        return {
            "data": self.span + (", made from prices" if self.kind == "prices" else ""),
            "scale": self.convention,
            "annualised": f"mean × {q:g}, volatility and Sharpe ratio × √{q:g}; RSSR is per period",
            "risk-free rate": f"{statistics.per_year(self.risk_free, q):.4g} a year, {self.risk_free:.4g} per period",
            "RSSR": f"signed, L = {self.L:.4g} (variance per period)",
            "intervals": f"{100 * self.confidence:g}%, stationary bootstrap: {self.replications:,} resamples, blocks "
            f"of {self.block:.3g} rows on average, seed {self.seed}",
            "trials": f"{self.trials}, taken to be independent",
            **({"on the way in": "; ".join(self.notes)} if self.notes else {}),
        }

    def tables(self) -> list[tuple[list[str], list[list[str]]]]:
        """What is shown, as text: two tables, each with its heads and its rows."""
        interval = f"{100 * self.confidence:g}% interval"
        ratios = [
            [
                c.name, f"{c.annual_sharpe:.3f}", f"[{c.annual_sharpe_low:.3f}, {c.annual_sharpe_high:.3f}]",
                f"{c.annual_se_hac:.3f}", f"{c.annual_se:.3f}", f"{c.psr:.3f}", f"{c.dsr:.3f}", f"{c.best:.1%}",
            ]
            for c in self.columns
        ]  # fmt: skip
        others = [
            [
                c.name, f"{c.annual_mean:.2%}", f"{c.annual_volatility:.2%}", f"{c.drawdown:.1%}", f"{c.sharpe:.4f}",
                f"{c.rssr:.3g}", f"[{c.rssr_low:.3g}, {c.rssr_high:.3g}]",
            ]
            for c in self.columns
        ]  # fmt: skip
        return [
            (["", "Sharpe a year", interval, "s.e.", "s.e. iid", "PSR", "DSR", "first in"], ratios),
            (["", "mean a year", "volatility", "drawdown", "Sharpe per period", "RSSR", interval], others),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "annual_expected_maximum": self.annual_expected_maximum}

    def save(self, folder: str | Path) -> None:
        """Write ``ranking.csv``, ``.json``, ``.svg``, ``.png`` and ``.html``; needs the extra ``report``."""
        from ..report.ranking import save

        save(self, Path(folder))

    def __rich__(self) -> RenderableType:
        return console.results(self.tables(), self.summary, self.settings())

    def __str__(self) -> str:
        return console.as_text(self)


def rank(
    returns: Returns,
    *,
    L: float | None = None,
    risk_free: float = 0.0,
    by: str = "sharpe",
    trials: int | None = None,
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
    risk_free : rate per period (see :func:`statistics.per_period`)
    by : "sharpe" or "rssr"
    trials : how many strategies were tried, those thrown away included; by default the columns, which are then taken to
        be all of them, and independent of each other
    confidence : of the intervals
    replications, seed : of the bootstrap
    block : mean block length in rows; by default chosen from the data
    """
    if not isinstance(returns, Returns):
        raise InvalidInput(f"returns must come from read_returns, got {type(returns).__name__}")
    one_of("by", by, ("sharpe", "rssr"))
    finite("risk_free", risk_free)
    inside("confidence", confidence)
    least = math.ceil(round(2 / (1 - confidence), 6))  # one beyond each end
    if whole("replications", replications, 2) < least:
        raise InvalidInput(
            f"{replications} resamples say too little of the ends of a {confidence:.4g} interval; take at least {least}"
        )
    whole("seed", seed, 0)
    x, q = returns.values, returns.periods_per_year
    trials = x.shape[1] if trials is None else whole("trials", trials, x.shape[1])
    if trials > 1 and x.shape[1] == 1:
        raise InvalidInput(
            f"trials={trials} of which one is given: the deflated Sharpe ratio needs the spread of Sharpe ratios "
            "among trials; give returns of the others too"
        )
    mean, variance = x.mean(axis=0), x.var(axis=0, ddof=1)
    objective = RSSR(usual_regulariser(variance) if L is None else L, risk_free, signed=True)
    block = _block_length(x, risk_free) if block is None else _block(block, len(x))
    resampled = list(_resamples(returns, block, replications, seed))
    means, variances = (np.concatenate(parts) for parts in zip(*resampled, strict=True))
    drawn = {"sharpe": (means - risk_free) / np.sqrt(variances), "rssr": objective.value(means, variances)}
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = ({key: np.quantile(values, end, axis=0) for key, values in drawn.items()} for end in ends)
    first = np.bincount(drawn[by].argmax(axis=1), minlength=x.shape[1])

    sharpe, se = statistics.sharpe(x, risk_free), statistics.sharpe_se(x, risk_free)
    spread = float(np.var(sharpe, ddof=1)) if len(sharpe) > 1 else 0.0
    numbers = {
        "mean": mean, "volatility": np.sqrt(variance), "annual_mean": mean * q,
        "annual_volatility": np.sqrt(variance * q), "drawdown": statistics.drawdown(x), "sharpe": sharpe,
        "sharpe_low": low["sharpe"], "sharpe_high": high["sharpe"], "se": se,
        "se_hac": statistics.sharpe_se_hac(x, risk_free), "rssr": objective.value(mean, variance),
        "rssr_low": low["rssr"], "rssr_high": high["rssr"], "psr": statistics.probabilistic_sharpe(sharpe, se),
        "dsr": statistics.deflated_sharpe(sharpe, se, trials=trials, variance=spread),
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
        columns, by, objective.L, float(risk_free), float(confidence), replications, block, seed, trials,
        statistics.expected_maximum(trials, spread), q, returns.kind, returns.span, returns.convention, returns.notes,
    )  # fmt: skip


def _confidence(p: float) -> str:
    return "over 99.9%" if p > 0.999 else f"{p:.1%}"


def _bootstrap() -> Any:
    try:
        from arch import bootstrap
    except ImportError:
        raise SharpeBanditsError(
            "ranking needs arch, which is not installed; install it with: pip install 'sharpe-bandits[data]'"
        ) from None
    return bootstrap


def _block(block: float, rows: int) -> float:
    if not 1 <= real(block) <= rows:
        raise InvalidInput(f"block, the mean length of a block, must be from 1 to the {rows} rows, got {block!r}")
    return float(block)


def _block_length(x: np.ndarray, risk_free: float) -> float:
    bootstrap = _bootstrap()
    if len(x) < LEAST_FOR_BLOCKS:
        raise InvalidInput(
            f"{len(x)} returns are too few to choose the block length from (at least {LEAST_FOR_BLOCKS}); "
            "pass block= (--block), 1 if returns are independent"
        )
    lengths = bootstrap.optimal_block_length(statistics.influence(x, risk_free))["stationary"]
    return float(np.clip(np.nanmax(lengths), 1, len(x)))


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
            raise InvalidInput(
                f"column {returns.names[column]!r} varies so rarely that a resample of it does not vary at all; "
                "leave it out with columns= (--columns), or give more rows"
            )
        yield centre + means, variances
