"""Chunks on disk: whole, checked, named after all that they depend on."""

import dataclasses
import errno
from pathlib import Path

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.engine.work import Chunk, Work, run_chunk
from sharpe_bandits.experiments import store
from sharpe_bandits.experiments.description import cases
from sharpe_bandits.experiments.store import ChunkStore, digest, write_whole
from sharpe_bandits.simulation import Task

BANDIT = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)])
WORK = Work(sb.UCBRSSR(L=0.5), BANDIT, 200, 20, 3, (10, 100, 200))
TASK = Task(WORK, 4, 9)


def same(a, b):
    for f in dataclasses.fields(Chunk):
        x, y = np.asarray(getattr(a, f.name)), np.asarray(getattr(b, f.name))
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)


@pytest.fixture
def refuse(monkeypatch):
    """Whether chunks are computed: a list of what was, and a switch that forbids it."""

    def forbidden(task):
        raise AssertionError("computed although it is there")

    return lambda: monkeypatch.setattr(store, "compute", forbidden)


def only_file(folder):
    (path,) = (p for p in folder.rglob("*") if p.is_file())
    return path


def test_a_chunk_is_read_back_as_it_was_computed(tmp_path, refuse):
    expected = run_chunk(WORK, 4, 9)
    same(ChunkStore(tmp_path).compute(TASK), expected)
    refuse()
    read = ChunkStore(tmp_path).compute(TASK)
    same(read, expected)
    assert type(read.first) is int
    assert (read.first, read.runs) == (4, 9)


def test_other_runs_are_another_file(tmp_path):
    kept = ChunkStore(tmp_path)
    kept.compute(TASK)
    kept.compute(Task(WORK, 4, 8))
    kept.compute(Task(WORK, 5, 9))
    assert len([p for p in tmp_path.rglob("*") if p.is_file()]) == 3


def broken(content):
    yield b""
    yield content[:-1]
    yield content[: len(content) // 2]
    yield content + b"\0"
    yield b"something else\n"
    for place in (*range(0, 100, 3), len(content) - 1):
        yield content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def test_a_damaged_chunk_is_computed_again(tmp_path):
    kept = ChunkStore(tmp_path)
    expected = kept.compute(TASK)
    path = only_file(tmp_path)
    whole = path.read_bytes()
    for damaged in broken(whole):
        path.write_bytes(damaged)
        same(kept.compute(TASK), expected)
        assert path.read_bytes() == whole


def random_arms(**changes):
    entry = {"kind": "Uniform", "random": True, "repeat": 4, "low": "0", "high": "c * u1", **changes.pop("arms", {})}
    description = {
        "horizon": 100,
        "arms": [entry],
        "objective": {"kind": "Mean"},
        "policies": [{"kind": "UCB1"}],
        "let": {"c": 1, **changes},
    }
    return cases(description)[0].environment


def test_the_name_of_a_chunk_changes_with_all_that_it_depends_on():
    other = [
        WORK,
        dataclasses.replace(WORK, policy=sb.UCBRSSR(L=0.75)),
        dataclasses.replace(WORK, policy=sb.UCBRSSR(L=0.5, pilot_pulls=3)),
        dataclasses.replace(WORK, policy=sb.UCBRSSR(L=0.5, confidence="literal")),
        dataclasses.replace(WORK, policy=sb.UCBRSSR(L=0.5, name="another")),
        dataclasses.replace(WORK, policy=sb.UCBSRLike(L=0.5)),
        dataclasses.replace(WORK, policy=sb.SHSR(L=0.5)),
        dataclasses.replace(WORK, policy=sb.SHSR(L=0.5, keep_samples=True)),
        dataclasses.replace(WORK, environment=sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.9)])),
        dataclasses.replace(WORK, environment=sb.Bandit([sb.Uniform(1.6, 7.8), sb.Uniform(1.5, 7.5)])),
        dataclasses.replace(WORK, environment=random_arms()),
        dataclasses.replace(WORK, environment=random_arms(c=2)),
        dataclasses.replace(WORK, environment=random_arms(arms={"high": "c * u2"})),
        dataclasses.replace(WORK, environment=random_arms(arms={"repeat": 5})),
        dataclasses.replace(WORK, horizon=201),
        dataclasses.replace(WORK, runs=21),
        dataclasses.replace(WORK, seed=4),
        dataclasses.replace(WORK, checkpoints=(11, 100, 200)),
        dataclasses.replace(WORK, source="philox"),
    ]
    names = [digest(work) for work in other]
    assert len(set(names)) == len(names)
    again = Work(sb.UCBRSSR(L=0.5), sb.Bandit(list(BANDIT.arms)), 200, 20, 3, (10, 100, 200))
    assert digest(again) == names[0]
    assert digest(dataclasses.replace(WORK, environment=random_arms(d=9))) == names[10]  # it does not look at d


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "a" / "b.txt"
    write_whole(path, b"old")
    write_bytes = Path.write_bytes

    def full(self, content):
        write_bytes(self, content[:2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"new content")
    assert [p.name for p in path.parent.iterdir()] == ["b.txt"]
    assert path.read_bytes() == b"old"
    monkeypatch.undo()
    write_whole(path, b"new content")
    assert path.read_bytes() == b"new content"
