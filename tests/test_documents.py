"""What README and docs show runs, and prints what they say it prints; so do the examples in docstrings."""

import contextlib
import doctest
import importlib
import io
import re
import shlex
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.arms.environment import Environment

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name not in {"_generated", "tutorials"}),
]
#: A block of Python, and what it prints, indented, right after it.
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n((?:(?: {4}[^\n]*)?\n)+))?", re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def kinds():
    """What a page defines is forgotten after it: other tests look at the library's own arms and objectives."""
    registries = [sb.arms.Arm.kinds, sb.objectives.Objective.kinds, sb.policies.Policy.kinds, Environment.kinds]
    before = [dict(registry) for registry in registries]
    yield
    for registry, entries in zip(registries, before, strict=True):
        registry.clear()
        registry.update(entries)


def blocks(page):
    """The blocks of a page: line, code, and what it prints (None if the page does not say)."""
    text = page.read_text("utf-8")
    for found in BLOCK.finditer(text):
        yield text[: found.start()].count("\n") + 2, found[1], found[2]


def words(text):
    """Text without layout."""
    return " ".join(text.split())


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A working folder with the files that the pages name, and what they take for granted."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(1)
    days = np.datetime64("2015-01-01") + np.arange(1500)
    days = days[np.is_busday(days)]
    values = generator.normal([0.0006, 0.0004, 0.0002], [0.01, 0.012, 0.008], (len(days), 3))
    names = ("momentum", "carry", "value")
    returns = {name: values[:, i] for i, name in enumerate(names)}
    prices = {name: 100 * np.cumprod(1 + column) for name, column in returns.items()}
    pa.parquet.write_table(pa.table({"date": days, **prices}), "prices.parquet")
    pa.csv.write_csv(pa.table({"date": days, **returns}), "returns.csv")
    rewards = np.random.default_rng(2)
    module = types.ModuleType("page")  # as in a user's own file: what is defined there pickles
    monkeypatch.setitem(sys.modules, "page", module)
    module.__dict__.update(
        {
            "sb": sb,
            "play": lambda arm: float(rewards.uniform(0, 0.6 if arm in (0, "momentum") else 0.3)),
            "bandit": sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)]),
        }
    )
    return module.__dict__


@pytest.mark.parametrize("page", [p for p in PAGES if list(blocks(p))], ids=lambda page: str(page.relative_to(ROOT)))
def test_the_code_of_a_page_runs_and_prints_what_the_page_says(page, desk):
    for line, code, expected in blocks(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * (line - 1) + code, str(page), "exec"), desk)
        if expected is not None and "print(" in code:
            assert words(printed.getvalue()) == words(expected), f"{page.name}, line {line}"


def test_the_search_finds_code_and_what_it_prints():
    found = list(blocks(ROOT / "README.md"))
    assert len(found) >= 3
    assert any(expected is not None and "±" in expected for _, _, expected in found)


SOURCES = ROOT / "src"
WITH_EXAMPLES = [
    ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((SOURCES / "sharpe_bandits").rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_in_docstrings_hold(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


def test_tables_have_rows():
    for page in PAGES:
        headings = re.findall(r"^(\|.*)\n\|[-:| ]+\|\n(?!\|)", page.read_text("utf-8"), re.MULTILINE)
        assert not headings, f"{page.name}: nothing below {headings}"


def test_links_between_pages_lead_somewhere():
    """Files that exist, and headings that are there."""
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
            if re.match(r"[a-z]+:|(../)?_generated/", target):  # elsewhere; made with the site, which checks these
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            assert file.exists(), f"{page.name}: {target}"
            if anchor:
                headings = re.findall(r"^#+ (.*)$", file.read_text("utf-8"), re.MULTILINE)
                anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
                assert anchor in anchors, f"{page.name}: {target}"


def test_the_comparison_shows_what_the_benchmark_measured():
    measured = (ROOT / "benchmarks" / "RESULTS.md").read_text("utf-8").partition("## (a)")[2].partition("## (b)")[0]
    shown = (
        (ROOT / "docs" / "evidence" / "other-libraries.md")
        .read_text("utf-8")
        .partition("simulating plain UCB1")[2]
        .partition("##")[0]
    )
    of_engines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in measured.splitlines() if line[:1] == "|"]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in shown.splitlines() if line[:1] == "|"]
    assert rows[2:] == [[cells[k] for k in (0, 1, 2, 4)] for cells in of_engines[2:]]


COMMAND = re.compile(r"^ {4,}sharpe-bandits (?!-)(.*)$|`sharpe-bandits ([a-z]+ [^`\n]*)`", re.MULTILINE)


def test_the_commands_of_pages_are_understood():
    """Options and names of commands, not what they do."""
    from sharpe_bandits.cli.program import COMMANDS, parser_of

    parser, commands = parser_of(COMMANDS), []
    for page in PAGES:
        for match in COMMAND.finditer(page.read_text("utf-8").replace("\\\n", "")):
            commands.append((match[1] or match[2]).split("  #")[0])
            try:
                parser.parse_args(shlex.split(commands[-1], comments=True))
            except (sb.SharpeBanditsError, SystemExit) as error:
                pytest.fail(f"{page.name}: sharpe-bandits {commands[-1]}: {error}")
    assert len(commands) > 50
