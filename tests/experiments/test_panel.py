"""Panels: run as simulate would run them, shared specs once; tidy tables against every choice of every run."""

import csv
import dataclasses
import io
import math
import time

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

import sharpe_bandits as sb
from sharpe_bandits._support.display import Table
from sharpe_bandits.experiments.description import cases
from sharpe_bandits.experiments.panel import Panel, run_panels
from sharpe_bandits.experiments.store import ChunkStore
from sharpe_bandits.simulation.executors import Threads, compute
from tests.synthetic import case

RUNS, SEED, HORIZON = 12, 5, 150
#: The columns that were asked for, and the case.
COLUMNS = [
    "panel", "profile", "case", "policy", "K", "L", "horizon", "t", "metric", "mean", "se", "low", "high", "runs",
]  # fmt: skip


DESCRIPTION = {
    "horizon": HORIZON,
    "sweep": {"L": [0.5, 5]},
    "arms": [{"kind": "Uniform", "low": [1.5, 1.6, 1.4], "high": [7.5, 7.8, 6.9]}],
    "objective": {"kind": "RSSR", "L": "L"},
    "policies": [{"kind": "UCBRSSR", "L": "L"}, {"kind": "UUCB", "epsilon0": "L"}],
}


def finished(metric="regret", checkpoints=6, **changes):
    panel = Panel("mine", "paper", "", "", "", metric, tuple(cases({**DESCRIPTION, **changes})), checkpoints)
    return run_panels([panel], RUNS, SEED, Threads(2), None)[0]


@pytest.fixture(scope="module")
def regret():
    found = finished()
    return found, found.rows()


def rssr_gaps(L):
    """Gaps by hand: mean (a + b) / 2 and variance (b - a)^2 / 12 of the three uniform arms."""
    values = [((a + b) / 2) ** 2 / (L + (b - a) ** 2 / 12) for a, b in ((1.5, 7.5), (1.6, 7.8), (1.4, 6.9))]
    return np.array([max(values) - v for v in values])


def pick(rows, **wanted):
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def test_columns_and_what_distinguishes_the_rows(regret):
    _, rows = regret
    assert all(list(row) == COLUMNS for row in rows)
    assert {(r["panel"], r["profile"], r["K"], r["horizon"], r["runs"]) for r in rows} == {
        ("mine", "paper", 3, HORIZON, RUNS)
    }
    assert {(r["case"], r["L"]) for r in rows} == {("L = 0.5", 0.5), ("L = 5", 5.0)}
    assert {r["policy"] for r in rows} == {"UCB-RSSR", "U-UCB"}
    keys = [(r["case"], r["policy"], r["metric"], r["t"]) for r in rows]
    assert len(set(keys)) == len(keys)
    assert {r["metric"] for r in rows} == {
        "regret", "sub-optimal plays", "runs locked in at 1%", "runs locked in at 10%", "runs locked in at 50%",
        "error", "simple regret", "achieved objective", "achieved Sharpe ratio",
    }  # fmt: skip


@pytest.mark.parametrize("L", [0.5, 5])
@pytest.mark.parametrize(
    "make", [lambda L: sb.UCBRSSR(L=L), lambda L: sb.policies.UUCB(epsilon0=L)], ids=["UCB-RSSR", "U-UCB"]
)
def test_curves_against_every_choice(regret, make, L):
    _, rows = regret
    policy = make(L)
    bandit = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8), sb.Uniform(1.4, 6.9)])
    choices = np.array([sb.trace(policy, bandit, horizon=HORIZON, seed=SEED, run=run).choices for run in range(RUNS)])
    gaps = rssr_gaps(L)
    half = stats.t.ppf(0.975, RUNS - 1)
    for metric, weights in (("regret", gaps), ("sub-optimal plays", (gaps > 0).astype(float))):
        curve = pick(rows, case=f"L = {L:g}", policy=policy.name, metric=metric)
        assert [r["t"] for r in curve] == [1, 3, 7, 20, 55, 150]  # 150^(k/5), rounded
        for row in curve:
            totals = weights[choices[:, : row["t"]]].sum(axis=1)
            se = totals.std(ddof=1) / math.sqrt(RUNS)
            assert row["mean"] == pytest.approx(totals.mean(), abs=1e-9)
            assert row["se"] == pytest.approx(se, abs=1e-9)
            assert (row["low"], row["high"]) == pytest.approx(
                (totals.mean() - half * se, totals.mean() + half * se), abs=1e-9
            )


def test_numbers_at_the_horizon_against_every_choice(regret):
    _, rows = regret
    L = 0.5
    gaps = rssr_gaps(L)
    bandit = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8), sb.Uniform(1.4, 6.9)])
    traces = [sb.trace(sb.UCBRSSR(L=L), bandit, horizon=HORIZON, seed=SEED, run=run) for run in range(RUNS)]

    def number(metric):
        (row,) = pick(rows, case="L = 0.5", policy="UCB-RSSR", metric=metric)
        assert row["t"] == HORIZON
        return row

    recommended = gaps[[t.recommended for t in traces]]
    late = np.array([np.mean(gaps[t.choices[HORIZON // 2 :]] == 0) for t in traces])  # share of the best arm
    locked = [(f"runs locked in at {share:.0%}", (late < share).sum()) for share in (0.01, 0.1, 0.5)]
    assert 0 < locked[1][1] < RUNS
    for metric, count in (("error", (recommended > 0).sum()), *locked):
        interval = stats.binomtest(int(count), RUNS).proportion_ci(0.95, method="wilson")
        row = number(metric)
        assert row["mean"] == count / RUNS
        assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high), abs=1e-12)
    assert number("simple regret")["mean"] == pytest.approx(recommended.mean(), rel=1e-12)
    rewards = np.array([t.rewards for t in traces])
    mean, variance = rewards.mean(axis=1), rewards.var(axis=1, ddof=1)
    achieved = mean**2 / (L + variance)
    assert number("achieved objective")["mean"] == pytest.approx(achieved.mean(), rel=1e-9)
    assert number("achieved objective")["se"] == pytest.approx(achieved.std(ddof=1) / math.sqrt(RUNS), rel=1e-9)
    sharpe = mean / (L + np.sqrt(variance))
    assert number("achieved Sharpe ratio")["mean"] == pytest.approx(sharpe.mean(), rel=1e-9)


def test_identification_has_no_curves_and_panels_without_l_have_none():
    rows = finished(
        "error",
        checkpoints=1,
        sweep={"K": [2, 3]},
        arms=[{"kind": "Uniform", "repeat": "K", "random": True, "low": 0, "high": "u1"}],
        objective={"kind": "Variance"},
        policies=[{"kind": "SHVV"}],
    ).rows()
    assert {r["metric"] for r in rows} == {"error", "simple regret", "achieved objective"}
    assert {(r["case"], r["K"], r["t"]) for r in rows} == {("K = 2", 2, HORIZON), ("K = 3", 3, HORIZON)}
    assert all(math.isnan(r["L"]) for r in rows)


def test_arms_drawn_anew_are_judged_by_the_arms_of_their_run():
    found = finished(
        "error",
        checkpoints=1,
        sweep={"K": [4]},
        arms=[{"kind": "Uniform", "repeat": "K", "random": True, "low": "u1 * u2", "high": "u1"}],
        objective={"kind": "RSSR", "L": 0.1},
        policies=[{"kind": "SHSR", "L": 0.1}],
    )
    (row,) = pick(found.rows(), metric="error")
    wrong = 0
    for run, recommended in enumerate(found.studies[0]["SHSR"].recommended.ravel()):
        arms = found.panel.cases[0].environment.arms_of(SEED, run)
        value = ((arms.low + arms.high) / 2) ** 2 / (0.1 + (arms.high - arms.low) ** 2 / 12)
        wrong += int(value.argmax() != recommended)
    assert 0 < wrong < RUNS
    assert row["mean"] == wrong / RUNS


def test_csv_and_parquet_hold_the_same_table(regret):
    _, rows = regret
    text = list(csv.DictReader(io.StringIO(Table.of(rows).to_csv().decode())))
    table = pq.read_table(io.BytesIO(Table.of(rows).to_parquet()))
    assert list(text[0]) == table.column_names == COLUMNS
    assert table.to_pylist() == rows
    assert len(text) == len(rows)
    for written, row in zip(text, rows, strict=True):
        assert {key: type(row[key])(value) for key, value in written.items()} == row


def test_not_a_number_survives_in_both():
    row = dict(
        zip(COLUMNS, ["V1", "paper", "", "SHVV", 2, math.nan, 9, 9, "error", 0.5, 0.1, 0.4, 0.6, 3], strict=True)
    )
    (written,) = csv.DictReader(io.StringIO(Table.of([row]).to_csv().decode()))
    assert math.isnan(float(written["L"]))
    assert math.isnan(pq.read_table(io.BytesIO(Table.of([row]).to_parquet()))["L"][0].as_py())


def test_the_regulariser_of_the_objective_is_told():
    """A file that writes L = 0.5 in its objective, and names no variable L."""
    assert case([sb.UCBRSSR(L=0.5)], {}, objective=sb.RSSR(L=0.5)).L == 0.5
    assert case([sb.policies.UCB1()], {}).L is None
    assert case([sb.policies.UCB1()], {"L": 2}).L == 2.0


# --- how they are run -------------------------------------------------------------------------------------------------

FIELDS = ("checkpoints", "pulls", "final", "recommended", "reward_mean", "reward_variance")


def panel(id, **changes):
    return Panel(id, "", id, "", "", "regret", tuple(cases({**DESCRIPTION, "horizon": 300, **changes})), 7)


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
    for one, outcomes in zip(mine.cases, finished.studies, strict=True):
        study = sb.simulate(one.policies, one.environment, horizon=300, runs=20, seed=9, checkpoints=7)
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
    with pytest.raises(sb.errors.BudgetTooSmallError, match="at least 600"):
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
