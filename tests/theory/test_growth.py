"""Growth of regret: laws that are there are found, and none is found where there is none."""

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits import theory

T = np.unique(np.rint(np.geomspace(1, 10**4, 100)))


def noisy(law, noise=1.0, batches=60, seed=0):
    """Batches around a law whose noise accumulates over time, as regret's does."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(batches, T.size)) * np.sqrt(np.diff(T, prepend=0))
    return law(T) + noise * np.cumsum(steps, axis=1) / 100


def test_a_logarithm_and_a_line_are_recognised():
    found = theory.growth(T, noisy(lambda t: 5 + 10 * np.log(t)))
    assert found.verdict == "logarithmic"
    assert found.logarithmic.slope.low < 10 < found.logarithmic.slope.high
    assert found.exponent.low < 0 < found.exponent.high
    assert found.difference.low > 0
    assert found.start >= 1000
    assert found.points == int((T >= 1000).sum())
    found = theory.growth(T, noisy(lambda t: 3 + 0.1 * t))
    assert found.verdict == "linear"
    assert found.linear.slope.low < 0.1 < found.linear.slope.high
    assert found.linear.intercept.low < 3 < found.linear.intercept.high
    assert found.exponent.low < 1.001
    assert found.exponent.high > 0.999
    assert found.difference.high < 0


@pytest.mark.parametrize("power", [0.2, 0.35, 0.5, 0.65, 0.8])
def test_powers_are_neither(power):
    found = theory.growth(T, noisy(lambda t: 100 * t**power))
    assert found.verdict == "undecided"
    assert "neither" in found.reason
    assert found.exponent.mean == pytest.approx(power, abs=0.01)


def test_mixtures_and_jumps_are_neither():
    assert theory.growth(T, noisy(lambda t: 100 * np.log(t) + 0.05 * t)).verdict == "undecided"
    assert theory.growth(T, noisy(lambda t: 100.0 * (t > 4000))).verdict == "undecided"


def test_what_has_stopped_growing_is_undecided():
    assert theory.growth(T, noisy(lambda t: np.full(t.shape, 30.0))).verdict == "undecided"
    still = theory.growth(T, np.full((5, T.size), 30.0))
    assert still.verdict == "undecided"
    assert np.isnan(still.exponent.mean)
    falling = theory.growth(T, noisy(lambda t: -10 * np.log(t)))
    assert falling.verdict == "undecided"
    assert "grows" in falling.reason


def test_too_much_noise_is_undecided():
    found = theory.growth(T, noisy(lambda t: 5 + 10 * np.log(t), noise=30))
    assert found.verdict == "undecided"


def test_residuals_have_no_bias_from_noise():
    # A true logarithm: the residual of the mean curve is 0, though that of each noisy batch is not.
    estimates, naive, right = [], [], 0
    for seed in range(150):
        y = noisy(lambda t: 5 + 10 * np.log(t), noise=5.0, batches=10, seed=seed)
        found = theory.growth(T, y)
        estimates.append(found.logarithmic.residual.mean)
        right += found.logarithmic.residual.low <= 0 <= found.logarithmic.residual.high
        x = np.log(T[T >= 1000])
        mean = y.mean(axis=0)[T >= 1000]
        naive.append(np.polyfit(x, mean, 1, full=True)[1][0])
    error = np.std(estimates) / np.sqrt(150)
    assert abs(np.mean(estimates)) < 4 * error
    assert np.mean(naive) > 10 * error  # what would come out if noise were not taken out
    assert right > 135


def test_slopes_have_honest_intervals():
    covered = 0
    for seed in range(200):
        slope = theory.growth(T, noisy(lambda t: 7 * np.log(t), 5.0, 12, seed), confidence=0.9).logarithmic.slope
        covered += slope.low <= 7 <= slope.high
    assert 165 <= covered <= 194  # 180 expected, standard deviation 4.2


def test_regret_of_simulations():
    def of(policy, bandit, n):
        result = sb.simulate(policy, bandit, horizon=n, runs=60, seed=2, checkpoints=80, workers=2)[policy.name]
        batches = result.regret_per_batch() / result.batch_sizes[:, None]
        return theory.growth(result.checkpoints, batches)

    narrow = sb.Bandit([sb.Uniform(0.85, 0.95), sb.Uniform(0.75, 0.85)])
    assert of(sb.UCBRSSR(0.5), narrow, 10**5).verdict == "logarithmic"
    assert of(sb.UCBRSSR(0.5), narrow, 600).verdict == "linear"  # too early: arms are still played in turn


def test_the_window_can_be_chosen():
    bent = noisy(lambda t: np.where(t < 100, 0.5 * t, 50 + 10 * np.log(t / 100)))
    assert theory.growth(T, bent).verdict == "logarithmic"
    assert theory.growth(T, bent, start=10).verdict == "undecided"


def test_bad_arguments_are_named():
    good = noisy(np.log)
    with pytest.raises(sb.errors.InvalidInputError, match="shape"):
        theory.growth(T, good[0])
    with pytest.raises(sb.errors.InvalidInputError, match="batches"):
        theory.growth(T, good[:2])
    with pytest.raises(sb.errors.InvalidInputError, match="increasing"):
        theory.growth(T[::-1], good)
    with pytest.raises(sb.errors.InvalidInputError, match="earlier start"):
        theory.growth(T, good, start=9500)
    with pytest.raises(sb.errors.InvalidInputError, match="finite"):
        theory.growth(T, good * np.nan)
