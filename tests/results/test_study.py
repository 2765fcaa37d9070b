"""Studies: a mapping of policies, all of them at once, best first, as tables, pictures and pages."""

import math
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import scipy.stats

import sharpe_bandits as sb
from tests.experiments.test_panel import COLUMNS

BANDIT = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8), sb.Uniform(0, 6)])
POLICIES = [sb.UCBRSSR(L=2.0), sb.policies.UUCB(epsilon0=2.0), sb.policies.EpsilonGreedy(sb.RSSR(L=2.0))]
RSSR = sb.RSSR(L=2.0)
RUNS = 40


@pytest.fixture(scope="module")
def study():
    return sb.simulate(POLICIES, BANDIT, horizon=200, runs=RUNS, seed=3, checkpoints=[10, 50])


@pytest.fixture(scope="module")
def budget():
    policies = [sb.SHSR(L=2.0), sb.SHSR(L=2.0, keep_samples=True, name="kept"), sb.SuRSR(L=2.0)]
    return sb.simulate(policies, BANDIT, horizon=200, runs=RUNS, seed=3)


@pytest.fixture(scope="module")
def identified():
    bandit = sb.Bandit([sb.Uniform(0, 6), sb.Uniform(0, 2)])
    return sb.identify(
        [sb.policies.LUCB(L=0.5), sb.policies.LUCB(L=0.5, delta=0.3, name="bold")], bandit, runs=30, seed=4
    )


def test_a_study_is_a_mapping(study):
    assert list(study) == study.names == [policy.name for policy in POLICIES]
    assert len(study) == 3
    assert dict(study.items())["U-UCB"] is study["U-UCB"]
    assert [result.name for result in study.values()] == study.names
    assert study.get("nobody") is None
    assert "UCB-RSSR" in study
    assert "UCB-RSR" not in study


def test_class_names_work_where_only_one_is_meant(study, budget):
    assert study["UCBRSSR"] is study["UCB-RSSR"]
    assert study["UUCB"] is study["U-UCB"]
    assert budget["SuRSR"].name == "SuRSR"
    assert budget["SHSR"] is budget[budget.names[0]]  # a name goes before a class
    two = sb.simulate([sb.UCBRSSR(1.0, name="a"), sb.UCBRSSR(2.0, name="b")], BANDIT, horizon=20, runs=2)
    with pytest.raises(sb.errors.UnknownNameError, match="'a', 'b' are of that class; use their names"):
        two["UCBRSSR"]


@pytest.mark.parametrize("ask", ["regret", "suboptimal_plays", "error", "simple_regret", "achieved", "locked_in"])
def test_all_policies_at_once(study, ask):
    found = getattr(study, ask)(RSSR, confidence=0.9)
    assert list(found) == study.names
    for name in study:
        one = getattr(study[name], ask)(RSSR, confidence=0.9)
        if isinstance(one, sb.results.Estimate):
            assert found[name] == one
        else:
            np.testing.assert_array_equal(found[name].mean, one.mean)
            np.testing.assert_array_equal(found[name].high, one.high)
    text = repr(found).splitlines()
    assert len(text) == 1 + len(study)
    assert text[1].startswith("UCB-RSSR")
    with pytest.raises(sb.errors.UnknownNameError, match="did you mean 'UCB-RSSR'"):
        found["UCB-RSR"]


def test_nothing_is_no_name():
    one = sb.simulate(sb.UCBRSSR(1.0), BANDIT, horizon=20, runs=2)
    assert None not in one
    with pytest.raises(sb.errors.UnknownNameError, match="no policy in this study is called None"):
        one[None]


def test_bad_keys_and_folders_are_refused(study):
    for bad in (0, None, [1], {"a": 1}):
        with pytest.raises(sb.errors.UnknownNameError, match="no policy in this study is called"):
            study[bad]
        with pytest.raises(sb.errors.UnknownNameError):
            study.regret(RSSR)[bad]
    for bad in (0, None, ["a"]):
        for act in (study.save, sb.load, lambda folder: study.report(folder, RSSR)):
            with pytest.raises(sb.errors.InvalidInputError, match="a folder is needed, got"):
                act(bad)


def test_policies_that_aim_at_different_things_need_an_objective(budget):
    study = sb.simulate([sb.UCBRSSR(L=2.0), sb.policies.UCB1()], BANDIT, horizon=20, runs=2)
    with pytest.raises(
        sb.errors.InvalidInputError,
        match=r"no objective in common \(RSSR.*pass one, as in objective=sb.objectives.RSSR\(L=2.0\)",
    ):
        study.regret()
    with pytest.raises(sb.errors.InvalidInputError, match="objective such as"):
        study.summary("RSSR")
    assert budget.error()["SHSR"] == budget["SHSR"].error()
    assert "its own objective" in study._repr_html_()
    assert "study.summary(sb.objectives.RSSR(L=2.0))" in study._repr_html_()


def test_objectives_that_agree_on_these_arms_are_one():
    """RSSR loses the sign of a mean, which changes nothing where all means are positive."""
    policies = [sb.UCBRSSR(L=0.5), sb.policies.UUCB(epsilon0=0.5)]
    positive = sb.simulate(policies, BANDIT, horizon=50, runs=4, seed=1)
    assert positive["U-UCB"].objective != positive["UCB-RSSR"].objective
    for name, curve in positive.regret().items():
        assert curve.final == positive[name].regret(sb.RSSR(L=0.5)).final
    assert positive.regret()["UUCB"].final == positive.regret()["U-UCB"].final
    mixed = sb.simulate(policies, [sb.Normal(1, variance=1), sb.Normal(-2, variance=1)], horizon=50, runs=4, seed=1)
    with pytest.raises(sb.errors.InvalidInputError, match="no objective in common"):
        mixed.regret()


def test_times_of_runs_that_were_given_up_are_said_to_be_lower_bounds():
    arms = [sb.Normal(0.5, variance=1), sb.Normal(0.45, variance=1)]
    cut = sb.identify([sb.policies.LUCB(L=0.1), sb.TopTwo(L=0.1)], arms, runs=20, seed=1, max_budget=3000).summary()
    shares = cut.to_pandas()["unfinished runs"]
    assert (shares > 0.5).all()
    assert "a stopping time is a lower bound" in cut.title
    easy = sb.identify(
        sb.policies.LUCB(L=0.1), [sb.Normal(3, variance=1), sb.Normal(0, variance=1)], runs=20, seed=1
    ).summary()
    assert easy.records()[0]["unfinished runs"] == 0
    assert "lower bound" not in easy.title


def test_a_study_of_given_horizons_has_no_stopping_time(study):
    with pytest.raises(
        sb.errors.InvalidInputError, match=r"UCB-RSSR, U-UCB, .* do not stop by themselves; sb.identify"
    ):
        study.stopping_time()


def test_runs_that_stop_by_themselves_have_no_second_half(identified):
    with pytest.raises(sb.errors.InvalidInputError, match="LUCB stops by itself"):
        identified.locked_in()


def test_a_report_is_a_folder(study, tmp_path):
    with pytest.raises(
        sb.errors.InvalidInputError, match=r"a report is a folder, got '.*page\.html'; leave \.html out"
    ):
        study.report(tmp_path / "page.html", RSSR)
    assert not list(tmp_path.iterdir())


def test_the_summary_is_best_first_with_paired_differences(study):
    gaps = RSSR.gaps(sb.objectives.Statistics(mean=BANDIT.means, variance=BANDIT.variances))
    per_run = {name: (study[name].final * gaps).sum(axis=1) for name in study}
    order = sorted(per_run, key=lambda name: per_run[name].mean())
    table = study.summary(RSSR, confidence=0.9)
    rows = table.records()
    assert [row["policy"] for row in rows] == order
    half = scipy.stats.t.ppf(0.95, RUNS - 1)
    for row in rows:
        values = per_run[row["policy"]]
        se = values.std(ddof=1) / math.sqrt(RUNS)
        assert (row["regret"], row["s.e."]) == pytest.approx((values.mean(), se))
        assert (row["low"], row["high"]) == pytest.approx((values.mean() - half * se, values.mean() + half * se))
        if row["policy"] == order[0]:
            assert row["difference from best"] is None
            continue
        difference = values - per_run[order[0]]
        assert row["difference from best"] == pytest.approx(difference.mean())
        width = half * difference.std(ddof=1) / math.sqrt(RUNS)
        assert row["difference low"] == pytest.approx(difference.mean() - width)
        assert row["difference high"] == pytest.approx(difference.mean() + width)
    title, _, first, *_ = repr(table).splitlines()
    assert title == table.title
    assert "90% intervals" in title
    assert first.startswith(order[0])


def test_policies_with_a_budget_are_ranked_by_their_errors(budget, study):
    assert (budget.metric, study.metric) == ("error", "regret")
    rows = budget.summary().records()
    errors = [budget[row["policy"]].error() for row in rows]
    assert [row["error"] for row in rows] == sorted(e.mean for e in errors)
    assert [row["low"] for row in rows] == [e.low for e in errors]
    paired = budget.compare_errors(rows[1]["policy"], rows[0]["policy"])
    assert (rows[1]["difference from best"], rows[1]["difference low"]) == (paired.mean, paired.low)
    assert study.summary(RSSR, metric="error").columns[1] == "error"
    with pytest.raises(
        sb.errors.InvalidInputError, match="metric must be one of 'regret', 'error', got 'stopping time'"
    ):
        study.summary(RSSR, metric="stopping time")


def test_fixed_confidence_gives_a_study_too(identified):
    assert list(identified) == ["LUCB", "bold"]
    sure, bold = identified["LUCB"], identified["bold"]
    assert isinstance(sure, sb.results.StoppingResult)
    assert identified.stopping_time()["bold"] == bold.stopping_time()
    assert identified.unfinished()["bold"] == bold.unfinished()
    rounds = f"runs of at most {identified.horizon:,} rounds"
    assert rounds in repr(identified)
    assert rounds in identified.summary().title
    rows = identified.summary().records()
    assert [row["policy"] for row in rows] == ["bold", "LUCB"]
    difference = (sure.rounds - bold.rounds).astype(float)
    assert rows[1]["difference from best"] == pytest.approx(difference.mean())
    assert rows[1]["stopping time"] == pytest.approx(sure.rounds.mean())
    gaps = sure.objective.gaps(sb.objectives.Statistics(mean=[3.0, 1.0], variance=[3.0, 1 / 3]))
    assert sure.regret().final.mean == pytest.approx((sure.final @ gaps).mean())
    assert {row["metric"] for row in identified.rows()} >= {"stopping time", "unfinished runs", "error"}


def test_the_tidy_table_has_the_columns_of_the_panels(study):
    frame = study.table(RSSR).to_pandas()
    assert list(frame.columns) == COLUMNS
    assert study.table(RSSR).to_arrow().column_names == COLUMNS
    assert study.table(RSSR).to_polars().columns == COLUMNS
    curve = frame[(frame["policy"] == "U-UCB") & (frame["metric"] == "regret")]
    expected = study["U-UCB"].regret(RSSR)
    assert curve["t"].tolist() == expected.t.tolist() == [10, 50, 200]
    assert curve["mean"].tolist() == expected.mean.tolist()
    assert set(frame["L"]) == {2.0}
    assert set(frame["K"]) == {3}


def test_a_figure_shows_every_policy(study, budget):
    pytest.importorskip("matplotlib")
    for one, objective in ((study, RSSR), (budget, None)):
        figure = one.plot(objective)
        legends = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
        direct = [text.get_text() for text in figure.axes[0].texts]  # written beside the curves
        assert sorted(re.split(r",? \(?ε₀", name)[0] for name in legends or direct) == sorted(one.names)
    import matplotlib.pyplot as plt

    plt.close("all")


def test_a_report_of_a_saved_study(study, identified, tmp_path):
    study.save(tmp_path / "study")
    page = sb.load(tmp_path / "study").report(tmp_path / "report", RSSR)
    text = page.read_text("utf-8")
    for name in study:
        assert name in text
    assert "Uniform(1.5, 7.5)" in text
    assert {p.relative_to(tmp_path / "report").as_posix() for p in (tmp_path / "report").rglob("*.*")} == {
        "report.html", "figures/study.svg", "figures/study.png", "data/study.csv", "data/study.parquet",
    }  # fmt: skip
    assert identified.report(tmp_path / "other").exists()


def test_every_result_shows_itself(study, identified):
    trace = sb.trace(POLICIES[0], BANDIT, horizon=50)
    results = [
        study, identified, study["U-UCB"], identified["bold"], study.regret(RSSR), study["U-UCB"].regret(),
        study["U-UCB"].error(), study.compare("UCB-RSSR", "U-UCB"), study.summary(RSSR), trace, BANDIT,
        sb.SwitchingBandit([BANDIT, BANDIT], [10]), *POLICIES,
    ]  # fmt: skip
    for result in results:
        html = result._repr_html_().replace("style=text-align:right", 'style="text-align:right"')
        root = ET.fromstring(f"<div>{html}</div>")
        assert root.find("table") is not None
        assert root.findall(".//td")
        assert len(repr(result)) < 1000
    assert repr(trace) == f"<Trace of 50 rounds; recommended: {trace.recommended}>"
    assert repr(study).startswith("<Study of UCB-RSSR, U-UCB")
    assert float(study["U-UCB"].error()) == study["U-UCB"].error().mean


def test_names_cannot_inject_html():
    study = sb.simulate(sb.UCBRSSR(1.0, name="<script>alert(1)</script>"), BANDIT, horizon=20, runs=2)
    for shown in (study, study.regret(), study.summary(), *study.values(), sb.UCBRSSR(1.0, name="<script>x")):
        assert "<script>" not in shown._repr_html_()


def test_a_printed_study_is_its_table_with_or_without_a_common_objective() -> None:
    arms = [sb.Uniform(0, 1), sb.Uniform(0, 0.5)]
    same = sb.simulate([sb.policies.UCB1(), sb.policies.EpsilonGreedy(objective=sb.Mean())], arms, horizon=50, runs=4)
    assert str(same) == str(same.summary())
    differ = sb.simulate([sb.policies.UCB1(), sb.ScaleFreeUCB(L=0.1)], arms, horizon=50, runs=4)
    assert "study.summary(" in str(differ)
    assert "RSSR(" in str(differ)


def test_two_policies_with_different_objectives_are_not_compared_without_one() -> None:
    arms = [sb.Uniform(0, 1), sb.Uniform(0, 0.5)]
    study = sb.simulate([sb.policies.UCB1(), sb.ScaleFreeUCB(L=0.1)], arms, horizon=50, runs=4)
    for compare in (study.compare, study.compare_errors):
        with pytest.raises(sb.errors.InvalidInputError, match="no objective in common"):
            compare("UCB1", "SF-UCB")
    forth, back = (study.compare(*pair, sb.RSSR(L=0.1)).final.mean for pair in (("UCB1", "SF-UCB"), ("SF-UCB", "UCB1")))
    assert forth == -back


def test_no_errors_on_either_side_leave_room_for_a_difference() -> None:
    """Without a discordant run in n, the share of discordant runs may be up to Wilson's bound, z^2 / (n + z^2)."""
    arms = [sb.Uniform(0, 1), sb.Uniform(-1, -0.5)]
    study = sb.simulate([sb.SuRSR(L=0.1, signed=True), sb.SHSR(L=0.1, signed=True)], arms, horizon=200, runs=50)
    difference = study.compare_errors("SuRSR", "SHSR")
    bound = 1.959964**2 / (50 + 1.959964**2)
    assert (difference.mean, difference.low, difference.high) == pytest.approx((0.0, -bound, bound), rel=1e-5)
