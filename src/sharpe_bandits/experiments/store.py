"""Finished chunks on disk, so that an interrupted job loses at most the chunks under way.

A chunk is written to a temporary file and renamed, with a checksum in front: what is there is whole. The name is a
digest of everything that the chunk is a function of.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from dataclasses import fields
from pathlib import Path

import numpy as np

from ..engine.work import FORMAT, Chunk, Work
from ..simulation import Task, compute

_MAGIC = b"sharpe-bandits chunk\n"


class ChunkStore:
    """A folder of finished chunks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._digests: dict[int, str] = {}

    def compute(self, task: Task) -> Chunk:
        """The chunk of a task: read if it is there, otherwise computed and kept."""
        path = self._path(task)
        found = _read(path)
        if found is None:
            found = compute(task)
            _write(path, found)
        return found

    def _path(self, task: Task) -> Path:
        if id(task.work) not in self._digests:
            self._digests[id(task.work)] = digest(task.work)
        return self.folder / self._digests[id(task.work)] / f"{task.first}-{task.runs}.chunk"


def digest(work: Work) -> str:
    """A digest of everything that a chunk of this work depends on, but for its range of runs."""
    described = {
        "format": FORMAT,
        "policy": work.policy.to_dict(),
        "environment": work.environment.to_dict(),
        "settings": [work.horizon, work.runs, work.seed, work.checkpoints, work.source, work.feedback],
    }
    return hashlib.sha256(json.dumps(described, sort_keys=True, default=str).encode()).hexdigest()[:24]


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all, and leave nothing behind if that fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _write(path: Path, chunk: Chunk) -> None:
    import pyarrow as pa

    memory = io.BytesIO()
    np.savez(memory, **{f.name: getattr(chunk, f.name) for f in fields(Chunk)})
    plain = memory.getvalue()
    packed = pa.compress(plain, codec="zstd", asbytes=True)
    body = len(plain).to_bytes(8, "little") + packed
    write_whole(path, _MAGIC + hashlib.sha256(body).digest() + body)


def _read(path: Path) -> Chunk | None:
    import pyarrow as pa

    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    start = len(_MAGIC) + 32
    body = content[start:]
    if content[: len(_MAGIC)] != _MAGIC or hashlib.sha256(body).digest() != content[len(_MAGIC) : start]:
        return None  # damaged: computing it again gives the same chunk
    size, packed = int.from_bytes(body[:8], "little"), body[8:]
    plain = pa.decompress(packed, decompressed_size=size, codec="zstd", asbytes=True)
    with np.load(io.BytesIO(plain)) as arrays:
        values = {name: arrays[name] for name in arrays.files}
    for name in ("first", "runs", "first_batch"):
        values[name] = int(values[name])
    return Chunk(**values)
