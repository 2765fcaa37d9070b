"""A list of tidy rows is all that a figure needs."""

import math

import pytest

import sharpe_bandits as sb
from sharpe_bandits.charts import figure_from_rows, render_matplotlib, render_plotly
from sharpe_bandits.errors import UnknownNameError


def row(policy, t, mean, metric="regret", case="", n=100, L=math.nan):
    numbers = {"mean": mean, "se": 0.1, "low": mean - 0.2, "high": mean + 0.2}
    identity = {"panel": "", "profile": "", "case": case, "policy": policy, "K": 2, "L": L, "horizon": n, "t": t}
    return {**identity, "metric": metric, **numbers, "runs": 10}


CURVES = [
    row(policy, t, factor * t, metric)
    for policy, factor in (("A", 0.5), ("B", 0.25))
    for metric in ("regret", "sub-optimal plays")
    for t in (1, 10, 100)
]


def test_curves_of_all_policies_in_both_metrics():
    figure = figure_from_rows("Mine", CURVES)
    ((regret,), (plays,)) = figure.charts
    assert (regret.name, plays.name) == ("regret", "sub-optimal plays")
    assert [(s.name, list(s.mean)) for s in regret.series] == [("A", [0.5, 5, 50]), ("B", [0.25, 2.5, 25])]
    assert regret.series[0].low == [0.3, 4.8, 49.8]
    assert regret.x.limits == {"log": (10, 100), "linear": (0, 100)}
    assert regret.x.scale == "log"
    assert figure_from_rows("Mine", CURVES, axis="linear").charts[0][0].x.ends == (0, 100)
    assert len(render_matplotlib(figure).axes) == 2
    assert len(render_plotly(figure).data) == 8  # a band and a line each


def test_every_case_has_a_chart():
    rows = [{**r, "case": case} for case in ("K = 5", "K = 10") for r in CURVES]
    assert [chart.title for chart in figure_from_rows("Mine", rows).charts[0]] == ["K = 5", "K = 10"]


def test_what_was_measured_once_is_a_point():
    rows = [row(policy, 100, mean, "error", case) for case in ("x", "y") for policy, mean in (("A", 0.3), ("B", 0.4))]
    ((chart,),) = figure_from_rows("Mine", rows, "error").charts
    assert chart.x.places == ["x", "y"]
    assert [(s.name, s.mean) for s in chart.series] == [("A", [0.3, 0.3]), ("B", [0.4, 0.4])]
    assert [[round(at) for at in s.at] for s in chart.series] == [[0, 1], [0, 1]]
    assert chart.series[0].at[0] < chart.series[1].at[0]  # side by side


def test_values_below_zero_are_shown():
    ((chart,),) = figure_from_rows("Mine", [row("A", 100, -3.0, "achieved objective")], "achieved objective").charts
    assert chart.y.ends == (None, None)
    assert chart.y.label == "achieved objective"


@pytest.mark.parametrize(("last", "hidden"), [(99.0, False), (101.0, True)])
def test_a_lower_bound_far_above_the_curves_is_hidden(last, hidden):
    """Twice the highest curve, whose interval ends at 50.2, is the limit."""
    bound = [row("any policy", t, mean, "lower bound") for t, mean in ((1, 0.0), (100, last))]
    ((regret,), (plays,)) = figure_from_rows("Mine", CURVES + bound).charts
    assert [(s.name, s.hidden) for s in regret.series if s.kind == "bound"] == [("asymptotic lower bound", hidden)]
    assert not [s for s in plays.series if s.kind == "bound"]
    drawn = render_matplotlib(figure_from_rows("Mine", CURVES + bound))
    assert drawn.axes[0].get_ylim()[1] < 60  # the bound does not stretch the axis


def test_a_study_of_a_simulation_can_be_drawn():
    study = sb.simulate(
        [sb.UCB1(), sb.UCB1(name="$B_$")], sb.Bandit([sb.Bernoulli(0.2), sb.Bernoulli(0.8)]), horizon=50, runs=4
    )
    rows = []
    for name in study:
        curve = study[name].regret(sb.Mean())
        rows += [row(name, int(t), float(mean), n=50) for t, mean in zip(curve.t, curve.mean, strict=True)]
    figure = figure_from_rows("Study", rows)
    ((chart,),) = figure.charts
    assert [s.name for s in chart.series] == ["UCB1", "$B_$"]
    assert [text.get_text() for text in render_matplotlib(figure).legends[0].get_texts()] == ["UCB1", r"\$B_\$"]


def test_a_metric_that_is_not_there():
    with pytest.raises(UnknownNameError, match="no metric in these rows is called 'regrets': did you mean 'regret'"):
        figure_from_rows("Mine", CURVES, "regrets")
