"""What a bound is, and of what rewards nothing is claimed."""

import pytest

import sharpe_bandits as sb
from sharpe_bandits import theory


def test_bounds_of_a_drawn_bandit_are_refused():
    with pytest.raises(sb.errors.InvalidInputError, match="known moments"):
        theory.ucb_vv_regret(sb.Tape([[1.0, 2.0], [1.0, 3.0]]), 100)


def test_bounds_do_not_depend_on_those_computed_before():
    """Neither on other arms of the same number, nor on other rates and horizons."""

    def bounds(high, rate, rounds):
        bandit = sb.Bandit([sb.Uniform(1, high), sb.Uniform(1, 1.5)])
        return theory.bounds_for(sb.UCBRSSR(L=1.0, risk_free=rate), bandit, rounds)

    settings = [(high, rate, rounds) for high in (2, 3) for rate in (0.0, 0.25) for rounds in (1000, 50_000)]
    first = [bounds(*setting) for setting in settings]
    assert [bounds(*setting) for setting in reversed(settings)] == first[::-1]
    assert len({bound.value for found in first for bound in found if bound.form == "printed"}) == len(settings)
    assert len({bound.value for found in first for bound in found if bound.form == "proved"}) == len(settings)


def test_a_bound_is_a_number():
    bandit = sb.Bandit([sb.Uniform(0.85, 0.95), sb.Uniform(0.75, 0.85), sb.Uniform(0.1, 0.2)])
    bound = theory.shvv_error(bandit, 5000)
    assert float(bound) == bound.value
    with pytest.raises(AttributeError):
        bound.value = 0.0


def test_nothing_is_claimed_of_rewards_that_depend_on_each_other():
    arms = [sb.arms.BlockBootstrap([0.1, 0.5, 0.9], 2), sb.arms.BlockBootstrap([0.2, 0.3, 0.4], 2)]
    assert theory.bounds_for(sb.UCBRSSR(L=1.0), arms, 1000) == []
    assert theory.bounds_for(sb.UCBRSSR(L=1.0), [sb.Empirical(arm.values) for arm in arms], 1000) != []
    for call in (
        lambda: theory.ucb_rssr_regret(arms, 1.0, 1000),
        lambda: theory.coverage(arms, 100, 1.0),
    ):
        with pytest.raises(sb.errors.InvalidInputError, match="about independent rewards, but those of BlockBootstrap"):
            call()
