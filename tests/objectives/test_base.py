"""What "best" means: formulas by hand, the paper's ten arms, ties."""

import math

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.objectives import Statistics

#: The paper's ten uniform arms (panel R3).
MEANS = np.array([3.80, 4.43, 5.09, 4.15, 5.33, 3.69, 5.02, 3.38, 3.91, 3.51])
VARIANCES = np.array([2.7, 4.17, 6.01, 3.7, 6.99, 2.83, 6.21, 2.39, 3.64, 2.78])


@pytest.mark.parametrize(
    ("objective", "value"),
    [
        # An arm of mean 3 and variance 4.
        (sb.RSSR(L=0.5), 9 / 4.5),
        (sb.RSSR(L=0.5, risk_free=1.0), 4 / 4.5),
        (sb.RSSR(L=0.5, risk_free=5.0), 4 / 4.5),  # squared: below the rate looks as good as above
        (sb.RSSR(L=0.5, risk_free=5.0, signed=True), -4 / 4.5),
        (sb.RSSR(L=0.5, risk_free=1.0, signed=True), 4 / 4.5),
        (sb.Sharpe(L=0.5), 3 / 2.5),
        (sb.Sharpe(L=0.5, risk_free=1.0), 2 / 2.5),
        (sb.objectives.SharpeLike(L=0.5), 3 / 4.5),
        (sb.objectives.SharpeLike(L=0.5, risk_free=1.0), 2 / 4.5),
        (sb.Variance(), 4.0),
        (sb.MeanVariance(rho=2.0), 2.0),
        (sb.MeanVariance(), -1.0),
        (sb.MeanRisk(), 1.0),
        (sb.MeanRisk(aversion=0.25), 2.5),
        (sb.objectives.IsraelsenSharpe(L=0.5), 3 / 2.5),
        (sb.objectives.IsraelsenSharpe(L=0.5, risk_free=5.0), -2 * 2.5),
        (sb.Mean(), 3.0),
    ],
    ids=repr,
)
def test_values_by_hand(objective, value):
    assert objective.value(Statistics(mean=3.0, variance=4.0)) == pytest.approx(value, rel=1e-15)
    assert sb.from_dict(objective.to_dict()) == objective


def test_best_rssr_is_not_always_best_sharpe():
    """docs/evidence/reading-the-paper.md: at L = 0.75 RSSR prefers arm 1 of the ten and SR arm 3 (counted from 1)."""
    assert int(np.argmax(sb.RSSR(L=0.75).value(Statistics(mean=MEANS, variance=VARIANCES)))) == 0
    assert int(np.argmax(sb.Sharpe(L=0.75).value(Statistics(mean=MEANS, variance=VARIANCES)))) == 2


def test_the_printed_modified_mvts_tends_to_another_arm():
    """docs/evidence/reading-the-paper.md: its limit mu^2 / (L + sigma) prefers arm 5 of the ten, RSSR arm 1 (R4, L = 1)."""
    assert int(np.argmax(MEANS**2 / (1.0 + np.sqrt(VARIANCES)))) == 4
    assert int(np.argmax(sb.RSSR(L=1.0).value(Statistics(mean=MEANS, variance=VARIANCES)))) == 0


def test_gaps_by_hand():
    gaps = sb.RSSR(L=1.0).gaps(Statistics(mean=[2.0, 3.0, 0.0], variance=[1.0, 2.0, 5.0]))  # values 2, 3, 0
    np.testing.assert_allclose(gaps, [1.0, 0.0, 3.0], rtol=1e-15)


def test_values_that_differ_by_rounding_tie():
    """0.1 + 0.2 and 0.3 are the same mean; so are arms equal but for the last digit."""
    gaps = sb.Mean().gaps(Statistics(mean=[0.1 + 0.2, 0.3, 0.2], variance=[1.0, 1.0, 1.0]))
    assert gaps[0] == gaps[1] == 0.0
    assert gaps[2] == pytest.approx(0.1)
    assert sb.Mean().gaps(Statistics(mean=[1.0, 1.0 - 1e-9], variance=[1.0, 1.0]))[1] > 0  # but not arms that differ


def test_ties_in_some_bandits_do_not_change_the_gaps_of_others():
    mean = np.array([[0.1 + 0.2, 0.3, 0.2, 0.2], [0.1, 0.4, 0.2, 0.3], [0.5, 0.1, 0.5 - 1e-15, 0.1 + 1e-15]])
    variance = np.ones_like(mean)
    together = sb.Mean().gaps(Statistics(mean=mean, variance=variance))
    for row, alone in zip(together, mean, strict=True):
        np.testing.assert_array_equal(row, sb.Mean().gaps(Statistics(mean=alone, variance=np.ones(4))))
    assert together[0].tolist()[:2] == [0.0, 0.0]
    assert together[2][1] == together[2][3] > 0
    assert (np.diff(np.sort(together[1])) > 0).all()


def test_negative_values_have_gaps_too():
    gaps = sb.RSSR(L=1.0, signed=True).gaps(Statistics(mean=[-1.0, -2.0], variance=[1.0, 1.0]))
    np.testing.assert_allclose(gaps, [0.0, 1.5])


@pytest.mark.parametrize("L", [-0.5, math.nan, math.inf, "1", None, True])
def test_the_regulariser_of_a_sharpe_ratio_may_be_0(L):
    assert sb.Sharpe(L=0).value(Statistics(mean=0.3, variance=0.25)) == 0.6
    with pytest.raises(sb.errors.InvalidInputError, match="L must be a finite number of at least 0, got"):
        sb.Sharpe(L=L)


def test_unknown_objectives_are_named():
    with pytest.raises(sb.errors.UnknownNameError, match=r"'RSR'.*did you mean 'RSSR'"):
        sb.from_dict({"objective": "RSR", "L": 1.0})


class WithoutRegulariser(sb.objectives.Objective):
    """Mean per standard deviation: not a number where rewards do not vary."""

    @staticmethod
    def formula(mean, variance):
        return mean / np.sqrt(variance)


class Forgetful(sb.objectives.Objective):
    @staticmethod
    def formula(mean, variance):
        """Without a return."""


def test_a_formula_that_returns_nothing_is_named():
    for policy in (sb.ScaleFreeUCB(objective=Forgetful()), sb.policies.SuccessiveRejects(Forgetful())):
        with pytest.raises(sb.errors.InvalidInputError, match="formula of Forgetful must return a number, got None"):
            sb.simulate(policy, [sb.Uniform(0, 1), sb.Uniform(0, 2)], horizon=50, runs=2)


class LessRisk(sb.objectives.Objective):
    """Mean less standard deviation, of infinite slope where rewards do not vary."""

    @staticmethod
    def formula(mean, variance):
        return mean - np.sqrt(variance)


def test_an_objective_of_infinite_slope_can_be_played_and_one_that_is_not_finite_is_named():
    arms = [sb.Bernoulli(0.1), sb.Bernoulli(0.3)]
    for policy in (sb.ScaleFreeUCB(objective=LessRisk()), sb.policies.ScaleFreeTS(objective=LessRisk())):
        sb.simulate(policy, arms, horizon=100, runs=5)
    said = r"objective WithoutRegulariser\(\) has no finite value and slope .*always 0; regularise"
    policy = sb.ScaleFreeUCB(objective=WithoutRegulariser())
    with pytest.raises(sb.errors.InvalidInputError, match=said):
        sb.simulate(policy, arms, horizon=100, runs=5)
    agent = policy.agent(2)
    for arm in (0, 1, 0, 1, 0, 1):
        agent.tell(arm, 0.0)
    with pytest.raises(sb.errors.InvalidInputError, match=said):
        agent.ask()
