"""Segments with records of their own, and what they borrow from each other."""

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns.segments import borrow, joined
from sharpe_bandits.play.state import Sums

ARMS = ["VWAP", "TWAP", "IS"]
POLICY = sb.ScaleFreeUCB(L=0.1)
COSTS = sb.ScaleFreeUCB(objective=sb.MeanRisk(aversion=0.3))
MEANS = {"large": [0.0, 0.3, 0.6], "small": [0.8, 0.0, 0.1], "micro": [0.1, 0.4, 0.5]}


@pytest.fixture
def make(file_store):
    return lambda name="orders", policy=POLICY, **more: file_store.campaign(name, policy=policy, arms=ARMS, **more)


def rewards(rounds, seed=1):
    """Segments in random order, with the reward of each arm."""
    generator = np.random.default_rng(seed)
    for segment in generator.choice(list(MEANS), rounds):
        yield str(segment), dict(zip(ARMS, generator.normal(MEANS[segment], 1.0), strict=True))


def sums_of(*samples):
    """Sums about 0 of each arm's rewards."""
    samples = [np.array(sample, float) for sample in samples]
    return Sums(*(np.array([(x**k).sum() for x in samples]) for k in range(5)), np.zeros(len(samples)))


def test_segments_that_are_alike_borrow_everything():
    same = [[1.0, 2.0, 3.0], [0.0, 4.0]]
    shifted = [[11.0, 12.0, 13.0], [10.0, 14.0]]  # an effect on all arms is no difference between them
    block = borrow(sums_of(*same), [sums_of(*shifted), sums_of(*same)])
    assert block.rho == 0
    assert block.rewards.tolist() == [6, 4]
    assert block.mean == pytest.approx([2.0, 2.0])


def test_the_joint_record_is_the_empirical_bayes_estimate():
    """Against the formulas written out, for one arm that two others pin the segments' effects down with."""
    generator = np.random.default_rng(2)
    samples = [
        [generator.normal(m, 1.0, n) for m, n in zip(means, (40, 30, 50), strict=True)] for means in MEANS.values()
    ]
    sums = [sums_of(*rows) for rows in samples]
    block = borrow(sums[0], sums[1:])
    assert block.rho > 0
    # The additive fit, by least squares.
    n = np.array([[len(x) for x in rows] for rows in samples])
    mean = np.array([[x.mean() for x in rows] for rows in samples])
    within = sum(((x - x.mean()) ** 2).sum() for x in (rows[0] for rows in samples)) / (n[:, 0].sum() - 3)
    variance = np.array(
        [sum(((rows[a] - rows[a].mean()) ** 2).sum() for rows in samples) / (n[:, a].sum() - 3) for a in range(3)]
    )
    assert variance[0] == within
    design = np.array(
        [[s == i for i in range(3)] + [a == i for i in range(3)] for s in range(3) for a in range(3)], float
    )
    root = np.sqrt((n / variance).ravel())
    fit, *_ = np.linalg.lstsq(design * root[:, None], mean.ravel() * root, rcond=None)
    residual = mean.ravel() - design @ fit
    weighted = design * root[:, None]
    leverage = np.diag(weighted @ np.linalg.pinv(weighted))
    rho = ((root * residual) @ (root * residual) - 4) / (n.ravel() @ (1 - leverage))
    assert block.rho == pytest.approx(rho, rel=1e-6)
    precision = 1 / (rho + 1 / n[1:])
    worth = 1 / (rho + 1 / precision.sum(axis=0))
    assert block.rewards.tolist() == np.rint(worth).tolist()
    effect = fit[:3] - fit[0]
    borrowed = (precision * (mean[1:] - effect[1:, None])).sum(axis=0) / precision.sum(axis=0)
    assert block.mean == pytest.approx(borrowed, rel=1e-6)
    joint = joined(sums[0], block)
    expected = (n[0] * mean[0] + block.rewards * borrowed) / (n[0] + block.rewards)
    assert joint.anchor + joint.sum1 / joint.pulls == pytest.approx(expected)


def test_separate_segments_are_agents_of_their_own(make):
    campaign = make(segments="separate")
    agents = {segment: POLICY.agent(ARMS) for segment in MEANS}
    for segment, reward in rewards(150):
        decision = campaign.ask(segment=segment)
        assert decision.arm == agents[segment].ask()
        campaign.tell(decision, reward[decision.arm])
        agents[segment].tell(decision.arm, reward[decision.arm])
    assert {segment: campaign.recommend(segment) for segment in MEANS} == {
        segment: agent.recommend() for segment, agent in agents.items()
    }
    status = campaign.status()
    assert {one.segment: one.pulls for one in status.segments} == {s: list(a.pulls.values()) for s, a in agents.items()}
    assert campaign.verify(choices=True).ok


@pytest.mark.parametrize("policy", [POLICY, sb.ScaleFreeTS(L=0.1), COSTS], ids=str)
def test_pooled_segments_are_replayed_by_verify(make, policy):
    """With everything that may happen to a decision, exploration, bounds, and arms that come and go."""
    campaign = make(policy=policy, segments="pooled", explore=0.1, seed=4, lease="1 day")
    for turn, (segment, reward) in enumerate(rewards(160)):
        decision = campaign.ask(segment=segment if turn % 9 else None)
        assert 0 < decision.probability <= 1
        if turn % 13 == 5:
            campaign.cancel(decision)
        else:
            seen = {"IS": reward["IS"]} if turn % 11 == 0 and decision.arm != "IS" else None
            campaign.tell(decision, reward.get(decision.arm, 0.2), seen=seen)
        if turn == 60:
            campaign.add_arm("POV")
            campaign.amend(20 if campaign.decision(20).reward is not None else 21, 5.0)
        if turn == 90:
            campaign.set(bounds={"POV": (0.05, 0.3)})
        if turn == 120:
            campaign.retire_arm("POV")
            campaign.set(bounds={})
            campaign.record("TWAP", 0.1, segment="large", propensity=0.5)
    verification = campaign.verify(choices=True)
    assert verification.ok, verification
    status = campaign.status()
    assert status.rho > 0
    assert all(max(one.borrowed) > 0 for one in status.segments)
    assert sum(campaign.weights(max=0.5, segment="small").values()) == pytest.approx(1)


def test_a_policy_that_cannot_pool_says_so(make):
    for policy in (
        sb.policies.SlidingWindowUCB(L=0.1, window=50),
        sb.ScaleFreeUCB(objective=sb.objectives.Sortino(L=0.1)),
    ):
        with pytest.raises(sb.errors.InvalidInputError, match="segments='separate'"):
            make(policy=policy, segments="pooled")
        campaign = make(policy.name, policy=policy, segments="separate")  # the remedy
        campaign.tell(campaign.ask(segment="large"), 0.1)
    with pytest.raises(sb.errors.InvalidInputError, match="by segment"):
        make(policy=sb.SHSR(L=0.1), segments="separate", horizon=100)
    with pytest.raises(sb.errors.InvalidInputError, match="segments"):
        make(segments="some")
