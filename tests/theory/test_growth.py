"""Growth of regret: powers and linear parts that are there are measured, with honest errors."""

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
    logarithm = theory.growth(T, noisy(lambda t: 5 + 10 * np.log(t)))
    assert logarithm.exponent.low < 0 < logarithm.exponent.high
    assert logarithm.linear_part.low < 0 < logarithm.linear_part.high < 0.01
    line = theory.growth(T, noisy(lambda t: 3 + 0.1 * t))
    assert line.exponent.low < 1.001
    assert line.exponent.high > 0.999
    assert line.linear_part.low < 1000 / 1003 < line.linear_part.high


@pytest.mark.parametrize("power", [0.2, 0.35, 0.5, 0.65, 0.8])
def test_powers_are_measured(power):
    found = theory.growth(T, noisy(lambda t: 100 * t**power))
    assert found.exponent.mean == pytest.approx(power, abs=0.01)


def test_the_linear_part_of_a_mixture():
    part = theory.growth(T, noisy(lambda t: 100 * np.log(t) + 0.05 * t)).linear_part
    assert part.low < 500 / (100 * np.log(10**4) + 500) < part.high


def test_without_growth_there_is_no_exponent():
    assert np.isnan(theory.growth(T, np.full((5, T.size), 30.0)).exponent.mean)


def test_errors_are_honest():
    covered = 0
    for seed in range(200):
        part = theory.growth(T, noisy(lambda t: 7 * np.log(t), 5.0, 12, seed), confidence=0.9).linear_part
        covered += part.low <= 0 <= part.high
    assert 165 <= covered <= 194  # 180 expected, standard deviation 4.2


def test_regret_of_simulations():
    def of(policy, bandit, n):
        result = sb.simulate(policy, bandit, horizon=n, runs=60, seed=2, checkpoints=80, workers=2)[policy.name]
        batches = result.regret_per_batch() / result.batch_sizes[:, None]
        return theory.growth(result.checkpoints, batches)

    narrow = sb.Bandit([sb.Uniform(0.85, 0.95), sb.Uniform(0.75, 0.85)])
    assert of(sb.UCBRSSR(0.5), narrow, 10**5).linear_part.high < 0.1
    assert of(sb.UCBRSSR(0.5), narrow, 600).linear_part.low > 0.9  # too early: arms are still played in turn


def test_the_window_can_be_chosen():
    bent = noisy(lambda t: np.where(t < 100, 0.5 * t, 50 + 10 * np.log(t / 100)))
    assert abs(theory.growth(T, bent).exponent.mean) < 0.05
    assert abs(theory.growth(T, bent, start=10).exponent.mean) > 0.1


def test_bad_arguments_are_named():
    good = noisy(np.log)
    for times, curves, start, message in (
        (T, good[0], None, "shape"),
        (T, good[:2], None, "batches"),
        (T[::-1], good, None, "increasing"),
        (T, good, 9500, "earlier start"),
        (T, good * np.nan, None, "finite"),
    ):
        with pytest.raises(sb.errors.InvalidInputError, match=message):
            theory.growth(times, curves, start=start)
