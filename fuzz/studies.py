"""Saved studies: manifests and Parquet files changed or missing."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np

import sharpe_bandits as sb

from .driver import Target
from .things import damaged_bytes, damaged_json, pick

_FOLDER = Path(tempfile.gettempdir()) / f"sharpe-bandits-fuzz-study-{os.getpid()}"
Files = dict[str, bytes]


def _saved() -> list[Files]:
    """The files of some studies."""
    ten = [sb.Uniform(0, 1), sb.Uniform(0.2, 1.1), sb.Normal(0.3, variance=1)]
    studies = [
        sb.simulate([sb.UCBRSSR(L=1.0), sb.SHSR(L=1.0)], ten, horizon=60, runs=8, checkpoints=5),
        sb.simulate(
            sb.policies.SuccessiveAcceptsRejects(sb.RSSR(L=1.0), m=2), ten, horizon=60, runs=5, checkpoints=[60]
        ),
        sb.simulate(sb.policies.UCB1(), sb.RandomBandit(2, lambda g: ten[:2]), horizon=30, runs=4, checkpoints=3),
    ]
    found = []
    for study in studies:
        with tempfile.TemporaryDirectory() as folder:
            study.save(folder)
            found.append({path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())})
    return found


def _make(studies: list[Files], rng: np.random.Generator) -> Files:
    files = dict(pick(rng, studies))
    manifest = next(name for name in files if name.endswith(".json"))
    data = [name for name in files if name != manifest]
    action = rng.random()
    if action < 0.5:
        files[manifest] = json.dumps(damaged_json(rng, json.loads(files[manifest]))).encode()
    elif action < 0.6:
        files[manifest] = damaged_bytes(rng, files[manifest])
    elif action < 0.9:
        name = pick(rng, data)
        other = pick(rng, studies)
        files[name] = damaged_bytes(rng, files[name]) if rng.random() < 0.6 else other[pick(rng, list(other))]
    else:
        del files[pick(rng, list(files))]
        files["extra.parquet"] = pick(rng, [b"", b"PAR1", b"[" * 100_000])
        if rng.random() < 0.3:
            files[manifest] = pick(
                rng, [b"", b"[]", b"[" * 100_000, b"1e400", b"\xff", b'{"kind": 1e400}', b"1" * 5000]
            )
    return files


def _check(files: Files) -> None:
    shutil.rmtree(_FOLDER, ignore_errors=True)
    _FOLDER.mkdir()
    for name, content in files.items():
        (_FOLDER / name).write_bytes(content)
    try:
        study = sb.load(_FOLDER)
    finally:
        kept = {path.name: path.read_bytes() for path in _FOLDER.iterdir()}
        assert kept == files, "reading changes nothing"
    for name in study:
        result = study[name]
        repr(result)
        result.regret(sb.Mean())
        result.error(sb.Mean())
    repr(study)


def target() -> Target:
    """The target of this file."""
    studies = _saved()
    return Target("studies", lambda rng: _make(studies, rng), _check)
