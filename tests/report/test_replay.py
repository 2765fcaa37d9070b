"""A replay's files: numbers at full precision, figures and page that say what they depend on."""

import csv
import io
import json
import re

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.charts.render_matplotlib import render_matplotlib
from sharpe_bandits.report import replay as report


@pytest.fixture(scope="module")
def returns():
    g = np.random.default_rng(2)
    days = np.datetime64("2001-01-01") + np.arange(2000)
    columns = dict(zip(("a <b>", "$money$", "c"), g.normal(0.0004, 0.01, (3, 2000)), strict=True))
    return sb.read_returns({"day": days, **columns}, kind="returns", periods_per_year=252, date="day")


@pytest.fixture(scope="module")
def played(returns):
    return sb.replay(returns, ["SF-UCB", "SF-TS"], runs=4, cost=0.0005)


@pytest.fixture(scope="module")
def folder(played, tmp_path_factory):
    folder = tmp_path_factory.mktemp("replay")
    played.report(folder)
    return folder


def test_csv_and_json_hold_every_number_exactly(played, folder):
    rows = list(csv.DictReader(io.StringIO((folder / "replay.csv").read_text())))
    found = {(r["player"], r["metric"], r["column"]): r for r in rows}
    data = json.loads((folder / "replay.json").read_text())
    for player, plain in zip(played.players, data["players"], strict=True):
        for metric in ("total", "annual_sharpe", "annual_se", "annual_difference_se", "turnover"):
            assert float(found[player.name, metric, ""]["value"]) == getattr(player, metric) == plain[metric]
        for name in played.names:
            assert float(found[player.name, "share", name]["value"]) == player.shares[name] == plain["shares"][name]
    assert data["convention"] == "simple returns per period, 0.01 = 1%; 252 periods per year"
    assert data["warning"] == played.warning


def test_wealth_of_every_row_is_kept(played, folder):
    rows = list(csv.DictReader(io.StringIO((folder / "wealth.csv").read_text())))
    assert len(rows) == 2000
    assert rows[0]["date"] == "2001-01-01"
    assert [float(row["SF-UCB"]) for row in rows] == played["SF-UCB"].wealth.tolist()
    assert [float(row["SF-TS, 95% of runs"]) for row in rows] == played["SF-TS"].wealth_high.tolist()
    assert "equal weight, 95% of runs" not in rows[0]


def test_without_dates_rows_are_counted(tmp_path):
    g = np.random.default_rng(2)
    returns = sb.read_returns(g.normal(0, 0.01, (30, 2)), kind="returns", periods_per_year=12, names=["a", "b"])
    sb.replay(returns, "SF-UCB").report(tmp_path)
    assert (tmp_path / "wealth.csv").read_text().splitlines()[1].startswith("1,")
    assert ">rows</text>" in (tmp_path / "replay.html").read_text()


def test_conventions_stand_beside_every_figure(played, folder):
    words = [
        "252 periods per year",
        "Sharpe ratio × √252",
        "0.01 = 1%",
        "cost: 0.0005 of wealth per switch",
        f"L = {played.L:.4g}",
    ]
    text = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", (folder / "wealth.svg").read_text()))
    page = (folder / "replay.html").read_text()
    for word in words:
        assert word in text
        assert page.count(word) >= 3


def test_the_page_escapes_names_and_shows_at_most_so_many_rows(played, folder):
    page = (folder / "replay.html").read_text()
    assert "a &lt;b&gt;" in page
    assert "<b>" not in page.split('<section id="wealth"')[0].replace("<b>Is a bandit the right tool?</b>", "")
    ((chart,),) = report.wealth(played).charts
    by_name = {series.name: series for series in chart.series}
    ucb, ts = (by_name[f"{name}, median of 4 runs"] for name in ("SF-UCB", "SF-TS"))
    assert len(ucb.at) == 1500
    assert [str(day)[:10] for day in (ucb.at[0], ucb.at[-1])] == ["2001-01-01", "2006-06-23"]
    assert ucb.mean[-1] == played["SF-UCB"].wealth[-1]
    assert (ts.low[-1], ts.high[-1]) == (played["SF-TS"].wealth_low[-1], played["SF-TS"].wealth_high[-1])
    assert any(name.startswith("best in hindsight: ") for name in by_name)


def test_the_same_replay_gives_the_same_files(returns, folder, tmp_path):
    sb.replay(returns, ["SF-UCB", "SF-TS"], runs=4, cost=0.0005).report(tmp_path)
    for path in folder.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_ruin_can_be_drawn(tmp_path):
    """A column that loses all: wealth of 0 has no place on a logarithmic axis."""
    x = np.random.default_rng(3).normal(0.01, 0.05, (40, 2))
    x[20, :] = -1
    played = sb.replay(sb.read_returns(x, kind="returns", periods_per_year=12, names=["a", "b"]), "SF-UCB")
    assert played["SF-UCB"].wealth[-1] == 0
    assert played["SF-UCB"].drawdown == 1
    played.report(tmp_path)
    (ax,) = render_matplotlib(report.wealth(played)).axes
    low, high = ax.get_ylim()
    assert 0 < low < high < 3


def test_settings_of_other_libraries_change_no_figure(tmp_path):
    """Other libraries set sizes for the whole process, with which figures collapsed."""
    import matplotlib

    x = np.random.default_rng(3).normal(0.01, 0.05, (40, 2))
    played = sb.replay(sb.read_returns(x, kind="returns", periods_per_year=12, names=["a", "b"]), "SF-UCB")
    played.report(tmp_path / "before")
    with matplotlib.rc_context({"font.size": 40, "xtick.labelsize": 40, "xtick.major.size": 40, "axes.labelpad": 40}):
        played.report(tmp_path / "after")
    figures = sorted(path.relative_to(tmp_path / "before") for path in (tmp_path / "before").rglob("*.svg"))
    assert figures
    for figure in figures:
        assert (tmp_path / "after" / figure).read_bytes() == (tmp_path / "before" / figure).read_bytes()
