"""Processes of their own, and caches that they find."""

import json
import os
import subprocess
import sys
import textwrap


def run(code, **environment):
    """Run Python in a process of its own and read the JSON that it prints last."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def refill(folder, files):
    kernels = folder / "kernels"
    kernels.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, content in files.items():
        (kernels / name).write_bytes(content)
    return kernels
