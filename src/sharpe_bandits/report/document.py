"""What all pages share: one file that works offline, and one style."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from itertools import chain, repeat


def document(title: str, body: str, scripts: str = "") -> str:
    """A whole page of this title; ``body`` and ``scripts`` are HTML."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title><style>{resource("page.css")}</style></head>\n'
        f"<body>\n{body}\n{scripts}</body></html>\n"
    )


def resource(name: str) -> str:
    """A file of this folder, such as ``page.css``."""
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """A table of text as HTML: names in the first column, numbers in those after the first ``words``."""

    def row(cells: Sequence[str], tags: Iterable[str]) -> str:
        kinds = ("" if number < words else ' class="n"' for number in range(len(cells)))
        each = zip(cells, tags, kinds, strict=False)
        return "<tr>" + "".join(f"<{tag}{kind}>{escape(text)}</{tag}>" for text, tag, kind in each) + "</tr>"

    body = "".join(row(cells, chain(["th"], repeat("td"))) for cells in rows)
    return f'<div class="wide"><table>{row(heads, repeat("th"))}{body}</table></div>'


def facts(words: Mapping[str, str]) -> str:
    """Names and what they stand for, as a table."""
    return f"<table>{''.join(f'<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>' for k, v in words.items())}</table>"
