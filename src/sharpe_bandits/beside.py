"""Another process beside this one, for work that holds the interpreter: compiling and drawing."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any


def started(main: Callable[[], None], given: Any) -> subprocess.Popen[bytes]:
    """Start a process that calls a function of this package, which finds with :func:`given` what it is given.

    It says nothing. Whether it succeeded is seen by its exit status and by what it leaves.
    """
    import cloudpickle

    command = f"from {main.__module__} import {main.__name__}; {main.__name__}()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with tempfile.TemporaryFile() as file:
        file.write(cloudpickle.dumps(given))
        file.seek(0)
        return subprocess.Popen(
            [sys.executable, "-c", command], stdin=file, env=environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip


def given() -> Any:
    """What this process was given by the one that started it."""
    import cloudpickle

    return cloudpickle.loads(sys.stdin.buffer.read())
