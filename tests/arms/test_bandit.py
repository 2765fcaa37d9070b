"""Sets of fixed arms, also such as change at given rounds."""

import numpy as np
import pyarrow as pa
import pytest
import scipy.stats

import sharpe_bandits as sb
from tests.clocks import SWITCHING, TABLE


def test_a_list_of_arms_will_do_and_scipy_distributions_are_arms():
    bandit = sb.Bandit([sb.Uniform(0, 1), scipy.stats.expon(scale=2.0)], names=["flat", "long"])
    assert bandit.names == ("flat", "long")
    np.testing.assert_allclose(bandit.means, [0.5, 2.0])
    np.testing.assert_allclose(bandit.variances, [1 / 12, 4.0])
    listed = sb.trace(sb.policies.UCB1(), [sb.Uniform(0, 1), scipy.stats.expon(scale=2.0)], horizon=30, seed=2)
    np.testing.assert_array_equal(listed.choices, sb.trace(sb.policies.UCB1(), bandit, horizon=30, seed=2).choices)


def test_regret_is_against_the_arm_that_is_best_at_the_time():
    objective = sb.RSSR(L=0.5, signed=True)
    study = sb.simulate(sb.ScaleFreeUCB(L=0.5), SWITCHING, horizon=700, runs=5, seed=1, checkpoints=[100, 350])
    curve = study["SF-UCB"].regret(objective)
    assert curve.t.tolist() == [100, 200, 350, 500, 700]
    # Values by hand: 1/1.5 and 0; the same exchanged; 0 and -1/1.5.
    gaps = np.array([[0, 1 / 1.5], [1 / 1.5, 0], [0, 1 / 1.5]])
    totals = []
    for run in range(5):
        choices = sb.trace(sb.ScaleFreeUCB(L=0.5), SWITCHING, horizon=700, seed=1, run=run).choices
        stretch = np.array([0] * 200 + [1] * 300 + [2] * 200)
        totals.append(np.cumsum(gaps[stretch, choices])[curve.t - 1])
    assert curve.mean == pytest.approx(np.mean(totals, axis=0), rel=1e-12)
    assert study["SF-UCB"].regret_per_run(objective) == pytest.approx(np.array(totals)[:, -1], rel=1e-12)
    plays = study["SF-UCB"].suboptimal_plays(objective)
    assert plays.mean[-1] == pytest.approx(np.mean(totals, axis=0)[-1] * 1.5, rel=1e-12)
    # In the end the first arm is best.
    wrong = study["SF-UCB"].recommended[:, 0] != 0
    assert study["SF-UCB"].error(objective).mean == wrong.mean()


def test_a_study_of_switching_arms_is_saved_whole(tmp_path):
    study = sb.simulate([sb.ScaleFreeUCB(L=0.5), sb.policies.UCB1()], SWITCHING, horizon=700, runs=300, seed=1)
    study.save(tmp_path)
    again = sb.load(tmp_path)
    assert (again["SF-UCB"].regret().mean == study["SF-UCB"].regret().mean).all()
    assert again["SF-UCB"].switches == (200, 500)
    with pytest.raises(sb.errors.InvalidInputError, match="simulate at most 256 runs"):
        again["SF-UCB"].regret_per_run()


@pytest.mark.parametrize(
    ("bandits", "after", "message"),
    [
        ([[sb.Normal(0, variance=1), sb.Normal(1, variance=1)]], [], "at least two bandits"),
        ([[sb.Normal(0, variance=1), sb.Normal(1, variance=1)]] * 3, [10], "3 bandits and after=.10."),
        (
            [[sb.Normal(0, variance=1), sb.Normal(1, variance=1)]] * 3,
            [20, 10],
            r"increasing order; got 3 bandits and after=.20, 10.",
        ),
        ([[sb.Normal(0, variance=1)] * 2, [sb.Normal(1, variance=1)] * 3], [20], r"same number of arms, got \[2, 3\]"),
        ([sb.arms.bootstrap(TABLE, block=2, jointly=True)] * 2, [20], "jointly=True cannot be switched between"),
    ],
)
def test_bad_switches(bandits, after, message):
    with pytest.raises(sb.errors.InvalidInputError, match=message):
        sb.SwitchingBandit(bandits, after)


@pytest.mark.parametrize(("bandits", "after"), [(None, [1]), ([[sb.Normal(0, variance=1)] * 2] * 2, 5)])
def test_switches_must_be_lists(bandits, after):
    with pytest.raises(sb.errors.InvalidInputError, match=r"(bandits|after) must be a list, got"):
        sb.SwitchingBandit(bandits, after)


def test_a_switch_past_the_horizon_is_refused():
    with pytest.raises(sb.errors.InvalidInputError, match="change after round 500, but the horizon is 500"):
        sb.simulate(sb.policies.UCB1(), SWITCHING, horizon=500, runs=2)


def test_arms_of_an_arrow_table_have_its_names():
    assert sb.arms.bootstrap(pa.table({"A": [0.1, 0.2], "B": [0.3, 0.4]})).names == ("A", "B")
