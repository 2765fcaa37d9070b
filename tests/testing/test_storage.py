"""The contract of storages: a storage of one's own passes it, and one with a flaw does not."""

import copy
import threading
import time

import pytest

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns.storage import CampaignRow, Head
from sharpe_bandits.testing import check_storage


class Memory:
    """Campaigns in dictionaries, as someone else might write a storage: a transaction works on a copy."""

    name, single_writer = "memory", True

    def __init__(self):
        self.lock, self.rows, self.kept = threading.RLock(), [], {}

    def campaigns(self, name=None, *, search="", after="", count=None):
        rows = sorted((row for row in self.rows if name in (None, row.name)), key=lambda row: row.name)
        return [row for row in rows if search.lower() in row.name.lower() and row.name > after][:count]

    def create(self, name, settings, snapshot):
        with self.lock:
            if not self.campaigns(name):
                row = CampaignRow(len(self.rows) + 1, name, settings, time.time(), 0)
                self.rows.append(row)
                self.kept[row.id] = MemoryRecords(row.created, snapshot)

    def records(self, campaign):
        if campaign not in self.kept:
            raise sb.errors.StoreError("there is no such campaign")
        return self.kept[campaign]

    def read(self, campaign, work):
        return work(copy.deepcopy(self.records(campaign)))

    def write(self, campaign, work):
        with self.lock:
            changed = copy.deepcopy(self.records(campaign))
            result = work(changed)
            self.kept[campaign] = changed
            return result

    def check(self):
        return ""

    def close(self):
        pass


class MemoryRecords:
    def __init__(self, created, snapshot):
        self.created = self.clock = created
        self.expiry, self.kept, self.past, self.rows = None, (0, snapshot), [], {}

    def head(self):
        return Head(
            self.created,
            len(self.past),
            self.clock,
            self.expiry,
            time.time(),
            self.past[-1].hash if self.past else None,
        )

    def snapshot(self):
        return self.kept

    def events(self, after, upto):
        return self.past[after:upto] if upto > 0 else []

    def decisions(self, *, numbers=(), keys=()):
        return [row for row in self.rows.values() if row.number in numbers or row.key in keys]

    def history(self, first, last):
        return [row for n, row in self.rows.items() if first <= n and (last is None or n <= last)]

    def pending(self, count=None, *, until=None):
        rows = [row for row in self.rows.values() if row.state == "pending" and (until is None or row.expires <= until)]
        return sorted(rows, key=lambda row: (row.expires or 0.0, row.number))[:count]

    def log(self, before, count, search):
        entries = []
        for event in reversed(self.past):
            row = self.rows.get(event.number)
            key, worker = (row.key, row.worker) if row else (None, None)
            if search is None:
                matches = True
            elif search.number is not None:
                matches = event.number == search.number
            else:
                texts = [text.lower() for text in (event.name, event.details, key, worker) if text]
                matches = event.kind in search.kinds or event.arm in search.arms
                matches = matches or any(search.text in text for text in texts)
            if matches and (before is None or event.seq < before):
                entries.append((event, key, worker))
        return entries[:count]

    def append(self, batch):
        self.past += batch.events
        self.clock, self.expiry = batch.clock, batch.next_expiry
        self.rows.update({row.number: row for row in batch.decisions})
        for outcome in batch.outcomes:
            self.rows[outcome.number] = self.rows[outcome.number]._replace(**outcome._asdict())
        if batch.snapshot is not None:
            self.kept = batch.events[-1].seq, batch.snapshot


def test_a_storage_of_one_s_own_keeps_the_contract():
    storage = Memory()
    check_storage(lambda: storage)
    with sb.Store(storage) as store:
        campaign = store.campaign("mine", policy=sb.policies.UCB1(), arms=2)
        campaign.tell(campaign.ask(), 0.5)
        assert campaign.history()["reward"].to_pylist() == [0.5]
        assert campaign.activity().counts["asked"].sum() == 1


class NotRolledBack(Memory):
    def write(self, campaign, work):
        with self.lock:
            return work(self.records(campaign))


class NotExclusive(Memory):
    def write(self, campaign, work):
        changed = copy.deepcopy(self.records(campaign))
        time.sleep(0.001)
        result = work(changed)
        self.kept[campaign] = changed
        return result


class NotOneState(Memory):
    def read(self, campaign, work):
        class Latest:
            __getattr__ = staticmethod(lambda name: getattr(self.records(campaign), name))

        self.records(campaign)
        return work(Latest())


class Overwrites(Memory):
    def create(self, name, settings, snapshot):
        self.rows = [row for row in self.rows if row.name != name]
        super().create(name, settings, snapshot)


class ForgetsKeys(Memory):
    def create(self, name, settings, snapshot):
        super().create(name, settings, snapshot)
        for records in self.kept.values():
            records.decisions = lambda *, numbers=(), keys=(): []


@pytest.mark.parametrize("flawed", [NotRolledBack, NotExclusive, NotOneState, Overwrites, ForgetsKeys])
def test_a_flaw_is_noticed(flawed):
    storage = flawed()
    with pytest.raises(AssertionError):
        check_storage(lambda: storage)
