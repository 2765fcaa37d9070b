"""Games of any length: the same choices past the end of the tables, little memory, and an interrupt is answered."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from scipy.special import chdtri

import sharpe_bandits as sb
from sharpe_bandits.arms.bandit import as_environment
from sharpe_bandits.engine.families import index
from sharpe_bandits.engine.spec import Spec, run_chunk
from sharpe_bandits.kernels import formulas
from sharpe_bandits.kernels.statistics import MAX_TABLE
from sharpe_bandits.policies import gra_ucb

BANDIT = sb.Bandit([sb.Uniform(0, 10), sb.Uniform(0, 9), sb.Uniform(0, 1.1), sb.Uniform(0.4, 9.6)])


def chunk_of(policy, kernel, horizon=5000):
    return run_chunk(Spec(policy, as_environment(BANDIT), horizon, 6, 5, (horizon,), kernel=kernel), 0, 6, trace=True)


@pytest.mark.parametrize("kernel", ["lazy", "side by side"])
@pytest.mark.parametrize("size", [64, 3000])
def test_the_same_choices_past_the_end_of_the_tables(kernel, size, monkeypatch):
    """Tables of 64 entries end in the midst of the first leads, tables of 3000 in that of long ones."""
    policy = sb.UCBRSSR(L=2.0)
    whole = chunk_of(policy, kernel)
    monkeypatch.setattr(index, "MAX_TABLE", size)
    cut = chunk_of(policy, kernel)
    assert whole.final.max() > 3000
    for field in ("choices", "rewards", "recommended", "reward_mean", "reward_variance"):
        np.testing.assert_array_equal(getattr(whole, field), getattr(cut, field))


@pytest.mark.parametrize("alpha", [1e-6, 0.05, 0.5, 0.99])
def test_chi_square_quantiles_past_the_end_of_their_table(alpha, monkeypatch):
    monkeypatch.setattr(gra_ucb, "long_game", formulas.yes)
    far = gra_ucb.expansion(alpha)
    for free in (MAX_TABLE, 2**24, 10**9):
        assert gra_ucb.quantile(float(free), np.ones(2), far) == pytest.approx(float(chdtri(free, alpha)), rel=1e-14)
    table = np.arange(10.0)
    assert [gra_ucb.quantile(s, table, far) for s in (3.0, 9.0)] == [3.0, 9.0]
    assert gra_ucb.quantile(10.0, table, far) == pytest.approx(float(chdtri(10, alpha)), rel=0.05)


def test_tables_do_not_grow_with_the_horizon():
    """Three tables of a million numbers are 25 MB; a table of all chi-square quantiles would be 8 GB."""
    tracemalloc.start()
    try:
        sb.GRAUCB().arguments(10**9)
        tables = index.tables_for(10**9)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert max(table.nbytes for table in tables) <= 8 * MAX_TABLE
    assert peak < 2e8


#: A game in an interpreter of its own, since libraries that other tests load may take over interrupts. It is played
#: for a short while first, so that what follows is not compiling; then it is interrupted, and says how long that took.
PROGRAM = """
import os, signal, sys, threading, time
import numpy as np
import sharpe_bandits as sb
from sharpe_bandits.engine.families import index

index.MAX_TABLE, index.LONG = 64, 1  # what is played first is short, and a long game by its kernel
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
    "side by side": "sb.simulate(sb.ScaleFreeIMED(L=1.0), EQUAL, horizon=n, runs=8)",
    "one by one": "sb.simulate(sb.ScaleFreeIMED(L=1.0), EQUAL, horizon=n, runs=2)",
    "a long pilot": "sb.simulate(sb.UCB1(pilot_fraction=0.99), EQUAL, horizon=n, runs=2)",
    "forgets": "sb.simulate(sb.DiscountedUCB(L=1.0), EQUAL, horizon=n, runs=2)",
    "phases": "sb.simulate(sb.SHSR(L=1.0), EQUAL, horizon=n, runs=2)",
    "phases, one by one": "sb.simulate(sb.SHSR(L=1.0), EQUAL, horizon=n, runs=2, source='philox')",
    "fixed confidence": "sb.identify(sb.LUCB(L=1.0), EQUAL, max_budget=n, runs=2)",
    "pregenerated": "sb.simulate(sb.UCB1(), [sb.AR1(0, 1, 0.5)] * 2, horizon=min(n, 10**8), runs=2)",
    "trace": "sb.trace(sb.UCBRSSR(L=1.0), EQUAL, horizon=min(n, 10**8))",
}


@pytest.mark.parametrize("name", LONG)
def test_an_interrupt_is_answered_and_what_follows_is_whole(name, monkeypatch):
    monkeypatch.setattr(index, "MAX_TABLE", 64)
    monkeypatch.setattr(index, "LONG", 1)
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


def test_a_trace_that_does_not_fit_into_memory_is_refused():
    with pytest.raises(sb.InvalidInputError, match=r"1000000000 rounds would take 11\.2 GiB; shorten the horizon"):
        sb.trace(sb.UCB1(), BANDIT, horizon=10**9)
