"""The command line: finds the command, runs it, and reports errors on one line."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Container, Sequence
from importlib import import_module
from typing import NoReturn

from .. import __version__
from .._support import console
from ..errors import SharpeBanditsError
from .parser import Parser

#: Every command, in the order of the help: its file in ``commands``, what it does, and an example.
COMMANDS = {
    "rank": ("returns", "rank strategies, funds or assets by their recorded returns or costs",
             "prices.csv --kind prices --periods-per-year 252"),
    "compare": ("returns", "test whether one column is better than another",
                "returns.csv --kind returns --periods-per-year 12 --against SPY"),
    "replay": ("replay", "play policies through recorded returns, in time order",
               "prices.parquet --kind prices --periods-per-year 252 --cost 0.001"),
    "plan": ("plan", "how long it takes to find the best arm", "--arms 8 --best-sharpe 1.0 --gap 0.3"),
    "reproduce": ("reproduce", "run the paper's experiments, judge its claims, write a report", "R3 B1 --quick"),
    "run": ("reproduce", "run your own experiment from a TOML file", "desks.toml --out out/desks"),
    "verdicts": ("reproduce", "what a reproduction of the paper found", "out/paper R3"),
    "campaign": ("campaign", "durable campaigns: ask which arm to play, tell the reward later",
                 "ask desks --store campaigns.db"),
    "serve": ("serve", "campaigns over HTTP, with a live dashboard", "campaigns.db"),
    "demo": ("serve", "the dashboard on simulated campaigns", "--port 8000"),
    "cache": ("cache", "show or clear the cache of compiled kernels", "--clear"),
    "policies": ("listing", "list the policies that an experiment file can name", ""),
    "arms": ("listing", "list the arms that an experiment file can name", ""),
    "objectives": ("listing", "list the objectives that an experiment file can name", ""),
}  # fmt: skip
#: Commands whose actions have their own ``--json``, or that print nothing.
_WITHOUT_JSON = ("campaign", "serve", "demo")
#: Exit status after Ctrl-C, as shells have it.
INTERRUPTED = 130


def program() -> NoReturn:
    """Run the command line and end the process with its exit status."""
    status = main()
    if status == INTERRUPTED:  # leave at once: Python would wait for a kernel that another thread is compiling
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    options = argparse.Namespace(resumes=False)
    words = list(sys.argv[1:] if arguments is None else arguments)
    name = next((word for word in words if not word.startswith("-")), "")
    parser = parser_of((name,))
    command = parser.command(words)
    before, console.spelling = console.spelling, command.spelled
    try:
        if not words:
            parser.print_help()
            return 0
        command.check_options(words)
        parser.parse_args(words, options)
        return int(options.do(options) or 0)
    except SharpeBanditsError as error:
        print(f"sharpe-bandits: {command.spelled(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        after = "run the same command to resume" if options.resumes else "nothing was written"
        print(f"\nsharpe-bandits: interrupted; {after}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader has closed the pipe, as in "sharpe-bandits policies | head"
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        if error.filename is None and not full:  # not about a folder that the user names
            raise
        where, remedy = error.filename or "output folder", "free some space" if full else "choose a writable --out"
        print(f"sharpe-bandits: {error.strerror}: {where}; {remedy} and run the same command again", file=sys.stderr)
        return 3
    finally:
        console.spelling = before


def parser_of(in_full: Container[str]) -> Parser:
    """The parser of the command line, with the options of the commands ``in_full``; only their files are imported."""
    parser = Parser(prog="sharpe-bandits", description="Bandits that choose under risk, and numbers about returns.")
    parser.add_argument(
        "--version", action="version", version=f"%(prog)s {__version__}", help="show the version and exit"
    )
    commands = parser.add_subparsers(required=True, metavar="command", title="commands")
    for name, (file, what, example) in COMMANDS.items():
        command: Parser = commands.add_parser(
            name, help=what, description=f"{what[0].upper()}{what[1:]}.", example=example
        )
        if name not in _WITHOUT_JSON:
            command.add_argument("--json", action="store_true", help="print JSON instead of tables")
        if name in in_full:
            module = import_module(f".commands.{file}", __package__)
            (getattr(module, f"add_{name}", None) or module.add)(command)
    return parser


if __name__ == "__main__":
    program()
