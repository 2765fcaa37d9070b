"""A log that was changed is noticed."""

import json

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns.records import Decider
from sharpe_bandits.live.campaigns.state import Draw, State
from tests.live.campaigns.desks import make, pay


def test_a_log_that_was_changed_is_noticed(tmp_path):
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
        ("UPDATE sharpe_bandits_campaigns SET hash = NULL", "the hash of the last event"),
        ("DELETE FROM sharpe_bandits_events WHERE seq = 50", "event 50 is missing"),
        ("DELETE FROM sharpe_bandits_decisions WHERE number = 9", "decision 9 is missing"),
        ("DELETE FROM sharpe_bandits_events WHERE seq = 300", "the log has 299 events, but the campaign has 300"),
    ):
        copy = tmp_path / "copy.db"
        copy.write_bytes(path.read_bytes())
        with sb.Store(copy) as store:
            with store._storage.connection() as driver:
                driver.execute(change)
            verification = store.campaign("desks").verify()
            assert not verification.ok, change
            assert said in str(verification)
    assert json.dumps(campaign.status().to_dict())


def test_a_campaign_pins_the_revision_of_its_choices(file_store, monkeypatch):
    """A release that chooses otherwise says so in the log, and what an earlier one chose is not called wrong."""
    policy = sb.ScaleFreeUCB(L=1e-4)
    campaign = file_store.campaign("c", policy=policy, arms=["a", "b", "c"])
    for i in range(30):
        campaign.tell(campaign.ask(), 0.01 * ((7 * i) % 5))
    monkeypatch.setattr(sb.ScaleFreeUCB, "choices_revision", 2)
    monkeypatch.setattr(State, "draw", lambda *arguments: Draw(2, 1.0, Decider.POLICY, 2))  # another release
    campaign.ask(count=3)
    assert campaign.log(search="choices revised")[0].details == {"from": 1, "to": 2}
    verification = campaign.verify(choices=True)
    assert verification.ok
    assert "30 choices of decisions 1 to 30 were made by another revision of SF-UCB" in str(verification)
    monkeypatch.undo()
    assert "3 choices of decisions 31 to 33" in str(
        campaign.verify(choices=True)
    )  # the old release does not know the new choices
