"""The kernel that follows the lead and the brute-force one make the same choices, run by run."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.engine.families import index
from sharpe_bandits.engine.spec import is_lazy, run_chunk
from sharpe_bandits.kernels.lazy import INFLATION
from sharpe_bandits.kernels.statistics import ArmRecord
from sharpe_bandits.policies.base import IndexPolicy, Parts
from tests.catalogue import EVERY_POLICY
from tests.kernels.games import BANDITS, spec

#: SF-IMED for objectives with and without a regulariser, which treat arms of zero variance differently.
POLICIES = [
    sb.ScaleFreeIMED(L=0.5),
    sb.ScaleFreeIMED(L=0.1, risk_free=0.5, name="rate"),
    sb.ScaleFreeIMED(L=0.5, pilot_fraction=0.1, name="pilot"),
    sb.ScaleFreeIMED(L=0.5, pilot_pulls=70, name="long pilot"),
    sb.ScaleFreeIMED(objective=sb.RSSR(L=0.5), name="unsigned"),
    sb.ScaleFreeIMED(objective=sb.Sharpe(L=0.1), name="Sharpe"),
    sb.ScaleFreeIMED(objective=sb.Mean(), name="mean"),
    sb.ScaleFreeIMED(objective=sb.Variance(), name="variance"),
    sb.ScaleFreeIMED(objective=sb.MeanVariance(1.5), name="mean-variance"),
]
FIELDS = ("choices", "rewards", "pulls", "halfway", "final", "recommended", "reward_mean", "reward_variance")


def same(policy, bandit, runs=5, **options):
    """Play both kernels, and return what they did, which must be the same."""
    lazy, brute = (
        run_chunk(spec(policy, bandit, kernel, runs=runs, **options), 0, runs, trace=True)
        for kernel in ("lazy", "side by side")
    )
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(lazy, field), getattr(brute, field), err_msg=field)
    return lazy


def some_arm(rng):
    kind, place, scale = rng.integers(5), rng.normal(), rng.choice([0.1, 1.0, 10.0])
    if kind == 0:
        return sb.Bernoulli(rng.choice([0.02, 0.5, 0.9]))
    if kind == 1:
        return sb.Constant(float(rng.integers(-1, 2)))
    if kind == 2:
        return sb.Uniform(place, place + scale)
    if kind == 3:
        return sb.Normal(place, scale)
    return sb.Empirical(rng.integers(-2, 3, size=4).astype(float).tolist())


def test_the_list_is_complete():
    """Every policy of the catalogue that declares what the kernel needs is tested here."""
    declared = {type(p) for p in EVERY_POLICY if isinstance(p, IndexPolicy) and p.nonincreasing_in_lead}
    assert declared == {type(policy) for policy in POLICIES}


@pytest.mark.parametrize("policy", POLICIES, ids=[policy.name for policy in POLICIES])
@pytest.mark.parametrize("name", BANDITS)
def test_the_same_choices_run_by_run(policy, name):
    lazy = same(policy, BANDITS[name], runs=20)
    mixed = run_chunk(spec(policy, BANDITS[name], "auto"), 0, 20)  # the engine's own choice may change within a chunk
    np.testing.assert_array_equal(lazy.pulls, mixed.pulls)


@pytest.mark.parametrize("seed", range(30))
def test_the_same_on_random_bandits(seed):
    rng = np.random.default_rng(seed)
    arms = [some_arm(rng) for _ in range(rng.choice([2, 3, 7, 8, 9, 16, 33, 70]))]
    if seed % 3 == 0:  # equal arms among them
        arms = [arms[i] for i in rng.integers(1 + len(arms) // 2, size=len(arms))]
    for policy in (POLICIES[0], POLICIES[6]):
        same(policy, sb.Bandit(arms), runs=3, horizon=40 * len(arms), seed=seed)


def test_the_same_with_two_hundred_arms():
    means = np.random.default_rng(0).uniform(0, 1, 200)
    same(POLICIES[0], sb.Bandit([sb.Normal(m, 1.0) for m in means]), runs=2, horizon=5000)


def test_the_same_on_arms_of_their_own_in_every_run():
    def draw(generator):
        return sb.UniformArms(np.zeros(3), generator.uniform(0.5, 5, size=3))

    same(POLICIES[0], sb.RandomBandit(3, draw, lowest=0.0), runs=20, horizon=300)


@pytest.mark.parametrize("seed", range(3))
def test_the_same_on_tapes_of_few_values(seed):
    """Records that tie over and over."""
    rewards = np.random.default_rng(seed).integers(0, 3, size=(4, 400)).astype(float)
    for policy in (POLICIES[0], POLICIES[6]):
        same(policy, sb.Tape(rewards), runs=1, horizon=400)


def test_the_same_on_long_runs_of_one_arm():
    """A clear winner: the kernel looks far ahead, up to checkpoints and the horizon."""
    bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(4, 5), sb.Uniform(0, 1.1)])
    lazy = same(POLICIES[0], bandit, runs=3, horizon=20_011)
    assert lazy.final[:, 1].min() > 15_000


@pytest.mark.parametrize("size", [100, 3000])
def test_the_same_choices_past_the_end_of_the_tables(size, monkeypatch):
    bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0.3, 1.3), sb.Normal(0.5, 1.0)])
    whole = same(POLICIES[0], bandit, horizon=size - 60)
    monkeypatch.setattr(index, "MAX_TABLE", size)
    cut = same(POLICIES[0], bandit, horizon=size - 60)  # just longer: tables go 66 rounds beyond the horizon
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(whole, field), getattr(cut, field))
    same(POLICIES[0], bandit, horizon=2 * size)


def test_a_trace_is_a_run_of_a_study():
    bandit = BANDITS["uniform"]
    study = sb.simulate(POLICIES[0], bandit, horizon=700, runs=30, seed=6, workers=1)
    for kernel in ("lazy", "side by side", "one by one", "auto"):
        trace = sb.trace(POLICIES[0], bandit, horizon=700, seed=6, run=25, kernel=kernel)
        np.testing.assert_array_equal(np.bincount(trace.choices, minlength=10), study["SF-IMED"].final[25])


def test_only_where_rewards_are_indexed_by_pulls():
    tape = sb.Tape(np.random.default_rng(0).normal(size=(2, 100)), clock="rounds")
    assert not is_lazy(spec(POLICIES[0], tape, "auto", horizon=100))
    with pytest.raises(sb.InvalidInputError, match="SF-IMED cannot be played by the lazy kernel here"):
        is_lazy(spec(POLICIES[0], tape, "lazy", horizon=100))
    with pytest.raises(sb.InvalidInputError, match="cannot be played by the lazy kernel here"):
        is_lazy(spec(sb.ScaleFreeUCB(objective=sb.Mean()), BANDITS["two"], "lazy"))  # its index grows with the lead


def mean_of(arm, t, goal, unseen):
    return arm.mean


def infinite_near_the_lead(arm, t, goal, unseen):
    behind = arm.lead - arm.mean
    return math.inf if behind < 0.1 and arm.pulls < 60.0 else -behind * math.sqrt(arm.pulls) - 0.01 * arm.pulls


@dataclass(frozen=True)
class Infinite(sb.ScaleFreeIMED):
    """An index that need not be finite, without parts."""

    formula = property(lambda self: infinite_near_the_lead)
    score = property(lambda self: mean_of)
    parts = property(lambda self: None)


def test_the_same_among_infinite_indices():
    for name in ("equal", "coins", "constant", "uniform"):
        assert same(Infinite(L=1.0), BANDITS[name], horizon=600).final.max() > 60


def width_of(arm, goal, unseen):
    return math.nan if arm.pulls > 40.0 else 1.0


def kept_width(arm, goal, unseen):
    return arm.width


def only_width(arm, goal, unseen):
    return 0.0, width_of(arm, goal, unseen), 0.0


def undefined_behind_the_lead(arm, t, goal, unseen):
    return -((arm.lead - arm.mean) / width_of(arm, goal, unseen) if arm.lead > arm.mean else 0.0) - 0.001 * arm.pulls


@dataclass(frozen=True)
class Undefined(sb.ScaleFreeIMED):
    """An index with a part that becomes NaN, which does not matter before the arm falls behind the lead."""

    formula = property(lambda self: undefined_behind_the_lead)
    score = property(lambda self: mean_of)
    parts = property(lambda self: Parts(only_width, {width_of: kept_width}))


def outcome(policy, bandit, kernel, horizon, run=0):
    """The choices of a run, or the message of its error."""
    try:
        return sb.trace(policy, bandit, horizon=horizon, run=run, kernel=kernel).choices.tolist()
    except sb.InvalidInputError as error:
        return str(error)


@pytest.mark.parametrize("name", ["equal", "coins", "whole"])
def test_not_a_number_is_reported_alike(name):
    reported = 0
    for run in range(20):
        lazy, brute = (
            outcome(Undefined(L=1.0), BANDITS[name], kernel, 400, run) for kernel in ("lazy", "side by side")
        )
        assert lazy == brute
        reported += f"rounds of run {run};" in lazy
    assert reported > 0


@pytest.mark.parametrize("size", [1e60, 1e80, 1e150])
def test_rewards_that_overflow_are_reported_alike(size):
    """Now and then a huge reward: W is infinite or NaN."""
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rewards = rng.integers(0, 3, size=(3, 300)) * np.where(rng.random((3, 300)) < 0.02, size, 1.0)
        for policy in (POLICIES[0], POLICIES[6]):
            lazy, brute = (outcome(policy, sb.Tape(rewards), kernel, 300) for kernel in ("lazy", "side by side"))
            assert lazy == brute
            found.append(lazy)
    if size > 1e75:
        assert any("is not a number" in str(one) for one in found)


@np.errstate(all="ignore")  # W may be 0
@pytest.mark.parametrize("policy", POLICIES, ids=[policy.name for policy in POLICIES])
def test_the_index_cannot_grow_with_the_lead(policy):
    """As declared, on sample records, by the formula itself; and nothing else than the lead matters."""
    rng = np.random.default_rng(0)
    arguments = policy.arguments(1000)
    for case in range(400):
        pulls, scale = float(rng.integers(3, 500)), 10.0 ** rng.uniform(-3, 3)
        mean, variance = scale * rng.normal(), 0.0 if case % 5 == 0 else scale**2 * rng.uniform(0, 2)
        record = ArmRecord(
            pulls, mean, variance, mean**2 + variance, math.nan, math.nan, 0, 0,
            third=variance**1.5 * rng.normal(), fourth=variance**2 * rng.uniform(1, 9),
        )  # fmt: skip
        own = policy.score(record, 10, *arguments)
        steps = abs(own) * np.array([0.0, 1e-16, 1e-9, 1e-3, 1.0, 1e3, 1e200]) + np.array([0, 0, 0, 1, 2, 3, 4]) * 1e-3
        before = math.inf
        for lead in own + steps:
            now = policy.formula(record._replace(lead=lead), 10, *arguments)
            assert now <= before + INFLATION * abs(before)
            assert now == policy.formula(record._replace(lead=lead, epsilon=1.0, last=5.0), 999, *arguments)
            before = now
