"""``python -m torture``: what campaigns must bear, and figures for it. ``--quick`` is the form that the tests run."""

from __future__ import annotations

import argparse
import os
import platform
import secrets
import sqlite3
import sys
import tempfile
from pathlib import Path

from .kills import kill_clients, kill_server
from .load import million, side_by_side, under_load
from .postgres import NoPostgresError, Server


def main() -> int:
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a minute instead of many")
    options = parser.parse_args()
    quick = options.quick
    print(
        f"{platform.python_version()}, SQLite {sqlite3.sqlite_version}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f}"
    )
    failures: list[str] = []
    with tempfile.TemporaryDirectory(prefix="torture-", dir=os.environ.get("TORTURE_FOLDER")) as folder:
        targets = {"SQLite": str(Path(folder) / "load.db")}
        server = None
        try:
            server = Server()
            targets["PostgreSQL"] = server.url
        except NoPostgresError as error:
            print(f"no PostgreSQL: {error}")
        for name, target in targets.items():
            failures += side_by_side(name, target, rounds=20 if quick else 400)
            failures += under_load(name, target, processes=3 if quick else 8, each=20 if quick else 500)
        failures += kill_clients("SQLite", str(Path(folder) / "kills.db"), kills=3 if quick else 200)
        if server is not None and server.process is not None:
            failures += kill_clients("PostgreSQL", server.url, kills=2 if quick else 200)
            failures += kill_server(server, kills=1 if quick else 20)
        failures += million(str(Path(folder) / f"million-{secrets.token_hex(2)}.db"), 3_000 if quick else 1_000_000)
        if server is not None:
            server.stop()
    for failure in failures:
        print(f"FAILED: {failure}")
    print("all is well" if not failures else f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
