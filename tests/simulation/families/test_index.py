"""Index policies: which kernel plays them, and tables that do not grow with the horizon."""

import tracemalloc

import pytest

import sharpe_bandits as sb
from sharpe_bandits.simulation.families import index
from sharpe_bandits.simulation.spec import prepare, run_chunk
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


def test_tables_do_not_grow_with_the_horizon():
    """A table of all chi-square quantiles would be 8 GB."""
    tracemalloc.start()
    try:
        sb.policies.GRAUCB().arguments(10**9)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2e8
