"""Finished chunks on disk, so that an interrupted job loses at most the chunks being computed.

A chunk is written to a temporary file and renamed, so files are always complete. The header holds a checksum, a digest
of everything that the chunk depends on, and its range of runs: a file that was damaged, renamed or swapped is detected,
and its chunk is recomputed with the same result.
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import fields
from pathlib import Path

import numpy as np

from .._support.files import read_checked, write_checked
from ..simulation.executors import Task, compute
from ..simulation.spec import FORMAT, Chunk, Spec


class ChunkStore:
    """A folder of finished chunks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._digests: dict[int, tuple[Spec, str]] = {}

    def compute(self, task: Task) -> Chunk:
        """The chunk of a task: read if it exists, otherwise computed and stored."""
        chunk = self.find(task)
        if chunk is None:
            chunk = compute(task)
            self.keep(task, chunk)
        return chunk

    def find(self, task: Task) -> Chunk | None:
        """The chunk of a task; None unless its file is intact and the right one."""
        body = read_checked(*self._place(task))
        if body is None:
            return None
        with np.load(io.BytesIO(body)) as arrays:
            return Chunk(**arrays)

    def keep(self, task: Task, chunk: Chunk) -> None:
        """Store a chunk."""
        packed = io.BytesIO()
        np.savez_compressed(packed, **vars(chunk))
        write_checked(*self._place(task), packed.getvalue())

    def _place(self, task: Task) -> tuple[Path, bytes]:
        """The file of a task's chunk, and its header, with the identity of the chunk."""
        if id(task.spec) not in self._digests:
            self._digests[id(task.spec)] = task.spec, digest(task.spec)
        name = self._digests[id(task.spec)][1]
        path = self.folder / name / f"{task.first}-{task.runs}.chunk"
        return path, f"sharpe-bandits chunk 4\n{name} {task.first} {task.runs}\n".encode()


def digest(spec: Spec) -> str:
    """A digest of everything that a chunk of this spec depends on, except its range of runs."""
    left_out = {"kernel"} if spec.has_rules else {"kernel", "control", "share", "bounds", "among"}  # all kernels agree
    settings = {f.name: getattr(spec, f.name) for f in fields(spec) if f.name not in left_out}
    policy = spec.policy.with_fixed_pilot(spec.horizon, spec.environment.K).to_dict()
    policy.pop("name", None)  # names change nothing
    described = {"format": FORMAT, **settings, "policy": policy, "environment": spec.environment.to_dict()}
    return hashlib.sha256(json.dumps(described, sort_keys=True, default=str).encode()).hexdigest()[:24]
