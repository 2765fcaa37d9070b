"""Activity of a campaign: what the decisions say, whatever the width."""

import numpy as np
import pytest

from tests.live.campaigns.desks import ARMS, make, pay


def test_activity_counts_what_the_log_has(store, clock):
    """Brought up to date step by step, and made at once, it is what the decisions say, whatever the width."""
    campaign = make(store, lease=None)
    known = None
    for step in range(6):
        for decision in campaign.ask(count=5):
            if decision.number % 4:
                campaign.tell(decision, pay(decision))
        known = campaign.activity(known)
        clock[0] += 50.0 * 3**step if store.single_writer else 0.0
        campaign.accept_clock()  # so much time has really passed
    campaign.cancel(4)
    told = campaign.decision(3).told
    campaign.amend(3, 0.25)
    assert campaign.decision(3).told == told
    known, anew = campaign.activity(known), campaign.activity()
    rows = campaign.history().to_pylist()
    for found in (known, anew):
        n, mean, variance, third, fourth, *_ = found.statistics()
        for k, arm in enumerate(ARMS):
            rewards = [row["reward"] for row in rows if row["arm"] == arm and row["reward"] is not None]
            assert found.counts["asked"][:, k].sum() == sum(row["arm"] == arm for row in rows)
            assert n[-1, k] == len(rewards)
            assert mean[-1, k] == pytest.approx(np.mean(rewards))
            assert variance[-1, k] == pytest.approx(np.var(rewards, ddof=1))
            deviations = np.array(rewards) - np.mean(rewards)
            assert third[-1, k] == pytest.approx(np.mean(deviations**3), abs=1e-12)
            assert fourth[-1, k] == pytest.approx(np.mean(deviations**4))
        assert found.counts["cancelled"].sum() == 1
        assert len(found.times) <= 240
        first = found.start + found.width
        assert found.counts["asked"][0].sum() == sum(row["asked"].timestamp() < first for row in rows)
    if store.single_writer:
        assert known.width > 1
