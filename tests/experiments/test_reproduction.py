"""The whole job: its folder, interruptions of every kind, refusals, and no file that is not whole."""

import csv
import errno
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import sharpe_bandits as sb
from sharpe_bandits.cli.program import main
from sharpe_bandits.experiments import reproduction
from sharpe_bandits.paper.panels import panel, panels
from sharpe_bandits.simulation.machines import machine

JOB = ["V1", "--profile", "paper", "--runs", "32", "--seed", "7", "--workers", "2"]
BOTH = ["R2", "B1", "--runs", "16", "--seed", "7", "--workers", "2"]
#: What must not depend on interruptions. Times are kept in manifest.json alone.
TIMED = "manifest.json"


def reproduce(out, arguments=JOB):
    return main(["reproduce", *arguments, "--out", str(out)])


def files(folder):
    """Every file of a folder with a digest of its content, and when it was last written."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in found
    }


def settled(out, seconds=20.0):
    """Wait for threads that are still writing a chunk when the command gives up: they leave nothing half-written."""
    until = time.monotonic() + seconds
    while list(out.rglob("*.new")):
        assert time.monotonic() < until
        time.sleep(0.02)


def contents(folder):
    return {name: digest for name, (digest, _) in files(folder).items() if name != TIMED and not name.endswith(".new")}


def strict(text):
    """JSON as the standard has it: no NaN, no Infinity."""

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "out"
    assert reproduce(out) == 0
    return out


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    out = tmp_path_factory.mktemp("both") / "out"
    assert reproduce(out, BOTH) == 0
    return out


# --- what is in the folder --------------------------------------------------------------------------------------------


def test_everything_that_was_asked_for_is_there(reproduced):
    top = {path.name for path in reproduced.iterdir()}
    assert top == {"report.html", "claims.json", "manifest.json", "settings.json", "data", "figures", "chunks"}
    assert {p.name for p in (reproduced / "data").iterdir()} == {"B1.csv", "B1.parquet", "R2.csv", "R2.parquet"}
    keys = ("R2-paper", "R2-authors", "B1-paper", "B1-authors")
    assert {p.name for p in (reproduced / "figures").iterdir()} == {
        f"{k}.{kind}" for k in keys for kind in ("svg", "png")
    }


def test_claims(reproduced):
    found = strict((reproduced / "claims.json").read_text("utf-8"))
    for claim in found:
        assert {"id", "says", "statement", "verdict", "evidence", "readings", "panel", "profile"} <= set(claim)
        assert claim["verdict"] in ("holds", "fails", "undecided", "vacuous")
        assert claim["panel"] in ("R2", "B1")
        assert claim["id"].startswith(claim["panel"] + ".")
        for evidence in claim["evidence"]:
            assert evidence["difference"]["low"] <= evidence["difference"]["mean"] <= evidence["difference"]["high"]
    keys = [(c["id"], c["profile"]) for c in found]
    assert len(set(keys)) == len(keys)
    stated = {(claim.id, p.profile) for p in panels(["R2", "B1"]) for claim in p.claims}
    theory = {(f"R2.{what}", profile) for what in ("arm", "log", "bound") for profile in ("paper", "authors")}
    theory -= {("R2.bound", "authors")}  # its pilot is not the one that the theorem assumes
    theory |= {(f"B1.{what}", profile) for what in ("arm", "evident") for profile in ("paper", "authors")}
    theory |= {("R2.6", "paper")}  # the conclusion's sentence on the pilot
    assert set(keys) - {k for k in keys if k[0] == "B1.bound"} == stated | theory


def test_a_verdict_can_be_worked_out_again_from_the_data(reproduced):
    # R2.1: UCB-RSSR against U-UCB at L = 0.5, by simulating anew
    (claim,) = (
        c
        for c in strict((reproduced / "claims.json").read_text("utf-8"))
        if (c["id"], c["profile"]) == ("R2.1", "paper")
    )
    bandit = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)])
    study = sb.simulate([sb.UCBRSSR(0.5), sb.policies.UUCB(0.5)], bandit, horizon=10_000, runs=16, seed=7)
    rssr = sb.RSSR(0.5)
    a, b = (study[name].regret_per_run(rssr) for name in ("UCB-RSSR", "U-UCB"))
    difference = (a - b).mean()
    half = 2.946713 * (a - b).std(ddof=1) / np.sqrt(16)  # 99.5% point of Student's distribution, 15 degrees of freedom
    (evidence,) = claim["evidence"]
    measured = evidence["difference"]
    assert measured["mean"] == pytest.approx(difference, rel=1e-9)
    assert [measured["low"], measured["high"]] == pytest.approx([difference - half, difference + half], rel=1e-5)
    expected = "holds" if difference + half < 0 else "fails" if difference - half > 0 else "undecided"
    assert claim["verdict"] == expected


def test_manifest(reproduced):
    found = strict((reproduced / "manifest.json").read_text("utf-8"))
    assert (found["seed"], found["runs"]) == (7, 16)
    assert found["panels"] == ["R2-paper", "R2-authors", "B1-paper", "B1-authors"]
    assert found["versions"]["sharpe-bandits"] == sb.__version__
    assert found["versions"]["numpy"] == np.__version__
    assert found["machine"]["threads"] == 2
    assert set(found["machine"]) == {"system", "processor", "cores", "threads"}
    assert found["computed on"] == [machine()]
    times = found["seconds"]
    assert times["total"] >= times["simulated"] > 0


@pytest.mark.parametrize("id", ["R2", "B1"])
def test_data_of_a_panel(reproduced, id):
    text = (reproduced / "data" / f"{id}.csv").read_text("utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    table = pq.read_table(reproduced / "data" / f"{id}.parquet").to_pylist()
    wanted = {"panel", "profile", "policy", "K", "L", "horizon", "t", "metric", "mean", "se", "low", "high", "runs"}
    assert set(rows[0]) == set(table[0]) == wanted | {"case"}
    assert len(rows) == len(table) > 0
    for written, row in zip(rows, table, strict=True):
        assert {key: type(row[key])(value) for key, value in written.items()} == row
    assert {row["profile"] for row in table} == {"paper", "authors"}
    assert {row["panel"] for row in table} == {id}
    measured = [row for row in table if "bound" not in row["metric"]]
    assert {row["runs"] for row in measured} == {16}
    assert {(row["profile"], row["case"], row["policy"]) for row in measured} == {
        (p.profile, case.label, policy.name) for p in panels([id]) for case in p.cases for policy in case.policies
    }


# --- interruptions ----------------------------------------------------------------------------------------------------


def test_the_same_command_again_changes_nothing_but_times(uninterrupted, tmp_path):
    before = contents(uninterrupted)
    assert reproduce(uninterrupted) == 0
    assert contents(uninterrupted) == before


def test_another_number_of_workers_gives_the_same_bytes(uninterrupted, tmp_path):
    assert reproduce(tmp_path / "out", [*JOB[:-1], "1"]) == 0
    assert contents(tmp_path / "out") == contents(uninterrupted)


#: Runs the command in a process of its own in which one step says "ready" and then never ends.
STUCK = """
import os, signal, sys, threading, time
from sharpe_bandits.cli import program as cli
from sharpe_bandits.experiments import store
from sharpe_bandits.report import page

said = threading.Lock()

def stuck():
    if said.acquire(blocking=False):  # two workers may get here at once
        os.write(1, b"ready\\n")
    time.sleep(600)

step, out = sys.argv[1], sys.argv[2]
count = 0
if step == "computing":
    real = store.compute
    def compute(task):
        global count
        count += 1
        if count > 3:
            stuck()
        return real(task)
    store.compute = compute
elif step == "writing a chunk":
    real = os.replace
    def replace(a, b):
        global count
        count += 1
        if count > 4:
            stuck()
        real(a, b)
    os.replace = replace
elif step == "writing the report":
    real = page.write_atomically
    def write(path, content):
        if path.name == "report.html":
            stuck()
        real(path, content)
    page.write_atomically = write
elif step == "until interrupted":
    real, interrupted = store.compute, threading.Event()
    def interrupt(*_):
        interrupted.set()
        raise KeyboardInterrupt
    signal.signal(signal.SIGINT, interrupt)
    def compute(task):
        global count
        count += 1
        if count == 3:
            os.write(1, b"ready\\n")
        if count >= 3:
            interrupted.wait(600)
            time.sleep(0.5)
        return real(task)
    store.compute = compute
sys.exit(cli.main(["reproduce", *sys.argv[3:], "--out", out]))
"""


def started(step, out):
    """A process that works on the job until that step."""
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK, step, str(out), *JOB],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    alarm = threading.Timer(120, process.kill)
    alarm.start()
    try:
        assert process.stdout.readline().strip() == "ready", process.stderr.read()
    finally:
        alarm.cancel()
    return process


def chunks(folder):
    return {p.relative_to(folder) for p in folder.rglob("*.chunk")}


@pytest.mark.parametrize("step", ["computing", "writing a chunk", "writing the report"])
def test_killed_and_started_again_it_ends_with_the_same_bytes(uninterrupted, tmp_path, step):
    out = tmp_path / "out"
    process = started(step, out)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    left = contents(out)
    assert "report.html" not in left
    assert "settings.json" in left
    done = chunks(out)
    assert done
    assert (len(done) < len(chunks(uninterrupted))) == (step != "writing the report")
    kept = {path: (out / path).stat().st_mtime_ns for path in done}
    assert reproduce(out) == 0
    assert contents(out) == contents(uninterrupted)
    assert all((out / path).stat().st_mtime_ns == when for path, when in kept.items())  # they were not computed again


def test_interrupted_from_the_keyboard_it_says_so_and_can_go_on(uninterrupted, tmp_path):
    out = tmp_path / "out"
    process = started("until interrupted", out)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted; run the same command to resume" in told
    assert "Traceback" not in told
    assert 0 < len(chunks(out)) < len(chunks(uninterrupted))
    assert reproduce(out) == 0
    assert not list(out.rglob("*.new"))
    assert contents(out) == contents(uninterrupted)


def test_chunks_that_were_damaged_in_between_are_computed_again(uninterrupted, tmp_path):
    out = tmp_path / "out"
    assert reproduce(out) == 0
    first, second, *_ = sorted(out.rglob("*.chunk"))
    first.write_bytes(first.read_bytes()[:-7])
    second.write_bytes(b"")
    (out / "report.html").unlink()
    (out / "data" / "V1.csv").write_text("cut")
    assert reproduce(out) == 0
    assert contents(out) == contents(uninterrupted)


# --- full disks and other obstacles -----------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [0, 9, 16, 18])
def test_a_full_disk_is_said_and_leaves_nothing_half_written(uninterrupted, tmp_path, monkeypatch, capsys, after):
    """The disk is full from the n-th file on: settings, chunks, data, figures, the report."""
    out = tmp_path / "out"
    write_bytes = Path.write_bytes
    written = []
    lock = threading.Lock()

    def until_full(self, content):
        with lock:
            written.append(self)
            full = len(written) > after
        if full:
            write_bytes(self, content[: len(content) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write_bytes(self, content)

    monkeypatch.setattr(Path, "write_bytes", until_full)
    assert reproduce(out) == 3
    told = capsys.readouterr().err
    assert "No space left on device" in told
    assert "free some space and run the same command again" in told
    assert "Traceback" not in told
    settled(out)
    whole = contents(uninterrupted)
    assert contents(out).items() <= whole.items()
    assert len(contents(out)) == after
    monkeypatch.undo()
    assert reproduce(out) == 0
    assert contents(out) == whole


def test_a_folder_that_cannot_be_written_to(tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    assert reproduce(tmp_path / "file") == 3
    told = capsys.readouterr().err
    assert "File exists" in told
    assert "choose a writable --out" in told
    assert (tmp_path / "file").read_text() == "x"


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.EDQUOT])
def test_other_obstacles_have_a_remedy_too(tmp_path, monkeypatch, capsys, code):
    def refuse(self, *a, **k):
        raise OSError(code, os.strerror(code), str(self))

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert reproduce(tmp_path / "out") == 3
    told = capsys.readouterr().err
    assert os.strerror(code) in told
    assert str(tmp_path / "out") in told
    assert ("free some space" if code == errno.EDQUOT else "choose a writable --out") in told


# --- other settings in the same folder --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["V1", "--profile", "paper", "--runs", "32", "--seed", "8"], "seed was 7, now it is 8"),
        (["V1", "--profile", "paper", "--runs", "33", "--seed", "7"], "runs was 32, now it is 33"),
        (["V1", "V2", "--profile", "paper", "--runs", "32", "--seed", "7"], "now it is ['V1-paper', 'V2-paper']"),
        (["V2", "--profile", "paper", "--runs", "32", "--seed", "7"], "was ['V1-paper'], now it is ['V2-paper']"),
    ],
)  # fmt: skip
def test_other_settings_are_refused_and_nothing_changes(uninterrupted, capsys, arguments, told):
    before = files(uninterrupted)
    assert reproduce(uninterrupted, arguments) == 2
    error = capsys.readouterr().err
    assert told in error
    assert "choose another --out" in error
    assert files(uninterrupted) == before


def test_another_version_is_refused(uninterrupted, capsys, monkeypatch):
    before = files(uninterrupted)
    other = {**reproduction.versions(), "numpy": "0.0.1"}
    monkeypatch.setattr(reproduction, "versions", lambda: other)
    assert reproduce(uninterrupted) == 2
    assert f"versions.numpy was '{np.__version__}', now it is '0.0.1'" in capsys.readouterr().err
    assert files(uninterrupted) == before


def test_a_job_that_was_only_begun_refuses_others_too(tmp_path, monkeypatch, capsys):
    def broken(*a):
        raise sb.SharpeBanditsError("no luck")

    monkeypatch.setattr(reproduction, "run_panels", broken)
    assert reproduce(tmp_path) == 2
    monkeypatch.undo()
    assert reproduce(tmp_path, [*JOB[:5], "--seed", "8"]) == 2
    assert "seed was 7, now it is 8" in capsys.readouterr().err
    assert {p.name for p in tmp_path.iterdir()} == {"settings.json"}


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"[]", b'"x"', b"{}"])
def test_settings_of_something_else_are_refused(tmp_path, capsys, content):
    (tmp_path / "settings.json").write_bytes(content)
    assert reproduce(tmp_path) == 2
    assert str(tmp_path) in capsys.readouterr().err
    assert {p.name for p in tmp_path.iterdir()} == {"settings.json"}


# --- what is missing is said first ------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["matplotlib", "jinja2"])
def test_a_missing_library_is_said_before_the_work(tmp_path, monkeypatch, capsys, library):
    monkeypatch.setitem(sys.modules, library, None)
    assert reproduce(tmp_path / "out") == 2
    told = capsys.readouterr().err
    assert f"{library}, which is not installed" in told
    assert "pip install 'sharpe-bandits[report]'" in told
    assert not (tmp_path / "out").exists()


def test_a_job_can_be_run_from_python(tmp_path):
    from matplotlib import pyplot

    told = io.StringIO()
    job = reproduction.Job("Mine", "Two arms.", [panel("V1", "paper")], 4, 3)
    pyplot.close("all")
    found = reproduction.run_job(job, tmp_path, 1, told)
    assert [v.id for v in found.verdicts] == ["V1.1", "V1.bound"]
    assert "simulated in" in told.getvalue()
    assert "<h1>Mine</h1>" in (tmp_path / "report.html").read_text("utf-8")
    assert pyplot.get_fignums() == []  # nothing is left open
