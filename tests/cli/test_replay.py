"""``sharpe-bandits replay``: options reach what they are for, and mistakes are told on one line."""

import json
import sys

import numpy as np
import pytest

from sharpe_bandits.cli.program import main
from sharpe_bandits.report import replay as report
from sharpe_bandits.returns.replay import replay
from sharpe_bandits.returns.table import read_returns

READ = ["--kind", "returns", "--periods-per-year", "252"]
FILES = {
    "replay.html", "replay.csv", "replay.json", "wealth.csv", "log.csv",
    *(f"{name}.{kind}" for name in ("wealth", "drawdown", "timeline") for kind in ("svg", "png")),
}  # fmt: skip


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A year and a half of three strategies."""
    monkeypatch.chdir(tmp_path)
    g = np.random.default_rng(6)
    days = np.datetime64("2020-01-01") + np.arange(400)
    rows = g.normal([0.0, 0.001, 0.0005], [0.01, 0.01, 0.02], (400, 3))
    lines = [f"{day},{','.join(f'{x:.8f}' for x in row)}" for day, row in zip(days, rows, strict=True)]
    (tmp_path / "desks.csv").write_text("date,east,west,north\n" + "\n".join(lines) + "\n")
    return tmp_path / "desks.csv"


def test_it_prints_and_saves_what_the_library_computes(file, capsys):
    more = [
        "--policies",
        "SF-UCB",
        "ScaleFreeTS",
        "SlidingWindowUCB:window=60,c=1",
        "SHSR",
        "--L",
        "2e-5",
        "--seed",
        "3",
    ]
    more += ["--annual-risk-free", "0.02", "--cost", "0.001", "--runs", "5", "--budget", "120", "--out", "mine"]
    assert main(["replay", "desks.csv", *READ, *more]) == 0
    words = " ".join(capsys.readouterr().out.split())
    found = replay(
        read_returns(file, kind="returns", periods_per_year=252),
        ["SF-UCB", "ScaleFreeTS", "SlidingWindowUCB:window=60,c=1", "SHSR"],
        L=2e-5, annual_risk_free=0.02, cost=0.001, runs=5, seed=3, budget=120,
    )  # fmt: skip
    folder = file.parent / "mine"
    assert {path.name for path in folder.iterdir()} == FILES
    assert json.loads((folder / "replay.json").read_text()) == json.loads(json.dumps(found.to_dict()))
    for player in found.players:
        assert player.name in words
        assert any(f"{player.annual_sharpe:.{d}f}" in words for d in (1, 2))
    for text in ("0.001 of wealth per switch", "L 2e-05", "0.02 annual", "of the 400 rows, then holds", "seed 3",
                 "5 of each policy on the recorded rows", "252 periods per year", "wrong tool",
                 "saved: mine/replay.html"):  # fmt: skip
        assert text in words


def test_other_starts_and_blocks(file, capsys):
    for paths, more in (("starts", ["--length", "150"]), ("blocks", ["--block", "4"])):
        given = ["--policies", "SF-UCB", "--runs", "3", "--paths", paths, *more, "--out", paths]
        assert main(["replay", "desks.csv", *READ, *given]) == 0
        saved = json.loads((file.parent / paths / "replay.json").read_text())
        assert (saved["paths"], saved["length"], saved["block"]) == (
            (paths, 150, None) if paths == "starts" else (paths, 400, 4.0)
        )
    words = " ".join(capsys.readouterr().out.split())
    assert "3 of each policy on 150 consecutive rows from a random start" in words
    assert "3 of each policy on 400 rows resampled in blocks of 4 on average" in words


def test_by_default_it_plays_the_usual_policies_into_out(file, capsys):
    assert main(["replay", "desks.csv", *READ, "--runs", "3", "--full-feedback"]) == 0
    out = capsys.readouterr().out
    assert "saved: out/replay-desks/replay.html" in out
    saved = json.loads((file.parent / "out" / "replay-desks" / "replay.json").read_text())
    assert [p["name"] for p in saved["players"] if p["kind"] == "policy"] == ["SF-UCB", "SW-SF-UCB", "SF-TS"]
    assert saved["feedback"] == "full"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--policies", "SF-UBC"], "no policy is called 'SF-UBC': did you mean 'SF-UCB'? sharpe-bandits policies"),
        (["--policies", "SHSR", "--full-feedback"], "SHSR divides a budget of pulls"),
        (["--cost", "2"], "cost must be from 0 to below 1"),
        (["--columns", "east"], "at least two columns, but there is only 'east'"),
        (["--runs", "0"], "runs must be a whole number at least 2, got 0"),
        (["--aversion", "2"], "--aversion 2.0 is for 'mean-risk', by which costs are judged, not for 'sharpe'"),
    ],
    ids=["name", "elimination", "cost", "one", "runs", "aversion"],
)
def test_mistakes_are_told_on_one_line_and_nothing_is_written(file, capsys, arguments, words):
    assert main(["replay", "desks.csv", *READ, *arguments]) == 2
    out, err = capsys.readouterr()
    assert words in err
    assert err.count("\n") == 1
    assert out == ""
    assert [path.name for path in file.parent.iterdir()] == ["desks.csv"]


def test_a_failure_half_way_leaves_what_was_there(file, capsys, monkeypatch):
    arguments = ["replay", "desks.csv", *READ, "--policies", "SF-UCB", "--runs", "3"]
    assert main(arguments) == 0
    folder = file.parent / "out" / "replay-desks"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def fails(played):
        raise RuntimeError("no page")

    monkeypatch.setattr(report, "files", fails)
    with pytest.raises(RuntimeError, match="no page"):
        main([*arguments, "--cost", "0.01"])
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_without_matplotlib_it_says_so_before_the_work(file, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["replay", "desks.csv", *READ]) == 2
    out, err = capsys.readouterr()
    assert "pip install 'sharpe-bandits[report]'" in err
    assert out == ""


def test_decisions_and_costs_reach_the_library(file, capsys):
    more = ["--policies", "SF-UCB", "--runs", "3", "--every", "week", "--hold", "2", "--top", "2", "--warm-up", "50"]
    more += ["--cost", "0.001", "--costs", "east=0.004", "--cost-aware", "--out", "mine"]
    assert main(["replay", "desks.csv", *READ, *more]) == 0
    words = " ".join(capsys.readouterr().out.split())
    found = replay(
        file, ["SF-UCB"], kind="returns", periods_per_year=252, runs=3, every="week", hold=2, top=2, warm_up=50,
        cost={"east": 0.004, "west": 0.001, "north": 0.001}, cost_aware=True,
    )  # fmt: skip
    assert json.loads((file.parent / "mine" / "replay.json").read_text()) == json.loads(json.dumps(found.to_dict()))
    for text in (
        "every week; a round of a policy is one such period, 2 columns at a time in equal parts, each for at least 2",
        "the first 50 rows are observed, not played",
        "0.001 to 0.004 of wealth per switch, by column; the first purchase is free; policies",
    ):
        assert text in words
    assert main(["replay", "desks.csv", *READ, "--costs", "east"]) == 2
    assert "--costs takes COLUMN=COST with a number, got 'east'" in capsys.readouterr().err
