"""The report in a real browser that has no network: Chromium, driven by Playwright."""

import io
import json
import re

import numpy as np
import pytest
from PIL import Image

from sharpe_bandits.cli import main
from sharpe_bandits.planning.needs import EVERY_ARM
from tests.report.browsing import Opened, apart, entry, labels, legend, names, settle, tops

SHOWN = "t => (t.visible ?? true) === true"


@pytest.fixture
def opened(browser, folder):
    report = Opened(browser, folder / "report.html")
    yield report
    report.close()


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
        assert chart.bounding_box()["height"] == box["height"]  # the room that was kept for it


def test_a_chart_has_axes_a_legend_and_its_curves(opened):
    chart = opened.chart("R2-paper")
    assert {"UCB-RSSR, L = 0.5", "U-UCB, ε₀ = 0.5", "UCB-RSSR, L = 5", "U-UCB, ε₀ = 5"} <= set(names(chart))
    drawn = chart.evaluate("c => c.data.filter(t => t.showlegend).map(t => t.name)")
    assert sorted(names(chart)) == sorted(drawn)
    assert chart.locator(".xtitle").text_content() == "rounds t"
    assert chart.locator(".ytitle").text_content() == "regret R(t)"
    apart(chart)


def test_a_curve_and_its_band_can_be_toggled(opened):
    chart = opened.chart("R2-paper")
    visible = "c => c.data.filter(t => t.legendgroup === 'U-UCB, ε₀ = 5').map(t => t.visible ?? true)"
    others = visible.replace("===", "!==")
    before = chart.evaluate(others)
    assert chart.evaluate(visible) == [True, True]
    assert before.count(True) >= 6
    entry(chart, "U-UCB, ε₀ = 5").click()
    opened.page.wait_for_function(f"c => ({visible})(c).every(v => v === 'legendonly')", arg=chart.element_handle())
    assert chart.evaluate(others) == before
    entry(chart, "U-UCB, ε₀ = 5").click()
    opened.page.wait_for_function(f"c => ({visible})(c).every(v => v === true)", arg=chart.element_handle())


def test_a_double_click_shows_one_curve_alone_and_then_all(opened):
    chart = opened.chart("R2-paper")
    visible = "c => [...new Set(c.data.filter(t => t.visible === true).map(t => t.legendgroup))]"
    entry(chart, "U-UCB, ε₀ = 5").dblclick()
    opened.page.wait_for_function(f"c => ({visible})(c).join() === 'U-UCB, ε₀ = 5'", arg=chart.element_handle())
    entry(chart, "U-UCB, ε₀ = 5").dblclick()
    opened.page.wait_for_function(f"c => ({visible})(c).length === {legend(chart).count()}", arg=chart.element_handle())


def test_points_can_be_toggled_too(opened):
    chart = opened.chart("B1-authors")
    entry(chart, "SuRSR").click()
    opened.page.wait_for_function(
        "c => c.data.find(t => t.name === 'SuRSR').visible === 'legendonly'", arg=chart.element_handle()
    )


def test_the_buttons_change_metric_and_axis(opened):
    chart = opened.chart("R2-paper")
    other = opened.chart("R2-authors")
    section = opened.page.locator('[id="R2-paper"]')
    before = chart.evaluate("c => c.data.find(t => t.name === 'U-UCB, ε₀ = 5').y")
    section.get_by_role("button", name="Sub-optimal plays").click()
    assert chart.locator(".ytitle").text_content() == "sub-optimal plays"
    after = chart.evaluate("c => c.data.find(t => t.name === 'U-UCB, ε₀ = 5').y")
    assert before[-1] < after[-1]  # the gap is below 1
    assert section.get_by_role("button", name="Sub-optimal plays").get_attribute("aria-pressed") == "true"
    assert section.get_by_role("button", name="Regret").get_attribute("aria-pressed") == "false"
    assert chart.evaluate("c => c._fullLayout.xaxis.type") == "log"
    section.get_by_role("button", name="linear t").click()
    assert chart.evaluate("c => [c._fullLayout.xaxis.type, ...c._fullLayout.xaxis.range]") == ["linear", 0, 10_000]
    section.get_by_role("button", name="log t").click()
    assert chart.evaluate("c => [c._fullLayout.xaxis.type, ...c._fullLayout.xaxis.range]") == ["log", 1, 4]
    section.get_by_role("button", name="Regret").click()
    assert chart.evaluate("c => c.data.find(t => t.name === 'U-UCB, ε₀ = 5').y") == before
    assert other.locator(".ytitle").text_content() == "regret R(t)"  # each panel has buttons of its own


@pytest.mark.parametrize("width", [1200, 420])
def test_links_lead_to_where_they_say(browser, folder, width):
    """A heading that was clicked on stands right below the bar, also after all charts on the way were drawn."""
    report = Opened(browser, folder / "report.html", width=width)
    page = report.page
    links = page.locator("nav a, table.scorecard a.chip, .why a")
    seen = []
    for number in range(links.count()):
        target = links.nth(number).get_attribute("href")
        if target in seen:
            continue
        seen.append(target)
        page.evaluate("window.scrollTo(0, 0)")
        links.nth(number).click()
        settle(page)
        assert page.evaluate("location.hash") == target
        top, bar, at_end = tops(page, target[1:])
        assert bar - 1 <= top, target  # not below the bar
        assert top <= bar + 8 or at_end, target
        assert top < 900
    panels = {"#R2-paper", "#R2-authors", "#V3-paper", "#B1-paper", "#B1-authors", "#C1-paper"}
    assert panels | {f"#panel-{id}" for id in ("R2", "V3", "B1", "C1")} | {"#scorecard", "#theory", "#made"} <= set(
        seen
    )
    report.close()


def test_a_link_from_elsewhere_leads_to_its_panel(browser, folder):
    report = Opened(browser, folder / "report.html")
    report.page.goto("about:blank")
    report.page.goto(f"{report.url}#C1-paper")
    settle(report.page)
    top, bar, _ = tops(report.page, "C1-paper")
    assert bar - 1 <= top <= bar + 8
    report.page.goto("about:blank")
    report.requests = [url for url in report.requests if url != "about:blank"]
    report.close()


def test_drawing_moves_nothing(opened):
    """The room of every chart is kept from the start."""
    height = opened.page.evaluate("document.documentElement.scrollHeight")
    opened.page.evaluate("document.querySelectorAll('.chart').forEach(draw)")
    assert opened.page.evaluate("document.documentElement.scrollHeight") == height


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
        chart = report.chart("data", number)
        assert names(chart)[:2] == ["UCB-RSSR", "a <b>"]
        assert "a &lt;b&gt;" in chart.evaluate("c => c.data.map(t => t.name)")  # plotly shows it as text, too
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
    assert names(chart) == ["SHSR", "SuRSR", "Uniform sampling", EVERY_ARM]
    assert chart.evaluate("c => [c._fullLayout.xaxis.type, c._fullLayout.yaxis.type]") == ["log", "log"]
    assert chart.locator(".ytitle").text_content() == "probability of error"
    assert "target 0.05" in chart.locator(".annotation").all_text_contents()
    kept = json.loads(planned.with_suffix(".json").read_text("utf-8"))
    bars = chart.evaluate(
        "c => c.data.filter(t => (t.customdata ?? []).some(d => `${d}`.startsWith('needs'))).map(t => t.x)"
    )
    for bar, need in zip(bars, kept["needs"], strict=True):
        assert bar == pytest.approx([need["rounds"]["low"], need["rounds"]["high"]], rel=1e-5)
    apart(chart)
    assert report.page.locator("table").nth(1).is_hidden()
    report.page.get_by_text("All points").click()
    assert report.page.locator("table").nth(1).locator("tr").count() == 1 + len(kept["points"])
    report.close()


def test_labels_of_logarithmic_axes_are_numbers_that_rise(browser, planned):
    """Never digits of a number alone, as in "1, 9, 8, 7"."""
    report = Opened(browser, planned)
    chart = report.chart("plan")
    for which in ("x", "y"):
        shown = [float(text.replace(",", "")) for text in labels(chart, which)]
        assert len(shown) >= 4
        assert shown == sorted(set(shown))
        # every one is 1, 2 or 5 times a power of ten, and none is left out
        assert all(
            min(abs(value / (m * 10.0**k) - 1) for m in (1, 2, 5) for k in range(-4, 7)) < 1e-9 for value in shown
        )
        ratios = np.divide(shown[1:], shown[:-1])
        assert np.all(np.isclose(ratios, 2) | np.isclose(ratios, 2.5))
    report.close()


def contrast(one, other):
    """Contrast of two colours, as the accessibility guidelines define it: from 1 to 21."""

    def luminance(colour):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dim, bright = sorted([luminance(one), luminance(other)])
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_keeps_to_the_colours_that_its_reader_prefers(browser, planned, scheme):
    report = Opened(browser, planned, scheme=scheme)
    report.chart("plan")
    colours = "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]"
    _, paper = report.page.locator("body").evaluate(colours)
    assert (sum(map(int, re.findall(r"\d+", paper)[:3])) > 600) == (scheme == "light")
    for what in ("body", "th >> nth=0", ".lead >> nth=0", ".files a >> nth=0", ".legend button >> nth=0"):
        assert contrast(report.page.locator(what).evaluate(colours)[0], paper) >= 4.5
    # charts are drawn on white, and turned over in the dark
    picture = Image.open(io.BytesIO(report.page.locator(".chart").screenshot())).convert("RGB")
    corner = picture.getpixel((4, 4))
    assert contrast(f"rgb{corner}", paper) < 1.05
    report.close()


def test_a_policy_of_a_plan_is_toggled_with_its_line_and_its_bar(browser, planned):
    report = Opened(browser, planned)
    chart = report.chart("plan")
    entry(chart, "SuRSR").click()
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
    options = ["--kind", "returns", "--periods-per-year", "252", "--policies", "SF-UCB", "W-TS", "--runs", "5"]
    assert main(["replay", "funds.csv", *options]) == 0
    path = tmp_path / "out" / "replay-funds" / "replay.html"
    for width in (1200, 390):
        report = Opened(browser, path, width=width)
        chart = report.chart("replay")
        shown = names(chart)
        assert shown[:2] == ["SF-UCB, median of 5 runs", "W-TS, median of 5 runs"]
        assert shown[2] == "equal weight"
        apart(chart)
        assert report.page.evaluate("document.documentElement.scrollWidth") <= width
        visible = "c => c.data.filter(t => t.legendgroup.startsWith('W-TS')).map(t => t.visible ?? true)"
        assert chart.evaluate(visible) == [True, True]
        entry(chart, "W-TS").click()
        report.page.wait_for_function(f"c => ({visible})(c).every(v => v === 'legendonly')", arg=chart.element_handle())
        entry(chart, "W-TS").click()
        report.page.wait_for_function(f"c => ({visible})(c).every(v => v === true)", arg=chart.element_handle())
        assert chart.evaluate("c => c._fullLayout.yaxis.type") == "log"
        steps = np.diff([float(text) for text in labels(chart, "y")])
        assert len(steps) >= 2
        assert steps == pytest.approx(steps[0])  # wealth spans less than one power of ten
        report.page.get_by_role("button", name="linear scale").click()
        assert chart.evaluate("c => c._fullLayout.yaxis.type") == "linear"
        assert "wrong tool" in report.page.locator(".note").last.inner_text()
        assert report.page.locator("#shares tr").nth(2).locator("th").inner_text() == "b <i>"
        report.close()


def test_the_page_of_a_ranking_with_many_columns(browser, tmp_path):
    """The table is searched and sorted; what is drawn is the first thirty; it fits a telephone."""
    import sharpe_bandits as sb

    values = np.random.default_rng(1).normal(0.0005, 0.01, (120, 60))
    values[:40, 7] = np.nan
    names = [f"Strategy {k}" for k in range(60)]
    found = sb.rank(
        values, names=names, kind="returns", periods_per_year=252, missing="keep", replications=50, block=1
    )  # fmt: skip
    found.report(tmp_path)
    for width in (1200, 420):
        report = Opened(browser, tmp_path / "ranking.html", width=width)
        assert report.page.evaluate("document.documentElement.scrollWidth") <= width
        table = report.page.locator(".sortable").first
        shown = "t => [...t.querySelectorAll('tbody tr')].filter(r => !r.hidden).map(r => r.cells[0].textContent)"
        assert table.evaluate(shown) == [column.name for column in found.columns]
        table.locator("input").fill("gy 5")
        assert set(table.evaluate(shown)) == {"Strategy 5", *(f"Strategy {k}" for k in range(50, 60))}
        assert table.locator(".found").inner_text() == "11 of 60"
        table.locator("input").fill("")
        table.get_by_role("button", name="annualised Sharpe").click()
        table.get_by_role("button", name="annualised Sharpe").click()
        least = table.locator("tbody tr").first.locator("td").first.inner_text()
        assert float(least) == pytest.approx(found.columns[-1].annual_sharpe, abs=0.06)
        table.get_by_role("button", name="name").click()
        assert table.evaluate(shown)[:2] == ["Strategy 0", "Strategy 1"]
        assert report.page.locator(".matrix tr").count() == 31
        report.close()
