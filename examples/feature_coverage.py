"""How often intervals of objectives beyond two moments leave out the true value.

Run with: python examples/feature_coverage.py [paths] [plain]

With "plain" only CVaR, with its plug-in variance and sequences from 32 rewards on, as for other objectives.
"""

import sys
from typing import Any

import numba
import numpy as np
import scipy.stats

import sharpe_bandits as sb
from sharpe_bandits.confidence_sequences import intervals
from sharpe_bandits.objectives.cvar import tail_moments as tail_moments_of
from sharpe_bandits.objectives.cvar import update_tail
from sharpe_bandits.objectives.statistics import moments_so_far

PATHS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
LENGTH, POINTS = 3_000, 200_000
TIMES = (50, 100, 200, 500, 2_000)
LEVELS = (np.arange(POINTS) + 0.5) / POINTS
CORE = scipy.stats.norm.ppf(LEVELS[::12] + (LEVELS[11] - LEVELS[0]) / 2)

#: Rewards by name, as equally likely values with mean 0.1 and standard deviation 1 (but for Student's t).
REWARDS = {
    "normal": 0.1 + scipy.stats.norm.ppf(LEVELS),
    "uniform": 0.1 + np.sqrt(12) * (LEVELS - 0.5),
    "exponential": scipy.stats.expon.ppf(LEVELS) - 0.9,
    "minus an exponential": 1.1 - scipy.stats.expon.ppf(LEVELS),
    "minus a lognormal, σ = 0.5": 1.978 - scipy.stats.lognorm.ppf(LEVELS, 0.5) / 0.6039,
    "Student's t, 5 degrees of freedom": 0.1 + scipy.stats.t.ppf(LEVELS, 5),
    "Student's t, 3 degrees of freedom": 0.1 + scipy.stats.t.ppf(LEVELS, 3),
    "normal, a loss of about 2.1 in a twelfth": np.concatenate([np.tile(0.4 + 0.3 * CORE, 11), -2.1 + 0.3 * CORE]),
    "whole numbers, binomial (20, 0.3)": scipy.stats.binom.ppf(LEVELS, 20, 0.3) / 2.05 - 2.83,
}
OBJECTIVES = {
    "Sortino": sb.Sortino(0.0),
    "Omega": sb.objectives.Omega(0.0),
    "LogGrowth": sb.objectives.LogGrowth(0.02),
    "CVaR 0.3": sb.objectives.CVaR(0.3),
    "CVaR 0.1": sb.objectives.CVaR(0.1),
    "CVaR 0.05": sb.objectives.CVaR(0.05),
}


class Plain(sb.objectives.CVaR):
    """CVaR with intervals that do not allow for the doubt about the tail."""

    least_rewards = 0.0

    def estimate(self, statistics: Any) -> Any:
        return sb.objectives.Objective.estimate(self, statistics)


if "plain" in sys.argv:
    OBJECTIVES = {f"CVaR {alpha}": Plain(alpha) for alpha in (0.3, 0.1, 0.05)}
#: Those for which fixed-time intervals are printed as well.
FIXED = ("CVaR 0.1", "CVaR 0.05")
update, moments = numba.njit(update_tail), numba.njit(tail_moments_of)


@numba.njit
def tail_so_far(x: Any, alpha: float, cells: int) -> Any:
    """What agents know of the tail after each reward, by the functions that they use."""
    kept, out, arguments = np.zeros((1, cells, 1)), np.empty((3, len(x))), (alpha, 0.0)
    for t in range(len(x)):
        update(kept, 0, 0, 0, t + 1.0, x[t], x[t] - x[0], np.nan, arguments)
        out[:, t] = moments(kept, 0, 0, 0, t + 1.0, x[0], 0.0, 1.0, 0.0, 0.0, 0)
    return out


def statistics_so_far(x: np.ndarray, objective: Any) -> sb.objectives.Statistics:
    if objective.feature is not None:
        return objective.statistics_so_far(x)
    return sb.objectives.Statistics(*moments_so_far(x)[:5], *tail_so_far(x, objective.alpha, objective.statistic.cells))


if __name__ == "__main__":
    random = np.random.default_rng(12)
    print(f"| rewards | {' | '.join(OBJECTIVES)} |\n|---|" + "---:|" * len(OBJECTIVES))
    fixed: dict[str, list[str]] = {}
    for name, values in REWARDS.items():
        cells = []
        for title, objective in OBJECTIVES.items():
            truth = float(objective.value_of(values))
            left, missed = 0, np.zeros(len(TIMES))
            for _ in range(PATHS):
                known = statistics_so_far(random.choice(values, LENGTH), objective)
                sequence = intervals(known, objective)
                left += bool(((sequence.low > truth) | (sequence.high < truth)).any())
                if title in FIXED:
                    at = known.at(np.array(TIMES) - 1)
                    missed += np.abs(objective.value(at) - truth) > 1.96 * objective.standard_error(at)
            cells.append(f"{left / PATHS:.1%}")
            if title in FIXED:
                fixed.setdefault(name, []).extend(f"{share:.0%}" for share in missed / PATHS)
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    titles = [f"{title}, {n:,}" for title in FIXED for n in TIMES]
    print(f"\n| rewards | {' | '.join(titles)} |\n|---|" + "---:|" * len(titles))
    for name, shares in fixed.items():
        print(f"| {name} | {' | '.join(shares)} |")
