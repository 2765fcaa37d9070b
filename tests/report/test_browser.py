"""The report in a real browser that has no network: Chromium, driven by Playwright."""

import io
import json
import math
import re

import numpy as np
import pytest
from PIL import Image

from sharpe_bandits.cli.program import main
from sharpe_bandits.planning.needs import EVERY_ARM
from tests.report.browsing import Opened, settle, tops


@pytest.fixture
def opened(browser, folder):
    report = Opened(browser, folder / "report.html")
    yield report
    report.close()


def test_every_figure_is_there_and_fits(opened):
    opened.unfold()
    figures = opened.page.locator("figure.picture")
    assert figures.count() == 2 + 1 + 2 + 1  # R2 and B1 in two profiles, V3 and C1 in one
    for number in range(figures.count()):
        box = figures.nth(number).locator("svg").bounding_box()
        assert box["width"] > 300
        assert box["height"] > 200
        assert box["x"] + box["width"] <= 1200


def test_a_figure_has_axes_a_legend_and_says_its_numbers(opened):
    texts = opened.texts("R2-paper")
    assert {"UCB-RSSR", "U-UCB (ε₀ = L)", "L = 0.5", "L = 5", "regret R(t)", "rounds t"} <= set(texts)
    tips = opened.figure("R2-paper").locator("title").all_text_contents()
    assert any(re.search(r"U-UCB.*: [\d.]+ ± [\d.]+ \(s\.e\.\) at t = 10,000", tip) for tip in tips)


@pytest.mark.parametrize("width", [1200, 420])
def test_a_figure_is_enlarged_and_moved_by_scrolling(browser, folder, width):
    report = Opened(browser, folder / "report.html", width=width)
    report.unfold()
    dialog = report.page.locator("dialog")
    assert not dialog.is_visible()
    figure = report.figure("R2-paper")
    before = figure.locator("svg").bounding_box()["width"]
    figure.get_by_role("button", name="Enlarge").click()
    assert dialog.is_visible()
    assert dialog.locator("svg").bounding_box()["width"] >= 1.5 * before
    assert dialog.evaluate("d => d.scrollWidth > d.clientWidth")
    right, down = dialog.evaluate("d => [d.scrollWidth - d.clientWidth, d.scrollHeight - d.clientHeight]")
    dialog.evaluate("d => d.scrollTo(300, 200)")
    assert dialog.evaluate("d => [d.scrollLeft, d.scrollTop]") == [300, min(200, down)]
    assert right >= 300
    assert dialog.get_by_role("button", name="Close").is_visible()  # wherever one has scrolled to
    report.page.keyboard.press("Escape")
    assert not dialog.is_visible()
    report.figure("B1-authors").locator("svg").click()  # a click on the picture does the same
    assert dialog.is_visible()
    assert "SuRSR" in dialog.locator("svg text").all_text_contents()
    dialog.get_by_role("button", name="Close").click()
    assert not dialog.is_visible()
    assert figure.locator("svg").count() == 1
    report.close()


@pytest.mark.parametrize("width", [1200, 420])
def test_links_lead_to_where_they_say(browser, folder, width):
    """A heading that was clicked on stands right below the bar."""
    report = Opened(browser, folder / "report.html", width=width)
    page = report.page
    links = page.locator("nav a, table.scorecard a.chip")
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
    assert panels | {"#answer", "#scorecard", "#panels", "#theory", "#made"} <= set(seen)
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


def test_evidence_is_a_click_away(opened):
    opened.unfold()
    section = opened.page.locator('[id="R2-paper"]')
    details = section.locator("details", has_text="R2.1").first
    assert not details.locator("table").first.is_visible()
    details.locator("summary").first.click()
    assert details.locator("table").first.is_visible()
    assert "UCB-RSSR @ L=0.5 < U-UCB @ L=0.5" in details.inner_text()


def test_it_fits_a_telephone(browser, folder):
    report = Opened(browser, folder / "report.html", width=390)
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
    assert {"UCB-RSSR", "a <b> (ε₀ = L)", "p = 0.3, L = 0.5", "p = 0.5, L = 0.5"} <= set(report.texts("data"))
    report.close()


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """The page of a plan."""
    out = tmp_path_factory.mktemp("plan")
    assert main(["plan", "--arms", "4", "--best-sharpe", "8", "--gap", "6", "--seed", "7", "--out", str(out)]) == 0
    return out / "plan.html"


def test_the_page_of_a_plan(browser, planned):
    report = Opened(browser, planned)
    texts = report.texts("plan")
    assert {
        "Sequential halving",
        "Successive rejects",
        "Uniform sampling",
        EVERY_ARM,
        "probability of error",
        "target 0.05",
    } <= set(texts)
    kept = json.loads(planned.with_suffix(".json").read_text("utf-8"))
    tips = report.figure("plan").locator("title").all_text_contents()
    for need in kept["needs"]:
        low, high = (math.ceil(need["rounds"][end]) for end in ("low", "high"))
        assert any(f"needs {math.ceil(need['rounds']['mean']):,} rounds [{low:,}, {high:,}]" in tip for tip in tips)
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
    colours = "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]"
    _, paper = report.page.locator("body").evaluate(colours)
    assert (sum(map(int, re.findall(r"\d+", paper)[:3])) > 600) == (scheme == "light")
    for what in ("body", "th >> nth=0", ".lead >> nth=0", ".files a >> nth=0", ".picture button >> nth=0"):
        assert contrast(report.page.locator(what).evaluate(colours)[0], paper) >= 4.5
    # figures are drawn on white, and turned over in the dark
    picture = Image.open(io.BytesIO(report.figure("plan").locator("svg").screenshot())).convert("RGB")
    corner = picture.getpixel((4, 4))
    assert contrast(f"rgb{corner}", paper) < 1.05
    report.close()


def test_a_plan_fits_a_telephone(browser, planned):
    report = Opened(browser, planned, width=390)
    assert report.page.evaluate("document.documentElement.scrollWidth") <= 390
    report.close()


def test_the_page_of_a_replay(browser, tmp_path, monkeypatch):
    """Its figures are shown without a network."""
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
        assert {"SF-UCB, median of 5 runs", "SF-TS, median of 5 runs", "equal weight"} <= set(report.texts("wealth"))
        assert "loss from the last peak" in report.texts("drawdown")
        assert "b <i>" in report.texts("timeline")
        assert report.page.evaluate("document.documentElement.scrollWidth") <= width
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
