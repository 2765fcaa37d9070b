"""Shared parts of all pages: templates with autoescaping, figures that work offline, and one style."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from .._support import console
from ..errors import require

if TYPE_CHECKING:
    from jinja2 import Environment


def check_libraries() -> None:
    """Raise if a library that figures and pages need is missing, before the work starts."""
    for library in ("matplotlib", "jinja2"):
        require(library, "a report", "report")


def document(template: str, **content: Any) -> str:
    """A self-contained page: a template with its content."""
    require("jinja2", "a page", "report")
    scripts = [resource(name) for name in ("tables.js", "figures.js")]
    return _environment().get_template(template).render(**content, style=resource("page.css"), scripts=scripts)


def inline(svg: bytes, key: str) -> str:
    """A picture as part of a page; ``key`` distinguishes its ids from those of the page's other pictures."""
    text = re.sub(r"<(metadata|style).*?</\1>", "", svg.decode(), flags=re.DOTALL)  # the page has its own style

    def renamed(tag: re.Match[str]) -> str:
        return re.sub(r'( id="|url\(#|href="#)', rf"\g<1>{key}-", tag[0])

    return re.sub(r"<[^>]*>", renamed, text[text.index("<svg") :])  # ids are in tags; text keeps what it says


def resource(name: str) -> str:
    """A file of this folder, such as ``page.css``."""
    return resources.files(__package__).joinpath(name).read_text("utf-8")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(__package__), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters["short"] = lambda value: f"{value:.4g}"
    environment.filters["inline"] = inline
    environment.filters["spelled"] = lambda text: console.spelling(text)
    return environment
