"""What must work where the package is installed without extras: ``make bare`` runs it in an environment of its own."""

import argparse
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import sharpe_bandits as sb
from sharpe_bandits.cli.commands import cluster

BANDIT = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)])
OBJECTIVE = sb.RSSR(L=0.5)
OPTIONAL = (
    "matplotlib",
    "jinja2",
    "arch",
    "pandas",
    "polars",
    "pytest",
    "psycopg",
    "dask",
    "distributed",
)


def missing(call, *words):
    """The call fails, as an import error and an error of this library, and says what to install."""
    raised = None
    try:
        call()
    except ImportError as error:
        raised = error
    assert isinstance(raised, sb.SharpeBanditsError), raised
    assert all(word in str(raised) for word in (*words, "pip install")), raised


def main():
    """Everything that needs no extra, and what the rest says."""
    assert not [name for name in OPTIONAL if find_spec(name)], "this environment has extras"
    study = sb.simulate([sb.UCBRSSR(L=0.5), sb.policies.UUCB(epsilon0=0.5)], BANDIT, horizon=500, runs=20, seed=1)
    assert 0 < study["UCB-RSSR"].regret(OBJECTIVE).final.mean < 500
    str(study.summary(OBJECTIVE))
    study.table(OBJECTIVE).to_arrow()
    agent = sb.SHSR(L=0.02).agent(arms=4, horizon=200)
    agent.tell(agent.ask(), 0.5)
    assert sb.Agent.from_json(agent.to_json()).ask() == agent.ask()
    missing(lambda: sb.Store("postgresql://localhost/x"), "psycopg", "live")
    assert "http://127.0.0.1:8000" in repr(sb.connect("http://127.0.0.1:8000", token="t" * 40))  # the client needs none
    pages = Path(__file__).parents[1] / "src/sharpe_bandits/service"
    shipped = Path(sb.__file__).parent / "service"
    for file in (file for folder in ("static", "templates") for file in (pages / folder).iterdir()):
        assert (shipped / file.relative_to(pages)).read_bytes() == file.read_bytes(), file
    with tempfile.TemporaryDirectory() as folder:
        study.save(folder)
        assert sb.load(folder).names == study.names
        table = Path(folder) / "returns.csv"
        rows = "\n".join(f"2020-01-{day:02},{0.01 * (day % 3 - 1)},{0.01 * (day % 5 - 2)}" for day in range(1, 29))
        table.write_text(f"date,a,b\n{rows}\n")
        returns = sb.read_returns(table, kind="returns", periods_per_year=365)
        missing(lambda: study.report(Path(folder) / "report", OBJECTIVE), "matplotlib")
        missing(lambda: sb.rank(returns), "arch")
    missing(lambda: study.plot(OBJECTIVE), "matplotlib")
    missing(lambda: study.table(OBJECTIVE).to_pandas(), "pandas")
    missing(lambda: study.table(OBJECTIVE).to_polars(), "polars")
    script = Path(sys.executable).with_name("sharpe-bandits")
    listed = subprocess.run([script, "policies"], capture_output=True, text=True, check=True).stdout
    assert "UCB-RSSR" in listed
    missing(cluster.workers(argparse.Namespace(workers=None, dask="local")).__enter__, "distributed", "[dask]")
    print("without extras: all is well")


if __name__ == "__main__":
    main()
