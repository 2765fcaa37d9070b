"""Concentration inequalities: numbers worked by hand, limits, and the algebra behind the widths."""

import math

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits import theory


def test_lemma_1_by_hand():
    # n e^2 = 100 * 0.01 = 1, so u = 1 gives 2 exp(-2) in both forms
    for form in theory.FORMS:
        assert theory.concentration("variance", 0.1, 100, 1.0, form).value == pytest.approx(2 * math.exp(-2))
    # u = 2: printed divides by 4, repaired by 16
    assert theory.concentration("variance", 0.1, 100, 2.0, "printed").value == pytest.approx(2 * math.exp(-0.5))
    assert theory.concentration("variance", 0.1, 100, 2.0, "repaired").value == pytest.approx(2 * math.exp(-0.125))
    # u = 1/2: printed multiplies by 4, repaired by 16; the printed one is weaker there
    assert theory.concentration("variance", 0.1, 100, 0.5, "printed").value == pytest.approx(2 * math.exp(-8))
    assert theory.concentration("variance", 0.1, 100, 0.5, "repaired").value == pytest.approx(2 * math.exp(-32))
    # the variance does not change when rewards are shifted: [1, 3] is as good as [0, 2]
    shifted = theory.concentration("variance", 0.1, 100, 3.0, "repaired", lower=1.0)
    assert shifted.value == pytest.approx(2 * math.exp(-0.125))


def test_ratios_by_hand():
    # [0, 2], n e^2 = 1: RSSR has 4 exp(-2/16); SR-like 2 exp(-2/4) + 2 exp(-2/16)
    assert theory.concentration("rssr", 0.1, 100, 2.0).value == pytest.approx(4 * math.exp(-0.125))
    assert theory.concentration("sr_like", 0.1, 100, 2.0).value == pytest.approx(
        2 * math.exp(-0.5) + 2 * math.exp(-0.125)
    )
    # [1, 3]: squares lie in [1, 9], a range of 8; [-1, 3]: in [0, 9]
    both = theory.concentration("rssr", 0.1, 100, 3.0, lower=1.0).value
    assert both == pytest.approx(2 * math.exp(-2 / 64) + 2 * math.exp(-2 / 16))
    across = theory.concentration("rssr", 0.1, 100, 3.0, lower=-1.0).value
    assert across == pytest.approx(2 * math.exp(-2 / 81) + 2 * math.exp(-2 / 256))
    for statistic in ("rssr", "sr_like"):
        assert theory.concentration(statistic, 0.1, 100, 2.0, "printed").value == pytest.approx(2 * math.exp(-0.5))


def test_vacuous_and_undefined():
    bound = theory.concentration("variance", 0.01, 100, 1.0)
    assert bound.vacuous
    assert bound.value == pytest.approx(2 * math.exp(-0.02))
    assert not theory.concentration("variance", 0.1, 100, 1.0).vacuous
    for form in theory.FORMS:
        bound = theory.concentration("rssr", 0.1, 100, math.inf, form)
        assert bound.vacuous
        assert float(bound) == math.inf
        assert "inf" in bound.reason
    assert theory.concentration("variance", 0.1, 100, -1.0, "printed", lower=-2.0).vacuous
    assert theory.concentration("variance", 0.1, 10, 3.0, lower=3.0).value == 0.0  # a constant cannot stray


@pytest.mark.parametrize("statistic", theory.STATISTICS)
@pytest.mark.parametrize("form", theory.FORMS)
def test_radius_inverts(statistic, form):
    epsilon = theory.radius(statistic, 0.05, 200, 3.0, form, lower=0.5)
    promised = theory.concentration(statistic, epsilon, 200, 3.0, form, lower=0.5)
    assert promised.value == pytest.approx(0.05)


def test_radius_of_unbounded_rewards_is_refused():
    with pytest.raises(sb.errors.InvalidInputError, match="no epsilon"):
        theory.radius("variance", 0.05, 200, math.inf)


def test_widths_by_hand():
    # V = 0.3, m = 0.5, L = 0.2, so D = 0.5; e = 0.1
    values = (0.1, 0.3, 0.5, 0.2)
    # printed: (0.3 + 0.5 + 0.2 + 0.2) * 0.1 / (0.5 * 0.2)
    assert theory.width("rssr", *values, "printed") == pytest.approx(1.2)
    assert theory.width("sr_like", *values, "printed") == pytest.approx(1.2)
    # repaired: (0.3 + 0.5 + 0.4) * 0.1 / (0.5 * 0.4), and V / (n D) = 0.3 / 5 more for n = 10
    assert theory.width("rssr", *values) == pytest.approx(0.6)
    assert theory.width("rssr", *values, pulls=10) == pytest.approx(0.66)
    # (0.3 + 0.5 + 0.2) * 0.1 / (0.5 * 0.4)
    assert theory.width("sr_like", *values) == pytest.approx(0.5)
    assert theory.width("variance", 0.1, 0.3, 0.5) == pytest.approx(0.1)
    # D = 0.5 <= 3 * 0.2: undefined as printed, not repaired
    assert theory.width("rssr", 0.2, 0.3, 0.5, 0.2, "printed") == math.inf
    assert theory.width("rssr", 0.2, 0.3, 0.5, 0.2) == pytest.approx(1.2 * 0.2 / (0.5 * 0.3))
    assert theory.width("rssr", 0.5, 0.3, 0.5, 0.2) == math.inf


def test_widths_of_arrays():
    widths = theory.width("rssr", 0.1, np.array([0.3, 0.0]), np.array([0.5, 0.5]), 0.2, "printed")
    np.testing.assert_allclose(widths, [1.2, math.inf])


def _within(rng, size, epsilon, n):
    """True moments and sample moments within epsilon of them that a sample of n rewards could have."""
    mean, variance = rng.uniform(0, 3, size), rng.uniform(0.2, 2, size)
    v = variance + epsilon * rng.choice([-1, 1, 0.3], size)
    return mean, variance, v


def test_repaired_width_contains_every_estimate_within_epsilon():
    rng = np.random.default_rng(1)
    size, epsilon, n, L = 20_000, 0.1, 15, 0.3
    mean, variance, v = _within(rng, size, epsilon, n)
    second = mean**2 + variance + epsilon * rng.choice([-1, 1, -0.5], size)
    square = np.maximum(second - v * (n - 1) / n, 0)  # the squared sample mean
    error = np.abs(square / (L + v) - mean**2 / (L + variance))
    widths = theory.width("rssr", epsilon, v, second, L, pulls=n)
    possible = second >= v * (n - 1) / n
    assert (error[possible] <= widths[possible] * (1 + 1e-12)).all()
    assert (error[possible] > 0.9 * widths[possible]).any()  # and it is tight: not just anything would do

    average = mean + epsilon * rng.choice([-1, 1], size)
    error = np.abs(average / (L + v) - mean / (L + variance))
    widths = theory.width("sr_like", epsilon, v, average, L)
    assert (error <= widths * (1 + 1e-12)).all()
    assert (error > 0.95 * widths).any()


def test_printed_rssr_width_misses_an_estimate_within_epsilon():
    # Truth: variance 0.2, second moment 0.5, L = 1: 0.3 / 1.2 = 0.25. Sample, each 0.01 off: 0.32 / 1.19 = 0.26891.
    error = 0.32 / 1.19 - 0.25
    # printed (0.19 + 0.51 + 0.02 + 1) 0.01 / (1.19 * 1.16) = 0.01246; repaired 0.027 / (1.19 * 1.18) = 0.01923
    printed = theory.width("rssr", 0.01, 0.19, 0.51, 1.0, "printed")
    repaired = theory.width("rssr", 0.01, 0.19, 0.51, 1.0)
    assert printed == pytest.approx(0.01246, abs=1e-5)
    assert repaired == pytest.approx(0.01923, abs=1e-5)
    assert printed < error <= repaired


def test_bad_arguments_are_named():
    with pytest.raises(sb.errors.InvalidInputError, match="form"):
        theory.concentration("variance", 0.1, 10, 1.0, "typeset")
    with pytest.raises(sb.errors.InvalidInputError, match="lower"):
        theory.concentration("variance", 0.1, 10, 1.0, lower=2.0)
    with pytest.raises(sb.errors.InvalidInputError, match="epsilon"):
        theory.concentration("variance", 0.0, 10, 1.0)
    with pytest.raises(sb.errors.InvalidInputError, match="regulariser"):
        theory.width("rssr", 0.1, 0.3, 0.5)
    with pytest.raises(sb.errors.InvalidInputError, match="statistic"):
        theory.width("sharpe", 0.1, 0.3, 0.5, 1.0)
