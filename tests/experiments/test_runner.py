"""Panels are run as simulate would run them, shared specs once."""

import dataclasses
import time

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.experiments.description import cases
from sharpe_bandits.experiments.panel import Panel, run_panels
from sharpe_bandits.experiments.store import ChunkStore
from sharpe_bandits.simulation.executors import Threads, compute

FIELDS = ("checkpoints", "pulls", "final", "recommended", "reward_mean", "reward_variance")


def panel(id, checkpoints=7, **changes):
    description = {
        "horizon": 300,
        "sweep": {"L": [0.5, 5]},
        "arms": [{"kind": "Uniform", "low": [1.5, 1.6], "high": [7.5, 7.8]}],
        "objective": {"kind": "RSSR", "L": "L"},
        "policies": [{"kind": "UCBRSSR", "L": "L"}, {"kind": "UUCB", "epsilon0": "L"}],
        **changes,
    }
    return Panel(id, "", id, "", "", "regret", tuple(cases(description)), checkpoints)


def run(panels, runs, workers, store):
    return run_panels(panels, runs, 9, Threads(workers), store)


class Counting(ChunkStore):
    """A store that keeps nothing and counts what it is asked for."""

    def __init__(self):
        self.asked = []

    def compute(self, task):
        self.asked.append((task.spec.policy.name, task.spec.policy.objective, task.first))
        return compute(task)


def same(a, b):
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field))


@pytest.mark.parametrize("workers", [1, 2])
def test_results_are_those_of_simulate(workers):
    mine = panel("mine")
    (finished,) = run((mine,), 20, workers, None)
    assert finished.panel is mine
    assert len(finished.studies) == 2
    for case, outcomes in zip(mine.cases, finished.studies, strict=True):
        study = sb.simulate(case.policies, case.environment, horizon=300, runs=20, seed=9, checkpoints=7)
        assert list(outcomes) == ["UCB-RSSR", "U-UCB"]
        for name, outcome in outcomes.items():
            same(outcome, study[name])


def test_results_are_the_same_from_the_store_and_after_it_lost_a_chunk(tmp_path):
    mine = panel("mine")
    (plain,) = run((mine,), 40, 2, None)
    (first,) = run((mine,), 40, 2, ChunkStore(tmp_path))
    chunks = sorted(p for p in tmp_path.rglob("*.chunk"))
    assert len(chunks) > 4
    for path in chunks[::2]:
        path.unlink()
    (second,) = run((mine,), 40, 1, ChunkStore(tmp_path))
    assert sorted(p for p in tmp_path.rglob("*.chunk")) == chunks
    for other in (first, second):
        for a, b in zip(plain.studies, other.studies, strict=True):
            for name in a:
                same(a[name], b[name])


def test_works_that_panels_share_are_simulated_once():
    alone, both = Counting(), Counting()
    one = panel("one")
    (expected,) = run((one,), 20, 1, alone)
    more = panel("two", sweep={"L": [5, 0.5, 1]})
    finished = run((one, more), 20, 1, both)
    # the third case of "two" is new, the other two are those of "one"
    assert len(both.asked) == len(set(both.asked)) == len(alone.asked) * 3 // 2
    for name in ("UCB-RSSR", "U-UCB"):
        same(finished[0].studies[0][name], expected.studies[0][name])
        same(finished[1].studies[1][name], expected.studies[0][name])
        same(finished[1].studies[0][name], expected.studies[1][name])


def test_a_budget_that_does_not_suffice_is_said_before_any_run():
    mine = panel("mine")
    short = dataclasses.replace(
        mine, cases=(mine.cases[0], dataclasses.replace(mine.cases[1], policies=(sb.UCBRSSR(1, pilot_pulls=200),)))
    )
    counted = Counting()
    with pytest.raises(sb.errors.BudgetTooSmallError, match="at least 400"):
        run((short,), 20, 1, counted)
    assert counted.asked == []


def test_an_error_in_a_chunk_stops_the_rest():
    class Failing(Counting):
        def compute(self, task):
            super().compute(task)
            time.sleep(0.05)  # the others are told meanwhile
            raise OSError("disk on fire")

    failing = Failing()
    with pytest.raises(OSError, match="disk on fire"):
        run((panel("one", sweep={"L": [0.1 * k for k in range(1, 30)]}),), 20, 1, failing)
    assert len(failing.asked) < 20
