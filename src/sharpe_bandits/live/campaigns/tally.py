"""Running moments of a metric: what reports and guardrails need to know of many rewards."""

from __future__ import annotations

from ...objectives import Statistics

#: A tally: number, mean, and sums of the second to fourth powers of deviations from the mean; then the sum of weights,
#: and that of weighted values.
Tally = list[float]


def new_tally() -> Tally:
    """A tally of nothing."""
    return [0.0] * 7


def add(tally: Tally, x: float, weight: float = 1.0) -> None:
    """Count one more value (Pebay 2008)."""
    n = tally[0] + 1.0
    d = x - tally[1]
    step = d / n
    square = d * step * (n - 1.0)
    tally[4] += square * step * step * (n * n - 3.0 * n + 3.0) + 6.0 * step * step * tally[2] - 4.0 * step * tally[3]
    tally[3] += square * step * (n - 2.0) - 3.0 * step * tally[2]
    tally[2] += square
    tally[1] += step
    tally[0] = n
    tally[5] += weight
    tally[6] += weight * x


def moments(tally: Tally, sign: float = 1.0) -> Statistics:
    """Moments of the values, times ``sign``."""
    n = tally[0]
    if n < 2:
        return Statistics(n, sign * tally[1], 0.0, 0.0, 0.0)
    return Statistics(n, sign * tally[1], tally[2] / (n - 1.0), sign * tally[3] / n, tally[4] / n)
