"""Chunks on disk: whole, checked, named after all that they depend on."""

import dataclasses

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.experiments import store
from sharpe_bandits.experiments.description import cases
from sharpe_bandits.experiments.store import ChunkStore, digest
from sharpe_bandits.simulation.executors import Task
from sharpe_bandits.simulation.spec import Chunk, Spec, run_chunk

BANDIT = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)])
SPEC = Spec(sb.UCBRSSR(L=0.5), BANDIT, 200, 20, 3, (10, 100, 200))
TASK = Task(SPEC, 4, 9)


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
    (path,) = folder.rglob("*.chunk")
    return path


def test_a_chunk_is_read_back_as_it_was_computed(tmp_path, refuse):
    expected = run_chunk(SPEC, range(4, 13))
    same(ChunkStore(tmp_path).compute(TASK), expected)
    refuse()
    same(ChunkStore(tmp_path).compute(TASK), expected)


def test_arrays_that_are_a_part_of_others_are_stored(tmp_path, refuse):
    task = Task(dataclasses.replace(SPEC, checkpoints=(10, 200)), 0, 9)  # half of the horizon has been removed
    expected = ChunkStore(tmp_path).compute(task)
    assert not expected.pulls.flags.c_contiguous
    refuse()
    same(ChunkStore(tmp_path).compute(task), expected)


def test_other_runs_are_another_file(tmp_path):
    kept = ChunkStore(tmp_path)
    kept.compute(TASK)
    kept.compute(Task(SPEC, 4, 8))
    kept.compute(Task(SPEC, 5, 9))
    assert len(list(tmp_path.rglob("*.chunk"))) == 3


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
        SPEC,
        dataclasses.replace(SPEC, policy=sb.UCBRSSR(L=0.75)),
        dataclasses.replace(SPEC, policy=sb.UCBRSSR(L=0.5, pilot_pulls=3)),
        dataclasses.replace(SPEC, policy=sb.UCBRSSR(L=0.5, undefined_width="printed")),
        dataclasses.replace(SPEC, policy=sb.UCBSRLike(L=0.5)),
        dataclasses.replace(SPEC, policy=sb.SHSR(L=0.5)),
        dataclasses.replace(SPEC, policy=sb.SHSR(L=0.5, keep_samples=True)),
        dataclasses.replace(SPEC, environment=sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.9)])),
        dataclasses.replace(SPEC, environment=sb.Bandit([sb.Uniform(1.6, 7.8), sb.Uniform(1.5, 7.5)])),
        dataclasses.replace(SPEC, environment=random_arms()),
        dataclasses.replace(SPEC, environment=random_arms(c=2)),
        dataclasses.replace(SPEC, environment=random_arms(arms={"high": "c * u2"})),
        dataclasses.replace(SPEC, environment=random_arms(arms={"repeat": 5})),
        dataclasses.replace(SPEC, horizon=201),
        dataclasses.replace(SPEC, runs=21),
        dataclasses.replace(SPEC, seed=4),
        dataclasses.replace(SPEC, checkpoints=(11, 100, 200)),
    ]
    names = [digest(spec) for spec in other]
    assert len(set(names)) == len(names)
    again = Spec(sb.UCBRSSR(L=0.5), sb.Bandit(list(BANDIT.arms)), 200, 20, 3, (10, 100, 200))
    assert digest(again) == names[0]
    renamed = dataclasses.replace(SPEC, policy=sb.UCBRSSR(L=0.5, name="another"))
    assert digest(renamed) == names[0]  # a name changes nothing that is played
    assert digest(dataclasses.replace(SPEC, environment=random_arms(d=9))) == names[9]  # it does not look at d
    for pilot in ({"pilot_pulls": 2}, {"pilot_fraction": 0.02}):  # of 200 rounds: two pulls, as without it
        assert digest(dataclasses.replace(SPEC, policy=sb.UCBRSSR(L=0.5, **pilot))) == names[0]
    assert digest(dataclasses.replace(SPEC, policy=sb.UCBRSSR(L=0.5, pilot_fraction=0.03))) == names[2]


def swapped(a, b):
    one, other = a.read_bytes(), b.read_bytes()
    a.write_bytes(other)
    b.write_bytes(one)


def test_chunks_that_were_swapped_or_renamed_are_noticed(tmp_path):
    """Each is whole and has its checksum, but belongs elsewhere: to other runs, or to another policy."""
    other = dataclasses.replace(SPEC, policy=sb.UCBRSSR(L=5.0))
    tasks = [Task(SPEC, 0, 9), Task(SPEC, 9, 9), Task(other, 0, 9)]
    kept = ChunkStore(tmp_path)
    expected = [kept.compute(task) for task in tasks]
    files = [tmp_path / digest(task.spec) / f"{task.first}-{task.runs}.chunk" for task in tasks]
    contents = [path.read_bytes() for path in files]
    assert len(set(contents)) == 3
    for a, b in ((0, 1), (0, 2)):
        swapped(files[a], files[b])
        for task, chunk in zip(tasks, expected, strict=True):
            same(ChunkStore(tmp_path).compute(task), chunk)
        assert [path.read_bytes() for path in files] == contents  # put right
