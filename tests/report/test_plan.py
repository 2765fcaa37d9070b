"""A plan as a figure."""

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.charts.description import CARET_DOWN
from sharpe_bandits.charts.render_matplotlib import render_matplotlib
from sharpe_bandits.planning.needs import EVERY_ARM
from sharpe_bandits.report import plan as drawn
from tests.planning.problems import EASY, easy_plan


@pytest.fixture(scope="module")
def plan():
    return easy_plan()


def test_the_figure(plan):
    figure = render_matplotlib(drawn.figures(plan)["plan"])
    (ax,) = figure.axes
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["SHSR", "SuRSR", "Uniform sampling", EVERY_ARM]
    level = [line for line in ax.lines if list(line.get_ydata()) == [0.05, 0.05]]
    ends = sorted(tuple(line.get_xdata()) for line in level)
    needs = sorted((n.rounds.low, n.rounds.high) for n in plan.needs)
    assert ends[0] == (0, 1)  # the target, across the axes
    assert np.ravel(ends[1:]) == pytest.approx(np.ravel(needs), rel=1e-5)


def test_a_budget_without_a_wrong_run_is_drawn_as_a_limit():
    plan = sb.plan(EASY, budget=3000, runs=800, seed=1)
    assert [point.wrong for point in plan.asked] == [0, 0, 0, 0]
    ((chart,),) = drawn.figures(plan)["plan"].charts
    first = [series for series in chart.series if series.name == plan.policies[0]]
    (never,) = (series for series in first if series.marker == CARET_DOWN)
    assert (never.at[-1], never.mean[-1]) == (3000, plan.asked[0].error.high)
    assert not any(3000 in series.at for series in first if series is not never)
