"""Regret bounds: numbers worked by hand, and what simulation says of each form."""

import math

import pytest

import sharpe_bandits as sb
from sharpe_bandits import theory

CHANCE = 1 + math.pi**2 / 3

#: Two narrow arms within [0, 1] whose second moment is large beside L + variance.
HIGH = sb.Bandit([sb.Uniform(0.85, 0.95), sb.Uniform(0.75, 0.85)])
#: The forms of the bounds on UCB-RSSR and UCB-SR-like.
FORMS = ("printed", "corrected", "proved")


def measured(policy, bandit, n, runs=100):
    study = sb.simulate(policy, bandit, horizon=n, runs=runs, seed=5, checkpoints=[n], workers=2)
    return study[policy.name].regret(confidence=0.99).final


def test_ucb_vv_by_hand():
    bandit = sb.Bandit([sb.Bernoulli(0.5), sb.Uniform(0, 1)])  # variances 1/4 and 1/12, gap 1/6
    # 8 ln(10^4) / (1/6) + (1 + pi^2/3) / 6 = 442.0963 + 0.7150
    bound = theory.ucb_vv_regret(bandit, 10**4, "printed")
    assert bound.value == pytest.approx(442.0963 + 0.7150, abs=1e-3)
    assert not bound.vacuous  # below 10^4 / 6
    assert bound.applies
    assert theory.ucb_vv_regret(bandit, 10**3, "printed").vacuous  # 332 against 10^3 / 6 = 167
    # z = floor(2 (3/2)^2 ln(10^4) 36) + 1 = floor(1492.07) + 1, and one more for its own chance
    chance = sum(min(1.0, (N - 3) * N**-4.0) for N in range(4, 10**4))
    assert theory.ucb_vv_regret(bandit, 10**4).value == pytest.approx((1493 + 1 + chance) / 6)


def test_ucb_vv_beyond_the_unit_interval_by_hand():
    bandit = sb.Bandit([sb.Uniform(0, 1.2), sb.Uniform(0.3, 0.9)])  # variances 0.12 and 0.03
    # 1 + 0.6^2 / 2 = 1.18; z = floor(2 * 1.18^2 * ln(10^4) / 0.0081) + 1 = floor(3166.5) + 1
    chance = sum(min(1.0, (N - 3) * N ** (-4 / 1.2**4)) for N in range(4, 10**4))
    assert chance > 10
    assert not theory.ucb_vv_regret(bandit, 10**4, "printed").applies
    assert theory.ucb_vv_regret(bandit, 10**4).value == pytest.approx(0.09 * (3167 + 1 + chance))


def test_ucb_rssr_by_hand():
    bandit = sb.Bandit([sb.Bernoulli(0.5), sb.Bernoulli(0.2)])
    # L = 1: 0.25/1.25 = 0.2 and 0.04/1.16 = 0.0344828, gap 0.1655172; fourth moment 0.16 (1 - 3 * 0.16) = 0.0832
    # 8 / (0.1655172 (0.0832 + 1.16^2)) = 33.828 > 18; times ln 1000 = 6.907755: 233.675
    gap = 0.2 - 0.04 / 1.16
    plays = 8 * math.log(1000) / (gap * (0.0832 + 1.3456))
    assert plays == pytest.approx(233.675, abs=1e-3)
    assert theory.ucb_rssr_regret(bandit, 1.0, 1000, "printed").value == pytest.approx(plays + CHANCE * gap)
    assert theory.ucb_rssr_regret(bandit, 1.0, 1000, "corrected").value == pytest.approx(gap * (plays + CHANCE))
    # the other branch: L = 0.2, gap 0.25/0.45 - 0.04/0.36 = 4/9; 18/0.04 = 450 > 8 / (4/9 (0.0832 + 0.1296)) = 84.6
    assert theory.ucb_rssr_regret(bandit, 0.2, 1000, "printed").value == pytest.approx(
        450 * math.log(1000) + CHANCE * 4 / 9
    )


def test_ucb_sr_like_by_hand():
    bandit = sb.Bandit([sb.Bernoulli(0.5), sb.Bernoulli(0.2)])
    gap = 0.5 / 1.25 - 0.2 / 1.16  # 0.2275862; 8 / (gap * 1.4288) = 24.602 > 18
    plays = 8 * math.log(1000) / (gap * 1.4288)
    assert theory.ucb_sr_like_regret(bandit, 1.0, 1000, "corrected").value == pytest.approx(gap * (plays + CHANCE))


def test_risk_free_rate_shifts_rewards():
    shifted = sb.Bandit([sb.Uniform(1.85, 1.95), sb.Uniform(1.75, 1.85)])
    for form in FORMS:
        a = theory.ucb_rssr_regret(HIGH, 0.5, 10**5, form)
        b = theory.ucb_rssr_regret(shifted, 0.5, 10**5, form, risk_free=1.0)
        assert b.value == pytest.approx(a.value, rel=1e-3)
        a = theory.ucb_sr_like_regret(HIGH, 0.5, 10**5, form)
        b = theory.ucb_sr_like_regret(shifted, 0.5, 10**5, form, risk_free=1.0)
        assert b.value == pytest.approx(a.value, rel=1e-3)


def test_proved_pulls_are_the_first_that_suffice():
    # Constant arms: no chance at all. f(e) = mean^2 + (1 + mean^2 + 2 e) e / (1 - 3 e) with L = 1, target 1.
    n = 10**4
    bandit = sb.Bandit([sb.arms.Constant(1.0), sb.arms.Constant(0.8)])

    def index(s):
        e = math.sqrt(2 * math.log(n) / s)
        return 0.64 + (1.64 + 2 * e) * e / (1 - 3 * e) if 3 * e < 1 else math.inf

    first = next(s for s in range(2, n) if index(s) < 1.0)
    bound = theory.ucb_rssr_regret(bandit, 1.0, n, "proved")
    assert bound.value == pytest.approx(0.36 * (first + 3))
    # without noise the policy stops there at the latest; somewhat before, as the best arm's own width is above 0
    plays = measured(sb.UCBRSSR(1.0), bandit, n, runs=1).mean / 0.36
    assert 0.7 * first < plays <= first

    def sr_like(s):
        e = math.sqrt(2 * math.log(n) / s)
        return 0.8 + (1.8 + 2 * e) * e / (1 - 3 * e) if 3 * e < 1 else math.inf

    first = next(s for s in range(2, n) if sr_like(s) < 1.0)
    assert theory.ucb_sr_like_regret(bandit, 1.0, n, "proved").value == pytest.approx(0.2 * (first + 2))


def test_proved_forms_from_scratch():
    # Best arm on [0, 1.2]: mean 0.6, variance 0.12. Other arm on [-0.1, 0.3]: mean 0.1, variance 0.16/12. L = 1.
    n = 10**4
    d, m2 = 1 + 0.16 / 12, 0.01 + 0.16 / 12

    def first(index, target):
        return next(s for s in range(200, n) if index(math.sqrt(2 * math.log(n) / s)) < target)

    def rssr(e):  # the mean up by 0.2 e, the second moment by 0.045 e, the variance down by 0.08 e
        low = d - 0.08 * e
        width = (low + m2 + 0.045 * e + 2 * e) * e / (low * (low - 3 * e))
        return (0.1 + 0.2 * e) ** 2 / low + width

    bandit = sb.Bandit([sb.Uniform(-0.1, 0.3), sb.Uniform(0, 1.2)])
    best = 0.36 / 1.12
    chance = sum(min(1.0, (N - 3) * (N ** (-1 / 0.72**2) + N ** (-4 / 1.2**4))) for N in range(4, n))
    bound = theory.ucb_rssr_regret(bandit, 1.0, n, "proved")
    assert bound.value == pytest.approx((best - 0.01 / d) * (first(rssr, best) + 4 + chance))

    def sr_like(e):  # on [0, 0.4]: mean 0.2 up by 0.2 e
        low, m = d - 0.08 * e, 0.2 + 0.2 * e
        return m / low + (low + m + 2 * e) * e / (low * (low - 3 * e))

    bandit = sb.Bandit([sb.Uniform(0, 0.4), sb.Uniform(0, 1.2)])
    best = 0.6 / 1.12
    chance = sum(min(1.0, (N - 3) * (N ** (-4 / 1.2**2) + N ** (-4 / 1.2**4))) for N in range(4, n))
    bound = theory.ucb_sr_like_regret(bandit, 1.0, n, "proved")
    assert bound.value == pytest.approx((best - 0.2 / d) * (first(sr_like, best) + 2 + chance))


def test_a_long_pilot_counts():
    plain = theory.ucb_rssr_regret(HIGH, 0.5, 10**6, "proved")
    piloted = theory.ucb_rssr_regret(HIGH, 0.5, 10**6, "proved", pilot=100_000)
    gap = 0.81 / (0.5 + 0.01 / 12) - 0.64 / (0.5 + 0.01 / 12)
    assert piloted.value > gap * 100_000 > plain.value


@pytest.mark.parametrize(
    ("policy", "bandit", "n"),
    [
        (sb.UCBVV(), sb.Bandit([sb.Bernoulli(0.5), sb.Uniform(0.4, 0.6)]), 20_000),
        (sb.UCBVV(), sb.Bandit([sb.Uniform(0, 1.2), sb.Uniform(0.4, 0.6), sb.Uniform(0.1, 0.9)]), 20_000),
        (sb.UCBRSSR(0.5), HIGH, 50_000),
        (sb.UCBRSSR(1.0), sb.Bandit([sb.Uniform(2.95, 3.05), sb.Uniform(2.75, 2.85)]), 20_000),
        (sb.UCBSRLike(0.5), HIGH, 100_000),
        (sb.UCBRSSR(0.5, risk_free=1.0), sb.Bandit([sb.Uniform(1.85, 1.95), sb.Uniform(0.9, 1.1)]), 20_000),
        (sb.UCBRSSR(0.5, pilot_pulls=2500), HIGH, 50_000),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_proved_bounds_hold(policy, bandit, n):
    bound = theory.bounds_for(policy, bandit, n)[-1]
    assert bound.form in ("repaired", "proved")
    assert not bound.vacuous
    regret = measured(policy, bandit, n)
    assert regret.high <= bound.value
    assert regret.mean > bound.value / 8  # the bound is about this regret, not about anything


@pytest.mark.parametrize(
    ("policy", "bandit", "n"),
    [
        (sb.UCBRSSR(0.2), HIGH, 10**5),
        (sb.UCBSRLike(0.2), HIGH, 10**5),
        (sb.UCBRSSR(1.0), sb.Bandit([sb.Uniform(2.95, 3.05), sb.Uniform(2.75, 2.85)]), 10**4),
    ],
)
def test_printed_and_corrected_sharpe_bounds_fail(policy, bandit, n):
    regret = measured(policy, bandit, n, runs=50)
    for bound in theory.bounds_for(policy, bandit, n):
        if bound.form not in ("printed", "corrected"):
            continue
        assert bound.applies
        assert not bound.vacuous
        assert regret.low > 2 * bound.value


def test_wide_supports_make_the_proved_form_vacuous():
    bandit = sb.Bandit([sb.Uniform(0.5, 13.5), sb.Uniform(0.6, 13.55)])
    assert theory.ucb_rssr_regret(bandit, 1.0, 10**4, "proved").vacuous
    assert theory.ucb_vv_regret(bandit, 10**4).vacuous


def test_undefined_cases_say_why():
    normal = sb.Bandit([sb.Normal(1, variance=1), sb.Normal(0.5, variance=1)])
    for form in ("printed", "proved"):
        for bound in (theory.ucb_vv_regret(normal, 100, form), theory.ucb_rssr_regret(normal, 1.0, 100, form)):
            assert bound.vacuous
            assert bound.value == math.inf
            assert "unbounded" in bound.reason
            assert not bound.applies
    below = sb.Bandit([sb.Uniform(-1, 1), sb.Uniform(0, 1)])
    assert "negative" in theory.ucb_sr_like_regret(below, 1.0, 100, "proved").reason
    defined = theory.ucb_rssr_regret(below, 1.0, 100, "proved")
    assert math.isfinite(defined.value)
    assert defined.vacuous
    assert f"{100 * sb.RSSR(L=1.0).gaps(theory.bound.facts(below)).max():.4g}" in defined.reason


def test_arms_that_tie_cost_nothing():
    twins = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0, 1)])
    for form in FORMS:
        assert theory.ucb_rssr_regret(twins, 1.0, 100, form).value == 0
        assert theory.ucb_rssr_regret(twins, 1.0, 100, form).vacuous


def test_long_horizons_do_not_sum_every_round():
    # beyond a million rounds an integral takes over; it must not be below the sum
    from sharpe_bandits.theory.regret_bounds import _chance, _rest

    for q in (1.5, 2.0, 3.0):
        exact = sum(N ** (1 - q) for N in range(1000, 5000))
        assert exact <= _rest(q, 1000, 5000) <= 1.01 * exact
    assert _rest(0.5, 10, 20) == math.inf
    assert _chance(((0.1,),), 3_000_000, 2, 2) == pytest.approx(3_000_000 - 4, abs=10)
    assert _chance(((0.1,), (math.inf,)), 3_000_000, 2, 2) == 0


def test_the_appendix_s_bound_by_hand():
    """One worse arm, so that the sum has one term; the moments of U[0, 1] are known."""
    bandit, L, n = sb.Bandit([sb.Uniform(0.5, 1.0), sb.Uniform(0, 1)]), 0.3, 10_000
    value = sb.RSSR(L).value(sb.objectives.Statistics(mean=[0.75, 0.5], variance=[1 / 48, 1 / 12]))
    gap = float(value[0] - value[1])
    v, m2, fourth, raw = 1 / 12, 1 / 3, 1 / 80, 1 / 5
    c = 1.5 * gap + 1
    c1 = c * (v + L) + m2
    c2 = 4 * gap * (fourth + v**2 + 2 * v * L + L**2)
    cross = v * m2 + math.sqrt((fourth + v**2) * (raw + m2 * (m2 + 1)))
    c3 = c**2 * (fourth + v**2) + 2 * c * cross + raw + m2**2 + 2 * L * c**2 * v + 2 * L * c * m2 + L**2 * c**2
    plays = max(math.ceil(18 * math.log(n) / L**2), math.ceil(32 * math.log(n) / (math.sqrt(c3 + c2) - c1) ** 2))
    found = theory.ucb_rssr_regret(bandit, L, n, "appendix")
    assert found.value == pytest.approx(gap * (plays + 1 + math.pi**2 / 3), rel=1e-12)
    assert [b.form for b in theory.bounds_for(sb.UCBRSSR(L=L), bandit, n)] == [
        "printed", "appendix", "corrected", "proved",
    ]  # fmt: skip


def test_the_appendix_s_bound_of_sr_like_by_hand():
    """With the slips of its C1 (sigma² + mu) and C3 (2 L c (sigma² + mu²)), as they stand in the appendix."""
    bandit, L, n = sb.Bandit([sb.Uniform(0.5, 1.0), sb.Uniform(0, 1)]), 0.3, 10_000
    gap = 0.75 / (L + 1 / 48) - 0.5 / (L + 1 / 12)
    mean, v, fourth = 0.5, 1 / 12, 1 / 80
    c = 1.5 * gap + 1
    c1 = c * (v + L) + v + mean
    c2 = 4 * gap * (fourth + v**2 + 2 * v * L + L**2)
    cross = v * mean + math.sqrt(fourth * v)
    squares = v + mean**2
    c3 = c**2 * (fourth + v**2) + 2 * c * cross + squares + 2 * L * c**2 * v + 2 * L * c * squares + L**2 * c**2
    plays = max(math.ceil(18 * math.log(n) / L**2), math.ceil(32 * math.log(n) / (math.sqrt(c3 + c2) - c1) ** 2))
    found = theory.ucb_sr_like_regret(bandit, L, n, "appendix")
    assert found.value == pytest.approx(gap * (plays + 1 + math.pi**2 / 3), rel=1e-12)
    with pytest.raises(sb.errors.InvalidInputError, match="form must be one of"):
        theory.ucb_vv_regret(bandit, n, "appendix")
