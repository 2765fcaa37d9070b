"""The optimal allocation of pulls: the closer to the best and the noisier an arm is, the more often it is played."""

import math

from .elimination import arm_record, top_up
from .formulas import estimate, noise
from .memory import zeros


def share_by_distance(sums, kept, alive, size, pulls, previous_kept_all, objective, quota):
    """Share pulls so that the undecided arms' total pulls are as nearly as possible in proportion to W / d^2; the best
    arm counts as its closest rival. Arms that already have more than their share get none.

    W is the variance of the influence of a reward on the root of the objective, and d the distance to the best root
    less its standard error, but at least half of that. Arms whose rewards have not varied count as noisy as the
    average.
    """
    values, noises, weights = zeros(size), zeros(size), zeros(size)
    best, average = 0, 0.0
    for p in range(size):
        arm = arm_record(sums, kept, alive[p])
        values[p], noises[p] = estimate(arm, *objective), noise(arm, *objective)
        average += noises[p] / size
        best = p if values[p] > values[best] else best
    for p in range(size):
        noises[p] = noises[p] if noises[p] > 0.0 else average
    for p in range(size):
        if p != best and average > 0.0:
            error = math.sqrt(noises[p] / sums.pulls[alive[p]] + noises[best] / sums.pulls[alive[best]])
            distance = max(values[best] - values[p] - error, 0.5 * error)
            weights[p] = noises[p] / (distance * distance)
    weights[best] = weights.max()
    top_up(sums.pulls, alive, size, weights, pulls * size, quota)
