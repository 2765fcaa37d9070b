"""Shared parts of all pages: templates with autoescaping, charts that work offline, and one style."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from ..charts.description import Figure, Series
from ..charts.render_plotly import switchable
from ..errors import require

if TYPE_CHECKING:
    from jinja2 import Environment


def check_libraries() -> None:
    """Raise if a library that figures and pages need is missing, before the work starts."""
    for library in ("matplotlib", "plotly", "jinja2"):
        require(library, "a report", "report")


def document(template: str, figures: Mapping[str, Figure] | None = None, **content: Any) -> str:
    """A self-contained page: a template with its content, and figures by key."""
    require("jinja2", "a page", "report")
    script, data = "", {}
    if figures:
        require("plotly", "a page with charts", "report")
        from plotly.offline import get_plotlyjs

        script = get_plotlyjs()
        data = {key: [switchable(column) for column in _columns(figure)] for key, figure in figures.items()}
    return (
        _environment()
        .get_template(template)
        .render(
            **content,
            style=resource("page.css"),
            script=resource("page.js"),
            sorting=resource("tables.js"),
            plotly=script,
            data=data,
            plots={key: [_plot(column) for column in _columns(figure)] for key, figure in (figures or {}).items()},
        )
    )


def resource(name: str) -> str:
    """A file of this folder, such as ``page.css``."""
    return resources.files(__package__).joinpath(name).read_text("utf-8")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader(__package__), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False, "ensure_ascii": False}
    made.filters["short"] = lambda value: f"{value:.4g}"
    return made


def _columns(figure: Figure) -> list[tuple[Any, ...]]:
    return list(zip(*figure.charts, strict=True))


def _plot(column: tuple[Any, ...]) -> dict[str, Any]:
    """What surrounds the charts of a column: title, size, and a joint legend."""
    entries: dict[str, Series] = {}
    for chart in column:
        for series in chart.legend:
            entries.setdefault(series.group or series.name, series)
    height = max(chart.height for chart in column)
    return {"title": column[0].title, "height": height, "across": column[0].across, "legend": entries}
