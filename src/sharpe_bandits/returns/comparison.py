"""Is one column better than another? Differences of Sharpe ratios, and tests corrected for multiple comparisons.

All comparisons are of Sharpe ratios. The series SR + influence(return) has the Sharpe ratio as its mean, and its
long-run variance determines the standard error of the estimated Sharpe ratio. The model confidence set and the test for
superior predictive ability are defined for mean losses; they are applied to the negative of this series.

References
----------
.. [1] O. Ledoit and M. Wolf (2008). Robust performance hypothesis testing with the Sharpe ratio. J. Empirical Finance
       15(5).
.. [2] P. R. Hansen (2005). A test for superior predictive ability. J. Business & Economic Statistics 23(4).
.. [3] P. R. Hansen, A. Lunde and J. M. Nason (2011). The model confidence set. Econometrica 79(2).
.. [4] Y. Benjamini and D. Yekutieli (2001). The control of the false discovery rate in multiple testing under
       dependency. Annals of Statistics 29(4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from .. import console
from ..display import Findings, Shown, Table
from ..errors import InvalidInputError, unknown
from ..validation import check_keywords, inside, whole
from . import statistics
from .ranking import CSCV_BLOCKS, SHOWN, false_discovery_rates
from .resampling import arch_bootstrap, block_length, check_block, resampled_counts, resampled_moments
from .table import Returns, read_returns, table_of

#: Up to this many columns, all pairs are compared; with more, the best column is compared with every other.
ALL_PAIRS = 15
#: Minimum number of rows common to all columns for joint tests.
LEAST_COMMON = 2 * CSCV_BLOCKS


@dataclass(frozen=True)
class Difference:
    """The Sharpe ratio of one column minus that of another, over the rows that both have; annualised.

    Attributes
    ----------
    first, second : str
        the columns
    rows : int
        number of rows that both have
    annual_difference, annual_se : float
        the difference and its standard error, which allows for correlation of the two and for autocorrelation
    p, p_bootstrap : float
        two-sided p-values: from that standard error (Ledoit and Wolf), and from the stationary bootstrap
    fdr : float
        smallest false discovery rate at which the difference is significant among all differences (Benjamini and
        Yekutieli's adjusted p-value)
    """

    first: str
    second: str
    rows: int
    annual_difference: float
    annual_se: float
    p: float
    p_bootstrap: float
    fdr: float


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """Differences between columns, and their significance.

    Attributes
    ----------
    differences : tuple[Difference, ...]
        one per pair, the smallest p first
    against : str | None
        the column that the others are compared with; None if all pairs are compared, or the best with every other
    confidence_set : dict[str, float]
        p-value of each column in the model confidence set; columns with at least 1 - ``confidence`` are in the set,
        which contains the best column with that confidence. Empty if there are too few common rows
    superior : dict[str, float]
        p-values "lower", "consistent" and "upper" of the test for superior predictive ability. Its null hypothesis is
        that no column has a larger Sharpe ratio than ``against`` (than 0 if that is None). Empty as above
    pbo : float | None
        probability of backtest overfitting, see :func:`statistics.backtest_overfitting`
    common : int
        number of rows that all columns have
    confidence, replications, block, seed : float and int
        confidence level of the model confidence set, and settings of the bootstrap
    remarks : tuple[str, ...]
        possible problems with the returns, each with its remedy

    Examples
    --------
    >>> import numpy as np
    >>> import sharpe_bandits as sb
    >>> rng = np.random.default_rng(1)
    >>> returns = {"A": rng.normal(0.001, 0.01, 500), "B": rng.normal(0, 0.01, 500)}
    >>> comparison = sb.compare(returns, kind="returns", periods_per_year=252, replications=200)
    >>> [(difference.first, difference.second) for difference in comparison.differences]
    [('A', 'B')]
    """

    differences: tuple[Difference, ...]
    against: str | None
    confidence_set: dict[str, float]
    superior: dict[str, float]
    pbo: float | None
    common: int
    confidence: float
    replications: int
    block: float
    seed: int
    risk_free_per_period: float
    remarks: tuple[str, ...]
    returns: Returns = field(repr=False)

    @property
    def included(self) -> list[str]:
        """Columns in the model confidence set, the largest p-value first."""
        kept = [name for name, p in self.confidence_set.items() if p >= 1 - self.confidence]
        return sorted(kept, key=lambda name: -self.confidence_set[name])

    @property
    def conclusion(self) -> str:
        """Interpretation of the results in a few sentences."""
        level = 1 - self.confidence
        clear = [d for d in self.differences if d.fdr <= level]
        text = (
            f"{len(clear)} of {len(self.differences)} differences of Sharpe ratios are significant at a false "
            f"discovery rate of {level:.0%}; {sum(d.p <= level for d in self.differences)} without correction for "
            "multiple testing."
        )
        if self.confidence_set:
            few = self.included[:SHOWN]
            more = f" and {len(self.included) - SHOWN} more" * (len(self.included) > SHOWN)
            text += (
                f" With {self.confidence:.0%} confidence the best column is among {len(self.included)} of "
                f"{len(self.confidence_set)}: {', '.join(few)}{more} (model confidence set)."
            )
            than = f"than that of {self.against}" if self.against else "than 0"
            text += (
                f" The hypothesis that no column has a Sharpe ratio larger {than} has p = "
                f"{self._resampled(self.superior['consistent'])} (test for superior predictive ability)."
            )
        else:
            text += (
                f" The columns have only {self.common} rows in common: too few for a model confidence set (at least "
                f"{LEAST_COMMON})."
            )
        if self.pbo is not None:
            text += f" The probability of backtest overfitting is {self.pbo:.0%}."
        return text

    def settings(self) -> dict[str, str]:
        """The settings that all numbers depend on, in words."""
        return {
            "data": self.returns.span,
            "scale": self.returns.convention,
            "evaluated": self.returns.hurdle.words
            if self.returns.hurdle
            else f"returns minus {self.risk_free_per_period:.4g} per period",
            "bootstrap": f"stationary, {self.replications:,} resamples, blocks of {self.block:.3g} rows on average, "
            f"seed {self.seed}",
            "common rows": f"{self.common:,} that all columns have; a difference uses the rows that both columns have",
            **({"data preparation": "; ".join(self.returns.notes)} if self.returns.notes else {}),
        }

    def tables(self, max_rows: int | None = None) -> list[console.Cells]:
        """The tables that are shown, as text; at most ``max_rows`` rows each."""
        pairs = [
            [
                f"{d.first} − {d.second}", *self._or_dash(d), f"{d.p:.3f}",
                self._resampled(d.p_bootstrap), f"{d.fdr:.3f}", f"{d.rows:,}",
            ]
            for d in self.differences[:max_rows]
        ]  # fmt: skip
        heads = ["", "annualised difference", "s.e.", "p", "p bootstrap", "FDR", "rows"]
        order = sorted(self.confidence_set.items(), key=lambda item: -item[1])
        kept = [
            [name, self._resampled(p), "yes" if name in set(self.included) else "no"] for name, p in order[:max_rows]
        ]
        shown: list[console.Cells] = [(heads, pairs)]
        return shown + ([(["", "p", "in the model confidence set"], kept)] if kept else [])

    def _or_dash(self, d: Difference) -> tuple[str, str]:
        """A difference and its standard error; dashes where the columns share too few rows."""
        known = not math.isnan(d.annual_difference)
        return (f"{d.annual_difference:+z.2f}", f"{d.annual_se:.2f}") if known else ("–", "–")

    def _resampled(self, p: float) -> str:
        """A bootstrap p-value, rounded to the digits that other seeds would not change."""
        error = max(math.sqrt(p * (1 - p) / self.replications), 1 / self.replications)
        return f"{p:.{console.decimals(error, least=2, most=3 if p < 0.5 else 2)}f}"

    @property
    def table(self) -> Table:
        """The differences, a row per pair; ``to_pandas()`` converts it to a frame."""
        return Table.of([asdict(difference) for difference in self.differences])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without the returns."""
        words = {key: getattr(self, key) for key in self.__dataclass_fields__ if key != "returns"}
        pairs = [{key: None if value != value else value for key, value in asdict(d).items()} for d in self.differences]
        return {**words, "differences": pairs, "summary": self.conclusion}

    def report(self, folder: str | Path) -> Path:
        """Write ``comparison.html``, ``.csv`` and ``.json``; needs the extra ``report``. Returns the page's path."""
        from ..report.comparison import write

        return write(self, Path(folder))

    def findings(self) -> Findings:
        return Findings(self.remarks, self.tables(SHOWN), self.conclusion, self.settings())


@check_keywords(read_returns)
def compare(
    source: Any,
    *,
    against: str | None = None,
    risk_free: float = 0.0,
    risk_free_per_period: float | None = None,
    confidence: float = 0.95,
    replications: int = 1000,
    block: float | None = None,
    seed: int = 0,
    **reading: Any,
) -> Comparison:
    """Compare the Sharpe ratios of columns: pairwise, and jointly.

    Parameters
    ----------
    source : Any
        returns from :func:`read_returns`; or a file, frame or other table, with options of that function
    against : str | None, optional
        the column that all others are compared with; by default all pairs are compared, or, with more than 15 columns,
        the one with the largest Sharpe ratio and every other
    confidence : float, optional
        confidence level of the model confidence set
    risk_free, risk_free_per_period, replications, block, seed, **reading : float and float | None and int and Any
        as for :func:`rank`

    Examples
    --------
    >>> import numpy as np
    >>> import sharpe_bandits as sb
    >>> rng = np.random.default_rng(1)
    >>> returns = {"A": rng.normal(0.002, 0.01, 500), "B": rng.normal(-0.002, 0.01, 500)}
    >>> comparison = sb.compare(returns, kind="returns", periods_per_year=252, replications=200)
    >>> sorted(comparison.confidence_set)
    ['A', 'B']
    """
    returns = table_of(source, reading)
    names = returns.names
    if len(names) < 2:
        raise InvalidInputError(f"a comparison needs at least two columns, but there is only {names[0]!r}")
    if against is not None and not (isinstance(against, str) and against in names):
        raise unknown("column", against, names)
    rate = returns.rate(risk_free, risk_free_per_period)
    inside("confidence", confidence)
    whole("replications", replications, 100)
    whole("seed", seed, 0)
    x = returns.excess
    block = block_length(x, rate) if block is None else check_block(block, len(x))
    ratios = statistics.by_column(lambda own: statistics.sharpe(own, rate), x)
    pairs = _pairs(ratios, None if against is None else names.index(against))
    found = _differences(x, pairs, rate, block, replications, seed)
    fdr = false_discovery_rates([row[3] for row in found], "by")
    root = math.sqrt(returns.periods_per_year)
    differences = [
        Difference(names[i], names[j], rows, root * difference, root * se, p, resampled, float(rate_of_false))
        for (i, j), (rows, difference, se, p, resampled), rate_of_false in zip(pairs, found, fdr, strict=True)
    ]
    common = x[~np.isnan(x).any(axis=1)]
    confidence_set, superior, pbo = {}, {}, None
    if len(common) >= LEAST_COMMON:
        parts = statistics.sharpe(common, rate) + statistics.influence(common, rate)
        how = {"reps": replications, "block_size": max(round(block), 1), "bootstrap": "stationary", "seed": seed}
        confidence_set = _confidence_set(-parts, names, how)
        superior = _superior(-parts, None if against is None else names.index(against), how)
        pbo = statistics.backtest_overfitting(common, rate, CSCV_BLOCKS)
    return Comparison(
        tuple(sorted(differences, key=lambda d: d.p)), against, confidence_set, superior, pbo, len(common),
        float(confidence), replications, block, seed, rate, returns.remarks, returns,
    )  # fmt: skip


def _pairs(ratios: np.ndarray, against: int | None) -> list[tuple[int, int]]:
    """Pairs of columns to compare, the larger Sharpe ratio first."""
    if against is not None:
        return [(k, against) for k in range(len(ratios)) if k != against]
    order = np.argsort(-ratios, kind="stable").tolist()
    if len(order) <= ALL_PAIRS:
        return list(combinations(order, 2))
    return [(order[0], k) for k in order[1:]]


def _differences(
    x: np.ndarray, pairs: Sequence[tuple[int, int]], rate: float, block: float, replications: int, seed: int
) -> list[tuple[int, float, float, float, float]]:
    """Rows, difference, standard error and the two p-values of every pair."""
    from scipy.special import ndtr

    counts = np.concatenate(list(resampled_counts(len(x), block, replications, seed)))
    complete = not np.isnan(x).any()
    drawn = _ratios(x, counts, rate) if complete else np.empty(0)
    found = []
    for i, j in pairs:
        shared = ~np.isnan(x[:, i]) & ~np.isnan(x[:, j])
        if shared.sum() < 3:
            found.append((int(shared.sum()), math.nan, math.nan, 1.0, 1.0))
            continue
        both = x[shared][:, [i, j]]
        difference, se = statistics.sharpe_difference(both[:, 0], both[:, 1], rate)
        of_pair = drawn[:, [i, j]] if complete else _ratios(both, counts[:, shared], rate)
        resampled = of_pair[:, 0] - of_pair[:, 1]
        extreme = np.abs(resampled - difference) >= abs(difference)
        p = 2 * float(ndtr(-abs(difference) / se)) if se > 0 else float(difference == 0)
        found.append((int(shared.sum()), difference, se, p, float((1 + extreme.sum()) / (1 + replications))))
    return found


def _ratios(x: np.ndarray, counts: np.ndarray, rate: float) -> np.ndarray:
    means, variances = resampled_moments(x, counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((means - rate) / np.sqrt(variances))


def _confidence_set(losses: np.ndarray, names: Sequence[str], how: dict[str, Any]) -> dict[str, float]:
    """p-values of the columns [3] with the maximum statistic, whose cost is linear in the number of columns."""
    test = arch_bootstrap().MCS(losses, 0.05, method="max", **how)
    test.compute()
    found = {int(k): float(p) for k, p in test.pvalues["Pvalue"].items()}
    return {names[k]: found[k] for k in np.argsort(losses.mean(axis=0), kind="stable").tolist()}


def _superior(losses: np.ndarray, against: int | None, how: dict[str, Any]) -> dict[str, float]:
    """p-values of the hypothesis that no column is better than ``against``, or than cash if that is None [2]."""
    benchmark = np.zeros(len(losses)) if against is None else losses[:, against]
    others = losses if against is None else np.delete(losses, against, axis=1)
    test = arch_bootstrap().SPA(benchmark, others, **how)
    test.compute()
    return {str(kind): float(p) for kind, p in test.pvalues.items()}
