"""Figures: every name as text, and nothing that overlaps or leaves the figure."""

import itertools
import xml.etree.ElementTree as ET

import matplotlib
import pytest

from sharpe_bandits.charts.description import Axis, Chart, Figure, Rule, Series
from sharpe_bandits.charts.render_matplotlib import pictures, render_matplotlib
from tests.hostile import NAMES

SVG = "{http://www.w3.org/2000/svg}"
LONG = "A policy whose name is rather long, with all of its parameters spelled out in full"


def figure(names, columns=1, width=5.2, caption="", title="Title"):
    series = [
        Series(
            name=name, colour="#0072B2", at=[1, 10, 100], mean=[k, 2 * k, 3 * k], low=[0, k, k], high=[k, 3 * k, 4 * k]
        )
        for k, name in enumerate(names, 1)
    ]
    chart = Chart(series=series, x=Axis(label="rounds t", scale="log"), y=Axis(label="regret"), title="K = 5")
    return Figure(title=title, charts=[[chart] * columns] * 2, size=(width, 4), caption=caption, shared="x")


def boxes(drawn):
    """Boxes of all text outside the charts: entries of the legend, title and caption."""
    drawn.canvas.draw()
    renderer = drawn.canvas.get_renderer()
    (legend,) = drawn.legends
    texts = [*legend.get_texts(), *(text for text in drawn.texts if text.get_text())]
    return {f"{k}: {text.get_text()}": text.get_window_extent(renderer) for k, text in enumerate(texts)}


@pytest.mark.parametrize(
    "names",
    [
        ["A", "B", "C", "D", "E"],
        [f"printed bound, UCB-RSSR, L = {k}" for k in range(9)],
        ["A", LONG, "C"],
        [f"{LONG} {k}" for k in range(7)],
        ["W" * 200, "i" * 200, "short", "日本語" * 20],
        [f"P{k}" for k in range(60)],
    ],
    ids=["short", "bounds", "one long", "all long", "longest", "many"],
)
@pytest.mark.parametrize(("columns", "width"), [(1, 5.2), (2, 7.8)])
@pytest.mark.filterwarnings("ignore:Glyph")
def test_no_text_overlaps_or_leaves_the_figure(names, columns, width):
    drawn = render_matplotlib(figure(names, columns, width, caption="What was assumed. " * 12, title=f"{LONG}: {LONG}"))
    found = boxes(drawn)
    axes = [ax.get_tightbbox(drawn.canvas.get_renderer()) for ax in drawn.axes]
    for (one, a), (other, b) in itertools.combinations(found.items(), 2):
        assert not (a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1), (one, other)
    for name, box in found.items():
        assert box.x0 >= 0, name
        assert box.y0 >= 0, name
        assert box.x1 <= drawn.bbox.x1, name
        assert box.y1 <= drawn.bbox.y1, name
        for ax in axes:
            assert box.y1 <= ax.y0 or box.y0 >= ax.y1, name  # above all charts, or below
    assert all(ax.height > 0.2 * drawn.bbox.height / 2 for ax in axes) or len(names) == 60


def test_short_names_share_a_line_and_long_ones_do_not():
    (legend,) = render_matplotlib(figure(["A", "B", "C"])).legends
    assert legend._ncols == 3
    (legend,) = render_matplotlib(figure([f"{LONG} {k}" for k in range(3)])).legends
    assert legend._ncols == 1


def texts(svg):
    return ["".join(node.itertext()) for node in ET.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_shown_as_it_is(name):
    """In a legend, on both axes, as a title, and beside a line."""
    chart = Chart(
        series=[
            Series(name=name, colour="#000000", at=[0, 1], mean=[1, 2], marker="o", bars=True, low=[0, 1], high=[2, 3])
        ],
        x=Axis(scale="places", places=[name[:20], "b"], label=name[:20]),
        y=Axis(label=name[:20]),
        rules=[Rule(axis="y", at=1.5, label=name[:20]), Rule(axis="x", at=0.5, label=f"{name[:20]} line")],
        title=name[:20],
    )
    files = pictures(Figure(title=name[:20], charts=[[chart]], size=(9, 4), caption=name[:20]))
    shown = texts(files["svg"])
    words = "".join("".join(shown).split())
    assert words.count("".join(name[:20].split())) >= 8
    assert "".join(name.split()) in words


def test_drawing_leaves_the_settings_and_figures_of_others_alone():
    import matplotlib.pyplot as plt

    before, others = dict(matplotlib.rcParams), plt.get_fignums()
    pictures(figure(["A"]))
    assert dict(matplotlib.rcParams) == before
    assert plt.get_fignums() == others


#: The ends of an axis, and the numbers that a reader expects along it.
LABELS = [
    ((0.9, 1.3), ["0.9", "1", "1.1", "1.2", "1.3"]),
    ((0.997, 1.004), ["0.998", "1", "1.002", "1.004"]),
    ((700, 1400), ["800", "1,000", "1,200", "1,400"]),
    ((0.6, 14), ["1", "2", "5", "10"]),
    ((30, 9000), ["50", "100", "200", "500", "1,000", "2,000", "5,000"]),
    ((0.5, 2_000_000), ["1", "10", "100", "1,000", "10,000", "100,000", "1,000,000"]),
]


def growth(low, high):
    series = Series(name="a", colour="#0072B2", at=[1, 2, 3], mean=[low, (low * high) ** 0.5, high])
    axis = Axis(scale="log", plain=True, limits=(low, high))
    return Figure(title="", charts=[[Chart(series=[series], x=Axis(), y=axis)]], size=(6.4, 4.2))


@pytest.mark.parametrize(("ends", "expected"), LABELS, ids=lambda value: str(value)[:20])
def test_labels_of_a_logarithmic_axis_are_numbers_that_can_be_read(ends, expected):
    """Never digits of a number alone, as in "1, 9, 8, 7", and enough of them on a short axis."""
    drawn = render_matplotlib(growth(*ends))
    drawn.canvas.draw()
    (ax,) = drawn.axes
    low, high = ax.get_ylim()
    ticks = zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)
    shown = [text.get_text() for at, text in ticks if low * (1 - 1e-9) <= at <= high * (1 + 1e-9)]
    assert [text for text in shown if text] == expected
    assert not any(text.get_text() for text in ax.get_yticklabels(minor=True))
