"""Chunks are computed by threads of this process, by any executor, or by a Dask cluster, with identical results.

A worker receives a pickled spec and a range of runs, and returns a chunk. It keeps the specs that it has seen, with
their compiled kernels, by their pickles. If an executor breaks because a worker died, its chunks are sent to a new one,
at most three times.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
import warnings
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, NoReturn, Protocol, TypeVar

from .._support.validation import whole
from ..errors import ExecutorError, InvalidInputError, shown
from .families.base import new_cell, obey
from .machines import arithmetic, difference, machine, software
from .spec import Chunk, Spec, run_chunk

#: How often a chunk is sent to an executor that breaks.
TRIES = 3
#: A pickled spec with more bytes is sent to each Dask worker once, not with every chunk.
_LARGE = 2**15
#: Maximum number of chunks in flight.
MAX_QUEUED = 4096
#: Number of specs, with their compiled kernels, that a worker keeps.
MAX_SPECS = 64
#: Seconds between checks of the number of workers.
_POLL_SECONDS = 2.0
#: Up to this many rounds times arms are played by the calling thread, in less time than threads take to start.
SMALL = 2**18
_T = TypeVar("_T")
_C = TypeVar("_C")


@dataclass(frozen=True)
class Task:
    """A chunk to be simulated."""

    spec: Spec
    first: int
    runs: int

    @property
    def rounds(self) -> int:
        """Rounds to play: the unit of progress."""
        return self.runs * self.spec.horizon

    def __str__(self) -> str:
        return f"runs {self.first} to {self.first + self.runs - 1} of {self.spec.policy.name}"


def compute(task: Task) -> Chunk:
    """The chunk of a task."""
    return run_chunk(task.spec, range(task.first, task.first + task.runs))


class Store(Protocol):
    """Finished chunks, kept between processes."""

    def compute(self, task: Task) -> Chunk:
        """The chunk of a task: loaded, or computed here and stored."""

    def find(self, task: Task) -> Chunk | None:
        """The chunk of a task, if it is stored."""

    def keep(self, task: Task, chunk: Chunk) -> None:
        """Store a chunk."""


#: Called with each finished task; now and then with None while none finishes.
Advance = Callable[[Task | None], None]


class Backend(ABC):
    """Computes the chunks of tasks."""

    #: Current number of workers; 0 if there are none yet or their number is unknown.
    workers: int
    #: What a worker is called.
    unit = "workers"
    #: Whether no workers means that they have yet to come.
    awaits_workers = False
    #: The kinds of machines that have computed chunks, if they may differ from this one.
    machines: list[dict[str, str]]

    @abstractmethod
    def run(self, tasks: Sequence[Task], store: Store | None, advance: Advance) -> list[tuple[Task, Chunk]]:
        """The chunks of all tasks; the first error stops the rest and is raised immediately."""


def backend_for(workers: int | None, executor: Any) -> Backend:
    """The backend for a number of threads, an executor, or neither."""
    if executor is None:
        return Threads(cores() if workers is None else whole("workers", workers, 1))
    if workers is not None:
        raise InvalidInputError(
            f"workers={shown(workers)} is a number of threads, which executor replaces; give one of the two"
        )
    if isinstance(executor, Backend):
        return executor
    if hasattr(executor, "get_executor"):
        return DaskWorkers(executor)
    if isinstance(executor, Executor):
        return RemoteWorkers(executor)
    if callable(executor):
        return RemoteWorkers(_new_executor(executor), executor)
    raise InvalidInputError(
        "executor must be a concurrent.futures.Executor, a function that makes one, or a Dask client, got "
        f"{shown(executor)}"
    )


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# --- threads ----------------------------------------------------------------------------------------------------------


class Threads(Backend):
    """Threads of this process: kernels release the interpreter lock."""

    unit = "threads"

    def __init__(self, workers: int) -> None:
        self.workers, self.machines = workers, []

    def run(self, tasks: Sequence[Task], store: Store | None, advance: Advance) -> list[tuple[Task, Chunk]]:
        chunk_of = compute if store is None else store.compute
        if sum(task.rounds * task.spec.environment.K for task in tasks) > SMALL:
            return on_threads(tasks, self.workers, chunk_of, advance)
        results = []
        for task in tasks:
            results.append((task, chunk_of(task)))
            advance(task)
        return results


def on_threads(
    tasks: Sequence[_T],
    workers: int,
    compute: Callable[[_T], _C],
    report: Callable[[_T], None] = lambda task: None,
    while_waiting: Callable[[], None] = lambda: None,
) -> list[tuple[_T, _C]]:
    """Run tasks on threads (kernels release the interpreter lock); the first error stops the rest and is raised
    immediately. While none finishes, ``while_waiting`` is called now and then; what it raises stops the rest.
    """
    results: list[tuple[_T, _C]] = []
    stop = new_cell()
    pool = ThreadPoolExecutor(workers, initializer=obey, initargs=(stop,))
    try:
        in_flight = {pool.submit(compute, task): task for task in tasks}
        finished: SimpleQueue[Future[_C]] = SimpleQueue()
        for future in in_flight:
            future.add_done_callback(finished.put)
        for _ in tasks:
            future = _next(finished, while_waiting)
            results.append((in_flight[future], future.result()))
            report(in_flight[future])
    except BaseException:
        stop[0] = 1
        pool.shutdown(wait=False, cancel_futures=True)  # a kernel that is being compiled is not waited for
        raise
    pool.shutdown()
    return results


def _next(finished: SimpleQueue[_T], while_waiting: Callable[[], None]) -> _T:
    """Wait for the next entry, waking up regularly.

    The system may deliver an interrupt to any thread, and only the main thread can handle it, once it is awake.
    """
    while True:
        with suppress(Empty):
            return finished.get(timeout=0.1)
        while_waiting()


# --- on a worker ------------------------------------------------------------------------------------------------------


class Reply(NamedTuple):
    """The reply of a worker: its result, and the machine, a digest of its arithmetic, and the software behind it."""

    chunk: Chunk
    machine: dict[str, str]
    arithmetic: str
    software: dict[str, str]


_spec_of = lru_cache(maxsize=MAX_SPECS)(pickle.loads)


def run_task(pickled: bytes, first: int, runs: int) -> Reply:
    """Compute a chunk of a pickled spec: the function that workers run."""
    task = Task(_spec_of(pickled), first, runs)
    ((_, chunk),) = on_threads([task], 1, compute, while_waiting=_check_cancelled)
    return Reply(chunk, machine(), arithmetic(), software())


def _check_cancelled() -> None:
    """Raise on a Dask worker whose current task was cancelled."""
    if "distributed.worker" not in sys.modules:
        return
    from distributed import get_worker

    try:
        worker = get_worker()
        task = worker.state.tasks.get(worker.get_current_task())
    except (ValueError, KeyError):  # not a task of Dask
        return
    if task is None or task.state == "cancelled":
        raise CancelledError("this chunk was cancelled")


# --- executors and clusters -------------------------------------------------------------------------------------------


class RemoteWorkers(Backend):
    """The workers of an executor; ``make`` makes another one if it breaks."""

    workers = 0

    def __init__(self, executor: Executor, make: Callable[[], Any] | None = None) -> None:
        self.executor, self._make, self.machines = executor, make, []
        self._arithmetics: dict[str, dict[str, str]] = {}

    def check_connected(self) -> None:
        """Raise if no more chunks can come back."""

    def replace_executor(self, error: Exception) -> None:
        """Go on with another executor after one broke."""
        if self._make is None:
            raise ExecutorError(
                f"a worker died, and the executor with it ({error}); pass a function that makes executors instead, "
                "such as executor=lambda: ..., and the work goes on in a new one"
            ) from error
        self.executor = _new_executor(self._make)

    def carrier(self, pickled: bytes) -> Any:
        """What is sent to carry these bytes to workers."""
        return pickled

    def cancel(self, futures: Iterable[Future[Reply]]) -> None:
        """Cancel chunks whose results are no longer needed."""
        for future in futures:
            future.cancel()

    def run(self, tasks: Sequence[Task], store: Store | None, advance: Advance) -> list[tuple[Task, Chunk]]:
        results: list[tuple[Task, Chunk]] = []
        waiting: deque[Task] = deque()
        for task in tasks:
            if store is not None and (chunk := store.find(task)) is not None:
                results.append((task, chunk))
                advance(task)
            else:
                waiting.append(task)
        job = _Job(self, waiting, advance)
        try:
            while waiting or job.in_flight:
                task, reply = job.next_reply()
                self._check_reply(reply)
                if store is not None:
                    store.keep(task, reply.chunk)
                results.append((task, reply.chunk))
                advance(task)
        except BaseException as error:
            self.cancel(job.in_flight)
            if isinstance(error, ExecutorError):
                fate = "lost" if store is None else "kept: the same command resumes"
                text = f"{error}. The {len(results)} chunks of {len(tasks)} that are finished are {fate}"
                raise ExecutorError(text) from error
            raise
        return results

    def _check_reply(self, reply: Reply) -> None:
        """Reject results of other software versions; record the machine, and warn if machines compute differently."""
        if different := difference(software(), reply.software):
            raise ExecutorError(
                f"a worker ({reply.machine['processor']}) does not run the same software as this process: {different}; "
                "install the same versions everywhere"
            )
        if reply.machine not in self.machines:
            self.machines.append(reply.machine)
        if reply.arithmetic not in self._arithmetics:
            self._arithmetics[reply.arithmetic] = reply.machine
            if len(self._arithmetics) == 2:
                first, second = self._arithmetics.values()
                warnings.warn(
                    "these machines do not compute identically, and chunks of both are mixed: "
                    f"{difference(first, second) or 'the same processor with other settings'}. Results may differ in "
                    "their last bits when they are repeated; use workers of one kind to avoid that",
                    stacklevel=2,
                )


def _new_executor(make: Callable[[], Any]) -> Executor:
    executor = make()
    if not isinstance(executor, Executor):
        raise InvalidInputError(f"the function passed as executor gave {shown(executor)}, which is not an executor")
    return executor


class DaskWorkers(RemoteWorkers):
    """The workers of a Dask cluster, which may come and go: Dask itself sends the chunks of a lost worker to others."""

    awaits_workers = True

    def __init__(self, client: Any) -> None:
        if client.asynchronous:
            raise InvalidInputError("an asynchronous Dask client cannot be waited for; pass Client(...) without it")
        self.client = client
        self._workers, self._polled = 0, 0.0
        super().__init__(client.get_executor(pure=False))  # Dask must not give a chunk of an earlier call

    @property
    def workers(self) -> int:  # type: ignore[override]
        if time.monotonic() - self._polled > _POLL_SECONDS and self.client.status == "running":
            with suppress(OSError):  # the scheduler is gone, which the chunks in flight will show
                self._workers = len(self.client.nthreads())
            self._polled = time.monotonic()
        return self._workers

    def check_connected(self) -> None:
        if self.client.status != "running":
            address = self.client.scheduler.address if self.client.scheduler else "?"
            raise ExecutorError(f"the Dask scheduler at {address} is gone; start it again")

    def carrier(self, pickled: bytes) -> Any:
        return self.client.submit(bytes, pickled) if len(pickled) > _LARGE else pickled

    def cancel(self, futures: Iterable[Future[Reply]]) -> None:
        if self.client.status == "running":
            self.executor.shutdown(wait=False)  # all at once, where Future.cancel asks the scheduler for each
            self.executor = self.client.get_executor(pure=False)


class _Job:
    """Sends tasks to workers, and again if the executor breaks."""

    def __init__(self, backend: RemoteWorkers, waiting: deque[Task], advance: Advance) -> None:
        self._backend, self._waiting, self._advance = backend, waiting, advance
        self.in_flight: dict[Future[Reply], Task] = {}
        self._finished: SimpleQueue[Future[Reply]] = SimpleQueue()
        self._crashes: Counter[int] = Counter()
        self._carriers: dict[int, Any] = {}

    def next_reply(self) -> tuple[Task, Reply]:
        """The next finished task and its reply."""
        while True:
            while self._waiting and len(self.in_flight) < MAX_QUEUED:
                self._submit(self._waiting.popleft())
            future = _next(self._finished, self._idle)
            task = self.in_flight.pop(future, None)
            if task is None:  # it was sent to an executor that broke, and has been sent again
                continue
            try:
                return task, future.result()
            except BrokenExecutor as error:
                self._resubmit(task, error)
            except Exception as error:
                self._raise_explained(task, error)

    def _idle(self) -> None:
        self._backend.check_connected()
        self._advance(None)

    def _submit(self, task: Task) -> None:
        carrier = self._carrier(task.spec)
        try:
            future = self._backend.executor.submit(run_task, carrier, task.first, task.runs)
        except BrokenExecutor as error:
            self._resubmit(task, error)
            return
        except RuntimeError as error:  # it was shut down
            raise InvalidInputError(f"the executor takes no work: {error}; pass one that is open") from error
        self.in_flight[future] = task
        future.add_done_callback(self._finished.put)

    def _resubmit(self, task: Task, error: BrokenExecutor) -> None:
        """Queue all tasks of a broken executor for another one."""
        tasks = [task, *self.in_flight.values()]
        self.in_flight.clear()
        self._crashes.update(map(id, tasks))
        if self._crashes[id(task)] >= TRIES:
            self._raise_explained(task, error)
        self._backend.replace_executor(error)
        self._waiting.extendleft(reversed(tasks))

    def _raise_explained(self, task: Task, error: Exception) -> NoReturn:
        """Raise the error of a future: an error of the chunk itself as it is, that of a worker with its remedy."""
        if isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker":  # the latter is Dask's
            raise ExecutorError(
                f"workers crashed several times on {task}, or on chunks beside it ({error}); memory may be short (pass "
                "a smaller chunk), or a function of your own may crash: see the logs of the workers"
            ) from error
        if isinstance(error, CancelledError):
            self._backend.check_connected()
            raise ExecutorError(f"the executor has cancelled {task}") from error
        if isinstance(error, ImportError):
            raise ExecutorError(
                f"a worker cannot import what it needs ({error}); install it there, or define it in the script or "
                "notebook itself"
            ) from error
        raise error

    def _carrier(self, spec: Spec) -> Any:
        """What carries the pickle of a spec."""
        if id(spec) not in self._carriers:
            import cloudpickle

            try:
                pickled = cloudpickle.dumps(spec)
            except Exception as error:  # a user's function may refer to anything
                raise InvalidInputError(
                    f"{spec.policy.name} on {spec.environment!r} cannot be sent to workers: {error}; let its functions "
                    "use plain values only"
                ) from error
            self._carriers[id(spec)] = self._backend.carrier(pickled)
        return self._carriers[id(spec)]
