"""Halving, rejects and uniform sampling: by hand, against the twin, within the budget for any K."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sharpe_bandits as sb
from tests import twin
from tests.top_m import FINDERS, FIVE

BUDGET = 80
_GENERATOR = np.random.default_rng(6)  # a seed with which all objectives below rank the arms differently
TAPE = _GENERATOR.normal(
    _GENERATOR.uniform(-1, 1, size=(7, 1)), _GENERATOR.uniform(0.3, 1.2, size=(7, 1)), size=(7, BUDGET)
)


def copy_sign_square(x):
    return math.copysign(x * x, x)


#: Objectives of docs/evidence/reading-the-paper.md, with risk-free rate and in signed form, and their formulas written out.
OBJECTIVES = {
    "RSSR": (sb.RSSR(L=0.3), lambda m, v: m**2 / (0.3 + v)),
    "RSSR, rate": (sb.RSSR(L=0.3, risk_free=0.4), lambda m, v: (m - 0.4) ** 2 / (0.3 + v)),
    "signed RSSR": (sb.RSSR(L=0.3, risk_free=0.4, signed=True), lambda m, v: copy_sign_square(m - 0.4) / (0.3 + v)),
    "Sharpe": (sb.Sharpe(L=0.3, risk_free=0.4), lambda m, v: (m - 0.4) / (0.3 + math.sqrt(v))),
    "SharpeLike": (sb.objectives.SharpeLike(L=0.3, risk_free=0.4), lambda m, v: (m - 0.4) / (0.3 + v)),
    "Variance": (sb.Variance(), lambda m, v: v),
    "MeanVariance": (sb.MeanVariance(rho=0.8), lambda m, v: 0.8 * m - v),
    "MeanRisk": (sb.MeanRisk(aversion=0.8), lambda m, v: m - 0.8 * math.sqrt(v)),
    "IsraelsenSharpe": (
        sb.objectives.IsraelsenSharpe(L=0.3, risk_free=0.4),
        lambda m, v: (m - 0.4) * (0.3 + math.sqrt(v)) ** (1 if m < 0.4 else -1),
    ),
    "Mean": (sb.Mean(), lambda m, v: m),
}


def drive(policy, tape, budget):
    """Choices and recommendation of a live agent."""
    agent = policy.agent(arms=len(tape), horizon=budget)
    pulls, choices = [0] * len(tape), []
    while not agent.done:
        arm = agent.ask()
        agent.tell(arm, tape[arm][pulls[arm]])
        pulls[arm] += 1
        choices.append(arm)
    return choices, agent.recommend()


def test_shsr_by_hand():
    """Four arms, n = 16, L = 1: two phases of floor(16 / (4 x 2)) = 2 and floor(16 / (2 x 2)) = 4 pulls.

    Phase 1 (X^2 / (1 + V) from two rewards):
      arm 0: 1, 3 -> X = 2, V = 2: 4/3      arm 1: 2, 2 -> X = 2, V = 0: 4
      arm 2: 0, 6 -> X = 3, V = 18: 9/19    arm 3: 1, 2 -> X = 1.5, V = 0.5: 1.5
    Arms 1 and 3 stay. Phase 2 starts afresh with their third to sixth rewards:
      arm 1: 0, 2, 0, 2 -> X = 1, V = 4/3: 3/7 = 0.43     arm 3: 1, 1, 1, 1 -> X = 1, V = 0: 1
    Arm 3 is recommended. With samples kept, arm 1 has 2, 2, 0, 2, 0, 2 (X = 4/3, V = 16/15: 0.86) and arm 3 has
    1, 2, 1, 1, 1, 1 (X = 7/6, V = 1/6: 1.17): arm 3 as well.
    """
    rewards = [[1, 3] + [9] * 4, [2, 2, 0, 2, 0, 2], [0, 6] + [9] * 4, [1, 2, 1, 1, 1, 1]]
    trace = sb.trace(sb.SHSR(L=1.0), sb.Tape(rewards), horizon=16)
    assert trace.choices.tolist() == [0, 1, 2, 3] * 2 + [1, 3] * 4
    assert trace.rewards.tolist() == [1, 2, 0, 1, 3, 2, 6, 2, 0, 1, 2, 1, 0, 1, 2, 1]
    assert trace.recommended == 3
    assert sb.trace(sb.SHSR(L=1.0, keep_samples=True), sb.Tape(rewards), horizon=16).recommended == 3


def test_keeping_samples_changes_the_verdict_by_hand():
    """Three arms, n = 12, L = 1: phases of floor(12/6) = 2 and floor(12/4) = 3 pulls.

    Phase 1: arm 0: 4, 4 -> 16; arm 1: 2, 2 -> 4; arm 2: 1, 1 -> 1. Arms 0 and 1 stay.
    Phase 2 afresh: arm 0: 1, 1, 1 -> 1; arm 1: 2, 2, 0 -> (16/9) / (1 + 4/3) = 0.76: arm 0.
    Phase 2 with samples kept: arm 0: 4, 4, 1, 1, 1 -> 2.2^2 / (1 + 2.7) = 1.31; arm 1: 2, 2, 2, 2, 0 ->
    1.6^2 / (1 + 0.8) = 1.42: arm 1.
    """
    rewards = [[4, 4, 1, 1, 1], [2, 2, 2, 2, 0], [1, 1, 1, 1, 1]]
    assert sb.trace(sb.SHSR(L=1.0), sb.Tape(rewards), horizon=12).recommended == 0
    assert sb.trace(sb.SHSR(L=1.0, keep_samples=True), sb.Tape(rewards), horizon=12).recommended == 1


def test_sursr_by_hand():
    """Three arms, n = 19: the mean of logarithms is 1/2 + 1/2 + 1/3 = 4/3, (19 - 3) / (4/3) = 12, so t_1 = 12/3 = 4 and
    t_2 = 12/2 = 6: 3 x 4 + 2 x 2 = 16 rounds of 19. All samples count.

    L = 1. After phase 1: arm 0: 2, 2, 2, 2 -> 4; arm 1: 1, 1, 1, 1 -> 1; arm 2: 3, 3, 3, 3 -> 9. Arm 1 goes. Then arm 2
    pays 9, 9: 3 x 4 and 9 x 2: X = 5, V = 9.6: 2.36 < 4: arm 0 is left.
    """
    rewards = [[2] * 6, [1] * 6, [3, 3, 3, 3, 9, 9]]
    trace = sb.trace(sb.SuRSR(L=1.0), sb.Tape(rewards), horizon=19)
    assert trace.choices.tolist() == [0, 1, 2] * 4 + [0, 2] * 2
    assert trace.recommended == 0


def test_ties_keep_the_lowest_arms():
    rewards = np.tile([1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0], (4, 1))
    assert sb.trace(sb.SHSR(L=1.0), sb.Tape(rewards), horizon=16).choices.tolist() == [0, 1, 2, 3] * 2 + [0, 1] * 4
    assert sb.trace(sb.SHSR(L=1.0), sb.Tape(rewards), horizon=16).recommended == 0
    assert sb.trace(sb.SuRSR(L=1.0), sb.Tape(rewards), horizon=20).recommended == 0


def play(policy):
    """Choices and recommendation on the tape, simulated."""
    trace = sb.trace(policy, sb.Tape(TAPE), horizon=BUDGET)
    return trace.choices.tolist(), trace.recommended


@pytest.mark.parametrize("name", OBJECTIVES)
def test_elimination_works_with_any_objective(name):
    objective, formula = OBJECTIVES[name]
    for policy, expected in (
        (sb.policies.SequentialHalving(objective), twin.halving(formula, TAPE, BUDGET, False)),
        (sb.policies.SuccessiveRejects(objective), twin.rejects(formula, TAPE, BUDGET)),
        (sb.policies.UniformSampling(objective), twin.uniform_sampling(formula, TAPE, BUDGET)),
    ):
        assert drive(policy, TAPE, BUDGET) == expected
        if name in ("RSSR", "RSSR, rate", "Variance", "Sharpe"):
            assert play(policy) == expected


def test_the_tape_tells_objectives_apart():
    """Otherwise one formula in the place of another would go unnoticed above."""
    orders = {tuple(twin.rejects(formula, TAPE, BUDGET)[0]) for _, formula in OBJECTIVES.values()}
    assert len(orders) == len(OBJECTIVES)
    verdicts = [
        [twin.halving(formula, TAPE, BUDGET, keep)[1] for _, formula in OBJECTIVES.values()] for keep in (False, True)
    ]
    assert verdicts[0] != verdicts[1]


def test_named_policies_are_the_general_ones():
    """SHVV and SHSR are sequential halving on Variance and RSSR, SuRSR successive rejects on RSSR."""
    variance, rssr = OBJECTIVES["Variance"][1], OBJECTIVES["RSSR, rate"][1]
    for policy, expected in [
        (sb.SHVV(), twin.halving(variance, TAPE, BUDGET, False)),
        (sb.SHVV(keep_samples=True), twin.halving(variance, TAPE, BUDGET, True)),
        (sb.SHSR(L=0.3, risk_free=0.4), twin.halving(rssr, TAPE, BUDGET, False)),
        (sb.SHSR(L=0.3, risk_free=0.4, keep_samples=True), twin.halving(rssr, TAPE, BUDGET, True)),
        (sb.SuRSR(L=0.3, risk_free=0.4), twin.rejects(rssr, TAPE, BUDGET)),
    ]:
        assert play(policy) == expected, policy
    signed = OBJECTIVES["signed RSSR"][1]
    assert drive(sb.SHSR(L=0.3, risk_free=0.4, signed=True), TAPE, BUDGET) == twin.halving(signed, TAPE, BUDGET, False)


def test_least_budgets_by_hand():
    """Halving: two pulls in the first phase of ceil(log2 K): 2 x K x phases. Uniform sampling: 2 K."""
    assert sb.SHSR(L=1.0).least_budget(64) == 2 * 64 * 6
    assert sb.SHSR(L=1.0).least_budget(5) == 2 * 5 * 3
    assert sb.policies.UniformSampling(sb.Mean()).least_budget(7) == 14
    # Rejects at K = 2: the constant is 1/2 + 1/2 = 1, so t_1 = ceil((n - 2) / 2) is 2 from n = 5 on.
    assert sb.SuRSR(L=1.0).least_budget(2) == 5


def test_the_printed_logarithm_would_overspend():
    """log(K) in place of the sum spends 44% too much at K = 2 (1 / ln 2 = 1.44); ours spends what there is."""
    n = 10_000
    (pulls, _stay), *_ = sb.SuRSR(L=1.0).phases(n, 2)
    assert 2 * pulls == n - 2
    assert 2 * math.ceil((n - 2) / (math.log(2) * 2)) / n == pytest.approx(1.44, abs=0.005)


def test_phases_by_hand():
    """K = 12, m = 3, n = 240: ceil(log2 4) = 2 phases of 240 / 2 = 120 rounds: 10 pulls of 12 arms, 20 of 6; 3 stay.
    K = 10, m = 3: ceil(log2 3.33) = 2 phases, 10 -> 5 -> 3. K = 7, m = 5: one phase, 7 -> 5 (not 4).
    """
    assert sb.policies.SequentialHalving(sb.Mean(), m=3).phases(240, 12) == [(10, 6), (20, 3)]
    assert sb.policies.SequentialHalving(sb.Mean(), m=3).phases(240, 10) == [(12, 5), (24, 3)]
    assert sb.policies.SequentialHalving(sb.Mean(), m=5).phases(70, 7) == [(10, 5)]
    assert sb.policies.VarianceAwareHalving(sb.Mean(), m=3).phases(252, 12) == [(5, 12), (5, 6), (10, 6), (11, 3)]
    assert sb.policies.UniformSampling(sb.Mean(), m=5).phases(70, 7) == [(10, 5)]
    assert sb.policies.SuccessiveAcceptsRejects(sb.Mean(), m=5).phases(70, 7) == sb.policies.SuccessiveRejects(
        sb.Mean()
    ).phases(70, 7)


@given(st.sampled_from(sorted(FINDERS)), st.integers(2, 70), st.data())
def test_phases_fit_any_number_of_arms(family, arms, data):
    m = data.draw(st.integers(1, arms - 1))
    policy = FINDERS[family](m)
    budget = policy.least_budget(arms) + data.draw(st.integers(0, 5000))
    alive, spent = arms, 0
    for pulls, stay in policy.phases(budget, arms):
        assert pulls >= 0
        assert stay < alive or (family == "aware" and stay == alive)
        spent += pulls * alive
        alive = stay
    assert alive == (1 if family == "SAR" else m)
    assert spent <= budget
    with pytest.raises(sb.errors.BudgetTooSmallError, match=f"at least {policy.least_budget(arms)} for {arms} arms"):
        policy.check_horizon(policy.least_budget(arms) - 1, arms)


@pytest.mark.parametrize("m", [0, -1, 2.0, "2", True, None])
def test_m_must_be_a_whole_number_from_1(m):
    for family in FINDERS.values():
        with pytest.raises(sb.errors.InvalidInputError, match=f"m must be a whole number at least 1, got {m!r}"):
            family(m)


@pytest.mark.parametrize("family", FINDERS)
def test_m_must_be_less_than_the_number_of_arms(family):
    for m in (5, 9):
        policy = FINDERS[family](m)
        for attempt in (
            lambda policy=policy: sb.simulate(policy, FIVE, horizon=1000, runs=2),
            lambda policy=policy: sb.trace(policy, FIVE, horizon=1000),
            lambda policy=policy: policy.agent(5, horizon=1000),
            lambda policy=policy: policy.agent(5),
        ):
            with pytest.raises(
                sb.errors.InvalidInputError, match=f"m = {m} best arms, but there are 5.*pass m=4 at most"
            ):
                attempt()


@pytest.mark.parametrize(
    ("phases", "said"),
    [
        (lambda budget, arms: [(budget, 1)], r"\(100, 1\) must be .* of 3 undecided arms.* from 0 to 33, as rounds"),
        (
            lambda budget, arms: [(20, 2), (21, 1)],
            r"\(21, 1\) must be .* of 2 undecided arms.* from 0 to 20, as rounds",
        ),
        (lambda budget, arms: [(budget // arms, 0)], r"\(33, 0\) must be .* from 1 to 3"),
        (lambda budget, arms: [(10, 2), (10, 3)], r"\(10, 3\) must be .* from 1 to 2"),
        (lambda budget, arms: [(budget / arms, 1)], r"\(33.3.*, 1\) must be .* whole"),
        (lambda budget, arms: [(30, 3), (-9, 1)], r"\(-9, 1\) must be .* from 0 to 3"),
        (lambda budget, arms: [(budget // arms, 1, 1)], r"\(33, 1, 1\) must be"),
        (lambda budget, arms: None, "None must be"),
        (lambda budget, arms: [], r"\[\] leaves 3 arms .* end with \(pulls, 1\)"),
        (lambda budget, arms: [(budget // arms, 3)], r"\[\(33, 3\)\] leaves 3 arms .* end with \(pulls, 1\)"),
        (lambda budget, arms: [(min(1, budget // arms), 1)], "less than twice in a phase, whatever the budget"),
    ],
)
def test_phases_that_cannot_be_played_are_refused(monkeypatch, phases, said):
    """They once corrupted memory: kernels rely on them."""
    policy = sb.policies.UniformSampling(sb.Mean(), name="mine")
    monkeypatch.setattr(sb.policies.UniformSampling, "phases", lambda self, *game: phases(*game))
    for attempt in (
        lambda: sb.simulate(policy, sb.Bandit(FIVE.arms[:3]), horizon=100, runs=2),
        lambda: sb.trace(policy, sb.Bandit(FIVE.arms[:3]), horizon=100),
        lambda: policy.agent(3, horizon=100),
    ):
        with pytest.raises(sb.errors.InvalidInputError, match=f"mine .*{said}"):
            attempt()


def _one_too_many(sums, kept, alive, size, pulls, previous_kept_all, objective, quota):
    quota[:size] = pulls
    quota[size - 1] += 1 if previous_kept_all else 0


def _below_zero(sums, kept, alive, size, pulls, previous_kept_all, objective, quota):
    quota[:size] = pulls
    if previous_kept_all:
        quota[0], quota[1] = -1, 2 * pulls + 1


@pytest.mark.parametrize(("share", "shared"), [(_one_too_many, 51), (_below_zero, 50)])
@pytest.mark.parametrize("arms", [FIVE.arms, [sb.Normal(m, sd=1.0) for m in range(5)]], ids=["uniform", "normal"])
def test_pulls_that_are_shared_wrongly_are_refused(monkeypatch, share, shared, arms):
    """They would write beyond the rounds of the game."""
    kind = sb.policies.VarianceAwareHalving
    monkeypatch.setattr(kind, "share", staticmethod(share))
    monkeypatch.setattr(kind, "phases", lambda self, budget, arms: [(10, arms), (10, 1)])
    policy, bandit = kind(sb.Mean(), name="mine"), sb.Bandit(arms)
    said = f"mine shares {shared} pulls in phase 2, which has 50: share"
    for play in (sb.trace, lambda *game, horizon: sb.simulate(*game, horizon=horizon, runs=20)):
        with pytest.raises(sb.errors.InvalidInputError, match=said):
            play(policy, bandit, horizon=100)
    agent = policy.agent(5, horizon=100)
    for _ in range(49):
        agent.tell(agent.ask(), 1.0)
    last = agent.ask()
    with pytest.raises(sb.errors.InvalidInputError, match=said):
        agent.tell(last, 1.0)
