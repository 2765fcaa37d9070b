"""Results that show and draw themselves and write a folder: rankings, comparisons, replays and plans."""

from __future__ import annotations

from abc import ABC, abstractmethod
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from .._support import console
from .._support.console import Findings
from .._support.display import Table, html_table
from .._support.files import to_json, write_all
from .document import document

if TYPE_CHECKING:
    from rich.console import RenderableType


class Reported(ABC):
    """A result that shows its findings, in full when printed and in a notebook, in one line as ``repr``; with a page.

    The page's template has its name, as has the module of this folder with ``figures(result)``, by name and the main
    one first; and, if there is more, ``files(result)`` and what the template needs besides, ``content(result)``.
    """

    page_name: ClassVar[str]

    @abstractmethod
    def findings(self) -> Findings:
        """Its content."""

    @property
    @abstractmethod
    def table(self) -> Table:
        """Every number, as a tidy table."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain data."""

    def __rich__(self) -> RenderableType:
        return self.findings()

    def __str__(self) -> str:
        return console.as_text(self)

    def __repr__(self) -> str:
        first = self.findings().summary.partition("\n\n")[0].partition(". ")[0]
        return f"<{type(self).__name__}: {first.rstrip('.')}>"

    def _repr_html_(self) -> str:
        remarks, tables, summary, settings = self.findings()
        parts = [f"<p><b>Check:</b> {escape(text)}.</p>" for text in remarks]
        parts += [f"<p>{escape(text)}</p>" for text in summary.split("\n\n") if text]
        parts += [html_table(heads, rows) for heads, rows in tables]
        return "".join(parts) + (html_table(["", ""], settings.items()) if settings else "")

    def plot(self) -> Any:
        """The main figure, drawn by matplotlib (the extra ``report``)."""
        from ..charts.render_matplotlib import render_matplotlib

        return render_matplotlib(next(iter(self._module.figures(self).values())))

    def report(self, folder: str | Path) -> Path:
        """Write a folder with a page that works offline, its figures as ``.svg`` and ``.png``, and all numbers as
        ``.csv`` and ``.json``; returns the path of the page. Needs the extra ``report``.
        """
        from ..charts.render_matplotlib import pictures

        name, folder, module = self.page_name, Path(folder), self._module
        figures = {key: pictures(figure) for key, figure in module.figures(self).items()}
        content = module.content(self) if hasattr(module, "content") else {}
        files = {
            f"{name}.csv": self.table.to_csv(),
            f"{name}.json": to_json(self.to_dict(), allow_nan=False),
            **{f"{key}.{kind}": picture for key, kinds in figures.items() for kind, picture in kinds.items()},
            **(module.files(self) if hasattr(module, "files") else {}),
            f"{name}.html": document(f"{name}.html", pictures=figures, **{name: self}, **content).encode(),
        }
        write_all(folder, files)  # nothing is written if one of them cannot be made
        return folder / f"{name}.html"

    @property
    def _module(self) -> Any:
        return import_module(f".{self.page_name}", __package__)
