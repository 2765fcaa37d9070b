"""Policies that look for the m best arms, by m, and what they play on in several tests."""

import numpy as np

import sharpe_bandits as sb

BUDGET = 200
_GENERATOR = np.random.default_rng(31)
TAPE = _GENERATOR.normal(
    _GENERATOR.uniform(0.2, 1.4, size=(9, 1)), _GENERATOR.uniform(0.2, 1.5, size=(9, 1)), size=(9, BUDGET)
)


FINDERS = {
    "halving": lambda m: sb.policies.SequentialHalving(sb.RSSR(L=0.5), m=m),
    "kept": lambda m: sb.policies.SequentialHalving(sb.RSSR(L=0.5), m=m, keep_samples=True),
    "SHSR": lambda m: sb.SHSR(L=0.5, m=m),
    "SHVV": lambda m: sb.SHVV(m=m),
    "SAR": lambda m: sb.policies.SuccessiveAcceptsRejects(sb.RSSR(L=0.5), m=m),
    "aware": lambda m: sb.policies.VarianceAwareHalving(sb.RSSR(L=0.5), m=m),
    "uniform": lambda m: sb.policies.UniformSampling(sb.RSSR(L=0.5), m=m),
}


FIVE = sb.Bandit([sb.Uniform(0, b) for b in (1.0, 0.9, 0.8, 0.8, 0.5)])  # RSSR grows with b: arms 2 and 3 tie
