"""A second Python process for work that holds the GIL: compiling and drawing."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

#: The environment variable with the id of the process that started this one.
_PARENT = "SHARPE_BANDITS_PARENT"


def start_process(main: Callable[[], None], argument: Any) -> subprocess.Popen[bytes]:
    """Start a process that calls a function of this package, which reads its argument with :func:`argument`.

    The process prints nothing. Its exit status and its output files show whether it succeeded.
    """
    import cloudpickle

    command = f"from {main.__module__} import {main.__name__}; {main.__name__}()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), _PARENT: str(os.getpid())}
    with tempfile.TemporaryFile() as file:
        file.write(cloudpickle.dumps(argument))
        file.seek(0)
        return subprocess.Popen(
            [sys.executable, "-c", command], stdin=file, env=environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip


def is_orphaned() -> bool:
    """Whether the process that started this one has ended. (Windows does not tell.)"""
    return os.getppid() != int(os.environ[_PARENT])


def argument() -> Any:
    """The argument that the parent process passed to :func:`start_process`."""
    import cloudpickle

    return cloudpickle.loads(sys.stdin.buffer.read())
