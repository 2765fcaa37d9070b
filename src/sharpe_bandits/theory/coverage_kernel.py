"""The kernel of coverage studies: mean, variance and second moment of many samples of one arm."""

from ..play.memory import zeros
from ..play.rewards import fill
from ..play.state import anchor_of
from ..play.statistics import summary
from ..play.streams import REWARDS, fold, stream_key

DRAWN = 256  # rewards drawn at a time


def sample_moments(arms, arm, seed, size, mean, variance, second):
    """Compute mean, unbiased variance and second moment of samples 0, 1, ... of ``size`` rewards of an arm.

    Sample r has the rewards of the first ``size`` pulls of the arm in run r of a simulation with that seed.
    """
    buffer = zeros(DRAWN)
    inverse, inverse_less = 1.0 / size, 1.0 / (size - 1.0)
    for r in range(mean.size):
        key = fold(stream_key(seed, REWARDS, r), arm)
        anchor, s0, s1, q0, q1 = 0.0, 0.0, 0.0, 0.0, 0.0
        for first in range(0, size, DRAWN):
            steps = min(DRAWN, size - first)
            fill(arms, 0, arm, key, first, buffer[:steps])
            if first == 0:
                anchor = anchor_of(buffer[0])
            for j in range(0, steps - 1, 2):  # two chains: an addition waits for the one before it
                d0, d1 = buffer[j] - anchor, buffer[j + 1] - anchor
                s0 += d0
                s1 += d1
                q0 += d0 * d0
                q1 += d1 * d1
            if steps % 2 == 1:
                d0 = buffer[steps - 1] - anchor
                s0 += d0
                q0 += d0 * d0
        mean[r], variance[r], second[r] = summary(anchor, s0 + s1, q0 + q1, inverse, inverse_less)
