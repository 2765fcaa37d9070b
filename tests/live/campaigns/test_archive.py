"""Old decisions in files: everything that needs the whole log says the same as before."""

import shutil
from datetime import UTC, datetime, timedelta

import pyarrow.parquet as pq
import pytest

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns.archive import archive

ARMS = ["a", "b", "c"]


def played(store, clock):
    """A campaign over ten days, with a decision that is pending all the time from the fifth day on."""
    campaign = store.campaign("c", policy=sb.ScaleFreeUCB(L=0.1), arms=ARMS, explore=0.2, seed=1)
    for day in range(10):
        clock[0] = 86_400.0 * (day - 10)
        if day:
            campaign.accept_clock()
        if day == 5:
            campaign.ask(key="slow")
        told = {one: 0.1 * (one.number % 7) for one in campaign.ask(keys=[f"{day}-{k}" for k in range(40)])}
        campaign.tell_many(told)
    clock[0] = 0.0
    campaign.accept_clock()
    return campaign


def at(day):
    import time

    return datetime.fromtimestamp(time.time() + 86_400.0 * (day - 10) - 43_200, UTC)


@pytest.fixture
def campaign(tmp_path, clock):
    clock[0] = -10 * 86_400.0
    with sb.Store(tmp_path / "campaigns.db") as store:
        yield played(store, clock)


def test_the_whole_log_is_as_before(campaign, file_store, tmp_path):
    other = sb.ScaleFreeUCB(L=0.1, c=0.1)
    before = campaign.status(), campaign.history(), campaign.evaluate(other), campaign.verify(choices=True)
    assert archive(campaign, at(3), tmp_path / "first") >= 240
    assert archive(campaign, at(9), tmp_path / "second") > 0
    fresh = file_store.campaign("c")
    status = fresh.status()
    assert (status.arms, status.leader, status.leader_since) == (
        before[0].arms, before[0].leader, before[0].leader_since
    )  # fmt: skip
    assert fresh.history().equals(before[1])
    assert fresh.history(first=100, count=50).equals(before[1].slice(99, 50))
    assert fresh.evaluate(other) == before[2]
    verification = fresh.verify(choices=True)
    assert verification.ok, verification
    assert (verification.events, verification.decisions) == (before[3].events, before[3].decisions)
    assert all(entry.seq > 0 for entry in fresh.log(count=1000))
    assert fresh.ask(key="9-0").number == before[1]["key"].to_pylist().index("9-0") + 1
    fresh.tell(fresh.ask(), 0.5)
    fresh.amend(before[1].num_rows, 0.25)
    assert fresh.verify(choices=True).ok


def test_keys_numbers_and_rewards_of_old_decisions_are_known(campaign, tmp_path):
    first, expired = campaign.decision(1), campaign.ask(key="slow")
    archive(campaign, at(9), tmp_path / "old")
    made = campaign.status().decisions
    assert campaign.ask(key=first.key) == first
    campaign.tell(first.key, first.reward)
    with pytest.raises(sb.errors.ConflictError, match="has the reward"):
        campaign.tell(first.key, 17.0)
    campaign.tell("slow", 0.3)
    campaign.amend(first, 0.9)
    assert (campaign.decision(1).reward, campaign.decision(expired.number).reward) == (0.9, 0.3)
    assert campaign.status().decisions == made
    assert campaign.verify(choices=True).ok


def test_without_the_files_workers_go_on_and_a_change_in_them_is_found(campaign, file_store, tmp_path):
    archive(campaign, at(5), tmp_path / "old")
    shutil.move(tmp_path / "old", tmp_path / "elsewhere")
    fresh = file_store.campaign("c")
    fresh.tell(fresh.ask(), 0.5)
    assert fresh.status().decisions == 402
    with pytest.raises(sb.errors.StoreError, match="put it back"):
        fresh.verify()
    shutil.move(tmp_path / "elsewhere", tmp_path / "old")
    assert fresh.verify().ok
    path = tmp_path / "old" / "log.parquet"
    table = pq.read_table(path)
    rewards = [None if x is None else x + 0.01 for x in table["reward"].to_pylist()]
    pq.write_table(table.set_column(table.column_names.index("reward"), table.schema.field("reward"), [rewards]), path)
    assert not fresh.verify().ok


def test_the_command(campaign, tmp_path, capsys):
    from sharpe_bandits.cli.program import main

    command, store = ["campaign", "archive", "c"], ["--store", str(tmp_path / "campaigns.db")]
    for before, out, status, said in (
        (datetime(2000, 1, 1, tzinfo=UTC), tmp_path / "x", 2, "nothing that"),
        (at(5), tmp_path, 2, "exists"),
        (at(5), tmp_path / "old", 0, "events are in"),
    ):
        assert main([*command, *store, "--before", before.isoformat(), "--out", str(out)]) == status
        output = capsys.readouterr()
        assert said in output.out + output.err
    assert main([*command, *store, "--before", "2026-02-30", "--out", str(tmp_path / "y")]) == 2
    assert "--before: must be a date such as 2026-01-31, got '2026-02-30'" in capsys.readouterr().err


def test_any_store_archives(store, tmp_path):
    campaign = store.campaign("c", policy=sb.ScaleFreeUCB(L=0.1), arms=ARMS, seed=1)
    campaign.tell_many({one: 0.1 * (one.number % 7) for one in campaign.ask(count=200)})
    before = campaign.history()
    assert archive(campaign, datetime.now(UTC) + timedelta(hours=1), tmp_path / "old") == 400
    campaign.tell(campaign.ask(), 0.3)
    assert campaign.history(first=1, count=200).equals(before)
    verification = campaign.verify(choices=True)
    assert verification.ok, verification
    assert (verification.events, verification.decisions) == (402, 201)


def test_a_campaign_that_rests_is_archived_up_to_its_snapshot(file_store, tmp_path):
    """Every event is old, but opening the campaign needs those after the snapshot."""
    campaign = file_store.campaign("c", policy=sb.ScaleFreeUCB(L=0.1), arms=ARMS, seed=1)
    for number in range(300):
        campaign.tell(campaign.ask(key=f"order-{number}"), 0.1 * (number % 7))
    before = campaign.history()
    assert 0 < archive(campaign, datetime.now(UTC) + timedelta(days=1), tmp_path / "old") < 600
    assert campaign.history().equals(before)
    assert campaign.verify(choices=True).ok
    assert campaign.status().decisions == 300
