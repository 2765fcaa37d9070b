"""Examples on real data run, and print what the documentation shows."""

import ast
import importlib
import runpy
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


@pytest.fixture
def printed(monkeypatch, capsys):
    """What an example prints, run as a program is."""

    def run(name, *arguments):
        path = ROOT / "examples" / f"{name}.py"
        monkeypatch.setattr(sys, "argv", [str(path), *arguments])
        runpy.run_path(str(path), run_name="__main__")
        return [line.strip() for line in capsys.readouterr().out.splitlines()]

    return run


@pytest.mark.parametrize("program", ["late_rewards 2", "campaign_checks 4", "probably_best 1 128"])
def test_quick_examples_run(program, printed):
    """Those that take seconds with few runs; they print a table."""
    assert sum(line.startswith("| ") for line in printed(*program.split())) >= 6


def test_the_worked_example_prints_what_the_docs_show(printed):
    pytest.importorskip("skfolio", reason="the prices are inside skfolio: pip install '.[examples]'")
    page = (ROOT / "docs" / "evidence" / "twenty-stocks.md").read_text()
    assert printed("real_returns") == [line.strip() for line in page.split("and prints\n\n")[1].splitlines()]


@pytest.mark.parametrize("page", ["funded-strategies", "channels", "model-routing"])
def test_a_use_case_prints_what_its_page_shows(page, printed):
    text = (ROOT / "docs" / "do" / f"{page}.md").read_text("utf-8")
    lines = text.split("prints", 1)[1].split("\n## ")[0].splitlines()
    assert printed(page.replace("-", "_")) == [line.strip() for line in lines if line.startswith("    ")]
