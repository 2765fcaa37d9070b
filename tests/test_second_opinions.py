"""Other people's programs, where they compute the same: choice for choice, or digit for digit."""

import numpy as np
import pytest

import sharpe_bandits as sb


@pytest.mark.parametrize("seed", range(5))
def test_ucb1_chooses_as_mabwiser_does(seed):
    """Both play each arm once, then the largest index, on the same table of rewards."""
    mabwiser = pytest.importorskip("mabwiser.mab")
    rewards = np.random.default_rng(seed).normal([0.2, 0.5, 0.45, 0.1], 0.3, (600, 4))
    agent = sb.policies.UCB1().agent(arms=4)
    for arm in range(4):
        agent.tell(arm, rewards[arm, arm])
    theirs = mabwiser.MAB(list(range(4)), mabwiser.LearningPolicy.UCB1(alpha=1.0))
    theirs.fit(list(range(4)), [rewards[arm, arm] for arm in range(4)])
    for t in range(4, 600):
        arm = agent.ask()
        assert arm == theirs.predict(), t
        agent.tell(arm, rewards[t, arm])
        theirs.partial_fit([arm], [rewards[t, arm]])


def test_autocorrelations_are_those_of_statsmodels():
    tools = pytest.importorskip("statsmodels.tsa.stattools")
    from sharpe_bandits.returns.statistics import autocorrelation

    rng = np.random.default_rng(3)
    x = rng.normal(size=500)
    x[1:] += 0.4 * x[:-1]
    expected = tools.acf(x, nlags=1, fft=False)[1]
    assert np.ravel(autocorrelation(x[:, None]))[0] == pytest.approx(expected, rel=1e-12)
