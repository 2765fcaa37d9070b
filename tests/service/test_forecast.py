"""When this campaign will be decided, and what it has gained: against the library's own test on longer campaigns."""

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.service.forecast import gain, per_day, rewards_to_decide


def agent_of(copies, rewards):
    agent = sb.policies.RoundRobin(sb.Mean()).agent(["good", "bad"])
    for _ in range(copies):
        for pair in rewards:
            for reward in pair:
                agent.tell(agent.ask(), reward)
    return agent


def test_the_rewards_that_decide_are_those_at_which_the_leader_is_separated():
    """The same rewards again and again have the same moments: a campaign so much longer is decided, a shorter is not."""
    rewards = [(0.9, -0.5), (-0.1, 0.6), (0.7, -0.2), (-0.3, 0.3)] * 4
    now = agent_of(1, rewards)
    assert not now.leader().probably_best
    total = rewards_to_decide(now) + 2 * len(rewards)
    copies = total / (2 * len(rewards))
    assert agent_of(int(np.ceil(1.1 * copies)), rewards).leader().probably_best
    assert not agent_of(int(np.floor(0.9 * copies)), rewards).leader().probably_best
    assert rewards_to_decide(agent_of(int(np.ceil(1.1 * copies)), rewards)) == 0
    same = [(0.5, 0.5), (-0.5, -0.5)] * 8
    assert rewards_to_decide(agent_of(1, same)) is None, "equal arms are never separated"


def test_gain_over_an_even_split_by_hand():
    agent = sb.policies.RoundRobin(sb.Mean()).agent(["good", "bad"])
    for arm, rewards in (("good", [1.0, 2.0, 3.0, 2.0, 1.0, 3.0]), ("bad", [0.0, 1.0])):
        for reward in rewards:
            agent.tell(arm, reward)
    # Shares 3/4 and 1/4 against 1/2 each; means 2 and 0.5: (2 - 0.5) / 4.
    estimate = gain(agent)
    assert estimate.mean == pytest.approx(0.375)
    assert estimate.se == pytest.approx(0.25 * (0.8 / 6 + 0.5 / 2) ** 0.5)


def test_no_rate_in_the_first_hour_and_none_from_a_cache(store, http, monkeypatch):
    import datetime

    from sharpe_bandits.live.campaigns import status as statuses

    campaign = store.campaign("desks")
    campaign.tell_many(dict.fromkeys(campaign.ask(count=48), 0.5))
    assert http.get("/api/campaigns/desks/view").json()["rewards_per_day"] is None
    activity = campaign.activity()
    later = [per_day(activity, activity.start + hours * 3600, "rewarded").mean for hours in (2, 24, 48)]
    assert later == pytest.approx([576, 48, 24])
    real = statuses.utc_time
    paces = []
    for hours in (2, 24):
        monkeypatch.setattr(statuses, "utc_time", lambda t, h=hours: real(t) + datetime.timedelta(hours=h))
        paces.append(http.get("/api/campaigns/desks/view").json()["rewards_per_day"]["mean"])
    assert paces == pytest.approx([576, 48], rel=0.02)
