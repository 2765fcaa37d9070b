"""Progress: a bar on a terminal, lines elsewhere."""

import io
import re

import sharpe_bandits as sb
from sharpe_bandits.simulation import progress
from sharpe_bandits.simulation.api import run_specs
from sharpe_bandits.simulation.executors import Threads
from sharpe_bandits.simulation.spec import Spec


class Stream(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.isatty = lambda: terminal


def output(terminal):
    stream = Stream(terminal)
    spec = Spec(sb.UCBRSSR(L=0.5), sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0, 2)]), 300, 40, 1, (300,))
    run_specs([spec], Threads(1), 10, stream=stream)
    return stream.getvalue()


def test_lines(monkeypatch):
    monkeypatch.setattr(progress, "SILENCE", -1.0)
    lines = output(terminal=False).splitlines()
    assert [line.split(", ")[0] for line in lines] == [f"simulating: {share}%" for share in (25, 50, 75, 100)]
    assert re.fullmatch(r"simulating: 100%, 4 of 4 chunks, 1 thread, \d+ s", lines[-1])


def test_a_bar_with_the_time_left(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    text = output(terminal=True)
    assert "simulating" in text
    assert "left; 4 of 4 chunks, 1 thread" in text
