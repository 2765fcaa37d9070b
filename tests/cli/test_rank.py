"""``sharpe-bandits rank``: options reach what they are for, and mistakes are told on one line."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from sharpe_bandits.cli.program import main
from sharpe_bandits.returns.ranking import rank
from sharpe_bandits.returns.table import read_returns


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Two strategies, in per cent, of forty months; the newest first, with a gap and a column of text."""
    monkeypatch.chdir(tmp_path)
    g = np.random.default_rng(6)
    lines = ["note;when;slow;fast"]
    for k in reversed(range(40)):
        slow, fast = g.normal([0.8, 1.0], [2.0, 5.0])
        value = "" if k == 17 else f"{slow:.4f}"
        lines.append(f"x;{2019 + k // 12}-{k % 12 + 1:02d}-01;{value};{fast:.4f}")
    (tmp_path / "funds.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "funds.csv"


OPTIONS = [
    "--kind", "returns", "--periods-per-year", "12", "--percent", "--date", "when", "--columns", "slow", "fast",
    "--separator", ";", "--unsorted", "sort", "--missing", "drop",
]  # fmt: skip
READ = {
    "kind": "returns", "periods_per_year": 12, "scale": 0.01, "date": "when", "columns": ["slow", "fast"],
    "separator": ";", "unsorted": "sort", "missing": "drop",
}  # fmt: skip


def test_it_prints_and_saves_what_the_library_computes(file, capsys):
    more = ["--annual-risk-free", "0.02", "--replications", "200", "--seed", "5", "--confidence", "0.9"]
    more += ["--trials", "7", "--trials-sd", "0.8", "--block", "2", "--out", "out"]
    assert main(["rank", "funds.csv", *OPTIONS, *more]) == 0
    out = capsys.readouterr().out
    found = rank(
        read_returns(file, **READ), annual_risk_free=0.02, trials=7, trials_sd=0.8, confidence=0.9,
        replications=200, block=2.0, seed=5,
    )  # fmt: skip
    assert json.loads((file.parent / "out" / "ranking.json").read_text()) == json.loads(json.dumps(found.to_dict()))
    slow = found["slow"]
    words = " ".join(out.split())
    for text in (
        f"{slow.annual_sharpe:.1f}", f"[{slow.annual_sharpe_low:.1f}, {slow.annual_sharpe_high:.1f}]", "90% interval",
        "7 (5 not given, assumed to be independent)", "Sharpe ratios 0.80 (as given)",
        "0.02 annual, 0.001652 per period", "12 periods per year", "blocks of 2 rows", "seed 5",
        "multiplied returns by 0.01", "dropped 1 of 40 rows: 1 value missing", "saved: out/ranking.html",
    ):  # fmt: skip
        assert text in words
    assert "sorted by date (line 3 (2022-03-01) came after line 2 (2022-04-01))" in words


def test_the_regulariser_is_for_rssr(file, capsys):
    assert main(["rank", "funds.csv", *OPTIONS, "--by", "rssr", "--L", "1e-4", "--replications", "50", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["L"] == 1e-4
    assert [p.name for p in file.parent.iterdir()] == ["funds.csv"], "without --out nothing is written"


def test_the_table_fits_into_80_columns(tmp_path, monkeypatch, capsys):
    """The numbers that decide stay in one table; names are folded."""
    monkeypatch.setenv("COLUMNS", "80")
    g = np.random.default_rng(7)
    names = ["Momentum long short fund", "Value and quality composite"]
    path = tmp_path / "funds.csv"
    pd.DataFrame(g.normal(0.001, 0.01, (300, 2)), columns=names).to_csv(path, index=False)
    assert main(["rank", str(path), "--kind", "returns", "--periods-per-year", "252", "--replications", "50"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    (rule,) = (k for k, line in enumerate(lines) if "───" in line)
    assert {"annualised", "DSR", "ranked", "first"} <= set(" ".join(lines[rule - 3 : rule]).split())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("--missing", "error"), "column 'slow', line 24 (2020-06-01) has no value"),
        (("--unsorted", "error"), "the newest come first; pass --unsorted sort"),
        (("--columns", "slow", "quick"), "no column is called 'quick'"),
        (("--separator", ","), "--separator ';'"),
        (("--date", "note"), "column 'note', line 2: 'x' is not a date"),
        (("--annual-risk-free", "nan"), "--annual-risk-free must be a finite number, got nan"),
        (("--annual-risk-free", "2"), "--annual-risk-free is an annual rate, and 2.0 would be 200% per year"),
        (("--periods-per-year", "-1"), "--periods-per-year must be a finite number above 0, got -1.0"),
        (("--L", "1e-5"), "--L 1e-05 is for --by rssr; pass that too, or leave it out"),
        (("--encoding", "foo"), "cannot be read (LookupError: unknown encoding: foo)"),
        (("--replications", "1"), "--replications must be a whole number at least 2, got 1"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_mistakes(file, capsys, change, words):
    assert main(["rank", "funds.csv", *OPTIONS, *change]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("sharpe-bandits: ")
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("missing", ["--kind", "--periods-per-year"])
def test_kind_and_year_are_never_guessed(file, capsys, missing):
    without = list(OPTIONS)
    at = without.index(missing)
    del without[at : at + 2]
    assert main(["rank", "funds.csv", *without]) == 2
    assert f"arguments are required: {missing}, as in" in capsys.readouterr().err


def test_a_damaged_file_is_told(tmp_path, capsys):
    path = tmp_path / "returns.csv.gz"
    path.write_bytes(gzip.compress(np.random.default_rng(1).bytes(5000))[:1000])
    assert main(["rank", str(path), "--kind", "returns", "--periods-per-year", "12"]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_a_file_where_the_folder_should_be(tmp_path, capsys):
    table, taken = tmp_path / "returns.csv", tmp_path / "taken"
    g = np.random.default_rng(1)
    pd.DataFrame(g.normal(0, 0.01, (40, 2)), columns=["A", "B"]).to_csv(table, index=False)
    taken.write_text("mine")
    asked = ["rank", str(table), "--kind", "returns", "--periods-per-year", "12", "--replications", "400"]
    assert main([*asked, "--out", str(taken), "--confidence", "0.995"]) == 3
    told = capsys.readouterr()
    assert "--out" in told.err
    assert "99.5% interval" in told.out
    assert taken.read_text() == "mine"
