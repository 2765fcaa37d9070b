"""Is one column better than another? Differences of Sharpe ratios, and tests corrected for multiple comparisons.

All of it is about the Sharpe ratio, of which every return is one part: SR + influence(return) has the Sharpe ratio for
its mean, and the long-run variance of the Sharpe ratio's estimate for its own. The model confidence set and the test
for superior predictive ability, made for mean losses, are given these parts with their sign turned.

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

#: Every pair is compared up to so many columns; more are compared with the first alone.
ALL_PAIRS = 15
#: Rows that all columns have, which tests of all columns at once need at least.
LEAST_COMMON = 2 * CSCV_BLOCKS


@dataclass(frozen=True)
class Difference:
    """The Sharpe ratio of one column minus that of another, over the rows that both have; annualised.

    Attributes
    ----------
    first, second : str
        the columns
    rows : int
        that both have
    annual_difference, annual_se : float
        and its standard error, which allows for both moving together and autocorrelation
    p, p_bootstrap : float
        two-sided p-values: by that error (Ledoit and Wolf), and by the stationary bootstrap
    fdr : float
        smallest false discovery rate at which the difference counts as one among all that are shown (Benjamini and
        Yekutieli's adjusted p)
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
        of pairs, the smallest p first
    against : str | None
        what others are compared with: a column, or None if all pairs or the best and all others are
    confidence_set : dict[str, float]
        the p-value of each column in the model confidence set; those of at least 1 - ``confidence`` are in the set that
        holds the best column with that confidence. Empty where there are too few common rows
    superior : dict[str, float]
        p-values of the test for superior predictive ability, "lower", "consistent" and "upper": of the hypothesis that
        no column has a larger Sharpe ratio than ``against`` (than 0 without it). Empty as above
    pbo : float | None
        probability of backtest overfitting, see :func:`statistics.backtest_overfitting`
    common : int
        rows that all columns have
    confidence, replications, block, seed : float and int
        of the bootstrap
    remarks : tuple[str, ...]
        doubts about the returns, each with its remedy

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
        """Columns in the model confidence set, the likeliest first."""
        kept = [name for name, p in self.confidence_set.items() if p >= 1 - self.confidence]
        return sorted(kept, key=lambda name: -self.confidence_set[name])

    @property
    def conclusion(self) -> str:
        """What to make of it, in a few sentences."""
        level = 1 - self.confidence
        clear = [d for d in self.differences if d.fdr <= level]
        said = (
            f"{len(clear)} of {len(self.differences)} differences of Sharpe ratios are significant at a false "
            f"discovery rate of {level:.0%}; {sum(d.p <= level for d in self.differences)} without correction for "
            "multiple testing."
        )
        if self.confidence_set:
            few = self.included[:SHOWN]
            more = f" and {len(self.included) - SHOWN} more" * (len(self.included) > SHOWN)
            said += (
                f" With {self.confidence:.0%} confidence the best column is among {len(self.included)} of "
                f"{len(self.confidence_set)}: {', '.join(few)}{more} (model confidence set)."
            )
            than = f"than that of {self.against}" if self.against else "than 0"
            said += (
                f" The hypothesis that no column has a Sharpe ratio larger {than} has p = "
                f"{self._resampled(self.superior['consistent'])} (test for superior predictive ability)."
            )
        else:
            said += (
                f" All columns have only {self.common} rows in common: too few for a model confidence set (at least "
                f"{LEAST_COMMON})."
            )
        if self.pbo is not None:
            said += f" The probability of backtest overfitting is {self.pbo:.0%}."
        return said

    def settings(self) -> dict[str, str]:
        """What every number depends on, in words."""
        return {
            "data": self.returns.span,
            "scale": self.returns.convention,
            "judged": self.returns.hurdle.words
            if self.returns.hurdle
            else f"returns minus {self.risk_free_per_period:.4g} per period",
            "bootstrap": f"stationary, {self.replications:,} resamples, blocks of {self.block:.3g} rows on average, "
            f"seed {self.seed}",
            "common rows": f"{self.common:,} that all columns have; differences are over those that both have",
            **({"data preparation": "; ".join(self.returns.notes)} if self.returns.notes else {}),
        }

    def tables(self, max_rows: int | None = None) -> list[console.Cells]:
        """What is shown, as text; ``max_rows`` rows each."""
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
        """A bootstrap p-value, rounded to what another seed would not change."""
        error = max(math.sqrt(p * (1 - p) / self.replications), 1 / self.replications)
        return f"{p:.{console.decimals(error, least=2, most=3 if p < 0.5 else 2)}f}"

    @property
    def table(self) -> Table:
        """The differences, a row per pair; becomes a frame with ``to_pandas()``."""
        return Table.of([asdict(difference) for difference in self.differences])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without the returns."""
        words = {key: getattr(self, key) for key in self.__dataclass_fields__ if key != "returns"}
        pairs = [{key: None if value != value else value for key, value in asdict(d).items()} for d in self.differences]
        return {**words, "differences": pairs, "summary": self.conclusion}

    def report(self, folder: str | Path) -> Path:
        """Write ``comparison.html``, whose path it returns, ``.csv`` and ``.json``; needs the extra ``report``."""
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
        from :func:`read_returns`; or a file, frame or other table, with options of that function
    against : str | None, optional
        the column that all others are compared with; by default all pairs are, or, of more than 15 columns, that of the
        largest Sharpe ratio and all others
    confidence : float, optional
        of the model confidence set
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
        raise InvalidInputError(f"a comparison needs two columns, and there is only {names[0]!r}")
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
        there = ~np.isnan(x[:, i]) & ~np.isnan(x[:, j])
        if there.sum() < 3:
            found.append((int(there.sum()), math.nan, math.nan, 1.0, 1.0))
            continue
        both = x[there][:, [i, j]]
        difference, se = statistics.sharpe_difference(both[:, 0], both[:, 1], rate)
        of_pair = drawn[:, [i, j]] if complete else _ratios(both, counts[:, there], rate)
        resampled = of_pair[:, 0] - of_pair[:, 1]
        away = np.abs(resampled - difference) >= abs(difference)
        p = 2 * float(ndtr(-abs(difference) / se)) if se > 0 else float(difference == 0)
        found.append((int(there.sum()), difference, se, p, float((1 + away.sum()) / (1 + replications))))
    return found


def _ratios(x: np.ndarray, counts: np.ndarray, rate: float) -> np.ndarray:
    means, variances = resampled_moments(x, counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((means - rate) / np.sqrt(variances))


def _confidence_set(losses: np.ndarray, names: Sequence[str], how: dict[str, Any]) -> dict[str, float]:
    """p-values of columns [3]; of the maximum statistic, whose cost grows with columns and not with their square."""
    test = arch_bootstrap().MCS(losses, 0.05, method="max", **how)
    test.compute()
    found = {int(k): float(p) for k, p in test.pvalues["Pvalue"].items()}
    return {names[k]: found[k] for k in np.argsort(losses.mean(axis=0), kind="stable").tolist()}


def _superior(losses: np.ndarray, against: int | None, how: dict[str, Any]) -> dict[str, float]:
    """p-values of the hypothesis that no column is better than another, or than cash [2]."""
    own = np.zeros(len(losses)) if against is None else losses[:, against]
    others = losses if against is None else np.delete(losses, against, axis=1)
    test = arch_bootstrap().SPA(own, others, **how)
    test.compute()
    return {str(kind): float(p) for kind, p in test.pvalues.items()}
