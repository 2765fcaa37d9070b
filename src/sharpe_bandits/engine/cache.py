"""Compiled kernels on disk: found again by later processes, and a help that is never needed.

A file holds one compiled kernel behind a checksum. What does not load or has another checksum is a miss, and is
replaced. The folder belongs to the user alone, since what is read from it is run. The cache is
``$SHARPE_BANDITS_CACHE`` or a folder in the user's cache; without one that can be used everything works, compiled anew
in each process.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import stat
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

_MAGIC = b"sharpe-bandits kernel 1\n"
_SUFFIX = ".kernel"
#: The cache is trimmed to this size, and of kernels that were not used for so long.
MAX_BYTES, MAX_DAYS = 512 * 2**20, 90
_DAY = 86400.0
_warned: set[str] = set()
_trimmed = False
_at_miss: Callable[[], None] | None = None


@contextmanager
def call_at_miss(function: Callable[[], None]) -> Iterator[None]:
    """Within the context, a function is called whenever a kernel is not in the cache and is about to be compiled."""
    global _at_miss
    before, _at_miss = _at_miss, function
    try:
        yield
    finally:
        _at_miss = before


def cache_folder() -> Path:
    """Where compiled kernels are kept. Raises RuntimeError where a home folder is needed and there is none."""
    if os.environ.get("SHARPE_BANDITS_CACHE"):
        return Path(os.environ["SHARPE_BANDITS_CACHE"]).expanduser()
    if platform.system() == "Windows":
        base = os.environ.get("LOCALAPPDATA", "~/AppData/Local")
    elif platform.system() == "Darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "sharpe-bandits"


def usable_folder() -> Path | None:
    """The folder of kernels, made if need be; None, with one warning, where it cannot be used."""
    try:
        folder = cache_folder() / "kernels"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        problem = _unsafe(folder)
    except RuntimeError:
        _warn("there is no home folder")
        return None
    except OSError as error:
        _warn(f"{folder} cannot be used ({error.strerror})")
        return None
    if problem:
        _warn(f"{folder} {problem}, and what is read from it is run")
        return None
    return folder


def _unsafe(folder: Path) -> str:
    """What is wrong with the owner or the permissions of the folder; nothing on systems without them."""
    if not hasattr(os, "getuid"):
        return ""
    status = folder.stat()
    if status.st_uid != os.getuid():
        return "belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "may be written by other users (remedy: sharpe-bandits cache --clear, then chmod 700)"
    if status.st_mode & 0o077:
        folder.chmod(0o700)
    return ""


def _warn(reason: str) -> None:
    if reason not in _warned:
        _warned.add(reason)
        text = (
            f"compiled kernels are not kept: {reason}; set SHARPE_BANDITS_CACHE to a writable folder of your own to "
            "start faster"
        )
        warnings.warn_explicit(text, UserWarning, "sharpe-bandits", 1)  # no line of code to show beside it


class KernelCache:
    """What a dispatcher of numba asks for a compiled kernel and gives one to keep.

    Parameters
    ----------
    name : str
        Name of the kernel, for people who look into the folder.
    digest : str
        Digest of all that the machine code depends on, but for the types of its arguments and the processor.
    own : bool, optional
        Whether all of it is of this package: it then needs none of what compiled code of others may call, and which
        takes half of the time of a program's start to load.
    """

    def __init__(self, name: str, digest: str, own: bool = False) -> None:
        self.name, self.digest, self.own = name, digest, own
        self.folder = usable_folder()

    @property
    def cache_path(self) -> str | None:
        """The folder, as numba's statistics show it."""
        return None if self.folder is None else str(self.folder)

    def enable(self) -> None:
        """Asked by numba; there is nothing to do."""

    disable = flush = enable

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        if self.folder is None:
            return None
        key = repr((self.digest, str(signature), codegen.magic_tuple()))
        return self.folder / f"{self.name}-{hashlib.sha256(key.encode()).hexdigest()[:40]}{_SUFFIX}"

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled kernel for these types; None if it is not there whole."""
        found = self._loaded(signature, target_context)
        if found is None and _at_miss is not None:
            _at_miss()
        return found

    def _loaded(self, signature: Any, target_context: Any) -> Any:
        from numba.core.compiler import CompileResult
        from numba.core.runtime.nrt import rtsys

        path = self._path(signature, target_context.codegen())
        if path is None:
            return None
        try:
            payload = unpacked(path.read_bytes())
            if payload is None:
                return None
            if self.own:
                rtsys.initialize(target_context)  # gives arrays their memory
            else:
                target_context.refresh()
            result = CompileResult._rebuild(target_context, *pickle.loads(payload))
            if time.time() - path.stat().st_mtime > _DAY:
                os.utime(path)  # so that what is used is not trimmed
        except FileNotFoundError:
            return None
        except Exception:  # whatever does not load is a miss: the kernel is compiled again and the file replaced
            return None
        return result

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a compiled kernel, unless it holds addresses of this process."""
        from numba.core.serialize import dumps

        path = self._path(signature, result.codegen)
        if path is None or result.library.has_dynamic_globals or any(not part.can_cache for part in result.lifted):
            return
        try:
            _write(path, packed(dumps(result._reduce())))
            trim(path.parent)
        except OSError as error:
            _warn(f"{path.parent} cannot be written ({error.strerror})")


def packed(payload: bytes) -> bytes:
    """Content of a file: the payload behind a checksum."""
    return _MAGIC + hashlib.sha256(payload).digest() + payload


def unpacked(content: bytes) -> bytes | None:
    """The payload of a file; None if it is not what was written."""
    start = len(_MAGIC) + 32
    payload = content[start:]
    whole = content[: len(_MAGIC)] == _MAGIC and content[len(_MAGIC) : start] == hashlib.sha256(payload).digest()
    return payload if whole else None


def _write(path: Path, content: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", suffix=".new", delete=False) as file:
        try:
            file.write(content)
            file.close()
            os.replace(file.name, path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


class Kept(NamedTuple):
    """What is in the cache."""

    files: int
    bytes: int


def kept(folder: Path) -> Kept:
    """What is in a folder of kernels."""
    sizes = [status.st_size for _, status in _files(folder)]
    return Kept(len(sizes), sum(sizes))


def _files(folder: Path) -> list[tuple[Path, os.stat_result]]:
    """Kernels and temporary files of a folder, the one unused for longest first."""
    found = []
    for path in folder.glob("*") if folder.is_dir() else ():
        if path.suffix in (_SUFFIX, ".new"):
            try:
                found.append((path, path.stat()))
            except FileNotFoundError:  # another process was faster
                continue
    return sorted(found, key=lambda item: item[1].st_mtime)


def trim(folder: Path, max_bytes: int = MAX_BYTES, max_days: float = MAX_DAYS, *, again: bool = False) -> None:
    """Remove what was not used for long, what is too much, and what killed processes left; once per process."""
    global _trimmed
    if _trimmed and not again:
        return
    _trimmed = True
    now = time.time()
    for path, status in _files(folder):
        if now - status.st_mtime > _DAY * (1 if path.suffix == ".new" else max_days):
            path.unlink(missing_ok=True)
    files = _files(folder)
    total = sum(status.st_size for _, status in files)
    for path, status in files:
        if total > max_bytes:
            path.unlink(missing_ok=True)
            total -= status.st_size


def clear() -> Kept:
    """Remove all compiled kernels; gives what there was."""
    folder = cache_folder() / "kernels"
    was = kept(folder)
    for path, _ in _files(folder):
        path.unlink(missing_ok=True)
    return was
