"""The same description for plotly: what plotly accepts, with every name as text."""

import html
import json

import numpy as np
import plotly.graph_objects as go
import pytest

from sharpe_bandits.charts import Axis, Chart, Figure, Rule, Series, render_matplotlib, render_plotly, to_plotly
from sharpe_bandits.charts.description import DASHES, MARKERS
from sharpe_bandits.charts.render_plotly import switchable
from tests.hostile import NAMES


def chart(**changes):
    series = Series(name="A", colour="#0072B2", at=[1, 10, 100], mean=[1, 2, 3], low=[0.5, 1, 2], high=[2, 3, 4])
    limits = {"log": (1, 100), "linear": (0, 100)}
    given = {"series": [series], "x": Axis(label="rounds t", scale="log", limits=limits), "y": Axis(label="regret")}
    return Chart(**{**given, **changes})


def figure(*charts, rows=1):
    per_row = len(charts) // rows
    return Figure(title="Title", charts=[charts[r * per_row : (r + 1) * per_row] for r in range(rows)], size=(5, 4))


EVERYTHING = Chart(
    series=[
        *(
            Series(
                name=f"{m} {d}",
                colour="#0072B2",
                at=[0, 1],
                mean=[1, 2],
                low=[0, 1],
                high=[2, 3],
                bars=True,
                marker=m,
                dash=d,
            )
            for m, d in zip(
                [*MARKERS, "tick", "thin cross", "arrow down"], [*DASHES, None, "sparse dot"] * 2, strict=False
            )
        ),
        Series(
            name="open", colour="#0072B2", at=[0], mean=[1], marker="circle", filled=False, dash=None, notes=["said"]
        ),
        Series(name="hidden", colour="#0072B2", at=[0], mean=[1], hidden=True, legend=False, group="open"),
    ],
    x=Axis(scale="places", places=["a\nb", "c"]),
    y=Axis(label="error", scale="log", plain=True, limits={"log": (0.1, 10)}, beside=["x", "y"]),
    rules=[Rule(axis="y", at=1, label="target", dash="dash"), Rule(axis="x", at=0.5, label="promise")],
    title="One",
)


@pytest.mark.parametrize(
    "drawn",
    [figure(chart()), figure(chart(), chart(title="B"), chart(), chart(), rows=2), figure(EVERYTHING),
     figure(chart(across=True, x=Axis(), y=Axis(scale="places", places=["a", "b"])))],
    ids=["one", "grid", "everything", "across"],
)  # fmt: skip
def test_plotly_accepts_it(drawn):
    """The figure of plotly raises on keys and values that it does not know."""
    made = render_plotly(drawn)
    assert isinstance(made, go.Figure)
    assert json.loads(json.dumps(to_plotly(drawn), allow_nan=False)) == to_plotly(drawn)


def test_bands_lines_and_scales_are_those_of_the_description():
    band, line = to_plotly(figure(chart()))["data"]
    assert (line["x"], line["y"]) == ([1, 10, 100], [1, 2, 3])
    assert (band["x"], band["y"]) == ([1, 10, 100, 100, 10, 1], [2, 3, 4, 2, 1, 0.5])
    assert band["legendgroup"] == line["legendgroup"] == "A"
    assert line["customdata"] == [[0.5, 2], [1, 3], [2, 4]]
    found = switchable([chart()])
    assert found["axis"] == "xaxis"
    assert {scale: (axis["type"], axis["range"]) for scale, axis in found["scales"].items()} == {
        "log": ("log", [0, 2]),
        "linear": ("linear", [0, 100]),
    }


def test_dates_are_dates_for_both():
    days = np.datetime64("2020-01-01") + np.arange(3)
    dated = chart(series=[Series(name="A", colour="#0072B2", at=days, mean=[1, 2, 3])], x=Axis(scale="date"), y=Axis())
    (trace,) = to_plotly(figure(dated))["data"]
    assert trace["x"] == ["2020-01-01", "2020-01-02", "2020-01-03"]
    assert to_plotly(figure(dated))["layout"]["xaxis"]["type"] == "date"
    (ax,) = render_matplotlib(figure(dated)).axes
    assert ax.get_xlim() == pytest.approx((18262, 18264))  # days since 1970


def test_a_grid_has_one_legend_entry_per_name():
    made = to_plotly(figure(chart(), chart(), chart(), chart(), rows=2))
    assert [t["showlegend"] for t in made["data"] if t.get("fill") is None] == [True, False, False, False]
    domains = [made["layout"][f"xaxis{n}"]["domain"] for n in ("", 2)]
    assert domains[0][1] < domains[1][0]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_text(name):
    one = Series(name=name, colour="#0072B2", at=[0, 1], mean=[1, 2], marker="circle", notes=[name, name])
    hostile = chart(
        series=[one], x=Axis(scale="places", places=[name, "b"], label=name), y=Axis(label=name, beside=[name, "b"]),
        rules=[Rule(axis="x", at=0.5, label=name), Rule(axis="y", at=0.5, label=name)], title=name,
    )  # fmt: skip
    made = to_plotly(Figure(title=name, charts=[[hostile]], size=(5, 4)))
    (trace,), layout = made["data"], made["layout"]
    shown = [
        trace["name"], *trace["customdata"], layout["xaxis"]["ticktext"][0], layout["title"]["text"],
        layout["xaxis"]["title"]["text"], layout["yaxis"]["title"]["text"],
        *(a["text"] for a in layout["annotations"] if a["text"] != "b"),
    ]  # fmt: skip
    assert len(shown) == 11
    for text in shown:
        assert "<" not in text
        assert html.unescape(text) == name
    assert name not in trace["hovertemplate"] or name in "%{customdata}"  # no name is a template
