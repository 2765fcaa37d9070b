"""Bounds on the probability of error: numbers worked by hand, and what simulation says of each form."""

import math

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits import theory

#: Variances 0.25, 0.16, 0.09 and 0; gaps 0.09, 0.16 and 0.25.
COINS = sb.Bandit([sb.Bernoulli(0.2), sb.Bernoulli(0.5), sb.arms.Constant(0.3), sb.Bernoulli(0.1)])
COIN = sb.Bernoulli(0.5)
SURE = sb.arms.Constant(1.0)


def error(policy, bandit, n, runs=4000):
    study = sb.simulate(policy, bandit, horizon=n, runs=runs, seed=7, checkpoints=[n], workers=2)
    return study[policy.name].error(confidence=0.99)


@pytest.mark.parametrize("gap", [1e-12, 1e-3, 0.1, 2.0, 50.0])
@pytest.mark.parametrize(("D", "second"), [(0.01, 0.3), (1.0, 0.0), (14.0, 60.0)])
def test_root_substituted_back(gap, D, second):
    e = theory.epsilon_of_gap(gap, D, second)
    assert 0 < e < D / 3
    assert (D + second + 2 * e) * e / (D * (D - 3 * e)) == pytest.approx(gap / 2, rel=1e-9)


def test_root_limits():
    assert theory.epsilon_of_gap(0.0, 1.0, 1.0) == 0
    assert theory.epsilon_of_gap(1e12, 3.0, 1.0) == pytest.approx(1.0)  # D / 3
    assert theory.epsilon_of_gap(1e-9, 2.0, 1.0) == pytest.approx(1e-9 * 4 / (2 * 3))  # gap D^2 / (2 (D + X))
    with pytest.raises(sb.errors.InvalidInputError, match="gap"):
        theory.epsilon_of_gap(-1.0, 1.0, 1.0)


def test_shvv_printed_by_hand():
    # H2 = max(2/0.0081, 3/0.0256, 4/0.0625) = 246.9136; K log2 K = 8
    # (10000 - 8)^2 / (8 * 10000 * 2 * 246.9136) = 99840064 / 39506173 = 2.527202; 3 * 2 * exp(-2.527202) = 0.479336
    bound = theory.shvv_error(COINS, 10_000, "printed")
    assert bound.value == pytest.approx(0.47933, abs=1e-4)
    assert bound.applies
    assert not bound.vacuous
    assert theory.shvv_error(COINS, 1000, "printed").vacuous
    assert "K log2 K" in theory.shvv_error(COINS, 8, "printed").reason


def test_shvv_repaired_by_hand():
    # n = 400: 50 pulls of 4 arms, 2 stay; 100 pulls of 2, 1 stays. With supports of length 1, and 0 for the constant:
    # g(50): exp(-50 * 0.0081) = 0.66698, exp(-50 * 0.0256) = 0.27804, exp(-100 * 0.0625) = 0.00193
    # first phase min(sum / 2, (0.27804 + 0.00193) / 1) = 0.27997; second exp(-100 * 0.0081) = 0.44486
    assert theory.shvv_error(COINS, 400).value == pytest.approx(0.27997 + 0.44486, abs=1e-4)
    # samples kept: the second phase has 150, and all three rivals count: 0.29671 + 0.02149
    assert theory.shvv_error(COINS, 400, keep_samples=True).value == pytest.approx(0.27997 + 0.31820, abs=1e-4)


def test_shsr_printed_by_hand():
    bandit = sb.Bandit([sb.Bernoulli(0.2), COIN, sb.arms.Constant(0.0), sb.Bernoulli(0.1)])
    # L = 1, gap of rank 2: 0.1655172. Best arm: D = 1.25, X = 0.5, A = 2.0603448, root 0.0593431; rank 2: 0.062788
    assert theory.epsilon_of_gap(0.2 - 0.04 / 1.16, 1.25, 0.5) == pytest.approx(0.0593431, abs=1e-7)
    assert theory.epsilon_of_gap(0.2 - 0.04 / 1.16, 1.16, 0.2) == pytest.approx(0.062788, abs=1e-6)
    # i = 1/2 and 1/4, n = 1000, log2 K = 2: 6 (exp(-0.0035216 * 500) + exp(-0.0035216 * 1000)) = 6 * 0.201459
    bound = theory.shsr_error(bandit, 1.0, 1000, "printed")
    assert bound.value == pytest.approx(1.20875, abs=1e-4)
    assert bound.vacuous
    assert bound.applies


def test_shsr_printed_reads_the_rank():
    # K = 32: i = 4, 2, 1, 1/2, 1/4, so the gaps of ranks 4, 2, 2, 2, 2 enter, and no other arm does
    means = [0.9, 0.8, 0.7, 0.6] + [0.3] * 28
    arms = [sb.Uniform(m - 0.05, m + 0.05) for m in means]
    L, n = 0.2, 20_000
    D = L + 0.01 / 12

    def root(rank):
        gap = (means[0] ** 2 - means[rank - 1] ** 2) / D
        both = [theory.epsilon_of_gap(gap, D, means[k] ** 2 + 0.01 / 12) for k in (0, rank - 1)]
        return min(both)

    terms = [(4, root(4)), (2, root(2)), (1, root(2)), (0.5, root(2)), (0.25, root(2))]
    expected = 6 * sum(math.exp(-(e**2) * n / (2 * i * 5)) for i, e in terms)
    assert theory.shsr_error(sb.Bandit(arms), L, n, "printed").value == pytest.approx(expected)


def test_shsr_and_sursr_repaired_by_hand():
    # L = 1: a sure 1 has RSSR 1 and never strays; a coin has 0.2, D = 1.25. The best threshold tried is 0.995 of the
    # way, c = 0.996. 10 pulls: (1.25 * 0.796 - 0.025) / 2.996 = 0.323765; exp(-20 * 0.104824) = 0.12289
    # 15 pulls: (0.995 - 0.016667) / 2.996 = 0.326546; exp(-30 * 0.106633) = 0.04080
    pair = sb.Bandit([SURE, COIN])
    assert theory.shsr_error(pair, 1.0, 20).value == pytest.approx(0.12289, abs=1e-4)
    assert theory.sursr_error(pair, 1.0, 22).value == pytest.approx(0.12289, abs=1e-4)  # t_1 = (22 - 2) / 2
    # three arms, n = 42: t = ceil(39 / 4) = 10 and ceil(39 / (8/3)) = 15; one rival counts in phase 1, two in phase 2
    three = sb.Bandit([COIN, SURE, COIN])
    assert theory.sursr_error(three, 1.0, 42).value == pytest.approx(0.12289 + 2 * 0.04080, abs=2e-4)
    # two arms that tie: halving errs only in the second phase (n = 40: 10 pulls), rejects only when the last one goes
    tied = sb.Bandit([SURE, COIN, SURE])
    assert theory.shsr_error(tied, 1.0, 40).value == pytest.approx(0.12289, abs=1e-4)
    assert theory.sursr_error(tied, 1.0, 42).value == pytest.approx(2 * 0.04080, abs=2e-4)
    assert theory.shsr_error(sb.Bandit([SURE, SURE]), 1.0, 40).value == 0
    assert theory.sursr_error(sb.Bandit([SURE, SURE]), 1.0, 42).value == 0


def test_shsr_repaired_of_two_noisy_arms():
    # U[0, 2] at L = 1: RSSR 1 / (4/3) = 0.75; U[0, 1]: 0.25 / (13/12) = 3/13. 200 pulls each; M = w = 2 and 1.
    q, low, high = 200, 3 / 13, 0.75

    def both(c):
        up = math.exp(-2 * q * ((13 / 12 * (c - low) - 1 / 12 / q) / (2 + c)) ** 2)
        down = math.exp(-2 * q * ((4 / 3 * (high - c) + 1 / 3 / q) / (8 + 4 * c)) ** 2)
        return up + down

    least = min(both(low + k / 200 * (high - low)) for k in range(1, 200))
    assert 0.1 < least < 0.9
    bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0, 2)])
    assert theory.shsr_error(bandit, 1.0, 400).value == pytest.approx(least)


def test_sursr_printed_by_hand():
    # n = 1002, K = 2: t_1 = ceil(1000 / (2 ln 2)) = 722 pulls of two arms, 44% over budget
    # root 0.0593431 of the best arm is the smaller: 2 exp(-2 * 722 * 0.0035216) = 0.012385
    bandit = sb.Bandit([COIN, sb.Bernoulli(0.2)])
    bound = theory.sursr_error(bandit, 1.0, 1002, "printed")
    assert bound.value == pytest.approx(0.012385, abs=1e-5)
    assert not bound.vacuous


@pytest.mark.parametrize("scale", [0.1, 7.0])
def test_repaired_forms_do_not_depend_on_the_unit_of_money(scale):
    arms = [(0.5, 0.9), (0.1, 0.7), (0.1, 0.55), (0.3, 0.4), (0.0, 0.2)]
    one = sb.Bandit([sb.Uniform(a, b) for a, b in arms])
    other = sb.Bandit([sb.Uniform(scale * a, scale * b) for a, b in arms])
    n, L = 3000, 0.3
    pairs = [
        (theory.shvv_error(one, n), theory.shvv_error(other, n)),
        (theory.shsr_error(one, L, n), theory.shsr_error(other, L * scale**2, n)),
        (theory.sursr_error(one, L, n), theory.sursr_error(other, L * scale**2, n)),
    ]
    for a, b in pairs:
        assert 0 < a.value < 1
        assert b.value == pytest.approx(a.value, rel=1e-6)
    assert theory.shvv_error(one, n, "printed").value != pytest.approx(theory.shvv_error(other, n, "printed").value)


#: RSSR 0.5517 at L = 1, and a sure arm a little above it.
SKEWED = sb.Bernoulli(0.8)
ABOVE = sb.arms.Constant(math.sqrt(0.65))
#: Variance 0.1247 and 0.1056, the hardest for the sample variance.
RARE, RARER = sb.Bernoulli(0.146), sb.Bernoulli(0.12)


@pytest.mark.parametrize(
    ("policy", "arms", "n"),
    [
        (sb.SHSR(1.0), [ABOVE, SKEWED], 380),
        (sb.SHSR(1.0), [SKEWED, ABOVE, SKEWED], 1500),
        (sb.SHSR(1.0, keep_samples=True), [SKEWED, ABOVE, SKEWED], 1200),
        (sb.SuRSR(1.0), [ABOVE, SKEWED], 380),
        (sb.SuRSR(1.0), [SKEWED, SKEWED, ABOVE], 1000),
        (sb.SHVV(), [RARE, RARER], 2 * 1300),
        (sb.SHVV(), [RARE, sb.Bernoulli(0.1), sb.Bernoulli(0.1), sb.Bernoulli(0.05)], 4000),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_repaired_bounds_hold_where_errors_happen(policy, arms, n):
    bandit = sb.Bandit(arms)
    bound = theory.bounds_for(policy, bandit, n)[1]
    assert bound.form == "repaired"
    assert not bound.vacuous
    found = error(policy, bandit, n)
    assert found.low > 0
    assert found.high <= bound.value


def test_printed_bounds_fail_beyond_the_unit_interval():
    wide = sb.Bandit([sb.Uniform(0, 10), sb.Uniform(0, 9.5)])
    printed, repaired, _ = theory.bounds_for(sb.SHVV(), wide, 200)
    assert not printed.applies
    assert not printed.vacuous
    found = error(sb.SHVV(), wide, 200)
    assert found.low > printed.value
    assert found.high <= repaired.value

    # the same game in a unit of money 10 times smaller: errors as often, but the printed bounds collapse
    money = sb.Bandit([sb.Empirical([0] * 2 + [10] * 8), sb.arms.Constant(10 * math.sqrt(0.65))])
    for policy in (sb.SHSR(100.0), sb.SuRSR(100.0)):
        printed, repaired = theory.bounds_for(policy, money, 380)
        found = error(policy, money, 380)
        assert not printed.vacuous
        assert found.low > printed.value
        assert found.high <= repaired.value


def test_undefined_cases_say_why():
    bound = theory.shsr_error(COINS, 1.0, 10)
    assert bound.vacuous
    assert "at least" in bound.reason  # the budget that is needed
    normal = sb.Bandit([sb.Normal(1, variance=1), sb.Normal(0.5, variance=1)])
    for bound in (theory.shvv_error(normal, 100), theory.sursr_error(normal, 1.0, 100)):
        assert bound.value == math.inf
        assert "unbounded" in bound.reason
    assert not theory.shsr_error(sb.Bandit([COIN, SURE, COIN]), 1.0, 100, "printed").applies  # K = 3


def test_ties_make_printed_bounds_vacuous():
    tied = sb.Bandit([SURE, COIN, SURE, COIN])
    assert theory.shsr_error(tied, 1.0, 10**6, "printed").vacuous
    assert theory.sursr_error(tied, 1.0, 10**6, "printed").vacuous
    assert theory.shvv_error(sb.Bandit([COIN, COIN]), 10**6, "printed").vacuous


#: Variances 1/12, 1/48 and 1/300 within [0, 1], and a constant.
UNIT = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0.25, 0.75), sb.Uniform(0.4, 0.6), sb.arms.Constant(0.5)])
DELTA = 1 / 12 - 1 / 48


def test_lemma_2_by_hand():
    printed = theory.variance_order(UNIT, 1, 500, "printed")
    assert printed.value == pytest.approx(math.exp(-(499**2) * DELTA**2 / 1000), rel=1e-12)
    assert printed.applies
    # widths 1 and 1/2
    assert theory.variance_order(UNIT, 1, 500).value == pytest.approx(
        math.exp(-1000 * DELTA**2 / (1 + 1 / 16)), rel=1e-12
    )
    assert theory.variance_order(UNIT, 0, 500).vacuous  # the best arm itself
    wide = sb.Bandit([sb.Uniform(0, 10), sb.Uniform(0, 9)])
    assert not theory.variance_order(wide, 1, 50, "printed").applies
    delta = 100 / 12 - 81 / 12
    assert theory.variance_order(wide, 1, 50).value == pytest.approx(math.exp(-100 * delta**2 / (10**4 + 9**4)))


def test_lemma_3_by_hand():
    n = 40_000
    # K = 4: in the first phase i = 1, read as rank 2; in the second i = 1/2, rank 2 again
    for phase, i in ((0, 1.0), (1, 0.5)):
        found = theory.shvv_phase_error(UNIT, n, phase, "printed")
        assert found.value == pytest.approx(3 * math.exp(-((n - 8 * i) ** 2) * DELTA**2 / (16 * n * i)), rel=1e-12)
    phases = [theory.shvv_phase_error(UNIT, n, phase).value for phase in (0, 1)]
    assert sum(phases) == pytest.approx(theory.shvv_error(UNIT, n).value)
    assert theory.shvv_phase_error(UNIT, 8, 0, "printed").vacuous
    with pytest.raises(sb.errors.InvalidInputError, match="phase"):
        theory.shvv_phase_error(UNIT, n, 2)


def test_the_repaired_root_is_where_its_width_is_half_the_gap():
    phase = theory.PlayedPhase(1000, True, np.array([0.1]), np.array([0.4]))
    (term,) = theory.path_error([phase], 0.05, 8.0, "repaired")
    low, high = 1e-6, 0.149
    for _ in range(100):
        middle = (low + high) / 2
        wide = theory.width("rssr", middle, 0.1, 0.4, 0.05, "repaired", pulls=1000) > 4.0
        low, high = (low, middle) if wide else (middle, high)
    assert term == pytest.approx(3 * 2 * theory.concentration("rssr", low, 1000, 1.0).value, rel=1e-6)


def test_the_theorem_on_shvv_as_it_is_stated():
    """By hand: K = 2, variances 1/12 and 1/48, so H2 = 2 / (1/16)² = 512; log2 K = 1; rewards up to 1."""
    bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0, 0.5)])
    for n in (10, 10**3, 10**9):
        bound = theory.shvv_error(bandit, n, "theorem")
        assert bound.value == pytest.approx(3 * math.exp(-(n - 1) / (8 * n * 512)))
        assert bound.vacuous


def by_hand(x, chosen, phases, L, gap, keep, factor):
    """The printed bound on the fly of a run, in plain Python: x the rewards and chosen the arms of all rounds."""
    terms, start, alive = [], 0, len(set(chosen))
    for pulls, stay in phases:
        end = start + pulls * alive
        roots = []
        for arm in set(chosen[start:end]):
            first = 0 if keep else start
            seen = [v for v, a in zip(x[first:end], chosen[first:end], strict=True) if a == arm]
            mean = sum(seen) / len(seen)
            d = L + sum((v - mean) ** 2 for v in seen) / (len(seen) - 1)
            a = (1.5 * gap + 1) * d + sum(v * v for v in seen) / len(seen)
            roots.append((-a + math.sqrt(a * a + 4 * gap * d * d)) / 4)
        terms.append(factor * math.exp(-2 * len(seen) * min(roots) ** 2))
        start, alive = end, stay
    return terms


@pytest.mark.parametrize(("policy", "factor"), [(sb.SHSR(L=0.05), 6), (sb.SuRSR(L=0.05), 2)])
def test_the_error_bound_on_the_fly(policy, factor):
    bandit = sb.Bandit([sb.Uniform(0.2, 1.0)] + [sb.Uniform(0.0, 0.8)] * 3)
    budget, gap = 600, 3.0
    played = sb.trace(policy, bandit, horizon=budget, seed=5)
    phases = policy.phases(budget, 4)
    rounds = sum(p * size for (p, _), size in zip(phases, [4, *(stay for _, stay in phases)], strict=False))
    x, chosen = played.rewards[:rounds].tolist(), played.choices[:rounds].tolist()
    expected = by_hand(x, chosen, phases, 0.05, gap, policy.keeps_samples, factor)
    along = theory.played_phases(policy, budget, 4, played.choices, played.rewards)
    assert theory.path_error(along, 0.05, gap) == pytest.approx(expected, rel=1e-9)
