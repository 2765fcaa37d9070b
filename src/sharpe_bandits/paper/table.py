"""A table of the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class Table:
    """Columns (numbers are set right), and rows of text, numbers, verdicts or None; ``anchor`` to link to it."""

    title: str
    text: str
    columns: list[str]
    rows: list[list[Any]]
    anchor: str = ""
