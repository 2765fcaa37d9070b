"""Reference pages that follow from the code: every public name, the command line, the HTTP API."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import sharpe_bandits as sb
from sharpe_bandits import theory

#: Headings of the API page, with the modules whose public names stand under them.
GROUPS = {
    "Simulate": ("simulation", "study", "results", "metrics", "paper", "descriptions"),
    "Bandits and arms": ("arms",),
    "Objectives": ("objectives",),
    "Policies": ("policies",),
    "Agents and campaigns": ("live", "service"),
    "Returns": ("returns",),
    "Plan": ("planning",),
    "Intervals": ("confidence_sequences",),
    "Errors and warnings": ("errors",),
}
#: What public functions give back, and users meet without importing it.
GIVEN = (
    *(
        f"sharpe_bandits.live.campaigns.{name}"
        for name in ("Campaign", "Decision", "Status", "Evaluation", "Verification")
    ),
    "sharpe_bandits.simulation.api.Trace",
)
#: Statuses of the service.
ERRORS = """\
| status | when |
|---|---|
| 401, 403 | no token; a token without permission |
| 404 | no such campaign, decision or arm |
| 409 | conflict, or the campaign is over; nothing was changed |
| 408, 413, 414, 422 | too slow; too large; too long; an invalid value |
| 425 | the policy waits for rewards of pending pulls: `arms` says how many of which |
| 421 | unknown host name: see `--allowed-hosts` |
| 429, 503 | too many requests; the store is unavailable. Both with `Retry-After` |
"""
#: Headings of the page of policies, by family.
FAMILIES = {
    "index": "To earn while learning",
    "phases": "To know the best arm after a fixed budget",
    "fixed confidence": "To stop when sure",
}
TESTING = ("check_policy", "check_arm", "check_storage", "PolicyContract", "ArmContract", "StorageContract")


def public_names() -> dict[str, list[str]]:
    """Public names of the package and of its modules, by heading; every one of them has a place."""
    names: dict[str, list[str]] = {heading: [] for heading in GROUPS}
    top = {name for name in dir(sb) if not isinstance(getattr(sb, name), ModuleType)}
    places = {name: f"sharpe_bandits.{name}" for name in top}
    for module in (sb.arms, sb.errors, sb.objectives, sb.policies, sb.results):
        places.update({name: f"{module.__name__}.{name}" for name in public(module) if name not in top})
    for name, place in sorted(places.items(), key=lambda item: item[0].lower()):
        thing = getattr(sys.modules[place.rpartition(".")[0]], name)
        room = thing.__module__.split(".")[1]
        heading = next(heading for heading, rooms in GROUPS.items() if room in rooms)
        names[heading].append(place)
    return names


def public(module: ModuleType) -> list[str]:
    """The names that a module offers: its ``__all__``, or the classes and functions in it."""
    own = (name for name in vars(module) if not name.startswith("_") and callable(getattr(module, name)))
    return list(getattr(module, "__all__", own))


def api() -> str:
    """The page of the API, in reStructuredText: a table per heading, a page per name."""
    parts = ["API\n===\n\nMost users need ``import sharpe_bandits as sb`` alone. Names of the package itself have an "
             "example each, and the tests run it.\n"]  # fmt: skip
    theory_names = [
        f"sharpe_bandits.theory.{name}"
        for name in dir(theory)
        if not name.startswith("_") and callable(getattr(theory, name))
    ]
    sections = {
        **public_names(),
        "What calls give": list(GIVEN),
        "sb.theory": theory_names,
        "sharpe_bandits.testing": [f"sharpe_bandits.testing.{name}" for name in TESTING],
    }
    for heading, names in sections.items():
        lines = "\n".join(f"   {name}" for name in names)
        parts.append(f"{heading}\n{'-' * len(heading)}\n\n.. autosummary::\n   :toctree: ../api\n\n{lines}\n")
    return "\n".join(parts)


def command_line() -> str:
    """The page of the command line: what ``--help`` says of every command."""
    from sharpe_bandits.cli.program import COMMANDS, parser_of

    os.environ["COLUMNS"] = "100"
    parts = ["# Command line\n\nMade from the program's own `--help`.\n"]

    def add(parser: argparse.ArgumentParser, level: int) -> None:
        parts.append(f"{'#' * level} {parser.prog}\n\n```text\n{parser.format_help().rstrip()}\n```\n")
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for child in dict.fromkeys(action.choices.values()):
                    add(child, min(level + 1, 4))

    add(parser_of(COMMANDS), 2)
    return "\n".join(parts)


def policies() -> str:
    """The page of policies, objectives and arms: name in tables, what it does, where it comes from."""
    parts = ["# Policies, objectives, arms\n\nMade from the code. `sharpe-bandits policies` prints parameters, too.\n"]
    kinds: dict[str, list[Any]] = {}
    for kind in sb.policies.Policy.kinds.values():
        if kind.__module__.startswith("sharpe_bandits.") and kind.__name__ != "CustomPolicy":
            kinds.setdefault(kind.family, []).append(kind)
    for family, heading in FAMILIES.items():
        rows = [
            f"| `{kind.__name__}` | {kind.title} | {_line(kind)} | {_plain(kind.citation)} |"
            for kind in sorted(kinds.pop(family), key=lambda kind: kind.__name__.lower())
        ]
        parts.append(
            f"## {heading}\n\n| class | in tables | what it does | source |\n|---|---|---|---|\n"
            + "\n".join(rows)
            + "\n"
        )
    if kinds:
        raise LookupError(f"families without a heading: {sorted(kinds)}")
    for heading, base in (("Objectives", sb.objectives.Objective), ("Arms", sb.arms.Arm)):
        rows = [
            f"| `{kind.__name__}` | {_line(kind)} |"
            for kind in sorted(base.kinds.values(), key=lambda kind: kind.__name__.lower())
            if kind.__module__.startswith("sharpe_bandits.")
        ]
        parts.append(f"## {heading}\n\n| class | |\n|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def _line(kind: type) -> str:
    """The first sentence of a docstring, without reStructuredText."""
    return _plain((kind.__doc__ or "").strip().split("\n\n")[0])


def _plain(text: str) -> str:
    text = re.sub(r":math:`([^`]*)`", r"$\1$", " ".join(text.split()))
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", text).replace("``", "`")
    return text.replace("|", r"\|")


def http_api() -> str:
    """The page of the HTTP API, from its OpenAPI schema."""
    from sharpe_bandits.service.app import create_app

    with tempfile.TemporaryDirectory() as folder:
        store = sb.Store(Path(folder) / "campaigns.db")
        schema = create_app(store, []).app.openapi()
        store.close()
    parts = [
        "# HTTP API\n\nGenerated from the OpenAPI schema, which a running service has at `/openapi.json` (and to try "
        "at `/docs`). Every request needs a token: `Authorization: Bearer …`. [The service](../do/service.md) says how "
        "to run it. A name in a path is percent-encoded: `desks/eu` is `desks%2Feu`.\n\n"
        "Errors are problem details (RFC 9457) with the library's own message in `detail`:\n\n" + ERRORS
    ]
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            parts.append(f"## {method.upper()} {path}\n\n{_words(route)}\n")
            rows = [
                (p["name"], p["in"], _type(p["schema"]), p.get("description", "")) for p in route.get("parameters", ())
            ]
            body = route.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            rows += _fields(body, schema) if body else []
            if rows:
                cells = "\n".join(f"| `{a}` | {b} | {c} | {d} |" for a, b, c, d in rows)
                parts.append(f"| name | in | type | |\n|---|---|---|---|\n{cells}\n")
    return "\n".join(parts)


def _words(route: dict[str, Any]) -> str:
    return route.get("description") or route.get("summary", "")


def _fields(schema: dict[str, Any], whole: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Fields of a body."""
    if "$ref" in schema:
        schema = whole["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    needed = schema.get("required", ())
    return [
        (name, "body" if name in needed else "body, optional", _type(field), field.get("description", ""))
        for name, field in schema.get("properties", {}).items()
    ]


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    if "anyOf" in schema:
        return " or ".join(_type(option) for option in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any")) if "enum" not in schema else " or ".join(map(json.dumps, schema["enum"]))


def write(folder: Path) -> None:
    """All of them; a page that is the same is not touched, so that it need not be built again."""
    folder.mkdir(exist_ok=True)
    pages = {
        "api.rst": api(),
        "command-line.md": command_line(),
        "policies.md": policies(),
        "http-api.md": http_api(),
    }
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
