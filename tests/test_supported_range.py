"""Rewards up to 1e18 and L up to 1e36 are supported everywhere, more is refused everywhere, and the remedy works."""

import numpy as np
import pytest

import sharpe_bandits as sb

RAW = np.random.default_rng(5).normal(0.5, 1.0, (3, 120))
REFUSED = r"1e\+18.*divide all rewards by a power of ten, and L by its square"


def of(size):
    """Arms with rewards of this size."""
    return [sb.Uniform(0, size), sb.Uniform(0, 1.5 * size)]


PLAYS = {
    "simulate": lambda size, L: sb.simulate(sb.ScaleFreeUCB(L=L), of(size), horizon=80, runs=2)[
        "SF-UCB"
    ].final.tolist(),
    "trace": lambda size, L: sb.trace(sb.SHSR(L=L), of(size), horizon=80).choices.tolist(),
    "identify": lambda size, L: sb.identify(sb.TopTwo(L=L), of(size), runs=2, max_budget=500)["TopTwo"].final.tolist(),
}


@pytest.mark.parametrize("play", PLAYS.values(), ids=PLAYS)
def test_simulations_refuse_larger_rewards_and_the_remedy_works(play):
    with pytest.raises(sb.errors.InvalidInputError, match=REFUSED):
        play(1e23, 1e36)
    largest, divided = play(2.0**59, 0.1 * 2.0**118), play(1.0, 0.1)  # powers of two are divided without rounding
    assert largest == divided


def test_agents_and_campaigns_refuse_larger_rewards_and_the_remedy_works(tmp_path):
    agent = sb.UCBRSSR(L=1e36).agent(arms=["a", "b"])
    agent.tell("a", -1e18)
    campaign = sb.Store(tmp_path / "store.db").campaign("c", policy=sb.UCBRSSR(L=1e36), arms=["a", "b"])
    before, decision = agent.to_json(), campaign.ask()
    with pytest.raises(sb.errors.InvalidInputError, match=f"{REFUSED}.*nothing was recorded"):
        agent.tell("a", 1.1e18)
    with pytest.raises(sb.errors.InvalidInputError, match=REFUSED):
        campaign.tell(decision, 1.1e18)
    assert agent.to_json() == before
    agent.tell("a", 1.1e17)
    campaign.tell(decision, 1.1e17)


@pytest.mark.parametrize(
    "make", [sb.UCBRSSR, sb.SHSR, sb.TopTwo, sb.ScaleFreeUCB, sb.RSSR, sb.Sharpe, sb.Sortino, sb.objectives.Omega]
)
def test_parameters_have_the_limits_of_rewards_and_their_squares(make):
    make(L=1e36)
    with pytest.raises(sb.errors.InvalidInputError, match=r"L must be at most 1e\+36, got 1e\+38; divide all rewards"):
        make(L=1e38)
    level = {sb.Sortino: "target", sb.objectives.Omega: "threshold"}.get(make, "risk_free")
    make(L=1.0, **{level: -1e18})
    with pytest.raises(sb.errors.InvalidInputError, match=f"{level} must be .*{REFUSED}"):
        make(L=1.0, **{level: 2e18})


def test_horizons_have_a_largest_value():
    for play in (
        lambda: sb.simulate(sb.UCBRSSR(L=1), of(1), horizon=10**9 + 1),
        lambda: sb.trace(sb.UCBRSSR(L=1), of(1), horizon=10**9 + 1),
        lambda: sb.identify(sb.TopTwo(L=1), of(1), max_budget=10**9 + 1),
        lambda: sb.UCBRSSR(L=1).agent(arms=2, horizon=10**15 + 1),
    ):
        with pytest.raises(sb.errors.InvalidInputError, match="must be a whole number from 2 to"):
            play()


@pytest.mark.parametrize("scale", [1e-12, 1e6, 1e17])
def test_at_the_limits_all_kernels_and_agents_choose_alike(scale):
    """The remedy: rewards divided by a power of ten, and L by its square, are chosen alike."""
    policy = sb.ScaleFreeUCB(L=0.1 * scale**2)
    bandit = sb.Tape(scale * RAW)
    kernels = ("side by side", "reference")
    runs = [sb.trace(policy, bandit, horizon=100, kernel=kernel) for kernel in kernels]
    agent = policy.agent(arms=3)
    for arm, reward in zip(runs[0].choices.tolist(), runs[0].rewards.tolist(), strict=True):
        assert agent.ask() == arm
        agent.tell(arm, reward)
    for run in runs[1:]:
        assert run.choices.tolist() == runs[0].choices.tolist()
