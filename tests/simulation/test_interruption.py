"""An interrupt is answered by every kernel, and what follows is whole."""

import subprocess
import sys

import pytest

import sharpe_bandits as sb
from sharpe_bandits.simulation.families import index

#: A game in an interpreter of its own, since libraries that other tests load may take over interrupts. It is played
#: for a short while first, so that what follows is not compiling; then it is interrupted, and says how long that took.
PROGRAM = """
import os, signal, sys, threading, time
import numpy as np
import sharpe_bandits as sb
from sharpe_bandits.simulation.families import index

index.MAX_TABLE, index.MIN_ROUNDS_TIMES_ARMS = 64, 1  # what is played first is short, and a long game by its kernel
EQUAL = [sb.Uniform(0, 1)] * 3
def play(n):
    return {game}
signal.signal(signal.SIGINT, signal.default_int_handler)
asked = []
def interrupt():
    asked.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

first = play(5000)
threading.Timer(0.5, interrupt).start()
try:
    play(10**9)
except KeyboardInterrupt:
    print(time.monotonic() - asked[0])
again = play(5000)
if hasattr(first, "values"):
    for one, other in zip(first.values(), again.values(), strict=True):
        np.testing.assert_array_equal(one.final, other.final)
"""
LONG = {
    "lazy": "sb.simulate(sb.UCBRSSR(L=1.0), EQUAL, horizon=n, runs=2)",
    "side by side": "sb.simulate(sb.ScaleFreeTS(L=1.0), EQUAL, horizon=n, runs=8)",
    "reference": "sb.simulate(sb.ScaleFreeTS(L=1.0), EQUAL, horizon=n, runs=2)",
    "a long pilot": "sb.simulate(sb.policies.UCB1(pilot_fraction=0.99), EQUAL, horizon=n, runs=2)",
    "forgets": "sb.simulate(sb.policies.DiscountedUCB(L=1.0), EQUAL, horizon=n, runs=2)",
    "phases": "sb.simulate(sb.SHSR(L=1.0), EQUAL, horizon=n, runs=2)",
    "phases, one by one": "sb.simulate(sb.SHSR(L=1.0), EQUAL, horizon=n, runs=2, source='philox')",
    "fixed confidence": "sb.identify(sb.policies.LUCB(L=1.0), EQUAL, max_budget=n, runs=2)",
    "pregenerated": "sb.simulate(sb.policies.UCB1(), [sb.arms.AR1(0, 1, 0.5)] * 2, horizon=min(n, 10**8), runs=2)",
    "trace": "sb.trace(sb.UCBRSSR(L=1.0), EQUAL, horizon=min(n, 10**8))",
}


@pytest.mark.parametrize("name", LONG)
def test_an_interrupt_is_answered_and_what_follows_is_whole(name, monkeypatch):
    monkeypatch.setattr(index, "MAX_TABLE", 64)
    monkeypatch.setattr(index, "MIN_ROUNDS_TIMES_ARMS", 1)
    # Compiled here, for the process to find: a new one would have to load the compiler first.
    eval(LONG[name], {"sb": sb, "EQUAL": [sb.Uniform(0, 1)] * 3, "n": 5000})
    # A second on a quiet machine; the margin is for a busy one. Without an answer the whole game is played.
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(game=LONG[name])],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 10.0
