"""The report in a real browser that has no network: Chromium, driven by Playwright."""

import json
import os
import shutil

import numpy as np
import pytest

from sharpe_bandits.cli import main

NAMES = ("chromium", "chromium-browser", "google-chrome")
SHOWN = "t => (t.visible ?? true) === true"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture(scope="session")
def browser():
    path = next((found for found in map(shutil.which, NAMES) if found), None)
    if path is None:
        reason = f"no browser found; install one of {', '.join(NAMES)} (on Debian: apt install chromium)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()


class Opened:
    """A report in a browser, with all that it asked for and all that went wrong."""

    def __init__(self, browser, path, width=1200):
        self.url = path.resolve().as_uri()
        self.context = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce")
        self.context.set_offline(True)
        self.requests, self.problems = [], []
        self.context.route(lambda url: not url.startswith(("file:", "data:", "blob:")), lambda route: route.abort())
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda told: self.problems.append(told.text) if told.type == "error" else None)
        self.page.goto(self.url)

    def chart(self, panel, number=0):
        """A chart, scrolled to and drawn."""
        found = self.page.locator(f'.chart[data-panel="{panel}"][data-chart="{number}"]')
        found.scroll_into_view_if_needed()
        self.page.wait_for_function(
            "chart => chart.dataset.drawn === 'yes' && chart.data && chart._fullLayout", arg=found.element_handle()
        )
        return found

    def close(self):
        self.context.close()
        assert self.problems == []
        loaded = [url for url in self.requests if not url.startswith(("data:", "blob:"))]
        assert {url.split("#")[0] for url in loaded} == {self.url}


@pytest.fixture
def opened(browser, folder):
    report = Opened(browser, folder / "report.html")
    yield report
    report.close()


def names(chart):
    return chart.evaluate("c => c.data.filter(t => t.showlegend !== false).map(t => t.name)")


def test_every_chart_is_drawn_when_it_is_scrolled_to(opened):
    charts = opened.page.locator(".chart")
    assert charts.count() == 2 + 1 + 2 + 1  # R2 and B1 in two profiles, V3 and C1 in one
    assert opened.page.locator('.chart[data-panel="C1-paper"][data-drawn]').count() == 0  # far below, not yet
    for number in range(charts.count()):
        panel = charts.nth(number).get_attribute("data-panel")
        chart = opened.chart(panel)
        box = chart.locator("svg.main-svg").first.bounding_box()
        assert box["width"] > 300
        assert box["height"] > 200
        drawn = chart.locator("g.scatterlayer .trace")
        assert drawn.count() == chart.evaluate(f"c => c.data.filter({SHOWN}).length") > 0


def test_a_chart_has_axes_a_legend_and_its_curves(opened):
    chart = opened.chart("R2-paper")
    assert {"UCB-RSSR, L = 0.5", "U-UCB, L = 0.5", "UCB-RSSR, L = 5", "U-UCB, L = 5"} <= set(names(chart))
    assert chart.locator(".legendtext").all_text_contents() == names(chart)
    assert chart.locator(".xtitle").text_content() == "rounds t"
    assert chart.locator(".ytitle").text_content() == "regret"
    legend, plot = chart.locator("g.legend").bounding_box(), chart.locator("rect.nsewdrag").first.bounding_box()
    assert legend["y"] >= plot["y"] + plot["height"]  # it covers no curve
    frame = chart.bounding_box()
    assert legend["y"] + legend["height"] <= frame["y"] + frame["height"] + 1  # and is not cut off


def test_a_curve_and_its_band_can_be_toggled(opened):
    chart = opened.chart("R2-paper")
    visible = "c => c.data.filter(t => t.legendgroup === 'U-UCB, L = 5').map(t => t.visible ?? true)"
    others = visible.replace("===", "!==")
    before = chart.evaluate(others)
    assert chart.evaluate(visible) == [True, True]
    assert before.count(True) >= 6
    entry = chart.locator("g.traces", has_text="U-UCB, L = 5").locator(".legendtoggle")
    entry.click()
    opened.page.wait_for_function(f"c => ({visible})(c).every(v => v === 'legendonly')", arg=chart.element_handle())
    assert chart.evaluate(others) == before
    entry.click()
    opened.page.wait_for_function(f"c => ({visible})(c).every(v => v === true)", arg=chart.element_handle())


def test_points_can_be_toggled_too(opened):
    chart = opened.chart("B1-authors")
    chart.locator("g.traces", has_text="SuRSR").first.locator(".legendtoggle").click()
    opened.page.wait_for_function(
        "c => c.data.find(t => t.name === 'SuRSR').visible === 'legendonly'", arg=chart.element_handle()
    )


def test_the_buttons_change_metric_and_axis(opened):
    chart = opened.chart("R2-paper")
    other = opened.chart("R2-authors")
    section = opened.page.locator('[id="R2-paper"]')
    before = chart.evaluate("c => c.data.find(t => t.name === 'U-UCB, L = 5').y")
    section.get_by_role("button", name="Sub-optimal plays").click()
    assert chart.locator(".ytitle").text_content() == "sub-optimal plays"
    after = chart.evaluate("c => c.data.find(t => t.name === 'U-UCB, L = 5').y")
    assert before[-1] < after[-1]  # the gap is below 1
    assert section.get_by_role("button", name="Sub-optimal plays").get_attribute("aria-pressed") == "true"
    assert section.get_by_role("button", name="Regret").get_attribute("aria-pressed") == "false"
    assert chart.evaluate("c => c._fullLayout.xaxis.type") == "log"
    section.get_by_role("button", name="linear t").click()
    assert chart.evaluate("c => [c._fullLayout.xaxis.type, ...c._fullLayout.xaxis.range]") == ["linear", 0, 10_000]
    section.get_by_role("button", name="log t").click()
    assert chart.evaluate("c => [c._fullLayout.xaxis.type, ...c._fullLayout.xaxis.range]") == ["log", 1, 4]
    section.get_by_role("button", name="Regret").click()
    assert chart.evaluate("c => c.data.find(t => t.name === 'U-UCB, L = 5').y") == before
    assert other.locator(".ytitle").text_content() == "regret"  # each panel has buttons of its own


def test_every_verdict_jumps_to_its_panel(opened):
    chips = opened.page.locator("table.scorecard a.chip")
    assert chips.count() > 10
    seen = set()
    for number in range(chips.count()):
        target = chips.nth(number).get_attribute("href")
        if target in seen:
            continue
        seen.add(target)
        opened.page.evaluate("window.scrollTo(0, 0)")
        chips.nth(number).click()
        assert opened.page.evaluate("location.hash") == target
        opened.page.wait_for_function(
            """id => { const top = document.getElementById(id).getBoundingClientRect().top;
                       const nav = document.querySelector("nav").getBoundingClientRect().bottom;
                       return top > nav - 20 && top < innerHeight / 2; }""",
            arg=target[1:],
        )
    assert seen == {"#R2-paper", "#R2-authors", "#V3-paper", "#B1-paper", "#B1-authors", "#C1-paper"}


def test_evidence_is_a_click_away(opened):
    section = opened.page.locator('[id="R2-paper"]')
    details = section.locator("details", has_text="R2.1").first
    assert not details.locator("table").is_visible()
    details.locator("summary").click()
    assert details.locator("table").is_visible()
    assert "UCB-RSSR @ L=0.5 < U-UCB @ L=0.5" in details.inner_text()


def test_all_charts_are_on_paper_when_it_is_printed(opened):
    opened.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert opened.page.locator(".chart:not([data-drawn])").count() == 0


def test_it_fits_a_telephone(browser, folder):
    report = Opened(browser, folder / "report.html", width=390)
    report.chart("R2-paper")
    assert report.page.evaluate("document.documentElement.scrollWidth") <= 390
    report.close()


def test_the_report_of_an_own_experiment(browser, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # the name of the file is that of a part of the page
    (tmp_path / "data.toml").write_text(
        """
        horizon = 60
        runs = 8
        sweep = { p = [0.3, 0.5] }
        arms = [{ kind = "Bernoulli", p = ["p", 0.9] }]
        objective = { kind = "RSSR", L = 0.5 }
        policies = [{ kind = "UCBRSSR", L = 0.5 }, { kind = "UUCB", epsilon0 = 0.5, name = "a <b>" }]
        """
    )
    assert main(["run", "data.toml"]) == 0
    report = Opened(browser, tmp_path / "out" / "data" / "report.html")
    for number in (0, 1):
        assert names(report.chart("data", number))[:2] == ["UCB-RSSR", "a <b>"]
    report.close()


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """The page of a plan."""
    out = tmp_path_factory.mktemp("plan")
    assert main(["plan", "--arms", "4", "--best-sharpe", "8", "--gap", "6", "--seed", "7", "--out", str(out)]) == 0
    return out / "plan.html"


def test_the_page_of_a_plan(browser, planned):
    report = Opened(browser, planned)
    chart = report.chart("plan")
    assert names(chart) == ["SHSR", "SuRSR", "Uniform sampling"]
    assert chart.evaluate("c => [c._fullLayout.xaxis.type, c._fullLayout.yaxis.type]") == ["log", "log"]
    assert chart.locator(".ytitle").text_content() == "probability of error"
    assert "target 0.05" in chart.locator(".annotation").all_text_contents()
    kept = json.loads(planned.with_suffix(".json").read_text("utf-8"))
    bars = chart.evaluate(
        "c => c.data.filter(t => t.hovertemplate && t.hovertemplate.startsWith('needs')).map(t => t.x)"
    )
    for bar, need in zip(bars, kept["needs"], strict=True):
        assert bar == pytest.approx([need["rounds"]["low"], need["rounds"]["high"]], rel=1e-5)
    legend, plot = chart.locator("g.legend").bounding_box(), chart.locator("rect.nsewdrag").first.bounding_box()
    assert legend["y"] >= plot["y"] + plot["height"]
    assert report.page.locator("table").nth(1).is_hidden()
    report.page.get_by_text("All points").click()
    assert report.page.locator("table").nth(1).locator("tr").count() == 1 + len(kept["points"])
    report.close()


def test_a_policy_of_a_plan_is_toggled_with_its_line_and_its_bar(browser, planned):
    report = Opened(browser, planned)
    chart = report.chart("plan")
    chart.locator("g.traces", has_text="SuRSR").locator(".legendtoggle").click()
    hidden = "c => c.data.filter(t => t.visible === 'legendonly').map(t => t.legendgroup)"
    report.page.wait_for_function(f"c => ({hidden})(c).length > 0", arg=chart.element_handle())
    of_it = chart.evaluate("c => c.data.filter(t => t.legendgroup === 'SuRSR').length")
    assert of_it >= 4  # band, line, bar and points
    assert chart.evaluate(hidden) == ["SuRSR"] * of_it
    report.close()


def test_a_plan_fits_a_telephone(browser, planned):
    report = Opened(browser, planned, width=390)
    report.chart("plan")
    assert report.page.evaluate("document.documentElement.scrollWidth") <= 390
    report.close()


def test_the_page_of_a_replay(browser, tmp_path, monkeypatch):
    """Wealth is drawn without a network, a curve goes and comes back with its band, and the scale can be changed."""
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(1).normal(0.0005, 0.01, (300, 3))
    days = np.datetime64("2020-01-01") + np.arange(300)
    lines = [f"{day},{','.join(map(str, row))}" for day, row in zip(days, rows, strict=True)]
    (tmp_path / "funds.csv").write_text("\n".join(["date,a,b <i>,c", *lines]))
    options = ["--kind", "returns", "--periods-per-year", "252", "--policies", "SF-UCB", "SF-TS", "--runs", "5"]
    assert main(["replay", "funds.csv", *options]) == 0
    path = tmp_path / "out" / "replay-funds" / "replay.html"
    for width in (1200, 390):
        report = Opened(browser, path, width=width)
        chart = report.chart("replay")
        shown = names(chart)
        assert shown[:2] == ["SF-UCB", "SF-TS, median of 5 runs"]
        assert shown[2] == "equal weight"
        assert chart.locator(".legendtext").all_text_contents() == shown
        legend, plot = chart.locator("g.legend").bounding_box(), chart.locator("rect.nsewdrag").first.bounding_box()
        assert legend["y"] >= plot["y"] + plot["height"]
        assert legend["y"] + legend["height"] <= chart.bounding_box()["y"] + chart.bounding_box()["height"] + 1
        assert report.page.evaluate("document.documentElement.scrollWidth") <= width
        visible = "c => c.data.filter(t => t.legendgroup.startsWith('SF-TS')).map(t => t.visible ?? true)"
        assert chart.evaluate(visible) == [True, True]
        entry = chart.locator("g.traces", has_text="SF-TS").locator(".legendtoggle")
        entry.click()
        report.page.wait_for_function(f"c => ({visible})(c).every(v => v === 'legendonly')", arg=chart.element_handle())
        entry.click()
        report.page.wait_for_function(f"c => ({visible})(c).every(v => v === true)", arg=chart.element_handle())
        assert chart.evaluate("c => c._fullLayout.yaxis.type") == "log"
        report.page.get_by_role("button", name="linear scale").click()
        assert chart.evaluate("c => c._fullLayout.yaxis.type") == "linear"
        assert "wrong tool" in report.page.locator(".note").inner_text()
        assert report.page.locator("#shares tr").nth(2).locator("th").inner_text() == "b <i>"
        report.close()
