"""Coverage: how often estimates violate a concentration inequality, compared with the probability it guarantees."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Any, Literal

import numpy as np

from .._support.validation import one_of, positive, whole
from ..arms.bandit import Bandit
from ..arms.base import Arm, Draws
from ..arms.environment import as_arm, stack
from ..errors import InvalidInputError
from ..objectives import RSSR, SharpeLike, Statistics
from ..play.rewards import Rewards, write_paths
from ..results.metrics import Estimate, wilson
from ..simulation.compiler import specialise
from ..simulation.executors import cores, on_threads
from ..simulation.families.base import stop_cell
from .bound import FORMS, Bound, Form, Judgement, independent, within
from .concentration import STATISTICS, Statistic, concentration, radius, width
from .error_bounds import variance_order

#: Rewards drawn at a time.
_TOGETHER = 2**20


@dataclass(frozen=True)
class Coverage:
    """Measured coverage of one inequality on one arm: of how many samples the estimate deviates from the true value by
    more than the width.

    The verdict is "holds" if the whole interval of the rate is below the bound, "fails" if all of it is above, else
    "undecided" (as it must be if the bound is too small for the number of samples).
    """

    arm: int  # its number in the bandit, 0 for a single one
    statistic: Statistic | Literal["order of variances"]  # the latter for Lemma 2
    bound: Bound  # on the rate
    violations: int
    rate: Estimate  # their proportion, with its Wilson interval
    epsilon: float = 0.0  # radius for the moments of the sample
    undefined: float = 0.0  # proportion of samples for which the width is undefined; they are not counted as violations

    @property
    def verdict(self) -> Judgement:
        """Whether the rate is within the bound."""
        return within(self.rate, self.bound.value)


def coverage(
    bandit: Any,
    pulls: int,
    L: float | None = None,
    *,
    samples: int = 20_000,
    epsilon: float | None = None,
    level: float | None = None,
    statistics: Iterable[Statistic] = STATISTICS,
    forms: Iterable[Form] = ("printed", "repaired"),
    seed: int = 0,
    confidence: float = 0.99,
) -> list[Coverage]:
    r"""Draw many samples of each arm and count how often each inequality is violated.

    The bandit may be an arm or a list of arms. The radius is ``epsilon`` or, instead, what gives each inequality the
    probability ``level``; by default the paper's :math:`\sqrt{2 \ln n / n}` for n ``pulls``. The samples are the same
    for all statistics and forms; ``confidence`` is that of the Wilson interval.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0, 0.5)])
    >>> options = dict(pulls=50, L=0.1, epsilon=0.2, samples=500, statistics=["variance"])
    >>> first = sb.theory.coverage(bandit, **options)[0]
    >>> first.statistic, first.violations, first.verdict
    ('variance', 0, 'holds')
    """
    arms = _arms(bandit)
    pulls = whole("pulls", pulls, 2)
    kinds = [one_of("statistic", s, STATISTICS) for s in statistics]
    readings = [one_of("form", form, FORMS) for form in forms]
    if epsilon is not None and level is not None:
        raise InvalidInputError(f"give epsilon or level, not both (got {epsilon!r} and {level!r})")
    if L is None and {"sr_like", "rssr"} & set(kinds):
        raise InvalidInputError("the Sharpe statistics need the regulariser L; pass L=... or statistics=['variance']")
    default_radius = math.sqrt(2 * math.log(pulls) / pulls) if epsilon is None else positive("epsilon", epsilon)
    measured = []
    for i, (arm, (mean, variance, second)) in enumerate(zip(arms, _drawn(arms, pulls, samples, seed), strict=True)):
        low, high = arm.support
        for kind in kinds:
            error, moment = _error(kind, arm, L, mean, variance, second)
            for form in readings:
                e = default_radius if level is None else radius(kind, level, pulls, high, form, lower=low)
                widths = width(kind, e, variance, moment, L, form, pulls=pulls)
                bound = concentration(kind, e, pulls, high, form, lower=low)
                count, undefined = int((error > widths).sum()), float(np.isinf(widths).mean())
                rate = wilson(count, samples, confidence)
                measured.append(Coverage(i, kind, bound, count, rate, e, undefined))
    return measured


def order_coverage(
    bandit: Any, pulls: int, *, samples: int = 20_000, seed: int = 0, confidence: float = 0.99
) -> list[tuple[int, int, Coverage]]:
    """Lemma 2 on every pair of arms with different variances: how often the sample variance of n rewards is larger for
    the arm with the smaller variance.

    Returns tuples of (arm with larger variance, other arm, coverage), in printed and repaired form.
    """
    arms = _arms(bandit)
    pulls = whole("pulls", pulls, 2)
    variances = [variance for _, variance, _ in _drawn(arms, pulls, samples, seed)]
    measured = []
    for a, b in permutations(range(len(arms)), 2):
        if arms[a].variance <= arms[b].variance:
            continue
        count = int((variances[b] > variances[a]).sum())
        rate = wilson(count, samples, confidence)
        for form in ("printed", "repaired"):
            bound = variance_order([arms[a], arms[b]], 1, pulls, form)
            measured.append((a, b, Coverage(b, "order of variances", bound, count, rate)))
    return measured


def _arms(thing: Any) -> tuple[Arm, ...]:
    if isinstance(thing, Bandit):
        return thing.arms
    if isinstance(thing, (list, tuple)):
        return tuple(as_arm(arm) for arm in thing)
    return (as_arm(thing),)


def _drawn(arms: tuple[Arm, ...], pulls: int, samples: int, seed: int) -> np.ndarray:
    """Mean, variance and second moment of many samples of each arm."""
    independent(arms)
    samples, seed = whole("samples", samples, 1), whole("seed", seed, 0, 2**64 - 1)
    draws = (arm.draws() for arm in arms)
    return _moments(tuple(one._replace(pool=tuple(one.pool)) for one in draws), pulls, samples, seed)


@lru_cache(maxsize=2)
def _moments(draws: tuple[Draws, ...], pulls: int, samples: int, seed: int) -> np.ndarray:
    """Moments (arms, 3, samples) that several inequalities share, whatever their L: sampling takes most of the time.

    Sample r has the rewards of the first pulls in run r of a simulation with this seed.
    """
    write, rewards = specialise(write_paths, {}), Rewards(stack([list(draws)]), 0, np.uint64(seed))
    moments = np.empty((len(draws), 3, samples))
    together = max(1, _TOGETHER // (len(draws) * pulls))

    def draw(first: int) -> None:
        runs = np.arange(first, min(first + together, samples))
        x = np.empty((runs.size, len(draws), pulls))
        write(runs, rewards, False, 0, pulls, x, stop_cell())
        moments[:, :, runs] = np.stack([x.mean(axis=2), x.var(axis=2, ddof=1), (x * x).mean(axis=2)]).transpose(2, 0, 1)

    on_threads(range(0, samples, together), cores(), draw)
    moments.setflags(write=False)  # they are cached
    return moments


def _error(
    statistic: Statistic, arm: Arm, L: float | None, mean: np.ndarray, variance: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The error of each sample's estimate, and the moment that its width depends on."""
    if statistic == "variance":
        return np.abs(variance - arm.variance), second
    objective = SharpeLike(L) if statistic == "sr_like" else RSSR(L)  # type: ignore[arg-type]
    error = np.abs(objective.value(Statistics(mean=mean, variance=variance)) - objective.value(arm))
    return error, mean if statistic == "sr_like" else second
