"""The bounds that are known for each policy."""

import pytest

import sharpe_bandits as sb
from sharpe_bandits import theory


def test_bounds_are_for_one_arm():
    bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0, 0.5), sb.Uniform(0, 0.4)])
    assert sb.theory.bounds_for(sb.SHSR(L=0.5), bandit, 1000)
    assert sb.theory.bounds_for(sb.SHSR(L=0.5, m=2), bandit, 1000) == []


BANDIT = sb.Bandit([sb.Uniform(0.85, 0.95), sb.Uniform(0.75, 0.85), sb.Uniform(0.1, 0.2)])


def test_every_policy_of_the_paper_has_its_bounds():
    expected = {
        sb.UCBVV(): ("UCB-VV", "regret", ["printed", "repaired"]),
        sb.UCBSRLike(0.5): ("UCB-SR-like", "regret", ["printed", "appendix", "corrected", "proved"]),
        sb.UCBRSSR(0.5): ("UCB-RSSR", "regret", ["printed", "appendix", "corrected", "proved"]),
        sb.UCBRSSR(0.5, undefined_width="printed"): ("UCB-RSSR", "regret", ["printed", "appendix", "corrected"]),
        sb.SHVV(): ("SHVV", "probability", ["printed", "repaired", "theorem"]),
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


@pytest.mark.parametrize("policy", [sb.SHVV(), sb.SHSR(0.5), sb.SuRSR(0.5)], ids=lambda policy: policy.name)
@pytest.mark.parametrize("form", ["printed", "repaired"])
def test_the_budget_from_which_a_bound_says_something(policy, form):
    arms = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0.3, 0.8), sb.Uniform(0.1, 0.2)])
    budget = theory.informative_budget(policy, arms, form)

    def bound(n):
        return next(b for b in theory.bounds_for(policy, arms, n) if b.form == form)

    assert not bound(budget).vacuous
    assert not bound(10 * budget).vacuous
    assert bound(budget - 1).vacuous
    assert theory.informative_budget(policy, arms, form, most=budget - 1) is None


def test_no_budget_makes_the_theorem_on_shvv_say_something():
    assert theory.informative_budget(sb.SHVV(), BANDIT, "theorem") is None
    assert theory.informative_budget(sb.policies.UniformSampling(sb.Variance()), BANDIT) is None


def test_others_have_none():
    assert theory.bounds_for(sb.policies.UCB1(), BANDIT, 1000) == []
    assert theory.bounds_for(sb.policies.SequentialHalving(sb.Variance()), BANDIT, 1000) == []
    drawn = sb.RandomBandit(2, lambda rng: [sb.Uniform(0, 1), sb.Uniform(0, rng.uniform(1, 2))])
    assert theory.bounds_for(sb.SHVV(), drawn, 1000) == []
    assert theory.bounds_for(sb.SHSR(0.5, 0.5, True), BANDIT, 1000) == []  # signed, and an arm pays below the rate
    assert theory.bounds_for(sb.SHSR(0.5, 0.0, True), BANDIT, 1000) != []
    with pytest.raises(sb.errors.InvalidInputError, match="policy"):
        theory.bounds_for("UCB-RSSR", BANDIT, 1000)
