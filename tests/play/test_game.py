"""Pulls that are kept at half of the horizon and at checkpoints, of every kernel, counted from the choices."""

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.arms.bandit import as_environment
from sharpe_bandits.simulation.spec import Spec, run_chunk

BANDIT = sb.Bandit([sb.Uniform(0, 10), sb.Uniform(0, 9), sb.Uniform(0.4, 9.6)])
KERNELS = {
    "side by side": (sb.UCBRSSR(L=2.0), "side by side"),
    "a pilot past half of the horizon": (sb.policies.UCB1(pilot_fraction=0.9), "reference"),
    "reference": (sb.UCBRSSR(L=2.0), "reference"),
    "a pilot past half of the horizon, side by side": (sb.policies.UCB1(pilot_fraction=0.9), "side by side"),
    "discounted": (sb.policies.DiscountedUCB(L=2.0), "auto"),
    "phases": (sb.SHSR(L=2.0), "auto"),
}


@pytest.mark.parametrize("checkpoints", [(301,), (7, 150, 301)])
@pytest.mark.parametrize("kernel", KERNELS)
def test_pulls_at_half_time_and_at_checkpoints(kernel, checkpoints):
    policy, how = KERNELS[kernel]
    spec = Spec(policy, as_environment(BANDIT), 301, 20, 1, checkpoints, kernel=how)
    chunk = run_chunk(spec, range(20), trace=True)

    def counted(rounds):
        return np.array([np.bincount(run[:rounds][run[:rounds] >= 0], minlength=3) for run in chunk.choices])

    np.testing.assert_array_equal(chunk.halfway, counted(150))
    np.testing.assert_array_equal(chunk.final, counted(301))
    for check, t in enumerate(checkpoints):
        np.testing.assert_array_equal(chunk.pulls[:, check], counted(t))
