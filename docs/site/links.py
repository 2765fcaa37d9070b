"""Follow every link of the built pages: files and anchors exist, and no page loads anything from elsewhere.

python docs/site/links.py out/docs
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Tags that load what they name when a page is opened.
LOADING = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src")}


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        loads = tag == "link" and given.get("rel") in {"stylesheet", "preload", "icon", "shortcut icon"}
        for name in ("href", "src"):
            if name in given:
                self.links.append((given[name], loads or (tag, name) in LOADING))


@cache
def page(path: Path) -> _Page:
    """Anchors and links of a page."""
    found = _Page()
    found.feed(path.read_text("utf-8"))
    return found


def wrong(site: Path) -> list[str]:
    """What is wrong, a line each."""
    found = []
    for path in sorted(site.rglob("*.html")):
        if path.relative_to(site).parts[0] in {"_static", "_modules"}:  # the theme's templates; listings of the sources
            continue
        for link, loads in page(path).links:
            parts = urlsplit(link)
            if parts.scheme in {"http", "https"} or link.startswith("//"):
                if loads:
                    found.append(f"{path.relative_to(site)} loads {link}")
                continue
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                found.append(f"{path.relative_to(site)}: there is no {link}")
            elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in page(target).ids:
                found.append(f"{path.relative_to(site)}: there is no anchor {link}")
    return found


if __name__ == "__main__":
    problems = wrong(Path(sys.argv[1]).resolve())
    print("\n".join(problems) or "all links within the site lead somewhere, and nothing is loaded from elsewhere")
    sys.exit(bool(problems))
