"""What all pages share: one file that works offline, and one style."""

from __future__ import annotations

from html import escape
from importlib import resources


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
