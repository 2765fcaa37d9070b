"""Campaigns with a covariate: stored with the reward, replayed, and the same game as an agent plays."""

import json

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.cli.program import main
from sharpe_bandits.objectives import Adjusted, InformationRatio

POLICY = sb.ScaleFreeUCB(objective=Adjusted(sb.RSSR(L=1e-5, signed=True)))
ARMS = ["value", "carry"]


def returns(rounds, seed=4):
    rng = np.random.default_rng(seed)
    market = 0.01 * rng.standard_normal(rounds)
    return market.tolist(), (market[:, None] + [0.001, 0.0] + 0.003 * rng.standard_normal((rounds, 2))).tolist()


def test_a_campaign_plays_as_an_agent_does(file_store, tmp_path):
    campaign, agent = file_store.campaign("desk", policy=POLICY, arms=ARMS), POLICY.agent(ARMS)
    for market, paid in zip(*returns(60), strict=True):
        decision = campaign.ask()
        assert decision.arm == agent.ask()
        reward = paid[ARMS.index(decision.arm)]
        campaign.tell(decision, reward, covariate=market)
        agent.tell(decision.arm, reward, covariate=market)
    assert campaign.decision(7).covariate == returns(60)[0][6]
    assert campaign.history().column("covariate").to_pylist() == returns(60)[0]
    assert campaign.verify().ok
    assert campaign.recommend() == agent.recommend()
    again = sb.Store(tmp_path / "campaigns.db").campaign("desk")
    assert again.ask().arm == agent.ask()
    campaign.amend(3, 0.5)
    assert campaign.verify().ok
    assert campaign.status().arms[0].pulls == agent.pulls["value"]


def test_a_reward_without_its_covariate_changes_nothing(file_store):
    campaign = file_store.campaign("desk", policy=POLICY, arms=ARMS)
    first, second = campaign.ask(count=2)
    with pytest.raises(sb.errors.InvalidInputError, match="covariate"):
        campaign.tell(first, 0.01)
    campaign.tell(first, 0.01, covariate=0.02)
    campaign.tell(first, 0.01, covariate=0.02)  # again
    with pytest.raises(sb.errors.ConflictError, match="covariate"):
        campaign.tell(first, 0.01, covariate=0.03)
    campaign.tell(second, 0.01, covariate=0.02, seen={first.arm: 0.03})
    assert campaign.status().arms[0].pulls == 2
    assert campaign.verify().ok
    plain = file_store.campaign("plain", policy=sb.ScaleFreeUCB(L=1e-5), arms=ARMS)
    with pytest.raises(sb.errors.InvalidInputError, match="Adjusted"):
        plain.tell(plain.ask(), 0.01, covariate=0.02)
    with pytest.raises(sb.errors.InvalidInputError, match="default_reward"):
        file_store.campaign("late", policy=POLICY, arms=ARMS, lease="1 day", default_reward=0.0)


def test_another_policy_is_evaluated_on_the_log(file_store):
    campaign = file_store.campaign("desk", policy=POLICY, arms=ARMS, explore=0.5, seed=2)
    for market, paid in zip(*returns(80), strict=True):
        decision = campaign.ask()
        campaign.tell(decision, paid[ARMS.index(decision.arm)], covariate=market)
    for policy in (sb.ScaleFreeUCB(L=1e-5), POLICY):
        assert campaign.evaluate(policy).value is not None


def test_the_information_ratio_with_a_control_arm(file_store, tmp_path):
    policy = sb.ScaleFreeUCB(objective=InformationRatio(L=1e-4))
    campaign = file_store.campaign("desk", policy=policy, arms=ARMS, seed=2)
    campaign.set(control="carry", share=0.5)
    for market, paid in zip(*returns(60), strict=True):
        decision = campaign.ask()
        campaign.tell(decision, paid[ARMS.index(decision.arm)], covariate=market)
    assert campaign.verify().ok
    status = campaign.status()
    differences = [a - z for z, (a, _) in zip(*returns(60), strict=True)]
    assert status.arms[0].value == pytest.approx(sb.Sharpe(L=1e-4).value_of(differences), rel=0.7)
    assert sb.Store(tmp_path / "campaigns.db").campaign("desk").status().arms == status.arms


def test_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*words, status=0):
        assert main(["campaign", *map(str, words)]) == status
        return capsys.readouterr()

    run("create", "desk", "--policy", "SF-UCB:objective=Adjusted", "--L", 1e-5, "--arms", *ARMS)
    assert sb.Store("campaigns.db").campaign("desk").policy == POLICY
    run("ask", "desk")
    assert "covariate" in run("tell", "desk", 1, 0.01, status=2).err
    told = json.loads(run("tell", "desk", 1, 0.01, "--covariate", 0.02, "--json").out)
    assert (told["reward"], told["covariate"]) == (0.01, 0.02)
