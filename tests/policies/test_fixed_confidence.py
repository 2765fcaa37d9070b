"""Fixed confidence: errors against delta, stopping times, any scale, and what is refused."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
import scipy.stats

import sharpe_bandits as sb
from tests.fixed_confidence import identify


@pytest.mark.parametrize("c", [0.01, 100.0])
def test_scale_does_not_matter_on_a_bandit(c):
    plain = identify(sb.policies.LUCB(L=0.5), sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(2.2, 7.8)]), runs=100)
    scaled = identify(
        sb.policies.LUCB(L=0.5 * c * c),
        sb.Bandit([sb.Uniform(1.5 * c, 7.5 * c), sb.Uniform(2.2 * c, 7.8 * c)]),
        runs=100,
    )
    np.testing.assert_array_equal(plain.final, scaled.final)


BANDITS = {
    "uniform": (1.0, [sb.Uniform(0.5, 13.5), sb.Uniform(3, 13.5)]),
    "five uniform": (0.75, [sb.Uniform(m - 2, m + 2 + 0.2 * m) for m in (2.5, 3, 3.5, 4, 5)]),
    "Bernoulli": (0.1, [sb.Bernoulli(0.4), sb.Bernoulli(0.5), sb.Bernoulli(0.7)]),
    "rare": (0.05, [sb.Bernoulli(0.1), sb.Bernoulli(0.03)]),
    "rare or cash": (0.05, [sb.Bernoulli(0.1), sb.arms.Constant(0.03)]),
    "truncated normal": (0.5, [sb.arms.TruncatedNormal(5, 4, 1, 7), sb.arms.TruncatedNormal(4, 6.25, 1, 7)]),
    "truncated gamma": (0.5, [sb.arms.TruncatedGamma(2, 2, 1, 10), sb.arms.TruncatedGamma(2, 3, 1, 10)]),
    "returns": (
        2e-5,
        [sb.Normal(0.004, variance=2e-4), sb.Normal(0.0, variance=1e-4), sb.Normal(-0.002, variance=2e-4)],
    ),
    "lognormal": (0.5, [scipy.stats.lognorm(0.5), scipy.stats.lognorm(0.8)]),
    "Student": (0.5, [scipy.stats.t(4, loc=0.5), scipy.stats.t(4, loc=0.1)]),
}


@pytest.mark.parametrize("delta", [0.2, 0.05])
@pytest.mark.parametrize("name", BANDITS)
def test_the_error_is_no_more_than_delta(name, delta):
    L, arms = BANDITS[name]
    found = identify(sb.policies.LUCB(L=L, delta=delta), sb.Bandit(arms), runs=1000, seed=11)
    assert found.unfinished().mean == 0
    assert found.error().high <= delta
    assert found.error(sb.RSSR(L, signed=True)) == found.error()


@pytest.mark.parametrize(
    ("L", "arm"),
    [
        (0.5, sb.Normal(1, variance=1)),
        (1.0, sb.Uniform(0.5, 13.5)),
        (0.1, sb.Bernoulli(0.95)),
        (0.1, sb.Bernoulli(0.05)),
        (0.5, scipy.stats.lognorm(0.8)),
    ],
)
def test_equal_arms_are_seldom_told_apart(L, arm):
    """The hardest case: any stop would be wrong, were one of the arms better by a hair."""
    found = identify(sb.policies.LUCB(L=L, delta=0.1), sb.Bandit([arm, arm]), runs=1000, seed=2, max_budget=5000)
    assert 1 - found.unfinished().low <= 0.1
    assert found.error().mean == 0  # a tie: either is right


def test_stopping_times_grow_as_the_square_of_the_gap_shrinks():
    times = []
    for high in (3.0, 1.5, 0.75):
        bandit = sb.Bandit([sb.Normal(5 + 0.2 * high, variance=1), sb.Normal(5, variance=1)])
        found = identify(sb.policies.LUCB(L=20.0), bandit, runs=300)
        times.append(found.stopping_time().mean)
    for shorter, longer in pairwise(times):
        assert 3 < longer / shorter < 6  # 4, and a little for the logarithm


def test_smaller_delta_takes_longer():
    bandit = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(2.2, 7.8)])
    times = [
        identify(sb.policies.LUCB(L=0.5, delta=d), bandit, runs=300).stopping_time().mean
        for d in (0.5, 0.1, 0.01, 1e-6)
    ]
    assert times == sorted(times)


def test_constant_arms():
    found = identify(sb.policies.LUCB(L=1.0), sb.Bandit([sb.arms.Constant(0.9), sb.arms.Constant(1.3)]), runs=3)
    assert found.unfinished().mean == 0
    assert found.recommended[:, 0].tolist() == [1, 1, 1]
    assert found.rounds.min() > 64  # not at once: they may yet vary
    tied = identify(
        sb.policies.LUCB(L=1.0), sb.Bandit([sb.arms.Constant(1.0), sb.arms.Constant(1.0)]), runs=3, max_budget=1000
    )
    assert tied.unfinished().mean == 1
    assert tied.rounds.tolist() == [1000] * 3
    assert tied.error().low == 0
    assert math.isnan(tied.error().mean)
    assert tied.quantiles() == (math.inf,) * 3
    assert "0 of 3 runs" in repr(tied)


def test_bad_input_is_refused():
    bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0, 2)])
    for delta in (0, 1, -0.1, 5, math.nan, "0.05", None):
        with pytest.raises(sb.errors.InvalidInputError, match="delta must lie strictly between 0 and 1, got"):
            sb.policies.LUCB(L=1.0, delta=delta)
    for L in (0, -1, math.nan, math.inf, "1"):
        with pytest.raises(sb.errors.InvalidInputError, match=r"L must be.*above 0, got.*regulariser"):
            sb.policies.LUCB(L=L)
    with pytest.raises(sb.errors.InvalidInputError, match="pilot_pulls must be a whole number at least 2, got 1"):
        sb.policies.LUCB(L=1.0, pilot_pulls=1)
    policy = sb.policies.LUCB(L=1.0)
    for attempt in (
        lambda: identify(policy, bandit, max_budget=63),
        lambda: sb.trace(policy, bandit, horizon=63),
        lambda: policy.agent(arms=2, horizon=63),
    ):
        with pytest.raises(sb.errors.BudgetTooSmallError, match=r"at least 64 for 2 arms.*got 63.*pilot_pulls"):
            attempt()
    for name, value in (("runs", 0), ("seed", -1), ("max_budget", 1.5), ("workers", 0), ("chunk", 0)):
        with pytest.raises(sb.errors.InvalidInputError, match=f"{name} must be a whole number"):
            identify(policy, bandit, **{name: value})
    with pytest.raises(sb.errors.InvalidInputError, match=r"level must lie between 0 and 1, got 2"):
        identify(policy, bandit, runs=2).quantiles((2,))
    with pytest.raises(sb.errors.InvalidInputError, match="objective"):
        identify(policy, bandit, runs=2).error("RSSR")


def test_a_policy_is_the_same_after_a_trip_through_json():
    policy = sb.policies.LUCB(L=0.3, delta=0.01, risk_free=0.1, pilot_pulls=40, name="mine")
    data = json.loads(json.dumps(policy.to_dict()))
    assert type(policy).from_parameters({k: v for k, v in data.items() if k != "policy"}) == policy
    assert sb.policies.LUCB(L=1).name == "LUCB"


def test_top_two_needs_fewer_rounds_with_many_arms_and_errs_no_more():
    many = sb.Bandit([sb.Bernoulli(0.6)] + [sb.Bernoulli(0.4)] * 19)
    study = sb.identify([sb.policies.LUCB(L=0.1), sb.TopTwo(L=0.1)], many, runs=200, seed=2)
    tracked, turns = study["TopTwo"], study["LUCB"]
    assert tracked.stopping_time().mean < 0.9 * turns.stopping_time().mean
    assert tracked.error().mean < 0.05
    assert tracked.stopped.all()


def test_an_arm_within_epsilon_is_good_enough():
    bandit = sb.Bandit([sb.Normal(0.5, variance=1), sb.Normal(0.48, variance=1), sb.Normal(0.0, variance=1)])
    exact = identify(sb.TopTwo(L=0.1), bandit, runs=50, seed=4, max_budget=5_000)
    rough = identify(sb.TopTwo(L=0.1, epsilon=0.2), bandit, runs=50, seed=4, max_budget=5_000)
    assert exact.unfinished().mean > 0.9
    assert rough.unfinished().mean < 0.1
    assert set(rough.recommended[:, 0].tolist()) <= {0, 1}
    with pytest.raises(sb.errors.InvalidInputError, match="epsilon"):
        sb.TopTwo(L=0.1, epsilon=-0.1)
