"""A ranking's files: data, figures and a page that hold what was printed."""

import csv
import json

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.report.ranking import figure
from sharpe_bandits.returns.ranking import rank
from tests.returns.ranked import table, three_strategies


@pytest.fixture(scope="module")
def daily():
    return three_strategies()


@pytest.fixture(scope="module")
def ranked(daily):
    return rank(daily, replications=1000, seed=3)


def test_names_are_shown_as_they_are(daily, tmp_path):
    odd = ["[bold]A & <b>", "$x_1$ of a name that is longer than any axis has room for", "C"]
    found = rank(table(daily.values, odd), replications=50)
    assert "[bold]A & <b>" in str(found)
    found.report(tmp_path)
    page = (tmp_path / "ranking.html").read_text()
    assert "[bold]A &amp; &lt;b&gt;" in page
    assert "<b>" not in page.split("<style>")[0] + page.split("</style>")[1]


def test_the_figure_has_the_sharpe_ratios_of_the_headline():
    noise = np.random.default_rng(0).normal(0, 0.02, (200, 2))
    x = np.zeros_like(noise)
    for row in range(1, len(x)):
        x[row] = 0.5 * x[row - 1] + noise[row]
    x[:, 1] = noise[:, 1]
    x += np.array([0.01, 0.005]) - x.mean(axis=0)
    returns = sb.read_returns(x, kind="returns", periods_per_year=12, names=["smooth", "rough"])
    ranking = rank(returns, replications=100)
    assert [column.autocorrelated for column in ranking.columns] == [c.name == "smooth" for c in ranking.columns]
    chart = figure(ranking).charts[0][0]
    assert list(chart.series[0].mean) == [c.annual_sharpe for c in ranking.columns]
    assert list(chart.series[0].low) == [c.annual_sharpe_low for c in ranking.columns]
    maximum = next(rule for rule in chart.rules if rule.label)
    assert f"trials without skill is {maximum.at:.2f}" in ranking.conclusion


def test_it_is_saved(ranked, tmp_path):
    ranked.report(tmp_path / "new" / "folder")
    folder = tmp_path / "new" / "folder"
    names = {f"ranking.{kind}" for kind in ("csv", "json", "svg", "png", "html")}
    assert {p.name for p in folder.iterdir()} == names | {"curves.svg", "curves.png", "correlations.csv"}
    with (folder / "ranking.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == ["good", "fair", "bad"]
    assert float(rows[0]["annual_sharpe"]) == ranked["good"].annual_sharpe
    kept = json.loads((folder / "ranking.json").read_text())
    assert kept == json.loads(json.dumps(ranked.to_dict()))
    assert kept["columns"][2]["dsr"] == ranked["bad"].dsr
    assert kept["annual_expected_maximum"] == ranked.annual_expected_maximum
    drawing = (folder / "ranking.svg").read_text()
    for words in (
        "annualised Sharpe ratio",
        "252 periods per year",
        "expected maximum of 3 trials without skill",
        "good",
    ):
        assert words in drawing
    page = (folder / "ranking.html").read_text()
    assert f"{ranked['good'].annual_sharpe:.2f}</td>" in page
    assert "252 periods per year" in page
    assert "http://" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    )  # names of vocabularies, which no browser asks for
    assert len(page) < 200_000


def test_the_same_ranking_gives_the_same_files(ranked, tmp_path):
    for name in ("one", "two"):
        ranked.report(tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


@pytest.mark.parametrize("hurdle", ["risk_free_series", "benchmark"])
def test_returns_in_excess_of_a_series_are_reported_too(hurdle, tmp_path):
    draws = np.random.default_rng(8).normal(0.001, [0.01, 0.01, 1e-5], size=(120, 3))
    columns = {name: draws[:, k].tolist() for k, name in enumerate(["good", "fair", "base"])}
    returns = sb.read_returns(columns, kind="returns", periods_per_year=252, **{hurdle: "base"})
    found = rank(returns, replications=50)
    assert found.report(tmp_path) == tmp_path / "ranking.html"
    assert found.returns.hurdle.words in figure(found).caption
