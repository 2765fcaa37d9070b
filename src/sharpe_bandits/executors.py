"""Where chunks are computed: by threads of this process, by any executor, or by a Dask cluster. The same bits anywhere.

What is sent to a worker is a spec, pickled, and a range of runs; what comes back is a chunk. A worker keeps the specs
that it has seen, and with them their compiled kernels. Specs are told apart by a digest of what was sent, not by names.

A worker that dies costs its chunks, which are sent again. All chunks that were with a dead worker come under suspicion,
since nobody knows which of them ended it: those that were blamed too often are tried again in the end, one at a time,
so that a chunk that ends workers is told from those that were beside it.
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

#: How often a chunk may be with a worker that dies before it is tried alone, and how often it may end workers then.
TRIES = 3
#: A pickled spec of more bytes is sent only to workers that ask for it.
LARGE = 2**15
#: Chunks that are sent ahead per worker, and in all where the number of workers is not known.
AHEAD, AHEAD_IN_ALL = 4, 256
#: Specs, with their compiled kernels, that a worker keeps.
KEPT = 64
#: Seconds between looks at a cluster, and between two calls that say that time passes.
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
        """Rounds to play: what progress is measured in."""
        return self.runs * self.spec.horizon

    def __str__(self) -> str:
        return f"runs {self.first} to {self.first + self.runs - 1} of {self.spec.policy.name}"


def compute(task: Task) -> Chunk:
    """The chunk of a task."""
    return run_chunk(task.spec, task.first, task.runs)


class Store(Protocol):
    """Where finished chunks are kept."""

    def compute(self, task: Task) -> Chunk:
        """The chunk of a task: found, or computed here and kept."""

    def find(self, task: Task) -> Chunk | None:
        """The chunk of a task, if it is there."""

    def keep(self, task: Task, chunk: Chunk, where: dict[str, str]) -> None:
        """Keep a chunk that was computed on that kind of machine."""


#: Called with each task that is done and the seconds that it took; with None now and then while none is.
Advance = Callable[[Task | None, float], None]


class Engine:
    """What computes the chunks of tasks.

    Attributes
    ----------
    workers : int
        how many there are at the moment
    unit : str
        what a worker is
    machines : list[dict[str, str]]
        the kinds of machines that have computed chunks, if they may be others than this one
    """

    workers: int
    unit = "workers"
    machines: list[dict[str, str]]

    def run(self, tasks: Sequence[Task], store: Store | None, advance: Advance | None) -> list[tuple[Task, Chunk]]:
        """The chunks of all tasks; the first error stops the rest and is raised at once."""
        raise AssertionError(f"{type(self).__name__} runs nothing")


def engine_of(workers: int | None, executor: Any) -> Engine:
    """What computes chunks for a caller who gave a number of threads, or an executor, or neither."""
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
    if (client := getattr(executor, "_client", None)) is not None:  # what client.get_executor() gave
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
    """Threads of this process: kernels release the interpreter."""

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
    """Run tasks on threads (kernels release the interpreter); the first error stops the rest and is raised at once.

    Parameters
    ----------
    tasks, workers : Sequence[_T] and int
        what is to be done, and by how many threads
    compute : Callable[[_T], _C]
        what does it
    tell : Callable[[_T, _C], None], optional
        called with each task that is done and what it gave
    look : Callable[[], None], optional
        called now and then while none is done; what it raises stops the rest
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
    """Wait for the next entry, but never for long at a time.

    The system may deliver an interrupt to any thread, and only the main thread can answer it, once it is awake.
    """
    while True:
        with suppress(Empty):
            return finished.get(timeout=0.1)
        look()


# --- at a worker ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reply:
    """What comes back from a worker.

    Attributes
    ----------
    chunk : Chunk | None
        None from a worker that does not have the spec
    seconds : float
        that the worker took
    machine, software : dict[str, str]
        what computed it
    """

    chunk: Chunk | None
    seconds: float
    machine: dict[str, str]
    software: dict[str, str]


_specs: OrderedDict[str, Spec] = OrderedDict()
_specs_lock = threading.Lock()


def play(digest: str, pickled: bytes | None, first: int, runs: int) -> Reply:
    """Compute a chunk: what a worker is asked to do.

    Parameters
    ----------
    digest, pickled : str and bytes | None
        the spec; None for "the one that you were sent before"
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
    """Raise at a Dask worker whose present task was cancelled: nobody waits for it any more."""
    at_work = sys.modules.get("distributed.worker")
    if at_work is None:
        return
    try:
        worker, key = at_work.get_worker(), at_work.thread_state.key
    except (ValueError, AttributeError):  # not a task of Dask
        return
    state = worker.state.tasks.get(key)
    if state is None or state.state == "cancelled":
        raise CancelledError("nobody waits for this chunk any more")


# --- pools of workers -------------------------------------------------------------------------------------------------


class _Pool:
    """An executor, replaced by another if it breaks."""

    def __init__(self, executor: Executor, make: Callable[[], Executor] | None = None) -> None:
        self.executor = executor
        self._make = make

    @property
    def workers(self) -> int:
        """How many there are; 0 if that is not known."""
        count = getattr(self.executor, "_max_workers", 0)
        return count if isinstance(count, int) else 0

    @property
    def ahead(self) -> int:
        """Chunks that may be on their way at a time."""
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
        """An executor like the one that broke."""
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
        """Why no chunk will ever come back, in words; nothing as long as they may."""
        return ""

    def deaths(self, error: BaseException) -> int:
        """How many workers died of a chunk or beside it, going by how it failed; 0 if the error is its own."""
        return int(isinstance(error, (BrokenExecutor, CancelledError)))

    def abandon(self, futures: Sequence[Future[Reply]]) -> None:
        """Nobody waits for these any more."""
        for future in futures:
            future.cancel()


def _made(make: Callable[[], Any]) -> Executor:
    made = make()
    if not isinstance(made, Executor):
        raise InvalidInputError(f"the function passed as executor gave {shown(made)}, which is not an executor")
    return made


class _Dask(_Pool):
    """A Dask cluster, whose workers come and go."""

    def __init__(self, client: Any, options: dict[str, Any] | None = None) -> None:
        if client.asynchronous:
            raise InvalidInputError("an asynchronous Dask client cannot be waited for; pass Client(...) without it")
        self.client = client
        # a task that is sent again must not be taken for the one that failed
        super().__init__(client.get_executor(**{**(options or {}), "pure": False}))
        self._threads: dict[str, int] = {}
        self._looked = 0.0

    def _look(self) -> dict[str, int]:
        if time.monotonic() - self._looked > _LOOK and not self.lost():
            with suppress(OSError):  # the scheduler is gone, which is seen by the chunks on their way
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
        # Dask itself sends a chunk again some times before it raises this
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
            self._pool.abandon(list(job.on_the_way))
            raise
        job.check_guilty()
        return done

    def _check(self, reply: Reply) -> None:
        """Refuse what was made by other code; take note of the machine, and say so if machines do not calculate alike.

        Raises :class:`ExecutorError` where a worker has other versions than this process.
        """
        if different := difference(software(), reply.software):
            raise ExecutorError(
                f"a worker ({reply.machine['processor']}) does not run what this process runs: {different}; install "
                "the same versions everywhere"
            )
        if reply.machine not in self.machines:
            self.machines.append(reply.machine)
            unlike = {known["arithmetic"] for known in self.machines}
            if len(unlike) == 2 and reply.machine["arithmetic"] != self.machines[0]["arithmetic"]:
                warnings.warn(
                    "these machines do not calculate alike, and chunks of both are mixed: "
                    f"{difference(self.machines[0], reply.machine)}. Logarithms and the like differ in their last "
                    "bits, so that results may not be repeatable bit for bit; use workers of one kind for that",
                    stacklevel=2,
                )


class _Job:
    """Tasks on their way to chunks: sent, sent again where a worker died, and tried alone where that happens often."""

    def __init__(self, pool: _Pool, waiting: deque[Task], kept: bool, total: int) -> None:
        self.pool, self.waiting, self.kept = pool, waiting, kept
        self._total, self._done = total, total - len(waiting)
        self.on_the_way: dict[Future[Reply], Task] = {}
        self._suspects: deque[Task] = deque()
        self._guilty: list[Task] = []
        self._blamed: Counter[int] = Counter()
        self._alone = False
        self._fruitless = 0
        self._pickled: dict[int, tuple[str, bytes]] = {}
        self._finished: SimpleQueue[Future[Reply]] = SimpleQueue()
        self._ticked = 0.0

    def next(self, tick: Callable[[], None]) -> tuple[Task, Reply] | None:
        """The next task that is done and what came back; None if there is none left."""

        def look() -> None:
            self._check_lost()
            if time.monotonic() - self._ticked > _TICK:
                self._ticked = time.monotonic()
                tick()

        while self._send_on():
            future = _next(self._finished, look)
            task = self.on_the_way.pop(future)
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
        """Send what may be sent; False if nothing is left to wait for."""
        while self.waiting and len(self.on_the_way) < self.pool.ahead:
            self._alone = False
            self._send(self.waiting.popleft())
        if self._suspects and not self.on_the_way:
            self._alone = True
            self._send(self._suspects.popleft())
        return bool(self.on_the_way)

    def _send(self, task: Task, always: bool = False) -> None:
        digest, pickled = self._spec(task.spec)
        future = self.pool.submit(digest, pickled if always or len(pickled) <= LARGE else None, task.first, task.runs)
        self.on_the_way[future] = task
        future.add_done_callback(self._finished.put)

    def _spec(self, spec: Spec) -> tuple[str, bytes]:
        if id(spec) not in self._pickled:
            import cloudpickle

            try:
                pickled = cloudpickle.dumps(spec)
            except Exception as error:  # whatever a user's function drags along
                raise InvalidInputError(
                    f"{spec.policy.name} on {spec.environment!r} cannot be sent to workers: {error}; let its functions "
                    "use plain values only"
                ) from error
            self._pickled[id(spec)] = hashlib.sha256(pickled).hexdigest(), pickled
        return self._pickled[id(spec)]

    def _failed(self, task: Task, error: BaseException) -> None:
        """Decide what becomes of a task that failed: an error of its own is raised."""
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
            raise ExecutorError(f"workers die before they finish anything ({error}); look into their logs") from error
        self._blamed[id(task)] += deaths
        if self._alone:
            (self._guilty if self._blamed[id(task)] >= 2 * TRIES else self._suspects).append(task)
        elif self._blamed[id(task)] >= TRIES:
            self._blamed[id(task)] = TRIES
            self._suspects.append(task)
        else:
            self.waiting.append(task)

    def _check_lost(self) -> None:
        if why := self.pool.lost():
            then = "are kept: start it again and give the same command, which goes on" if self.kept else "are lost"
            raise ExecutorError(f"{why}; the {self._done} chunks of {self._total} that are finished {then}")

    def check_guilty(self) -> None:
        """Raise if chunks ended every worker that tried them, alone."""
        if self._guilty:
            kept = "; all others are finished and kept" if self.kept else ""
            raise ExecutorError(
                f"workers die of {'; '.join(map(str, self._guilty))}: each was tried alone, several times, after all "
                f"others{kept}. Memory may be short (pass a smaller chunk), or a function of your own may crash"
            )
