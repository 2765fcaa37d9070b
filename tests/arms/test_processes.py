"""Arms with a memory: what their rewards owe to those before, which rows are drawn together, and bad input."""

import math

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.simulation.families.base import rewards_of
from sharpe_bandits.simulation.spec import Spec


def paths(bandit, rounds, runs, seed=3):
    """Rewards of all arms in all rounds, (run, arm, round)."""
    bandit.check_horizon(rounds)
    table, _, _ = rewards_of(Spec(sb.policies.RoundRobin(), bandit, rounds, runs, seed, (rounds,)), np.arange(runs))
    return table.pool.reshape(runs, bandit.K, rounds)


def correlation(x, lag, mean, variance):
    """Autocorrelation about the true mean, with its standard error over runs."""
    per_run = ((x[:, lag:] - mean) * (x[:, :-lag] - mean)).mean(axis=1) / variance
    return per_run.mean(), per_run.std(ddof=1) / math.sqrt(len(x))


@pytest.mark.parametrize("phi", [0.7, -0.4])
def test_autoregression_has_the_correlation_asked_for(phi):
    x = paths(sb.Bandit([sb.arms.AR1(1.0, 2.0, phi), sb.arms.AR1(0.0, 1.0, 0.0)]), 2000, 200)
    for lag in (1, 2, 5):
        found, error = correlation(x[:, 0], lag, 1.0, 2.0)
        assert abs(found - phi**lag) < 4 * error
        assert error < 0.01
        found, error = correlation(x[:, 1], lag, 0.0, 1.0)
        assert abs(found) < 4 * error
    # It begins in its long run: the first reward is spread like any other.
    first = x[:, 0, 0]
    assert abs(first.var(ddof=1) / 2.0 - 1.0) < 4 * math.sqrt(2 / 200)


def test_volatility_clusters_as_in_theory():
    """Bollerslev (1986): squares of GARCH(1,1) have the lag-1 correlation a (1 - ab - b^2) / (1 - 2ab - b^2)."""
    a, b = 0.15, 0.6
    x = paths(sb.Bandit([sb.arms.GARCH(0.5, 2.0, a, b), sb.arms.Constant(0.0)]), 5000, 300)[:, 0] - 0.5
    found, error = correlation(x, 1, 0.0, 2.0)
    assert abs(found) < 4 * error
    squares = x**2
    fourth = sb.arms.GARCH(0.5, 2.0, a, b).moments().fourth
    expected = a * (1 - a * b - b * b) / (1 - 2 * a * b - b * b)
    found, error = correlation(squares, 1, 2.0, fourth - 4.0)
    assert abs(found - expected) < 4 * error
    assert error < 0.02


def test_blocks_of_a_record():
    """Rewards follow each other as in the record, but where a new block begins: once in ``block`` rewards."""
    values = np.arange(50.0)
    x = paths(sb.Bandit([sb.arms.BlockBootstrap(values, 8), sb.arms.Constant(0.0)]), 4000, 50)[:, 0]
    follows = x[:, 1:] == (x[:, :-1] + 1) % 50
    # A new block goes on where the old one stood with probability 1/50.
    expected = 1 - (1 / 8) * (1 - 1 / 50)
    assert abs(follows.mean() - expected) < 4 * math.sqrt(expected * (1 - expected) / follows.size)
    counts = np.bincount(x.astype(int).ravel(), minlength=50) / x.size
    assert np.abs(counts - 1 / 50).max() < 0.004  # blocks begin anywhere with equal chance
    starts = x[:, 1:][~follows]
    assert abs(starts.mean() - values.mean()) < 4 * values.std() / math.sqrt(starts.size)


def test_columns_drawn_jointly_stay_in_their_rows():
    table = np.random.default_rng(0).normal(size=(40, 3))
    joint = paths(sb.arms.bootstrap(table, block=5, jointly=True), 200, 4)
    rows = {tuple(row) for row in table}
    assert all(tuple(joint[r, :, t]) in rows for r in range(4) for t in range(200))
    apart = paths(sb.arms.bootstrap(table, block=5), 200, 4)
    assert sum(tuple(apart[r, :, t]) in rows for r in range(4) for t in range(200)) < 20
    iid = paths(sb.arms.bootstrap(table, jointly=True), 200, 4)
    assert all(tuple(iid[r, :, t]) in rows for r in range(4) for t in range(200))


def test_a_table_without_blocks_is_a_bandit_of_its_values():
    table = np.random.default_rng(0).normal(size=(40, 2))
    bandit = sb.arms.bootstrap(table, names=["a", "b"])
    assert bandit.arms == (sb.Empirical(table[:, 0]), sb.Empirical(table[:, 1]))
    assert bandit.names == ("a", "b")
    assert bandit.clock == "pulls"


def test_a_clock_by_pulls_lets_an_arm_wait():
    """The j-th pull pays the j-th reward of the path, whenever it comes."""
    arms = [sb.arms.AR1(0.3, 1.0, 0.5), sb.arms.AR1(0.3, 1.0, 0.5)]
    path = paths(sb.Bandit(arms), 300, 1, seed=5)[0]
    for clock in ("pulls", "rounds"):
        trace = sb.trace(sb.ScaleFreeUCB(L=0.5), sb.Bandit(arms, clock=clock), horizon=300, seed=5)
        pulls = [0, 0]
        for t, (arm, reward) in enumerate(zip(trace.choices, trace.rewards, strict=True)):
            assert reward == path[arm, pulls[arm] if clock == "pulls" else t]
            pulls[arm] += 1
        assert min(pulls) > 5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sb.arms.AR1(0, 1, 1.0), "phi.*strictly between -1 and 1, got 1.0"),
        (lambda: sb.arms.AR1(0, 0, 0.5), "variance must be a finite number above 0, got 0"),
        (lambda: sb.arms.AR1(0, 1, "x"), "phi"),
        (lambda: sb.arms.GARCH(0, 1, 0.5, 0.5), "alpha=0.5 and beta=0.5; at 1 there is no long-run variance"),
        (lambda: sb.arms.GARCH(0, 1, 0.0, 0.5), "alpha must be above 0"),
        (lambda: sb.arms.BlockBootstrap([1, 2], 0.5), "block.*at least 1, got 0.5"),
        (lambda: sb.arms.BlockBootstrap([1, math.nan], 2), "finite, got .*nan.* at position 1"),
        (
            lambda: sb.Bandit([sb.Normal(0, variance=1), sb.Normal(1, variance=1)], clock="hours"),
            "clock must be one of",
        ),
        (
            lambda: sb.Bandit([sb.Normal(0, variance=1), sb.Normal(1, variance=1)], jointly=True),
            "jointly=True needs BlockBootstrap arms",
        ),
        (
            lambda: sb.Bandit([sb.arms.BlockBootstrap([1, 2], 2), sb.arms.BlockBootstrap([1, 2, 3], 2)], jointly=True),
            "records of one length",
        ),
        (
            lambda: sb.Bandit([sb.arms.BlockBootstrap([1, 2], 2)] * 2, jointly=True, clock="pulls"),
            'jointly=True needs clock="rounds"',
        ),
        (lambda: sb.arms.BlockBootstrap([1, 2], 3), "a block of 3 is longer than the record of 2 values"),
        (lambda: sb.arms.bootstrap([1.0, 2.0]), "table must be a non-empty array of 2 dimension"),
        (lambda: sb.arms.bootstrap("returns.csv"), r"table must be numbers: .* sb.read_returns reads files"),
        (lambda: sb.arms.bootstrap([["a", "b"]]), r"table must be numbers: .* sb.read_returns reads files, and tables"),
        (
            lambda: sb.arms.bootstrap([[1.0, 2.0], [1.0, math.nan]], names=["x", "y"]),
            r"table must be finite, got .*nan.* at position \(1, 1\); drop or fill it first; sb.read_returns",
        ),
        (lambda: sb.arms.bootstrap([[1.0, 2.0], [3.0, 4.0]], jointly="no"), "jointly must be True or False, got 'no'"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(sb.errors.InvalidInputError, match=message):
        make()


def test_the_fourth_moment_of_a_persistent_garch_is_infinite():
    assert sb.arms.GARCH(0, 1, 0.5, 0.45).moments().fourth == math.inf


def test_no_policy_can_be_sure_of_arms_with_a_memory():
    with pytest.raises(sb.errors.InvalidInputError, match="LUCB needs independent and identically distributed rewards"):
        sb.identify(sb.policies.LUCB(L=0.5), sb.Bandit([sb.arms.AR1(0, 1, 0.5), sb.arms.AR1(1, 1, 0.5)]), runs=2)


@pytest.mark.parametrize(
    "arm", [sb.arms.AR1(0.5, 1.0, 0.5), sb.arms.GARCH(0.5, 1.0, 0.1, 0.8), sb.arms.BlockBootstrap([1, 2, 3], 2)]
)
def test_arms_with_a_memory_are_refused_where_they_cannot_be_played(arm):
    with pytest.raises(sb.errors.InvalidInputError, match="depend on those before"):
        sb.simulate(sb.ScaleFreeUCB(L=1.0), sb.RandomBandit(2, lambda rng: [arm, arm]), horizon=50, runs=2)
    with pytest.raises(sb.errors.InvalidInputError, match="independent"):
        sb.trace(sb.policies.LUCB(L=1.0), [arm, arm], horizon=100)


def test_a_game_too_long_to_be_written_out_is_refused():
    with pytest.raises(sb.errors.InvalidInputError, match=r"generated .* GiB; shorten the horizon"):
        sb.simulate(sb.ScaleFreeUCB(L=1.0), [sb.arms.AR1(0, 1, 0.1)] * 2, horizon=10**9, runs=1)
