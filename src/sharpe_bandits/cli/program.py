"""The command line: reproduce the paper, run your own experiment, list panels, policies, arms and objectives."""

from __future__ import annotations

import argparse
import errno
import os
import re
import sys
from collections.abc import Container, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from .._support import console
from ..errors import SharpeBanditsError
from .commands import cluster
from .parser import Parser, print_json

if TYPE_CHECKING:
    from ..experiments.reproduction import Job, Reproduction

#: Commands with their own file: what they do, and an example.
COMMANDS = {
    "rank": ("rank strategies, funds or assets by their recorded returns or costs",
             "prices.csv --kind prices --periods-per-year 252"),
    "compare": ("test whether one column is better than another",
                "returns.csv --kind returns --periods-per-year 12 --against SPY"),
    "replay": ("play policies through recorded returns, in time order",
               "prices.parquet --kind prices --periods-per-year 252 --cost 0.001"),
    "plan": ("how long it takes to find the best arm",
             "--arms 8 --best-sharpe 1.0 --gap 0.3"),
    "campaign": ("durable campaigns: ask which arm to play, tell the reward later",
                 "ask desks --store campaigns.db"),
    "serve": ("campaigns over HTTP, with a live dashboard", "campaigns.db"),
    "demo": ("the dashboard on simulated campaigns", "--port 8000"),
    "verdicts": ("what a reproduction of the paper found", "out/paper R3"),
    "cache": ("show or clear the cache of compiled kernels", "--clear"),
}  # fmt: skip
#: Commands whose actions have their own ``--json``, or that print nothing.
_WITHOUT_JSON = ("campaign", "serve", "demo")
#: Exit status after Ctrl-C, as shells have it.
INTERRUPTED = 130
QUICK_RUNS = 200
FULL_RUNS = 10_000


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
        _, extra = parser.parse_known_args(words, options)
        if extra:
            command.refuse(extra)
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
        remedy = "free some space" if full else "choose a writable --out"
        again = f"run the same command again{'; it resumes' if full and options.resumes else ''}"
        print(
            f"sharpe-bandits: {error.strerror}: {error.filename or 'output folder'}; {remedy} and {again}",
            file=sys.stderr,
        )
        return 3
    finally:
        console.spelling = before


class _Version(argparse.Action):
    """Shows the version, which is looked up only on request because that is slow."""

    def __call__(self, parser: argparse.ArgumentParser, *given: Any) -> None:
        from .. import __version__

        print(f"sharpe-bandits {__version__}")
        parser.exit()


def parser_of(in_full: Container[str]) -> Parser:
    """The parser of the command line, with the options of the commands ``in_full``; only their files are imported."""
    parser = Parser(prog="sharpe-bandits", description="Bandits that choose under risk, and numbers about returns.")
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(required=True, metavar="command", title="commands")

    def command(name: str, what: str, example: str = "") -> Parser:
        added: Parser = commands.add_parser(
            name, help=what, description=f"{what[0].upper()}{what[1:]}.", example=example
        )
        if name not in _WITHOUT_JSON:
            added.add_argument("--json", action="store_true", help="print JSON instead of tables")
        return added

    for name in ("rank", "compare", "replay", "plan"):
        _add(command(name, *COMMANDS[name]), name, in_full)
    reproduce = command("reproduce", "run the paper's experiments, judge its claims, write a report", "R3 B1 --quick")
    reproduce.add_argument("panels", nargs="*", metavar="panel", help="such as R3 B1; all by default")
    reproduce.add_argument("--profile", choices=("paper", "authors"), help="only this profile; both by default")
    reproduce.add_argument("--quick", action="store_true", help=f"{QUICK_RUNS} runs instead of {FULL_RUNS:,}")
    reproduce.add_argument("--runs", type=int, help="number of runs")
    reproduce.add_argument("--seed", type=int, default=1, help="seed of all random numbers")
    _output(reproduce, "out/paper")
    reproduce.set_defaults(do=_reproduce, resumes=True)

    run = command("run", "run your own experiment from a TOML file", "desks.toml --out out/desks")
    run.add_argument("file", type=Path, help="the experiment file")
    run.add_argument("--runs", type=int, help="override the file's value")
    run.add_argument("--seed", type=int, help="override the file's value")
    _output(run, None)
    run.set_defaults(do=_run, resumes=True)

    for name in ("verdicts", "campaign", "serve", "demo", "cache"):
        _add(command(name, *COMMANDS[name]), name, in_full)
    command("panels", "list the paper's experiments").set_defaults(do=_panels)
    for what in ("policies", "arms", "objectives"):
        command(what, f"list the {what} that an experiment file can name").set_defaults(do=_listing, what=what)
    return parser


def _add(parser: Parser, name: str, in_full: Container[str]) -> None:
    """Add the options of a command that has its own file, if it is wanted in full."""
    if name in in_full:
        import_module(f".commands.{name}", __package__).add(parser)


def _output(parser: argparse.ArgumentParser, default: str | None) -> None:
    text = f"folder for the results ({default})" if default else "folder for the results (out/ and the file's name)"
    parser.add_argument("--out", type=Path, default=default and Path(default), help=text)
    cluster.add(parser)


def _reproduce(options: argparse.Namespace) -> None:
    from ..experiments.reproduction import Job
    from ..paper.panels import panels

    usual = QUICK_RUNS if options.quick else FULL_RUNS
    runs = usual if options.runs is None else _whole("--runs", options.runs, 2)
    selection = panels(options.panels, options.profile)
    if not selection:
        raise SharpeBanditsError(f"none of these panels exists in the {options.profile} profile")
    job = Job(
        "Does the paper reproduce?",
        "“Optimizing Sharpe Ratio: Risk-Adjusted Decision-Making in Multi-Armed Bandits” (Khurshid, Abdulla and "
        f"Ghatak), every experiment with {runs:,} runs. The text that is judged is the source of arXiv:2406.06552; the "
        "article in Machine Learning (2025) differs from it in places. The paper profile is the printed text, with "
        "decisions where it leaves something open; the authors profile is the MATLAB code that the authors released. "
        "Where another reading of the text changes a verdict, the verdict says so.",
        selection,
        runs,
        _whole("--seed", options.seed, 0),
    )
    _do(job, options)


def _run(options: argparse.Namespace) -> None:
    from ..experiments.files import read
    from ..experiments.panel import CHECKPOINTS, Panel
    from ..experiments.reproduction import Job

    runs = None if options.runs is None else _whole("--runs", options.runs, 2)
    seed = None if options.seed is None else _whole("--seed", options.seed, 0)
    experiment = read(options.file, runs, seed)
    compared = ", ".join(dict.fromkeys(p.name for case in experiment.cases for p in case.policies))
    # the stem of "...toml" is the folder above
    name = options.file.stem if options.file.stem.strip(". ") else "experiment"
    id = re.sub(r"[^\w.-]+", "-", name)  # used in the names of files and anchors
    panel = Panel(
        id, "", experiment.title, compared, "", experiment.metric, tuple(experiment.cases),
        experiment.description.get("checkpoints", CHECKPOINTS),
    )  # fmt: skip
    introduction = f"{compared}: {experiment.runs:,} runs, {len(experiment.cases)} case(s)."
    options.out = options.out or Path("out") / name
    job = Job(experiment.title, introduction, [panel], experiment.runs, experiment.seed, experiment.description)
    _do(job, options)


def _do(job: Job, options: argparse.Namespace) -> None:
    from ..experiments.reproduction import run_job

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    with cluster.workers(options) as who:
        done = run_job(job, options.out, stream=sys.stderr, say=say, **who)
    if options.json:
        rows = [row for panel in done.rows.values() for row in panel]
        print_json([v.to_dict() for v in done.verdicts] or rows)
        return
    if done.verdicts:
        _print_conclusion(job, done, options.out)
    else:
        _print_results(done)
        print(f"Report: {options.out / 'report.html'}")


def _print_conclusion(job: Job, done: Reproduction, out: Path) -> None:
    from textwrap import wrap

    from ..experiments.scorecard import conclusion

    count, *named = conclusion(done.verdicts)
    ran = f"{len(job.panels)} panels, {job.runs:,} runs each, {done.seconds:.0f} s. {count}"
    for line in (ran, *named):
        print("\n".join(wrap(line, 80, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)))
    print(f"Report: {out / 'report.html'} (as a table: sharpe-bandits verdicts {out})")


def _print_results(done: Reproduction) -> None:
    for result in done.results:
        panel = result.panel
        title = f"{panel.title} ({panel.profile} profile)" if panel.profile else panel.title
        table = console.table("case", "policy", panel.metric, "s.e.", "95% interval", title=console.escape(title))
        for row in done.rows[panel.key]:
            if row["metric"] == panel.metric and row["t"] == row["horizon"]:
                interval = f"[{row['low']:.4g}, {row['high']:.4g}]"
                cells = (row["case"], row["policy"], f"{row['mean']:.4g}", f"{row['se']:.2g}", interval)
                table.add_row(*map(console.escape, cells))
        console.show(table)


def _panels(options: argparse.Namespace) -> None:
    from ..paper.panels import panels

    heads = ("panel", "profile", "title", "compares", "K", "L", "horizon", "arms")
    rows = [
        (
            panel.id, panel.profile, panel.title, panel.compares, _several(c.environment.K for c in panel.cases),
            _several(f"{c.L:.3g}" for c in panel.cases if c.L is not None), _several(c.horizon for c in panel.cases),
            _several(c.environment.sort for c in panel.cases),
        )
        for panel in panels()
    ]  # fmt: skip
    _show_rows(options, heads, rows)


def _listing(options: argparse.Namespace) -> None:
    from ..experiments import catalogue

    cited = options.what == "policies"
    heads = ("kind", "parameters", "description", *(["citation"] if cited else []))
    entries = getattr(catalogue, options.what)().values()
    rows = [(e.kind, e.signature(), e.summary, *([e.citation] if cited else [])) for e in entries]
    _show_rows(options, heads, rows)
    if options.json:
        return
    if cited:
        print("Every policy takes name; index policies take pilot_fraction or pilot_pulls.")
        stopping = [e.kind for e in entries if e.make.stops_itself]
        print(
            f"{' and '.join(stopping)} have a fixed confidence: for sb.identify and live agents, not experiment files."
        )
    if options.what == "arms":
        print("Uniform also takes mean and variance. Lists make one arm per value; repeat = n makes n arms.")


def _show_rows(options: argparse.Namespace, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if options.json:
        print_json([dict(zip(heads, row, strict=True)) for row in rows])
        return
    table = console.table(*heads)
    for row in rows:
        table.add_row(*map(console.escape, row))
    console.show(table)


def _several(values: Any) -> str:
    return ", ".join(dict.fromkeys(map(str, values)))


def _whole(name: str, value: int, least: int) -> int:
    from .._support.validation import whole

    return whole(name, value, least, 2**64 - 1)


if __name__ == "__main__":
    program()
