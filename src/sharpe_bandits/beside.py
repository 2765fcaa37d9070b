"""Another process beside this one, for work that holds the interpreter: compiling and drawing."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

#: The environment variable that names the process that started this one.
_ASKED_BY = "SHARPE_BANDITS_ASKED_BY"


def started(main: Callable[[], None], given: Any) -> subprocess.Popen[bytes]:
    """Start a process that calls a function of this package, which finds with :func:`given` what it is given.

    It says nothing. Whether it succeeded is seen by its exit status and by what it leaves.
    """
    import cloudpickle

    command = f"from {main.__module__} import {main.__name__}; {main.__name__}()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), _ASKED_BY: str(os.getpid())}
    with tempfile.TemporaryFile() as file:
        file.write(cloudpickle.dumps(given))
        file.seek(0)
        return subprocess.Popen(
            [sys.executable, "-c", command], stdin=file, env=environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip


def is_alone() -> bool:
    """Whether the process that started this one has ended. (Windows does not say.)"""
    return os.getppid() != int(os.environ[_ASKED_BY])


def given() -> Any:
    """What this process was given by the one that started it."""
    import cloudpickle

    return cloudpickle.loads(sys.stdin.buffer.read())
