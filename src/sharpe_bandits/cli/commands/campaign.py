"""``sharpe-bandits campaign``: durable campaigns from the command line."""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import os
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._support import console
from ..._support.files import write_atomically
from ...errors import InvalidInputError, UnreadableDataError, shown
from ...live.campaigns.settings import optional_settings, policy_from_text

if TYPE_CHECKING:
    from ...live.campaigns import Campaign, Store

#: Environment variable that names the store, and the default store; --store overrides both.
_VARIABLE, _DEFAULT = "SHARPE_BANDITS_STORE", "campaigns.db"
#: Number of rewards imported per commit.
_BATCH = 1000


def add(campaign: argparse.ArgumentParser) -> None:
    """Add the options."""
    actions = campaign.add_subparsers(required=True, metavar="action")

    create = _action(actions, "create", "create a campaign, or check that it exists", _create)
    create.add_argument("--policy", required=True, help="kind or name, with parameters as in SF-UCB:L=1e-5,c=0.5")
    create.add_argument("--L", type=float, help="regulariser of the policy, in units of the variance of a reward")
    create.add_argument("--risk-free-per-round", type=float, default=0.0, metavar="RATE", help="risk-free rate (0)")
    create.add_argument("--arms", nargs="+", required=True, metavar="ARM", help="names of the arms")
    for name, setting in optional_settings().items():
        create.add_argument(f"--{name.replace('_', '-')}", type=setting.metadata["kind"], help=setting.metadata["help"])

    ask = _action(actions, "ask", "choose the arm to play next", _ask)
    ask.add_argument("--key", help="idempotency key: the same key returns the same decision")
    ask.add_argument("--count", type=int, metavar="N", help="number of decisions, made in one commit")
    ask.add_argument("--worker", help="name of the worker that asks (host and process)")

    tell = _action(actions, "tell", "record the reward of a decision", _tell)
    tell.add_argument("number", type=int, help="number of the decision")
    tell.add_argument("reward", type=float)

    cancel = _action(actions, "cancel", "withdraw a decision that will not be played", _cancel)
    cancel.add_argument("number", type=int, help="number of the decision")

    load = _action(actions, "import", "record rewards from a CSV file", _import)
    load.add_argument("file", type=Path, help="CSV file with a column reward, and a column number or key")

    for name, words in (("add-arm", "add an arm"), ("retire-arm", "stop playing an arm")):
        change = _action(actions, name, words, _change_arms)
        change.add_argument("arm")
        change.set_defaults(change=name)

    _action(actions, "status", "show the state of the campaign", _status)
    history = _action(actions, "history", "show the last decisions", _history)
    history.add_argument("--last", type=int, default=20, metavar="N", help="number of decisions (20)")
    verify = _action(actions, "verify", "replay the log and compare it with the state and all decisions", _verify)
    verify.add_argument("--choices", action="store_true", help="also recompute every choice of the policy")
    export = _action(actions, "export", "write all decisions to a file", _export)
    export.add_argument("--out", type=Path, required=True, help=".csv, .parquet or .json")
    _action(actions, "list", "list the campaigns of a store", _list, named=False)
    _action(actions, "upgrade", "upgrade a store written by an older release", _upgrade, named=False)


def _action(actions: Any, name: str, words: str, do: Any, named: bool = True) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=words)
    if named:
        parser.add_argument("name", help="name of the campaign")
        parser.add_argument("--module", action="append", default=[], metavar="MODULE", help="Python module "
                            "that defines a custom policy, imported first")  # fmt: skip
    parser.add_argument("--store", help=f"file, or postgresql://user@host/database (${_VARIABLE}, or {_DEFAULT})")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(do=do, creates=name == "create")
    return parser


def _store(options: argparse.Namespace) -> Store:
    from ...live.campaigns import Store

    return Store(options.store or os.environ.get(_VARIABLE) or _DEFAULT, create=options.creates)


def _open(options: argparse.Namespace) -> Campaign:
    import_modules(options.module)
    return _store(options).campaign(options.name)


def import_modules(modules: list[str]) -> None:
    """Import the modules that users name with --module."""
    for module in modules:
        if "" not in sys.path:
            sys.path.insert(0, "")
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise InvalidInputError(f"--module {module} cannot be imported: {error}") from error


def _say(options: argparse.Namespace, data: Any, text: Any) -> None:
    """Print data as JSON if requested, otherwise as text or a rich renderable."""
    if options.json:
        print(json.dumps(data, default=datetime.isoformat, ensure_ascii=False))
    elif isinstance(text, str):
        print(text)
    else:
        console.show(text)


def _create(options: argparse.Namespace) -> None:
    import_modules(options.module)
    policy = policy_from_text(options.policy, options.L, options.risk_free_per_round)
    settings: Any = {name: getattr(options, name) for name in optional_settings()}
    campaign = _store(options).campaign(options.name, policy=policy, arms=options.arms, **settings)
    words = f"campaign {campaign.name}: {policy.name} on {len(campaign.arms)} arms"
    _say(options, {"name": campaign.name, **campaign.settings}, words)


def _ask(options: argparse.Namespace) -> None:
    found = _open(options).ask(count=options.count, key=options.key, worker=options.worker)
    made = found if isinstance(found, list) else [found]
    data = [decision.to_dict() for decision in made]
    lines = (f"{decision.number}\t{decision.arm}" for decision in made)
    _say(options, data if isinstance(found, list) else data[0], "\n".join(lines))


def _tell(options: argparse.Namespace) -> None:
    campaign = _open(options)
    campaign.tell(options.number, options.reward)
    _say(
        options,
        campaign.decision(options.number).to_dict(),
        f"reward {options.reward:g} recorded for decision {options.number}",
    )


def _cancel(options: argparse.Namespace) -> None:
    campaign = _open(options)
    campaign.cancel(options.number)
    _say(options, campaign.decision(options.number).to_dict(), f"decision {options.number} cancelled")


def _change_arms(options: argparse.Namespace) -> None:
    campaign = _open(options)
    {"add-arm": campaign.add_arm, "retire-arm": campaign.retire_arm}[options.change](options.arm)
    status = campaign.status()
    active = [arm.arm for arm in status.arms if not arm.retired]
    _say(options, {"arms": active}, f"active arms: {', '.join(map(str, active))}")


def _import(options: argparse.Namespace) -> int:
    campaign = _open(options)
    lines, pairs = _rewards(options.file, campaign)
    wrong: list[dict[str, Any]] = []
    for begin in range(0, len(pairs), _BATCH):
        batch = pairs[begin : begin + _BATCH]
        for line, refused in zip(lines[begin:], campaign.tell_many(batch, strict=False), strict=False):
            if refused is not None:
                wrong.append({"line": line, "error": str(refused)})
    done = len(pairs) - len(wrong)
    summary = "1 reward recorded" if done == 1 else f"{done:,} rewards recorded"
    text = "\n".join([summary, *(f"line {item['line']}: {item['error']}" for item in wrong)])
    _say(options, {"recorded": done, "refused": wrong}, text)
    return 1 if wrong else 0


def _rewards(path: Path, campaign: Campaign) -> tuple[list[int], list[tuple[int, float]]]:
    """Line numbers, and pairs of a decision and its reward."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            heads = reader.fieldnames or []
            by = "number" if "number" in heads else "key"
            if "reward" not in heads or by not in heads:
                raise InvalidInputError(
                    f"{path} needs a column reward and a column number or key; its first line is {shown(heads)}"
                )
            rows = [(reader.line_num, row[by], row["reward"]) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnreadableDataError(f"{path} cannot be read: {error}") from None
    known = campaign.numbers_of([key for _, key, _ in rows]) if by == "key" else {}
    pairs = []
    for line, which, reward in rows:
        try:
            number = int(which) if by == "number" else known[which]
            pairs.append((number, float(reward)))
        except (ValueError, TypeError, KeyError):
            raise InvalidInputError(
                f"line {line} of {path} has {by} {shown(which)} and reward {shown(reward)}; they must be a decision "
                "of the campaign and a number; nothing was recorded"
            ) from None
    return [line for line, _, _ in rows], pairs


def _status(options: argparse.Namespace) -> None:
    status = _open(options).status()
    _say(options, status.to_dict(), status)


def _history(options: argparse.Namespace) -> None:
    rows = _open(options).history(last=options.last).to_pylist()
    heads = ["decision", "arm", "asked", "state", "reward", "probability", "key"]
    cells = [
        [
            str(row["number"]), str(row["arm"]), f"{row['asked']:%Y-%m-%d %H:%M:%S}", row["state"],
            "" if row["reward"] is None else f"{row['reward']:g}", f"{row['probability']:.3g}", row["key"] or "",
        ]
        for row in rows
    ]  # fmt: skip
    _say(options, rows, console.Numbers(heads, cells))


def _verify(options: argparse.Namespace) -> int:
    found = _open(options).verify(choices=options.choices)
    _say(options, {"ok": found.ok, **vars(found)}, str(found))
    return 0 if found.ok else 1


def _export(options: argparse.Namespace) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    from ...live.campaigns.log import to_csv

    out: Path = options.out
    if out.suffix not in (".csv", ".parquet", ".json"):
        raise InvalidInputError(f"--out must end in .csv, .parquet or .json, got {out.name!r}")
    campaign = _open(options)
    table = campaign.history()
    sink = pa.BufferOutputStream()
    if out.suffix == ".csv":
        sink.write(to_csv(table))
    elif out.suffix == ".parquet":
        pyarrow.parquet.write_table(table, sink)
    else:
        content = {"name": campaign.name, **campaign.settings, "decisions": table.to_pylist()}
        sink.write(json.dumps(content, default=datetime.isoformat, ensure_ascii=False).encode())
    write_atomically(out, bytes(sink.getvalue()))
    _say(options, {"decisions": table.num_rows, "file": str(out)}, f"{table.num_rows:,} decisions: {out}")


def _list(options: argparse.Namespace) -> None:
    entries = _store(options).campaigns()
    cells = [[e.name, e.policy, f"{e.created:%Y-%m-%d}", f"{e.events:,}"] for e in entries]
    _say(options, list(map(vars, entries)), console.Numbers(["campaign", "policy", "created", "events"], cells))


def _upgrade(options: argparse.Namespace) -> None:
    before, now = _store(options).upgrade()
    words = "nothing to do" if before == now else f"upgraded from {before}"
    _say(options, {"before": before, "now": now}, f"revision {now}: {words}")
