"""The command line: what every command says, and what is said of mistakes."""

import csv
import errno
import json
import os
import re
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

import sharpe_bandits as sb
from sharpe_bandits.cli.program import COMMANDS, main, parser_of
from sharpe_bandits.experiments import catalogue, reproduction
from sharpe_bandits.paper.panels import panels

MINE = """\
title = "Coins [fair and not]"
runs = 12
seed = 3
horizon = 80
sweep = { p = [0.3, 0.5] }
arms = [{ kind = "Bernoulli", p = ["p", 0.8] }]
objective = { kind = "RSSR", L = 0.5 }

[[policies]]
kind = "UCBRSSR"
L = 0.5

[[policies]]
kind = "UUCB"
epsilon0 = 0.5
name = "U-UCB [bold]"
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to work in, with an experiment file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(MINE)
    return tmp_path


def said(capsys, *arguments, status=0):
    """What a command prints, its spaces and lines joined."""
    assert main(list(arguments)) == status
    out, err = capsys.readouterr()
    return " ".join(out.split()), err


# --- looking things up ------------------------------------------------------------------------------------------------


def test_version(capsys):
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out == f"sharpe-bandits {sb.__version__}\n"


def test_the_package_can_be_run_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "sharpe_bandits", "objectives"], capture_output=True, text=True, check=True
    )
    assert "Sharpe" in done.stdout
    assert "\x1b" not in done.stdout  # no colours where nobody sees them


@pytest.mark.parametrize(
    ("what", "base"),
    [("policies", sb.policies.Policy), ("arms", sb.arms.Arm), ("objectives", sb.objectives.Objective)],
)
def test_listings_have_every_kind_with_its_parameters(capsys, what, base):
    assert main([what]) == 0
    out = capsys.readouterr().out
    first = [line.split()[0] for line in out.splitlines() if re.match(r" \w", line)]
    entries = catalogue.kinds(base)
    assert set(entries) <= set(first)
    words = " ".join(out.split())
    for entry in entries.values():
        for parameter in catalogue.parameters(entry):
            if parameter not in ("name", "pilot_fraction", "pilot_pulls"):
                assert parameter in words
    if what == "policies":
        assert "Cassel" in words
        assert "pilot_fraction or pilot_pulls" in words
    if what == "arms":
        assert "mean and variance" in words
        assert "[0, 1]" in words  # brackets are not taken for markup


def test_a_reader_that_has_seen_enough_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "sharpe_bandits", "arms"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 1


# --- reproduce --------------------------------------------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch):
    """What the command would do, without doing it."""
    found = SimpleNamespace()

    def remember(job, out, workers, stream):
        found.job, found.out, found.workers = job, out, workers
        return reproduction.Reproduction([], [], 0.0)

    monkeypatch.setattr(reproduction, "run_job", remember)
    return found


def test_everything_by_default(asked):
    assert main(["reproduce"]) == 0
    assert [p.key for p in asked.job.panels] == [p.key for p in panels()]
    assert (asked.job.runs, asked.job.seed, asked.workers) == (10_000, 1, None)
    assert str(asked.out) == os.path.join("out", "paper")
    assert "10,000 runs" in asked.job.introduction


def test_panels_of_other_papers_are_not_headed_by_the_paper(asked):
    assert main(["reproduce", "S5", "S6"]) == 0
    assert asked.job.title == "Panels S5, S6"
    assert "call options with parameters of ours, regret" in asked.job.introduction
    assert "Optimizing Sharpe Ratio" not in asked.job.introduction
    assert main(["reproduce", "S5", "R1"]) == 0
    assert asked.job.title == "Does the paper reproduce?"


@pytest.mark.parametrize(
    ("arguments", "runs"),
    [(["--quick"], 200), (["--quick", "--runs", "50"], 50), (["--runs", "2"], 2), (["--runs", "2000"], 2000)],
)
def test_how_many_runs(asked, arguments, runs):
    assert main(["reproduce", *arguments]) == 0
    assert asked.job.runs == runs


def test_what_is_chosen(asked):
    assert (
        main(
            [
                "reproduce",
                "R3",
                "b1",
                "--profile",
                "authors",
                "--runs",
                "2000",
                "--seed",
                "7",
                "--out",
                "here/",
                "--workers",
                "2",
            ]
        )
        == 0
    )
    assert [p.key for p in asked.job.panels] == ["R3-authors", "B1-authors"]
    assert (asked.job.runs, asked.job.seed, asked.workers, str(asked.out)) == (2000, 7, 2, "here")


def test_what_is_printed(here, capsys):
    assert main(["reproduce", "R2", "--profile", "paper", "--runs", "8", "--out", "o", "--workers", "1"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert len(lines) <= 9
    assert all(len(line) <= 80 for line in lines)
    assert "statements of the paper: " in " ".join(lines[:2])
    assert os.path.join("o", "report.html") in lines[-1]
    assert "simulated in" in err


def test_the_table_of_verdicts(here, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    said(capsys, "reproduce", "R2", "--profile", "paper", "--runs", "8", "--out", "o", "--workers", "1")
    table, _ = said(capsys, "verdicts", "o")
    assert "UCB-RSSR does better with a low L than with a high one" in table
    stated = json.loads(said(capsys, "verdicts", "o", "--json")[0])
    claims = json.loads((here / "o" / "claims.json").read_text("utf-8"))
    assert {s["statement"] for s in stated} == {c["statement"] for c in claims}
    one, _ = said(capsys, "verdicts", "o", "R2.2")
    assert one.startswith("R2.2 (paper)")
    assert "printed minus, infinite" in one
    assert json.loads(said(capsys, "verdicts", "o", "R2.2", "--json")[0])[0]["id"] == "R2.2"
    assert said(capsys, "verdicts", "o", "r2.2")[0] == one
    for words in (["R9"], ["R2", "R9"]):
        _, err = said(capsys, "verdicts", "o", *words, status=2)
        assert "no claim is called 'R9'" in err
        assert "'R2'" in err
    assert main(["verdicts", "o"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80
    _, err = said(capsys, "verdicts", status=2)
    assert "required: folder, as in" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["R22"], "no panel is called 'R22': did you mean 'R2'?"),
        (["R2", "r8"], "no panel is called 'r8': did you mean 'R"),
        (["V1", "--profile", "authors"], "none of these panels exists in the authors profile"),
        (["--runs", "1"], "--runs must be a whole number at least 2"),
        (["--runs", "0"], "--runs must be a whole number at least 2"),
        (["--runs", "-5"], "got -5"),
        (["--quick", "--runs", "0"], "got 0"),
        (["--seed", "-1"], "--seed must be a whole number from 0"),
        (["--seed", str(2**64)], f"got {2**64}"),
        (["--workers", "0"], "--workers must be a whole number at least 1"),
        (["--workers", "-2"], "got -2"),
    ],
)
def test_mistakes(here, capsys, arguments, told):
    _, err = said(capsys, "reproduce", *arguments, status=2)
    assert err.startswith("sharpe-bandits: ")
    assert told in err
    assert "Traceback" not in err
    assert not (here / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["reproduse"], "did you mean 'reproduce'?"),
        (["--quick"], "sharpe-bandits has no option --quick"),
        (["reproduce", "--runs", "many"], "argument --runs: invalid int value: 'many'"),
        (["reproduce", "--workers", "1.5"], "argument --workers: invalid int value: '1.5'"),
        (["reproduce", "--profile", "author"], "did you mean 'authors'?"),
        (["reproduce", "--prifile", "authors"], "has no option --prifile: did you mean '--profile'?"),
        (["rank", "a.csv", "--knd", "prices"], "has no option --knd: did you mean '--kind'?"),
        (["rank", "a.csv", "b.csv", "--kind", "prices", "--periods-per-year", "12"], "unrecognized arguments: b.csv"),
        (["rank", "a.csv"], "as in: sharpe-bandits rank prices.csv --kind prices --periods-per-year 252"),
        (["run"], "required: file, as in: sharpe-bandits run desks.toml"),
        (["campaign", "statuss"], "did you mean 'status'?"),
    ],
)
def test_mistakes_in_the_command_itself(capsys, arguments, told):
    """The error in a line, without the usage."""
    _, err = said(capsys, *arguments, status=2)
    assert err.startswith("sharpe-bandits: ")
    assert err.count("\n") == 1
    assert told in err


def test_no_command_prints_the_help(capsys):
    out, _ = said(capsys)
    assert all(f" {name} " in out for name in COMMANDS)


@pytest.mark.parametrize("name", [name for name, (*_, example) in COMMANDS.items() if example])
def test_help_has_a_sentence_an_example_and_defaults(capsys, name):
    with pytest.raises(SystemExit) as left:
        main([name, "--help"])
    assert left.value.code == 0
    text = capsys.readouterr().out
    usage, sentence, example = text.split("\n\n")[:3]
    assert usage.count("\n") < 3
    assert usage.endswith("[options]")
    assert sentence.endswith(".")
    words = example.split(f"example:\n  sharpe-bandits {name}")[1].split()
    options = re.findall(r"--[a-z-]+", " ".join(words))
    assert all(f"  {option}" in text for option in options if name != "campaign")


def test_usage_has_names_before_options_that_would_take_them(capsys):
    with pytest.raises(SystemExit):
        main(["campaign", "create", "--help"])
    usage = " ".join(capsys.readouterr().out.partition("\n\n")[0].split())
    assert usage == "usage: sharpe-bandits campaign create name --policy POLICY --arms ARM [ARM ...] [options]"


def test_messages_are_spelled_as_the_command_line_does():
    command = parser_of(("replay",)).command(["replay"])
    said = {
        "pass missing='drop' or missing='fill'": "pass --missing drop or --missing fill",
        "pass scale=0.01, if not, pass scale=1.": "pass --percent, if not, pass --scale 1.",
        "pass feedback='full'; direction='min'": "pass --full-feedback; --minimise",
        "columns=['A', 'B C'] or columns=, pivot=('t', 'p')": "--columns A 'B C' or --columns, --pivot t p",
        "separator='\\t'": "--separator tab",
        "objective=MeanRisk(aversion=1), p=0.5, L = 3": "objective=MeanRisk(aversion=1), p=0.5, L = 3",
    }
    assert {text: command.spelled(text) for text in said} == said


@pytest.mark.parametrize("name", ["policies", "arms", "objectives", "cache"])
def test_json(capsys, name):
    assert main([name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


# --- run --------------------------------------------------------------------------------------------------------------


def data(folder):
    with (folder / "data" / "mine.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("options", "runs", "seed"), [("", 12, 3), ("--runs 6 --seed 9 --out there", 6, 9)], ids=["file", "options"]
)
def test_an_experiment_of_ones_own(here, capsys, options, runs, seed):
    out, _ = said(capsys, "run", "mine.toml", "--workers", "1", *options.split())
    folder = here / ("there" if options else "out/mine")
    assert {p.name for p in folder.iterdir()} >= {"report.html", "manifest.json", "data", "figures"}
    assert {p.name for p in (folder / "figures").iterdir()} == {"mine.svg", "mine.png"}
    assert "Coins [fair and not]" in out
    assert "U-UCB [bold]" in out
    bandit = sb.Bandit([sb.Bernoulli(0.3), sb.Bernoulli(0.8)])
    study = sb.simulate(sb.UCBRSSR(0.5), bandit, horizon=80, runs=runs, seed=seed)
    regret = study["UCB-RSSR"].regret().final
    assert f"p = 0.3 UCB-RSSR {regret.mean:.4g} {regret.se:.2g} [{regret.low:.4g}, {regret.high:.4g}]" in out
    (row,) = (
        r
        for r in data(folder)
        if (r["case"], r["policy"], r["metric"], r["t"]) == ("p = 0.3", "UCB-RSSR", "regret", "80")
    )
    assert float(row["mean"]) == pytest.approx(regret.mean, rel=1e-12)
    assert row["profile"] == ""
    text = (folder / "report.html").read_text("utf-8")
    assert "<h1>Coins [fair and not]</h1>" in text
    assert f"{runs} runs, 2 case(s)" in text


def test_a_file_that_was_changed_is_refused_in_the_folder_of_the_old_one(here, capsys):
    said(capsys, "run", "mine.toml", "--out", "there", "--runs", "4")
    before = (here / "there" / "report.html").read_bytes()
    (here / "mine.toml").write_text(MINE.replace("horizon = 80", "horizon = 90"))
    _, err = said(capsys, "run", "mine.toml", "--out", "there", "--runs", "4", status=2)
    assert "description.horizon was 80, now it is 90" in err
    assert (here / "there" / "report.html").read_bytes() == before


def test_names_of_files_that_are_no_names_of_anchors(here, capsys):
    (here / 'my "own" test.toml').write_text(MINE)
    said(capsys, "run", 'my "own" test.toml', "--runs", "2")
    folder = here / "out" / 'my "own" test'
    assert {p.name for p in (folder / "data").iterdir()} == {"my-own-test.csv", "my-own-test.parquet"}
    assert 'href="data/my-own-test.csv"' in (folder / "report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('kind = "UUCB"', 'kind = "UUBC"', "mine.toml, policies[1].kind: no policy is called 'UUBC'"),
        ("runs = 12", "runs = 1", "mine.toml, runs: runs must be"),
        ("horizon = 80", "horizon = 3", "mine.toml, policies[0]: UCB-RSSR needs a horizon of at least 4"),
        ("seed = 3", "seed = ", "mine.toml is not TOML"),
        ("runs = 12", "runs = 1_000_000_000_000", "GiB, so simulate fewer runs"),
    ],
)
def test_mistakes_in_a_file(here, capsys, old, new, told):
    (here / "mine.toml").write_text(MINE.replace(old, new))
    _, err = said(capsys, "run", "mine.toml", status=2)
    assert told in err
    assert not (here / "out").exists()


def test_a_file_that_is_not_there(here, capsys):
    _, err = said(capsys, "run", "none.toml", status=2)
    assert err == "sharpe-bandits: there is no file none.toml\n"


# --- what goes wrong outside ------------------------------------------------------------------------------------------


def failing(monkeypatch, error):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr(reproduction, "run_job", fail)


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (KeyboardInterrupt(), 130, "interrupted; run the same command to resume"),
        (OSError(errno.ENOSPC, "No space left on device", "a/b"), 3, "No space left on device: a/b; free some space"),
        (OSError(errno.EACCES, "Permission denied", "a/b"), 3, "Permission denied: a/b; choose a writable --out"),
        (sb.errors.BudgetTooSmallError("too little"), 2, "sharpe-bandits: too little"),
        (sb.errors.UnknownNameError("nobody"), 2, "sharpe-bandits: nobody"),
    ],
)
def test_exit_status(here, capsys, monkeypatch, error, status, told):
    failing(monkeypatch, error)
    _, err = said(capsys, "run", "mine.toml", status=status)
    assert told in err


def test_what_is_not_foreseen_is_not_hidden(here, monkeypatch):
    failing(monkeypatch, OSError(errno.EIO, "Input/output error"))
    with pytest.raises(OSError, match="Input/output error"):
        main(["run", "mine.toml"])
    failing(monkeypatch, ZeroDivisionError("a bug"))
    with pytest.raises(ZeroDivisionError):
        main(["run", "mine.toml"])


def test_importing_the_package_installs_no_signal_handlers():
    code = """
import signal, sys
sys.argv[0] = "sharpe-bandits"
handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
import sharpe_bandits, sharpe_bandits.cli.program, sharpe_bandits.simulation.api
assert handlers == {number: signal.getsignal(number) for number in signal.valid_signals()}
"""
    subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, check=True
    )


def test_ctrl_c_ends_the_program_without_waiting_for_its_threads():
    code = """
import threading, time
from sharpe_bandits.cli import program as cli
from sharpe_bandits.cli.commands import listing

def work(options):
    threading.Thread(target=time.sleep, args=(600,)).start()  # as one that compiles
    print("ready", flush=True)
    while True:
        time.sleep(0.1)  # Python 3.14 enters a call without looking whether an interrupt came just before it

listing.show = work
cli.program()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code, "arms"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors == "\nsharpe-bandits: interrupted; nothing was written\n"
