"""Names that look like markup, formulas or code go through every page and file as text: nothing is run."""

import csv
import io
import re

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.charts.render_matplotlib import pictures
from sharpe_bandits.planning.needs import EVERY_ARM
from sharpe_bandits.report.page import Section, page
from tests.hostile import NAMES
from tests.report.browsing import Opened
from tests.synthetic import ARMS, case, finished, outcome, panel, wrong_plays

SHORT = [name for name in NAMES if len(name) < 100]


def plain(texts):
    return [" ".join(text.split()) for text in texts]


def check(report, key, names):
    """The names are in a figure as text, and none was taken for code; long ones are broken into lines."""
    shown = "".join("".join(report.texts(key)).split())
    for name in names:
        assert "".join(name.split()) in shown, name
    assert report.page.evaluate("window.hacked") is None
    assert report.page.locator(".picture image, .picture a[href], main img").count() == 0
    width = report.page.viewport_size["width"]
    assert report.page.evaluate("document.documentElement.scrollWidth") <= width


def formulas(data):
    """Cells that a spreadsheet would run."""
    cells = [cell for row in csv.reader(io.StringIO(data.decode())) for cell in row]
    return [c for c in cells if c[:1] in tuple("=+-@\t\r") and c and not re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?", c)]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report of a regret and an error panel whose policies and cases have such names."""
    policies = [sb.policies.UCB1(name=name) for name in NAMES]
    runs = [wrong_plays(policy, [1 + k % 5, 2 + k % 7]) for k, policy in enumerate(policies)]
    regret = finished(panel([case(policies, {"set": NAMES[4]})], id="R9"), runs)
    stops = [outcome(policy, [[[5, 5]]] * 4, (10,), recommended=[0, 1, 0, 0]) for policy in policies]
    cases = [case(policies, {"set": name}, sb.Mean(), ARMS) for name in NAMES[:2]]
    error = finished(panel(cases, "error", id="B9"), stops, stops)
    sections = [
        Section(done.panel, done.studies, done.rows(), pictures(done.figure(done.rows()))) for done in (regret, error)
    ]
    path = tmp_path_factory.mktemp("names") / "report.html"
    path.write_text(page(NAMES[3], NAMES[4], sections, **{NAMES[5]: NAMES[6]}), "utf-8")
    return path


@pytest.mark.parametrize("width", [1200, 420])
def test_the_report(browser, report, width):
    opened = Opened(browser, report, width=width)
    for key in ("R9-paper", "B9-paper"):
        check(opened, key, NAMES)
    assert opened.page.locator("h1").inner_text() == NAMES[3]
    opened.close()


def test_what_is_said_of_a_curve_is_text_too(browser, report):
    opened = Opened(browser, report)
    tips = opened.figure("R9-paper").locator("title").all_text_contents()
    for name in NAMES:
        assert any(tip.startswith(f"{name}: ") for tip in tips), name
    opened.unfold()
    opened.figure("R9-paper").get_by_role("button", name="Enlarge").click()
    assert opened.page.evaluate("window.hacked") is None
    opened.close()


@pytest.fixture(scope="module")
def returns():
    x = np.random.default_rng(0).normal(0.001, 0.01, (200, len(NAMES)))
    return sb.read_returns(x, kind="returns", periods_per_year=252, names=NAMES)


def test_a_replay(browser, returns, tmp_path):
    policies = [sb.ScaleFreeUCB(1e-5, name=name) for name in NAMES[:12]]
    sb.replay(returns, policies).report(tmp_path)
    opened = Opened(browser, tmp_path / "replay.html")
    check(opened, "wealth", [f"{name}, median of 100 runs" for name in NAMES[:12]])
    rows = opened.page.locator("#shares tr th:first-child").all_text_contents()[1:]
    assert plain(rows) == plain(NAMES)
    opened.close()
    for name in ("replay.csv", "wealth.csv"):
        assert formulas((tmp_path / name).read_bytes()) == []


def test_a_ranking(browser, returns, tmp_path):
    sb.rank(returns, block=1, replications=100).report(tmp_path)
    opened = Opened(browser, tmp_path / "ranking.html")
    assert opened.page.evaluate("window.hacked") is None
    shown = opened.page.locator("table").first.locator("tr th:first-child").all_text_contents()[1:]
    assert sorted(plain(shown)) == sorted(plain(NAMES))
    drawn = plain(opened.page.locator("svg text").all_text_contents())
    assert {name for name in plain(SHORT) if len(name) <= 28} <= set(drawn)
    opened.close()
    assert formulas((tmp_path / "ranking.csv").read_bytes()) == []


def test_a_plan(browser, tmp_path):
    problem = sb.BestArmProblem.from_gap(4, 8, 6)
    policies = [sb.SHSR(0.01, name=name) for name in NAMES[:6]]
    sb.plan(problem, budget=[40, 100], policies=policies, runs=50).report(tmp_path)
    opened = Opened(browser, tmp_path / "plan.html")
    check(opened, "plan", [*NAMES[:6], EVERY_ARM])
    opened.close()
    assert formulas((tmp_path / "plan.csv").read_bytes()) == []


def test_an_own_experiment_from_the_command_line(tmp_path, monkeypatch, capsys):
    """The simulation is not lost to a name that its figure cannot show."""
    from sharpe_bandits.cli.program import main

    monkeypatch.chdir(tmp_path)
    listed = ", ".join(f'{{ kind = \'UCB1\', name = """{name}""" }}' for name in ("$SPY_$QQQ", "=1+1"))
    (tmp_path / "own.toml").write_text(
        f"horizon = 60\nruns = 4\narms = [{{ kind = 'Bernoulli', p = [0.5, 0.9] }}]\nobjective = {{ kind = 'Mean' }}\n"
        f"policies = [{listed}]\n"
    )
    assert main(["run", "own.toml"]) == 0
    assert "$SPY_$QQQ" in (tmp_path / "out" / "own" / "figures" / "own.svg").read_text()
    assert formulas((tmp_path / "out" / "own" / "data" / "own.csv").read_bytes()) == []
