"""The lazy kernel and the brute-force one make the same choices, run by run, wherever the lazy one may play."""

import hashlib

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.arms.bandit import as_environment
from sharpe_bandits.engine.spec import Spec, is_lazy, run_chunk
from sharpe_bandits.policies.base import IndexPolicy
from tests.catalogue import EVERY_POLICY, greedy_sharpe

RUNS, HORIZON = 20, 1500  # more than the 16 runs that one kernel plays abreast, and not a multiple of them

#: The paper's ten uniform arms (panel R3).
_MEANS = [3.80, 4.43, 5.09, 4.15, 5.33, 3.69, 5.02, 3.38, 3.91, 3.51]
_VARIANCES = [2.7, 4.17, 6.01, 3.7, 6.99, 2.83, 6.21, 2.39, 3.64, 2.78]

BANDITS = {
    "uniform": sb.Bandit([sb.Uniform.from_moments(m, v) for m, v in zip(_MEANS, _VARIANCES, strict=True)]),
    "two": sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)]),
    "coins": sb.Bandit([sb.Bernoulli(p) for p in (0.5, 0.5, 0.4, 0.6)]),
    "equal": sb.Bandit([sb.Uniform(0, 1)] * 5),
    "constant": sb.Bandit([sb.Constant(1.0), sb.Constant(1.0), sb.Constant(0.5)]),
    "negative": sb.Bandit([sb.Uniform(-3, 1), sb.Uniform(-2, 1.5), sb.Normal(-0.5, 1.0)]),
    "far": sb.Bandit([sb.Uniform(0, 1), sb.Uniform(50, 51), sb.Uniform(49, 52.5)]),
    "whole": sb.Bandit([sb.Empirical([0, 1, 2, 3]), sb.Empirical([0, 0, 3, 3]), sb.Empirical([1, 1, 2, 2])]),
}

#: Policies whose index cannot fall as rounds pass, with settings in and out of the region of infinite indices.
LAZY = [
    sb.UCBRSSR(L=0.75),
    sb.UCBRSSR(L=7.5, name="UCB-RSSR, large L"),
    sb.UCBRSSR(L=0.1, risk_free=0.5, name="UCB-RSSR, rate"),
    sb.UCBRSSR(L=2.0, pilot_fraction=0.1, name="UCB-RSSR, pilot"),
    sb.UCBVV(),
    sb.UCBSRLike(L=2.0),
    sb.UUCB(epsilon0=20.0),
    sb.UUCB(epsilon0=20.0, q=3.0, name="U-UCB, q = 3"),
    sb.GRAUCB(rho=1.0),
    sb.ModifiedGRAUCB(L=1.0),
    sb.ModifiedGRAUCB(L=1.0, form="authors", name="Modified-GRA-UCB authors"),
    sb.UCB1(),
    sb.MVLCB(rho=1.0),
    sb.ScaleFreeUCB(L=0.5),
    sb.RoundRobin(),
    greedy_sharpe(L=1.0),
]


def spec(policy, bandit, kernel, runs=RUNS, horizon=HORIZON, seed=4):
    checkpoints = tuple(sorted({1, 7, 50, 333, horizon}))
    return Spec(policy, as_environment(bandit), horizon, runs, seed, checkpoints, kernel=kernel)


def both(policy, bandit, **options):
    return [run_chunk(spec(policy, bandit, kernel, **options), 0, options.get("runs", RUNS), trace=True)
            for kernel in ("lazy", "side by side")]  # fmt: skip


def test_the_list_is_complete():
    """Every policy of the catalogue that some bandit lets the lazy kernel play is tested here."""
    possible = {
        policy.formula for policy in EVERY_POLICY if isinstance(policy, IndexPolicy) and policy.nondecreasing(0.0)
    }
    assert possible == {policy.formula for policy in LAZY}


@pytest.mark.parametrize("policy", LAZY, ids=[policy.name for policy in LAZY])
@pytest.mark.parametrize("name", BANDITS)
def test_the_same_choices_run_by_run(policy, name):
    bandit = BANDITS[name]
    if not policy.nondecreasing(bandit.lowest):
        assert not is_lazy(spec(policy, bandit, "auto"))
        with pytest.raises(sb.InvalidInputError, match=f"{policy.name} cannot be played by the lazy kernel here"):
            is_lazy(spec(policy, bandit, "lazy"))
        return
    assert is_lazy(spec(policy, bandit, "lazy"))
    assert is_lazy(spec(policy, bandit, "auto")) == policy.long_leads
    lazy, brute = both(policy, bandit)
    mixed = run_chunk(spec(policy, bandit, "auto"), 0, RUNS)  # the engine's own choice, which may change within a chunk
    np.testing.assert_array_equal(mixed.pulls, brute.pulls)
    for run in range(RUNS):
        first, second = (hashlib.sha256(chunk.choices[run].tobytes()).hexdigest() for chunk in (lazy, brute))
        assert first == second, f"run {run} differs from round {np.argmax(lazy.choices[run] != brute.choices[run])} on"
    np.testing.assert_array_equal(lazy.rewards, brute.rewards)
    np.testing.assert_array_equal(lazy.pulls, brute.pulls)
    np.testing.assert_array_equal(lazy.final, brute.final)
    np.testing.assert_array_equal(lazy.recommended, brute.recommended)
    np.testing.assert_array_equal(lazy.reward_mean, brute.reward_mean)
    np.testing.assert_array_equal(lazy.reward_variance, brute.reward_variance)


@pytest.mark.parametrize("policy", [sb.ScaleFreeIMED(L=0.5), sb.ModifiedMVTS(L=1.0), sb.ScaleFreeDirichlet(L=0.5),
                                    sb.UCBRSSR(L=0.75)], ids=lambda policy: policy.name)  # fmt: skip
@pytest.mark.parametrize("name", ["uniform", "coins", "constant", "negative"])
def test_arms_abreast_make_the_choices_of_runs_abreast(policy, name):
    """Few long runs are played one by one, arms abreast: every choice and every result is the same."""
    one, brute = (
        run_chunk(spec(policy, BANDITS[name], kernel, runs=3), 0, 3, trace=True)
        for kernel in ("one by one", "side by side")
    )
    for field in ("choices", "rewards", "pulls", "halfway", "final", "recommended", "reward_mean", "reward_variance"):
        np.testing.assert_array_equal(getattr(one, field), getattr(brute, field), err_msg=field)


def test_few_long_runs_are_played_arms_abreast(monkeypatch):
    from sharpe_bandits.engine.families import index

    played = []
    original = index._play
    monkeypatch.setattr(index, "_play", lambda spec, *rest: played.append(rest[2]) or original(spec, *rest))
    long, short = (spec(sb.ScaleFreeIMED(L=0.5), BANDITS["equal"], "auto", runs=1, horizon=n) for n in (300_000, 300))
    run_chunk(long, 0, 1)
    run_chunk(short, 0, 1)
    assert played == [long.kernels.one_by_one, short.kernels.side_by_side]


def test_a_small_study_stays_with_the_lazy_kernel_where_that_does_not_pay(monkeypatch):
    """Compiling another one would take longer; with more runs of the same it is compiled."""
    from sharpe_bandits.engine.families import index

    played = []
    original = index._play
    monkeypatch.setattr(index, "_play", lambda spec, *rest: played.append(rest[2]) or original(spec, *rest))
    # Equal arms change the lead all the time. So many runs that the whole of them is more than SMALL, a few played.
    small, large = (spec(LAZY[0], BANDITS["equal"], "auto", runs=n, horizon=400) for n in (20, 2000))
    run_chunk(small, 0, 20)
    run_chunk(large, 0, 20)
    assert played == [small.kernels.lazy] * 2 + [large.kernels.lazy, large.kernels.side_by_side]


def test_policies_for_which_negative_means_matter_fall_back():
    """SR-like and the printed GRA form may fall where means are negative; the others may not (docs/results.md)."""
    falling = {p.name for p in LAZY if not p.nondecreasing(-np.inf)}
    assert falling == {"UCB-SR-like", "Modified-GRA-UCB"}
    assert sb.UCBSRLike(L=1.0, risk_free=-1.0).nondecreasing(-1.0)
    assert not sb.UCBSRLike(L=1.0, risk_free=1.0).nondecreasing(0.0)
    assert not sb.UCBRSSR(L=1.0, undefined_width="printed").nondecreasing(0.0)


def test_an_index_that_may_fall_really_falls():
    """The reason for the fallback, by hand: SR-like with L = 1, s = 100, X = -10, V = 0, so D = 1.

    X/D + (D + X + 2 eps) eps / (D (D - 3 eps)): at N = 100 eps = 0.3035 and 1 - 3 eps = 0.0896, so the index is
    -10 + (-9 + 0.607) 0.3035 / 0.0896 = -38.4; at N = 110 eps = 0.3066 and 1 - 3 eps = 0.0802, so it is
    -10 - 8.387 x 0.3066 / 0.0802 = -42.1: less, though the record stands still.
    """
    from sharpe_bandits.kernels.statistics import ArmRecord, radius

    policy = sb.UCBSRLike(L=1.0)
    still = ArmRecord(pulls=100, mean=-10, variance=0, second_moment=100, epsilon=0, last=0, key=0, round_key=0)
    values = [policy.formula(still._replace(epsilon=radius(t) / 10.0), t, 1.0, 0.0) for t in (100, 110)]
    assert values == pytest.approx([-38.4, -42.1], abs=0.1)


@pytest.mark.parametrize("policy", [sb.UCBRSSR(L=0.75), sb.UCBVV(), sb.UUCB(epsilon0=20.0)])
def test_the_same_on_long_runs_of_one_arm(policy):
    """A clear winner: the lazy kernel looks far ahead, up to checkpoints and the horizon."""
    bandit = sb.Bandit([sb.Uniform(0, 10), sb.Uniform(0, 1), sb.Uniform(0, 1.1), sb.Uniform(0.4, 0.6)])
    lazy, brute = both(policy, bandit, runs=3, horizon=20_000)
    np.testing.assert_array_equal(lazy.choices, brute.choices)
    np.testing.assert_array_equal(lazy.pulls, brute.pulls)


@pytest.mark.parametrize("seed", range(3))
def test_the_same_on_tapes_of_few_values(seed):
    """Records that tie over and over, also at infinity."""
    rewards = np.random.default_rng(seed).integers(0, 3, size=(4, 400)).astype(float)
    for policy in (sb.UCBRSSR(L=0.1), sb.UCBRSSR(L=5.0), sb.UCB1(), sb.UCBVV(), greedy_sharpe(L=1.0)):
        lazy, brute = both(policy, sb.Tape(rewards), runs=1, horizon=400)
        np.testing.assert_array_equal(lazy.choices, brute.choices)


def test_a_lead_that_ends_in_a_tie():
    """By hand: arm 1 leads until its mean is exactly 0, which ties with arm 0: the lowest arm is played.

    The bounds of the lazy kernel are raised by a part of themselves, which is nothing here.
    """
    rewards = np.array([[0.0] * 40, [1.0] * 20 + [-1.0] * 20])
    for policy in (greedy_sharpe(L=1.0), sb.EpsilonGreedy(sb.RSSR(L=1.0), epsilon=0.0)):
        expected = [0, 1, 0, 1] + [1] * 38 + [0] * 6
        assert sb.trace(policy, sb.Tape(rewards), horizon=48).choices.tolist() == expected
    lazy, brute = both(greedy_sharpe(L=1.0), sb.Tape(rewards), runs=1, horizon=48)
    np.testing.assert_array_equal(lazy.choices, brute.choices)


def test_the_infinite_region_is_really_visited():
    """With L = 0.1 on [0, 1] rewards D <= 3 eps for long, and the arms are played in turn."""
    lazy, _ = both(sb.UCBRSSR(L=0.1), BANDITS["equal"], runs=1, horizon=200)
    assert lazy.choices[0].tolist() == [0, 1, 2, 3, 4] * 40


def test_both_sources_of_bits():
    for source in ("splitmix", "philox"):
        traces = [
            sb.trace(sb.UCBRSSR(L=0.75), BANDITS["two"], horizon=500, source=source, kernel=kernel, seed=2)
            for kernel in ("lazy", "side by side")
        ]
        np.testing.assert_array_equal(traces[0].rewards, traces[1].rewards)
    other = sb.trace(sb.UCBRSSR(L=0.75), BANDITS["two"], horizon=500, seed=2)
    assert (other.rewards != traces[0].rewards).any()


def test_arms_of_their_own_in_every_run():
    def draw(generator):
        return sb.UniformArms(np.zeros(3), generator.uniform(0.5, 5, size=3))

    lazy, brute = both(sb.UCBRSSR(L=0.75), sb.RandomBandit(3, draw, lowest=0.0), runs=20, horizon=300)
    np.testing.assert_array_equal(lazy.choices, brute.choices)
    assert len({chunk.tobytes() for chunk in lazy.choices}) == 20
