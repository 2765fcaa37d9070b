"""Chunks on disk, damaged or swapped: they are computed again, and the result is the same."""

from __future__ import annotations

import tempfile
from dataclasses import fields
from pathlib import Path

import numpy as np

import sharpe_bandits as sb
from sharpe_bandits.experiments.store import ChunkStore
from sharpe_bandits.simulation.executors import Task
from sharpe_bandits.simulation.spec import Chunk, Spec

from .driver import Target
from .things import damaged_bytes, pick

_PAIR = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0.1, 1.2)])
_TASKS = [
    Task(Spec(policy, _PAIR, 50, 8, seed, (10, 50)), first, 4)
    for policy in (sb.UCBRSSR(L=1.0), sb.SHSR(L=1.0))
    for seed in (0, 1)
    for first in (0, 4)
]


def _arrays(chunk: Chunk) -> list[np.ndarray]:
    return [np.asarray(getattr(chunk, field.name)) for field in fields(chunk)]


def _make(files: list[bytes], rng: np.random.Generator) -> tuple[int, bytes]:
    number = int(rng.integers(len(_TASKS)))
    action = rng.random()
    if action < 0.2:  # the chunk of another task, whole as it is
        return number, pick(rng, files)
    if action < 0.3:
        return number, pick(rng, [b"", b"x", files[number][:50], files[number] * 2])
    return number, damaged_bytes(rng, files[number])


def target() -> Target:
    """The target of this file."""
    folder = tempfile.TemporaryDirectory()
    store = ChunkStore(Path(folder.name))
    truth, paths = [], []
    for task in _TASKS:
        before = set(store.folder.rglob("*.chunk"))
        truth.append(_arrays(store.compute(task)))
        paths += sorted(set(store.folder.rglob("*.chunk")) - before)
    files = [path.read_bytes() for path in paths]

    def check(case: tuple[int, bytes], folder: object = folder) -> None:  # the folder stays as long as this does
        number, content = case
        paths[number].write_bytes(content)
        for again in range(2):
            for found, true in zip(_arrays(store.compute(_TASKS[number])), truth[number], strict=True):
                np.testing.assert_array_equal(found, true, err_msg=f"read {again + 1} times")
        assert paths[number].read_bytes() == files[number], "what was damaged is replaced"

    return Target("chunks", lambda rng: _make(files, rng), check)
