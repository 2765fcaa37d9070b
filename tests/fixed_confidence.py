"""Games of fixed confidence that tests of the kernel and of agents share."""

import numpy as np

import sharpe_bandits as sb

GENERATOR = np.random.default_rng(5)
#: Three arms of clearly different ratios, skewed, long enough for any stop.
SKEWED = GENERATOR.gamma([[4.0], [2.0], [1.0]], [[0.5], [0.7], [1.2]], size=(3, 4000))
#: Two that are close, and pay whole numbers: ties, and sums that are exact.
WHOLE = GENERATOR.integers(0, [[6], [5]], size=(2, 4000)).astype(float)
#: Losses too, near a million.
SHIFTED = 1e6 + GENERATOR.normal([[0.9], [0.0], [0.3], [-1.0]], 1.0, size=(4, 4000))


def identify(policy, *arguments, **options):
    """What one policy found."""
    return sb.identify(policy, *arguments, **options)[policy.name]


CASES = [
    (SKEWED, sb.policies.LUCB(L=0.5), 4000),
    (SKEWED, sb.policies.LUCB(L=0.01, delta=0.3, risk_free=0.4, pilot_pulls=5), 4000),
    (WHOLE, sb.policies.LUCB(L=1.0, delta=0.2), 301),  # ends between the two pulls of a pair
    (SHIFTED, sb.policies.LUCB(L=0.5, risk_free=1e6), 2000),
    (np.vstack([SKEWED[:2], np.full((1, 4000), 0.7)]), sb.policies.LUCB(L=0.3, pilot_pulls=2), 1000),
]
