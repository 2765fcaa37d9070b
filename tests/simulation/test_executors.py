"""Threads, processes and a Dask cluster give the same bits, whatever dies on the way; and what cannot go on is said."""

import dataclasses
import hashlib
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from types import SimpleNamespace

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.arms.bandit import as_environment
from sharpe_bandits.simulation import executors, machines
from sharpe_bandits.simulation.api import tasks_of
from sharpe_bandits.simulation.executors import Reply, Task, backend_for, compute
from sharpe_bandits.simulation.spec import Chunk, Spec

distributed = pytest.importorskip("distributed")

BANDIT = sb.Bandit([sb.Uniform(1.5, 7.5), sb.arms.Gamma(2, 1), sb.Uniform(0, 6)])
POLICIES = [sb.UCBRSSR(L=2.0), sb.policies.MVTS(), sb.SHSR(L=2.0)]
SPAWN = multiprocessing.get_context("spawn")


def digest(study):
    """A digest of all that a study holds."""
    found = hashlib.sha256()
    for result in study.values():
        for field in ("pulls", "final", "recommended", "reward_mean", "reward_variance", "stopped"):
            found.update(np.ascontiguousarray(getattr(result, field)).tobytes())
    return found.hexdigest()


def study(bandit=BANDIT, policies=POLICIES, chunk=4, runs=60, **how):
    return sb.simulate(policies, bandit, horizon=200, runs=runs, seed=5, chunk=chunk, progress=False, **how)


@pytest.fixture(scope="module")
def by_threads():
    return digest(study())


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and two worker processes on loopback."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
    ) as started:
        yield started


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as connected:
        connected.wait_for_workers(2, timeout=60)
        yield connected


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(2, SPAWN) as started:
        yield started


# --- the same bits ----------------------------------------------------------------------------------------------------


def test_processes_give_the_same_bits(pool, by_threads):
    found = study(executor=pool)
    assert digest(found) == by_threads
    assert found.settings["machines"] == [machines.machine()]
    assert digest(study(executor=pool, chunk=7)) == by_threads


def test_a_dask_cluster_gives_the_same_bits(client, by_threads):
    assert digest(study(executor=client)) == by_threads
    assert digest(study(executor=client.get_executor(), chunk=13)) == by_threads


def test_any_executor_will_do(by_threads):
    with ThreadPoolExecutor(3) as threads:
        assert digest(study(executor=threads)) == by_threads
        assert digest(study(executor=lambda: threads)) == by_threads


def test_identification_and_plans_take_executors_too():
    with ThreadPoolExecutor(2) as threads:
        policy, arms = sb.policies.LUCB(L=1.0), [sb.Uniform(0, 1), sb.Uniform(0, 9)]
        one, other = (sb.identify(policy, arms, runs=20, **how) for how in ({}, {"executor": threads}))
        assert digest(one) == digest(other)
        problem = sb.BestArmProblem.from_gap(3, 3.0, 2.5)
        how = {"budget": 300, "runs": 200, "policies": sb.SHSR(L=1e-6), "progress": False}
        assert sb.plan(problem, **how).points == sb.plan(problem, executor=threads, **how).points


def twins():
    """Two policies of one name that are not the same."""

    def greedy():
        @sb.index_policy(name="twin")
        def index(arm, t):
            return arm.mean

        return index()

    def cautious():
        @sb.index_policy(name="twin")
        def index(arm, t):
            return -arm.variance

        return index()

    return greedy(), cautious()


def test_policies_of_one_name_are_never_mixed_up(client):
    expected = [digest(study(policies=policy)) for policy in twins()]
    assert expected[0] != expected[1]
    for _ in range(2):
        assert [digest(study(policies=policy, executor=client)) for policy in twins()] == expected


def test_a_policy_of_a_script_travels(tmp_path):
    script = tmp_path / "mine.py"
    script.write_text(
        """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
import sharpe_bandits as sb

LEAST = 0.5

def spread(arm):
    return LEAST + arm.variance

@sb.index_policy
def mine(arm, t):
    return arm.mean / spread(arm)

if __name__ == "__main__":
    how = dict(horizon=100, runs=20, chunk=4)
    bandit = [sb.Uniform(0, 1), sb.Uniform(0, 2)]
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        there = sb.simulate(mine(), bandit, executor=pool, **how)["mine"]
    here = sb.simulate(mine(), bandit, **how)["mine"]
    print((there.final == here.final).all() and (there.reward_mean == here.reward_mean).all())
"""
    )
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, str(script)], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.stdout == "True\n", done.stderr


class Recording(ThreadPoolExecutor):
    """Remembers what was sent."""

    def submit(self, function, *arguments):
        self.sent = [*getattr(self, "sent", []), arguments]
        return super().submit(function, *arguments)


def test_what_is_sent_is_small():
    with Recording(2) as pool:
        study(executor=pool, policies=POLICIES[0])
    assert len(pool.sent) == 15
    assert max(len(pickled) for pickled, _, _ in pool.sent) < 1500


def test_a_large_record_is_sent_to_dask_once(client):
    tape = sb.Tape(np.random.default_rng(1).uniform(size=(3, 20_000)))
    sizes = []
    submit = client.submit

    def recording(function, *arguments, **options):
        sizes.append(len(pickle.dumps(arguments)) if function is bytes else 0)
        assert max([len(a) for a in arguments if isinstance(a, bytes)], default=0) < 2**15 or function is bytes
        return submit(function, *arguments, **options)

    client.submit = recording
    assert digest(study(tape, POLICIES[0], executor=client)) == digest(study(tape, POLICIES[0]))
    assert len(sizes) == 16
    assert sum(size > 400_000 for size in sizes) == 1


# --- deaths -----------------------------------------------------------------------------------------------------------


def kill_soon(pid, seconds=0.3):
    threading.Timer(seconds, lambda: os.kill(pid, signal.SIGKILL)).start()


def killing(pool, pid):
    """The pool, one of whose processes is killed once its first chunk is done."""
    submit, once = pool.submit, iter([pid])

    def watched(*task):
        future = submit(*task)
        future.add_done_callback(lambda _: [os.kill(process, signal.SIGKILL) for process in once])
        return future

    pool.submit = watched
    return pool


LONG = {"horizon": 20_000, "runs": 400, "seed": 5, "chunk": 4, "progress": False}


def long_study(**how):
    return sb.simulate(POLICIES[:2], BANDIT, **LONG, **how)


@pytest.fixture(scope="module")
def long_by_threads():
    return digest(long_study())


def test_a_worker_of_a_cluster_that_is_killed_costs_its_chunks_only(client, long_by_threads):
    before = set(client.run(os.getpid).values())
    kill_soon(min(before))
    assert digest(long_study(executor=client)) == long_by_threads
    client.wait_for_workers(2, timeout=60)
    assert set(client.run(os.getpid).values()) != before


def test_a_process_that_is_killed_costs_its_chunks_only(long_by_threads):
    pools = []

    def make():
        pools.append(ProcessPoolExecutor(2, SPAWN))
        list(pools[-1].map(abs, range(4)))
        return killing(pools[0], min(pools[0]._processes)) if len(pools) == 1 else pools[-1]

    assert digest(long_study(executor=make)) == long_by_threads
    assert len(pools) == 2
    for pool in pools:
        pool.shutdown()


def test_loky_survives_a_worker_that_is_killed(long_by_threads):
    loky = pytest.importorskip("loky")

    def make():
        return loky.get_reusable_executor(max_workers=2)

    try:
        list(make().map(abs, range(4)))
        workers = set(make()._processes)
        killing(make(), min(workers))
        assert digest(long_study(executor=make)) == long_by_threads
        assert not workers & set(make()._processes)  # all of them were replaced
    finally:
        make().shutdown(kill_workers=True)


def deadly_outside(parent):
    """Arms that are drawn without harm in one process; elsewhere, drawing those of some runs ends the process."""

    def draw(generator):
        import os

        import sharpe_bandits as sb

        high = generator.uniform(1, 2)
        if high > 1.9 and os.getpid() != parent:
            os._exit(1)
        return [sb.Uniform(0, high), sb.Uniform(0, 1)]

    return sb.RandomBandit(2, draw)


def test_chunks_that_end_workers_end_the_study(monkeypatch):
    monkeypatch.setattr(executors, "TRIES", 2)
    bandit = deadly_outside(os.getpid())
    with pytest.raises(sb.errors.ExecutorError, match=r"workers crashed several times on runs \d+ to \d+ of UCB-RSSR"):
        study(bandit, POLICIES[0], executor=lambda: ProcessPoolExecutor(1, SPAWN))
    assert study(bandit, POLICIES[0])


class Finished:
    """A store that remembers what it was given."""

    def __init__(self):
        self.chunks = {}

    def compute(self, task):
        raise AssertionError("computed here")

    def find(self, task):
        return self.chunks.get(task.first)

    def keep(self, task, chunk):
        self.chunks[task.first] = chunk


class Failing(Executor):
    """An executor in this process that fails as it is told: a list of errors per first run, taken one by one."""

    def __init__(self, failures=()):
        self.failures = {first: list(errors) for first, errors in dict(failures).items()}
        self.asked = []

    def submit(self, function, pickled, first, runs):
        self.asked.append(first)
        future = Future()
        if self.failures.get(first):
            future.set_exception(self.failures[first].pop(0))
        else:
            future.set_result(function(pickled, first, runs))
        return future


SPEC = Spec(sb.policies.UCB1(), as_environment(BANDIT), 60, 40, 3, (60,))


def ran(executor, store=None, advance=lambda task: None):
    return backend_for(None, lambda: executor).run(tasks_of(SPEC, 4), store, advance)


def same(a, b):
    for field in dataclasses.fields(Chunk):
        np.testing.assert_array_equal(getattr(a, field.name), getattr(b, field.name), strict=False)


def broken(times):
    return [BrokenExecutor("a worker died") for _ in range(times)]


def test_chunks_are_sent_again_a_bounded_number_of_times():
    executor = Failing({8: broken(2), 16: broken(1)})
    chunks = {task.first: chunk for task, chunk in ran(executor)}
    assert sorted(chunks) == list(range(0, 40, 4))
    for first, chunk in chunks.items():
        same(chunk, compute(Task(SPEC, first, 4)))
    executor, store = Failing({16: broken(9)}), Finished()
    with pytest.raises(
        sb.errors.ExecutorError,
        match=r"several times on runs 16 to 19 of UCB1.*\. The 4 chunks of 10 .* are kept: the same",
    ):
        ran(executor, store)
    assert executor.asked.count(16) == executors.TRIES
    assert sorted(store.chunks) == list(range(0, 16, 4))
    with pytest.raises(sb.errors.ExecutorError, match="The 4 chunks of 10 that are finished are lost"):
        ran(Failing({16: broken(9)}))


def test_an_error_of_a_chunk_itself_is_raised_at_once():
    executor = Failing({8: [sb.errors.InvalidInputError("the tape is too short")]})
    with pytest.raises(sb.errors.InvalidInputError, match="the tape is too short"):
        ran(executor)
    assert executor.asked.count(8) == 1
    with pytest.raises(sb.errors.ExecutorError, match=r"a worker cannot import what it needs .No module named 'mine'"):
        ran(Failing({8: [ModuleNotFoundError("No module named 'mine'")]}))
    killed = distributed.KilledWorker(
        "run_task-1", last_worker=SimpleNamespace(address="tcp://a"), allowed_failures=3
    )  # Dask has tried by then
    with pytest.raises(sb.errors.ExecutorError, match="workers crashed several times on runs 8 to 11 of UCB1"):
        ran(Failing({8: [killed]}))


def test_finished_chunks_are_not_computed_again():
    store = Finished()
    with pytest.raises(sb.errors.InvalidInputError):
        ran(Failing({20: [sb.errors.InvalidInputError("here")]}), store)
    assert sorted(store.chunks) == list(range(0, 20, 4))
    executor, told = Failing(), []
    chunks = ran(executor, store, lambda task: told.append(task))
    assert executor.asked == list(range(20, 40, 4))
    assert len(chunks) == len(told) == 10


def test_a_scheduler_that_is_gone_is_said():
    started = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
    )
    client = distributed.Client(started)

    def end(task):
        started.close()

    with pytest.raises(sb.errors.ExecutorError, match=r"the Dask scheduler at .* is gone; .* finished are lost"):
        backend_for(None, client).run(
            tasks_of(dataclasses.replace(SPEC, horizon=50_000, checkpoints=(50_000,)), 4), None, end
        )
    client.close(0)


# --- interrupts -------------------------------------------------------------------------------------------------------


def test_an_interrupt_is_answered_and_frees_the_workers(client, by_threads):
    asked = []

    def interrupt():
        asked.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(2.0, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        sb.simulate(POLICIES[0], BANDIT, horizon=10**9, runs=32, executor=client)
    assert time.monotonic() - asked[0] < 10.0
    started = time.monotonic()
    assert digest(study(executor=client)) == by_threads  # a chunk of 16·10⁹ rounds would take minutes
    assert time.monotonic() - started < 60.0


# --- unlike machines --------------------------------------------------------------------------------------------------


def reply(arithmetic="4567", **changes):
    return Reply(None, {**machines.machine(), **changes}, arithmetic, machines.software())


def test_workers_with_other_versions_are_refused():
    backend = backend_for(None, ThreadPoolExecutor(1))
    other = reply()._replace(software={**machines.software(), "numpy": "1.0"})
    with pytest.raises(sb.errors.ExecutorError, match=r"numpy 1\.0 instead of .*install the same versions everywhere"):
        backend._check_reply(other)


def test_unlike_machines_are_noticed():
    backend = backend_for(None, ThreadPoolExecutor(1))
    backend._check_reply(reply())
    backend._check_reply(reply(processor="another", **{"compiled for": "generic"}))  # recorded; they calculate alike
    backend._check_reply(reply())
    assert [m["processor"] for m in backend.machines] == [machines.processor(), "another"]
    with pytest.warns(UserWarning, match="do not compute identically.*: processor third instead of"):
        backend._check_reply(reply(arithmetic="0123", processor="third"))
    backend._check_reply(reply(arithmetic="0123", processor="third"))  # said once
    assert len(backend.machines) == 3


# --- bad input --------------------------------------------------------------------------------------------------------


def test_what_is_no_executor_is_refused():
    for wrong in (3, "processes", object()):
        with pytest.raises(sb.errors.InvalidInputError, match=r"executor must be a concurrent\.futures\.Executor"):
            study(executor=wrong)
    with pytest.raises(sb.errors.InvalidInputError, match="gave 3, which is not an executor"):
        study(executor=lambda: 3)
    with pytest.raises(sb.errors.InvalidInputError, match="give one of the two"), ThreadPoolExecutor(1) as pool:
        study(executor=pool, workers=2)
    with pytest.raises(sb.errors.InvalidInputError, match="the executor takes no work: cannot schedule"):
        study(executor=pool)


def test_a_broken_executor_that_cannot_be_made_again_says_what_to_do():
    with ProcessPoolExecutor(1, SPAWN) as pool:
        with pytest.raises(BrokenProcessPool):
            pool.submit(os._exit, 1).result()
        with pytest.raises(sb.errors.ExecutorError, match=r"a worker died.*pass a function that makes"):
            study(executor=pool)


def test_what_cannot_be_pickled_is_refused_by_name():
    lock = threading.Lock()
    bandit = sb.RandomBandit(2, lambda generator: [sb.Uniform(0, 1), sb.Uniform(0, 1 + lock.locked())])
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(sb.errors.InvalidInputError, match=r"UCB-RSSR on .*cannot be sent"),
    ):
        study(bandit, POLICIES[0], executor=pool)
