"""Whatever a user can build comes back from plain data, pickled and copied."""

import copy
import json
import pickle

import numpy as np
import pytest
import scipy.stats

import sharpe_bandits as sb
from sharpe_bandits.arms.environment import Environment
from sharpe_bandits.objectives import Objective


def three_uniform(generator):
    return sb.arms.UniformArms(np.zeros(3), generator.uniform(0.5, 5, size=3))


RECORD = np.random.default_rng(3).normal(0.1, 1.0, size=(40, 3))
BANDITS = {
    "Bandit": [
        sb.Bandit([sb.Uniform(0, 1), scipy.stats.lognorm(0.5), sb.Empirical([1, 2, 2])], names=["a", "b", "c"]),
        sb.Bandit([sb.arms.AR1(0, 1, 0.5), sb.arms.GARCH(0, 1, 0.1, 0.2)], clock="pulls"),
        sb.arms.bootstrap(RECORD, block=5, jointly=True),
    ],
    "SwitchingBandit": [
        sb.SwitchingBandit(
            [[sb.Normal(0, variance=1), sb.Normal(1, variance=1)], [sb.Normal(1, variance=1), sb.arms.Constant(0.5)]],
            [30],
        )
    ],
    "FactorBandit": [
        sb.FactorBandit([sb.Uniform(0, 1), sb.Normal(0, sd=1)], factor=sb.Normal(0, sd=2), betas=[1.0, 0.5])
    ],
    "Tape": [sb.Tape(RECORD.T), sb.Tape(RECORD.T, clock="rounds")],
    "RandomBandit": [sb.RandomBandit(3, three_uniform, "three")],
}
EVERY_BANDIT = [bandit for bandits in BANDITS.values() for bandit in bandits]
OBJECTIVES = [
    sb.RSSR(L=0.5, risk_free=0.1, signed=True), sb.Sharpe(L=0.5), sb.objectives.SharpeLike(L=2.0), sb.Variance(),
    sb.MeanVariance(rho=0.5), sb.MeanRisk(aversion=0.5), sb.objectives.IsraelsenSharpe(L=0.5), sb.Mean(),
    sb.Sortino(L=0.5, target=0.1), sb.objectives.Omega(L=0.5, threshold=0.1), sb.objectives.CVaR(alpha=0.1),
    sb.objectives.LogGrowth(fraction=0.5), sb.objectives.Adjusted(sb.RSSR(L=0.5)), sb.objectives.InformationRatio(L=0.5),
]  # fmt: skip


def test_no_kind_is_missing():
    """Policies and arms have catalogues of their own: tests/catalogue.py and tests/arms/test_moments.py."""
    own = {n for n, kind in Environment.kinds.items() if kind.__module__.startswith("sharpe_bandits.arms.")}
    assert own == set(BANDITS)
    for name, bandits in BANDITS.items():
        assert {type(bandit).__name__ for bandit in bandits} == {name}
    assert {type(objective).__name__ for objective in OBJECTIVES} == {
        name for name, kind in Objective.kinds.items() if kind.__module__.startswith("sharpe_bandits.")
    }


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
def test_objectives(objective):
    assert sb.from_dict(json.loads(json.dumps(objective.to_dict()))) == objective
    assert pickle.loads(pickle.dumps(objective)) == copy.deepcopy(objective) == objective


@pytest.mark.parametrize("bandit", EVERY_BANDIT, ids=lambda bandit: f"{repr(bandit)[:40]}-{bandit.clock}")
def test_bandits(bandit):
    """The same description, and the same game."""
    drawn_by = {"draw": three_uniform} if isinstance(bandit, sb.RandomBandit) else {}
    data = json.loads(json.dumps(bandit.to_dict(), allow_nan=False))
    given = sb.trace(sb.policies.RoundRobin(), bandit, horizon=40, seed=8)
    for again in (
        sb.from_dict(data | drawn_by), pickle.loads(pickle.dumps(bandit)), copy.deepcopy(bandit), copy.copy(bandit)
    ):  # fmt: skip
        assert type(again) is type(bandit)
        assert again.to_dict() == bandit.to_dict()
        np.testing.assert_array_equal(
            sb.trace(sb.policies.RoundRobin(), again, horizon=40, seed=8).rewards, given.rewards
        )


def test_a_function_is_no_plain_data():
    data = sb.RandomBandit(3, three_uniform, "three").to_dict()
    with pytest.raises(sb.errors.InvalidInputError, match=r"'three' is a RandomBandit.*draw"):
        sb.from_dict(data)


class Triangle(scipy.stats.rv_continuous):
    """Density 2 x on [0, 1]."""

    def _pdf(self, x):
        return 2 * x


def test_a_distribution_of_ones_own_is_told_apart_from_scipys():
    """Named like one of scipy's, it is not taken for that, nor for another of its name; it pickles."""
    own = sb.arms.Scipy(Triangle(a=0, b=1, name="uniform")())
    assert own.to_dict() != sb.arms.Scipy(scipy.stats.uniform()).to_dict()
    assert own != sb.arms.Scipy(scipy.stats.uniform())
    assert pickle.loads(pickle.dumps(own)).mean == pytest.approx(2 / 3)
    with pytest.raises(sb.errors.InvalidInputError, match="make its arm by code"):
        sb.from_dict(own.to_dict())


BAD = [
    (sb.from_dict, None, "a description needs one of the keys 'policy', 'bandit'"),
    (sb.from_dict, {}, "a description needs one of the keys"),
    (sb.from_dict, {"arm": ["Uniform"]}, "no arm is called"),
    (sb.from_dict, {"arm": "Uniforn", "low": 0, "high": 1}, "did you mean 'Uniform'"),
    (sb.from_dict, {"arm": "Uniform", "low": 0}, "Uniform needs high"),
    (sb.from_dict, {"arm": "Uniform", "low": 0, "high": 1, "mid": 0.5}, "no argument of Uniform is called 'mid'"),
    (sb.from_dict, {"arm": "Uniform", "low": 1, "high": 0}, "low must be less than high"),
    (sb.from_dict, {"arm": "Scipy"}, "distribution, args .* and kwds"),
    (sb.from_dict, {"arm": "Scipy", "distribution": "test", "args": [], "kwds": {}}, "no distribution of scipy"),
    (sb.from_dict, {"arm": "Scipy", "distribution": "norm", "args": ["x"], "kwds": {}}, "args must be a finite"),
    (sb.from_dict, {"bandit": "Bandit", "arms": 3}, "arms must be a list, got 3"),
    (sb.from_dict, {"bandit": "Bandit", "arms": [{"arm": "Uniform"}]}, "Uniform needs low and high"),
    (sb.from_dict, {"bandit": "Tape"}, "not the parameters of Tape"),
    (sb.from_dict, {"objective": "RSSR"}, "RSSR needs L, as in"),
    (sb.from_dict, [], "a description needs one of the keys"),
    (sb.from_dict, {"policy": "UCBRSSR", "L": {"objective": "Mean"}}, "L must be a finite number above 0"),
]


@pytest.mark.parametrize(("read", "data", "said"), BAD, ids=range(len(BAD)))
def test_other_data_is_refused(read, data, said):
    with pytest.raises(sb.SharpeBanditsError, match=said):
        read(data)


def test_results_and_tables_pickle_and_copy():
    study = sb.simulate(
        [sb.policies.UCB1(), sb.policies.RoundRobin()], BANDITS["Bandit"][0], horizon=50, runs=5, seed=1
    )
    table = sb.read_returns(0.01 * RECORD, kind="returns", periods_per_year=252, names=["a", "b", "c"])
    for make in (lambda thing: pickle.loads(pickle.dumps(thing)), copy.deepcopy):
        again = make(study)
        np.testing.assert_array_equal(again["UCB1"].regret().mean, study["UCB1"].regret().mean)
        np.testing.assert_array_equal(make(table).values, table.values)


def test_bandits_are_equal_if_their_arms_are():
    for i, one in enumerate(EVERY_BANDIT):
        for j, other in enumerate(EVERY_BANDIT):
            assert (one == other) == (i == j)
    again = sb.from_dict(EVERY_BANDIT[0].to_dict())
    assert again is not EVERY_BANDIT[0]
    assert again == EVERY_BANDIT[0]
    assert hash(again) == hash(EVERY_BANDIT[0])
    same = sb.RandomBandit(3, three_uniform, "three")
    assert same == BANDITS["RandomBandit"][0]
    assert same != sb.RandomBandit(3, lambda generator: three_uniform(generator), "three")
    assert sb.Tape([[1, 2], [3, 4]]) != [[1, 2], [3, 4]]
