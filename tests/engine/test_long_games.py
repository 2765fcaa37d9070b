"""Games of any length: the same choices past the end of the tables, little memory, and an interrupt is answered."""

import os
import signal
import threading
import time
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


def interrupted_after(seconds, play):
    """Seconds from an interrupt, so long after the start, until it is raised."""
    asked = []

    def interrupt():
        asked.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(seconds, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            play()
        return time.monotonic() - asked[0]
    finally:
        timer.cancel()


EQUAL = [sb.Uniform(0, 1)] * 3
LONG = {
    "lazy": lambda n: sb.simulate(sb.UCBRSSR(L=1.0), EQUAL, horizon=n, runs=2),
    "side by side": lambda n: sb.simulate(sb.ScaleFreeUCB(L=1.0), EQUAL, horizon=n, runs=2),
    "a long pilot": lambda n: sb.simulate(sb.UCB1(pilot_fraction=0.99), EQUAL, horizon=n, runs=2),
    "forgets": lambda n: sb.simulate(sb.DiscountedUCB(L=1.0), EQUAL, horizon=n, runs=2),
    "phases": lambda n: sb.simulate(sb.SHSR(L=1.0), EQUAL, horizon=n, runs=2),
    "phases, one by one": lambda n: sb.simulate(sb.SHSR(L=1.0), EQUAL, horizon=n, runs=2, source="philox"),
    "fixed confidence": lambda n: sb.identify(sb.LUCB(L=1.0), EQUAL, max_budget=n, runs=2),
    "pregenerated": lambda n: sb.simulate(sb.UCB1(), [sb.AR1(0, 1, 0.5)] * 2, horizon=min(n, 10**8), runs=2),
    "trace": lambda n: sb.trace(sb.UCBRSSR(L=1.0), EQUAL, horizon=min(n, 10**8)),
}


@pytest.mark.parametrize("name", LONG)
def test_an_interrupt_is_answered_within_a_second(name):
    LONG[name](MAX_TABLE if name in ("lazy", "side by side", "a long pilot", "trace") else 5000)  # compiled now
    # A second on a quiet machine; the margin is for a busy one. Without an answer the whole game is played.
    assert interrupted_after(0.5, lambda: LONG[name](10**9)) < 10.0


def test_a_simulation_after_an_interrupt_is_whole():
    policy = sb.SHSR(L=1.0)
    before = sb.simulate(policy, BANDIT, horizon=5000, runs=20, seed=1)[policy.name]
    interrupted_after(0.3, lambda: LONG["phases"](10**9))
    after = sb.simulate(policy, BANDIT, horizon=5000, runs=20, seed=1)[policy.name]
    np.testing.assert_array_equal(before.pulls, after.pulls)


def test_a_trace_that_does_not_fit_into_memory_is_refused():
    with pytest.raises(sb.InvalidInputError, match=r"1000000000 rounds would take 11\.2 GiB; shorten the horizon"):
        sb.trace(sb.UCB1(), EQUAL, horizon=10**9)
