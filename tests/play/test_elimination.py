"""Policies in phases: halving, accepts and rejects for the m best arms, by hand and against a plain twin."""

import math

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.play import elimination
from tests import twin
from tests.top_m import BUDGET, TAPE
from tests.twin import Record

OBJECTIVES = {
    "RSSR": (sb.RSSR(L=0.3), lambda m, v: m**2 / (0.3 + v)),
    "Sharpe": (sb.Sharpe(L=0.3, risk_free=0.4), lambda m, v: (m - 0.4) / (0.3 + math.sqrt(v))),
    "Variance": (sb.Variance(), lambda m, v: v),
}


# The twin: lists of rewards, two-pass statistics, sorting where the kernel searches.


def _ranked(objective, alive, rewards):
    """Arms alive from best to worst; the lowest of those that tie first."""
    value = {i: objective(Record(rewards[i]).mean, Record(rewards[i]).variance) for i in alive}
    return sorted(alive, key=lambda i: (-value[i], i)), value


def _turns(due):
    """The order of play in a phase: the arm with the most pulls due, of several the lowest."""
    due, turns = dict(due), []
    while any(due.values()):
        arm = max(due, key=lambda i: (due[i], -i))
        due[arm] -= 1
        turns.append(arm)
    return turns


def sar(objective, tape, budget, m):
    """Successive accepts and rejects (Bubeck, Wang & Viswanathan, 2013)."""
    arms = len(tape)
    log_bar = 0.5 + sum(1 / i for i in range(2, arms + 1))
    alive, accepted, choices = list(range(arms)), [], []
    rewards = [[] for _ in range(arms)]
    for k in range(1, arms):
        upto = math.ceil((budget - arms) / (log_bar * (arms + 1 - k)))
        for arm in _turns({i: upto - len(rewards[i]) for i in alive}):
            rewards[arm].append(tape[arm][len(rewards[arm])])
            choices.append(arm)
        order, value = _ranked(objective, alive, rewards)
        left = m - len(accepted)
        gaps = [
            value[i] - value[order[left]] if r < left else value[order[left - 1]] - value[i]
            for r, i in enumerate(order)
        ]
        # The largest gap is the best arm's or the worst's.
        assert max(gaps) == max(gaps[0], gaps[-1])
        if gaps[0] > gaps[-1]:
            accepted.append(order[0])
            alive.remove(order[0])
        else:
            alive.remove(order[-1])
    if len(accepted) < m:
        accepted += alive
    assert len(accepted) == m
    return choices, sorted(accepted)


def influence_variance(f, rewards):
    """Variance over the rewards of how much each moves the estimate of f(mean, variance)."""
    r = Record(rewards)
    x = np.array(rewards)
    by_mean = (f(r.mean + 1e-5, r.variance) - f(r.mean - 1e-5, r.variance)) / 2e-5
    by_variance = (f(r.mean, r.variance + 1e-5) - f(r.mean, r.variance - 1e-5)) / 2e-5
    return np.var(by_mean * (x - r.mean) + by_variance * (x - r.mean) ** 2)


@pytest.mark.parametrize("m", [1, 2, 3, 5, 8])
def test_accepts_and_rejects_are_the_twins(m):
    """On one objective: halving, which reads it in the same place, is played on all of them."""
    objective, formula = OBJECTIVES["RSSR"]
    trace = sb.trace(sb.policies.SuccessiveAcceptsRejects(objective, m=m), sb.Tape(TAPE), horizon=BUDGET)
    choices, accepted = sar(formula, TAPE, BUDGET, m)
    assert trace.choices.tolist() == choices
    assert trace.recommended == (accepted if m > 1 else accepted[0])


@pytest.mark.parametrize("keep_samples", [False, True])
@pytest.mark.parametrize("m", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_halving_is_the_twins(name, m, keep_samples):
    objective, formula = OBJECTIVES[name]
    trace = sb.trace(
        sb.policies.SequentialHalving(objective, m=m, keep_samples=keep_samples), sb.Tape(TAPE), horizon=BUDGET
    )
    assert (trace.choices.tolist(), trace.recommended) == twin.halving(formula, TAPE, BUDGET, keep_samples, m)


def test_uniform_sampling_takes_the_m_best_estimates():
    objective, formula = OBJECTIVES["RSSR"]
    trace = sb.trace(sb.policies.UniformSampling(objective, m=3), sb.Tape(TAPE), horizon=BUDGET)
    order, _ = _ranked(formula, range(9), TAPE[:, : BUDGET // 9])
    assert trace.recommended == sorted(order[:3])


def test_the_twins_tell_rules_apart():
    """Otherwise one rule in the place of another would go unnoticed above."""
    choices, sets = zip(*(sar(OBJECTIVES["RSSR"][1], TAPE, BUDGET, m) for m in (2, 3, 5)), strict=True)
    assert len({tuple(arms) for arms in sets}) == 3
    assert choices[1] != choices[2]


def test_accepts_and_rejects_by_hand():
    """Four arms, m = 2, on the mean. n = 30: 1/2 + 1/2 + 1/3 + 1/4 = 19/12 and (30 - 4) / (19/12) = 16.42, so that
    t_1 = ceil(16.42 / 4) = 5, t_2 = ceil(16.42 / 3) = 6, t_3 = ceil(16.42 / 2) = 9.

    Arms pay 9, 3, 2, 0. Phase 1 (five pulls each): 9 leads the third best by 9 - 2 = 7, 0 trails the second best by 3:
    arm 0 is accepted. Phase 2 (one pull more of arms 1, 2, 3; one arm wanted): 3 leads by 1, 0 trails by 3: arm 3 is
    rejected. Phase 3 (three pulls more of arms 1 and 2): arm 2 pays 8 now and has a mean of (6 x 2 + 3 x 8) / 9 = 4
    against 3: arm 1 is rejected, which leaves arm 2.
    """
    tape = [[9.0] * 9, [3.0] * 9, [2.0] * 6 + [8.0] * 3, [0.0] * 9]
    policy = sb.policies.SuccessiveAcceptsRejects(sb.Mean(), m=2)
    trace = sb.trace(policy, sb.Tape(tape), horizon=30)
    assert trace.choices.tolist() == [0, 1, 2, 3] * 5 + [1, 2, 3] + [1, 2] * 3
    assert trace.recommended == [0, 2]
    agent = policy.agent(["a", "b", "c", "d"], horizon=30)
    for _ in range(20):
        arm = agent.ask()
        agent.tell(arm, tape["abcd".index(arm)][agent.pulls[arm]])
    assert agent.accepted == ["a"]
    assert agent.alive == ["a", "b", "c", "d"]
    assert agent.recommend() == ["a", "b"]
    with pytest.raises(
        sb.errors.InvalidInputError, match="arm 'a' is accepted already; ask\\(\\) says 'b'; nothing was recorded"
    ):
        agent.tell("a", 9.0)


def test_ties_in_accepts_and_rejects_keep_the_lowest_arms():
    tape = np.tile([1.0, 2.0] * 10, (5, 1))
    for m in (1, 2, 3, 4):
        trace = sb.trace(sb.policies.SuccessiveAcceptsRejects(sb.RSSR(L=1.0), m=m), sb.Tape(tape), horizon=60)
        assert trace.recommended == (list(range(m)) if m > 1 else 0)


def test_accepts_and_rejects_for_one_arm_is_successive_rejects():
    """As published: with m = 1 the gap of the worst is never below that of the best. Ties included (whole rewards)."""
    objective, _ = OBJECTIVES["RSSR"]
    coarse = sb.Bandit([sb.Empirical([0, 0, 1, 1, 2]), sb.Empirical([0, 1, 1, 1, 2]), *[sb.Bernoulli(0.5)] * 5])
    policies = [sb.policies.SuccessiveAcceptsRejects(objective), sb.policies.SuccessiveRejects(objective)]
    for bandit in (sb.Tape(TAPE), coarse):
        one, other = sb.simulate(policies, bandit, horizon=BUDGET, runs=40).values()
        for field in ("pulls", "final", "recommended", "reward_mean", "reward_variance"):
            np.testing.assert_array_equal(getattr(one, field), getattr(other, field), err_msg=field)


def test_variance_aware_halving_makes_estimates_equally_certain():
    """In the second half of a phase pulls go to where they make pulls proportional to the variance of the influence."""
    objective, formula = OBJECTIVES["RSSR"]
    generator = np.random.default_rng(2)
    sds = [0.2, 0.5, 1.0, 1.5]
    tape = generator.normal(1.0, np.array(sds)[:, None], size=(4, 800))
    policy = sb.policies.VarianceAwareHalving(objective, m=2)
    trace = sb.trace(policy, sb.Tape(tape), horizon=800)
    ((first, all_four), (second, two)) = policy.phases(800, 4)
    assert (first, all_four, second, two) == (100, 4, 100, 2)
    assert trace.choices[:400].tolist() == [0, 1, 2, 3] * 100
    pulls = np.bincount(trace.choices)
    weights = np.array([influence_variance(formula, row[:100].tolist()) for row in tape])
    # Water-filling by brute force: one pull at a time to the arm whose estimate is the least certain.
    expected = np.full(4, 100)
    for _ in range(400):
        expected[np.argmax(weights / expected)] += 1
    assert len(trace) == 800
    assert np.abs(pulls - expected).max() <= 1
    assert len(set(pulls)) == 4  # the standard deviations differ, and so do the pulls
    assert trace.choices[400:].tolist() == _turns(dict(enumerate(pulls - 100)))


def test_arms_that_have_not_varied_are_played_all_the_same():
    tape = np.ones((4, 100))
    trace = sb.trace(sb.policies.VarianceAwareHalving(sb.RSSR(L=0.1)), sb.Tape(tape), horizon=100)
    assert np.bincount(trace.choices).tolist() == [37, 37, 12, 12]  # 6 + 6 of four, then 12 + 13 of two
    tape[0] = [2.0, 3.0] * 50  # one that varies: it gets what is shared out, the others the part that is shared alike
    trace = sb.trace(sb.policies.VarianceAwareHalving(sb.RSSR(L=0.1)), sb.Tape(tape), horizon=100)
    pulls = np.bincount(trace.choices, minlength=4)
    assert pulls.sum() == len(trace) == 98
    assert pulls.tolist()[0] == 6 + 24 + 12 + 26
    assert sorted(pulls.tolist()[1:]) == [6, 6, 18]


def test_the_influence_variance_is_that_of_the_estimate():
    objective, x = sb.RSSR(L=0.1), np.random.default_rng(4).gamma(2.0, 0.5, size=100_000)
    w = objective.record_noise(objective.statistics(x), *objective.arguments())
    assert w == pytest.approx(influence_variance(lambda m, v: m**2 / (0.1 + v), x.tolist()), rel=1e-4)
    scaled = sb.RSSR(L=0.1e6).record_noise(objective.statistics(1e3 * x), 0.1e6, 0.0)
    assert scaled == pytest.approx(w, rel=1e-9)  # RSSR has no unit if L is scaled too


def test_remaining_pulls_and_place_agree_with_playing_it_out():
    generator = np.random.default_rng(8)
    for _ in range(60):
        quota = generator.integers(0, 7, size=generator.integers(1, 6))
        turns = _turns(dict(enumerate(quota.tolist())))
        due = dict(enumerate(quota.tolist()))
        short = np.zeros(len(quota), np.int64)
        for now, arm in enumerate(turns):
            elimination.remaining_pulls(quota, len(quota), now, short)
            assert short.tolist() == list(due.values())
            assert elimination.place(quota, len(quota), arm, due[arm]) == now
            due[arm] -= 1
