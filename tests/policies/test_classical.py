"""Baselines on the mean, against values worked out from their definitions."""

import math

import pytest
import scipy.optimize
import scipy.special

import sharpe_bandits as sb

REWARDS = {0: [0.2, 0.9, 0.4, 0.5], 1: [0.6, 0.7], 2: [0.0, 1.0, 1.0]}


def published(policy, rewards, rounds):
    """The index as the papers define it."""
    s, mean = len(rewards), sum(rewards) / len(rewards)
    variance, level = sum(x * x for x in rewards) / s - mean**2, math.log(rounds) / s
    if policy == "UCB-V":
        return mean + math.sqrt(2 * variance * 1.2 * level) + 3 * 1.2 * level
    if policy == "UCB-Tuned":
        return mean + math.sqrt(level * min(0.25, variance + math.sqrt(2 * level)))

    def excess(q):
        return scipy.special.rel_entr(mean, q) + scipy.special.rel_entr(1 - mean, 1 - q) - level

    return scipy.optimize.brentq(excess, mean, 1 - 1e-15)


@pytest.mark.parametrize("policy", [sb.policies.UCBV(), sb.policies.UCBTuned(), sb.policies.KLUCB()])
def test_the_arm_with_the_largest_published_index_is_played(policy):
    agent = policy.agent(3)
    told = {arm: [] for arm in REWARDS}
    for k in range(4):
        for arm, rewards in REWARDS.items():
            if k < len(rewards):
                agent.tell(arm, rewards[k])
                told[arm].append(rewards[k])
    for _ in range(60):
        rounds = sum(map(len, told.values()))
        indices = {arm: published(policy.name, rewards, rounds) for arm, rewards in told.items()}
        arm = agent.ask()
        assert arm == max(indices, key=indices.get)
        reward = 0.1 + 0.2 * arm + 0.5 * (rounds % 3 == arm)
        agent.tell(arm, reward)
        told[arm].append(reward)


def test_kl_ucb_has_less_regret_than_ucb1_on_rare_successes():
    bandit = sb.Bandit([sb.Bernoulli(0.1), sb.Bernoulli(0.05), sb.Bernoulli(0.05)])
    study = sb.simulate([sb.policies.KLUCB(), sb.policies.UCB1()], bandit, horizon=5_000, runs=64, seed=3)
    assert study["KL-UCB"].regret(sb.Mean()).final.mean < 0.5 * study["UCB1"].regret(sb.Mean()).final.mean
