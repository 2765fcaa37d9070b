"""Commands on a Dask cluster: the same files as with threads, and a scheduler that goes away costs nothing finished."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from sharpe_bandits.cli.program import main

pytest.importorskip("distributed")

EXPERIMENT = """
title = "Many chunks"
runs = 1700
seed = 7
horizon = 20000
metric = "regret"
sweep = { L = [0.5, 1.0, 1.5] }
objective = { kind = "RSSR", L = "L" }

[[arms]]
kind = "Uniform"
mean = [1.0, 1.2, 1.5, 1.1]
variance = [0.4, 0.9, 2.0, 0.5]

[[policies]]
kind = "UCBRSSR"
L = "L"

[[policies]]
kind = "UCB1"
"""
QUIET = ["--host", "127.0.0.1", "--no-dashboard"]


def started(*words, **more):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-m", *words], env=environment, **piped, **more)


def wait_until(holds, seconds=120):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.01)


@pytest.fixture
def scheduler(tmp_path):
    """A scheduler in a process of its own, with one worker process: the process and its address."""
    file = tmp_path / "scheduler.json"
    processes = [started("distributed.cli.dask_scheduler", *QUIET, "--port", "0", "--scheduler-file", str(file))]
    try:
        wait_until(lambda: file.exists() and file.stat().st_size > 0)
        worker = ["--scheduler-file", str(file), "--no-nanny", "--nthreads", "1", "--local-directory", str(tmp_path)]
        processes.append(started("distributed.cli.dask_worker", *QUIET, *worker))
        yield processes[0], json.loads(file.read_text())["address"]
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def files(folder):
    """What must not depend on who computed: everything but the manifest, which has times."""
    found = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    del found["manifest.json"]
    return found


def test_a_scheduler_that_goes_away_costs_nothing_finished(tmp_path, scheduler):
    process, address = scheduler
    experiment, out = tmp_path / "many.toml", tmp_path / "out"
    experiment.write_text(EXPERIMENT)
    job = ["run", str(experiment), "--out", str(out)]
    command = started("sharpe_bandits", *job, "--dask", address)
    wait_until(lambda: len(list(out.rglob("*.chunk"))) > 3)
    process.send_signal(signal.SIGKILL)
    _, said = command.communicate(timeout=120)
    assert command.returncode == 2, said
    assert f"the Dask scheduler at {address} is gone; start it again. The " in said
    assert "that are finished are kept: the same command resumes" in said
    kept = {path: path.stat().st_mtime_ns for path in out.rglob("*.chunk")}
    assert 3 < len(kept) < 20
    assert main(job) == 0  # by threads now
    assert len(list(out.rglob("*.chunk"))) == 20
    assert all(path.stat().st_mtime_ns == written for path, written in kept.items())
    assert main([*job[:-1], str(tmp_path / "threads")]) == 0
    assert files(out) == files(tmp_path / "threads")
    manifest = json.loads((out / "manifest.json").read_text())
    assert len(manifest["computed on"]) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--dask", "nowhere"], "no Dask scheduler answers at nowhere (missing port number"),
        (["--dask", "tcp://nowhere:9"], "no Dask scheduler answers at tcp://nowhere:9"),
        (["--dask", "tcp://127.0.0.1:9", "--workers", "2"], "--workers: not allowed with argument --dask"),
        (["--workers", "0"], "--workers"),
    ],
)
def test_what_is_no_cluster_is_said(words, said, tmp_path, capsys):
    experiment = tmp_path / "many.toml"
    experiment.write_text(EXPERIMENT)
    assert main(["run", str(experiment), "--out", str(tmp_path / "out"), *words]) == 2
    assert said in capsys.readouterr().err


def test_a_scheduler_that_does_not_answer_is_said(tmp_path, capsys, monkeypatch):
    from sharpe_bandits.cli.commands import cluster

    monkeypatch.setattr(cluster, "_CONNECT", 0.5)
    experiment = tmp_path / "many.toml"
    experiment.write_text(EXPERIMENT)
    assert main(["run", str(experiment), "--out", str(tmp_path / "out"), "--dask", "tcp://127.0.0.1:9"]) == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in capsys.readouterr().err
