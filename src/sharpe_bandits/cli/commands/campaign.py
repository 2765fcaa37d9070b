"""``sharpe-bandits campaign``: durable campaigns from the command line."""

from __future__ import annotations

import argparse
import csv
import importlib
import os
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..._support import console
from ..._support.files import write_atomically
from ...errors import InvalidInputError, UnreadableDataError, shown
from ...live.campaigns import Campaign, Record, Store, Verification
from ...live.campaigns.archive import archive
from ...live.campaigns.records import CIRCUMSTANCES, MEASURES, to_csv
from ...live.campaigns.settings import optional_settings, policy_from_text
from ...live.campaigns.signed import check_export
from ...live.campaigns.store import back_up
from ..parser import Pairs, arguments, output

#: Environment variable that names the store, and the default store; --store overrides both.
STORE_VARIABLE, DEFAULT_STORE = "SHARPE_BANDITS_STORE", "campaigns.db"
#: What an action returns: plain data, the same for people, and what makes the exit status 1. It gets a campaign, a
#: store, or where that is.
Result = tuple[Any, ...]
Action = Callable[[Any, argparse.Namespace], Result]

#: Rules that ``campaign set`` changes.
_RULES = ("mode", "share", "control", "fallback", "bounds", "guardrails", "webhook")
#: Arguments that several actions have, by name.
_SHARED: dict[str, dict[str, Any]] = {
    "name": {"help": "name of the campaign"},
    "arm": {},
    "decision": {"help": "number of the decision, or its key"},
    "--by-key": {"action": "store_true", "help": "read a number as a key"},
    "reward": {"type": float},
    "--module": {"action": "append", "default": [], "metavar": "MODULE",
                 "help": "Python module that defines a custom policy, imported first (none)"},
    "--store": {"help": f"file, or postgresql://user@host/database (${STORE_VARIABLE}, or {DEFAULT_STORE})"},
    "--json": {"action": "store_true", "help": "print JSON"},
    "--why": {"help": "reason, for the log"},
    "--by": {"help": "who does it, for the log (host and process)"},
}  # fmt: skip


def add(campaign: argparse.ArgumentParser) -> None:
    actions = campaign.add_subparsers(required=True, metavar="action")

    words = "create a campaign, or check that it exists"
    create = add_action(actions, "create", words, _create, "name", opens=store_target)
    create.add_argument("--policy", required=True, help="kind or name, with parameters as in SF-UCB:L=1e-5,c=0.5")
    create.add_argument("--L", type=float, help="regulariser of the policy, in units of the variance of a reward")
    create.add_argument("--arms", nargs="+", required=True, metavar="ARM", help="names of the arms")
    for name, setting in optional_settings().items():
        create.add_argument(f"--{name.replace('_', '-')}", type=setting.metadata["kind"], help=setting.metadata["help"])

    ask = add_action(actions, "ask", "choose the arm to play next", _ask)
    ask.add_argument("--key", help="idempotency key: the same key returns the same decision")
    ask.add_argument("--count", type=int, metavar="N", help="number of decisions, made in one commit")
    ask.add_argument("--distinct", type=int, metavar="N", help="number of decisions, of different arms")
    ask.add_argument("--among", nargs="+", metavar="ARM", help="arms that can be played now (all)")
    ask.add_argument("--worker", help="name of the worker that asks (host and process)")
    _add_columns(ask, CIRCUMSTANCES)

    which = ("decision", "--by-key")
    tell = add_action(actions, "tell", "record the reward of a decision", _settle, *which, "reward")
    _add_columns(tell, MEASURES)

    record = add_action(actions, "record", "record a decision that somebody else made", _record, "arm")
    record.add_argument("reward", type=float, nargs="?")
    record.add_argument("--key", help="idempotency key: recording it again changes nothing")
    record.add_argument("--propensity", type=float, help="probability with which the arm was chosen (not known)")
    _add_columns(record, {**MEASURES, **CIRCUMSTANCES})

    past = add_action(actions, "load-history", "learn from decisions before the campaign", _load_history)
    past.add_argument("file", type=Path, help=".parquet or .csv with columns arm and reward")
    for name in ("arm", "reward"):
        past.add_argument(f"--{name}", default=name, metavar="COLUMN", help=f"column with the {name} ({name})")

    why = ("--why", "--by")
    add_action(actions, "amend", "correct the reward of a decision", _settle, *which, "reward", *why)
    words = "change the mode, the share of the policy, bounds or guardrails"
    change = add_action(actions, "set", words, _set, *why)
    for name in _RULES:
        about = optional_settings()[name].metadata
        words = about["help"].replace(" (none)", "; an empty text for none")
        change.add_argument(f"--{name}", type=about["kind"], help=words)
    pause = add_action(actions, "pause", "pause a campaign", _change, *why)
    pause.add_argument("--fallback", metavar="ARM", help="arm that asks get meanwhile (they are refused)")
    words = "end the pause of a campaign, or play a suspended arm again"
    add_action(actions, "resume", words, _change, *why).add_argument("arm", nargs="?")
    add_action(actions, "suspend", "stop playing an arm for the time being", _change, "arm", *why)
    add_action(actions, "add-arm", "add an arm", _change, "arm", *why)
    add_action(actions, "retire-arm", "stop playing an arm for good", _change, "arm", *why)
    add_action(actions, "cancel", "withdraw a decision that will not be played", _settle, *which)

    load = add_action(actions, "import", "record rewards from a CSV file", _import)
    load.add_argument("file", type=Path, help="CSV file with a column reward, and a column number or key")

    add_action(actions, "status", "show the state of the campaign", _status)
    history = add_action(actions, "history", "show the last decisions", _history)
    history.add_argument("--last", type=int, default=20, metavar="N", help="number of decisions (20)")
    verify = add_action(actions, "verify", "replay the log and compare it with the state and all decisions", _verify)
    verify.add_argument("--choices", action="store_true", help="also recompute every choice of the policy")
    export = add_action(actions, "export", "write all decisions to a file", _export)
    export.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    export.add_argument("--signed", type=Path, metavar="KEY", help="write the whole log as .json, signed with an "
                        "Ed25519 private key in a PEM file, so that others can check it without the store")  # fmt: skip
    check = actions.add_parser("check-export", help="check a signed export, without a store")
    check.add_argument("file", type=Path)
    check.add_argument("--public-key", type=Path, required=True, help="PEM file with the public key of who signed it")
    check.add_argument("--json", **_SHARED["--json"])
    check.set_defaults(do=_run, act=_check_export, opens=store_target, store="", module=[])
    add_action(actions, "notify", "deliver messages that a webhook has not received yet", _notify)
    add_action(actions, "list", "list the campaigns of a store", _list, opens=open_store)
    words = "copy campaigns to another store, and verify the copies"
    copy = add_action(actions, "copy", words, _copy, opens=open_store)
    copy.add_argument("names", nargs="*", metavar="name", help="name of a campaign (all)")
    copy.add_argument("--to", required=True, metavar="STORE", help="file, or postgresql://user@host/database")
    words = "copy a store that may be in use, and verify the copy"
    backup = add_action(actions, "backup", words, _backup, opens=open_store)
    backup.add_argument("--out", type=Path, required=True, metavar="FILE", help="a file that does not exist yet")
    words = "copy the campaigns of a backup, and verify them"
    restore = add_action(actions, "restore", words, _restore, opens=store_target)
    restore.add_argument("file", type=Path, help="what backup wrote")
    old = add_action(actions, "archive", "move events before a time to a Parquet file", _archive)
    old.add_argument("--before", type=_moment, required=True, metavar="DATE", help="such as 2026-01-31, in UTC")
    old.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="a folder that does not exist yet")
    add_action(actions, "accept-clock", "record again after the clock of a store was set back", _accept_clock)


def _add_columns(parser: argparse.ArgumentParser, columns: Mapping[str, Mapping[str, Any]]) -> None:
    for name, about in columns.items():
        if about["pairs"]:
            words = f"{about['help']}; may be repeated"
            pairs: dict[str, Any] = {"action": Pairs, "const": about["kind"], "metavar": "NAME=VALUE"}
            parser.add_argument(f"--{name[:-1]}", dest=name, help=words, **pairs)
        else:
            parser.add_argument(f"--{name}", type=about["kind"], help=about["help"])


def store_target(options: argparse.Namespace) -> str:
    """The file or URL of the store that an action is about."""
    return str(options.store or os.environ.get(STORE_VARIABLE) or DEFAULT_STORE)


def open_store(options: argparse.Namespace) -> Store:
    return Store(store_target(options), create=False)


def open_campaign(options: argparse.Namespace) -> Campaign:
    return open_store(options).campaign(options.name)


def add_action(
    actions: Any, name: str, words: str, act: Action, *shared: str, opens: Callable[..., Any] = open_campaign
) -> argparse.ArgumentParser:
    """Add an action on what it opens, with some of the shared arguments."""
    parser: argparse.ArgumentParser = actions.add_parser(name, help=words)
    for argument in (*(["name"] if opens is open_campaign else []), "--module", "--store", "--json", *shared):
        parser.add_argument(argument, **_SHARED[argument])
    parser.set_defaults(do=_run, act=act, action=name, opens=opens)
    return parser


def import_modules(modules: list[str]) -> None:
    """Import the modules that users name with --module."""
    for module in modules:
        if "" not in sys.path:
            sys.path.insert(0, "")
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise InvalidInputError(f"--module {module} cannot be imported: {error}") from error


def _run(options: argparse.Namespace) -> int:
    """Carry out an action and print its result."""
    import_modules(options.module)
    data, text, *problems = options.act(options.opens(options), options)
    output(options, data, text)
    return 1 if any(problems) else 0


def _create(target: str, options: argparse.Namespace) -> Result:
    policy = policy_from_text(options.policy, options.L)
    settings: Any = {name: getattr(options, name) for name in optional_settings()}
    campaign = Store(target).campaign(options.name, policy=policy, arms=options.arms, **settings)
    words = f"campaign {campaign.name}: {policy.name} on {len(campaign.arms)} arms"
    return {"name": campaign.name, **campaign.settings}, words


def _ask(campaign: Campaign, options: argparse.Namespace) -> Result:
    answer = campaign.ask(**arguments(campaign.ask, options))
    decisions = answer if isinstance(answer, list) else [answer]
    data = [decision.to_dict() for decision in decisions]
    lines = (f"{decision.number}\t{decision.arm}" for decision in decisions)
    return data if isinstance(answer, list) else data[0], "\n".join(lines)


def _settle(campaign: Campaign, options: argparse.Namespace) -> Result:
    """Tell or correct the reward of a decision, or cancel it."""
    if options.decision.isdecimal() and not options.by_key:
        options.decision = int(options.decision)
    method = getattr(campaign, options.action)
    method(**arguments(method, options))
    decision = campaign.decision(options.decision)
    words = {
        "tell": "reward {1:g} recorded for decision {0}",
        "amend": "reward of decision {0} corrected to {1:g}",
        "cancel": "decision {0} cancelled",
    }
    return decision.to_dict(), words[options.action].format(decision.number, getattr(options, "reward", None))


def _record(campaign: Campaign, options: argparse.Namespace) -> Result:
    decision = campaign.record(**arguments(Record, options))
    comparison = f"{decision.arm}, too" if decision.choice == decision.arm else f"{decision.choice}, not {decision.arm}"
    words = f"the policy would have chosen {comparison}" if decision.choice is not None else "recorded"  # a retired arm
    return decision.to_dict(), f"decision {decision.number}: {words}"


def _load_history(campaign: Campaign, options: argparse.Namespace) -> Result:
    rows = campaign.load_history(options.file, arm=options.arm, reward=options.reward)
    return {"rows": rows}, f"{rows:,} new decisions of {options.file} recorded"


def _set(campaign: Campaign, options: argparse.Namespace) -> Result:
    empty: dict[str, Any] = {"control": None, "fallback": None, "webhook": None, "bounds": {}, "guardrails": []}
    given = {name: value for name in _RULES if (value := getattr(options, name)) is not None}
    rules = {name: empty.get(name, value) if value == "" else value for name, value in given.items()}
    campaign.set(**rules, why=options.why, by=options.by)
    return _rules(campaign)


def _change(campaign: Campaign, options: argparse.Namespace) -> Result:
    """Pause or resume a campaign; suspend, resume, add or retire an arm."""
    details = {name: x for name in ("arm", "fallback") if (x := getattr(options, name, None)) is not None}
    getattr(campaign, options.action.replace("-", "_"))(**details, why=options.why, by=options.by)
    if not options.action.endswith("-arm"):
        return _rules(campaign)
    active = [arm.arm for arm in campaign.status().arms if not arm.retired]
    return {"arms": active}, f"active arms: {', '.join(map(str, active))}"


def _rules(campaign: Campaign) -> Result:
    status = campaign.status()
    suspended = [str(arm.arm) for arm in status.arms if arm.suspended]
    words = status.rules_in_words() | ({"suspended": ", ".join(suspended)} if suspended else {})
    return status.rules, "\n".join(f"{name}: {text}" for name, text in words.items())


def _notify(campaign: Campaign, options: argparse.Namespace) -> Result:
    sent = campaign.notify()
    return {"sent": sent}, f"{sent} messages delivered"


def _verify(campaign: Campaign, options: argparse.Namespace) -> Result:
    return _verified(campaign.verify(choices=options.choices))


def _check_export(_: str, options: argparse.Namespace) -> Result:
    return _verified(check_export(_read(options.file), _read(options.public_key)))


def _verified(verification: Verification) -> Result:
    return {"ok": verification.ok, **vars(verification)}, str(verification), not verification.ok


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableDataError(f"{path} cannot be read: {error.strerror}") from None


def _import(campaign: Campaign, options: argparse.Namespace) -> Result:
    rewards = _rewards(options.file)
    errors = campaign.tell_many(rewards.values(), strict=False)
    results = zip(rewards, errors, strict=True)
    wrong = [{"line": line, "error": str(error)} for line, error in results if error is not None]
    done = len(rewards) - len(wrong)
    summary = "1 reward recorded" if done == 1 else f"{done:,} rewards recorded"
    text = "\n".join([summary, *(f"line {item['line']}: {item['error']}" for item in wrong)])
    return {"recorded": done, "refused": wrong}, text, wrong


def _rewards(path: Path) -> dict[int, tuple[Any, float]]:
    """A decision and its reward per line number."""
    rewards: dict[int, tuple[Any, float]] = {}
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            heads = reader.fieldnames or []
            by, kind = ("number", int) if "number" in heads else ("key", str)
            if not {"reward", by} <= set(heads):
                raise InvalidInputError(
                    f"{path} needs a column reward and a column number or key; its first line is {shown(heads)}"
                )
            for row in reader:
                try:
                    rewards[reader.line_num] = kind(row[by]), float(row["reward"])
                except (ValueError, TypeError):
                    raise InvalidInputError(
                        f"line {reader.line_num} of {path} has {by} {shown(row[by])} and reward "
                        f"{shown(row['reward'])}; they must be a decision and a number; nothing was recorded"
                    ) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnreadableDataError(f"{path} cannot be read: {error}") from None
    return rewards


def _status(campaign: Campaign, options: argparse.Namespace) -> Result:
    status = campaign.status()
    return status.to_dict(), status


def _history(campaign: Campaign, options: argparse.Namespace) -> Result:
    rows = campaign.history(last=options.last).to_pylist()
    columns: dict[str, Callable[[dict[str, Any]], str]] = {
        "decision": lambda row: str(row["number"]),
        "arm": lambda row: str(row["arm"]),
        "asked": lambda row: f"{row['asked']:%Y-%m-%d %H:%M:%S}",
        "state": lambda row: row["state"],
        "reward": lambda row: "" if row["reward"] is None else f"{row['reward']:g}",
        "probability": lambda row: "" if row["probability"] is None else f"{row['probability']:.3g}",
        "key": lambda row: row["key"] or "",
    }
    return rows, console.Numbers(*console.cells(columns, rows))


def _export(campaign: Campaign, options: argparse.Namespace) -> Result:
    out: Path = options.out
    if out.suffix != (suffix := ".csv" if options.signed is None else ".json"):
        raise InvalidInputError(f"--out must end in {suffix}, got {out.name!r}")
    if options.signed is not None:
        write_atomically(out, campaign.signed_export(_read(options.signed)))
        return {"file": str(out)}, f"the log of {campaign.name}, signed: {out}"
    table = campaign.history()
    write_atomically(out, to_csv(table))
    return {"decisions": table.num_rows, "file": str(out)}, f"{table.num_rows:,} decisions: {out}"


def _list(store: Store, options: argparse.Namespace) -> Result:
    entries = store.campaigns()
    cells = [[e.name, e.policy, f"{e.created:%Y-%m-%d}", f"{e.events:,}"] for e in entries]
    return list(map(vars, entries)), console.Numbers(["campaign", "policy", "created", "events"], cells)


def _copy(source: Store, options: argparse.Namespace) -> Result:
    with source:
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


def _backup(store: Store, options: argparse.Namespace) -> Result:
    with store:
        return _report(str(options.out), back_up(store, options.out))


def _restore(target: str, options: argparse.Namespace) -> Result:
    with Store(options.file, create=False) as backup, Store(target) as restored:
        return _report(restored.name, backup.copy_to(restored))


def _report(where: str, results: dict[str, Verification]) -> Result:
    problems = {name: result.problems for name, result in results.items() if not result.ok}
    events = sum(result.events for result in results.values())
    words = f"{where}: {len(results)} campaign{'' if len(results) == 1 else 's'} with {events:,} events verified"
    lines = [words, *(f"{name}: {problem}" for name, messages in problems.items() for problem in messages)]
    data = {"file": where, "campaigns": len(results), "events": events, "problems": problems}
    return data, "\n".join(lines), problems


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a date such as 2026-01-31, got {text!r}") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _archive(campaign: Campaign, options: argparse.Namespace) -> Result:
    events = archive(campaign, options.before, options.out)
    verification = campaign.verify()
    words = f"campaign {campaign.name}: {events:,} events are in {options.out} now; {verification}"
    return {"events": events, "ok": verification.ok}, words, not verification.ok


def _accept_clock(campaign: Campaign, options: argparse.Namespace) -> Result:
    campaign.accept_clock()
    return {"accepted": True}, f"campaign {campaign.name}: the clock is accepted as it is now"
