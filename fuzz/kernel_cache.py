"""The cache of compiled kernels, damaged in every way: a kernel is loaded as it was, or compiled again."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import shutil
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sharpe_bandits._support.files import packed
from sharpe_bandits.play import statistics, streams
from sharpe_bandits.simulation.cache import cache_folder, cache_size, clear
from sharpe_bandits.simulation.compiler import specialise

from .driver import Target
from .things import damaged_bytes, pick

#: Small kernels, and arguments to call them with.
_KERNELS: list[tuple[Any, tuple[Any, ...]]] = [(streams.uniform, (np.uint64(7), 3)), (statistics.radius, (20,))]
#: What may happen to the file of a kernel, beside damage to its bytes.
_FATES = (
    "empty", "swapped", "a folder", "a full folder", "a pipe", "missing", "unreadable", "read-only", "old",
    "a pickle of something else", "a link to nothing",
)  # fmt: skip
#: What may happen to the folder of kernels.
_FOLDERS = (
    "a file", "open to others", "closed", "read-only", "a link to a file", "a link to itself", "missing", "full of folders",
    "above it a file", "above it closed",
)  # fmt: skip


def _half(x: float) -> float:
    return 0.5 * x


def _values() -> list[float]:
    from numba import float64

    values = [float(specialise(kernel, {})(*arguments)) for kernel, arguments in _KERNELS]
    return [*values, specialise(_half, {}, float64(float64)).ctypes(3.0)]


def _clear() -> int:
    with contextlib.suppress(OSError):  # the command line shows what is in the way
        clear()
    return cache_size(cache_folder() / "kernels").files


def _in_child(folder: Path, work: Callable[[], Any]) -> Any:
    """What a forked process makes of a cache folder; AssertionError if it dies."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.environ["SHARPE_BANDITS_CACHE"] = str(folder)
            warnings.simplefilter("ignore")
            os.write(writing, json.dumps(work()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, f"the process ended with status {status}"
    return json.loads(answer)


def _make(files: dict[str, bytes], rng: np.random.Generator) -> tuple[str, str, bytes]:
    name = pick(rng, sorted(files))
    action = rng.random()
    if action < 0.15:
        return name, f"folder: {pick(rng, _FOLDERS)}", b""
    if action < 0.5:
        return name, pick(rng, _FATES), b""
    return name, "damaged", damaged_bytes(rng, files[name])


def _damage(kernels: Path, files: dict[str, bytes], name: str, fate: str, content: bytes) -> None:
    """Fill a folder with kernels, one of which, or all, suffer something."""
    kernels.mkdir(mode=0o700, parents=True)
    for other, whole in files.items():
        (kernels / other).write_bytes(whole)
    path = kernels / name
    if fate == "damaged":
        path.write_bytes(content)
    elif fate == "empty":
        path.write_bytes(b"")
    elif fate == "swapped":
        path.write_bytes(next(whole for other, whole in files.items() if other != name))
    elif fate == "unreadable":
        path.chmod(0)
    elif fate == "read-only":
        path.chmod(0o400)
    elif fate == "old":
        os.utime(path, (0, 0))
    elif fate == "a pickle of something else":
        path.write_bytes(packed(pickle.dumps(("not", "a", "kernel")), files[name].partition(b"\n")[0] + b"\n"))
    elif fate == "folder: open to others":
        kernels.chmod(0o777)
    elif fate == "folder: closed":
        kernels.chmod(0)
    elif fate == "folder: read-only":
        kernels.chmod(0o500)
    elif fate == "folder: full of folders":
        for other in (*files, ".left.new"):
            (kernels / other).unlink(missing_ok=True)
            (kernels / other / "x").mkdir(parents=True)
    elif fate == "folder: above it closed":
        kernels.parent.chmod(0)
    elif fate == "folder: above it a file":
        shutil.rmtree(kernels.parent)
        kernels.parent.write_bytes(b"not a folder")
    elif fate.startswith("folder: "):
        shutil.rmtree(kernels)
        if fate == "folder: a file":
            kernels.write_bytes(b"not a folder")
        elif fate == "folder: a link to itself":
            kernels.symlink_to(kernels)
        elif fate == "folder: a link to a file":
            kernels.symlink_to(__file__)
    else:
        path.unlink()
        if fate == "a folder":
            path.mkdir()
        elif fate == "a full folder":
            (path / "x").mkdir(parents=True)
        elif fate == "a pipe":
            os.mkfifo(path)
        elif fate == "a link to nothing":
            path.symlink_to(kernels / "nothing")


def target() -> Target:
    """The target of this file."""
    from numba.core.registry import cpu_target

    cpu_target.target_context.refresh()  # once, here, not in every process
    with tempfile.TemporaryDirectory() as folder:
        truth = _in_child(Path(folder), _values)
        contents = {path.name: path.read_bytes() for path in (Path(folder) / "kernels").iterdir()}
        files = {name: content for name, content in contents.items() if content}
    assert len(files) > len(_KERNELS)

    def check(case: tuple[str, str, bytes]) -> None:
        with tempfile.TemporaryDirectory() as above:
            kernels = Path(above) / "cache" / "kernels"
            _damage(kernels, files, *case)
            try:
                for time in ("first", "second"):
                    assert _in_child(kernels.parent, _values) == truth, f"results, the {time} time"
                left = _in_child(kernels.parent, _clear)
                assert left == 0 or case[1].startswith("folder: ")
            finally:
                for folder in (kernels.parent, kernels):
                    if os.path.isdir(folder):
                        folder.chmod(0o700)

    return Target("kernel_cache", lambda rng: _make(files, rng), check, seconds=20.0)
