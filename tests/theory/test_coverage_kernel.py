"""Samples of one arm: those of a simulation, compiled or not."""

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.arms.environment import stack
from sharpe_bandits.simulation.compiler import specialise
from sharpe_bandits.theory.coverage_kernel import sample_moments


@pytest.mark.parametrize("n", [2, 255, 256, 257, 700])
def test_samples_are_those_of_a_simulation(n):
    bandit = sb.Bandit([sb.Uniform(0, 1), sb.Beta(2, 3)])
    table = stack([[arm.draws() for arm in bandit.arms]])
    mean, variance, second = np.empty(3), np.empty(3), np.empty(3)
    specialise(sample_moments, {})(table, 1, np.uint64(9), n, mean, variance, second)
    for run in range(3):
        trace = sb.trace(sb.policies.UniformSampling(sb.Mean()), bandit, horizon=2 * n, seed=9, run=run)
        x = trace.rewards[trace.choices == 1]
        assert len(x) == n
        assert mean[run] == pytest.approx(x.mean(), rel=1e-12)
        assert variance[run] == pytest.approx(x.var(ddof=1), rel=1e-10)
        assert second[run] == pytest.approx((x**2).mean(), rel=1e-12)


def test_kernel_without_compilation():
    table = stack([[sb.Uniform(2, 3).draws()]])
    plain, compiled = np.empty((3, 4)), np.empty((3, 4))
    with np.errstate(over="ignore"):
        sample_moments(table, 0, np.uint64(1), 300, *plain)
    specialise(sample_moments, {})(table, 0, np.uint64(1), 300, *compiled)
    np.testing.assert_allclose(plain, compiled, rtol=1e-12)
