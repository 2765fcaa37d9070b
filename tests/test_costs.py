"""Rewards that are costs: four execution algorithms, whose costs in basis points are all above 0."""

import json

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.report.ranking import figure

#: Mean and standard deviation of the cost of an order, in basis points.
COSTS = {"VWAP": (4.0, 9.0), "TWAP": (4.6, 8.0), "IS": (3.6, 14.0), "POV": (5.5, 25.0)}
NAMES = list(COSTS)
BANDIT = sb.Bandit([sb.Normal(-mean, variance=sd**2) for mean, sd in COSTS.values()], NAMES)
POLICY = sb.ScaleFreeUCB(objective=sb.MeanRisk(aversion=0.5))


def shares(policy, horizon=20_000):
    result = sb.simulate(policy, BANDIT, horizon=horizon, runs=16, seed=1)[policy.name]
    return dict(zip(NAMES, (result.final.mean(axis=0) / horizon).tolist(), strict=True))


def drawn(rounds, seed=3):
    """Costs of every algorithm, a row per round."""
    means, deviations = np.array(list(COSTS.values())).T
    return np.random.default_rng(seed).normal(means, deviations, (rounds, len(COSTS)))


def play(agent, costs):
    """The choices of an agent that is told these numbers."""
    choices = []
    for row in costs:
        arm = agent.ask()
        agent.tell(arm, float(row[NAMES.index(arm)]))
        choices.append(arm)
    return choices


def test_a_ratio_rewards_risk_and_the_remedy_of_the_warning_finds_the_right_algorithm():
    """Signed ratios, -4/9, -4.6/8, -3.6/14 and -5.5/25, are the largest for POV, the dearest and riskiest.

    Mean less risk: with an aversion of 0.3 minus 4 + 2.7, 4.6 + 2.4, 3.6 + 4.2 and 5.5 + 7.5, so VWAP is best; with an
    aversion of 1 minus 13, 12.6, 17.6 and 30.5, so TWAP is best.
    """
    with pytest.warns(sb.errors.RewardWarning, match=r"every arm is below 0.*MeanRisk\(aversion=.*direction=\"min\""):
        assert shares(sb.ScaleFreeUCB(L=1.0))["POV"] > 0.5
    for aversion, best in ((0.3, "VWAP"), (1.0, "TWAP")):
        objective = sb.MeanRisk(aversion=aversion)
        values = [objective.true_value(arm) for arm in BANDIT.arms]
        assert values == pytest.approx([-mean - aversion * sd for mean, sd in COSTS.values()])
        assert NAMES[int(np.argmax(values))] == best
        share = shares(sb.ScaleFreeUCB(objective=objective))
        assert share[best] > 0.5
        assert share["POV"] < 0.05


@pytest.mark.parametrize("objective", [sb.MeanRisk(aversion=0.5), sb.objectives.IsraelsenSharpe(L=1.0)], ids=repr)
def test_nobody_is_warned_of_objectives_that_never_reward_risk(objective, recwarn):
    sb.simulate(sb.policies.RoundRobin(objective=objective), BANDIT, horizon=100, runs=2)
    assert not [w for w in recwarn if w.category is sb.errors.RewardWarning]


def test_the_modified_ratio_by_hand():
    """Below 0 the product of mean and risk: 36, 36.8, 50.4 and 137.5; above 0 the Sharpe ratio."""
    objective = sb.objectives.IsraelsenSharpe(L=1e-9)
    assert [objective.true_value(arm) for arm in BANDIT.arms] == pytest.approx([-36.0, -36.8, -50.4, -137.5])
    assert objective.value(sb.objectives.Statistics(mean=0.3, variance=0.25)) == pytest.approx(0.6)


def test_arms_that_have_always_paid_the_same_have_a_mean_less_risk():
    """No variance to divide by: neither agents nor simulations fail, and the better constant is found."""
    bandit = sb.Bandit([sb.arms.Constant(-2.0), sb.arms.Constant(-1.0), sb.Normal(-3.0, variance=0.01)])
    result = sb.simulate(sb.ScaleFreeUCB(objective=sb.MeanRisk()), bandit, horizon=300, runs=4)["SF-UCB"]
    assert result.error().mean == 0.0
    agent = sb.ScaleFreeUCB(objective=sb.MeanRisk()).agent(arms=["a", "b"], direction="min")
    for _ in range(20):
        arm = agent.ask()
        agent.tell(arm, {"a": 2.0, "b": 1.0}[arm])
    assert agent.recommend() == "b"


# --- agents -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "policy",
    [
        POLICY,
        sb.ScaleFreeTS(objective=sb.MeanRisk()),
        sb.policies.SlidingWindowUCB(L=1.0, window=50),
        sb.policies.LUCB(L=1.0),
    ],
    ids=lambda policy: policy.name,
)
def test_an_agent_that_is_told_costs_chooses_as_one_told_their_negatives(policy):
    costs = drawn(120)
    agent, twin = policy.agent(arms=NAMES, seed=4, direction="min"), policy.agent(arms=NAMES, seed=4)
    assert play(agent, costs) == play(twin, -costs)
    assert agent.recommend() == twin.recommend()
    assert agent.values() == {arm: -value for arm, value in twin.values().items()}
    assert agent.evidence(hurdle=9.0) == twin.evidence(hurdle=-9.0)
    for arm, known in twin.statistics().items():
        assert agent.statistics()[arm][:5] == known[:5]
        assert agent.estimates()[arm] == (-known.mean, known.variance)
    again = sb.Agent.from_json(agent.to_json())
    assert again.direction == "min"
    assert play(again, drawn(30, seed=8)) == play(agent, drawn(30, seed=8))
    assert "direction" not in json.loads(twin.to_json())


def test_an_elimination_agent_drops_the_dear_algorithms():
    agent = sb.policies.SequentialHalving(sb.MeanRisk(aversion=1.0)).agent(arms=NAMES, horizon=400, direction="min")
    costs = {"VWAP": 4.0, "TWAP": 3.0, "IS": 5.0, "POV": 6.0}
    noise = iter(np.random.default_rng(2).normal(size=400).tolist())
    while not agent.done:
        arm = agent.ask()
        agent.tell(arm, costs[arm] + next(noise))
    assert agent.recommend() == "TWAP"


def test_costs_are_shown_as_costs():
    agent = POLICY.agent(arms=NAMES, direction="min")
    play(agent, drawn(40))
    assert "mean cost" in agent._repr_html_()
    with pytest.raises(sb.errors.InvalidInputError, match=r"got 1e\+200"):
        agent.tell("IS", 1e200)
    with pytest.raises(sb.errors.InvalidInputError, match=r"direction must be one of 'max', 'min', got 'down'"):
        POLICY.agent(arms=NAMES, direction="down")


def play_in_turn(agent):
    for k in range(40):
        agent.tell("ab"[k % 2], 4.0 + k % 3)


def test_an_agent_warns_of_a_ratio_of_costs():
    agent = sb.ScaleFreeUCB(L=1.0).agent(arms=["a", "b"], direction="min")
    with pytest.warns(
        sb.errors.RewardWarning, match=r"minus the costs.*RSSR, and the mean of every arm is below 0.*MeanRisk"
    ):
        play_in_turn(agent)
    assert "direction=" not in agent._reward_warning()


# --- campaigns --------------------------------------------------------------------------------------------------------


def test_a_campaign_of_costs_is_the_agent_of_costs(tmp_path):
    store = sb.Store(tmp_path / "store.db")
    campaign = store.campaign("orders", policy=POLICY, arms=NAMES, direction="min", explore=0.8)
    agent = POLICY.agent(arms=NAMES, direction="min")
    told = {name: [] for name in NAMES}
    for row in drawn(400):
        decision = campaign.ask()
        cost = float(row[NAMES.index(decision.arm)])
        campaign.tell(decision, cost)
        agent.tell(decision.arm, cost)
        told[decision.arm].append(cost)
    status = sb.Store(tmp_path / "store.db").campaign("orders").status()
    assert status.direction == "min"
    assert status.best == agent.recommend()
    for arm in status.arms:
        mean, sd = np.mean(told[arm.arm]), np.std(told[arm.arm], ddof=1)
        assert arm.mean == pytest.approx(mean)
        assert arm.mean_interval[0] < mean < arm.mean_interval[1]
        assert arm.value == pytest.approx(mean + 0.5 * sd) == pytest.approx(agent.values()[arm.arm])
        assert agent.intervals()[arm.arm][:3] == pytest.approx((arm.value, *arm.value_interval))
        for of, low, high in ((sb.Mean(), *arm.mean_interval), (sb.MeanRisk(aversion=0.5), *arm.value_interval)):
            sequence = sb.confidence_sequence(-np.array(told[arm.arm]), of, arms=len(NAMES))
            assert (-high, -low) == pytest.approx((sequence.low[-1], sequence.high[-1]))
    assert campaign.settings["direction"] == "min"
    assert campaign.verify(choices=True).ok
    rewards = campaign.history().column("reward").to_pylist()
    assert sorted(rewards) == pytest.approx(sorted(cost for costs in told.values() for cost in costs))
    evaluation = campaign.evaluate(sb.policies.RoundRobin(objective=sb.MeanRisk()))
    assert evaluation.earned.mean == pytest.approx(np.mean(rewards))
    assert "would have cost" in str(evaluation)
    with pytest.raises(sb.errors.ConflictError, match="direction='min', not 'max'"):
        store.campaign("orders", direction="max")


def test_a_default_cost_of_a_lease_that_ran_out_is_a_cost(tmp_path):
    store = sb.Store(tmp_path / "store.db")
    campaign = store.campaign("c", policy=POLICY, arms=["a", "b"], direction="min", lease=1e-6, default_reward=30.0)
    campaign.ask()
    campaign.ask()
    campaign.ask()
    assert {arm.mean for arm in campaign.status().arms if arm.pulls} == {30.0}


def test_the_view_of_a_dashboard_has_costs_and_values_as_costs(tmp_path):
    from sharpe_bandits.service.view import View

    campaign = sb.Store(tmp_path / "store.db").campaign("c", policy=POLICY, arms=["a", "b"], direction="min")
    generator = np.random.default_rng(1)
    for decision in campaign.ask(count=600):
        campaign.tell(decision, float(generator.normal(4.0 if decision.arm == "a" else 9.0, 1.0)))
    view = View(campaign).to_dict()
    for arm in view["arms"]:
        low, high = arm["mean_interval"]
        assert low < arm["mean"] < high
        assert arm["mean"] > 3.0
        assert arm["sharpe"] == pytest.approx(-arm["mean"] / arm["standard_deviation"])
        assert arm["value"] == pytest.approx(arm["mean"] + 0.5 * arm["standard_deviation"])
    assert view["best"] == "a"
    values = view["series"]["value"][view["series"]["arms"].index("a")]
    assert [v for v in values if v is not None][-1] == pytest.approx(view["arms"][0]["value"])


# --- tables of costs --------------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path):
    """Costs of 1,000 orders by each algorithm, in basis points; the means and deviations are exact."""
    costs = drawn(1000)
    means, deviations = np.array(list(COSTS.values())).T
    costs = means + deviations * (costs - costs.mean(axis=0)) / costs.std(axis=0, ddof=1)
    path = tmp_path / "costs.csv"
    path.write_text("\n".join([",".join(NAMES), *(",".join(map(repr, row)) for row in costs.tolist())]))
    return path


READING = {"kind": "returns", "periods_per_year": 252, "scale": 1e-4}


def test_a_table_of_costs_is_ranked_by_cost_plus_risk(table, tmp_path):
    """In basis points: 4 + 9 a, 4.6 + 8 a, 3.6 + 14 a and 5.5 + 25 a."""
    for aversion, order in ((0.3, "VWAP TWAP IS POV"), (1.0, "TWAP VWAP IS POV"), (0.0, "IS VWAP TWAP POV")):
        ranking = sb.rank(table, **READING, direction="min", aversion=aversion, replications=200)
        assert ranking.by == "mean-risk"
        assert [column.name for column in ranking.columns] == order.split()
        for column in ranking.columns:
            mean, sd = COSTS[column.name]
            assert column.value == pytest.approx(mean + aversion * sd)
            assert column.value_low < column.value < column.value_high
    assert "IS has the smallest mean cost (bp) (3.6," in ranking.conclusion
    ((heads, rows),) = ranking.tables()
    assert heads[1] == "mean cost (bp)"
    assert rows[0][:3] == ["IS", "3.6", "14"]
    ranking.report(tmp_path / "out")
    saved = json.loads((tmp_path / "out" / "ranking.json").read_text())["columns"][0]
    assert (saved["name"], saved["mean_cost"], saved["sd"]) == ("IS", pytest.approx(3.6), pytest.approx(14))
    assert "mean_cost" in (tmp_path / "out" / "ranking.csv").read_text()
    assert not figure(ranking).caption.endswith("; ")
    assert not any("sharpe" in key for key in saved)


def test_a_ranking_by_ratio_of_losses_names_the_remedy(table):
    costs = sb.read_returns(table, **READING)
    losses = sb.read_returns(dict(zip(costs.names, -costs.values.T, strict=True)), kind="returns", periods_per_year=252)
    by_ratio = sb.rank(losses, replications=200)
    assert by_ratio.columns[0].name == "POV"
    assert any("by='mean-risk'" in remark and "direction='min'" in remark for remark in by_ratio.remarks)
    by_risk = sb.rank(losses, by="mean-risk", aversion=0.3, replications=200)
    assert by_risk.columns[0].name == "VWAP"
    assert "largest mean - 0.3 s.d." in by_risk.conclusion
    assert not any("rewards volatility" in remark for remark in by_risk.remarks)


def test_costs_are_compared_by_cost_plus_risk(table, tmp_path):
    """Differences by hand: VWAP − TWAP is (4 − 4.6) + 0.3 (9 − 8) = −0.3 bp, and POV is dearest by far."""
    comparison = sb.compare(table, **READING, direction="min", aversion=0.3, replications=200)
    found = {(d.first, d.second): d for d in comparison.differences}
    assert set(found) >= {("VWAP", "TWAP"), ("VWAP", "IS"), ("VWAP", "POV")}  # the better first
    for (first, second), d in found.items():
        (m, s), (n, t) = COSTS[first], COSTS[second]
        assert d.difference == pytest.approx(m - n + 0.3 * (s - t))
        assert d.mean_difference == pytest.approx(m - n)
        assert d.low < d.difference < d.high
        assert (d.p_corrected <= 0.05) == (d.high < 0) or "POV" not in (first, second)
    assert found["VWAP", "POV"].p_corrected < 0.02
    assert "POV" not in comparison.included
    assert not comparison.superior  # no cost is below 0
    assert "below that of POV" in comparison.conclusion
    comparison.report(tmp_path)
    assert "mean cost + 0.3 s.d. (bp)" in (tmp_path / "comparison.html").read_text()


def test_costs_are_replayed_by_cost_plus_risk(table, tmp_path):
    """Numbers of fixed columns by hand; a policy of mean and risk prefers the cheap ones to POV."""
    options = {**READING, "direction": "min", "aversion": 0.3, "runs": 4}
    replay = sb.replay(table, **options)
    best = replay["best in hindsight"]
    assert (best.annual_sharpe, best.annual_mean) == (pytest.approx(4 + 0.3 * 9), pytest.approx(4))
    assert best.total == pytest.approx(4000)
    assert replay.annual_sharpes == pytest.approx([m + 0.3 * s for m, s in COSTS.values()])
    assert replay["SF-UCB"].shares["POV"] < 0.1 < replay["SF-UCB"].shares["VWAP"]
    assert "The best policy is" in replay.conclusion
    replay.report(tmp_path)
    saved = json.loads((tmp_path / "replay.json").read_text())["players"][0]
    assert saved["mean_cost"] == pytest.approx(replay.players[0].annual_mean)
    page = (tmp_path / "replay.html").read_text()
    assert "total cost (bp)" in page
    assert "; ;" not in page
    with pytest.raises(sb.errors.InvalidInputError, match="rewards the risk of costs") as error:
        sb.replay(table, "ScaleFreeUCB", **options)
    remedy = str(error.value).split("'")[-2]
    assert sb.replay(table, remedy, **options).policies[0].name == "SF-UCB"


def test_a_plan_for_costs(table):
    problem = sb.BestArmProblem.from_returns(table, **READING, direction="min", aversion=1.0, tolerance=0.5)
    assert problem.best == (NAMES.index("TWAP"),)
    assert problem.values == pytest.approx([m + s for m, s in COSTS.values()])
    assert [problem.names[k] for k in problem.right] == ["VWAP", "TWAP"]  # 13 and 12.6 bp
    plan = sb.plan(problem, budget=2000, runs=200)
    assert all(point.loss < 1 for point in plan.asked)
    assert "TWAP (mean cost + 1 s.d. (bp) 12.60 ± 0.31)" in str(plan).replace("\n", " ")


@pytest.mark.parametrize("use", [sb.rank, sb.compare])
def test_a_sharpe_ratio_of_costs_is_refused(table, use):
    with pytest.raises(sb.errors.InvalidInputError, match="by='sharpe' rewards risk"):
        use(table, **READING, direction="min", by="sharpe")
    with pytest.raises(sb.errors.InvalidInputError, match="objective='sharpe' rewards risk"):
        sb.BestArmProblem.from_returns(table, **READING, direction="min", objective="sharpe")
    with pytest.raises(sb.errors.InvalidInputError, match=r"direction='min' is for costs.*not 'prices'"):
        sb.read_returns(table, kind="prices", periods_per_year=252, direction="min")
