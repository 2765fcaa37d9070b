"""Run a short form of the tests on every supported Python, with the oldest and the newest Numba for each, and write the
table of docs/contribute/releases.md.

    python tests/matrix.py [interpreter ...]
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "contribute" / "releases.md"
BEGIN, END = "<!-- matrix -->\n", "<!-- end of matrix -->"
#: The first version of Numba for each version of Python.
OLDEST = {"3.11": "0.61", "3.12": "0.61", "3.13": "0.61", "3.14": "0.63"}
SHORT = (
    "tests/play/test_game.py", "tests/simulation/test_reference.py", "tests/live/agents/test_index.py",
    "tests/objectives/test_sortino.py",
)  # fmt: skip


def interpreters() -> list[str]:
    """Interpreters on the path or of pyenv, one per version that has a classifier."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    found = []
    for version in versions:
        candidates = [
            *sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python")),
            *map(Path, filter(None, [shutil.which(f"python{version}")])),
        ]
        found += [str(path) for path in candidates[:1]]
    return found


def row(interpreter: str, numba: str) -> str:
    """Install the package with a version of Numba in an environment of its own, run the tests, and report."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "venv" / "bin" / "python"
        environment = {**os.environ, "SHARPE_BANDITS_CACHE": str(Path(folder) / "kernels")}
        environment.pop("PYTHONPATH", None)
        outcome = "does not install"
        try:
            for command in (
                [interpreter, "-m", "venv", Path(folder) / "venv"],
                [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", f"numba{numba}", "-e", ".[live,serve]",
                 "pytest", "hypothesis"],
            ):  # fmt: skip
                subprocess.run(command, cwd=ROOT, check=True, env=environment)
            versions = subprocess.run(
                [python, "-c", "import platform, numba, numpy; print(platform.python_version(), numba.__version__, numpy.__version__)"],
                check=True, capture_output=True, text=True, env=environment,
            ).stdout.split()  # fmt: skip
            done = subprocess.run(
                [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *SHORT], cwd=ROOT, capture_output=True, text=True, env=environment,
            )  # fmt: skip
            outcome = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr[-200:]
        except subprocess.CalledProcessError:
            versions = [interpreter, numba, "?"]
    return "| " + " | ".join([*versions, re.sub(r" in .*", "", outcome)]) + " |"


def main() -> None:
    rows = ["| Python | Numba | NumPy | short tests |", "|---|---|---|---|"]
    for interpreter in sys.argv[1:] or interpreters():
        version = subprocess.run(
            [interpreter, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], check=True, capture_output=True, text=True
        ).stdout.strip()  # fmt: skip
        for numba in (f"=={OLDEST[version]}.*", ">=0"):
            rows.append(row(interpreter, numba))
            print(rows[-1], flush=True)
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(before + BEGIN + "\n".join(rows) + "\n" + END + after, "utf-8")


if __name__ == "__main__":
    main()
