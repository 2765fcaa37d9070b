"""The dashboard in a real browser, as a person uses it."""

import re
import time
import zoneinfo

import numpy as np
import pytest

import sharpe_bandits as sb
from tests.hostile import NAMES

from .conftest import READER, WRITER


@pytest.fixture
def page(browser, served):
    """A page of the service, not signed in; whatever it complains about fails the test."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, accept_downloads=True)
    opened = context.new_page()
    complaints = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    opened.base = served.url
    opened.expected = ()  # statuses that a test is about: browsers complain of each
    yield opened
    context.close()
    assert [text for text in complaints if not any(f"status of {status}" in text for status in opened.expected)] == []


def until(page, condition):
    """Wait until an expression is true in the page. Playwright's own way evaluates text, which the pages forbid."""
    end = time.monotonic() + 30
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        time.sleep(0.05)


def sign_in(page, token, path="/"):
    page.goto(page.base + path)
    page.fill("#token", token)
    page.click("main button[type=submit]")


def test_a_person_s_path(page, store):
    """Refused without a token; watches a reward arrive; finds a stale decision and cancels it; exports the history."""
    campaign = store.campaign("desks")
    stale = campaign.ask(key="forgotten")
    page.expected = (401,)
    sign_in(page, "wrong", "/campaign/desks")
    assert "not valid" in page.inner_text("main")
    page.fill("#token", WRITER)
    page.click("main button[type=submit]")
    page.wait_for_url("**/campaign/desks")
    until(page, "document.querySelector('#live')?.textContent === 'live'")
    page.wait_for_selector("#waiting tbody tr")
    assert "forgotten" in page.inner_text("#waiting")

    told = campaign.ask(key="order-7")
    campaign.tell(told, 0.25)
    until(page, "document.querySelector('[data-fact=rewards]').textContent === '1'")
    until(page, "document.querySelector('#log').textContent.includes('0.25')")

    page.fill("#query", "order-7")
    page.click("#search button")
    until(page, "document.querySelectorAll('#log tbody tr').length === 2")
    page.click("#waiting tbody button")
    assert "Cancel decision 1" in page.inner_text("#confirm-text")
    page.click("#confirm button[value=no]")
    assert campaign.decision(stale.number).state == "pending"
    page.click("#waiting tbody button")
    page.click("#confirm button[value=yes]")
    until(page, "document.querySelector('[data-fact=cancelled]').textContent === '1'")
    assert campaign.decision(stale.number).state == "cancelled"

    with page.expect_download() as download:
        page.click("#csv")
    assert "order-7" in download.value.path().read_text()


def test_a_reader_is_not_offered_to_write(page):
    sign_in(page, READER)
    page.goto(page.base + "/campaign/desks")
    assert page.locator("#add-arm").count() == 0
    assert "read only" in page.inner_text("nav")


def test_campaigns_are_made_and_changed_after_a_question(page, store):
    sign_in(page, WRITER, "/new")
    page.wait_for_url("**/new")
    page.fill("#n-name", "venues/eu")
    page.fill("#n-arms", "one\ntwo\n")
    page.click("main button[type=submit]")
    page.click("#confirm button[value=yes]")
    page.wait_for_url("**/campaign/venues%2Feu")
    page.fill("#new-arm", "three")
    page.click("#add-arm button")
    page.click("#confirm button[value=yes]")
    until(page, "document.querySelectorAll('#arms tbody tr').length === 3")
    assert store.campaign("venues/eu").arms == ["one", "two", "three"]
    page.goto(page.base + "/")
    until(page, "document.querySelectorAll('#campaigns td.spark svg').length === 2")
    names = page.locator("#campaigns tbody th").all_inner_texts()
    page.click("#campaigns thead th:first-child button")
    page.click("#campaigns thead th:first-child button")
    assert page.locator("#campaigns tbody th").all_inner_texts() == sorted(names, reverse=True)


def test_hostile_names_are_text(page, store):
    names = [name for name in NAMES if len(name) <= 200]
    campaign = store.campaign(names[4], policy=sb.ScaleFreeUCB(L=1e-4), arms=names)
    generator = np.random.default_rng(1)
    campaign.tell_many({decision: generator.normal() for decision in campaign.ask(count=150, worker=names[5])})
    campaign.ask(key=names[4], worker=names[5])
    sign_in(page, WRITER)
    page.wait_for_url(re.compile("/$"))
    until(page, "document.querySelectorAll('#campaigns td.spark svg').length === 2")
    page.click("#campaigns a:has-text('window.hacked')")
    page.wait_for_selector("figure[data-chart=intervals] svg")
    page.wait_for_selector("#log tbody tr")
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main b, main script").count() == 0
    shown = page.locator("#arms tbody th").all_text_contents()
    assert sorted(shown) == sorted(names)


def test_which_arm_leads_how_surely_and_what_another_policy_would_have_earned(page, store):
    campaign = store.campaign("explores", policy=sb.ScaleFreeUCB(L=1e-2), arms=["good", "bad"], explore=0.5)
    generator = np.random.default_rng(1)
    for _ in range(20):
        campaign.tell_many({decision: generator.normal(decision.arm == "good") for decision in campaign.ask(count=50)})
    assert campaign.status().leader.probably_best
    sign_in(page, READER, "/campaign/explores")
    page.wait_for_url("**/explores")
    until(page, "document.querySelector('#verdict').textContent === 'good is best'")
    assert page.inner_text("#next-step") == "Play good alone."
    assert "ahead of bad" in page.inner_text("#figure")
    page.click("#why summary")
    assert "Ahead of all other arms since" in page.inner_text("#because")
    assert "gained so far" in page.inner_text("#because")
    assert "time-uniform" in page.inner_text("figure[data-chart=intervals] figcaption")
    assert "confidence sequences" in page.text_content("#interval-note")
    page.fill("#other", "SF-UCB:c=0.2")
    page.press("#other", "Enter")
    until(page, "document.querySelector('#evaluation').textContent.includes('would have earned')")
    page.expected = (404,)
    page.fill("#other", "nonsense")
    page.press("#other", "Enter")
    until(page, "document.querySelector('#evaluation').textContent.includes('nonsense')")
    page.goto(page.base + "/campaign/desks")
    page.wait_for_selector("#evaluate-not")
    assert "explore = 0" in page.inner_text("#evaluate-not")


def test_a_leader_that_is_not_told_apart_is_not_made_to_look_sure(page, store):
    """Arms whose normal approximation is all but sure while confidence sequences are not: these come first."""
    campaign = store.campaign("close", policy=sb.policies.RoundRobin(sb.Mean()), arms=["good", "bad"])
    rewards = {"good": [1.0, -0.2] * 8, "bad": [-0.6, 0.6] * 8}
    campaign.tell_many({decision: rewards[decision.arm].pop() for decision in campaign.ask(count=32)})
    assert not campaign.status().leader.probably_best
    sign_in(page, READER, "/campaign/close")
    until(page, "document.querySelector('#verdict').textContent === 'good leads; too early to act'")
    assert re.search(r"about [\d,]+ more rewards decide it, if arms are", page.inner_text("#next-step"))
    assert "probability" not in page.inner_text(".lead")
    page.click("#why summary")
    assert page.inner_text("#because").startswith("Arms count as separated when the leader is ahead")
    page.goto(page.base + "/")
    until(page, "document.querySelectorAll('#campaigns td.spark svg').length === 2")
    row = page.locator("#campaigns tbody tr[data-name=close] td").all_inner_texts()
    assert row[:4] == ["good leads; too early to act", "32", "0", "0"]
    assert row[4] == "–", "no rate in the first hour"


def test_a_thousand_arms_are_paged_and_filtered(page, store):
    store.campaign("wide", policy=sb.policies.UCB1(), arms=[f"arm {k:04}" for k in range(1000)])
    page.set_viewport_size({"width": 1280, "height": 900})
    sign_in(page, WRITER, "/campaign/wide")
    until(page, "document.querySelector('#live')?.textContent === 'live'")
    until(page, "document.querySelectorAll('#arms tbody tr').length === 25")
    assert page.evaluate("document.documentElement.scrollHeight") < 6000
    page.fill("#arm-filter", "0077")
    until(page, "document.querySelectorAll('#arms tbody tr').length === 1")
    page.fill("#arm-filter", "")
    page.click("#arm-more")
    until(page, "document.querySelectorAll('#arms tbody tr').length === 125")
    head = page.locator("#arms thead th", has_text="missing").bounding_box()
    assert head["x"] + head["width"] < 1280
    page.goto(page.base + "/")
    until(page, "document.querySelectorAll('#campaigns td.spark svg').length === 2")
    box = page.locator("#campaigns thead th", has_text="missing").bounding_box()
    assert box["x"] + box["width"] < 1280


def test_digits_are_those_that_the_error_carries(page, store):
    campaign = store.campaign("digits", policy=sb.policies.RoundRobin(sb.Mean()), arms=["a", "b"])
    generator = np.random.default_rng(1)
    for _ in range(5):
        campaign.tell_many({decision: generator.normal(0.0005, 0.05) for decision in campaign.ask(count=100)})
    sign_in(page, READER, "/campaign/digits")
    until(
        page,
        "document.querySelectorAll('#arms tbody .pm').length > 4 && document.querySelector('#arms tbody .pm').textContent !== ''",
    )
    for text in page.locator("#arms tbody td.n").all_inner_texts():
        if "±" in text:
            value, error = text.split(" ± ")
            assert re.fullmatch(r"-?\d\.\d+", value), text
            assert len(value.partition(".")[2]) == len(error.partition(".")[2]), text
            assert len(error.partition(".")[2].lstrip("0")) <= 2, text


def test_without_a_mouse_and_in_another_time_zone(browser, served, store):
    """Figures are read with the arrow keys, tables sorted with Enter; times are those of the reader's clock."""
    campaign = store.campaign("desks")
    campaign.tell_many({decision: 0.01 * decision.number for decision in campaign.ask(count=9)})
    context = browser.new_context(timezone_id="Asia/Tokyo", locale="en-GB")
    page = context.new_page()
    page.base = served.url
    sign_in(page, READER, "/campaign/desks")
    page.wait_for_selector("#log tbody tr")
    page.focus("figure[data-chart=choices] svg")
    page.keyboard.press("ArrowLeft")
    said = page.locator("figure[data-chart=choices] .under")
    assert said.get_attribute("aria-live") == "polite"
    read = said.inner_text()
    assert ": " in read
    # What is read, and the focus, stay when the page is drawn anew.
    campaign.ask()
    until(page, "document.querySelector('[data-fact=decisions]').textContent === '10'")
    assert said.inner_text().partition(": ")[0] == read.partition(": ")[0]
    assert page.evaluate("document.activeElement.closest('figure').dataset.chart") == "choices"
    page.keyboard.press("ArrowRight")
    assert "Decisions" in page.get_attribute("figure[data-chart=choices] svg", "aria-label")
    page.focus("#arms thead th:nth-child(2) button")
    page.keyboard.press("Enter")
    assert page.get_attribute("#arms thead th:nth-child(2)", "aria-sort") == "descending"
    asked = campaign.decision(10).asked.astimezone(zoneinfo.ZoneInfo("Asia/Tokyo"))
    until(page, "document.querySelectorAll('#log tbody tr').length === 19")
    assert page.inner_text("#log tbody tr:first-child time") == f"{asked:%d/%m/%Y, %H:%M:%S}"
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [(420, "dark"), (1200, "light")])
def test_every_view_fits(browser, served, store, width, scheme):
    """Two arms, forty, none told yet, finished: nothing sticks out, and every figure is drawn."""
    generator = np.random.default_rng(1)
    forty = store.campaign(
        "forty", policy=sb.ScaleFreeUCB(L=1e-4), arms=[f"a rather long name of arm {k}" for k in range(40)]
    )
    two = store.campaign("two", policy=sb.ScaleFreeUCB(L=1e-4), arms=2)
    finished = store.campaign("finished", policy=sb.policies.SequentialHalving(sb.RSSR(L=1.0)), arms=2, horizon=20)
    for campaign in (forty, two, finished):
        while not campaign.status().done and campaign.status().decisions < 200:
            campaign.tell_many({decision: generator.normal(0.01, 0.02) for decision in campaign.ask(count=40)})
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.base = served.url
    sign_in(page, READER)
    campaigns = [f"/campaign/{name}" for name in ("forty", "two", "finished", "desks")]
    for path in ("/", *campaigns, "/docs", "/new", "/no"):
        page.goto(page.base + path)
        if path.startswith("/campaign"):
            until(page, "document.querySelectorAll('figure svg.chart').length === 7")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    colours = page.evaluate("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
    light = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours]
    assert (light[0] < light[1]) == (scheme == "light")
    context.close()


def test_a_damaged_campaign_says_so_and_does_not_hide_others(page, store, served):
    page.expected = (500,)
    store.campaign("broken", policy=sb.ScaleFreeUCB(L=1e-4), arms=2).ask()
    with store._storage.connection() as driver:
        driver.execute("UPDATE sharpe_bandits_campaigns SET settings = '{' WHERE name = 'broken'")
    sign_in(page, READER)
    until(page, "document.querySelectorAll('#campaigns td.spark svg').length === 1")
    assert "description of the campaign" in page.inner_text("#campaigns tr[data-name=broken]")
    page.click("#campaigns thead th:nth-child(3) button")
    assert page.locator("#campaigns tbody th").all_inner_texts() == ["desks", "broken"]
    page.focus("#campaigns a:has-text('desks')")
    store.campaign("desks").ask()
    until(page, "document.querySelector('#campaigns tr[data-name=desks] td:nth-child(3)').textContent === '1'")
    assert page.evaluate("document.activeElement.textContent") == "desks", "the focus stays when rows are new"
    page.click("#campaigns a:has-text('broken')")
    page.wait_for_url("**/broken")
    assert "Unreadable data" in page.inner_text("h1")
    assert "description of the campaign" in page.inner_text("[role=alert]")
