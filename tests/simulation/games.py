"""Bandits, and specs on them, that tests of kernels share."""

import sharpe_bandits as sb
from sharpe_bandits.arms.bandit import as_environment
from sharpe_bandits.simulation.spec import Spec

RUNS, HORIZON = 20, 1500  # more than the 16 runs that one kernel plays abreast, and not a multiple of them

#: The paper's ten uniform arms (panel R3).
_MEANS = [3.80, 4.43, 5.09, 4.15, 5.33, 3.69, 5.02, 3.38, 3.91, 3.51]
_VARIANCES = [2.7, 4.17, 6.01, 3.7, 6.99, 2.83, 6.21, 2.39, 3.64, 2.78]

BANDITS = {
    "uniform": sb.Bandit([sb.Uniform.from_moments(m, v) for m, v in zip(_MEANS, _VARIANCES, strict=True)]),
    "two": sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)]),
    "coins": sb.Bandit([sb.Bernoulli(p) for p in (0.5, 0.5, 0.4, 0.6)]),
    "equal": sb.Bandit([sb.Uniform(0, 1)] * 5),
    "constant": sb.Bandit([sb.arms.Constant(1.0), sb.arms.Constant(1.0), sb.arms.Constant(0.5)]),
    "negative": sb.Bandit([sb.Uniform(-3, 1), sb.Uniform(-2, 1.5), sb.Normal(-0.5, variance=1.0)]),
    "far": sb.Bandit([sb.Uniform(0, 1), sb.Uniform(50, 51), sb.Uniform(49, 52.5)]),
    "whole": sb.Bandit([sb.Empirical([0, 1, 2, 3]), sb.Empirical([0, 0, 3, 3]), sb.Empirical([1, 1, 2, 2])]),
}


def spec(policy, bandit, kernel, runs=RUNS, horizon=HORIZON, seed=4):
    checkpoints = tuple(sorted({1, 7, 50, 333, horizon}))
    return Spec(policy, as_environment(bandit), horizon, runs, seed, checkpoints, kernel=kernel)
