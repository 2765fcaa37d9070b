"""Results that draw themselves and write a folder: rankings, comparisons, replays and plans."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from .._support.display import Shown
from .._support.files import to_json, write_all


class Reported(Shown):
    """A result with a page.

    The module of this folder that has the page's name has the functions ``figures(result)``, by name and the main one
    first, and ``page(result, pictures)``; and ``files(result)`` if there are tables besides that of all numbers.
    """

    page_name: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        raise AssertionError(f"{type(self).__name__} has no plain data")

    def plot(self) -> Any:
        """The main figure, drawn by matplotlib (the extra ``report``)."""
        from ..charts import render_matplotlib

        return render_matplotlib(next(iter(self._module.figures(self).values())))

    def report(self, folder: str | Path) -> Path:
        """Write a folder with a page that works offline, its figures as ``.svg`` and ``.png``, and all numbers as
        ``.csv`` and ``.json``; returns the path of the page. Needs the extra ``report``.
        """
        from ..charts.render_matplotlib import pictures

        name, folder = self.page_name, Path(folder)
        figures = {key: pictures(figure) for key, figure in self._module.figures(self).items()}
        files = {
            f"{name}.csv": self.table.to_csv(),
            f"{name}.json": to_json(self.to_dict(), allow_nan=False),
            **{f"{key}.{kind}": picture for key, kinds in figures.items() for kind, picture in kinds.items()},
            **getattr(self._module, "files", lambda result: {})(self),
            f"{name}.html": self._module.page(self, figures).encode(),
        }
        write_all(folder, files)  # nothing is written if one of them cannot be made
        return folder / f"{name}.html"

    @property
    def _module(self) -> Any:
        return import_module(f".{self.page_name}", __package__)
