"""Names that look like markup, formulas or code go through every page and file as text: nothing is run."""

import csv
import io
import re

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.planning.needs import EVERY_ARM
from sharpe_bandits.report.page import Content, page
from tests.hostile import NAMES
from tests.report.browsing import Opened, apart, names
from tests.synthetic import ARMS, case, finished, outcome, panel, wrong_plays

SHORT = [name for name in NAMES if len(name) < 100]


def plain(texts):
    return [" ".join(text.split()) for text in texts]


def check(report, keys):
    """Every chart is drawn, every name is in its legend as text, and no name was taken for code."""
    for key in keys:
        chart = report.chart(key)
        assert chart.locator("g.scatterlayer .trace").count() > 0
        apart(chart)
    assert report.page.evaluate("window.hacked") is None
    assert report.page.locator(".plot img, .plot a[href], main img").count() == 0
    width = report.page.viewport_size["width"]
    assert report.page.evaluate("document.documentElement.scrollWidth") <= width


def formulas(data):
    """Cells that a spreadsheet would run."""
    cells = [cell for row in csv.reader(io.StringIO(data.decode())) for cell in row]
    return [c for c in cells if c[:1] in tuple("=+-@\t\r") and c and not re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?", c)]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report of a regret and an error panel whose policies and cases have such names."""
    policies = [sb.UCB1(name=name) for name in NAMES]
    runs = [wrong_plays(policy, [1 + k % 5, 2 + k % 7]) for k, policy in enumerate(policies)]
    regret = finished(panel([case(policies, {"set": NAMES[4]})], id="R9"), runs)
    stops = [outcome(policy, [[[5, 5]]] * 4, (10,), recommended=[0, 1, 0, 0]) for policy in policies]
    cases = [case(policies, {"set": name}, sb.Mean(), ARMS) for name in NAMES[:2]]
    error = finished(panel(cases, "error", id="B9"), stops, stops)
    rows = {done.panel.key: done.rows() for done in (regret, error)}
    path = tmp_path_factory.mktemp("names") / "report.html"
    content = Content(NAMES[3], NAMES[4], [regret, error], rows, facts={NAMES[5]: NAMES[6]})
    path.write_text(page(content), "utf-8")
    return path


@pytest.mark.parametrize("width", [1200, 420])
def test_the_report(browser, report, width):
    opened = Opened(browser, report, width=width)
    check(opened, ["R9-paper", "B9-paper"])
    for key in ("R9-paper", "B9-paper"):
        assert plain(names(opened.chart(key))) == plain(NAMES)
    ticks = opened.chart("B9-paper").locator(".xtick text").all_text_contents()
    assert f"set = {NAMES[0]}" in ticks[0]
    assert opened.page.locator("h1").inner_text() == NAMES[3]
    opened.close()


def test_what_is_said_of_a_point_is_text_too(browser, report):
    opened = Opened(browser, report)
    chart = opened.chart("B9-paper")
    for number, name in enumerate(NAMES):
        if name not in SHORT:
            continue  # broken into several lines
        chart.evaluate("(c, number) => Plotly.Fx.hover(c, [{ curveNumber: number, pointNumber: 0 }])", number)
        opened.page.wait_for_function(
            """([c, name]) => [...c.querySelectorAll("g.hoverlayer text")].some(
                 text => text.textContent.split(/\\s+/).join(" ").trim() === name)""",
            arg=[chart.element_handle(), plain([name])[0]],
        )
        assert chart.locator("g.hoverlayer a").count() == 0
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
    check(opened, ["replay"])
    expected = [f"{name}, median of 100 runs" for name in NAMES[:12]]
    assert plain(names(opened.chart("replay")))[:12] == plain(expected)
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
    policies = [sb.SHSR(problem.objective.L, name=name) for name in NAMES[:6]]
    sb.plan(problem, budget=[40, 100], policies=policies, runs=50).report(tmp_path)
    opened = Opened(browser, tmp_path / "plan.html")
    check(opened, ["plan"])
    assert plain(names(opened.chart("plan"))) == plain([*NAMES[:6], EVERY_ARM])
    opened.close()
    assert formulas((tmp_path / "plan.csv").read_bytes()) == []


def test_an_own_experiment_from_the_command_line(tmp_path, monkeypatch, capsys):
    """The simulation is not lost to a name that its figure cannot show."""
    from sharpe_bandits.cli import main

    monkeypatch.chdir(tmp_path)
    listed = ", ".join(f'{{ kind = \'UCB1\', name = """{name}""" }}' for name in ("$SPY_$QQQ", "=1+1"))
    (tmp_path / "own.toml").write_text(
        f"horizon = 60\nruns = 4\narms = [{{ kind = 'Bernoulli', p = [0.5, 0.9] }}]\nobjective = {{ kind = 'Mean' }}\n"
        f"policies = [{listed}]\n"
    )
    assert main(["run", "own.toml"]) == 0
    assert "$SPY_$QQQ" in (tmp_path / "out" / "own" / "figures" / "own.svg").read_text()
    assert formulas((tmp_path / "out" / "own" / "data" / "own.csv").read_bytes()) == []
