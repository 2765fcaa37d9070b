"""The on-disk cache of compiled kernels. It saves later processes from compiling, and is never required.

A file holds its own name, a checksum, and one compiled kernel. A file that does not load, or does not match its
checksum and its name, is a cache miss, and is replaced. Only the user may write to the folder, since code read from it
is executed. The cache is ``$SHARPE_BANDITS_CACHE`` or a folder in the user's cache folder. Without a usable folder
everything works, but is compiled again in each process.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import platformdirs

from .._support.files import read_checked, write_checked
from ..errors import SharpeBanditsError

_SUFFIX = ".kernel"
#: The cache is trimmed to this size.
MAX_BYTES = 512 * 2**20
_DAY = 86400.0
_warned: set[str] = set()


def cache_folder() -> Path:
    """Where compiled kernels are kept; raises if that is in a home folder, and there is none."""
    with suppress(RuntimeError):  # the home folder is unknown
        if folder := os.environ.get("SHARPE_BANDITS_CACHE"):
            return Path(folder).expanduser()
        path = platformdirs.user_cache_path("sharpe-bandits", appauthor=False, opinion=False)
        if path.is_absolute():
            return path
    raise SharpeBanditsError("there is no home folder; set SHARPE_BANDITS_CACHE to a writable folder of your own")


def usable_folder() -> Path | None:
    """The folder of kernels, created if necessary; None, with one warning, if it cannot be used."""
    try:
        folder = cache_folder() / "kernels"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        problem = _unsafe(folder)
    except SharpeBanditsError:
        problem = "there is no home folder"
    except OSError as error:
        problem = f"{folder} cannot be used ({error.strerror})"
    if problem:
        warn_once(problem)
    return None if problem else folder


def _unsafe(folder: Path) -> str:
    """What is wrong with the owner or the permissions of the folder; empty on systems without them."""
    if not hasattr(os, "getuid"):
        return ""
    status = folder.stat()
    if status.st_uid != os.getuid():
        return f"{folder} belongs to another user, and code read from it is executed"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        remedy = "(remedy: sharpe-bandits cache --clear, then chmod 700)"
        return f"{folder} may be written by other users {remedy}, and code read from it is executed"
    if status.st_mode & 0o077:
        folder.chmod(0o700)
    return ""


def warn_once(reason: str) -> None:
    """Say, once per reason, why compiled kernels are not kept."""
    if reason not in _warned:
        _warned.add(reason)
        remedy = "set SHARPE_BANDITS_CACHE to a writable folder of your own to start faster"
        text = f"compiled kernels are not kept: {reason}; {remedy}"
        warnings.warn_explicit(text, UserWarning, "sharpe-bandits", 1)  # no line of code to show beside it


class KernelFiles:
    """The files of a kernel, one for each combination of types and processors. Their names begin with the kernel's, for
    people who look into the folder, and the digest of all that its code depends on besides types and processor.
    """

    def __init__(self, name: str, digest: str) -> None:
        self.stem, self.folder = f"{name}-{digest}", usable_folder()

    def path(self, key: str) -> Path | None:
        """The file for the types and the processor that ``key`` describes; None without a folder."""
        if self.folder is None:
            return None
        return self.folder / f"{self.stem}-{hashlib.sha256(key.encode()).hexdigest()[:16]}{_SUFFIX}"

    def any(self) -> bool:
        """Whether there is a compiled kernel for any types and any processor."""
        return self.folder is not None and any(self.folder.glob(f"{self.stem}-*{_SUFFIX}"))

    def read(self, key: str) -> bytes | None:
        """The compiled kernel; None if it is missing or damaged."""
        if (path := self.path(key)) is None:
            return None
        content = None
        with suppress(OSError):  # the folder is closed
            content = read_checked(path, _magic(path))
            if content is not None and time.time() - path.stat().st_mtime > _DAY:
                os.utime(path)  # so that kernels in use are not trimmed
        return content

    def write(self, key: str, compiled: bytes) -> None:
        """Save a compiled kernel, if that is possible."""
        if (path := self.path(key)) is None:
            return
        try:
            write_checked(path, _magic(path), compiled)
            _trim_once(path.parent)
        except OSError as error:
            warn_once(f"{self.folder} cannot be written ({error.strerror})")


def _magic(path: Path) -> bytes:
    """The first bytes of a kernel's file. They hold its name: code that was moved to another name is not loaded."""
    return f"sharpe-bandits kernel 2 {path.name}\n".encode()


class CacheSize(NamedTuple):
    """Number and total size of the files in the cache."""

    files: int
    bytes: int


def cache_size(folder: Path) -> CacheSize:
    """Number and total size of the files in a folder of kernels."""
    sizes = [status.st_size for _, status in _files(folder)]
    return CacheSize(len(sizes), sum(sizes))


def _files(folder: Path) -> list[tuple[Path, os.stat_result]]:
    """Kernels and temporary files of a folder, least recently used first."""
    files = []
    for path in folder.glob("*") if os.path.isdir(folder) else ():
        with suppress(OSError):  # another process was faster, or the folder is closed
            if path.suffix in (_SUFFIX, ".new") and path.is_file():
                files.append((path, path.stat()))
    return sorted(files, key=lambda item: item[1].st_mtime)


def trim(folder: Path, max_bytes: int = MAX_BYTES) -> None:
    """Remove the least recently used kernels until the rest fits."""
    files = _files(folder)
    total = sum(status.st_size for _, status in files)
    for path, status in files:
        if total > max_bytes:
            path.unlink(missing_ok=True)
            total -= status.st_size


_trim_once = cache(trim)


def clear() -> CacheSize:
    """Remove all compiled kernels; returns what there was."""
    folder = cache_folder() / "kernels"
    size = cache_size(folder)
    for path, _ in _files(folder):
        path.unlink(missing_ok=True)
    return size
