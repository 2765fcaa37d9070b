"""Other libraries, each in a virtual environment of its own, each timed by an adapter script that runs there.

Environments are made once, under ``.envs`` beside this file, which keeps itself out of version control. A peer that
does not install or does not run is reported with the reason.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ENVIRONMENTS = HERE / ".envs"
INSTALL_SECONDS, PLAY_SECONDS = 400, 120


@dataclass(frozen=True)
class Peer:
    """A library on PyPI: its name there, what else must be installed with it, and what it is measured doing."""

    name: str
    package: str
    adapter: str
    policy: str = "UCB1"
    beside: tuple[str, ...] = ()
    python: str = ""


PEERS = (
    Peer("PyMAB", "pymab", "play_pymab.py"),
    Peer(
        "SMPyBandits",
        "SMPyBandits",
        "play_smpybandits.py",
        beside=("numpy<2", "scipy<1.12", "pandas<2.3", "scikit-learn<1.5", "matplotlib<3.9"),
        python="python3.11",
    ),
    Peer("mabby", "mabby", "play_mabby.py"),
    Peer("mabwiser", "mabwiser", "play_mabwiser.py"),
    Peer("pybandits", "pybandits", "play_pybandits.py", policy="Thompson sampling (it has no UCB1)"),
)


class PeerFailed(Exception):
    """A peer could not be installed or run; the text says why."""


def play(peer: Peer, means: list[float], horizon: int, seconds: float) -> dict[str, Any]:
    """Final pulls of each run, the seconds they took, version and peak memory; raises :class:`PeerFailed`."""
    python = environment(peer)
    work = json.dumps({"means": means, "horizon": horizon, "seconds": seconds})
    result: dict[str, Any] = json.loads(
        run([python, HERE / "adapters" / peer.adapter, work], seconds + PLAY_SECONDS, "run")
    )
    return result


def environment(peer: Peer) -> Path:
    """The Python of a peer's own environment, made and filled where it is not there yet."""
    folder = ENVIRONMENTS / peer.name
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    wanted = "\n".join([peer.package, *peer.beside])
    stamp = folder / "installed.txt"
    if stamp.exists() and stamp.read_text("utf-8") == wanted and python.exists():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    ENVIRONMENTS.mkdir(exist_ok=True)
    (ENVIRONMENTS / ".gitignore").write_text("*\n", "utf-8")
    base = (shutil.which(peer.python) if peer.python else None) or sys.executable
    run([base, "-m", "venv", folder], INSTALL_SECONDS, "make an environment")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*pip, peer.package, *peer.beside], INSTALL_SECONDS, "install")
    stamp.write_text(wanted, "utf-8")
    return python


def run(command: list[Any], seconds: float, what: str) -> str:
    """The last line that a command prints."""
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise PeerFailed(f"did not {what} within {seconds:.0f} s") from None
    except OSError as error:
        raise PeerFailed(f"did not {what}: {error.strerror}") from None
    if done.returncode != 0:
        raise PeerFailed(f"did not {what}: {_reason(done.stderr)}")
    return (done.stdout.splitlines() or [""])[-1]


def _reason(text: str) -> str:
    """The line of an error output that says what went wrong, without addresses and folders of this machine."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(ERROR|error|[A-Za-z.]*(Error|Exception))\b", line)]
    line = (errors or lines or ["no reason given"])[-1]
    line = re.sub(r"\w+://\S+", "an address", line)
    return re.sub(r"(/[\w.+-]+){2,}", "a file", line)[:300]
