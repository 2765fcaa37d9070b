"""Tries a built wheel as users have it: ``make dist`` runs it with the folder of the wheel.

An empty environment without extras runs ``tests/bare_install.py``; one per extra runs the quick start and what
that extra is for. Each is a program of a few lines, run outside the sources.
"""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

QUICK_START = """
import sharpe_bandits as sb
bandit = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)])
study = sb.simulate([sb.UCBRSSR(L=0.5), sb.policies.UUCB(epsilon0=0.5)], bandit, horizon=1_000, runs=100, seed=1)
assert str(study["UCB-RSSR"].regret(sb.RSSR(L=0.5)).final) == "89.0 ± 6.8 [75.5, 102.4]"
"""
RETURNS = """
import numpy as np
rng = np.random.default_rng(1)
returns = {"A": rng.normal(0.001, 0.01, 300), "B": rng.normal(0, 0.01, 300)}
"""
SERVE = """
import subprocess, sys, urllib.request
command = [sys.executable, "-m", "sharpe_bandits", "serve", "c.db", "--port", "0"]
with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
    url = server.stdout.readline().split()[1]
    for path in ("sign-in", "static/dashboard.js", "static/charts.js", "static/dashboard.css", "static/icon.svg"):
        assert urllib.request.urlopen(f"{url}/{path}").status == 200
    server.terminate()
"""
EXTRAS = {
    "report": 'study.plot(sb.RSSR(L=0.5)); study.report("page", sb.RSSR(L=0.5))',
    "data": f'{RETURNS}\nsb.rank(returns, kind="returns", periods_per_year=252, replications=100)',
    "live": 'c = sb.Store("c.db").campaign("a", policy=sb.ScaleFreeUCB(L=1e-5), arms=2); c.tell(c.ask(), 0.01)',
    "serve": SERVE,
    "dask": "import distributed; from sharpe_bandits.cli.commands import cluster",
    "examples": "import skfolio.datasets",
}


def environment(folder: Path, wheel: str) -> Path:
    """The Python of a fresh environment with the wheel in it."""
    venv.create(folder, with_pip=True, clear=True)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, wheel], check=True)
    return python


def main() -> None:
    """All of them, or the extras named after the folder."""
    wheels = list(Path(sys.argv[1]).resolve().glob("*.whl"))
    assert len(wheels) == 1, f"one wheel is expected in {sys.argv[1]}, found {len(wheels)}"
    chosen = sys.argv[2:] or ["", *EXTRAS]
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch)
        for extra in chosen:
            python = environment(here / "env", f"{wheels[0]}[{extra}]" if extra else str(wheels[0]))
            if not extra:
                program = Path(__file__).with_name("bare_install.py").resolve()
                subprocess.run([python, program], check=True, cwd=here)
            subprocess.run([python, "-c", QUICK_START + EXTRAS.get(extra, "")], check=True, cwd=here)
            print(f"{wheels[0].name}{f' with [{extra}]' if extra else ' without extras'}: all is well", flush=True)


if __name__ == "__main__":
    main()
