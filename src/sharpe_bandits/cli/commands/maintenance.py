"""Actions of ``sharpe-bandits campaign`` for whoever operates a store: copies, backups, archives, and its clock."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .campaign import Result, add_action, open_campaign, open_store, store_target

if TYPE_CHECKING:
    from ...live.campaigns import Verification


def add(actions: Any) -> None:
    """Add the actions."""
    copy = add_action(actions, "copy", "copy campaigns to another store, and verify the copies", _copy, named=False)
    copy.add_argument("names", nargs="*", metavar="name", help="name of a campaign (all)")
    copy.add_argument("--to", required=True, metavar="STORE", help="file, or postgresql://user@host/database")
    backup = add_action(actions, "backup", "copy a store that may be in use, and verify the copy", _backup, named=False)
    backup.add_argument("--out", type=Path, required=True, metavar="FILE", help="a file that does not exist yet")
    restore = add_action(actions, "restore", "copy the campaigns of a backup, and verify them", _restore, named=False)
    restore.add_argument("file", type=Path, help="what backup wrote")
    old = add_action(actions, "archive", "move events before a time to a Parquet file", _archive)
    old.add_argument("--before", type=_moment, required=True, metavar="DATE", help="such as 2026-01-31, in UTC")
    old.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="a folder that does not exist yet")
    add_action(actions, "accept-clock", "record again after the clock of a store was set back", _accept_clock)


def _copy(options: argparse.Namespace) -> Result:
    from ...live.campaigns import Store

    with open_store(options) as source:
        for name in options.names:
            source.campaign(name)  # raises before another store is created
        with Store(options.to) as target:
            results = source.copy_to(target, options.names)
        for one in source.campaigns():
            if one.name in results and (missing := one.events - results[one.name].events) > 0:
                results[one.name].add(
                    f"{missing:,} events were recorded in {source.name} meanwhile, and are not in the copy; stop its "
                    "workers, and copy it to another store"
                )
        return _report(target.name, results)


def _backup(options: argparse.Namespace) -> Result:
    from ...live.campaigns.backup import back_up

    with open_store(options) as store:
        return _report(str(options.out), back_up(store, options.out))


def _restore(options: argparse.Namespace) -> Result:
    from ...live.campaigns import Store

    with Store(options.file, create=False) as backup, Store(store_target(options)) as target:
        return _report(target.name, backup.copy_to(target))


def _report(where: str, results: dict[str, Verification]) -> Result:
    problems = {name: result.problems for name, result in results.items() if not result.ok}
    events = sum(result.events for result in results.values())
    words = f"{where}: {len(results)} campaign{'' if len(results) == 1 else 's'} with {events:,} events verified"
    lines = [words, *(f"{name}: {problem}" for name, messages in problems.items() for problem in messages)]
    data = {"file": where, "campaigns": len(results), "events": events, "problems": problems}
    return data, "\n".join(lines), problems


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _archive(options: argparse.Namespace) -> Result:
    from ...live.campaigns.archive import archive

    campaign = open_campaign(options)
    events = archive(campaign, options.before, options.out)
    verification = campaign.verify()
    words = f"campaign {campaign.name}: {events:,} events are in {options.out} now; {verification}"
    return {"events": events, "ok": verification.ok}, words, not verification.ok


def _accept_clock(options: argparse.Namespace) -> Result:
    campaign = open_campaign(options)
    campaign.accept_clock()
    return {"accepted": True}, f"campaign {campaign.name}: the clock is accepted as it is now"
