"""The contract of storages: what a campaign relies on, whatever database keeps it."""

from __future__ import annotations

import math
import secrets
import threading
from collections.abc import Callable
from typing import Any

from ..errors import StoreError
from ..live.campaigns.records import DecisionRow, DecisionState, Event, EventKind
from ..live.campaigns.storage import Batch, Outcome, Records, Search, Storage
from .contract import refused, require, run_all

_SETTINGS, _SNAPSHOT = '{"policy": "π"}', '{"state": "initial"}'


def _create(storage: Storage) -> int:
    """The number of a new campaign."""
    name = f"contract {secrets.token_hex(6)}"
    storage.create(name, _SETTINGS, _SNAPSHOT)
    (row,) = storage.campaigns(name)
    return row.id


def _decision(number: int, arm: int, asked: float, expires: float | None) -> DecisionRow:
    state = DecisionState.PENDING.value
    return DecisionRow(number, arm, f"key {number}", f"worker {arm}", asked, expires, 0.5, state, None, None)


def _example(now: float) -> list[Batch]:
    """Two transactions: five decisions of three arms, of which two are rewarded and one is cancelled; an arm added."""
    decisions = [_decision(n, n % 3, now, now + 10.0 * (6 - n)) for n in range(1, 6)]
    first = [Event(row.number, EventKind.ASKED.value, row.number, row.arm, None, None, now) for row in decisions]
    later, outcomes = now + 5.0, [(1, EventKind.REWARDED, 0.25), (4, EventKind.REWARDED, -1.5)]
    second = [Event(6 + i, k.value, n, decisions[n - 1].arm, x, None, later) for i, (n, k, x) in enumerate(outcomes)]
    second.append(Event(8, EventKind.CANCELLED.value, 2, decisions[1].arm, None, None, later))
    second.append(
        Event(9, EventKind.ARM_ADDED.value, None, None, None, "a 100%_new arm", later, '{"by": "Ann"}', "a hash")
    )
    settled = [Outcome(n, DecisionState.REWARDED.value, x, later, '{"weight": 2}') for n, _, x in outcomes]
    settled.append(Outcome(2, DecisionState.CANCELLED.value, None, later))
    return [
        Batch(now, now + 10.0, first, decisions),
        Batch(later, now + 10.0, second, [], settled, '{"state": "after 9"}'),
    ]


def _filled(storage: Storage) -> tuple[int, list[Event], list[DecisionRow]]:
    """A campaign with the example, its events, and its decisions as they are afterwards."""
    campaign = _create(storage)
    batches = _example(storage.read(campaign, lambda records: records.head()).created)
    for batch in batches:
        storage.write(campaign, lambda records, batch=batch: records.append(batch))  # type: ignore[misc]
    rows = {row.number: row for row in batches[0].decisions}
    for outcome in batches[1].outcomes:
        rows[outcome.number] = rows[outcome.number]._replace(**outcome._asdict())
    return campaign, [event for batch in batches for event in batch.events], list(rows.values())


class StorageContract:
    """Tests that any storage must pass. Subclass it and parametrise ``open_storage``: a function that opens the same
    database each time, as another process would.

    Attributes
    ----------
    threads, each : int
        number of threads that write at the same time, and of transactions of each

    Examples
    --------
    >>> from sharpe_bandits.testing import StorageContract
    >>> class TestMine(StorageContract):
    ...     threads = 8
    """

    threads, each = 4, 10

    def test_campaigns_are_created_once(self, open_storage: Callable[[], Storage]) -> None:
        storage, other = open_storage(), open_storage()
        name = f'it\'s "{secrets.token_hex(4)}" / π'
        require(storage.campaigns(name) == [], "a campaign is there before it is created")
        storage.create(name, _SETTINGS, _SNAPSHOT)
        (row,) = other.campaigns(name)
        require((row.name, row.settings, row.events) == (name, _SETTINGS, 0), f"created and found again as {row}")
        other.create(name, "{}", "{}")
        require(storage.campaigns(name) == [row], "creating a campaign again changed it")
        snapshot = storage.read(row.id, lambda records: records.snapshot())
        require(snapshot == (0, _SNAPSHOT), f"the initial snapshot is {snapshot}")
        head = storage.read(row.id, lambda records: records.head())
        require(head[:4] == (row.created, 0, row.created, None), f"a new campaign stands at {head}")
        require(abs(head.now - head.created) < 60, "the clock ran far since the campaign was created")
        names = [one.name for one in storage.campaigns()]
        require(name in names and names == sorted(names), "campaigns must be listed by name")
        page = storage.campaigns(search=name[3:].upper(), after=name[:-1], count=1)
        require(page == [row], f"searched by a part of its name, and found as {page}")
        require(storage.campaigns(after=name, search=name) == [], "a page begins after a name")
        refused("an unknown campaign", lambda: storage.read(2**31 - 1, lambda records: records.head()), StoreError)

    def test_what_is_appended_is_read_by_all(self, open_storage: Callable[[], Storage]) -> None:
        storage = open_storage()
        campaign, events, decisions = _filled(storage)
        for reader in (storage, open_storage()):
            reader.read(campaign, lambda records: self._check(records, events, decisions))

    def _check(self, records: Records, events: list[Event], decisions: list[DecisionRow]) -> None:
        head = records.head()
        require(head[1:4] == (9, events[-1].at, events[0].at + 10.0), f"the campaign stands at {head}")
        require(head.hash == events[-1].hash, f"the hash of the last event is {head.hash}")
        require(records.snapshot() == (9, '{"state": "after 9"}'), "the snapshot is not the last")
        for after, upto in ((0, 9), (3, 7), (9, 9), (0, 0)):
            require(list(records.events(after, upto)) == events[after:upto], f"events {after} to {upto} differ")
        for first, last in ((1, None), (2, 4), (6, None)):
            require(list(records.history(first, last)) == decisions[first - 1 : last], "the history differs")
        for numbers, keys in (((3, 1, 99), ()), ((), ("key 5", "none", "key 2")), ((4,), ("key 4",))):
            rows = {row.number for row in records.decisions(numbers=numbers, keys=keys)}
            known = {n for n in (*numbers, *(int(key[4:]) for key in keys if key[4:].isdigit())) if n <= 5}
            require(rows == known, f"decisions {numbers} and {keys} are {rows}")
        require(records.decisions() == [], "decisions must be asked for by number or key")
        pending = [row for row in reversed(decisions) if row.state == DecisionState.PENDING]  # leases end in this order
        require(records.pending() == pending and records.pending(1) == pending[:1], "pending decisions differ")
        end = pending[0].expires or math.nan
        require(records.pending(until=end) == pending[:1], "leases that have ended differ")

    def test_the_log_is_searched(self, open_storage: Callable[[], Storage]) -> None:
        storage = open_storage()
        campaign, events, decisions = _filled(storage)

        def page(before: int | None, count: int, search: Search | None) -> list[tuple[Event, Any, Any]]:
            return storage.read(campaign, lambda records: records.log(before, count, search))

        entries = []
        for event in reversed(events):
            row = None if event.number is None else decisions[event.number - 1]
            entries.append((event, row and row.key, row and row.worker))
        require(page(None, 100, None) == entries, "the log is not newest first, with keys and workers")
        require(page(8, 3, None) == entries[2:5], "a page of the log differs")
        for search, expected in (
            (Search(4, "4", [], []), {4, 7}),
            (Search(None, "KEY 1".lower(), [], []), {1, 6}),
            (Search(None, "worker 2", [], []), {2, 5, 8}),
            (Search(None, "100%_n", [], []), {9}),
            (Search(None, "100_", [], []), set()),
            (Search(None, "ann", [], []), {9}),
            (Search(None, "nothing", [EventKind.CANCELLED.value], [0]), {3, 8}),
        ):
            seqs = {event.seq for event, _, _ in page(None, 100, search)}
            require(seqs == expected, f"{search} finds {seqs}, not {expected}")

    def test_a_transaction_that_fails_changes_nothing(self, open_storage: Callable[[], Storage]) -> None:
        storage = open_storage()
        campaign, events, decisions = _filled(storage)
        more = Event(10, EventKind.REWARDED.value, 3, 0, 1.0, None, events[-1].at)
        outcome = Outcome(3, DecisionState.REWARDED.value, 1.0, more.at)

        def work(records: Records) -> None:
            records.append(Batch(more.at, None, [more], [], [outcome], "{}"))
            raise ZeroDivisionError

        try:
            storage.write(campaign, work)
        except ZeroDivisionError:
            pass
        else:
            raise AssertionError("an error inside a transaction must reach its caller")
        storage.read(campaign, lambda records: self._check(records, events, decisions))

    def test_a_reader_sees_one_state(self, open_storage: Callable[[], Storage]) -> None:
        storage, other = open_storage(), open_storage()
        campaign, events, decisions = _filled(storage)

        def work(records: Records) -> None:
            records.head()
            writer = threading.Thread(target=_append_one, args=(other, campaign))
            writer.start()
            writer.join(30)
            self._check(records, events, decisions)

        storage.read(campaign, work)
        require(storage.read(campaign, lambda records: records.head()).events == 10, "what was written is not there")

    def test_writers_take_turns(self, open_storage: Callable[[], Storage]) -> None:
        """Transactions that read and then write, from many handles at once, lose and double nothing."""
        campaign, failures = _create(open_storage()), []

        def work() -> None:
            try:
                storage = open_storage()
                for _ in range(self.each):
                    _append_one(storage, campaign)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(self.threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        require(not failures, f"a writer failed: {failures[:1]}")
        seqs = open_storage().read(campaign, lambda records: [event.seq for event in records.events(0, 10**6)])
        require(seqs == list(range(1, self.threads * self.each + 1)), f"the log has the events {seqs}")

    def test_a_campaign_is_that_of_an_agent(self, open_storage: Callable[[], Storage]) -> None:
        """Through two handles in turn, with rewards that come later: choice for choice, and the log can be verified."""
        from ..live.campaigns import Store
        from ..policies.scale_free import ScaleFreeUCB

        policy, name, arms = ScaleFreeUCB(L=0.1), f"contract {secrets.token_hex(6)}", ["a", "b", "c"]
        stores = [Store(open_storage()), Store(open_storage())]
        agent, waiting = policy.agent(arms), []
        for turn in range(30):
            campaign = stores[turn % 2].campaign(name, policy=policy, arms=arms)
            decision = campaign.ask(key=f"turn {turn}")
            require(decision.arm == agent.ask(), f"decision {decision.number} is not that of an agent")
            require(campaign.ask(key=f"turn {turn}") == decision, "the same key gave another decision")
            waiting.append(decision)
            if turn % 3 == 2:
                for told in reversed(waiting):
                    reward = math.sin(told.number) + (told.arm == "b")
                    campaign.tell(told, reward)
                    agent.tell(told.arm, reward)
                waiting = []
        for store in stores:
            campaign = store.campaign(name)
            require(campaign.agent().to_json() == agent.to_json(), "the state is not that of the agent")
            verification = campaign.verify(choices=True)
            require(verification.ok, str(verification))


def _append_one(storage: Storage, campaign: int) -> None:
    """Add an event after the last one."""

    def work(records: Records) -> None:
        head = records.head()
        event = Event(head.events + 1, EventKind.CLOCK_ACCEPTED.value, None, None, None, None, head.clock)
        records.append(Batch(head.clock, head.next_expiry, [event]))

    storage.write(campaign, work)


def check_storage(open_storage: Callable[[], Storage]) -> None:
    """Run all tests of :class:`StorageContract`; an AssertionError says what is wrong.

    Parameters
    ----------
    open_storage : Callable[[], Storage]
        opens the same database each time, as another process would
    """
    run_all(StorageContract(), open_storage)
