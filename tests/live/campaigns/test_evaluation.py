"""Off-policy evaluation: against a policy whose earnings are known exactly, and where the log cannot say."""

import numpy as np
import pytest

import sharpe_bandits as sb

MEANS = {"a": 0.3, "b": 0.1, "c": -0.2}


@sb.index_policy(name="always the second arm")
def second(arm, t, chosen):
    return -abs(arm.mean - chosen)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """1,500 decisions with exploration; rewards are noisy, some come late, some never."""
    store = sb.Store(tmp_path_factory.mktemp("live") / "campaigns.db", synchronous="NORMAL")
    made = store.campaign("c", policy=sb.ScaleFreeUCB(L=0.1), arms=list(MEANS), explore=0.3, seed=4)
    generator = np.random.default_rng(1)
    for _ in range(75):
        batch = made.ask(count=20)
        made.tell_many({d: generator.normal(MEANS[d.arm], 0.2) for d in batch[:-1]})
    return made


def test_probabilities_are_those_of_the_mixture(campaign):
    """An arm that the policy chose has 1 - 0.3 + 0.1, any other 0.1, which one decision in five gets."""
    found = np.array(campaign.history()["probability"].to_pylist())
    assert set(found.round(12)) == {0.8, 0.1}
    assert np.mean(found < 0.5) == pytest.approx(0.2, abs=4 * np.sqrt(0.2 * 0.8 / 1500))


def test_the_estimates_cover_what_is_known(campaign):
    """A policy that settles on the arm of mean 0.1 earns 0.1 per round after its pilot, and the campaign's own earns
    most of 0.3; one that draws arms uniformly earns the mean of the means, (0.3 + 0.1 - 0.2) / 3.
    """
    for policy, earns in (
        (second(chosen=0.1), 0.1),
        (sb.ScaleFreeUCB(L=0.1), 0.3),
        (sb.policies.EpsilonGreedy(sb.Mean(), epsilon=1.0), 0.2 / 3),
    ):
        found = campaign.evaluate(policy)
        assert (found.rounds, found.unrewarded) == (1425, 75)
        for estimate in (found.inverse_propensity, found.doubly_robust):
            assert abs(estimate.mean - earns) < 4 * estimate.se + 0.01, f"{policy.name}: {found}"
        assert found.doubly_robust.se <= found.inverse_propensity.se
        assert 10 < found.effective_rounds <= 1425
    assert campaign.verify(choices=True).ok


def test_where_the_log_cannot_say(tmp_path):
    store = sb.Store(tmp_path / "campaigns.db", synchronous="NORMAL")
    plain = store.campaign("plain", policy=sb.ScaleFreeUCB(L=0.1), arms=["a", "b"])
    with pytest.raises(sb.errors.InvalidInputError, match=r"has explore=0.* create a campaign with explore="):
        plain.evaluate(sb.ScaleFreeTS(L=0.1))
    explored = store.campaign("explored", policy=sb.ScaleFreeUCB(L=0.1), arms=["a", "b"], explore=0.05)
    with pytest.raises(sb.errors.InvalidInputError, match="0 rewards are too few"):
        explored.evaluate(sb.ScaleFreeTS(L=0.1))
    with pytest.raises(sb.errors.InvalidInputError, match="is a best-arm policy"):
        explored.evaluate(sb.SHSR(L=0.1))
    with pytest.raises(sb.errors.InvalidInputError, match="a policy such as"):
        explored.evaluate("SF-UCB")
    with pytest.raises(sb.errors.InvalidInputError, match="leave explore out"):
        store.campaign("phases", policy=sb.SHSR(L=0.1), arms=4, horizon=100, explore=0.05)


def test_round_robin_earns_the_mean_of_the_means(campaign):
    found = campaign.evaluate(sb.policies.RoundRobin())
    assert found.doubly_robust.low < 0.2 / 3 < found.doubly_robust.high


@pytest.mark.parametrize(
    "goal",
    [sb.Sharpe(L=0.0), sb.MeanRisk(aversion=0.5), sb.RSSR(L=0.01), sb.Sortino(L=0.01), sb.objectives.Omega(L=0.01)],
)
def test_the_value_of_the_objective(campaign, goal):
    """Round robin's rewards have the mean of the means, and the variance 0.2^2 plus that of the means."""
    mean, variance = np.mean(list(MEANS.values())), 0.2**2 + np.var(list(MEANS.values()))
    z = np.random.default_rng(5).standard_normal(200_000)
    feature = np.mean([goal.features(m + 0.2 * z).mean() for m in MEANS.values()]) if goal.has_feature else np.nan
    truth = float(goal.value(sb.objectives.Statistics(mean=mean, variance=variance, feature=feature)))
    found = campaign.evaluate(sb.policies.RoundRobin(goal))
    for estimate in (found.value, found.self_normalised):
        assert abs(estimate.mean - truth) < 4 * estimate.se
        assert estimate.low < estimate.mean < estimate.high
    assert found.value_anytime[0] < found.value.low < found.value.high < found.value_anytime[1]
    rewards = [x for x in campaign.history()["reward"].to_pylist() if x is not None]
    assert found.earned_value.mean == pytest.approx(float(goal.value_of(rewards)), rel=2e-3)
    assert found.earned_value.se == pytest.approx(float(goal.standard_error(goal.statistics(rewards))), rel=2e-3)


def test_decisions_of_others_are_enough_if_their_propensities_are_known(file_store):
    shadow = file_store.campaign("c", policy=sb.ScaleFreeUCB(L=0.1), arms=list(MEANS), mode="shadow")
    generator = np.random.default_rng(1)
    for i in range(600):
        arm = list(MEANS)[generator.integers(3)]
        shadow.record(arm, generator.normal(MEANS[arm], 0.2), propensity=1 / 3, key=f"{i}")
    found = shadow.evaluate(sb.ScaleFreeUCB(L=0.1))
    assert abs(found.doubly_robust.mean - 0.3) < 4 * found.doubly_robust.se + 0.02
