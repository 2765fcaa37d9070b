"""Is one column better than another? Differences of Sharpe ratios or costs, with tests corrected for their number.

A difference of two Sharpe ratios is divided by its standard error, and compared with the same statistic of resampled
blocks of rows, each divided by its own standard error: the studentised bootstrap of Ledoit and Wolf (2008). The largest
statistic of all pairs, resample by resample, corrects for comparing many pairs, and for looking at the best afterwards
(Romano and Wolf 2005). The model confidence set and the test for superior predictive ability are defined for mean
losses; they are applied to the negative of the series SR + influence(return), whose mean is the Sharpe ratio.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from .._support import console
from .._support.console import Findings
from .._support.display import Table
from .._support.validation import check_keywords, inside, whole
from ..errors import InvalidInputError, listed, unknown
from ..report.reported import Reported
from . import statistics
from .cleaning import one_at_a_time
from .draft import counted
from .pairwise import Difference, pairwise_tests
from .ranked import SHOWN
from .ranking import CSCV_BLOCKS
from .resampling import arch_bootstrap, block_length, check_block
from .table import ANNUAL, Returns, read_returns, table_of
from .yardstick import JudgedBy, Yardstick

#: Up to this many columns, all pairs are compared; with more, the best column is compared with every other.
ALL_PAIRS = 15
#: Minimum number of rows for p-values of differences to be trusted.
TRUSTED = 60
#: Minimum number of rows common to all columns for joint tests.
LEAST_COMMON = 2 * CSCV_BLOCKS


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Reported):
    """Differences between columns, the smallest p first, and their significance.

    ``against`` is None if all pairs are compared, or the best column with every other. ``confidence_set`` has the
    p-value of each column in the model confidence set, which holds those of at least 1 - ``confidence``; ``superior``
    the p-values "lower", "consistent" and "upper" of the hypothesis that no column is better than ``against`` (than 0
    if that is None). Both are empty, and ``pbo`` is None, if all columns have too few rows in ``common``. ``block`` is
    the mean length of blocks for these joint tests, ``rows_of_block`` that for differences.
    """

    page_name: ClassVar = "comparison"
    differences: tuple[Difference, ...]
    against: str | None
    confidence_set: dict[str, float]
    superior: dict[str, float]
    pbo: float | None
    common: int
    confidence: float
    replications: int
    block: float
    rows_of_block: int
    seed: int
    risk_free_per_period: float
    remarks: tuple[str, ...]
    by: JudgedBy
    aversion: float
    yardstick: Yardstick = field(repr=False)
    returns: Returns = field(repr=False)

    @property
    def included(self) -> list[str]:
        """Columns in the model confidence set, the largest p-value first."""
        names = [name for name, p in self.confidence_set.items() if p >= 1 - self.confidence]
        return sorted(names, key=lambda name: -self.confidence_set[name])

    @property
    def no_verdict(self) -> bool:
        """Whether Sharpe ratios of columns that all lose are compared, which reward volatility."""
        return self.by == "sharpe" and bool(self.returns.losses(self.risk_free_per_period))

    @property
    def conclusion(self) -> str:
        if self.no_verdict:
            return "No verdict: every mean return is below the hurdle, where Sharpe ratios reward volatility."
        level = 1 - self.confidence
        sentences = [self._sentence(self.differences[0])]
        if len(self.differences) > 1:
            columns, family = len(self.returns.names), f"{len(self.differences):,} comparisons"
            if self.against is None and columns > ALL_PAIRS:
                family = f"all {math.comb(columns, 2):,} pairs, since the best column is known only afterwards"
            clear = sum(d.p_corrected <= level for d in self.differences)
            sentences.append(
                f"{clear} of {len(self.differences)} differences are significant at the {level:.0%} level after "
                f"correcting for {family}; {sum(d.p <= level for d in self.differences)} without the correction."
            )
        if self.confidence_set:
            more = f" and {len(self.included) - SHOWN} more" * (len(self.included) > SHOWN)
            sentences.append(
                f"With {self.confidence:.0%} confidence the best column is among {len(self.included)} of "
                f"{len(self.confidence_set)}: {', '.join(self.included[:SHOWN])}{more} (model confidence set)."
            )
        else:
            sentences.append(
                f"The columns have {counted(self.common, 'row') if self.common else 'no row'} in common: too few for "
                f"a model confidence set (at least {LEAST_COMMON})."
            )
        if self.superior:
            than = f"better than {self.against}" if self.against else "above 0"
            sentences.append(
                f"The hypothesis that no column is {than} has {self._p(self.superior['consistent'])} (test for "
                "superior predictive ability)."
            )
        if self.pbo is not None:
            sentences.append(f"The probability of backtest overfitting is {self.pbo:.0%}.")
        return " ".join(sentences)

    def _sentence(self, d: Difference) -> str:
        form, several = self._form, len(self.differences) > 1
        p = self._p(d.p) + (f"; {self._p(d.p_corrected)} corrected" if several else "")
        clear = (d.p_corrected if several else d.p) <= 1 - self.confidence
        return (
            f"The {self.yardstick.name} of {d.first} is {abs(d.difference):{form}} "
            f"{'above' if d.difference >= 0 else 'below'} that of {d.second} ({self.confidence:.0%} interval "
            f"{d.low:z{form}} to {d.high:z{form}}; {p}): {'a' if clear else 'no'} significant difference."
        )

    @property
    def _form(self) -> str:
        """Format of a difference: mean and risk have the scale of the data."""
        return ".2f" if self.by == "sharpe" else ".3g"

    def settings(self) -> dict[str, str]:
        rate = f"returns minus {self.risk_free_per_period:.4g} per period"
        evaluated = self.returns.hurdle.words if self.returns.hurdle else rate
        few = " (* too few: each column over its own rows)" * any(not d.paired for d in self.differences)
        facts = {
            "evaluated": "costs in basis points" if self.yardstick.costs else evaluated,
            "bootstrap": f"{self.replications:,} resamples, seed {self.seed}; differences: studentised, blocks of "
            f"{counted(self.rows_of_block, 'row')}; joint tests: stationary, "
            f"{self.block:.3g} row{'s' * (self.block != 1)} on average",
            "common rows": f"{self.common:,} that all columns have; a difference uses the rows that both columns have"
            + few,
            "Lo's": f"since returns of {listed(self.autocorrelated)} are autocorrelated" * bool(self.autocorrelated),
        }
        return self.returns.facts(facts)

    @property
    def autocorrelated(self) -> list[str]:
        """Columns whose returns are autocorrelated, if Sharpe ratios are compared; Lo's are shown beside them."""
        p = statistics.by_column(statistics.autocorrelation_p, self.returns.excess)
        significant = (p <= statistics.TEST_LEVEL) & (self.by == "sharpe")
        return [name for name, is_so in zip(self.returns.names, significant, strict=True) if is_so]

    def tables(self, max_rows: int | None = None) -> list[console.Cells]:
        form = self._form
        pairs: dict[str, Callable[[Difference], str]] = {
            "": lambda d: f"{d.first} − {d.second}{'' if d.paired else ' *'}",
            "annualised difference" if self.by == "sharpe" else f"difference of {self.yardstick.name}":
                lambda d: f"{d.difference:+z{form}}",
            f"{self.confidence:.0%} interval": lambda d: f"[{d.low:z{form}}, {d.high:z{form}}]",
            "p": lambda d: self._resampled(d.p),
            **({"p corrected": lambda d: self._resampled(d.p_corrected)} if len(self.differences) > 1 else {}),
            "s.e.": lambda d: f"{d.se:{form}}",
            **({"Lo's (s.e.)": lambda d: f"{d.lo_difference:+z.2f} ({d.lo_se:.2f})"} if self.autocorrelated else {}),
            "difference of means": lambda d: f"{d.mean_difference:+z{form if self.yardstick.costs else '.2%'}}",
            "p of means": lambda d: "<0.001" if d.p_mean < 0.001 else f"{d.p_mean:.3f}",
            "rows": lambda d: f"{d.rows:,}",
        }  # fmt: skip
        tables = [console.cells(pairs, self.differences[:max_rows])]
        order = sorted(self.confidence_set.items(), key=lambda item: -item[1])[:max_rows]
        members = [[name, self._resampled(p), "yes" if name in self.included else "no"] for name, p in order]
        return tables + ([(["", "p", "in the model confidence set"], members)] if members else [])

    def _resampled(self, p: float) -> str:
        """A bootstrap p-value, rounded to the digits that other seeds would not change."""
        if p < 2 / (1 + self.replications):  # as small as resamples can show
            return f"<{max(p, 0.001):.1g}"
        error = max(math.sqrt(p * (1 - p) / self.replications), 1 / self.replications)
        return f"{p:.{console.decimals(error, least=2, most=3 if p < 0.5 else 2)}f}"

    def _p(self, p: float) -> str:
        return f"p = {self._resampled(p)}".replace("= <", "< ")

    @property
    def table(self) -> Table:
        return Table.of([asdict(difference) for difference in self.differences])

    def to_dict(self) -> dict[str, Any]:
        words = {own.name: getattr(self, own.name) for own in fields(self) if own.name not in ("returns", "yardstick")}
        return {**words, "differences": [asdict(d) for d in self.differences], "summary": self.conclusion}

    def findings(self) -> Findings:
        return Findings(self.remarks, self.tables(SHOWN), self.conclusion, self.settings())


@check_keywords(read_returns, risk_free=ANNUAL)
def compare(
    source: Any,
    *,
    against: str | None = None,
    by: JudgedBy | None = None,
    aversion: float = 1.0,
    annual_risk_free: float = 0.0,
    confidence: float = 0.95,
    replications: int = 1000,
    block: float | None = None,
    seed: int = 0,
    **reading: Any,
) -> Comparison:
    """Compare the Sharpe ratios of columns, or their costs: pairwise, and jointly.

    Parameters
    ----------
    source : Any
        returns from :func:`read_returns`; or a file, frame or other table, with options of that function
    against : str | None, optional
        the column that all others are compared with; by default all pairs are compared, or, with more than 15 columns,
        the best one and every other
    by, aversion : JudgedBy | None and float, optional
        "sharpe"; or "mean-risk", the mean less ``aversion`` times the standard deviation, the only one for costs
    confidence : float, optional
        confidence level of intervals and of the model confidence set
    annual_risk_free : float, optional
        as for :func:`rank`
    replications, block, seed, **reading : int and float | None and Any
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
    rate = returns.rate(annual_risk_free)
    yardstick = Yardstick.of(returns, rate, by, aversion)
    inside("confidence", confidence)
    whole("replications", replications, 100)
    whole("seed", seed, 0)
    x, chosen = returns.excess, block is None
    block, rows_of_block = blocks_for_differences(x, rate, block)
    # blocks of this length leave autocovariances at as many lags, less one
    lags = None if chosen and rows_of_block > 1 else rows_of_block - 1
    base = None if against is None else names.index(against)
    pairs, chosen_afterwards = listed_pairs(yardstick.of_columns(x), base)
    tests = pairwise_tests(x, pairs, yardstick, rows_of_block, replications, seed, confidence, chosen_afterwards, lags)
    mean_factor = yardstick.factor if yardstick.costs else returns.periods_per_year
    differences = [test.scaled(yardstick.factor, mean_factor, names) for test in tests]
    common = x[~np.isnan(x).any(axis=1)]
    confidence_set, superior, pbo = {}, {}, None
    if len(common) >= LEAST_COMMON:
        parts = yardstick.of_columns(common) + yardstick.influence(common)
        how = {"reps": replications, "block_size": max(round(block), 1), "bootstrap": "stationary", "seed": seed}
        confidence_set = _confidence_set(-parts, names, how)
        if base is not None or not yardstick.costs:  # no cost is below 0
            superior = _superior(-parts, base, how)
        pbo = statistics.backtest_overfitting(common, yardstick.value, CSCV_BLOCKS)
    differences.sort(key=lambda d: (d.p_corrected, d.p, -abs(d.difference)))
    rows = int(returns.counts.min())
    few = (
        f"{rows} rows are too few for the p-values and intervals of differences, which are too small and too narrow; "
        f"trust them from {TRUSTED} rows on"
    )
    by_ratio = yardstick.aversion is None
    remarks = (*(returns.losses(rate) if by_ratio else ()), *([few] if rows < TRUSTED else []), *returns.remarks)
    return Comparison(
        tuple(differences), against, confidence_set, superior, pbo, len(common), float(confidence), replications, block,
        rows_of_block, seed, rate, remarks, "sharpe" if by_ratio else "mean-risk", float(aversion), yardstick, returns,
    )  # fmt: skip


def blocks_for_differences(x: np.ndarray, rate: float, block: float | None) -> tuple[float, int]:
    """Mean length of blocks for joint tests, and length of blocks for differences; the same if it is given.

    Otherwise the latter is at least the cube root of the number of rows: with shorter blocks the standard errors of
    resamples are less variable than those of the table, and p-values too small (9% below 5% for 60 rows). Columns that
    are observed one at a time, and without autocorrelation, are independent samples: blocks of one row.
    """
    if block is not None:
        return check_block(block, len(x)), max(round(block), 1)
    mean, rows = block_length(x, rate), float(np.median((~np.isnan(x)).sum(axis=0)))
    if (
        one_at_a_time(x)
        and statistics.by_column(statistics.autocorrelation_p, x).min() > statistics.TEST_LEVEL / x.shape[1]
    ):
        return 1.0, 1
    return mean, max(round(mean), round(rows ** (1 / 3)))


def listed_pairs(values: np.ndarray, against: int | None) -> tuple[list[tuple[int, int]], bool]:
    """Pairs of columns to compare, the better first; and whether they were chosen by these values."""
    if against is not None:
        return [(k, against) for k in range(len(values)) if k != against], False
    order = np.argsort(-values, kind="stable").tolist()
    if len(order) <= ALL_PAIRS:
        return list(combinations(order, 2)), False
    return [(order[0], k) for k in order[1:]], True


def _confidence_set(losses: np.ndarray, names: Sequence[str], how: dict[str, Any]) -> dict[str, float]:
    """p-values of the columns (Hansen, Lunde and Nason 2011), by the maximum statistic, whose cost is linear in
    them."""
    test = arch_bootstrap().MCS(losses, 0.05, method="max", **how)
    test.compute()
    pvalues = {int(k): float(p) for k, p in test.pvalues["Pvalue"].items()}
    return {names[k]: pvalues[k] for k in np.argsort(losses.mean(axis=0), kind="stable").tolist()}


def _superior(losses: np.ndarray, against: int | None, how: dict[str, Any]) -> dict[str, float]:
    """p-values of the hypothesis that no column is better than ``against``, or than cash (Hansen 2005)."""
    benchmark = np.zeros(len(losses)) if against is None else losses[:, against]
    others = losses if against is None else np.delete(losses, against, axis=1)
    test = arch_bootstrap().SPA(benchmark, others, **how)
    test.compute()
    n = how["reps"]  # no resample as large is not a probability of 0
    return {str(kind): (float(p) * n + 1) / (n + 1) for kind, p in test.pvalues.items()}
