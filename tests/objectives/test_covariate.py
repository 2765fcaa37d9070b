"""Objectives with a covariate: estimates against regressions by numpy, and the same game live and simulated."""

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.objectives import Adjusted, InformationRatio
from tests.follow import follow

BASE = sb.RSSR(L=1e-5, signed=True)
POLICY = sb.ScaleFreeUCB(objective=Adjusted(BASE))
RATE = np.random.default_rng(8)
MARKET = 0.01 * RATE.standard_normal(400)
RETURNS = np.array([[0.0008], [0.0002], [0.0]]) + MARKET + 0.004 * RATE.standard_normal((3, 400))


def told(agent, arms, *, rounds=60):
    """Tell an agent the returns of these arms in turn."""
    for t in range(rounds):
        arm = arms[t % len(arms)]
        agent.tell(arm, RETURNS[arm, t], covariate=MARKET[t])
    return agent


def test_estimates_are_those_of_a_regression():
    agent = told(POLICY.agent(3), [0, 1, 2, 1])
    plain = told(sb.ScaleFreeUCB(objective=Adjusted(sb.Mean())).agent(3), [0, 1, 2, 1])  # which has no parameters
    arms = np.resize([0, 1, 2, 1], 60)
    market = MARKET[:60]
    for arm in range(3):
        x, z = RETURNS[arm, :60][arms == arm], market[arms == arm]
        (beta, alpha), (rss, *_) = np.polyfit(z, x, 1, full=True)[:2]
        mean = alpha + beta * market.mean()
        variance = rss / (len(x) - 2) + beta**2 * market.var()
        root = mean / np.sqrt(BASE.L + variance)
        assert agent.values()[arm] == pytest.approx(root * abs(root), rel=1e-9)
        assert plain.values()[arm] == pytest.approx(mean, rel=1e-9)


def test_its_error_is_that_of_repeated_samples():
    """W / s against the variance of the estimate over many samples of skewed rewards, all with the same covariates and
    betas: the error that all arms have in common, that of the covariate's mean, does not count.
    """
    rng = np.random.default_rng(3)
    roots, squares = [], []
    for _ in range(400):
        agent = POLICY.agent(2)
        for t, z in enumerate(rng.permutation(np.linspace(-1.0, 3.0, 120)).tolist()):
            agent.tell(0 if t % 4 == 0 else 1, z + 0.5 * rng.exponential(), covariate=z)
        record = agent.statistics()[0]
        roots.append(float(record.feature))
        squares.append(float(record.feature_square - record.feature**2) / 30)
    errors = np.array(roots) - np.mean(roots)
    assert np.mean(squares) == pytest.approx(np.mean(errors**2), rel=0.25)


def test_an_agent_plays_as_the_simulation_does_and_survives_json():
    run = sb.trace(POLICY, sb.Tape(RETURNS, clock="rounds", covariate=MARKET), horizon=400)
    follow(POLICY, run, 3, covariates=MARKET)
    late = sb.trace(POLICY, sb.Tape(RETURNS, clock="rounds", covariate=MARKET), horizon=400, delay=5)
    agent, due = POLICY.agent(3), []
    for t, arm in enumerate(late.choices.tolist()):
        if t > 5:
            agent.tell(*due.pop(0), covariate=MARKET[t - 6])
        assert agent.ask() == arm
        due.append((arm, RETURNS[arm, t]))


def test_a_seen_factor_lowers_regret():
    arms = [sb.Normal(mean, sd=0.3) for mean in (0.2, 0.0)]
    bandit = sb.FactorBandit(arms, factor=sb.Normal(0.0, sd=0.9), betas=1.0)
    policies = [sb.ScaleFreeUCB(L=1e-5), sb.ScaleFreeUCB(objective=Adjusted(BASE), name="adjusted")]
    study = sb.simulate(policies, bandit, horizon=1000, runs=60, seed=2)
    plain, adjusted = (study[p.name].regret().final for p in policies)
    assert adjusted.high < 0.7 * plain.low


def test_factors_make_the_moments_of_rewards():
    arms = [sb.Normal(0.1, sd=1.0), sb.Uniform(0, 1)]
    bandit = sb.FactorBandit(arms, factor=sb.Normal(0.5, sd=2.0), betas=[1.0, -0.5], names=["a", "b"])
    mean, variance = bandit.truth(0, 1)
    np.testing.assert_allclose([mean[0], variance[0]], [[0.6, 0.25], [5.0, 1 / 12 + 1.0]])
    assert sb.from_dict(bandit.to_dict()) == bandit
    runs = [sb.trace(sb.policies.RoundRobin(), bandit, horizon=4000, seed=s) for s in range(2)]
    paid = np.concatenate([run.rewards[run.choices == 0] for run in runs])
    assert paid.mean() == pytest.approx(0.6, abs=4 * np.sqrt(5 / 4000))
    assert paid.var() == pytest.approx(5.0, rel=0.1)
    for wrong in ([1.0], "abc", [1.0, float("nan")]):
        with pytest.raises(sb.errors.InvalidInputError, match="beta"):
            sb.FactorBandit(arms, factor=sb.Normal(0, sd=1.0), betas=wrong)


def test_the_information_ratio_is_the_sharpe_ratio_of_differences():
    objective = InformationRatio(L=1e-4)
    agent = told(sb.ScaleFreeUCB(objective=objective).agent(3), [0, 1, 2])
    differences = RETURNS[:, :60] - MARKET[:60]
    expected = [sb.Sharpe(L=1e-4).value_of(differences[arm, arm::3]) for arm in range(3)]
    np.testing.assert_allclose(list(agent.values().values()), expected, rtol=1e-9)
    tape = sb.Tape(RETURNS, clock="rounds", covariate=MARKET)
    assert sb.from_dict(tape.to_dict()).true_values(objective, 0, 1) == pytest.approx(
        sb.Tape(RETURNS - MARKET).true_values(sb.Sharpe(L=1e-4), 0, 1)
    )


def test_plain_data():
    for objective in (Adjusted(BASE), InformationRatio(L=0.5), Adjusted(sb.MeanRisk(aversion=0.5))):
        assert sb.from_dict(objective.to_dict()) == objective


def test_a_covariate_is_told_always_or_never():
    agent = POLICY.agent(["a", "b"])
    for wrong in (None, float("nan"), float("inf")):
        with pytest.raises(sb.errors.InvalidInputError, match="covariate"):
            agent.tell("a", 0.1, covariate=wrong)
    assert agent.t == 0
    with pytest.raises(sb.errors.InvalidInputError, match="Adjusted"):
        sb.ScaleFreeUCB(L=0.1).agent(["a", "b"]).tell("a", 0.1, covariate=0.1)
    with pytest.raises(sb.errors.InvalidInputError, match="FactorBandit"):
        sb.simulate(POLICY, [sb.Uniform(0, 1), sb.Uniform(0, 2)], horizon=100, runs=2)
    with pytest.raises(sb.errors.InvalidInputError, match="mean and variance"):
        Adjusted(sb.Sortino(L=0.1))
    with pytest.raises(sb.errors.InvalidInputError, match="rounds"):
        sb.Tape(RETURNS, covariate=MARKET)
    with pytest.raises(sb.errors.InvalidInputError, match="SuccessiveRejects"):
        sb.TopTwo(objective=Adjusted(BASE))


def test_best_arm_policies_use_it():
    """The remedy of the message above: with a fixed budget, live and in simulations."""
    policy = sb.policies.SuccessiveRejects(objective=Adjusted(BASE))
    run = sb.trace(policy, sb.Tape(RETURNS, clock="rounds", covariate=MARKET), horizon=300)
    follow(policy, run, 3, horizon=300, covariates=MARKET)
