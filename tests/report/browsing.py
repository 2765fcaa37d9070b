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

    def figure(self, key):
        """A figure of the page."""
        return self.page.locator(f'figure[data-figure="{key}"]')

    def unfold(self):
        """Open all panels."""
        self.page.evaluate("for (const panel of document.querySelectorAll('details.panel')) panel.open = true")

    def texts(self, key):
        """All text in a figure: titles, labels and names in its legend."""
        return self.figure(key).locator("svg text").all_text_contents()

    def close(self):
        self.context.close()
        assert self.problems == []
        loaded = [url for url in self.requests if not url.startswith(("data:", "blob:"))]
        assert {url.split("#")[0] for url in loaded} == {self.url}


def tops(page, id):
    """Where the thing of this id starts, where the bar ends, and whether the page is scrolled to its end."""
    return page.evaluate(
        """id => [document.getElementById(id).getBoundingClientRect().top,
                  document.querySelector("nav").getBoundingClientRect().bottom,
                  scrollY + innerHeight >= document.documentElement.scrollHeight - 2]""",
        id,
    )


def settle(page):
    """Wait until the page stays where it is."""
    page.wait_for_function(
        """() => new Promise(done => { const before = scrollY; setTimeout(() => done(scrollY === before), 120); })"""
    )
