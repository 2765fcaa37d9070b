"""``sharpe-bandits compare``: options reach what they are for."""

import json

import numpy as np

from sharpe_bandits.cli.program import main
from sharpe_bandits.returns.comparison import compare


def test_it_prints_and_saves_what_the_library_computes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    g = np.random.default_rng(6)
    days = np.datetime64("2020-01-01") + np.arange(200)
    lines = ["date;fund;nav"]
    for k, name in enumerate(("east", "west", "north")):
        grown = 1000 * np.cumprod(1 + g.normal(0.001 * k, 0.01, 200))
        lines += [f"{str(d)[8:]}.{str(d)[5:7]}.{str(d)[:4]};{name};{p:.4f}".replace(".", "X") for d, p in
                  zip(days, grown, strict=True)]  # fmt: skip
    # dates keep their points, numbers have commas
    text = "\n".join(line.replace("X", ".", 2).replace("X", ",") for line in lines)
    (tmp_path / "funds.csv").write_text(text)
    read = ["--kind", "prices", "--periods-per-year", "252", "--separator", ";", "--pivot", "fund", "nav"]
    read += ["--date-format", "%d.%m.%Y", "--decimal", ","]
    more = [
        "--against",
        "east",
        "--annual-risk-free",
        "0.02",
        "--confidence",
        "0.9",
        "--replications",
        "200",
        "--seed",
        "5",
    ]
    assert main(["compare", "funds.csv", *read, *more, "--block", "2", "--out", "mine"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    found = compare(
        "funds.csv", kind="prices", periods_per_year=252, separator=";", pivot=("fund", "nav"), date_format="%d.%m.%Y",
        decimal=",", against="east", annual_risk_free=0.02, confidence=0.9, replications=200, seed=5, block=2,
    )  # fmt: skip
    assert json.loads((tmp_path / "mine" / "comparison.json").read_text()) == json.loads(json.dumps(found.to_dict()))
    for d in found.differences:
        assert f"{d.first} − {d.second}" in words
    assert "saved: mine/comparison.html" in words
    assert main(["compare", "funds.csv", *read, "--aversion", "2"]) == 2
    assert "--aversion 2.0 is for 'mean-risk', by which costs are judged, not for 'sharpe'" in capsys.readouterr().err
    assert main(["compare", "funds.csv", *read, "--against", "south"]) == 2
    assert "no column is called 'south'" in capsys.readouterr().err
