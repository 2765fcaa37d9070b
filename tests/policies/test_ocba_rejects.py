"""Successive rejects with an optimal allocation, against a twin in plain Python."""

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.policies import OCBARejects


def weights(samples, objective):
    """Shares in proportion to W / d^2, by the definitions and with influences computed reward by reward."""
    h = np.array([(x.mean() - objective.risk_free) / (objective.L + x.std(ddof=1)) for x in samples])
    w = []
    for x in samples:
        sd, excess = x.std(ddof=1), x.mean() - objective.risk_free
        d = x - x.mean()
        influence = d / (objective.L + sd) - excess / (2 * sd * (objective.L + sd) ** 2) * (d * d - (d * d).mean())
        w.append(influence.var())
    w, s, best = np.array(w), np.array(list(map(len, samples))), int(h.argmax())
    error = np.sqrt(w / s + w[best] / s[best])
    share = w / np.maximum(h[best] - h - error, error / 2) ** 2
    share[best] = 0
    share[best] = share.max()
    return share


def test_pulls_of_the_second_phase_are_in_the_optimal_proportions():
    objective, budget = sb.Sharpe(L=0.1), 3_000
    policy = OCBARejects(objective)
    generator = np.random.default_rng(4)
    rewards = generator.normal([0.5, 0.45, 0.2, -1.0], [1, 2, 1, 1], (budget, 4))
    agent = policy.agent(4, horizon=budget)
    (first, _), (second, _) = policy.phases(budget, 4)[:2]
    for _ in range(4 * first + 3 * second):
        arm = agent.ask()
        agent.tell(arm, rewards[agent.pulls[arm], arm])
    assert agent.pulls[3] == first  # the worst was dropped
    after = np.array([agent.pulls[arm] for arm in range(3)])
    share = weights([rewards[:first, arm] for arm in range(3)], objective)
    done, total = np.zeros(3, bool), 3 * (first + second)
    while True:  # arms with more than their share stay as they are
        level = np.where(done, first, (total - first * done.sum()) * share / share[~done].sum())
        if not (more := ~done & (level < first)).any():
            break
        done |= more
    assert after.sum() == total
    assert after == pytest.approx(level, abs=1.5)


def test_arms_that_have_not_varied_yet_are_not_given_up():
    bandit = sb.Bandit([sb.Bernoulli(p) for p in (0.9, 0.7, 0.7, 0.5)])
    study = sb.simulate(OCBARejects(sb.RSSR(0.05)), bandit, horizon=40, runs=200, seed=1, checkpoints=[40])
    assert study["OCBA rejects"].error().mean < 0.5


def test_it_is_better_than_successive_rejects_where_arms_are_spread():
    bandit = sb.Bandit([sb.Beta(1 + 0.3 * i, 2) for i in range(10)])
    objective = sb.RSSR(0.01)
    policies = [OCBARejects(objective), sb.policies.SuccessiveRejects(objective)]
    study = sb.simulate(policies, bandit, horizon=1_000, runs=4_000, seed=9, checkpoints=[1_000])
    apart = study.compare_errors("OCBA rejects", "Successive rejects")
    assert apart.mean < -2 * apart.se


def test_the_same_in_units_of_another_currency():
    bandit = [sb.Normal(0.5, variance=1), sb.Normal(0.3, variance=2), sb.Normal(0.2, variance=1)]
    scaled = [sb.Normal(50, variance=1e4), sb.Normal(30, variance=2e4), sb.Normal(20, variance=1e4)]
    one = sb.trace(OCBARejects(sb.RSSR(0.1)), sb.Bandit(bandit), horizon=300, seed=2)
    other = sb.trace(OCBARejects(sb.RSSR(1e3)), sb.Bandit(scaled), horizon=300, seed=2)
    assert (one.choices == other.choices).mean() > 0.99
