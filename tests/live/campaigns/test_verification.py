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
        (
            "UPDATE sharpe_bandits_events SET reward = 0.5 WHERE number = 7 AND reward IS NOT NULL",
            "its hash is not that of the log",
        ),
        ("UPDATE sharpe_bandits_decisions SET reward = 0.5 WHERE number = 7", "decision 7"),
        ("UPDATE sharpe_bandits_decisions SET arm = 0 WHERE number = 8", "decision 8"),
        ("UPDATE sharpe_bandits_decisions SET probability = 0.5 WHERE number = 8", "its hash is not that of the log"),
        ("UPDATE sharpe_bandits_decisions SET worker = 'me' WHERE number = 8", "its hash is not that of the log"),
        ("UPDATE sharpe_bandits_decisions SET details = '{}' WHERE number = 8", "decision 8 does not agree"),
        ("UPDATE sharpe_bandits_campaigns SET settings = settings || ' '", "its hash is not"),
        ("UPDATE sharpe_bandits_campaigns SET hash = 'x'", "the hash of the last event"),
        ("DELETE FROM sharpe_bandits_events WHERE seq = 50", "event 50 is missing"),
        ("DELETE FROM sharpe_bandits_decisions WHERE number = 9", "decision 9 is missing"),
        ("DELETE FROM sharpe_bandits_events WHERE seq = 300", "the log has 299 events, but the campaign has 300"),
    ):
        copy = tmp_path / "copy.db"
        copy.write_bytes(path.read_bytes())
        connection = sqlite3.connect(copy)
        connection.execute(change)
        connection.commit()
        connection.close()
        with sb.Store(copy) as store:
            verification = store.campaign("desks").verify()
            assert not verification.ok, change
            assert said in str(verification)
    assert json.dumps(campaign.status().to_dict())
