"""Ctrl-C while the program starts: one line and status 130, wherever in the imports it comes."""

import os
import signal
import subprocess
import sys
import time

import pytest

#: Sends SIGINT to its own process when so many modules have been asked for since the handler was put in place.
IMPORTS_UNTIL_INTERRUPT = """
import os, signal, sys
class Interrupter:
    left = int(os.environ["IMPORTS_UNTIL_INTERRUPT"])
    def find_spec(self, name, path=None, target=None):
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            Interrupter.left -= 1
            if Interrupter.left == 0:
                os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupter())
"""
#: Tells the parent that the handler is in place: then delays are counted from there, not from a start of Python that
#: takes its time and has no handler but Python's own.
READY = """
import signal, sys
class Ready:
    def find_spec(self, name, path=None, target=None):
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler and self in sys.meta_path:
            sys.meta_path.remove(self)
            print("ready", flush=True)
sys.meta_path.insert(0, Ready())
"""


def started(tmp_path, site, **environment):
    (tmp_path / "sitecustomize.py").write_text(site)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    return subprocess.Popen(
        [sys.executable, "-m", "sharpe_bandits", "policies"],
        env={**os.environ, "PYTHONPATH": path, **environment},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("number", [1, 2, 5, 10, 20, 40, 60, 80, 100, 120, 140, 160])
def test_an_interrupt_at_any_import_is_one_line(number, tmp_path):
    process = started(tmp_path, IMPORTS_UNTIL_INTERRUPT, IMPORTS_UNTIL_INTERRUPT=str(number))
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.strip().splitlines() == ["sharpe-bandits: interrupted; nothing was written"]


@pytest.mark.parametrize("hundredths", range(0, 60, 3))
def test_an_interrupt_at_any_time_is_one_line(hundredths, tmp_path):
    process = started(tmp_path, READY)
    assert process.stdout.readline() == "ready\n"
    time.sleep(hundredths / 100)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    if process.returncode != 0:  # it may be finished by then
        assert process.returncode == 130
        assert errors.strip().splitlines() == ["sharpe-bandits: interrupted; nothing was written"]


def test_a_parent_that_ignores_interrupts_is_respected(tmp_path):
    quiet = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    process = started(tmp_path, quiet + IMPORTS_UNTIL_INTERRUPT, IMPORTS_UNTIL_INTERRUPT="50")
    assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == 0


def test_other_programs_keep_their_interrupts(tmp_path):
    code = "import signal, sharpe_bandits; assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, check=True
    )
