"""The short form of ``make torture``: many processes, kill -9 of clients and server, a long log."""

import subprocess
import sys
from pathlib import Path


def test_campaigns_bear_what_they_must():
    done = subprocess.run(
        [sys.executable, "-m", "torture", "--quick"], capture_output=True, text=True, cwd=Path(__file__).parents[3]
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all is well" in done.stdout
