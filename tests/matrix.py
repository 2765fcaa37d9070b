"""Run a short form of the tests on every supported Python, with the oldest and the newest Numba for each, and write the
table of docs/contribute/releases.md. Rows of a Python that is not here stay as they were.

    python tests/matrix.py [interpreter ...]
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "contribute" / "releases.md"
BEGIN, END = "<!-- matrix -->\n", "<!-- end of matrix -->"
HEAD = "| Python | Numba | NumPy | short tests |\n|---|---|---|---|\n"
#: The first version of Numba that is declared and has wheels for each version of Python.
OLDEST = {"3.11": "0.61", "3.12": "0.61", "3.13": "0.61", "3.14": "0.63"}
#: Recorded digests, the plain-Python twin, fast kernels against the reference, agents, campaigns, returns, the command line.
PLAYED = "tests/test_digests.py::test_what_is_played_has_not_changed"
SHORT = (
    f"{PLAYED}[0-simulate-4]", f"{PLAYED}[1-agents-4]", f"{PLAYED}[0-identify-1]", "tests/policies/test_golden.py",
    "tests/simulation/test_reference.py", "tests/live/agents/test_index.py", "tests/live/campaigns/test_sqlite.py",
    "tests/returns/test_statistics.py", "tests/cli/test_program.py",
)  # fmt: skip


def interpreters() -> list[str]:
    """Interpreters of pyenv or on the path, one per supported version."""
    choices = []
    for version in OLDEST:
        paths = [*sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python")), shutil.which(f"python{version}")]
        choices += [str(path) for path in paths[:1] if path]
    return choices


def row(interpreter: str, numba: str) -> str:
    """Install the package with a version of Numba in an environment of its own, run the tests, and report."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "venv" / "bin" / "python"
        environment = {**os.environ, "SHARPE_BANDITS_CACHE": str(Path(folder) / "kernels")}
        environment.pop("PYTHONPATH", None)
        for command in (
            [interpreter, "-m", "venv", Path(folder) / "venv"],
            [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", f"numba{numba}", "-e", ".[report,data,live,serve]",
             "pytest", "pytest-xdist", "hypothesis"],
        ):  # fmt: skip
            subprocess.run(command, cwd=ROOT, check=True, env=environment)
        show = "import platform, numba, numpy; print(platform.python_version(), numba.__version__, numpy.__version__)"
        versions = subprocess.run(
            [python, "-c", show], check=True, capture_output=True, text=True, env=environment
        ).stdout.split()
        tests = [python, "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", "-p", "no:cacheprovider", *SHORT]
        done = subprocess.run(tests, cwd=ROOT, capture_output=True, text=True, env=environment)
    if done.returncode:
        print(done.stdout[-20_000:], done.stderr[-2_000:], file=sys.stderr)
    outcome = re.sub(r" in .*", "", done.stdout.strip().rpartition("\n")[2]) or f"ended with status {done.returncode}"
    return "| " + " | ".join([*versions, outcome]) + " |\n"


def rows_of(page: str) -> list[str]:
    """The rows of the table on the page."""
    table = page.partition(BEGIN)[2].partition(END)[0]
    return [line for line in table.splitlines(keepends=True) if re.match(r"\| \d", line)]


def tested_versions(page: str) -> set[str]:
    """The versions of Python (3.11, ...) all of whose rows passed."""
    outcomes: dict[str, bool] = {}
    for line in rows_of(page):
        version = re.findall(r"\d+\.\d+", line)[0]
        outcomes[version] = (
            outcomes.get(version, True) and " passed" in line and "failed" not in line and "error" not in line
        )
    return {version for version, passed in outcomes.items() if passed}


def main() -> None:
    for interpreter in sys.argv[1:] or interpreters():
        show = "import sys; print('%d.%d' % sys.version_info[:2])"
        version = subprocess.run([interpreter, "-c", show], check=True, capture_output=True, text=True).stdout.strip()
        rows = []
        for numba in (f"=={OLDEST[version]}.*", ">=0"):
            rows.append(row(interpreter, numba))
            print(rows[-1], end="", flush=True)
        page = PAGE.read_text("utf-8")
        others = [line for line in rows_of(page) if not line.startswith(f"| {version}.")]
        before, after = page.partition(BEGIN)[0], page.partition(END)[2]
        PAGE.write_text(before + BEGIN + HEAD + "".join(sorted(others + rows)) + END + after, "utf-8")
    if not set(OLDEST) <= tested_versions(PAGE.read_text("utf-8")):
        sys.exit(f"not all of Python {', '.join(OLDEST)} passed (or are here): see {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
