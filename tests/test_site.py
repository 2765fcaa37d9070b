"""What makes the documentation: pages that follow from the code, the check of links, the comparison of numbers.

The site itself is built by ``make docs``, whose libraries these tests do without.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from docs.site import links, numbers, reference

import sharpe_bandits as sb
from tests import matrix

ROOT = Path(__file__).parent.parent
TABLES = tomllib.loads((ROOT / "docs" / "site" / "numbers.toml").read_text("utf-8"))["table"]


def test_the_api_has_every_public_name():
    page = reference.api().split()
    names = {f"sharpe_bandits.{name}" for name in dir(sb) if not isinstance(getattr(sb, name), ModuleType)}
    assert names <= set(page)
    assert {"sharpe_bandits.policies.UCB1", "sharpe_bandits.arms.GARCH", "sharpe_bandits.errors.StoreError"} <= set(
        page
    )
    assert "sharpe_bandits.theory.bounds_for" in page


def test_the_page_of_the_command_line_has_every_command(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")  # which the page sets: put back afterwards
    page = reference.command_line()
    listed = subprocess.run([sys.executable, "-m", "sharpe_bandits", "--help"], capture_output=True, text=True)
    commands = [line.split()[0] for line in listed.stdout.splitlines() if line.startswith("    ") and line[4] != " "]
    assert len(commands) >= 12
    for command in commands:
        assert f"### sharpe-bandits {command}\n" in page
    assert "#### sharpe-bandits campaign ask\n" in page


def test_the_page_of_the_http_api_has_routes_and_fields():
    page = reference.http_api()
    assert "## POST /api/campaigns\n" in page
    assert "| `lease` | body, optional |" in page


def test_links_that_lead_nowhere_and_pages_that_load_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#here">b</a><a href="c.html">c</a><p id="x">')
    (tmp_path / "b.html").write_text('<a href="a.html#x">a</a><script src="https://elsewhere/x.js"></script>')
    assert links.wrong(tmp_path) == [
        "a.html: there is no anchor b.html#here",
        "a.html: there is no c.html",
        "b.html loads https://elsewhere/x.js",
    ]


PAGE = "| policy | regret | cost |\n|---|---:|---:|\n| SF-UCB | 463.1 ± 6.2 | 7.4 |\n| SF-TS | 490.8 ± 6.4 | 8.6 |\n"


@pytest.mark.parametrize(
    ("printed", "moved"),
    [
        (PAGE, 0),
        (PAGE.replace("463.1", "463.2"), 1),
        (PAGE.replace("8.6", "9.9"), 0),  # the column is not judged
        (PAGE.replace("SF-TS", "TS"), 1),  # a row that the page lacks
    ],
)
def test_numbers_that_moved_are_found(printed, moved):
    found, compared = numbers.differences(PAGE, printed, ("cost",))
    assert len(found) == moved
    assert compared >= 1


def test_a_drawn_table_is_compared_with_one_in_markdown():
    drawn = " policy    regret  cost\n ──────  ────────  ────\n SF-UCB  463.1 ± 6.2  7.4\n"
    assert numbers.differences(PAGE, drawn) == ([], 1)
    assert len(numbers.differences(PAGE, drawn.replace("7.4", "7.5"))[0]) == 1


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table["command"][:60])
def test_commands_stand_beside_the_numbers_they_make(table):
    page = (ROOT / "docs" / table["page"]).read_text("utf-8")
    assert table.get("beside", table["command"]) in page
    words = table["command"].split()
    program = ROOT / (words[1] if words[1].endswith(".py") else "benchmarks")
    assert words[0] in {"sharpe-bandits", "make"} or program.exists()


PICTURES = json.loads((ROOT / "docs" / "images" / "pictures.json").read_text("utf-8"))
PAGES = [path for path in (ROOT / "docs").rglob("*.md") if "_generated" not in path.parts]


def test_every_picture_is_as_new_as_the_code_that_draws_it():
    pytest.importorskip("matplotlib")
    from docs.site import pictures

    assert set(PICTURES) == set(pictures.PICTURES)
    stale = [name for name, entry in PICTURES.items() if entry["code"] != pictures.digest(name)]
    assert not stale, f"make docs-pictures PICTURES='{' '.join(stale)}'"


def test_pages_show_pictures_that_a_command_makes_and_quote_their_numbers():
    texts = [page.read_text("utf-8") for page in (*PAGES, ROOT / "README.md")]
    shown = {name for text in texts for name in re.findall(r"images/(\w+)\.(?:svg|png)", text)}
    files = {path.stem for path in (ROOT / "docs" / "images").iterdir() if path.suffix in {".svg", ".png"}}
    assert shown == files == set(PICTURES)
    for name, entry in PICTURES.items():
        beside = " ".join(text for text in texts if f"images/{name}." in text)
        missing = [number for number in entry["numbers"].values() if number not in beside]
        assert not missing, f"no page with {name} says {missing}"


def test_the_page_of_files_names_every_column(tmp_path):
    """Of the tables that commands write, from a small one of each."""
    page = (ROOT / "docs" / "reference" / "files.md").read_text("utf-8")
    named = set(re.findall(r"`([a-z_0-9]+)`", page))
    rows = np.random.default_rng(1).normal([0.001, 0.0005, 0.0], 0.01, (120, 3))
    table = sb.read_returns(rows, names=["a", "b", "c"], kind="returns", periods_per_year=252)
    sb.rank(table, replications=100).report(tmp_path / "rank")
    sb.compare(table, replications=100).report(tmp_path / "compare")
    sb.replay(table, ["SF-UCB"], runs=2).report(tmp_path / "replay")
    problem = sb.BestArmProblem.from_sharpes([9.0, 0.0], volatility=0.15, periods_per_year=252)
    sb.plan(problem, budget=60, runs=100).report(tmp_path / "plan")
    for name in ("rank/ranking", "compare/comparison", "replay/replay", "replay/log", "plan/plan"):
        columns = (tmp_path / f"{name}.csv").read_text("utf-8").splitlines()[0].split(",")
        derived = {c for c in columns if re.sub(r"^annual_|_(low|high|iid|robust)$", "", c) in named}
        assert set(columns) <= named | derived, f"{name}.csv: {sorted(set(columns) - named - derived)}"


#: What a line of a notebook is replaced by that takes IPython, which comes with the libraries of ``make docs``.
PLAIN = {"from IPython.display import Image": "Image = lambda path: path.read_bytes()"}
TUTORIALS = sorted(path for path in (ROOT / "docs" / "tutorials").glob("*.md") if path.name != "index.md")


def test_every_notebook_is_in_the_list():
    listed = (ROOT / "docs" / "tutorials" / "index.md").read_text("utf-8")
    assert len(TUTORIALS) >= 6
    for path in TUTORIALS:
        assert f"\n{path.stem}\n" in listed


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    """Cell by cell, as typed in: what is started from it finds no file to read again. That it runs shows in few runs."""
    few = re.compile(r"(\bruns[= ])([\d_]+)")
    text = few.sub(lambda found: f"{found[1]}{min(int(found[2]), 100)}", path.read_text("utf-8"))
    cells = text.split("```{code-cell} ipython3\n")[1:]
    assert cells
    lines = [line for cell in cells for line in cell.split("```")[0].splitlines() if not line.startswith((":", "%"))]
    command = "!{sys.executable} "
    typed = [
        f"import subprocess; subprocess.run([sys.executable, *{line.removeprefix(command).split()!r}], check=True)"
        if line.startswith(command)
        else PLAIN.get(line, line)
        for line in lines
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(typed)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_community_files_agree():
    """One licence, one address of the project; names in the citation are the paper's."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"license: {project['license']}" in citation
    assert f"repository-code: {project['urls']['Source']}" in citation
    assert project["urls"]["Source"] in (ROOT / "SECURITY.md").read_text("utf-8")
    assert json.dumps("Optimizing Sharpe Ratio: Risk-Adjusted Decision-Making in Multi-Armed Bandits") in citation


def test_classifiers_claim_the_versions_of_python_that_were_tested():
    """By the table that ``make matrix`` fills."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    claimed = {c.rpartition(" ")[2] for c in project["classifiers"] if ":: Python :: 3." in c}
    assert claimed == matrix.tested_versions(matrix.PAGE.read_text("utf-8"))
    row = "| 3.12.1 | 0.61.2 | 2.2.6 | {} |\n"
    assert matrix.tested_versions(matrix.BEGIN + row.format("288 passed, 1 skipped")) == {"3.12"}
    assert not matrix.tested_versions(matrix.BEGIN + row.format("288 passed") + row.format("1 failed, 287 passed"))
