"""Policies on a small bandit, and chunks of their runs: what tests of chunks share."""

import numpy as np

import sharpe_bandits as sb
from sharpe_bandits.results import policy_result as results
from tests.catalogue import greedy_sharpe

BANDIT = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8), sb.Uniform(0, 6)])
POLICIES = [
    sb.UCBRSSR(L=2.0),
    sb.policies.MVTS(),
    sb.policies.EpsilonGreedy(sb.RSSR(L=2.0)),
    sb.SHSR(L=2.0),
    sb.SuRSR(L=2.0),
    greedy_sharpe(L=1.0),
]
HORIZON = 60
FIELDS = ("pulls", "final", "recommended", "reward_mean", "reward_variance")


def merge(spec, chunks):
    return results.merge(spec, chunks, spec.environment.truth(spec.seed, spec.runs))


def assert_same(a, b):
    """Two outcomes, bit for bit."""
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field), strict=True)
