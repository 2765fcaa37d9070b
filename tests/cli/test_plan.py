"""The command plan: what it prints and writes, and mistakes in it."""

import csv
import json
import math
import re

import numpy as np
import pytest

from sharpe_bandits.cli.program import main
from tests.messages import says
from tests.planning.problems import easy_plan


@pytest.fixture(scope="module")
def plan():
    return easy_plan()


GIVEN = ["plan", "--arms", "4", "--best-sharpe", "8", "--gap", "6", "--objective", "rssr"]


def test_the_command(tmp_path, capsys, plan):
    assert main([*GIVEN, "--error", "0.05", "--seed", "7", "--out", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert f" {plan['SHSR'].recommended} " in out  # to a round, since the standard error is below 10
    assert f" {round(plan['SHSR'].rounds.mean)} " in out
    assert "every arm seen in every period" in out
    assert "m·|m| / (L + v)" in out
    folder = tmp_path / "out"
    assert {path.name for path in folder.iterdir()} == {
        f"plan.{kind}" for kind in ("csv", "json", "html", "svg", "png")
    }
    kept = json.loads((folder / "plan.json").read_text("utf-8"))
    assert kept == json.loads(json.dumps(plan.to_dict()))
    with (folder / "plan.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["policy"], int(r["budget"]), int(r["wrong"])) for r in rows] == [
        (p.policy, p.budget, p.wrong) for p in plan.points
    ]
    assert float(rows[0]["error"]) == pytest.approx(int(rows[0]["wrong"]) / int(rows[0]["runs"]))


def test_the_command_the_other_way_round(tmp_path, capsys):
    out = ["--out", str(tmp_path), "--runs", "300"]
    assert main([*GIVEN, "--years", "0.5", "1", *out]) == 0
    by_years = capsys.readouterr().out
    assert main([*GIVEN, "--budget", "126", "252", *out]) == 0
    assert capsys.readouterr().out == by_years
    assert re.search(r"SuRSR +252 +1 ", by_years)


def test_the_command_says_how_far_the_error_came(tmp_path, capsys):
    assert main(["plan", "--sharpes", "1", "0.5", "--max-budget", "300", "--runs", "200", "--out", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert "more than 300" in out
    assert "no method reaches an error of 0.05 within 300 rounds; raise --max-budget or --error" in err
    assert (tmp_path / "plan.html").exists()


def test_the_command_with_a_table(tmp_path, capsys):
    rng = np.random.default_rng(1)
    values = rng.normal([0.02, 0.0], 0.05, (60, 2))
    path = tmp_path / "returns.csv"
    path.write_text("A,B\n" + "\n".join(f"{a},{b}" for a, b in values) + "\n")
    given = ["plan", str(path), "--kind", "returns", "--periods-per-year", "12", "--budget", "40"]
    assert main([*given, "--runs", "200", "--out", str(tmp_path / "out")]) == 0
    kept = json.loads((tmp_path / "out" / "plan.json").read_text("utf-8"))
    sharpe = math.sqrt(12) * values[:, 0].mean() / values[:, 0].std(ddof=1)
    assert kept["problem"]["names"] == ["A", "B"]
    assert kept["problem"]["sharpes"][0] == pytest.approx(sharpe)
    assert "the table's 60 rows, resampled" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["plan"], ("give the arms by one of", "none of them")),
        ([*GIVEN, "--sharpes", "1", "2"], ("--gap together with --sharpes",)),
        (["plan", "--arms", "4"], ("also need --best-sharpe and --gap",)),
        (["plan", "x.csv"], ("a table needs --kind and --periods-per-year",)),
        (["plan", "x.csv", "--volatility", "1"], ("--volatility is used only without a FILE",)),
        ([*GIVEN, "--block", "5"], ("--block is used only with a FILE",)),
        ([*GIVEN, "--columns", "A"], ("--columns is used only with a FILE",)),
        ([*GIVEN, "--annual-risk-free", "0.02"], ("--annual-risk-free is used only with a FILE",)),
        ([*GIVEN, "--years", "0"], ("--years must be", "got 0")),
        ([*GIVEN, "--aversion", "2"], ("--aversion is used only with a FILE",)),
        ([*GIVEN, "--error", "0.7"], ("to below 0.5, got 0.7",)),
    ],
    ids=lambda value: " ".join(value)[:40],
)
def test_mistakes_in_the_command(arguments, parts, tmp_path, capsys):
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 2
    assert re.search(says(*parts), capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


def test_interrupted_it_does_not_promise_to_go_on(tmp_path, capsys, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("sharpe_bandits.planning.search.recommended", interrupt)
    assert main([*GIVEN, "--out", str(tmp_path / "out")]) == 130
    assert capsys.readouterr().err == "\nsharpe-bandits: interrupted; nothing was written\n"
