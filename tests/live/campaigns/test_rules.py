"""Who decides: modes, the control arm's share, bounds, arms that can be played, and what is logged of it."""

import collections

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns import Guardrail, Record

ARMS = ["VWAP", "TWAP", "IS"]
COSTS = {"VWAP": 3.0, "TWAP": 4.0, "IS": 2.0}
POLICY = sb.ScaleFreeUCB(objective=sb.MeanRisk(aversion=0.5))


@pytest.fixture
def make(file_store):
    return lambda name="orders", policy=POLICY, **options: file_store.campaign(
        name, policy=policy, arms=ARMS, **{"seed": 3, **options}
    )


def play(campaign, rounds, seed=1, **options):
    generator = np.random.default_rng(seed)
    decisions = []
    for _ in range(rounds):
        decision = campaign.ask(**options)
        campaign.tell(decision, COSTS[decision.arm] + generator.normal())
        decisions.append(decision)
    return decisions


def test_the_path_from_shadow_to_live(make):
    campaign = make(mode="shadow", control="VWAP", direction="min")
    generator = np.random.default_rng(2)
    for i in range(60):
        arm = ARMS[i % 3]
        decision = campaign.record(arm, COSTS[arm] + generator.normal(), key=f"order-{i}", propensity=1 / 3)
        assert (decision.by, decision.probability, decision.state) == ("external", 1 / 3, "rewarded")
    rows = campaign.history().to_pylist()
    status = campaign.status()
    assert status.agreement == sum(row["choice"] == row["arm"] for row in rows) / 60
    assert status.shadow.rewards == 60
    assert status.shadow.others == pytest.approx(np.mean([row["reward"] for row in rows]))
    assert campaign.ask().by == "control"  # asks get the control arm, and the policy is logged beside it
    campaign.set(mode="live", share=0.25, why="a quarter", by="Ann")
    decisions = play(campaign, 400)
    by = collections.Counter(decision.by for decision in decisions)
    assert by["policy"] == pytest.approx(100, abs=4 * np.sqrt(400 * 0.25 * 0.75))
    assert all(decision.arm == "VWAP" for decision in decisions if decision.by == "control")
    lift, rewards = campaign.status().lift, campaign.history().to_pylist()
    assert lift.rewards == (by["policy"], by["control"])
    means = [np.mean([row["reward"] for row in rewards[61:] if row["by"] == group]) for group in ("policy", "control")]
    assert lift.means == pytest.approx(means)
    assert lift.mean_interval[0] < lift.mean_difference < lift.mean_interval[1]
    assert lift.mean_difference < 0
    assert lift.value_interval[0] < lift.value_difference < 0  # cheaper in both
    words = campaign.status().rules_in_words()["lift"]
    assert f"cheaper by {-lift.mean_difference:.4g} (" in words
    assert "while control was played" not in words
    entry = campaign.log(search="a quarter")[0]
    assert (entry.kind, entry.details["by"], entry.details["set"]) == (
        "changed",
        "Ann",
        {"mode": "live", "share": 0.25},
    )
    campaign.set(share=1.0)
    assert {decision.by for decision in play(campaign, 20)} == {"policy"}
    words = campaign.status().rules_in_words()
    told = max(row["told"] for row in rewards if row["by"] == "control" and row["told"])
    assert campaign.status().lift_until == told
    assert f"until {told:%Y-%m-%d} ({by['policy']} and {by['control']} rewards)" in words["lift"]
    assert "the rest" not in words["mode"]
    assert "Best so far" in str(campaign.status())
    assert campaign.verify(choices=True).ok


def test_propensities_are_frequencies(make):
    """With the same state, decisions differ only by their number: shares over many must be the logged probabilities."""
    campaign = make(control="TWAP", share=0.6, bounds={"IS": (0.1, 0.5), "VWAP": (0.0, 0.3)}, explore=0.1)
    play(campaign, 30)
    shares, expected = collections.Counter(), collections.Counter()
    for _ in range(1500):
        decision = campaign.ask()
        campaign.cancel(decision)
        shares[decision.arm] += 1 / 1500
        expected[decision.arm] = decision.probability
    assert sum(expected.values()) == pytest.approx(1.0)
    for arm in ARMS:
        assert shares[arm] == pytest.approx(expected[arm], abs=4 * np.sqrt(0.25 / 1500))
    # By hand: IS has its 0.1; of the 0.9 left the policy's choice VWAP takes 0.3, the others 0.03 each by exploration;
    # of the 0.54 that VWAP cannot take, 0.95 go to TWAP, the choice among the others, and 0.05 to IS by exploration.
    assert expected == pytest.approx(
        {"VWAP": 0.6 * 0.3, "TWAP": 0.4 + 0.6 * (0.03 + 0.95 * 0.54), "IS": 0.6 * (0.13 + 0.05 * 0.54)}
    )


@pytest.mark.parametrize("policy", [POLICY, sb.ScaleFreeTS(L=0.1)])
def test_shares_stay_within_their_bounds(make, policy):
    bounds = {"VWAP": (0.2, 0.3), "TWAP": (0.0, 0.4), "IS": (0.05, 0.5)}
    campaign = make(policy=policy, bounds=bounds)
    for decision in play(campaign, 60):
        low, high = bounds[decision.arm]
        assert low - 1e-9 <= decision.probability <= high + 1e-9
    assert campaign.verify(choices=True).ok
    campaign.suspend("IS", "venue closed")
    campaign.suspend("VWAP")
    assert {(d.arm, d.probability) for d in play(campaign, 5)} == {("TWAP", 1.0)}  # upper bounds yield
    exploring = make("exploring", policy=policy, explore=0.1, bounds={"VWAP": (0.0, 0.3), "TWAP": (0.0, 0.3)})
    exploring.retire_arm("IS")
    assert all(decision.probability >= 0.3 for decision in play(exploring, 5))
    assert exploring.verify(choices=True).ok


def test_weights_follow_the_policy_s_order(make):
    campaign = make()
    play(campaign, 300)
    assert campaign.weights() == {"VWAP": 0.0, "TWAP": 1.0, "IS": 0.0}
    assert campaign.weights(max=0.5) == {"VWAP": 0.5, "TWAP": 0.5, "IS": 0.0}
    assert campaign.weights(max=0.5, min=0.2) == pytest.approx({"VWAP": 0.3, "TWAP": 0.5, "IS": 0.2})
    with pytest.raises(sb.errors.InvalidInputError, match=r"3 arms cannot have weights between 0 and 0.3"):
        campaign.weights(max=0.3)
    assert sorted(decision.arm for decision in campaign.ask(distinct=3)) == sorted(ARMS)
    assert len(campaign.ask(distinct=5)) == 3
    campaign = make("best", policy=sb.policies.LUCB(L=0.1, pilot_pulls=2))
    play(campaign, 10)
    with pytest.raises(sb.errors.InvalidInputError, match=r"LUCB decides how often .*; leave max= out"):
        campaign.weights(max=0.5)


def test_a_paused_campaign_refuses_or_falls_back(make):
    campaign = make()
    campaign.pause("venue outage", by="Ann")
    with pytest.raises(sb.errors.CampaignPausedError):
        campaign.ask()
    campaign.pause(fallback="VWAP")
    decision = campaign.ask()
    assert (decision.arm, decision.by, decision.probability) == ("VWAP", "fallback", 1.0)
    with pytest.raises(sb.errors.CampaignPausedError):
        campaign.ask(among=["IS"])
    campaign.tell(decision, 1.0)  # rewards are welcome
    campaign.resume(why="it is back")
    assert campaign.ask().by == "policy"
    changes = campaign.log(search="changed")
    assert [entry.details["set"].get("mode") for entry in changes] == ["live", None, "paused"]


def test_arms_that_cannot_be_played(make):
    campaign = make()
    campaign.suspend("TWAP", "too slow")
    assert {campaign.ask().arm for _ in range(12)} == {"VWAP", "IS"}
    assert {campaign.ask(among=["TWAP", "IS"]).arm for _ in range(3)} == {"IS"}
    with pytest.raises(sb.errors.ConflictError, match="resume a suspended arm"):
        campaign.ask(among=["TWAP"])
    campaign.resume("TWAP")
    assert "TWAP" in {campaign.ask().arm for _ in range(6)}
    assert [arm.suspended for arm in campaign.status().arms] == [False] * 3
    assert campaign.verify(choices=True).ok


BAD = [
    (lambda c: c.set(), "name what to change"),
    (lambda c: c.set(mode="on"), "'on'"),
    (lambda c: c.set(share=1.5), "1.5"),
    (lambda c: c.set(share=0.5), "control='VWAP'"),
    (lambda c: c.set(control="POV"), "'POV'"),
    (lambda c: c.set(shares=0.5), "did you mean 'share'"),
    (lambda c: c.set(bounds={"IS": (0.6, 0.5)}), "low <= high <= 1, got .0.6, 0.5. of 'IS'"),
    (lambda c: c.set(bounds=dict.fromkeys(ARMS, (0.5, 1))), "lower bounds to 1.5"),
    (lambda c: c.set(bounds=dict.fromkeys(ARMS, (0, 0.3))), "0.9"),
    (lambda c: c.set(bounds="IS"), "A=0.05:0.5"),
    (lambda c: c.set(suspended=ARMS), "pause the campaign"),
    (lambda c: c.suspend("POV"), "'POV'"),
    (lambda c: c.ask(among=[]), "at least one arm"),
    (lambda c: c.ask(among=["POV"]), "'POV'"),
    (lambda c: c.ask(tags={"desk": 3}), "a tag must be text"),
    (lambda c: c.set(mode="paused", why="two\nlines"), "one line"),
    (lambda c: c.record("IS", 1.0, propensity=0.0), "cannot be 0"),
    (lambda c: c.record("IS", weight=2.0), "give reward="),
    (lambda c: c.tell(1, 1.0, metrics={"error": float("nan")}), "nan"),
    (lambda c: c.tell(1, 1.0, weight=0.0), "weight"),
    (lambda c: c.amend(1, 2.0), "no reward to amend"),
    (lambda c: c.load_history([{"arm": "IS"}]), "row 1 needs"),
    (lambda c: c.load_history([{"arm": "IS", "reward": 1.0}, {"arm": "POV", "reward": 1.0}]), "row 2: .*'POV'"),
    (lambda c: c.load_history([{"arm": "IS", "reward": "1"}, {"arm": "IS", "reward": "abc"}]), "row 2: .*'abc'"),
    (lambda c: c.load_history([{"arm": arm, "reward": 1.0, "key": "k"} for arm in ("IS", ARMS[0])]), "the key 'k'"),
    (lambda c: c.set(guardrails=[{"kind": "mean"}]), "a kind and a limit"),
    (lambda c: c.set(guardrails=[Guardrail("mean", 1.0, action="control")]), "control="),
    (lambda c: c.set(webhook="http://example.com"), "https://"),
]


@pytest.mark.parametrize(("act", "words"), BAD)
def test_bad_input_changes_nothing(act, words, make):
    campaign = make()
    campaign.ask()
    before = campaign.status().events
    with pytest.raises(sb.SharpeBanditsError, match=words.replace("(", r"\(")):
        act(campaign)
    assert campaign.status().events == before


def test_policies_with_a_budget_keep_their_plan(file_store):
    campaign = file_store.campaign("phases", policy=sb.SHSR(L=0.1), arms=4, horizon=100)
    for act in (
        lambda: campaign.suspend(1),
        lambda: campaign.set(share=0.5, control=1),
        lambda: campaign.ask(among=[1, 2]),
        lambda: campaign.record(1, 0.5),
        lambda: campaign.pause(fallback=1),
    ):
        with pytest.raises(sb.errors.InvalidInputError, match="SHSR decides how often each arm is played"):
            act()
    campaign.pause()
    campaign.resume()
    assert campaign.ask().number == 1


def test_rewards_are_told_by_key_with_metrics_and_amended(make):
    """After an amendment the state is that of a campaign that was told the right reward from the start."""
    campaign, twin = make("wrong"), make("right")
    for one, first in ((campaign, 30.0), (twin, 3.0)):
        one.ask(key="k1")
        one.tell("k1", first, metrics={"error": 1.0}, weight=2e6)
        for i in range(40):
            arm = ARMS[i % 3]
            one.record(arm, COSTS[arm] + np.sin(i), key=f"o{i}")
    campaign.amend(1, 3.0, "decimal point", by="Ann")
    assert campaign.agent().to_json() == twin.agent().to_json()
    decision = campaign.decision(1)
    assert (decision.reward, decision.metrics, decision.weight) == (3.0, {"error": 1.0}, 2e6)
    entry = campaign.log(count=1)[0]
    assert entry.details == {"old": 30.0, "new": 3.0, "by": "Ann", "why": "decimal point"}
    assert campaign.verify(choices=True).ok
    assert campaign.status().arms[0].metrics == {"error": 1.0}
    with pytest.raises(sb.errors.ConflictError, match="amend"):
        campaign.tell("k1", 5.0)
    campaign.tell("k1", 3.0)  # repeating it changes nothing


def test_a_history_is_a_warm_start(make, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    generator = np.random.default_rng(1)
    rows = [{"arm": ARMS[i % 3], "reward": COSTS[ARMS[i % 3]] + generator.normal()} for i in range(90)]
    path = tmp_path / "orders.parquet"
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), path)
    campaign, agent = make(), POLICY.agent(ARMS, seed=3)
    assert campaign.load_history(path) == 90
    named = [{"algo": row["arm"], "bps": row["reward"]} for row in rows]
    assert campaign.load_history(named, arm="algo", reward="bps") == 0  # the same rows: nothing changes
    for row in rows:
        agent.tell(row["arm"], row["reward"])
    assert campaign.agent().to_json() == agent.to_json()
    assert set(campaign.history()["by"].to_pylist()) == {"history"}
    assert campaign.ask().arm == agent.ask()
    assert campaign.verify(choices=True).ok


def test_what_was_seen_of_other_arms_is_learnt(make):
    """A campaign that sees all arms is an agent that is told of all arms."""
    campaign, agent = make(), POLICY.agent(ARMS, seed=3)
    generator = np.random.default_rng(1)
    for _ in range(30):
        costs = {arm: cost + generator.normal() for arm, cost in COSTS.items()}
        decision = campaign.ask()
        assert decision.arm == agent.ask()
        others = {arm: x for arm, x in costs.items() if arm != decision.arm}
        campaign.tell(decision, costs[decision.arm], seen=others)
        agent.tell(decision.arm, costs[decision.arm])
        for arm, x in others.items():
            agent.tell(arm, x)
    assert campaign.agent().estimates() == agent.estimates()
    assert campaign.status().rewards == 30
    assert campaign.verify(choices=True).ok
    decision = campaign.ask()
    with pytest.raises(sb.errors.InvalidInputError, match="was played"):
        campaign.tell(decision, 1.0, seen={decision.arm: 2.0})
    with pytest.raises(sb.errors.UnknownNameError):
        campaign.tell(decision, 1.0, seen={"POV": 2.0})


def test_the_estimate_in_shadow_mode_is_unbiased(make):
    """Over campaigns in which others choose with known probabilities, against the true means of the policy's choices."""
    shares, errors = {"VWAP": 0.6, "TWAP": 0.3, "IS": 0.1}, []
    for seed in range(25):
        generator = np.random.default_rng(seed)
        campaign = make(f"shadow {seed}", mode="shadow", direction="min")
        arms = map(str, generator.choice(list(shares), 100, p=list(shares.values())))
        requests = [Record(arm, float(generator.normal(COSTS[arm], 1.0)), propensity=shares[arm]) for arm in arms]
        decisions = campaign.commit(requests)
        errors.append(campaign.status().shadow.policy - np.mean([COSTS[one.choice] for one in decisions]))
    assert abs(np.mean(errors)) < 4 * np.std(errors) / 5
    assert np.std(errors) < 1


@pytest.mark.parametrize("direction", ["max", "min"])
def test_the_lift_of_an_objective_with_a_feature_is_that_of_the_rewards(store, direction):
    """The difference of two Sortino ratios, computed from the history; a covariance of rewards would not do."""
    objective, sign = sb.Sortino(L=0.04, target=-0.1), 1.0 if direction == "max" else -1.0
    campaign = store.campaign(
        "lift", policy=sb.ScaleFreeUCB(objective=objective), arms=ARMS, control=ARMS[1], share=0.5, seed=3,
        direction=direction,
    )  # fmt: skip
    chance = np.random.default_rng(4)
    for _ in range(30):
        told = {one: float(chance.exponential(1.0) - 1.0 + (one.arm == ARMS[0])) for one in campaign.ask(count=20)}
        campaign.tell_many(told)
    campaign.amend(5, -4.0)
    ratios = []
    for who in ("policy", "control"):
        x = np.array([sign * row["reward"] for row in campaign.history().to_pylist() if row["by"] == who])
        assert len(x) > 200
        ratios.append((x.mean() + 0.1) / np.sqrt(0.04 + np.mean(np.minimum(x + 0.1, 0.0) ** 2)))
    lift = campaign.status().lift
    assert lift.value_difference == pytest.approx(sign * (ratios[0] - ratios[1]), rel=1e-9)
    low, high = lift.value_interval
    assert low < lift.value_difference < high


def test_bounds_that_no_longer_add_up_do_not_keep_a_campaign_from_being_paused(file_store):
    campaign = file_store.campaign("c", policy=sb.ScaleFreeUCB(L=0.1), arms=["a", "b", "c"])
    campaign.set(bounds={"b": (0.0, 0.4)})
    campaign.retire_arm("a")
    campaign.retire_arm("c")
    with pytest.raises(sb.errors.InvalidInputError, match="loosen bounds"):
        campaign.set(bounds={"b": (0.0, 0.5)})
    campaign.pause("trouble", fallback="b")
    assert campaign.ask().by == "fallback"
    campaign.resume()
    assert campaign.ask().arm == "b"
