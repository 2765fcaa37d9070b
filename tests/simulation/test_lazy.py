"""The lazy kernel makes the same choices as the others, run by run, wherever it may play."""

import hashlib

import numpy as np
import pytest
from hypothesis import settings

import sharpe_bandits as sb
from sharpe_bandits._support.call_tree import substituted
from sharpe_bandits.policies.base import IndexPolicy
from sharpe_bandits.simulation.families.index import policy_bindings
from sharpe_bandits.simulation.lazy import first_decrease
from sharpe_bandits.simulation.spec import is_lazy, run_chunk
from tests.catalogue import EVERY_POLICY
from tests.simulation.games import BANDITS, RUNS, spec

#: Policies whose index cannot fall as rounds pass. First those whose kernels are compiled here, with settings in and out
#: of the region of infinite indices, a table, a search, and higher moments; the lazy kernel rests on one claim of an
#: index, which is tested of all.
PLAYED = [
    sb.UCBRSSR(L=0.75),
    sb.UCBRSSR(L=7.5, name="UCB-RSSR, large L"),
    sb.UCBRSSR(L=0.1, risk_free=0.5, name="UCB-RSSR, rate"),
    sb.UCBRSSR(L=2.0, pilot_fraction=0.1, name="UCB-RSSR, pilot"),
    sb.policies.UCB1(),
    sb.policies.GRAUCB(rho=1.0),
    sb.policies.KLUCB(),
    sb.ScaleFreeUCB(L=0.5),
]
LAZY = [
    *PLAYED,
    sb.UCBVV(),
    sb.UCBSRLike(L=2.0),
    sb.policies.ModifiedGRAUCB(L=1.0),
    sb.policies.ModifiedGRAUCB(L=1.0, form="authors", name="Modified-GRA-UCB authors"),
    sb.policies.UCBV(),
    sb.policies.UCBTuned(),
    sb.policies.MVLCB(rho=1.0),
    sb.policies.RoundRobin(),
]
if settings.default.max_examples > 100:  # make test-long
    PLAYED = LAZY


@sb.index_policy(name="Greedy Sharpe, declared", nondecreasing=True)
def declared(arm, t, L):
    return arm.mean**2 / (L + arm.variance)


def both(policy, bandit, other="side by side", **options):
    return [run_chunk(spec(policy, bandit, kernel, **options), 0, options.get("runs", RUNS), trace=True)
            for kernel in ("lazy", other)]  # fmt: skip


def test_the_list_is_complete():
    """Every policy of the catalogue that some bandit lets the lazy kernel play is tested here."""
    possible = {
        policy.formula for policy in EVERY_POLICY if isinstance(policy, IndexPolicy) and policy.nondecreasing(0.0)
    }
    assert possible == {policy.formula for policy in LAZY}


@pytest.mark.parametrize("policy", LAZY, ids=[policy.name for policy in LAZY])
def test_no_index_falls_while_its_arm_waits(policy):
    """By the search that formulas of users have to pass, in plain Python."""
    search = substituted(first_decrease, policy_bindings(policy, 10_000))
    with np.errstate(all="ignore"):
        assert search(policy.arguments(10_000), policy.nondecreasing(-np.inf))[0] == 0


@pytest.mark.parametrize("policy", LAZY, ids=[policy.name for policy in LAZY])
@pytest.mark.parametrize("name", BANDITS)
def test_the_same_choices_run_by_run(policy, name):
    bandit = BANDITS[name]
    if not policy.nondecreasing(bandit.lowest):
        assert not is_lazy(spec(policy, bandit, "auto"))
        with pytest.raises(
            sb.errors.InvalidInputError, match=f"{policy.name} cannot be played by the lazy kernel here"
        ):
            is_lazy(spec(policy, bandit, "lazy"))
        return
    assert is_lazy(spec(policy, bandit, "lazy"))
    assert is_lazy(spec(policy, bandit, "auto"))
    if policy not in PLAYED:
        return
    if policy.formula in (LAZY[0].formula, sb.ScaleFreeUCB(L=0.5).formula):
        lazy, brute = both(policy, bandit)
        # The engine's own choice of kernel, which may change within a chunk.
        mixed = run_chunk(spec(policy, bandit, "auto"), 0, RUNS)
        np.testing.assert_array_equal(mixed.pulls, brute.pulls)
    else:
        lazy, brute = both(policy, bandit, "reference")  # which is compiled once for all policies
    for run in range(RUNS):
        first, second = (hashlib.sha256(chunk.choices[run].tobytes()).hexdigest() for chunk in (lazy, brute))
        assert first == second, f"run {run} differs from round {np.argmax(lazy.choices[run] != brute.choices[run])} on"
    np.testing.assert_array_equal(lazy.rewards, brute.rewards)
    np.testing.assert_array_equal(lazy.pulls, brute.pulls)
    np.testing.assert_array_equal(lazy.final, brute.final)
    np.testing.assert_array_equal(lazy.recommended, brute.recommended)
    np.testing.assert_array_equal(lazy.reward_mean, brute.reward_mean)
    np.testing.assert_array_equal(lazy.reward_variance, brute.reward_variance)


def test_policies_for_which_negative_means_matter_fall_back():
    """SR-like and the printed GRA form may fall where means are negative; the others may not (docs/evidence/methods.md)."""
    falling = {p.name for p in LAZY if not p.nondecreasing(-np.inf)}
    assert falling == {"UCB-SR-like", "Modified-GRA-UCB"}
    assert sb.UCBSRLike(L=1.0, risk_free=-1.0).nondecreasing(-1.0)
    assert not sb.UCBSRLike(L=1.0, risk_free=1.0).nondecreasing(0.0)
    assert not sb.UCBRSSR(L=1.0, undefined_width="printed").nondecreasing(0.0)


@pytest.mark.parametrize("policy", LAZY[:4], ids=lambda policy: policy.name)
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
    for policy in (sb.UCBRSSR(L=0.1), sb.UCBRSSR(L=5.0), sb.policies.UCB1(), sb.policies.GRAUCB()):
        lazy, brute = both(policy, sb.Tape(rewards), "reference", runs=1, horizon=400)
        np.testing.assert_array_equal(lazy.choices, brute.choices)


def test_a_lead_that_ends_in_a_tie():
    """By hand: arm 1 leads until its mean is exactly 0, which ties with arm 0: the lowest arm is played.

    The bounds of the lazy kernel are raised by a part of themselves, which is nothing here.
    """
    rewards = np.array([[0.0] * 40, [1.0] * 20 + [-1.0] * 20])
    for policy in (sb.policies.EpsilonGreedy(sb.RSSR(L=1.0), epsilon=0.0), declared(L=1.0)):
        expected = [0, 1, 0, 1] + [1] * 38 + [0] * 6
        assert sb.trace(policy, sb.Tape(rewards), horizon=48).choices.tolist() == expected
    lazy, brute = both(declared(L=1.0), sb.Tape(rewards), "reference", runs=1, horizon=48)
    np.testing.assert_array_equal(lazy.choices, brute.choices)


def test_the_infinite_region_is_really_visited():
    """With L = 0.1 on [0, 1] rewards D <= 3 eps for long, and the arms are played in turn."""
    lazy, _ = both(sb.UCBRSSR(L=0.1), BANDITS["equal"], runs=1, horizon=200)
    assert lazy.choices[0].tolist() == [0, 1, 2, 3, 4] * 40


def test_arms_of_their_own_in_every_run():
    def draw(generator):
        return sb.arms.UniformArms(np.zeros(3), generator.uniform(0.5, 5, size=3))

    lazy, brute = both(sb.UCBRSSR(L=0.75), sb.RandomBandit(3, draw, lowest=0.0), runs=20, horizon=300)
    np.testing.assert_array_equal(lazy.choices, brute.choices)
    assert len({chunk.tobytes() for chunk in lazy.choices}) == 20
