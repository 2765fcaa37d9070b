"""Coverage: the counts are right, and the verdicts follow."""

import math

import pytest

import sharpe_bandits as sb
from sharpe_bandits import theory
from sharpe_bandits.theory.coverage import _drawn


def test_violations_are_counted_right():
    # a fair coin tossed twice: V is 1/2 or 0, the truth 1/4, so |V - truth| is 1/4 always
    coin = sb.Bernoulli(0.5)
    (inside,) = theory.coverage(coin, 2, statistics=["variance"], forms=["repaired"], epsilon=0.26, samples=500)
    (outside,) = theory.coverage(coin, 2, statistics=["variance"], forms=["repaired"], epsilon=0.24, samples=500)
    assert (inside.violations, outside.violations) == (0, 500)
    assert inside.bound.value == pytest.approx(2 * math.exp(-4 * 0.26**2))
    assert inside.bound.vacuous
    assert inside.verdict == "holds"
    # a coin that shows 1 with probability 0.2, tossed twice: X is 1, 1/2, 0 and V 0, 1/2, 0 with probability
    # 0.04, 0.32, 0.64; L = 1: RSSR 1, 1/6, 0 against 0.04/1.16 = 0.0345. Printed widths at e = 0.1, D = 1, 3/2, 1 and
    # X~ = 1, 1/2, 0: 0.3143, 0.1222, 0.1714. So a violation: only 1 (0.9655) and 1/2 (0.1322): probability 0.36
    (found,) = theory.coverage(
        sb.Bernoulli(0.2), 2, 1.0, statistics=["rssr"], forms=["printed"], epsilon=0.1, samples=20_000
    )
    assert found.rate.low < 0.36 < found.rate.high


@pytest.mark.parametrize(
    ("statistic", "arm", "L"),
    [
        ("variance", sb.Empirical([0] * 7 + [10]), 0.1),  # the variance itself, where it varies most
        ("sr_like", sb.Empirical([0] + [10] * 19), 0.1),  # the variance again, through the denominator
        ("rssr", sb.Uniform(0, 6), 1000.0),  # the second moment, whose range is u^2, not u
    ],
)
def test_printed_inequalities_fail_on_wide_supports_and_repaired_hold(statistic, arm, L):
    printed, repaired = theory.coverage(arm, 5000, L, statistics=[statistic], level=0.05, samples=5000)
    assert printed.bound.value == pytest.approx(0.05)
    assert printed.undefined == 0
    assert printed.verdict == "fails"
    assert printed.rate.low > 0.05
    assert repaired.bound.value == pytest.approx(0.05)
    assert repaired.undefined == 0
    assert repaired.verdict == "holds"


def test_rate_agrees_with_the_normal_approximation():
    # For large L, RSSR is close to X^2 / L, with standard deviation 2 mu sigma / (L sqrt n), and its printed width to
    # epsilon / L. A coin of 0.75: 2 * 0.75 * 0.4330 = 0.6495, and sqrt(n) = 20.
    (found,) = theory.coverage(sb.Bernoulli(0.75), 400, 50.0, statistics=["rssr"], forms=["printed"], level=0.5)
    expected = math.erfc(found.epsilon * 20 / 0.6495 / math.sqrt(2))
    assert 0.1 < expected < 0.3
    assert found.rate.mean == pytest.approx(expected, abs=0.02)
    assert found.verdict == "holds"


def test_undefined_widths_are_reported_not_counted():
    found = theory.coverage(sb.Uniform(0, 1), 20, 0.01, statistics=["rssr"], forms=["printed"], samples=200)
    assert found[0].undefined == 1.0  # epsilon 0.55 against D about 0.09
    assert found[0].violations == 0


def test_paper_radius_by_default_and_all_arms_of_a_bandit():
    bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0, 2)])
    found = theory.coverage(bandit, 50, 1.0, samples=300, seed=3)
    assert len(found) == 2 * 3 * 2
    assert {c.epsilon for c in found} == {math.sqrt(2 * math.log(50) / 50)}
    assert [c.arm for c in found] == [0] * 6 + [1] * 6
    assert found == theory.coverage(bandit, 50, 1.0, samples=300, seed=3)
    # too few samples to confirm a promise of 2 / 50^4
    assert found[0].bound.value == pytest.approx(2 * 50**-4.0)
    assert found[0].verdict == "undecided"


def test_bad_arguments_are_named():
    with pytest.raises(sb.errors.InvalidInputError, match="not both"):
        theory.coverage(sb.Uniform(0, 1), 10, 1.0, epsilon=0.1, level=0.1)
    with pytest.raises(sb.errors.InvalidInputError, match="regulariser"):
        theory.coverage(sb.Uniform(0, 1), 10)
    with pytest.raises(sb.errors.InvalidInputError, match="statistic"):
        theory.coverage(sb.Uniform(0, 1), 10, statistics=["mean"])


def test_lemma_2_is_measured_on_every_two_arms():
    """Rewards of 10, and 0 once in twenty, vary more than U[1.5, 7.5]; a sample of 100 often hides it."""
    arms = [sb.Uniform(1.5, 7.5), sb.Empirical([0.0] + [10.0] * 19), sb.Uniform(0, 1)]
    found = theory.order_coverage(arms, 100, samples=4000, seed=3)
    assert {(a, b) for a, b, _ in found} == {(1, 0), (1, 2), (0, 2)}
    by_pair = {(a, b, c.bound.form): c for a, b, c in found}
    hidden = by_pair[1, 0, "printed"]
    # Two zeros in 100 or fewer (probability 0.118) leave a variance below 2; three (0.140) one of 2.94, and that of the
    # uniform rewards, 3 with a standard error of 0.27, is larger in three samples of five.
    assert hidden.rate.mean == pytest.approx(0.118 + 0.140 * 0.59, abs=0.03)
    assert hidden.bound.value < 1e-20
    assert hidden.verdict == "fails"
    assert by_pair[1, 0, "repaired"].verdict == "holds"


@pytest.mark.parametrize("n", [2, 700])
def test_samples_are_those_of_a_simulation(n):
    bandit = sb.Bandit([sb.Uniform(0, 1), sb.Beta(2, 3)])
    mean, variance, second = _drawn(bandit.arms, n, 3, 9)[1]
    for run in range(3):
        trace = sb.trace(sb.policies.UniformSampling(sb.Mean()), bandit, horizon=2 * n, seed=9, run=run)
        x = trace.rewards[trace.choices == 1]
        assert len(x) == n
        assert mean[run] == pytest.approx(x.mean(), rel=1e-12)
        assert variance[run] == pytest.approx(x.var(ddof=1), rel=1e-10)
        assert second[run] == pytest.approx((x**2).mean(), rel=1e-12)
