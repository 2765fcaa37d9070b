"""Stretches of a long lead: the sums of adding one reward at a time, and no segment is certain that loses the lead."""

import math

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.arms.bandit import as_environment
from sharpe_bandits.engine.compiler import specialise
from sharpe_bandits.engine.families import index as family
from sharpe_bandits.engine.spec import Spec, run_chunk
from sharpe_bandits.kernels import stretches
from sharpe_bandits.kernels.statistics import ArmRecord, record_kinds
from sharpe_bandits.kernels.stretches import ADDED1, ADDED2, ERROR1, ERROR2, SEGMENT, SEGMENTS, STRETCH
from sharpe_bandits.policies.base import IndexPolicy
from tests.catalogue import EVERY_POLICY

MONOTONE = [policy for policy in EVERY_POLICY if isinstance(policy, IndexPolicy) and policy.monotone_in_moments]


def in_lanes(rewards):
    """Rewards in the order of their pulls, as the kernel has them: first the first pull of every segment, and so on."""
    return np.ascontiguousarray(np.reshape(rewards, (SEGMENTS, SEGMENT)).T).ravel()


def one_by_one(rewards, anchor, sum1, sum2):
    """Both sums after every pull, in plain Python."""
    found = []
    for x in rewards.tolist():
        d = x - anchor
        sum1 += d
        sum2 += d * d
        found.append((sum1, sum2))
    return np.array(found)


def samples(generator):
    """Distributions of rewards: a fine grid, a coarse one, skewed, heavy, far from 0."""
    return {
        "uniform": generator.uniform(1.5, 7.5, STRETCH),
        "integers": generator.integers(0, 5, STRETCH).astype(float),
        "skewed": generator.exponential(2.0, STRETCH),
        "heavy": 5.0 + generator.standard_t(3, STRETCH),
        "far": generator.uniform(1000.25, 1001.5, STRETCH),
    }


@pytest.mark.parametrize("kind", samples(np.random.default_rng(0)))
def test_sums_are_those_of_adding_one_reward_at_a_time(kind):
    """To the last bit, wherever no summand lies halfway between two multiples of the unit in the last place."""
    add_segments = specialise(stretches.add_segments, {})
    exact = 0
    for seed in range(200):
        generator = np.random.default_rng(seed)
        rewards = samples(generator)[kind]
        # Well between two powers of two, with random last digits.
        sum1 = (1.3 + 0.4 * generator.random()) * 2.0 ** generator.integers(14, 24) * generator.choice([-1.0, 1.0])
        sum2 = (1.3 + 0.4 * generator.random()) * 2.0 ** generator.integers(22, 32)
        anchor = 0.0 if kind == "integers" else float(rewards[0])
        sums = np.full((stretches.ROWS, SEGMENTS), math.nan)
        add_segments(in_lanes(rewards), anchor, sum1, sum2, sums)
        expected = one_by_one(rewards, anchor, sum1, sum2)[SEGMENT - 1 :: SEGMENT]
        for column, (start, added, error) in enumerate([(sum1, ADDED1, ERROR1), (sum2, ADDED2, ERROR2)]):
            half = 0.5 * math.ulp(start)
            assert (sums[error] <= half).all()
            sound = np.cumprod(sums[error] < half).astype(bool)
            np.testing.assert_array_equal((start + np.cumsum(sums[added]))[sound], expected[sound, column])
            exact += sound.sum()
    assert exact > (0.1 if kind == "far" else 0.9) * 2 * 200 * SEGMENTS  # far from 0, rewards have few binary places


def test_a_summand_halfway_between_two_multiples_is_noticed():
    """1 + 2**-53 rounds to even: one after the other gives 1, then 1 again; which one depends on the sum before."""
    rewards, sums = np.zeros(STRETCH), np.zeros((stretches.ROWS, SEGMENTS))
    rewards[5 * SEGMENT + 3] = 0.75
    sum1 = 1.5 * 2.0**53 + 2.0  # units are 2, so that 0.75 is not halfway, and 1.0 is
    specialise(stretches.add_segments, {})(in_lanes(rewards), 0.0, sum1, 1e30, sums)
    assert (sums[ERROR1] < 0.5 * math.ulp(sum1)).all()
    rewards[5 * SEGMENT + 3] = 1.0
    specialise(stretches.add_segments, {})(in_lanes(rewards), 0.0, sum1, 1e30, sums)
    assert (sums[ERROR1] == 0.5 * math.ulp(sum1)).tolist() == [k == 5 for k in range(SEGMENTS)]


def index_after(policy, s, t, anchor, sum1, sum2):
    """The index after a pull, from the formulas of mean and variance."""
    mean = anchor + sum1 / s
    variance = max(0.0, (sum2 - sum1 * sum1 / s) / (s - 1))
    second = sum2 / s + anchor * (2 * sum1 / s + anchor)
    arm = ArmRecord(s, mean, variance, second, math.sqrt(2 * math.log(t) / s), t, 0, 0)
    return policy.formula(arm, t, *policy.arguments(t))


@pytest.mark.parametrize("policy", MONOTONE, ids=[policy.name for policy in MONOTONE])
@pytest.mark.parametrize("kind", samples(np.random.default_rng(0)))
def test_no_segment_is_certain_that_loses_the_lead(policy, kind):
    """Rivals just below and just above what the index falls to within the stretch, after few pulls and after many."""
    kernel = specialise(stretches.certain_segments, family.policy_bindings(policy, 10**6))
    certain_of_rival_below = 0
    for seed in range(60):
        generator = np.random.default_rng(seed)
        s = int(10 ** generator.uniform(3.7, 6))
        t = s + int(10 ** generator.uniform(1, 5))
        rewards = samples(generator)[kind]
        anchor = 0.0 if kind == "integers" else float(rewards[0])
        d = rewards - anchor
        # Sums of s such rewards, whose mean and variance differ a little from those of the stretch.
        sum1, sum2 = s * d.mean() * generator.uniform(0.99, 1.01), s * (d * d).mean() * generator.uniform(1.0, 1.03)
        after = one_by_one(rewards, anchor, sum1, sum2)
        path = np.array([index_after(policy, s + j, t + j, anchor, *after[j - 1]) for j in range(1, STRETCH + 1)])
        epsilon = math.sqrt(2 * math.log(t + 1) / s)
        lowest = path.min()
        for rival in (lowest * (1 - 1e-9), lowest * (1 + 1e-9), np.median(path), lowest * 0.97):
            sums = np.zeros((stretches.ROWS, SEGMENTS))
            certain = kernel(
                in_lanes(rewards), anchor, sum1, sum2, s, epsilon, t, policy.arguments(10**6), float(rival), sums
            )
            assert (path[: certain * SEGMENT] > rival).all()
            upto = [sum1 + sums[ADDED1, :certain].sum(), sum2 + sums[ADDED2, :certain].sum()]
            assert upto == (after[certain * SEGMENT - 1].tolist() if certain else [sum1, sum2])
        certain_of_rival_below += certain
    # Next to a power of two not even a rival 3% behind is certainly beaten; mostly it is.
    assert certain_of_rival_below > (1 if kind == "far" else 30) * SEGMENTS


def test_rewards_so_even_that_rounding_outweighs_their_variance():
    """Sums of a constant reward drift until the variance computed from them is below 0, where every kernel takes 0."""
    policy = sb.UCBRSSR(L=0.3)
    kernel = specialise(stretches.certain_segments, family.policy_bindings(policy, 10**6))
    rewards, s = np.full(STRETCH, 1000.3), 300_000
    whole = np.full(s, 1000.3)
    whole[0] = 1000.0  # an integer: sums are of rewards as they are
    sum1, sum2 = float(np.cumsum(whole)[-1]), float(np.cumsum(whole * whole)[-1])
    assert sum2 < sum1 * sum1 / s
    after = one_by_one(rewards, 0.0, sum1, sum2)
    path = np.array(
        [index_after(policy, s + j, s + 1000 + j, 0.0, *after[j - 1]) for j in range(1, STRETCH + 1)]
    )  # fmt: skip
    for above in (-1e-9, 1e-11, 1e-9, 1e-7, 1e-5):
        rival, sums = float(path[: 8 * SEGMENT].min() * (1 + above)), np.zeros((stretches.ROWS, SEGMENTS))
        epsilon = math.sqrt(2 * math.log(s + 1001) / s)
        certain = kernel(rewards, 0.0, sum1, sum2, s, epsilon, s + 1000, policy.arguments(10**6), rival, sums)
        assert (path[: certain * SEGMENT] > rival).all()


def test_rewards_just_below_the_mean_among_many_pulls():
    """Squares are rounded to units of a large sum, by more than they differ from each other."""
    policy = sb.UCBSRLike(L=30_000.0)
    kernel = specialise(stretches.certain_segments, family.policy_bindings(policy, 10**6))
    generator = np.random.default_rng(0)
    for _ in range(2000):
        s, mean = int(10 ** generator.uniform(5, 6)), float(generator.uniform(500, 1000))
        behind = mean * 10 ** generator.uniform(-5.6, -5.0)
        sum1, sum2 = s * mean, s * (mean * mean + 4 * behind * behind)
        rewards = np.full(STRETCH, mean - behind)
        after = one_by_one(rewards[:SEGMENT], 0.0, sum1, sum2)
        path = [index_after(policy, s + j, s + 1000 + j, 0.0, *after[j - 1]) for j in range(1, SEGMENT + 1)]
        epsilon = math.sqrt(2 * math.log(s + 1001) / s)
        for above in (1e-12, 1e-11, 1e-10):
            rival, sums = min(path) * (1 + above), np.zeros((stretches.ROWS, SEGMENTS))
            arguments = policy.arguments(10**6)
            assert kernel(rewards, 0.0, sum1, sum2, s, epsilon, s + 1000, arguments, rival, sums) == 0


def test_nothing_is_certain_without_numbers():
    policy = sb.UCBRSSR(L=0.5)
    kernel = specialise(stretches.certain_segments, family.policy_bindings(policy, 10**6))
    fine = np.full(STRETCH, 3.0)
    fine[::2] = 5.0

    def certain(rewards, sum1=6e4, sum2=3e5, rival=1.0):
        sums = np.zeros((stretches.ROWS, SEGMENTS))
        return kernel(rewards, 1.0, sum1, sum2, 20_000, 0.03, 50_000, policy.arguments(10**6), rival, sums)

    assert certain(fine) == SEGMENTS
    broken = fine.copy()
    broken[-1] = math.nan  # past the end of a record
    assert certain(broken) == 0
    assert certain(fine, rival=math.inf) == certain(fine, rival=math.nan) == 0
    assert certain(fine, sum1=0.0, sum2=0.0) == 0
    assert certain(fine, sum1=2.0**16 - 1.0) == certain(fine, sum2=2.0**19 - 1.0) == 0
    # Next to a power of two, also if no square counts beside a sum of squares that one reward dominates.
    assert certain(fine, sum1=2.0**16 - 1.0, sum2=1e25, rival=-1.0) == 0


def test_the_index_of_monotone_policies_is_monotone():
    """In every field by itself, for means of at least 0, and it reads no other field."""
    assert {type(policy).__name__ for policy in MONOTONE} == {"UCBRSSR", "UCBSRLike"}
    assert not sb.UCBRSSR(L=1.0, risk_free=0.1).monotone_in_moments
    assert not sb.UCBSRLike(L=1.0, undefined_width="printed").monotone_in_moments
    assert not type("Another", (sb.UCBRSSR,), {"formula": staticmethod(sb.UCB1.formula)})(L=1.0).monotone_in_moments
    generator = np.random.default_rng(3)
    directions = {"mean": 1, "variance": -1, "second_moment": 1, "epsilon": 1}
    others = set(record_kinds()) - set(directions)
    settings = [sb.UCBRSSR(L=0.3), sb.UCBRSSR(L=0.3, risk_free=-0.2), sb.UCBSRLike(L=2.0, risk_free=-0.1)]
    for policy in [*MONOTONE, *settings]:
        assert policy.monotone_in_moments
        for _ in range(2000):
            scale = math.exp(generator.uniform(-2, 2))
            fields = {"mean": scale * generator.random(), "variance": scale**2 * generator.random()}
            fields["second_moment"] = fields["mean"] ** 2 + fields["variance"] * generator.uniform(0.5, 1)
            fields["epsilon"] = generator.random() ** 3
            rest = dict.fromkeys(others, math.nan)
            low = policy.formula(ArmRecord(**fields, **rest), 1, *policy.arguments(1000))
            assert low == policy.formula(ArmRecord(**fields, **rest), 10**9, *policy.arguments(1000))  # not NaN, either
            for name, direction in directions.items():
                more = {**fields, name: fields[name] * (1 + generator.random())}
                high = policy.formula(ArmRecord(**more, **rest), 1, *policy.arguments(1000))
                slack = 1e-12 * abs(low) if math.isfinite(low) else 0.0
                assert direction * high >= direction * low - slack, (policy, fields, name)


def outlier():
    """The second reward of the first arm is so large that squares of the others vanish beside its own, and their sum
    passes a power of two.
    """
    rewards = np.random.default_rng(4).uniform(0.0, 2.0, (2, 30_000))
    rewards[0, :2] = 1.0, 2.0**33 - 20_000.0
    rewards[1] = np.where(np.arange(30_000) % 2 == 0, 1000.0, -1000.0)
    return sb.Tape(rewards)


LONG_BANDITS = {
    "two": sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.0, 9.0)]),
    "several": sb.Bandit([sb.Uniform(0.9, 6.6), sb.Uniform(0.5, 9.1), sb.Uniform(0.4, 9.7), sb.Uniform(2.0, 4.0)]),
    "tables": sb.Bandit([sb.TruncatedGamma(2, 2, 1, 10), sb.TruncatedNormal(5, 4, 1, 7)]),
    "normal": sb.Bandit([sb.Normal(2.0, 1.0), sb.Normal(1.0, 2.0), sb.Normal(-1.0, 1.0)]),
    "integers": sb.Bandit([sb.Empirical([4, 5, 6]), sb.Empirical([0, 3])]),
    "discrete": sb.Bandit([sb.Empirical([1.0, 2.0, 2.5]), sb.Empirical([0.0, 3.0])]),
    "recorded": sb.Tape(np.random.default_rng(2).uniform([[1.0], [0.0]], [[3.0], [5.0]], size=(2, 30_000))),
    "outlier": outlier(),
}


def every_segment(rewards, anchor, sum1, sum2, s, epsilon, t, arguments, rival, sums):
    """A wrong answer of :func:`~sharpe_bandits.kernels.stretches.certain_segments`."""
    return SEGMENTS


def played(policy, name, horizon, kernel="lazy", source="splitmix"):
    """Results of some runs, as one tuple of lists."""
    environment = as_environment(LONG_BANDITS[name])
    chunk = run_chunk(Spec(policy, environment, horizon, 18, 5, (9001, horizon), source, kernel), 0, 18)
    fields = ("pulls", "final", "halfway", "recommended", "reward_mean", "reward_variance")
    return tuple(getattr(chunk, field).tolist() for field in fields)


@pytest.fixture
def wrongly(monkeypatch):
    """A function that makes all stretches certain."""
    original, wrong = family.specialise, {stretches.certain_segments: every_segment}

    def patch():
        monkeypatch.setattr(family, "specialise", lambda kernel, bindings: original(kernel, {**bindings, **wrong}))

    return patch


@pytest.mark.parametrize("name", LONG_BANDITS)
def test_the_same_choices_in_long_games(name, monkeypatch, wrongly):
    """Pulls, and statistics to the last bit. All are played in stretches, or a wrong answer would change nothing."""
    monkeypatch.setattr(family, "STRETCHED", 20_000)
    policy = sb.UCBRSSR(L=0.5)
    fast = played(policy, name, 30_000)
    assert fast == played(policy, name, 30_000, "side by side")
    wrongly()
    assert fast != played(policy, name, 30_000)


@pytest.mark.parametrize("name", ["two", "tables", "integers"])
@pytest.mark.parametrize(
    ("policy", "table_size", "source"),
    [
        (sb.UCBSRLike(L=1.0), None, "splitmix"),
        (sb.UCBRSSR(L=0.5), 9000, "splitmix"),
        (sb.UCBRSSR(L=0.5), None, "philox"),
    ],
)
def test_the_same_choices_in_other_long_games(policy, table_size, source, name, monkeypatch):
    """By another policy, past the end of tables, from another source of bits."""
    monkeypatch.setattr(family, "STRETCHED", 20_000)
    if table_size is not None:
        monkeypatch.setattr(family, "MAX_TABLE", table_size)
    assert played(policy, name, 30_000, "lazy", source) == played(policy, name, 30_000, "side by side", source)


def test_shorter_games_are_not_played_in_stretches(wrongly):
    right = played(sb.UCBRSSR(L=0.5), "two", 30_000)
    wrongly()
    assert right == played(sb.UCBRSSR(L=0.5), "two", 30_000)
