"""Examples on real data run, and print what the documentation shows."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_import_what_there_is(path):
    """Most examples run for minutes: that the names they import exist is seen at once."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sharpe_bandits"):
            module = importlib.import_module(node.module)
            for alias in node.names:
                if not hasattr(module, alias.name):
                    importlib.import_module(f"{node.module}.{alias.name}")


@pytest.mark.parametrize(("name", "runs"), [("late_rewards", "2"), ("campaign_checks", "4")])
def test_quick_examples_run(name, runs):
    """Those that take seconds with few runs; they print a table."""
    script = ROOT / "examples" / f"{name}.py"
    done = subprocess.run([sys.executable, str(script), runs], capture_output=True, text=True, check=True)
    assert done.stdout.count("\n| ") >= 5


def test_the_worked_example_prints_what_the_docs_show():
    pytest.importorskip("skfolio", reason="the prices are inside skfolio: pip install '.[examples]'")
    script = ROOT / "examples" / "real_returns.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    page = (ROOT / "docs" / "evidence" / "twenty-stocks.md").read_text()
    shown = page.split("and prints\n\n")[1]
    assert [line.strip() for line in done.stdout.splitlines()] == [line.strip() for line in shown.splitlines()]


@pytest.mark.parametrize("page", ["funded-strategies", "channels", "model-routing"])
def test_a_use_case_prints_what_its_page_shows(page):
    text = (ROOT / "docs" / "do" / f"{page}.md").read_text("utf-8")
    script = ROOT / "examples" / f"{page.replace('-', '_')}.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    lines = text.split("prints", 1)[1].split("\n## ")[0].splitlines()
    shown = [line.strip() for line in lines if line.startswith("    ")]
    assert [line.strip() for line in done.stdout.splitlines()] == shown
