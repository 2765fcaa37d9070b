"""Actions of ``sharpe-bandits campaign`` for whoever operates a store: backup, restore, archives, and its clock."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .campaign import add_action, open_campaign, say, store_target


def add(actions: Any) -> None:
    """Add the actions."""
    backup = add_action(actions, "backup", "copy a store that may be in use, and verify the copy", _backup, named=False)
    backup.add_argument("--out", type=Path, required=True, metavar="FILE", help="a file that does not exist yet")
    restore = add_action(actions, "restore", "make a new store from a backup, and verify it", _restore, named=False)
    restore.add_argument("file", type=Path, help="what backup wrote")
    old = add_action(actions, "archive", "move what happened before a time to Parquet files", _archive)
    old.add_argument("--before", type=_moment, required=True, metavar="DATE", help="such as 2026-01-31, in UTC")
    old.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="a folder that does not exist yet")
    add_action(actions, "accept-clock", "record again after the clock of a store was set back", _accept_clock)


def _backup(options: argparse.Namespace) -> int:
    from ...live.campaigns.backup import back_up

    target = store_target(options)
    back_up(target, options.out)
    # A dump can only be verified where it is restored.
    return _report(options, str(options.out), None if "://" in target else str(options.out))


def _restore(options: argparse.Namespace) -> int:
    from ...live.campaigns.backup import restore

    restore(options.file, store_target(options))
    return _report(options, str(options.file), store_target(options))


def _report(options: argparse.Namespace, file: str, checked: str | None) -> int:
    from ...live.campaigns.backup import verified

    results = {} if checked is None else dict(verified(checked))
    problems = {name: result.problems for name, result in results.items() if not result.ok}
    events = sum(result.events for result in results.values())
    words = (
        f"{file}: {len(results)} campaign{'' if len(results) == 1 else 's'} with {events:,} events verified"
        if checked
        else f"{file}: written"
    )
    lines = [words, *(f"{name}: {problem}" for name, found in problems.items() for problem in found)]
    say(options, {"file": file, "campaigns": len(results), "events": events, "problems": problems}, "\n".join(lines))
    return 1 if problems else 0


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _archive(options: argparse.Namespace) -> int:
    from ...live.campaigns.archive import archive

    campaign = open_campaign(options)
    events, decisions = archive(campaign, options.before, options.out)
    verification = campaign.verify()
    words = f"campaign {campaign.name}: {events:,} events and {decisions:,} decisions are in {options.out} now"
    say(options, {"events": events, "decisions": decisions, "ok": verification.ok}, f"{words}; {verification}")
    return 0 if verification.ok else 1


def _accept_clock(options: argparse.Namespace) -> None:
    campaign = open_campaign(options)
    campaign.accept_clock()
    say(options, {"accepted": True}, f"campaign {campaign.name}: the clock is accepted as it is now")
