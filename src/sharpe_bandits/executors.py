"""Chunks are computed by threads of this process, by any executor, or by a Dask cluster, with identical results.

A worker receives a pickled spec and a range of runs, and returns a chunk. It keeps the specs that it has seen, with
their compiled kernels. Specs are identified by a digest of the pickle, not by name.

If a worker dies, its chunks are sent again. Any of them may have caused the crash. Chunks that were involved too often
are retried at the end, one at a time, so that a chunk that crashes workers is distinguished from those that merely ran
beside it.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import threading
import time
import warnings
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar

from .engine.interruption import new_cell, obey
from .engine.spec import Chunk, Spec, run_chunk
from .errors import ExecutorError, InvalidInputError, shown
from .machines import difference, machine, software
from .validation import whole

#: How many crashes a chunk may be involved in before it is tried alone, and how many it may then cause.
TRIES = 3
#: A pickled spec with more bytes is sent only to workers that ask for it.
LARGE = 2**15
#: Chunks sent ahead per worker, and in total if the number of workers is unknown.
AHEAD, AHEAD_IN_ALL = 4, 256
#: Number of specs, with their compiled kernels, that a worker keeps.
KEPT = 64
#: Seconds between checks of a cluster, and between progress calls without a finished task.
_LOOK, _TICK = 2.0, 1.0
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
    return run_chunk(task.spec, task.first, task.runs)


class Store(Protocol):
    """Where finished chunks are kept."""

    def compute(self, task: Task) -> Chunk:
        """The chunk of a task: loaded, or computed here and stored."""

    def find(self, task: Task) -> Chunk | None:
        """The chunk of a task, if it is stored."""

    def keep(self, task: Task, chunk: Chunk, where: dict[str, str]) -> None:
        """Store a chunk that was computed on the given kind of machine."""


#: Called with each finished task and the seconds it took; now and then with None while none finishes.
Advance = Callable[[Task | None, float], None]


class Engine:
    """Computes the chunks of tasks.

    Attributes
    ----------
    workers : int
        current number of workers
    unit : str
        what a worker is called
    machines : list[dict[str, str]]
        the kinds of machines that have computed chunks, if they may differ from this one
    """

    workers: int
    unit = "workers"
    machines: list[dict[str, str]]

    def run(self, tasks: Sequence[Task], store: Store | None, advance: Advance | None) -> list[tuple[Task, Chunk]]:
        """The chunks of all tasks; the first error stops the rest and is raised immediately."""
        raise AssertionError(f"{type(self).__name__} does not define run")


def engine_of(workers: int | None, executor: Any) -> Engine:
    """The engine for a number of threads, an executor, or neither."""
    if executor is None:
        return Threads(cores() if workers is None else whole("workers", workers, 1))
    if workers is not None:
        raise InvalidInputError(
            f"workers={shown(workers)} is a number of threads of this process, and an executor has workers of its own; "
            "give one of the two"
        )
    if isinstance(executor, Engine):
        return executor
    if hasattr(executor, "get_executor"):
        return Elsewhere(_Dask(executor))
    if (client := getattr(executor, "_client", None)) is not None:  # from client.get_executor()
        return Elsewhere(_Dask(client, executor._kwargs))
    if isinstance(executor, Executor):
        return Elsewhere(_Pool(executor))
    if callable(executor):
        return Elsewhere(_Pool(_made(executor), executor))
    raise InvalidInputError(
        "executor must be a concurrent.futures.Executor, a function that makes one, or a Dask client, got "
        f"{shown(executor)}"
    )


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# --- threads ----------------------------------------------------------------------------------------------------------


class Threads(Engine):
    """Threads of this process: kernels release the interpreter lock."""

    unit = "threads"

    def __init__(self, workers: int) -> None:
        self.workers, self.machines = workers, []

    def run(self, tasks: Sequence[Task], store: Store | None, advance: Advance | None) -> list[tuple[Task, Chunk]]:
        make = compute if store is None else store.compute

        def timed(task: Task) -> tuple[Chunk, float]:
            started = time.perf_counter()
            chunk = make(task)
            return chunk, time.perf_counter() - started

        def tell(task: Task, made: tuple[Chunk, float]) -> None:
            if advance is not None:
                advance(task, made[1])

        return [(task, made[0]) for task, made in on_threads(tasks, self.workers, timed, tell)]


def on_threads(
    tasks: Sequence[_T],
    workers: int,
    compute: Callable[[_T], _C],
    tell: Callable[[_T, _C], None] = lambda task, done: None,
    look: Callable[[], None] = lambda: None,
) -> list[tuple[_T, _C]]:
    """Run tasks on threads (kernels release the interpreter lock); the first error stops the rest and is raised
    immediately.

    Parameters
    ----------
    tasks, workers : Sequence[_T] and int
        the tasks, and the number of threads
    compute : Callable[[_T], _C]
        computes a task
    tell : Callable[[_T, _C], None], optional
        called with each finished task and its result
    look : Callable[[], None], optional
        called now and then while none finishes; an exception that it raises stops the rest
    """
    done: list[tuple[_T, _C]] = []
    stop = new_cell()
    pool = ThreadPoolExecutor(workers, initializer=obey, initargs=(stop,))
    try:
        waiting: dict[Future[_C], _T] = {pool.submit(compute, task): task for task in tasks}
        finished: SimpleQueue[Future[_C]] = SimpleQueue()
        for future in waiting:
            future.add_done_callback(finished.put)
        for _ in tasks:
            future = _next(finished, look)
            task = waiting[future]
            done.append((task, future.result()))
            tell(*done[-1])
    except BaseException:
        stop[0] = 1
        pool.shutdown(wait=False, cancel_futures=True)  # a kernel that is being compiled is not waited for
        raise
    pool.shutdown()
    return done


def _next(finished: SimpleQueue[_T], look: Callable[[], None]) -> _T:
    """Wait for the next entry, waking up regularly.

    The system may deliver an interrupt to any thread, and only the main thread can handle it, once it is awake.
    """
    while True:
        with suppress(Empty):
            return finished.get(timeout=0.1)
        look()


# --- on a worker ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reply:
    """The reply of a worker.

    Attributes
    ----------
    chunk : Chunk | None
        None from a worker that does not have the spec
    seconds : float
        time that the worker took
    machine, software : dict[str, str]
        machine and software that computed it
    """

    chunk: Chunk | None
    seconds: float
    machine: dict[str, str]
    software: dict[str, str]


_specs: OrderedDict[str, Spec] = OrderedDict()
_specs_lock = threading.Lock()


def play(digest: str, pickled: bytes | None, first: int, runs: int) -> Reply:
    """Compute a chunk: the function that workers run.

    Parameters
    ----------
    digest, pickled : str and bytes | None
        the spec; None if the worker may have it already
    first, runs : int
        the range of runs
    """
    started = time.perf_counter()
    here = machine(), software()
    with _specs_lock:
        if digest not in _specs and pickled is not None:
            _specs[digest] = pickle.loads(pickled)
            while len(_specs) > KEPT:
                _specs.popitem(last=False)
        spec = _specs.get(digest)
        if spec is None:
            return Reply(None, 0.0, *here)
        _specs.move_to_end(digest)
    ((_, chunk),) = on_threads([Task(spec, first, runs)], 1, compute, look=_check_wanted)
    return Reply(chunk, time.perf_counter() - started, *here)


def _check_wanted() -> None:
    """Raise on a Dask worker whose current task was cancelled."""
    at_work = sys.modules.get("distributed.worker")
    if at_work is None:
        return
    try:
        worker, key = at_work.get_worker(), at_work.thread_state.key
    except (ValueError, AttributeError):  # not a task of Dask
        return
    state = worker.state.tasks.get(key)
    if state is None or state.state == "cancelled":
        raise CancelledError("this chunk was cancelled")


# --- pools of workers -------------------------------------------------------------------------------------------------


class _Pool:
    """An executor, replaced by another if it breaks."""

    def __init__(self, executor: Executor, make: Callable[[], Executor] | None = None) -> None:
        self.executor = executor
        self._make = make

    @property
    def workers(self) -> int:
        """Number of workers; 0 if unknown."""
        count = getattr(self.executor, "_max_workers", 0)
        return count if isinstance(count, int) else 0

    @property
    def ahead(self) -> int:
        """Maximum number of chunks in flight."""
        return AHEAD * self.workers or AHEAD_IN_ALL

    def submit(self, *arguments: Any) -> Future[Reply]:
        try:
            return self.executor.submit(play, *arguments)
        except BrokenExecutor as error:
            self.executor = self._another(error)
            return self.executor.submit(play, *arguments)
        except RuntimeError as error:  # it was shut down
            raise InvalidInputError(f"the executor takes no work: {error}; pass one that is open") from error

    def _another(self, error: BrokenExecutor) -> Executor:
        """A replacement for the broken executor."""
        if self._make is not None:
            return _made(self._make)
        broken: Any = self.executor
        if type(self.executor) is ProcessPoolExecutor:
            return ProcessPoolExecutor(broken._max_workers, broken._mp_context, broken._initializer, broken._initargs)
        raise ExecutorError(
            f"a worker died, and the executor with it ({error}); pass a function that makes executors instead, such as "
            "executor=lambda: ..., and the work goes on in a new one"
        ) from error

    def lost(self) -> str:
        """Why no more chunks can come back; empty as long as they may."""
        return ""

    def deaths(self, error: BaseException) -> int:
        """Number of worker crashes that a failed chunk was involved in; 0 if it raised an error of its own."""
        return int(isinstance(error, (BrokenExecutor, CancelledError)))

    def abandon(self, futures: Sequence[Future[Reply]]) -> None:
        """Cancel futures whose results are no longer needed."""
        for future in futures:
            future.cancel()


def _made(make: Callable[[], Any]) -> Executor:
    made = make()
    if not isinstance(made, Executor):
        raise InvalidInputError(f"the function passed as executor gave {shown(made)}, which is not an executor")
    return made


class _Dask(_Pool):
    """A Dask cluster, whose workers may come and go."""

    def __init__(self, client: Any, options: dict[str, Any] | None = None) -> None:
        if client.asynchronous:
            raise InvalidInputError("an asynchronous Dask client cannot be waited for; pass Client(...) without it")
        self.client = client
        # a task that is sent again must not be confused with the one that failed
        super().__init__(client.get_executor(**{**(options or {}), "pure": False}))
        self._threads: dict[str, int] = {}
        self._looked = 0.0

    def _look(self) -> dict[str, int]:
        if time.monotonic() - self._looked > _LOOK and not self.lost():
            with suppress(OSError):  # the scheduler is gone, which the chunks in flight will show
                self._threads = self.client.nthreads()
            self._looked = time.monotonic()
        return self._threads

    @property
    def workers(self) -> int:
        return len(self._look())

    @property
    def ahead(self) -> int:
        return max(AHEAD * sum(self._look().values()), AHEAD_IN_ALL // 8)

    def submit(self, *arguments: Any) -> Future[Reply]:
        return self.executor.submit(play, *arguments)

    def lost(self) -> str:
        if self.client.status == "running":
            return ""
        return f"the Dask scheduler at {self.client.scheduler.address if self.client.scheduler else '?'} is gone"

    def deaths(self, error: BaseException) -> int:
        # Dask itself retries a chunk several times before it raises this
        return TRIES if type(error).__name__ == "KilledWorker" else super().deaths(error)

    def abandon(self, futures: Sequence[Future[Reply]]) -> None:
        if not self.lost():
            self.executor.shutdown(wait=False)
            self.executor = self.client.get_executor(**self.executor._kwargs)  # type: ignore[attr-defined]


class Elsewhere(Engine):
    """Workers of an executor or of a cluster."""

    def __init__(self, pool: _Pool) -> None:
        self._pool = pool
        self.machines = []

    @property
    def workers(self) -> int:  # type: ignore[override]
        return self._pool.workers

    def run(self, tasks: Sequence[Task], store: Store | None, advance: Advance | None) -> list[tuple[Task, Chunk]]:
        tell = advance or (lambda task, seconds: None)
        done: list[tuple[Task, Chunk]] = []
        waiting: deque[Task] = deque()
        for task in tasks:
            if store is not None and (chunk := store.find(task)) is not None:
                done.append((task, chunk))
                tell(task, 0.0)
            else:
                waiting.append(task)
        job = _Job(self._pool, waiting, store is not None, len(tasks))
        try:
            while (came := job.next(lambda: tell(None, 0.0))) is not None:
                task, reply = came
                self._check(reply)
                assert reply.chunk is not None
                if store is not None:
                    store.keep(task, reply.chunk, reply.machine)
                done.append((task, reply.chunk))
                tell(task, reply.seconds)
        except BaseException:
            self._pool.abandon(list(job.in_flight))
            raise
        job.check_failing()
        return done

    def _check(self, reply: Reply) -> None:
        """Reject results of other software versions; record the machine, and warn if machines compute differently.

        Raises :class:`ExecutorError` if a worker has other versions than this process.
        """
        if different := difference(software(), reply.software):
            raise ExecutorError(
                f"a worker ({reply.machine['processor']}) does not run the same software as this process: {different}; "
                "install the same versions everywhere"
            )
        if reply.machine not in self.machines:
            self.machines.append(reply.machine)
            unlike = {known["arithmetic"] for known in self.machines}
            if len(unlike) == 2 and reply.machine["arithmetic"] != self.machines[0]["arithmetic"]:
                warnings.warn(
                    "these machines do not compute identically, and chunks of both are mixed: "
                    f"{difference(self.machines[0], reply.machine)}. Logarithms and similar functions differ in their "
                    "last bits, so results may not be repeatable bit for bit; use workers of one kind for that",
                    stacklevel=2,
                )


class _Job:
    """Sends tasks to workers; sends them again if a worker dies, and one at a time if that happens often."""

    def __init__(self, pool: _Pool, waiting: deque[Task], kept: bool, total: int) -> None:
        self.pool, self.waiting, self.kept = pool, waiting, kept
        self._total, self._done = total, total - len(waiting)
        self.in_flight: dict[Future[Reply], Task] = {}
        self._suspects: deque[Task] = deque()
        self._failing: list[Task] = []
        self._blamed: Counter[int] = Counter()
        self._alone = False
        self._fruitless = 0
        self._pickled: dict[int, tuple[str, bytes]] = {}
        self._finished: SimpleQueue[Future[Reply]] = SimpleQueue()
        self._ticked = 0.0

    def next(self, tick: Callable[[], None]) -> tuple[Task, Reply] | None:
        """The next finished task and its reply; None if none are left."""

        def look() -> None:
            self._check_lost()
            if time.monotonic() - self._ticked > _TICK:
                self._ticked = time.monotonic()
                tick()

        while self._send_on():
            future = _next(self._finished, look)
            task = self.in_flight.pop(future)
            try:
                reply = future.result()
            except Exception as error:
                self._failed(task, error)
                continue
            self._fruitless = 0
            if reply.chunk is not None:
                self._done += 1
                return task, reply
            self._send(task, always=True)
        return None

    def _send_on(self) -> bool:
        """Send as many tasks as allowed; False if nothing is left to wait for."""
        while self.waiting and len(self.in_flight) < self.pool.ahead:
            self._alone = False
            self._send(self.waiting.popleft())
        if self._suspects and not self.in_flight:
            self._alone = True
            self._send(self._suspects.popleft())
        return bool(self.in_flight)

    def _send(self, task: Task, always: bool = False) -> None:
        digest, pickled = self._spec(task.spec)
        future = self.pool.submit(digest, pickled if always or len(pickled) <= LARGE else None, task.first, task.runs)
        self.in_flight[future] = task
        future.add_done_callback(self._finished.put)

    def _spec(self, spec: Spec) -> tuple[str, bytes]:
        if id(spec) not in self._pickled:
            import cloudpickle

            try:
                pickled = cloudpickle.dumps(spec)
            except Exception as error:  # a user's function may refer to anything
                raise InvalidInputError(
                    f"{spec.policy.name} on {spec.environment!r} cannot be sent to workers: {error}; let its functions "
                    "use plain values only"
                ) from error
            self._pickled[id(spec)] = hashlib.sha256(pickled).hexdigest(), pickled
        return self._pickled[id(spec)]

    def _failed(self, task: Task, error: BaseException) -> None:
        """Handle a failed task: raise an error of its own, otherwise send it again or mark it as a suspect."""
        self._check_lost()
        deaths = self.pool.deaths(error)
        if not deaths:
            if isinstance(error, ImportError):
                raise ExecutorError(
                    f"a worker cannot import what it needs ({error}); install it there, or define it in the script or "
                    "notebook itself"
                ) from error
            raise error
        self._fruitless += 1
        if self._fruitless > 3 * TRIES * max(self.pool.ahead, 1) and not self._alone:
            raise ExecutorError(f"workers crash before they finish anything ({error}); look into their logs") from error
        self._blamed[id(task)] += deaths
        if self._alone:
            (self._failing if self._blamed[id(task)] >= 2 * TRIES else self._suspects).append(task)
        elif self._blamed[id(task)] >= TRIES:
            self._blamed[id(task)] = TRIES
            self._suspects.append(task)
        else:
            self.waiting.append(task)

    def _check_lost(self) -> None:
        if why := self.pool.lost():
            then = "are kept: start it again and give the same command, which goes on" if self.kept else "are lost"
            raise ExecutorError(f"{why}; the {self._done} chunks of {self._total} that are finished {then}")

    def check_failing(self) -> None:
        """Raise if there are chunks that crashed every worker that tried them alone."""
        if self._failing:
            kept = "; all others are finished and kept" if self.kept else ""
            raise ExecutorError(
                f"workers crash on {'; '.join(map(str, self._failing))}: each was tried alone, several times, after "
                f"all others{kept}. Memory may be short (pass a smaller chunk), or a function of your own may crash"
            )
