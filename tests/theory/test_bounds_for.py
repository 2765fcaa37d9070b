"""The registry, the lazy import, and what a bound looks like."""

import subprocess
import sys

import pytest

import sharpe_bandits as sb
from sharpe_bandits import theory

BANDIT = sb.Bandit([sb.Uniform(0.85, 0.95), sb.Uniform(0.75, 0.85), sb.Uniform(0.1, 0.2)])


def test_every_policy_of_the_paper_has_its_bounds():
    expected = {
        sb.UCBVV(): ("UCB-VV", "regret", ["printed", "repaired"]),
        sb.UCBSRLike(0.5): ("UCB-SR-like", "regret", ["printed", "repaired", "proved"]),
        sb.UCBRSSR(0.5): ("UCB-RSSR", "regret", ["printed", "appendix", "repaired", "proved"]),
        sb.UCBRSSR(0.5, undefined_width="printed"): ("UCB-RSSR", "regret", ["printed", "appendix", "repaired"]),
        sb.SHVV(): ("SHVV", "probability", ["printed", "repaired"]),
        sb.SHSR(0.5): ("SHSR", "probability", ["printed", "repaired"]),
        sb.SuRSR(0.5): ("SuRSR", "probability", ["printed", "repaired"]),
    }
    for policy, (name, kind, forms) in expected.items():
        bounds = theory.bounds_for(policy, BANDIT, 5000)
        assert [b.form for b in bounds] == forms
        assert all(b.kind == kind and name in b.source for b in bounds)


def test_parameters_reach_the_bounds():
    def values(policy, **more):
        return [b.value for b in theory.bounds_for(policy, BANDIT, 50_000, **more)]

    n = 50_000
    assert values(sb.UCBRSSR(0.5))[3] == theory.ucb_rssr_regret(BANDIT, 0.5, n, "proved").value
    piloted = theory.ucb_rssr_regret(BANDIT, 0.4, n, "proved", pilot=9000, risk_free=0.05)
    assert values(sb.UCBRSSR(0.4, risk_free=0.05, pilot_pulls=9000))[3] == piloted.value
    # a fraction of the horizon: 0.9 of 100,000 rounds on 3 arms
    fraction = theory.ucb_rssr_regret(BANDIT, 0.5, n, "proved", pilot=30_000)
    assert values(sb.UCBRSSR(0.5, pilot_fraction=0.9), horizon=100_000)[3] == fraction.value
    assert theory.bounds_for(sb.SHSR(0.5, 0.05, keep_samples=True), BANDIT, 200) == [
        theory.shsr_error(BANDIT, 0.5, 200, form, keep_samples=True, risk_free=0.05) for form in ("printed", "repaired")
    ]
    assert theory.bounds_for(sb.SuRSR(0.5, 0.05), BANDIT, 200)[1] == theory.sursr_error(
        BANDIT, 0.5, 200, risk_free=0.05
    )


def test_others_have_none():
    assert theory.bounds_for(sb.UCB1(), BANDIT, 1000) == []
    assert theory.bounds_for(sb.SequentialHalving(sb.Variance()), BANDIT, 1000) == []
    drawn = sb.RandomBandit(2, lambda rng: [sb.Uniform(0, 1), sb.Uniform(0, rng.uniform(1, 2))])
    assert theory.bounds_for(sb.SHVV(), drawn, 1000) == []
    assert theory.bounds_for(sb.SHSR(0.5, 0.5, True), BANDIT, 1000) == []  # signed, and an arm pays below the rate
    assert theory.bounds_for(sb.SHSR(0.5, 0.0, True), BANDIT, 1000) != []
    with pytest.raises(sb.InvalidInputError, match="policy"):
        theory.bounds_for("UCB-RSSR", BANDIT, 1000)


def test_bounds_of_a_drawn_bandit_are_refused():
    with pytest.raises(sb.InvalidInputError, match="known moments"):
        theory.ucb_vv_regret(sb.Tape([[1.0, 2.0], [1.0, 3.0]]), 100)


def test_a_bound_is_a_number():
    bound = theory.shvv_error(BANDIT, 5000)
    assert float(bound) == bound.value
    with pytest.raises(AttributeError):
        bound.value = 0.0


def test_theory_is_imported_when_asked_for():
    program = (
        "import sys, sharpe_bandits as sb\n"
        "assert 'sharpe_bandits.theory' not in sys.modules\n"
        "before = set(sys.modules)\n"
        "sb.theory.Bound\n"
        "heavy = {name.split('.')[0] for name in set(sys.modules) - before} & {'scipy', 'numba', 'pyarrow'}\n"
        "assert not heavy, heavy\n"
        "try:\n    sb.theorem\nexcept AttributeError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "theorem" in done.stdout


def test_nothing_is_claimed_of_rewards_that_depend_on_each_other():
    arms = [sb.BlockBootstrap([0.1, 0.5, 0.9], 2), sb.BlockBootstrap([0.2, 0.3, 0.4], 2)]
    assert theory.bounds_for(sb.UCBRSSR(L=1.0), arms, 1000) == []
    assert theory.bounds_for(sb.UCBRSSR(L=1.0), [sb.Empirical(arm.values) for arm in arms], 1000) != []
    for call in (
        lambda: theory.ucb_rssr_regret(arms, 1.0, 1000),
        lambda: theory.lower_bound(arms, 1.0),
        lambda: theory.coverage(arms, 100, 1.0),
    ):
        with pytest.raises(sb.InvalidInputError, match="about independent rewards, but those of BlockBootstrap"):
            call()
