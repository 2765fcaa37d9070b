"""The on-disk cache of compiled kernels. It saves later processes from compiling, and is never required.

A file holds its own name, a checksum, and one compiled kernel. A file that does not load, or does not match its
checksum and its name, is a cache miss, and is replaced. Only the user may write to the folder, since code read from it
is executed. The cache is ``$SHARPE_BANDITS_CACHE`` or a folder in the user's cache folder. Without a usable folder
everything works, but is compiled again in each process.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import platformdirs

from .._support.files import packed, unpacked, write_atomically

_SUFFIX, _REMEMBERED = ".kernel", ".checked"
#: The cache is trimmed to this size, and kernels unused for this long are removed.
MAX_BYTES, MAX_DAYS = 512 * 2**20, 90
_DAY = 86400.0
_warned: set[str] = set()
_trimmed = False


def cache_folder() -> Path:
    """Where compiled kernels are kept. Raises RuntimeError if a home folder is needed and there is none."""
    if folder := os.environ.get("SHARPE_BANDITS_CACHE"):
        return Path(folder).expanduser()
    path = platformdirs.user_cache_path("sharpe-bandits", appauthor=False, opinion=False)
    if not path.is_absolute():  # the home folder is unknown
        raise RuntimeError("there is no home folder")
    return path


def usable_folder() -> Path | None:
    """The folder of kernels, created if necessary; None, with one warning, if it cannot be used."""
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
        _warn(f"{folder} {problem}, and code read from it is executed")
        return None
    return folder


def _unsafe(folder: Path) -> str:
    """What is wrong with the owner or the permissions of the folder; empty on systems without them."""
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
    """The cache that a dispatcher of numba loads compiled kernels from and saves them to.

    Parameters
    ----------
    name : str
        Name of the kernel, for people who look into the folder.
    digest : str
        Digest of everything that the machine code depends on, except the types of its arguments and the processor.
    own : bool, optional
        Whether all of its code is from this package. It then does not need the library functions that other compiled
        code may call; loading them takes half of a program's start-up time.
    """

    def __init__(self, name: str, digest: str, own: bool = False) -> None:
        self.name, self.digest, self.own = name, digest, own
        self.folder = usable_folder()

    @property
    def cache_path(self) -> str | None:
        """The folder, as numba's statistics show it."""
        return None if self.folder is None else str(self.folder)

    def enable(self) -> None:
        """Required by numba; there is nothing to do."""

    disable = flush = enable

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        if self.folder is None:
            return None
        key = repr((str(signature), codegen.magic_tuple()))
        return self.folder / f"{self.name}-{self.digest}-{hashlib.sha256(key.encode()).hexdigest()[:16]}{_SUFFIX}"

    def holds_any(self) -> bool:
        """Whether there is a compiled kernel for any types and any processor."""
        return self.folder is not None and any(self.folder.glob(f"{self.name}-{self.digest}-*{_SUFFIX}"))

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled kernel for these types; None if it is missing or damaged."""
        from numba.core.compiler import CompileResult
        from numba.core.runtime.nrt import rtsys

        path = self._path(signature, target_context.codegen())
        if path is None or not os.path.isfile(path):  # not path.is_file(), which raises in a folder that is closed
            return None
        try:
            payload = unpacked(path.read_bytes(), _magic(path))
            if payload is None:
                return None
            if self.own:
                rtsys.initialize(target_context)  # allocates the memory of arrays
            else:
                target_context.refresh()
            result = CompileResult._rebuild(target_context, *pickle.loads(payload))
        except Exception:  # any failure to load is a miss: the kernel is compiled again and the file replaced
            return None
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _DAY:
                os.utime(path)  # so that kernels in use are not trimmed
        return result

    def save_overload(self, signature: Any, result: Any) -> None:
        """Save a compiled kernel, unless it holds addresses of this process."""
        try:
            from numba.core.serialize import dumps

            path = self._path(signature, result.codegen)
            if path is None or result.library.has_dynamic_globals or any(not part.can_cache for part in result.lifted):
                return
            write_atomically(path, packed(dumps(result._reduce()), _magic(path)))
            trim(path.parent)
        except OSError as error:
            _warn(f"{self.folder} cannot be written ({error.strerror})")
        except Exception as error:  # internals of Numba have changed: everything works, but is compiled in each process
            _warn(f"this version of Numba stores compiled code differently ({type(error).__name__}: {error})")


def remembers(name: str) -> bool:
    """Whether :func:`remember` was called with this name, by this process or an earlier one."""
    folder = usable_folder()
    return folder is not None and os.path.isfile(folder / f"{name}{_REMEMBERED}")


def remember(name: str) -> None:
    """Keep a name for later processes, if there is a folder to keep it in."""
    folder = usable_folder()
    if folder is not None:
        with suppress(OSError):
            (folder / f"{name}{_REMEMBERED}").touch()


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
    for path in folder.glob("*") if folder.is_dir() else ():
        with suppress(OSError):  # another process was faster, or the folder is closed
            if path.suffix in (_SUFFIX, ".new") and path.is_file():
                files.append((path, path.stat()))
    return sorted(files, key=lambda item: item[1].st_mtime)


def trim(folder: Path, max_bytes: int = MAX_BYTES, max_days: float = MAX_DAYS, *, again: bool = False) -> None:
    """Remove stale kernels, leftovers of killed processes, and then the least recently used kernels until the rest
    fits; once per process.
    """
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


def clear() -> CacheSize:
    """Remove all compiled kernels; returns what there was."""
    folder = cache_folder() / "kernels"
    size = cache_size(folder)
    for path in [*folder.glob(f"*{_REMEMBERED}"), *(path for path, _ in _files(folder))]:
        path.unlink(missing_ok=True)
    return size
