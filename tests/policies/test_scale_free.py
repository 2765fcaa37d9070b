"""Policies without a scale: against plain-Python twins written from their definitions, and their invariance."""

import dataclasses
import math
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpe_bandits as sb
from sharpe_bandits.play import statistics, streams
from sharpe_bandits.policies.scale_free import effective_pulls, influence_variance_of
from tests.conftest import examples

L, R = 0.8, 0.1
POLICIES = [sb.ScaleFreeUCB, sb.ScaleFreeIMED, sb.ScaleFreeTS, sb.policies.ScaleFreeNPTS, sb.policies.NPTS]


@pytest.fixture(scope="module")
def tape():
    """Skewed rewards of both signs, so that third moments and the sign of the mean matter."""
    rng = np.random.default_rng(11)
    return rng.gamma(2.0, 1.0, (4, 400)) * np.array([[1.0], [0.7], [1.5], [0.4]]) - np.array(
        [[1.2], [0.9], [2.0], [1.5]]
    )


def moments(x):
    """Mean, unbiased variance, third and fourth central moment, by two passes."""
    mean = sum(x) / len(x)
    return (
        mean,
        sum((v - mean) ** 2 for v in x) / (len(x) - 1),
        sum((v - mean) ** 3 for v in x) / len(x),
        sum((v - mean) ** 4 for v in x) / len(x),
    )


def h(x):
    mean, variance, _, _ = moments(x)
    return (mean - R) / math.sqrt(L + variance)


def influence_variance(x):
    """The variance of the influence function, its moments drawn towards normal ones with the weight of ten pulls."""
    mean, v, third, fourth = moments(x)
    s, d = len(x), L + v
    third = s / (s + 10) * third
    fourth = s / (s + 10) * fourth + 10 / (s + 10) * 3 * v**2
    e = mean - R
    w = v / d - e * third / d**2 + e**2 * (fourth - v**2) / (4 * d**3)
    normal = v / d + e**2 * 2 * v**2 / (4 * d**3)
    return max(w, normal / 4)


def ucb(past, t, run_key):
    return [
        h(x) + math.sqrt(influence_variance(x) * (math.exp(2 * 0.5 * math.log(t) / (len(x) - 2)) - 1)) for x in past
    ]


def imed(past, t, run_key):
    lead = max(h(x) for x in past)
    return [
        -((len(x) - 2) / 2 * math.log(1 + (lead - h(x)) ** 2 / influence_variance(x)) + math.log(len(x))) for x in past
    ]


def draw_key(run_key, arm, t):
    return streams.fold(streams.fold(run_key, arm), t)


def thompson(past, t, run_key, optimistic=False):
    found = []
    for arm, x in enumerate(past):
        z = streams.normal(streams.fold(run_key, arm), t)
        away = math.sqrt(influence_variance(x) * (math.exp(z * z / (len(x) - 2)) - 1))
        found.append(h(x) + (away if z > 0 else 0.0 if optimistic else -away))
    return found


def optimistic(past, t, run_key):
    return thompson(past, t, run_key, optimistic=True)


def as_published(past, t, run_key):
    """The objective of the rewards under their weights: no variance made unbiased."""
    return dirichlet(past, t, run_key, unbiased=False)


def dirichlet(past, t, run_key, unbiased=True):
    found = []
    for arm, x in enumerate(past):
        mean, v, third, fourth = moments(x)
        s, key = len(x), draw_key(run_key, arm, t)
        if s <= 64:
            w = [-math.log(streams.uniform(key, j)) for j in range(s)]
            m = sum(a * b for a, b in zip(w, x, strict=True)) / sum(w)
            # E of the reweighted variance is (s-1)/(s+1) of the unbiased one.
            var = sum(a * (b - m) ** 2 for a, b in zip(w, x, strict=True)) / sum(w) * (s + 1) / (s - 1)
        else:
            z, z2 = streams.normal(key, 0), streams.normal(key, 1)
            m = mean + math.sqrt(v / s) * z
            var = v + (third / math.sqrt(v) * z + math.sqrt(fourth - v**2 - third**2 / v) * z2) / math.sqrt(s)
        found.append((m - R) / math.sqrt(L + max(var, 0.0) * (1 if unbiased else (s - 1) / (s + 1))))
    return found


@pytest.mark.parametrize(
    ("policy", "indices"),
    [
        (sb.ScaleFreeUCB(L, R), ucb),
        (sb.ScaleFreeIMED(L, R), imed),
        (sb.ScaleFreeTS(L, R), thompson),
        (sb.ScaleFreeTS(L, R, optimistic=True), optimistic),
        (sb.policies.ScaleFreeNPTS(L, R), dirichlet),
        (sb.policies.NPTS(L, R), as_published),
    ],
    ids=["UCB", "IMED", "SF-TS", "SF-TS, optimistic", "Dirichlet", "rho-NPTS"],
)
@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_choices_are_those_of_a_twin(policy, indices, tape):
    horizon, seed = 400, 5
    trace = sb.trace(policy, sb.Tape(tape), horizon=horizon, seed=seed)
    run_key = streams.stream_key(seed, streams.POLICY, 0)
    past = [[] for _ in tape]
    for t in range(horizon):
        choice = t % 4 if t < 4 * policy.least_pilot else int(np.argmax(indices(past, t, run_key)))
        assert trace.choices[t] == choice, f"round {t}"
        past[choice].append(tape[choice, len(past[choice])])
    assert sum(len(x) > 10 for x in past) >= 2  # the rule was not a foregone conclusion
    assert max(map(len, past)) > 64  # and the normal limit of the reweighted moments took part


@pytest.mark.parametrize(
    "policy",
    [
        *POLICIES,
        partial(sb.policies.SlidingWindowUCB, window=60),
        partial(sb.policies.DiscountedUCB, discount=0.98),
        partial(sb.policies.LUCB, delta=0.3, pilot_pulls=8),
    ],
)
@given(
    rewards=st.integers(0, 2**32 - 1),
    power=st.integers(-40, 40),
    seed=st.integers(0, 1000),
    risk_free=st.floats(-1, 1),
    L=st.floats(1e-3, 10),
)
@settings(max_examples=examples(0.6), deadline=None)
def test_choices_do_not_depend_on_the_unit(policy, rewards, power, seed, risk_free, L):
    # A power of two changes no digit of any number, so that even ties stay ties.
    tape, c = np.random.default_rng(rewards).gamma([[2.0], [1.5], [1.0]], size=(3, 400)) - 0.875, 2.0**power
    plain = sb.trace(policy(L=L, risk_free=risk_free), sb.Tape(tape), horizon=300, seed=seed)
    scaled = sb.trace(policy(L=L * c * c, risk_free=risk_free * c), sb.Tape(tape * c), horizon=300, seed=seed)
    assert scaled.choices.tolist() == plain.choices.tolist()
    assert scaled.recommended == plain.recommended


@pytest.mark.parametrize("policy", POLICIES)
def test_a_mean_that_dwarfs_the_variance_does_no_harm(policy, tape):
    # Shifting rewards and the risk-free rate by the same amount changes nothing but rounding.
    plain = sb.trace(policy(L=L, risk_free=R), sb.Tape(tape), horizon=300, seed=3)
    shifted = sb.trace(policy(L=L, risk_free=R + 1e6), sb.Tape(tape + 1e6), horizon=300, seed=3)
    assert (plain.choices == shifted.choices).mean() > 0.99


def test_influence_variance_is_the_variance_of_the_estimate():
    # s times the variance of h over many samples tends to W: an independent check of the influence function.
    rng = np.random.default_rng(0)
    samples = rng.gamma(2.0, 1.0, (4000, 2000)) - 1.0
    ratios = (samples.mean(axis=1) - R) / np.sqrt(L + samples.var(axis=1, ddof=1))
    measured = 2000 * ratios.var(ddof=1)
    formula = influence_variance_of(sb.RSSR(L, R, signed=True).root)

    # Gamma(2) has variance 2, third central moment 4, fourth 24.
    arm = statistics.ArmRecord(
        pulls=1e9, mean=1.0, variance=2.0, second_moment=3.0, epsilon=0.0, last=0.0, key=0, round_key=0, third=4.0,
        fourth=24.0,
    )  # fmt: skip
    assert formula(arm, (L, R), 0.5, 0.0) == pytest.approx(measured, rel=4 * math.sqrt(2 / 4000))


def test_a_constant_arm_is_known_exactly():
    # Arm 0 always pays 1; arm 1 is worse and noisy. No division of 0 by 0, and the constant arm wins.
    rng = np.random.default_rng(1)
    tape = np.vstack([np.ones(300), rng.normal(0.5, 1.0, 300)])
    for policy in POLICIES:
        trace = sb.trace(policy(L=0.5), sb.Tape(tape), horizon=300)
        assert (trace.choices == 0).mean() > 0.8


def test_as_published_an_arm_that_was_poor_in_the_pilot_is_given_up_at_any_horizon():
    """Two normal arms, means 1 and 0.5: two rewards of the first are below 0 with probability 0.025."""
    bandit = sb.Bandit([sb.Normal(1.0, variance=1.0), sb.Normal(0.5, variance=0.01)])
    locked = [
        float(
            (
                sb.simulate(sb.policies.NPTS(L=1.0), bandit, horizon=n, runs=512, seed=3)["ρ-NPTS"].final[:, 0] <= 2
            ).mean()
        )
        for n in (500, 8000)
    ]
    assert min(locked) > 0.04  # of both below 0.5, and somewhat more: 0.095
    assert locked[1] > 0.6 * locked[0]


@pytest.mark.parametrize("policy", [policy for policy in POLICIES if policy is not sb.policies.NPTS])
def test_an_arm_that_paid_the_same_in_the_pilot_is_not_given_up(policy):
    # Pilots of three or eight zeros are common here; an arm without spread was never played again.
    bandit = sb.Bandit([sb.Bernoulli(0.3), sb.Bernoulli(0.2)])
    final = sb.simulate(policy(L=0.1), bandit, horizon=2000, runs=128, seed=1)[policy(L=0.1).name].final
    assert final[:, 0].min() > 8


def test_they_settle_where_published_policies_cannot():
    # Daily-return scale: UCB-RSSR explores all arms alike for ever, scale-free policies find the good one.
    bandit = sb.Bandit([sb.Normal(0.002, variance=1e-4), sb.Normal(0.0, variance=1e-4), sb.Normal(0.0, variance=1e-4)])
    names = ["UCB-RSSR", "SF-UCB", "SF-IMED", "SF-TS"]
    listed = [sb.UCBRSSR(L=1e-5), *(p(L=1e-5) for p in POLICIES[:3])]
    study = sb.simulate(listed, bandit, horizon=5000, runs=64, seed=1)
    plays = {name: study[name].suboptimal_plays(sb.RSSR(1e-5, signed=True)).final.mean for name in names}
    assert plays["UCB-RSSR"] == pytest.approx(5000 * 2 / 3, rel=0.01)
    assert all(plays[name] < 1500 for name in names[1:])


# --- any objective ----------------------------------------------------------------------------------------------------


#: Each objective, and the same for rewards that are c times as large.
SCALED = {
    "RSSR": lambda c: sb.RSSR(L * c * c, R * c),
    "signed RSSR": lambda c: sb.RSSR(L * c * c, R * c, signed=True),
    "Sharpe": lambda c: sb.Sharpe(L * c, R * c),
    "SharpeLike": lambda c: sb.objectives.SharpeLike(L * c * c, R * c),
    "Variance": lambda c: sb.Variance(),
    "MeanVariance": lambda c: sb.MeanVariance(1.5 * c),
    "MeanRisk": lambda c: sb.MeanRisk(0.5),
    "Mean": lambda c: sb.Mean(),
}


@pytest.mark.parametrize("name", SCALED)
def test_any_objective_whatever_the_unit_and_its_best_arm_is_found(name, tape):
    """One policy per objective, in turn, so that all meet all kinds of formula without compiling every pair."""
    policy = POLICIES[list(SCALED).index(name) % 3]
    plain = sb.trace(policy(objective=SCALED[name](1.0)), sb.Tape(tape), horizon=400, seed=2)
    scaled = sb.trace(policy(objective=SCALED[name](2.0**-9)), sb.Tape(tape * 2.0**-9), horizon=400, seed=2)
    assert np.array_equal(plain.choices, scaled.choices)
    bandit = sb.Bandit([sb.Normal(2.0, variance=1.0), sb.Normal(1.0, variance=4.0), sb.Normal(0.5, variance=0.25)])
    objective = SCALED[name](1.0)
    result = sb.simulate(policy(objective=objective), bandit, horizon=3000, runs=32, seed=3)[policy.title]
    assert result.objective == objective
    assert result.suboptimal_plays().final.mean < 600
    assert result.error().mean < 0.1


def test_an_arm_that_paid_nothing_in_the_pilot_is_not_given_up_for_its_mean():
    """No regulariser says how much an arm may yet pay: the largest variance of any arm does."""
    bandit = sb.Bandit([sb.Bernoulli(0.3), sb.Bernoulli(0.1), sb.Normal(0.15, variance=0.2)])
    for policy in (sb.ScaleFreeUCB(objective=sb.Mean()), sb.ScaleFreeIMED(objective=sb.Mean())):
        result = sb.simulate(policy, bandit, horizon=4000, runs=64, seed=4)[policy.name]
        assert result.locked_in(share=0.5).mean < 0.1


def test_objectives_are_given_once():
    with pytest.raises(sb.errors.InvalidInputError, match="needs the regulariser L of RSSR, or another objective"):
        sb.ScaleFreeTS()
    with pytest.raises(sb.errors.InvalidInputError, match="takes L and risk_free from its objective"):
        sb.ScaleFreeUCB(0.5, objective=sb.Mean())
    with pytest.raises(sb.errors.InvalidInputError, match="objective such as"):
        sb.ScaleFreeUCB(objective="Mean")
    with pytest.raises(sb.errors.InvalidInputError, match="optimistic must be True or False"):
        sb.ScaleFreeTS(1.0, optimistic=1)
    policy = sb.ScaleFreeIMED(objective=sb.Sharpe(L=0.1))
    assert sb.from_dict(policy.to_dict()) == policy


def test_thompson_sampling_survives_left_skewed_rewards():
    """A normal-gamma posterior, which ignores skewness, locks in in half of these runs."""
    bandit = sb.Bandit([sb.Bernoulli(0.99), sb.Bernoulli(0.97), sb.Bernoulli(0.95)])
    result = sb.simulate(sb.ScaleFreeTS(L=0.1), bandit, horizon=20_000, runs=64, seed=1)["SF-TS"]
    assert result.locked_in(share=0.1).mean == 0
    assert result.regret().final.mean < 2000


# --- rewards that depend on those before ------------------------------------------------------------------------------


def test_effective_pulls_of_an_autocorrelated_arm():
    x = np.empty(2000)
    x[0] = 0.0
    for t, noise in enumerate(np.random.default_rng(9).normal(size=1999), 1):
        x[t] = 0.5 * x[t - 1] + noise
    kept, sums = np.zeros((1, 3, 1)), 0.0
    for n, value in enumerate(x + 7.0, 1):
        statistics.update_pairs(kept, 0, 0, 0, float(n), value, value - 7.5, float("nan"), ())
        sums += value
    mean = sums / 2000
    (found,) = statistics.autocovariance(kept, 0, 0, 0, 2000.0, 7.5, mean, 0.0, 0.0, 0.0, 0)
    by_hand = sum((a - x.mean()) * (b - x.mean()) for a, b in pairwise(x)) / 2000
    assert found == pytest.approx(by_hand, rel=1e-9)
    arm = statistics.ArmRecord(2000.0, mean, x.var(ddof=1), 0.0, 0.0, 0.0, 0, 0, autocovariance=found)
    r = by_hand / x.var(ddof=1)
    r = (2000 * r + 1) / 1997  # of 2,000 rewards, without the bias of the estimate
    assert effective_pulls(arm) == pytest.approx(2000 * (1 - r) / (1 + r))
    assert effective_pulls(arm._replace(pulls=3.0)) == 3
    assert 550 < effective_pulls(arm) < 800
    assert effective_pulls(arm._replace(autocovariance=-1.0)) == 2000


def test_counting_effective_pulls_keeps_arms_that_wait_from_being_given_up():
    bandit = sb.Bandit([sb.arms.AR1(m, 1.0, phi=0.9) for m in (1.0, 0.8, 0.6)], clock="pulls")
    policies = [sb.ScaleFreeUCB(L=1.0), sb.ScaleFreeUCB(L=1.0, dependent=True, name="dependent")]
    study = sb.simulate(policies, bandit, horizon=3000, runs=200, seed=1)
    locked = {name: study[name].locked_in(share=0.1).mean for name in ("SF-UCB", "dependent")}
    assert locked["SF-UCB"] > 0.15
    assert locked["dependent"] < 0.6 * locked["SF-UCB"]


def test_forgetting_pays_where_arms_switch_and_costs_where_they_do_not():
    good, bad = sb.Normal(0.5, variance=1.0), sb.Normal(0.0, variance=1.0)
    still = sb.Bandit([good, bad, bad])
    switching = sb.SwitchingBandit([[good, bad, bad], [bad, good, bad], [bad, bad, good]], after=[2000, 4000])
    policies = [
        sb.ScaleFreeUCB(L=0.1),
        sb.policies.SlidingWindowUCB(L=0.1, window=600),
        sb.policies.DiscountedUCB(L=0.1, discount=0.998),
    ]
    objective = sb.RSSR(L=0.1, signed=True)
    study = sb.simulate(policies, switching, horizon=6000, runs=64, seed=1)
    for name in ("SW-SF-UCB", "D-SF-UCB"):
        assert study.compare(name, "SF-UCB", objective).final.high < 0
    study = sb.simulate(policies, still, horizon=6000, runs=64, seed=1)
    for name in ("SW-SF-UCB", "D-SF-UCB"):
        assert study.compare(name, "SF-UCB", objective).final.low > 0


def test_bad_input():
    with pytest.raises(sb.errors.InvalidInputError, match="window must be a whole number from 6 to 1000000, got 5"):
        sb.policies.SlidingWindowUCB(L=1, window=5)
    with pytest.raises(sb.errors.InvalidInputError, match=r"window must be .* 1000000, got 10000000000"):
        sb.policies.SlidingWindowUCB(L=1, window=10**10)
    with pytest.raises(sb.errors.InvalidInputError, match="forgets"):
        sb.policies.SlidingWindowUCB(L=1.0, dependent=True)
    with pytest.raises(sb.errors.InvalidInputError, match="discount"):
        sb.policies.DiscountedUCB(L=1, discount=1.0)
    with pytest.raises(
        sb.errors.InvalidInputError, match="remembers 20 rounds, too few for 4 arms, which need 24; lengthen"
    ):
        sb.policies.SlidingWindowUCB(L=1, window=20).agent(arms=4)
    with pytest.raises(
        sb.errors.InvalidInputError, match="remembers 10 rounds, too few for 2 arms, which need 12; raise"
    ):
        sb.simulate(sb.policies.DiscountedUCB(L=1, discount=0.9), [sb.Normal(0, variance=1)] * 2, horizon=100, runs=1)


@pytest.mark.parametrize("kind", [sb.ScaleFreeUCB, sb.TopTwo])
def test_a_policy_that_is_given_L_makes_its_objective_of_it(kind):
    policy = kind(L=0.5, risk_free=0.1)
    assert policy.objective == sb.RSSR(0.5, 0.1, signed=True)
    assert repr(policy) == f"{kind.__name__}(L=0.5, risk_free=0.1)"
    assert policy.to_dict()["objective"] is None  # as files of all versions have it
    assert sb.from_dict(policy.to_dict()) == policy
    assert dataclasses.replace(policy, L=0.7).objective == sb.RSSR(0.7, 0.1, signed=True)
    other = sb.ScaleFreeIMED(objective=policy.objective)
    assert sb.from_dict(other.to_dict()) == other
    with pytest.raises(sb.errors.InvalidInputError, match="takes L and risk_free from its objective"):
        kind(L=0.5, objective=sb.RSSR(0.5, signed=True))


@pytest.mark.parametrize(
    ("objective", "unit"),
    [(sb.Sharpe(0.0), "deviation"), (sb.Sortino(0.0), "variance"), (sb.objectives.Omega(0.0), "deviation")],
    ids=repr,
)
def test_a_missing_regulariser_is_proposed_in_its_own_unit(objective, unit):
    with pytest.raises(sb.errors.InvalidInputError, match=f"tenth of the smallest .*{unit}"):
        sb.ScaleFreeUCB(objective=objective)
