"""Index policies: which kernel plays them, and tables that do not grow with the horizon."""

import tracemalloc

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.arms.bandit import as_environment
from sharpe_bandits.play.statistics import MAX_TABLE
from sharpe_bandits.simulation.families import index
from sharpe_bandits.simulation.spec import Spec, prepare, run_chunk
from tests.simulation.games import BANDITS, spec


@pytest.fixture
def played(monkeypatch, tmp_path):
    """The kernels that play, in turn; none is compiled yet, and nothing was played."""
    kernels = []
    original = index._play
    monkeypatch.setattr(index, "_play", lambda spec, *rest: kernels.append(rest[1]) or original(spec, *rest))
    monkeypatch.setattr(index, "is_ready", lambda kernel: False)
    monkeypatch.setattr(index, "_requested", {})
    return kernels


def test_few_runs_are_played_one_after_the_other(played, monkeypatch):
    monkeypatch.setattr(index, "MIN_ROUNDS_TO_COMPILE", 1)
    one = spec(sb.policies.ModifiedMVTS(L=0.5), BANDITS["equal"], "auto", runs=4, horizon=300)
    run_chunk(one, range(3))
    run_chunk(one, range(4))
    assert played == [one.kernels.reference, one.kernels.side_by_side]


def test_a_faster_kernel_is_compiled_once_it_pays(played, monkeypatch):
    monkeypatch.setattr(index, "MIN_ROUNDS_TO_COMPILE", 2 * 20 * 400)  # runs times rounds of both
    specs = [spec(sb.UCBRSSR(L=0.75), BANDITS["equal"], "auto", runs=20, horizon=400) for _ in range(2)]
    for one in specs:
        prepare(one)
        run_chunk(one, range(20))
    assert played == [specs[0].kernels.reference, specs[1].kernels.side_by_side]


BANDIT = sb.Bandit([sb.Uniform(0, 10), sb.Uniform(0, 9), sb.Uniform(0, 1.1), sb.Uniform(0.4, 9.6)])


def chunk_of(policy, kernel, horizon=5000):
    return run_chunk(
        Spec(policy, as_environment(BANDIT), horizon, 6, 5, (horizon,), kernel=kernel), range(6), trace=True
    )


@pytest.mark.parametrize("size", [64, 3000])
def test_the_same_choices_past_the_end_of_the_tables(size, monkeypatch):
    kernel = "side by side"
    policy = sb.UCBRSSR(L=2.0)
    whole = chunk_of(policy, kernel)
    monkeypatch.setattr(index, "MAX_TABLE", size)
    cut = chunk_of(policy, kernel)
    assert whole.final.max() > 3000
    for field in ("choices", "rewards", "recommended", "reward_mean", "reward_variance"):
        np.testing.assert_array_equal(getattr(whole, field), getattr(cut, field))


def test_tables_do_not_grow_with_the_horizon():
    """Three tables of a million numbers are 25 MB; a table of all chi-square quantiles would be 8 GB."""
    tracemalloc.start()
    try:
        sb.policies.GRAUCB().arguments(10**9)
        tables = index.tables_for(10**9)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert max(table.nbytes for table in tables) <= 8 * MAX_TABLE
    assert peak < 2e8
