"""Figures of panels: the same bytes every time, readable, and with everything that is in the panel."""

import struct
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.charts.description import PALETTE
from sharpe_bandits.charts.render_matplotlib import pictures, render_matplotlib
from tests.synthetic import case, finished, outcome, panel

SVG = "{http://www.w3.org/2000/svg}"
TIMES = np.array([1, 10, 100, 1000])
GOOD = sb.Bandit([sb.Uniform(0, 2), sb.Uniform(0, 1)])


def described(done, extra=()):
    return done.figure([*done.rows(), *extra])


def drawn(done, extra=()):
    return render_matplotlib(described(done, extra))


def played(policy, share, times=TIMES, runs=4):
    wrong = np.rint(times * share + np.arange(runs)[:, None]).astype(int)
    wrong = np.minimum(wrong, times)
    return outcome(policy, np.stack([times - wrong, wrong], axis=2), times)


def regret_panel(policies=None, variables=({"K": 2, "L": 0.5}, {"K": 2, "L": 5}), horizon=1000):
    policies = policies or [sb.UCBRSSR(1.0), sb.policies.UUCB(1.0)]
    cases = [case(policies, v, sb.RSSR(1.0), GOOD, horizon) for v in variables]
    outcomes = [[played(p, 0.1 + 0.05 * k) for k, p in enumerate(policies)] for _ in cases]
    return finished(panel(cases), *outcomes)


def error_panel(policies=None, variables=({"K": 16}, {"K": 32})):
    policies = policies or [sb.SHSR(1.0), sb.SuRSR(1.0)]
    cases = [case(policies, v, sb.RSSR(1.0), GOOD, 1000) for v in variables]
    recommended = [0, 1, 0, 0]
    outcomes = [[outcome(p, [[[500, 500]]] * 4, (1000,), recommended=recommended) for p in policies] for _ in cases]
    return finished(panel(cases, "error"), *outcomes)


def coverage_figure():
    from sharpe_bandits.charts.tidy_rows import PROMISED
    from sharpe_bandits.paper.panels import panel as of_paper

    source = of_paper("C1", "paper")
    found = []
    for k, name in enumerate(("variance, printed", "sr_like, printed", "rssr, repaired")):
        for place in ("Uniform(0, 1), n = 100", "Uniform(0, 9), n = 100"):
            row = {"panel": "C1", "case": place, "policy": name, "metric": "violation rate"}
            found.append({**row, "mean": 0.1 * k, "low": 0.05 * k, "high": 0.2 * k})
            found.append({**row, "metric": PROMISED, **dict.fromkeys(("mean", "low", "high"), 0.0625)})
    return finished(source).figure(found)


def legends(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def labels(figure, chart=0):
    """The names at the ends of curves, from the lowest."""
    return [text.get_text() for text in figure.axes[chart].texts]


def test_png_and_svg_are_what_they_say():
    files = pictures(described(regret_panel()))
    assert set(files) == {"svg", "png"}
    assert files["png"].startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", files["png"][16:24])
    assert width > 700
    assert height > 400
    root = ET.fromstring(files["svg"])
    assert root.tag == f"{SVG}svg"
    texts = {"".join(node.itertext()).strip() for node in root.iter(f"{SVG}text")}
    assert {"rounds t", "regret R(t)"} <= texts  # text stays text: it can be searched and edited
    assert any("Made up (R9, paper profile)" in text for text in texts)


@pytest.mark.parametrize("make", [regret_panel, error_panel])
def test_the_same_panel_gives_the_same_bytes(make):
    assert pictures(described(make())) == pictures(described(make()))


def test_nothing_in_the_files_tells_when_they_were_made():
    files = pictures(described(error_panel()))
    assert b"<dc:date>" not in files["svg"]
    assert b"tIME" not in files["png"]


def test_curves_have_labels_names_and_bands():
    figure = drawn(regret_panel())
    axes = figure.axes
    assert [ax.get_ylabel() for ax in axes] == ["regret R(t)", ""]
    assert [ax.get_xlabel() for ax in axes] == ["rounds t", "rounds t"]
    assert {ax.get_xscale() for ax in axes} == {"linear"}
    assert (legends(figure), labels(figure, 0), labels(figure, 1)) == ([], *[["UCB-RSSR", "U-UCB"]] * 2)
    assert all(len(ax.lines) == 2 and len(ax.collections) == 2 for ax in axes)
    assert figure.get_suptitle() == "UCB-RSSR has the least regret"


def test_sub_optimal_plays_are_drawn_where_they_are_not_regret_in_another_unit():
    three = sb.Bandit([sb.Uniform(0, 2), sb.Uniform(0, 1), sb.Uniform(0, 0.5)])
    policy = sb.policies.UCB1()
    one = case([policy], {}, sb.Mean(), three, 1000)
    done = finished(panel([one]), [outcome(policy, [[[600, 300, 100]]] * 3, (1000,))])
    assert [ax.get_ylabel() for ax in drawn(done).axes] == ["regret R(t)", "sub-optimal plays"]


def test_the_title_is_the_finding():
    def title(*shares):
        policies = [sb.UCBRSSR(1.0), sb.policies.UUCB(1.0)]
        cases = [case(policies, {"set": s}, sb.RSSR(1.0), GOOD, 1000) for s in "AB"[: len(shares)]]
        outcomes = [[played(p, share) for p, share in zip(policies, own, strict=True)] for own in shares]
        return described(finished(panel(cases), *outcomes)).title

    assert title((0.1, 0.2)) == "UCB-RSSR has the least regret"
    assert title((0.2, 0.1), (0.3, 0.1)) == "U-UCB has the least regret"
    assert title((0.1, 0.1)) == "No policy clearly has the least regret"
    assert title((0.1, 0.2), (0.2, 0.1)) == "The least regret: UCB-RSSR at set = A; U-UCB at set = B"


def test_the_title_rests_on_paired_differences():
    """U-UCB plays the worse arm once more in every batch, which vary from each other by hundreds of plays."""
    bad = np.array([100, 300, 200, 500])
    policies = [sb.UCBRSSR(1.0), sb.policies.UUCB(1.0)]
    one = case(policies, {}, sb.RSSR(1.0), GOOD, 1000)
    done = finished(
        panel([one]),
        [
            outcome(p, np.stack([1000 - b, b], -1)[:, None], (1000,))
            for p, b in zip(policies, (bad, bad + 1), strict=True)
        ],
    )
    low, high = (row for row in done.rows() if row["metric"] == "regret")
    assert high["low"] < low["high"]
    assert described(done).title == "UCB-RSSR has the least regret"


def test_curves_show_the_numbers_and_their_intervals():
    done = regret_panel()
    rows = [r for r in done.rows() if (r["case"], r["policy"], r["metric"]) == ("K = 2, L = 0.5", "U-UCB", "regret")]
    ax = drawn(done).axes[0]
    (line,) = (line for line in ax.lines if line.get_label() == "U-UCB")
    np.testing.assert_array_equal(line.get_xdata(), TIMES)
    np.testing.assert_array_equal(line.get_ydata(), [r["mean"] for r in rows])
    band = ax.collections[list(ax.lines).index(line)].get_paths()[0].vertices
    for r in rows:
        assert [r["t"], r["low"]] in band.tolist()
        assert [r["t"], r["high"]] in band.tolist()


def test_every_case_has_charts_of_its_own():
    """Regrets at different L are in different units."""
    figure = drawn(regret_panel(variables=[{"K": K, "L": L} for K in (5, 10) for L in (1, 2)]))
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles[:4] == ["K = 5, L = 1", "K = 5, L = 2", "K = 10, L = 1", "K = 10, L = 2"]


def test_a_figure_saved_as_notebooks_do_keeps_its_legend_and_caption():
    """Notebooks crop figures to what takes part in their layout."""
    figure = drawn(regret_panel(variables=[{"L": L} for L in (1, 2, 3)]))
    figure.canvas.draw()
    (legend,) = figure.legends
    cropped, box = figure.get_tightbbox(), legend.get_window_extent().transformed(figure.dpi_scale_trans.inverted())
    assert cropped.y0 <= box.y0 < box.y1 < cropped.y1
    assert cropped.x0 <= box.x0 < box.x1 <= cropped.x1


def test_a_curve_says_its_final_value_when_pointed_at():
    done = regret_panel()
    (row,) = (r for r in done.studies[0].rows() if (r["policy"], r["metric"], r["t"]) == ("U-UCB", "regret", 1000))
    svg = pictures(described(done))["svg"].decode()
    tip = f"U-UCB: {row['mean']:.4g} ± {row['se']:.2g} (s.e.) at t = 1,000"
    assert svg.count(f"<title>{tip}</title>") >= 2  # the line and its band


def test_errors_have_a_place_for_every_case():
    figure = drawn(error_panel())
    (ax,) = figure.axes
    assert ax.get_ylabel().startswith("probability of error")
    assert [t.get_text() for t in ax.get_xticklabels()] == ["K = 2\nn = 1,000"] * 2
    assert legends(figure) == ["SHSR", "SuRSR"]
    means = [container.lines[0].get_ydata().tolist() for container in ax.containers]
    assert means == [[0.25, 0.25], [0.25, 0.25]]


def with_bound(done, level, form="printed", case_="K = 2, L = 0.5"):
    """A figure with a bound that is this multiple of the highest curve of a case, and the names of the bounds drawn."""
    measured = [r for r in done.rows() if r["metric"] == "regret" and r["case"] == case_]
    value = level * max(r["high"] for r in measured)
    ends = dict.fromkeys(("mean", "low", "high"), value)
    figure = drawn(done, [{**measured[0], "t": t, "metric": f"bound ({form})", **ends} for t in (100, 1000)])
    names = {*legends(figure), *labels(figure, 0), *labels(figure, 1)}
    return figure, [name for name in names if "bound" in name]


def test_bounds_are_drawn_beside_the_curves_and_named():
    figure, bounds = with_bound(regret_panel(), 0.8)
    assert [len(ax.lines) for ax in figure.axes] == [3, 2]
    assert bounds == ["printed bound"]


@pytest.mark.parametrize("level", [0.01, 4.0])
def test_a_bound_that_is_far_from_all_curves_is_left_out(level):
    figure, bounds = with_bound(regret_panel(), level)
    assert [len(ax.lines) for ax in figure.axes] == [2, 2]
    assert bounds == []


def test_a_bound_of_the_last_column_is_named_too():
    done = regret_panel(variables=[{"K": 5, "L": 1}, {"K": 10, "L": 1}])
    _, bounds = with_bound(done, 1.0, "repaired", "K = 10, L = 1")
    assert bounds == ["repaired bound"]


def test_coverage_has_a_chart_for_each_inequality_with_its_promise():
    figure = render_matplotlib(coverage_figure())
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["variance", "SR-like", "RSSR"]
    assert "violated" in figure.axes[-1].get_xlabel()
    for ax in figure.axes:
        assert [t.get_text() for t in ax.get_yticklabels()] == ["Uniform(0, 1)", "Uniform(0, 9)"]
        assert any(0.0625 in np.ravel(line.get_xdata()) for line in ax.lines)
    assert set(legends(figure)) == {"printed", "repaired", "promised"}


# --- a user's own experiment has what the paper's have not ------------------------------------------------------------


def test_panels_without_l():
    figure = drawn(regret_panel(variables=[{"rho": 0.5}, {"rho": 2}]))
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["rho = 0.5, L = 1", "rho = 2, L = 1"]
    assert labels(figure) == ["UCB-RSSR", "U-UCB (ε₀ = L)"]
    assert labels(drawn(regret_panel(variables=[{}]))) == ["UCB-RSSR", "U-UCB (ε₀ = L)"]


def test_more_policies_than_colours():
    policies = [sb.UCBRSSR(1.0, name=f"P{k}") for k in range(len(PALETTE) + 2)]
    figure = drawn(regret_panel(policies, variables=[{}]))
    styles = {(line.get_color(), line.get_linestyle()) for line in figure.axes[0].lines}
    assert len(styles) == len(policies)
    assert legends(figure) == [p.name for p in policies]
    policies = [sb.SHSR(1.0, name=f"P{k}") for k in range(len(PALETTE) + 2)]
    assert legends(drawn(error_panel(policies))) == [p.name for p in policies]


@pytest.mark.parametrize("metric", ["regret", "error"])
def test_policies_of_single_cases(metric):
    first, second = sb.UCBRSSR(1.0), sb.policies.UUCB(1.0)
    cases = [case([p], {"set": s}, sb.RSSR(1.0), GOOD, 1000) for p, s in ((first, "A"), (second, "B"))]
    done = finished(panel(cases, metric), [played(first, 0.1)], [played(second, 0.2)])
    figure = drawn(done)
    if metric == "regret":
        assert [labels(figure, k) for k in (0, 1)] == [["UCB-RSSR"], ["U-UCB (ε₀ = L)"]]
    else:
        assert legends(figure) == ["UCB-RSSR", "U-UCB"]
        places = [container.lines[0].get_xdata().round().tolist() for container in figure.axes[0].containers]
        assert places == [[0], [1]]


def test_cases_that_differ_in_something_else_are_told_apart():
    figure = drawn(error_panel(variables=[{"rho": 1}, {"rho": 2}]))
    assert [t.get_text() for t in figure.axes[0].get_xticklabels()] == [
        "rho = 1\nK = 2\nn = 1,000",
        "rho = 2\nK = 2\nn = 1,000",
    ]


@pytest.mark.parametrize("horizon", [2, 10, 99])
def test_short_horizons(horizon):
    policy = sb.policies.UCB1()
    times = np.array([1, horizon])
    one = case([policy], {}, sb.Mean(), GOOD, horizon)
    figure = drawn(finished(panel([one]), [played(policy, 0.5, times)]))
    low, high = figure.axes[0].get_xlim()
    assert low < high == horizon


# --- the palette ------------------------------------------------------------------------------------------------------


#: Okabe & Ito, "Color Universal Design" (2008).
OKABE_ITO = {"#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"}


def test_colours_are_those_that_colour_blind_readers_tell_apart():
    assert set(PALETTE) <= OKABE_ITO
    assert "#F0E442" not in PALETTE  # yellow vanishes on white paper
    assert len(set(PALETTE)) == len(PALETTE)


def test_points_differ_in_more_than_colour():
    (ax,) = drawn(error_panel()).axes
    assert len({container.lines[0].get_marker() for container in ax.containers}) == 2
