"""Statistics of an arm, and how they are computed from running sums.

Every kernel keeps pulls, an anchor and the sums of (x - anchor) and its square. Anything else that a formula may read
is a :class:`Statistic` of :data:`STATISTICS`, kept only if a formula mentions one of its fields.
"""

import math
from collections.abc import Callable, Collection
from functools import lru_cache, reduce
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import formulas
from .formulas import feature, keeps_powers, statistics_of
from .memory import scratch
from .streams import GOLDEN, log, mix64, normal_pair, unit

if TYPE_CHECKING:
    from ..objectives import Objective

#: Number of an arm's first rewards that are kept for policies that reweight them.
FIRSTS = 64

#: A variance below this fraction of the squared mean is rounding error: the arm has always paid the same.
ROUNDING = 1e-15


class ArmRecord(NamedTuple):
    """The inputs of a policy's index. After ``standard_normal`` come those of :data:`STATISTICS`, in their order."""

    pulls: float  # number of pulls of the arm, s
    mean: float  # of its rewards
    variance: float  # unbiased sample variance of its rewards (0 for a single pull)
    second_moment: float  # mean of its squared rewards
    epsilon: float  # sqrt(2 ln t / s), the paper's confidence radius, already computed
    last: float  # rounds played when the arm's statistics last changed (never before the end of the pilot)
    key: int  # random stream of this run, arm and round (see :mod:`sharpe_bandits.play.streams`)
    round_key: int  # random stream of this run and round, the same for every arm
    lead: float = math.nan  # the largest score of any arm, if the policy has a score besides its index
    standard_normal: float = math.nan  # of this run, arm and round; in simulations at half the cost of one by key
    maximum: float = math.nan  # its largest reward
    third: float = math.nan  # third and fourth central moment of its rewards
    fourth: float = math.nan
    drawn_mean: float = math.nan  # of its rewards under random weights (see :func:`reweighted`)
    drawn_variance: float = math.nan
    autocovariance: float = math.nan  # at lag 1, of its rewards in the order in which it was played
    feature: float = math.nan  # mean of the objective's feature of a reward
    feature_square: float = math.nan  # mean of its square
    feature_covariance: float = math.nan  # its covariance with the reward


def record_kinds() -> dict[str, type]:
    """The fields of a record in their order: float, or int for a random stream (64 bits, unsigned)."""
    return dict(ArmRecord.__annotations__)


class Statistic(NamedTuple):
    """A statistic of an arm beyond mean and variance.

    It may keep numbers of its own: ``kept[i, at, k]`` to ``kept[i, at + cells - 1, k]`` for arm i in run (lane) k,
    initially 0. ``values(kept, i, at, k, pulls, anchor, mean, variance, third, fourth, key)`` returns the fields.
    ``update(kept, i, at, k, pulls, x, d, z, objective)`` is called after pull number ``pulls`` has paid x = anchor + d
    while the covariate was ``z`` (NaN: there is none); ``objective``: its parameters. If ``pulls`` is negative, one of
    that many rewards leaves (only if there is a ``longest_window``).
    """

    fields: tuple[str, ...]  # the fields of :class:`ArmRecord` that it provides
    values: Callable[..., Any]
    cells: int = 0  # how many numbers it keeps
    update: Callable[..., Any] | None = None
    longest_window: float = 0.0  # from which rewards can leave; infinite if all cells are sums, also to be discounted
    powers: bool = False  # whether ``values`` uses third and fourth moments, which take two more sums
    random: bool = False  # whether it differs from run to run even if rewards do not


def update_maximum(kept, i, at, k, pulls, x, d, z, objective):
    """Keep the largest reward."""
    kept[i, at, k] = max(kept[i, at, k], x) if pulls > 1.0 else x


def maximum(kept, i, at, k, pulls, anchor, mean, variance, third, fourth, key):
    return (kept[i, at, k],)


def moments(kept, i, at, k, pulls, anchor, mean, variance, third, fourth, key):
    return third, fourth


def update_firsts(kept, i, at, k, pulls, x, d, z, objective):
    """Keep the first rewards minus the anchor."""
    if pulls <= FIRSTS:
        kept[i, at + int(pulls) - 1, k] = d


def drawn(kept, i, at, k, pulls, anchor, mean, variance, third, fourth, key):
    return reweighted(kept[i, at : at + FIRSTS, k], anchor, pulls, mean, variance, third, fourth, key)


def update_pairs(kept, i, at, k, pulls, x, d, z, objective):
    """Keep the sum of products of consecutive rewards, and the first and last reward, all minus the anchor."""
    if pulls > 1.0:
        kept[i, at, k] += kept[i, at + 2, k] * d
    else:
        kept[i, at + 1, k] = d
    kept[i, at + 2, k] = d


def autocovariance(kept, i, at, k, pulls, anchor, mean, variance, third, fourth, key):
    m, products, ends = mean - anchor, kept[i, at, k], kept[i, at + 1, k] + kept[i, at + 2, k]
    return ((products - m * (2.0 * pulls * m - ends) + (pulls - 1.0) * m * m) / pulls,)


def update_feature(kept, i, at, k, pulls, x, d, z, objective):
    """Keep sums of the objective's feature, its square, and its product with the reward minus the anchor."""
    y = feature(x, *objective)
    weight = math.copysign(1.0, pulls)
    kept[i, at, k] += weight * y
    kept[i, at + 1, k] += weight * y * y
    kept[i, at + 2, k] += weight * d * y


def feature_moments(kept, i, at, k, pulls, anchor, mean, variance, third, fourth, key):
    y = kept[i, at, k] / pulls
    return y, kept[i, at + 1, k] / pulls, kept[i, at + 2, k] / pulls - (mean - anchor) * y


#: Fields of the statistic of an objective's feature.
FEATURE = ("feature", "feature_square", "feature_covariance")
#: The statistic of an objective's feature that is kept as sums over rewards.
FEATURE_STATISTIC = Statistic(FEATURE, feature_moments, cells=3, update=update_feature, longest_window=math.inf)
#: All statistics, in the order of their fields in :class:`ArmRecord`. A new one is an entry here and a field there.
STATISTICS: tuple[Statistic, ...] = (
    Statistic(("maximum",), maximum, cells=1, update=update_maximum),
    Statistic(("third", "fourth"), moments, powers=True),
    Statistic(("drawn_mean", "drawn_variance"), drawn, FIRSTS, update_firsts, powers=True, random=True),
    Statistic(("autocovariance",), autocovariance, cells=3, update=update_pairs),
    FEATURE_STATISTIC,
)


class StatisticsLayout(NamedTuple):
    """What is kept for formulas that read some fields."""

    cells: int  # per arm
    kept: frozenset[str]  # the first field of each statistic that has cells
    bindings: dict[Callable[..., Any], Callable[..., Any]]  # of a kernel's placeholders
    longest_window: float  # the smallest of all statistics that have cells (see :class:`Statistic`)

    def can_forget(self, window: int, discount: float) -> bool:
        """Whether something is kept that a policy with this window (0: none) and discount can forget."""
        longest = math.inf if discount < 1.0 else window
        return self.cells > 0 and longest > 0 and longest <= self.longest_window


def layout_for(read: Collection[str], objective: "Objective | None" = None) -> StatisticsLayout:
    """What a kernel keeps if formulas mention these names, with the feature of an objective."""
    own = None if objective is None else objective.statistic
    statistics = STATISTICS if own is None else tuple(own if s.fields == FEATURE else s for s in STATISTICS)
    layout = _layout(frozenset(read).intersection(ArmRecord._fields), statistics)
    bound = formulas.no_feature if objective is None or objective.feature is None else objective.feature
    return layout._replace(bindings={**layout.bindings, formulas.feature: bound})


@lru_cache
def _layout(read: frozenset[str], statistics: tuple[Statistic, ...]) -> StatisticsLayout:
    cells, powers = 0, False
    keeping: list[Statistic] = []
    values: list[Callable[..., Any]] = []
    updates: list[Callable[..., Any]] = []
    for unread, group in groupby(statistics, lambda statistic: read.isdisjoint(statistic.fields)):
        if unread:
            count = sum(len(statistic.fields) for statistic in group)
            values.append(_returning((math.nan,) * count, f"unknown_{count}"))
            continue
        for statistic in group:
            values.append(_placed(statistic.values, cells))
            powers |= statistic.powers
            if statistic.update is not None:
                updates.append(_placed(statistic.update, cells))
                keeping.append(statistic)
                cells += statistic.cells
    bindings: dict[Callable[..., Any], Callable[..., Any]] = {
        formulas.statistics_of: reduce(_joined, values),
        formulas.update_statistics: reduce(_in_turn, updates) if updates else formulas.no_update,
        formulas.kept_cells: _returning(cells, f"constant_{cells}"),
        formulas.keeps_powers: formulas.constant(powers),
    }
    longest_window = min((statistic.longest_window for statistic in keeping), default=math.inf)
    return StatisticsLayout(cells, frozenset(statistic.fields[0] for statistic in keeping), bindings, longest_window)


def _returning(result: Any, name: str) -> Callable[..., Any]:
    def constant(*arguments):
        return result

    return named(constant, name)


def _placed(function: Callable[..., Any], place: int) -> Callable[..., Any]:
    def placed(kept, i, at, k, *rest):
        return function(kept, i, at + place, k, *rest)

    return named(placed, f"{function.__name__}_at_{place}") if place else function


def _joined(first: Callable[..., Any], second: Callable[..., Any]) -> Callable[..., Any]:
    def joined(kept, i, at, k, *rest):
        return first(kept, i, at, k, *rest) + second(kept, i, at, k, *rest)

    return named(joined, f"{first.__name__}_and_{second.__name__}")


def _in_turn(first: Callable[..., Any], second: Callable[..., Any]) -> Callable[..., Any]:
    def in_turn(kept, i, at, k, *rest):
        first(kept, i, at, k, *rest)
        second(kept, i, at, k, *rest)

    return named(in_turn, f"{first.__name__}_and_{second.__name__}")


def named(function: Any, name: str) -> Callable[..., Any]:
    """Give a generated function a name of its own: compiled functions are distinguished by name."""
    function.__name__ = function.__qualname__ = name
    return function


def record_of(sums, kept, i, more, epsilon, last, key, round_key, lead, standard_normal):
    """The record of arm ``i`` from sums; ``kept[i, cell, 0]``: cells kept by statistics.

    ``more`` is added to its pulls: pending pulls, whose rewards are not known yet.
    """
    pulls, anchor = sums.pulls[i], sums.anchor[i]
    inverse = 1.0 / pulls
    less = 1.0 / (pulls - 1.0) if pulls > 1 else 0.0
    mean, variance, second = summary(anchor, sums.sum1[i], sums.sum2[i], inverse, less)
    third, fourth = np.nan, np.nan
    if keeps_powers():
        third, fourth = higher_moments(sums.sum1[i], sums.sum2[i], sums.sum3[i], sums.sum4[i], inverse)
    statistics = statistics_of(kept, i, 0, 0, pulls, anchor, mean, variance, third, fourth, key)
    known = pulls + more, mean, variance, second, epsilon, last, key, round_key, lead, standard_normal
    return ArmRecord(*known, *statistics)


def arm_record(sums, kept, i):
    """The record of an arm, without what only an index reads."""
    nothing = np.uint64(0)
    return record_of(sums, kept, i, 0.0, np.nan, np.nan, nothing, nothing, np.nan, np.nan)


def summary(anchor, sum1, sum2, inverse, inverse_less):
    """Mean, unbiased variance and second moment from sums of (x - anchor) and its square, given 1/s and 1/(s-1)."""
    shifted = sum1 * inverse
    variance = max(0.0, (sum2 - sum1 * shifted) * inverse_less)
    second = sum2 * inverse + anchor * (2.0 * shifted + anchor)
    return anchor + shifted, variance, second


def higher_moments(sum1, sum2, sum3, sum4, inverse):
    """Third and fourth central moment from sums of the powers of (x - anchor), given 1/s."""
    a = sum1 * inverse
    b = sum2 * inverse
    c = sum3 * inverse
    d = sum4 * inverse
    third = c - a * (3.0 * b - 2.0 * a * a)
    fourth = d - a * (4.0 * c - a * (6.0 * b - 3.0 * a * a))
    return third, max(0.0, fourth)


def reweighted(firsts, anchor, pulls, mean, variance, third, fourth, key):
    """Mean and variance of an arm's rewards under weights drawn from the flat Dirichlet distribution.

    Up to FIRSTS pulls the draw is exact (``firsts``: the rewards minus the anchor), with the variance scaled to be
    unbiased; for more pulls it is from the normal limit, which uses the moments.
    """
    if pulls <= FIRSTS:
        weight, first, second = 0.0, 0.0, 0.0
        weights = scratch()
        place = key
        for j in range(int(pulls)):  # the uniform numbers of the stream, by additions alone
            place += GOLDEN
            weights[j] = -log(unit(mix64(place)))
        for j in range(int(pulls)):
            w, d = weights[j], firsts[j]
            weight += w
            first += w * d
            second += w * d * d
        a = first / weight
        biased = max(0.0, second / weight - a * a)
        return anchor + a, biased * (pulls + 1.0) / (pulls - 1.0)
    z, other = normal_pair(key, 0)
    root = math.sqrt(variance)
    slope = third / root if variance > 0.0 else 0.0
    rest = math.sqrt(max(0.0, fourth - variance * variance - slope * slope))
    share = 1.0 / math.sqrt(pulls)
    drawn = variance + share * (slope * z + rest * other)
    return mean + share * root * z, max(0.0, drawn)


def radius(rounds):
    """``sqrt(2 ln N)``: times 1/sqrt(s) it is the paper's epsilon."""
    return math.sqrt(2.0 * math.log(rounds)) if rounds > 1 else 0.0


def pooled(pulls, mean, variance, arms):
    """Mean and unbiased variance of all rewards of a run, from the means and variances of its arms."""
    n = 0.0
    total = 0.0
    for i in range(arms):
        n += pulls[i]
        total += pulls[i] * mean[i]
    average = total / n
    squares = 0.0
    for i in range(arms):
        squares += (pulls[i] - 1.0) * variance[i] + pulls[i] * (mean[i] - average) * (mean[i] - average)
    return average, squares / (n - 1.0)
