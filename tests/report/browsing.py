"""A page in a real browser that has no network, and what is in it."""


class Opened:
    """A report in a browser, with all that it asked for and all that went wrong."""

    def __init__(self, browser, path, width=1200, scheme="light"):
        self.url = path.resolve().as_uri()
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, reduced_motion="reduce", color_scheme=scheme
        )
        self.context.set_offline(True)
        self.requests, self.problems = [], []
        self.context.route(lambda url: not url.startswith(("file:", "data:", "blob:")), lambda route: route.abort())
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
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


def legend(chart):
    """The entries of a chart's legend, in order."""
    return chart.locator("xpath=ancestor::figure").locator(".legend button:not(.absent)")


def names(chart):
    return [name.strip() for name in legend(chart).all_text_contents()]


def entry(chart, name):
    return legend(chart).filter(has_text=name).first


def labels(chart, which):
    """The numbers along an axis, as they are shown from its beginning on."""
    return chart.locator(f".{which}tick text").all_text_contents()


def tops(page, id):
    """Where the thing of this id starts, where the bar ends, and whether the page is scrolled to its end."""
    return page.evaluate(
        """id => [document.getElementById(id).getBoundingClientRect().top,
                  document.querySelector("nav").getBoundingClientRect().bottom,
                  scrollY + innerHeight >= document.documentElement.scrollHeight - 2]""",
        id,
    )


def settle(page):
    """Wait until nothing moves any more: every chart in sight is drawn, and the page stays where it is."""
    page.wait_for_function(
        """() => [...document.querySelectorAll(".chart")].every(c => {
            const box = c.getBoundingClientRect();
            return box.bottom < 0 || box.top > innerHeight || c.dataset.drawn === "yes"; })"""
    )
    page.wait_for_function(
        """() => new Promise(done => { const before = scrollY; setTimeout(() => done(scrollY === before), 120); })"""
    )


def apart(chart):
    """The entries of the legend cover neither the curves nor each other, and none is cut off."""
    frame = chart.locator("xpath=ancestor::figure").bounding_box()
    plot = chart.bounding_box()
    boxes = [button.bounding_box() for button in legend(chart).all()]
    for number, box in enumerate(boxes):
        assert box["y"] >= plot["y"] + plot["height"]
        assert box["x"] >= frame["x"]
        assert box["x"] + box["width"] <= frame["x"] + frame["width"]
        assert box["y"] + box["height"] <= frame["y"] + frame["height"]
        for other in boxes[:number]:
            beside = box["x"] >= other["x"] + other["width"] or other["x"] >= box["x"] + box["width"]
            assert beside or box["y"] >= other["y"] + other["height"] or other["y"] >= box["y"] + box["height"]
    assert all(button.evaluate("b => b.scrollWidth <= b.clientWidth") for button in legend(chart).all())
