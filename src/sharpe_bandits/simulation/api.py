"""Simulate policies, run fixed-confidence identification, or trace a single run."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TextIO, get_args

import numpy as np

from .._support.display import html_table
from .._support.validation import check_keywords, is_number, one_of, probability, whole
from ..arms.bandit import as_environment
from ..arms.environment import Environment, as_arm
from ..errors import InvalidInputError, RewardWarning, shown
from ..policies.base import Policy, as_list, check_policy
from ..results.policy_result import PolicyResult, merge
from ..results.study import Study
from .executors import Backend, Store, Task, backend_for, on_threads
from .progress import show_progress
from .spec import Chunk, Feedback, Kernel, Spec, prepare, run_chunk

LARGEST_SEED = 2**64 - 1
LARGEST_HORIZON = 10**9
_MEMORY = 4 * 2**30
#: Maximum numbers of runs and checkpoints, independent of memory.
_RUNS, _CHECKPOINTS = 10**12, 10**6
#: Where an objective belongs.
_OBJECTIVE = (
    "policies have their own, as in ScaleFreeUCB(objective=...), and results are judged by any objective afterwards, "
    "as in study.regret(RSSR(L=0.5))"
)


@check_keywords(objective=_OBJECTIVE, budget="the budget of a policy with phases is the horizon; pass horizon=")
def simulate(
    policies: Policy | Iterable[Policy],
    bandit: Any,
    *,
    horizon: int,
    runs: int = 1000,
    seed: int = 0,
    workers: int | None = None,
    executor: Any = None,
    checkpoints: int | Iterable[int] = 100,
    chunk: int | None = None,
    progress: bool | None = None,
    feedback: Feedback = "bandit",
    delay: Any = 0,
    batch: int = 1,
    control: int | None = None,
    share: float = 1.0,
    bounds: Mapping[int, tuple[float, float]] | None = None,
    among: Iterable[Any] | None = None,
) -> Study:
    """Simulate many runs of policies on a bandit.

    Results depend only on the seed: they are identical, bit for bit, for any number of workers, any size of chunks, and
    any other policies. The j-th pull of arm i in run r pays the same under every policy.

    Parameters
    ----------
    policies : Policy | Iterable[Policy]
        one or several, with different names
    bandit : Any
        a Bandit, Tape, RandomBandit or SwitchingBandit, or a list of arms
    horizon : int
        rounds per run (the budget, for best-arm identification)
    runs : int, optional
        independent repetitions
    seed : int, optional
        a non-negative whole number
    workers : int | None, optional
        threads; None for all cores
    executor : Any, optional
        computes chunks instead of threads: any ``concurrent.futures.Executor`` (processes, loky, MPI), a function that
        makes one, or a Dask client
    checkpoints : int | Iterable[int], optional
        rounds at which pulls are recorded, or their number, spaced logarithmically; the horizon is always included
    chunk : int | None, optional
        runs per unit of work; None for a good default
    progress : bool | None, optional
        show a progress bar; None for "if standard error is a terminal"
    feedback : Feedback, optional
        "bandit": only the reward of the arm played is seen; "full": those of all arms are (index policies only)
    delay : Any, optional
        delay of rewards in rounds (0: before the next choice), or its distribution, such as ``sb.Uniform(0, 20)``,
        rounded down to whole rounds. Until its reward arrives, a pull is pending: deterministic policies count it as a
        pull, policies that draw do not
    batch : int, optional
        rounds that are chosen before their rewards arrive, all together. Delays and batches cost policies that play in
        phases only time: their choices are the same
    control, share : int | None and float, optional
        as in a campaign: the policy decides with probability ``share``, and otherwise arm ``control`` is played
    bounds : Mapping[int, tuple[float, float]] | None, optional
        least and largest share of arms in the policy's decisions
    among : Iterable[Any] | None, optional
        the arms that can be played; or several sets of them, which take turns round by round, such as
        ``[(0, 1), (0, 2)]``. Regret is always against the best of all arms

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> bandit = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)])
    >>> policies = [sb.UCBRSSR(L=0.5), sb.policies.UUCB(epsilon0=0.5)]
    >>> study = sb.simulate(policies, bandit, horizon=1_000, runs=100, seed=1)
    >>> print(study["UCB-RSSR"].regret(sb.RSSR(L=0.5)).final)
    89.0 ± 6.8 [75.5, 102.4]
    """
    environment = as_environment(bandit)
    delays = _delays(delay, batch)
    horizon = whole("horizon", _rounds(horizon), 2, LARGEST_HORIZON)
    runs = whole("runs", runs, 1, _RUNS)
    seed = whole("seed", seed, 0, LARGEST_SEED)
    backend = backend_for(workers, executor)
    environment.check_horizon(horizon)
    times = checkpoint_times(checkpoints, horizon, environment.switches)
    one_of("feedback", feedback, get_args(Feedback))
    rules = _rules(environment.K, control, share, bounds, among)
    specs = [
        Spec(policy, environment, horizon, runs, seed, times, feedback=feedback, **delays, **rules)
        for policy in _listed(policies)
    ]
    check_memory(specs[0], len(specs))
    for spec in specs:
        if spec.has_rules and not spec.policy.minimises_regret:
            raise InvalidInputError(
                f"{spec.policy.name} decides how often each arm is played; leave control, share, bounds and among out"
            )
        prepare(spec)
        _warn_of_rewards(spec)
    stream = sys.stderr if (sys.stderr.isatty() if progress is None else progress) else None
    results = run_specs(specs, backend, chunk, stream=stream)
    settings = settings_of(environment, horizon, runs, seed, feedback, backend.machines) | _game_settings(specs[0])
    ranked_by = {spec.policy.default_metric for spec in specs}
    return Study(
        {result.name: result for result in results}, settings, ranked_by.pop() if len(ranked_by) == 1 else "regret"
    )


def _warn_of_rewards(spec: Spec) -> None:
    """Warn if the policy cannot handle rewards such as those of the first run's arms."""
    mean, variance = (moments[0].tolist() for moments in spec.environment.truth(spec.seed, 1))
    pulls = math.inf  # means are known
    arms = [(i, pulls, m, v) for i, (m, v) in enumerate(zip(mean, variance, strict=True))]
    warning = spec.policy.reward_warning(arms, spec.horizon)
    if warning is not None:
        warnings.warn(warning.replace(f" after {pulls:g} pulls", ""), RewardWarning, stacklevel=4)


def _delays(delay: Any, batch: Any) -> dict[str, Any]:
    """When rewards arrive, as fields of a spec."""
    late = whole("delay", delay, 0, LARGEST_HORIZON) if is_number(delay) else as_arm(delay)
    if not isinstance(late, int) and (late.serially_dependent or late.support[0] < 0):
        raise InvalidInputError(f"delays are at least 0 and drawn independently, which {shown(delay)} is not")
    return {"delay": late, "batch_rounds": whole("batch", batch, 1, LARGEST_HORIZON)}


def _rules(arms: int, control: Any, share: Any, bounds: Any, among: Any) -> dict[str, Any]:
    """Who decides about which arms, as fields of a spec."""
    fields: dict[str, Any] = {"share": probability("share", share)}
    if control is not None:
        fields["control"] = whole("control", control, 0, arms - 1)
    elif fields["share"] < 1:
        raise InvalidInputError(
            f"share={fields['share']:g} leaves decisions to a control arm; pass its number as control="
        )
    turns = [list(range(arms))]
    if among is not None:
        sets = list(among)
        sets = sets if sets and all(isinstance(one, Iterable) for one in sets) else [sets]
        turns = [sorted({whole("an arm of among", arm, 0, arms - 1) for arm in one}) for one in sets]
        if any(not playable or (fields["share"] < 1 and control not in playable) for playable in turns):
            raise InvalidInputError(f"among must have an arm, and the control arm if share < 1, got {shown(turns)}")
        fields["among"] = tuple(map(tuple, turns))
    if bounds:
        ends = {whole("an arm of bounds", arm, 0, arms - 1): pair for arm, pair in bounds.items()}
        for pair in ends.values():
            is_pair = isinstance(pair, (tuple, list)) and len(pair) == 2 and all(map(is_number, pair))
            if not is_pair or not 0 <= pair[0] <= pair[1] <= 1:
                raise InvalidInputError(f"bounds are (low, high) with 0 <= low <= high <= 1, got {shown(bounds)}")
        for playable in turns:
            low, high = (sum(ends.get(arm, (0.0, 1.0))[end] for arm in playable) for end in (0, 1))
            if low > 1 + 1e-9 or high < 1 - 1e-9:
                raise InvalidInputError(f"the shares of all arms add up to 1, which {shown(bounds)} do not allow")
        fields["bounds"] = tuple((arm, float(low), float(high)) for arm, (low, high) in sorted(ends.items()))
    return fields


def _game_settings(spec: Spec) -> dict[str, Any]:
    """A study's settings for late rewards, and for who decides if the policy does not decide alone about all arms."""
    settings: dict[str, Any] = {}
    if spec.has_delayed_rewards:
        settings["delay"] = spec.delay if isinstance(spec.delay, int) else spec.delay.to_dict()
        settings["batch"] = spec.batch_rounds
    if spec.has_rules:
        among = spec.among and list(map(list, spec.among))
        bounds = list(map(list, spec.bounds))
        settings["rules"] = {"control": spec.control, "share": spec.share, "bounds": bounds, "among": among}
    return settings


def settings_of(
    environment: Environment,
    horizon: int,
    runs: int,
    seed: int,
    feedback: Feedback = "bandit",
    machines: Sequence[dict[str, str]] = (),
) -> dict[str, Any]:
    """Everything that determines a study's results except the policies; and the machines of its executor, if any."""
    return {
        "bandit": environment.to_dict(),
        "arms": environment.K,
        "horizon": horizon,
        "runs": runs,
        "seed": seed,
        "feedback": feedback,
        **({"machines": list(machines)} if machines else {}),
    }


def _listed(policies: Policy | Iterable[Policy]) -> list[Policy]:
    """One or several policies as a list; raises unless they are policies with different names."""
    listed = as_list(policies)
    names = [check_policy(policy).name for policy in listed]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InvalidInputError(f"two policies are called {twice!r}; give one of them another name=")
    return listed


def tasks_of(spec: Spec, chunk: int | None = None) -> list[Task]:
    """A spec split into chunks."""
    size = spec.chunk if chunk is None else whole("chunk", chunk, 1)
    return [Task(spec, first, min(size, spec.runs - first)) for first in range(0, spec.runs, size)]


def run_specs(
    specs: Sequence[Spec],
    backend: Backend,
    chunk: int | None = None,
    store: Store | None = None,
    stream: TextIO | None = None,
) -> list[PolicyResult]:
    """Simulate specs: split them into tasks of ``chunk`` runs (None: a good default), run these, and merge their
    results. Finished chunks go to ``store``, progress to ``stream``.
    """
    tasks = [task for spec in specs for task in tasks_of(spec, chunk)]
    chunks: dict[int, list[Chunk]] = {id(spec): [] for spec in specs}
    with show_progress(tasks, backend, stream) as advance:
        for task, done in backend.run(tasks, store, advance):
            chunks[id(task.spec)].append(done)
    truths: dict[tuple[int, int, int], tuple[np.ndarray, np.ndarray]] = {}
    results = []
    for spec in specs:
        key = (id(spec.environment), spec.seed, spec.runs)
        if key not in truths:
            truths[key] = spec.environment.truth(spec.seed, spec.runs)
        results.append(merge(spec, chunks[id(spec)], truths[key]))
    return results


@check_keywords(
    objective=_OBJECTIVE,
    horizon="policies stop on their own, after at most max_budget rounds",
    delta="the accepted probability of error is a parameter of policies, as in LUCB(L=0.5, delta=0.05)",
)
def identify(
    policies: Policy | Iterable[Policy],
    bandit: Any,
    *,
    runs: int = 1000,
    seed: int = 0,
    max_budget: int = 10**6,
    workers: int | None = None,
    executor: Any = None,
    chunk: int | None = None,
) -> Study:
    """Simulate many runs of fixed-confidence policies, such as LUCB, which stop once they have identified the best arm.

    Results depend only on the seed: they are identical, bit for bit, for any number of workers and any size of chunks.
    Rewards are those of :func:`simulate`: the j-th pull of arm i in run r pays the same under every policy. The results
    are :class:`~sharpe_bandits.results.StoppingResult`. An answer within a policy's ``epsilon`` of the best (in the
    root of its objective, for RSSR the Sharpe ratio) is no error.

    Parameters
    ----------
    policies : Policy | Iterable[Policy]
        one or several fixed-confidence policies, with different names
    bandit : Any
        a Bandit, Tape or RandomBandit, or a list of arms
    max_budget : int, optional
        rounds after which an unfinished run is stopped
    runs, seed, workers, executor, chunk : int and int | None and Any, optional
        as for :func:`simulate`

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> arms = [sb.Normal(1, sd=1), sb.Normal(0, sd=1)]
    >>> study = sb.identify(sb.policies.LUCB(L=0.1), arms, runs=20, seed=1)
    >>> study["LUCB"].error().mean
    0.0
    """
    listed = _listed(policies)
    environment = as_environment(bandit)
    runs = whole("runs", runs, 1, _RUNS)
    seed = whole("seed", seed, 0, LARGEST_SEED)
    budget = whole("max_budget", max_budget, 2, LARGEST_HORIZON)
    backend = backend_for(workers, executor)
    specs = [Spec(policy, environment, budget, runs, seed, ()) for policy in listed]
    check_memory(specs[0], len(specs))
    for spec in specs:
        prepare(spec)
    results = run_specs(specs, backend, chunk)
    settings = settings_of(environment, budget, runs, seed, machines=backend.machines)
    return Study({result.name: result for result in results}, settings, "stopping time")


@dataclass(frozen=True, repr=False)
class Trace:
    """One run, round by round: the arms chosen and the rewards they paid; and the arm recommended at the end.

    A policy that identifies the m > 1 best arms recommends a list of m arms, in order of arm.
    """

    choices: np.ndarray
    rewards: np.ndarray
    recommended: int | list[int]

    def __repr__(self) -> str:
        return f"<Trace of {len(self)} rounds; recommended: {self.recommended}>"

    def _repr_html_(self) -> str:
        recommended = np.atleast_1d(self.recommended)
        rows = []
        for arm in range(int(max(self.choices.max(), recommended.max())) + 1):
            paid = self.rewards[self.choices == arm]
            mean = paid.mean() if len(paid) else None
            rows.append([arm, len(paid), mean, "recommended" if arm in recommended else ""])
        return html_table(("arm", "pulls", "mean reward", ""), rows, f"{len(self)} rounds")

    def __len__(self) -> int:
        return len(self.choices)


@check_keywords(objective=_OBJECTIVE, runs="a trace is of one run: pass run= for a run other than the first")
def trace(
    policy: Policy,
    bandit: Any,
    *,
    horizon: int,
    seed: int = 0,
    run: int = 0,
    kernel: Kernel = "auto",
    feedback: Feedback = "bandit",
    delay: Any = 0,
    batch: int = 1,
) -> Trace:
    """One run of a policy with every choice, the same as run ``run`` of :func:`simulate` with that seed.

    For a fixed-confidence policy: the same as run ``run`` of :func:`identify` with ``max_budget=horizon``.

    Parameters
    ----------
    policy, bandit, horizon, seed, feedback, delay, batch : Policy and Any and int and Feedback
        as for :func:`simulate`
    run : int, optional
        which run
    kernel : Kernel, optional
        "auto", or "side by side" or "reference" to force one of them (both make the same choices)

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> bandit = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)])
    >>> run = sb.trace(sb.UCBRSSR(L=0.5), bandit, horizon=500, seed=1, run=3)
    >>> run.choices[:6].tolist()
    [0, 1, 0, 1, 1, 1]
    """
    check_policy(policy)
    environment = as_environment(bandit)
    horizon = whole("horizon", _rounds(horizon), 2, LARGEST_HORIZON)
    run = whole("run", run, 0)
    seed = whole("seed", seed, 0, LARGEST_SEED)
    one_of("kernel", kernel, get_args(Kernel))
    one_of("feedback", feedback, get_args(Feedback))
    checkpoints = () if policy.stops_itself else (horizon,)
    spec = Spec(policy, environment, horizon, run + 1, seed, checkpoints, kernel, feedback, **_delays(delay, batch))
    if 12 * horizon > _MEMORY:
        raise _too_large(f"choices and rewards of {horizon} rounds", 12 * horizon, "shorten the horizon")
    check_memory(spec)
    prepare(spec)
    ((_, chunk),) = on_threads([spec], 1, lambda spec: run_chunk(spec, [run], trace=True))
    played = int(chunk.final.sum())
    arms = chunk.recommended[0].tolist()
    return Trace(chunk.choices[0, :played], chunk.rewards[0, :played], arms if policy.n_recommended > 1 else arms[0])


def checkpoint_times(checkpoints: int | Iterable[int], horizon: int, switches: tuple[int, ...] = ()) -> tuple[int, ...]:
    """Rounds at which pulls are recorded: as given, or spaced logarithmically from 1 (evenly if arms change).

    Switches and the horizon are always included.
    """
    if isinstance(checkpoints, (int, np.integer)):
        space = np.linspace if switches else np.geomspace
        spaced = space(1, horizon, whole("checkpoints", checkpoints, 1, _CHECKPOINTS))
        return tuple(sorted({*np.rint(spaced).astype(int).tolist(), *switches, horizon}))
    if not isinstance(checkpoints, Iterable):
        raise InvalidInputError(f"checkpoints must be a number of them, or a list of rounds, got {shown(checkpoints)}")
    listed = list(islice(checkpoints, _CHECKPOINTS + 1))
    if len(listed) > _CHECKPOINTS:
        raise InvalidInputError(f"checkpoints must be at most {_CHECKPOINTS} rounds; pass fewer of them")
    return tuple(sorted({*(whole("checkpoint", t, 1, horizon) for t in listed), *switches, horizon}))


def check_memory(spec: Spec, policies: int = 1) -> None:
    """Raise if the rewards or the results of so many policies like this one do not fit into memory."""
    arms = spec.environment.K
    if spec.environment.pregenerated and (needed := 8 * spec.horizon * arms) > _MEMORY:
        what = f"the rewards of {spec.environment!r}, which are generated before a run is played,"
        raise _too_large(what, needed, "shorten the horizon")
    if (needed := 8 * len(spec.checkpoints) * arms * -(-spec.runs // spec.batch)) > _MEMORY:
        what = f"pulls at {len(spec.checkpoints)} checkpoints of {spec.runs} runs, in batches of {spec.batch},"
        raise _too_large(what, needed, f"pass fewer checkpoints, as in checkpoints=[{spec.horizon}]")
    if (needed := policies * spec.runs * (8 * arms + 24)) > (available := _machine_memory()):
        remedy = f"this machine has {available / 2**30:.0f} GiB, so simulate fewer runs"
        raise _too_large(f"the results of {spec.runs} runs", needed, remedy)


def _too_large(what: str, needed: int, remedy: str) -> InvalidInputError:
    return InvalidInputError(f"{what} would take {needed / 2**30:.3g} GiB; {remedy}")


def _machine_memory() -> int:
    """Bytes of memory that this machine has."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # the system does not report it
        return 2**40


def _rounds(horizon: Any) -> Any:
    """A horizon such as 1e4 as an integer."""
    return int(horizon) if isinstance(horizon, float) and horizon.is_integer() else horizon
