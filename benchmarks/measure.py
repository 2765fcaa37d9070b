"""The works: what is done, by whom, and what is measured. Every function gives plain data for the report."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

import sharpe_bandits as sb
from sharpe_bandits.results.metrics import sample_mean

from . import by_hand, machine, peers, settings
from .c_loop import CLoop
from .settings import Sizes
from .timing import Contender, Timing, take_turns
from .tools import tools

OURS = "sharpe-bandits"
ALL_CORES = "sharpe-bandits, all cores"
C_LOOP = "C loop, literal"
C_TUNED = "C loop, tuned"
NUMPY = "NumPy over runs"
PYTHON = "plain Python"
GENERATOR = "Numba over numpy's generator"
DRAWS = "C, bare draws, vectorised"
OWN = "user's own"

Say = Callable[[str], None]


def ours(policy: sb.policies.Policy, bandit: Any, horizon: int, runs: int, workers: int = 1, seed: int = 0) -> sb.Study:
    """What a user types."""
    return sb.simulate(policy, bandit, horizon=horizon, runs=runs, workers=workers, seed=seed, progress=False)


def contender(
    policy: sb.policies.Policy, bandit: Any, horizon: int, runs: int, name: str = OURS, workers: int | None = None
) -> Contender:
    """The library on a work, as something to time: one thread, or so many workers by the clock on the wall."""
    return Contender(
        name, horizon * runs, lambda: ours(policy, bandit, horizon, runs, workers or 1), wall=workers is not None
    )


def rows(timings: dict[str, Timing], reference: str = OURS) -> list[dict[str, Any]]:
    """Nanoseconds per step and how many times slower than the reference, with an interval, one row per engine."""
    return [
        {
            "engine": name, "ns": timing.median, "ratio": timing.over(timings[reference]),
            "interval": timing.interval(timings[reference]),
        }
        for name, timing in timings.items()
    ]  # fmt: skip


def estimate(values: np.ndarray) -> dict[str, float]:
    """Mean of a sample with its 95% interval."""
    e = sample_mean(np.asarray(values, float), 0.95)
    return {"runs": len(values), "mean": float(e.mean), "se": float(e.se), "low": float(e.low), "high": float(e.high)}


def distance(a: dict[str, float], b: dict[str, float]) -> float:
    """Difference of two independent means in standard errors."""
    return (a["mean"] - b["mean"]) / max(math.hypot(a["se"], b["se"]), 1e-300)


def plain_ucb1(sizes: Sizes, loop: CLoop, with_peers: bool, say: Say) -> dict[str, Any]:
    """(a) Plain UCB1, ten Bernoulli arms: every engine there is, its speed and its regret."""
    bandit, n = settings.bernoulli_arms(), sizes.horizon
    many, slow, slowest = sizes.runs(sizes.fast), sizes.runs(sizes.slow * 5), sizes.runs(sizes.slowest)
    pulls: dict[str, list[Any]] = {NUMPY: [], PYTHON: []}
    seed = iter(range(1_000_000))
    engines = [
        contender(sb.policies.UCB1(), bandit, n, many),
        contender(sb.policies.UCB1(), bandit, n, many, ALL_CORES, machine.cores()),
        _in_c(loop, "ucb1", C_LOOP, sb.policies.UCB1(), bandit, n, many),
        Contender(
            NUMPY,
            n * slow,
            lambda: pulls[NUMPY].extend(
                by_hand.ucb1_vectorised(settings.PROBABILITIES, n, slow, np.random.default_rng(next(seed)))
            ),
        ),
        Contender(
            PYTHON,
            n * slowest,
            lambda: pulls[PYTHON].extend(
                by_hand.ucb1(settings.PROBABILITIES.tolist(), n, random.Random(next(seed))) for _ in range(slowest)
            ),
        ),
    ]
    timings = take_turns(engines, sizes.repetitions)
    table = rows(timings)
    study = ours(sb.policies.UCB1(), bandit, n, 10 * many, machine.cores())
    truth = estimate(settings.regret(study["UCB1"].final))
    final, _ = loop.play("ucb1", sb.policies.UCB1(), bandit, n, many)
    samples = {OURS: truth, ALL_CORES: truth, C_LOOP: estimate(settings.regret(final))}
    samples |= {name: estimate(settings.regret(np.array(seen))) for name, seen in pulls.items()}
    for row in table:
        row |= {"policy": "UCB1", "regret": samples[row["engine"]], "distance": distance(samples[row["engine"]], truth)}
    for peer in peers.PEERS if with_peers else ():
        say(f"  {peer.name}")
        table.append(_peer(peer, sizes, truth, table[0]["ns"]))
    same = bool((final == study["UCB1"].final[:many]).all())
    return {"rows": table, "horizon": n, "same pulls as C": same, "runs compared": many}


def _in_c(loop: CLoop, form: str, name: str, policy: Any, bandit: sb.Bandit, horizon: int, runs: int) -> Contender:
    """A C loop on a work, as something to time."""
    return Contender(name, horizon * runs, lambda: loop.play(form, policy, bandit, horizon, runs))


def _peer(peer: peers.Peer, sizes: Sizes, truth: dict[str, float], own: float) -> dict[str, Any]:
    """A peer's row beside the library's own nanoseconds per step."""
    row: dict[str, Any] = {"engine": peer.name, "policy": peer.policy}
    try:
        peers.environment(peer)
        result = peers.play(peer, settings.PROBABILITIES.tolist(), sizes.horizon, sizes.peer_seconds)
    except peers.PeerFailed as failure:
        return row | {"failed": str(failure)}
    sample = estimate(settings.regret(np.array(result["pulls"])))
    nanoseconds = result["seconds"] / (len(result["pulls"]) * sizes.horizon) * 1e9
    return row | {
        "version": result["version"],
        "ns": nanoseconds,
        "ratio": nanoseconds / own,
        "peak": result["peak"],
        "regret": sample,
        "distance": distance(sample, truth) if peer.policy == "UCB1" else None,
    }


@dataclass(frozen=True)
class Path:
    """A path through the library that exists in C at the same formula.

    ``form``: the name of the loop in loop.c, which has a tuned form, ``form_tuned``, too unless ``tuned`` is False.
    ``targets``: times faster than the literal and than the tuned loop.
    """

    what: str
    form: str
    policy: Any
    bandit: sb.Bandit
    horizon: int
    runs: int
    c_runs: int
    feedback: Literal["bandit", "full"] = "bandit"
    tuned: bool = True
    targets: tuple[float, float] = (1.5, 1.5)

    def study(self, runs: int) -> sb.Study:
        """What a user types."""
        return sb.simulate(
            self.policy, self.bandit, horizon=self.horizon, runs=runs, workers=1, seed=0, feedback=self.feedback,
            progress=False,
        )  # fmt: skip


def paths(sizes: Sizes) -> list[Path]:
    """Every path of the library that a C loop plays, too."""
    n, ten, found = sizes.horizon, settings.uniform_arms(10), []
    for k, copies in ((2, False), (10, False), (64, False), (64, True), (200, False), (1000, False)):
        if 2 * k >= n:
            continue
        runs = sizes.runs(sizes.fast if k <= 10 else 32 * sizes.fast // k)
        c_runs = max(1, min(runs, sizes.runs(sizes.fast // (4 * k))))
        name = f"UCB-RSSR, K = {k}" + (", the ten arms in copies" if copies else "")
        targets = (5.0, 2.0) if k in (10, 64) else (1.5, 1.5)
        arms = settings.uniform_arms(k, copies)
        found.append(Path(name, "ucb_rssr", sb.UCBRSSR(L=settings.L), arms, n, runs, c_runs, targets=targets))
    same = sb.Bandit([sb.Uniform(0.0, 1.0)] * 10)
    some, few = sizes.runs(sizes.middling), sizes.runs(sizes.middling // 8)
    gammas = sb.Bandit([sb.arms.TruncatedGamma(2.0 + 0.1 * i, 1.0, 0.0, 8.0) for i in range(10)])
    one = max(1_000_000 * sizes.horizon // settings.HORIZON, sizes.horizon)
    rounds, draws = sizes.budget, settings.uniform_arms(settings.BUDGET_ARMS)
    halved = sizes.runs(16 * sizes.fast, rounds)
    return [
        *found,
        Path("UCB-RSSR, K = 10, all arms equal", "ucb_rssr", sb.UCBRSSR(L=settings.L), same, n, some, few),
        Path("UCB-RSSR, K = 10, truncated gamma arms", "ucb_rssr", sb.UCBRSSR(L=settings.L), gammas, n, some, few),
        Path("SF-UCB, K = 10", "sf_ucb", sb.ScaleFreeUCB(L=settings.L), ten, n, some, few),
        Path("SF-IMED, K = 10", "sf_imed", sb.ScaleFreeIMED(L=settings.L), ten, n, some, few),
        Path("Modified-MVTS, K = 10", "mvts", sb.policies.ModifiedMVTS(L=1.0), ten, n, some, few),
        Path("Modified-MVTS, authors' form, K = 10", "mvts_authors", sb.policies.ModifiedMVTS(L=1.0, form="authors"), ten, n,
             some, few),
        Path("SF-UCB with a window of 1,000, K = 10", "sf_ucb", sb.policies.SlidingWindowUCB(L=settings.L), ten, n, some, few),
        Path("SF-UCB with a discount of 0.999, K = 10", "sf_ucb", sb.policies.DiscountedUCB(L=settings.L), ten, n, some, few),
        Path("SF-UCB, full feedback, K = 10", "sf_ucb_full", sb.ScaleFreeUCB(L=settings.L), ten, n, some, few, "full"),
        Path("SF-UCB, one run of 1e6 rounds", "sf_ucb", sb.ScaleFreeUCB(L=settings.L), ten, one, 1, 1),
        Path("SF-IMED, one run of 1e6 rounds", "sf_imed", sb.ScaleFreeIMED(L=settings.L), ten, one, 1, 1),
        Path("SHSR, K = 64, per round", "shsr", sb.SHSR(L=settings.HALVING_L), draws, rounds, halved,
             sizes.runs(sizes.middling, rounds), tuned=False),
    ]  # fmt: skip


def against_c(path: Path, loop: CLoop, repetitions: int) -> dict[str, Any]:
    """(b) One path against its C loops, and whether they made the same pulls and, in one run, the same choices."""
    engines = [
        Contender(OURS, path.horizon * path.runs, lambda: path.study(path.runs)),
        _in_c(loop, path.form, C_LOOP, path.policy, path.bandit, path.horizon, path.c_runs),
    ]
    if path.tuned:
        engines.append(_in_c(loop, path.form + "_tuned", C_TUNED, path.policy, path.bandit, path.horizon, path.c_runs))
    table = rows(take_turns(engines, repetitions))
    ours_final = path.study(path.c_runs)[path.policy.name].final
    same = {}
    for form in (path.form, *([path.form + "_tuned"] if path.tuned else [])):
        final, _ = loop.play(form, path.policy, path.bandit, path.horizon, path.c_runs)
        same[form] = int((final == ours_final).all(axis=1).sum())
    return {
        "what": path.what, "arms": path.bandit.K, "horizon": path.horizon, "rows": table, "runs": path.c_runs,
        "same": same, "targets": path.targets,
    }  # fmt: skip


def thompson(sizes: Sizes) -> dict[str, Any]:
    """(c) Modified-MVTS on ten uniform arms against a Numba loop over numpy's generator."""
    n, runs = sizes.horizon, sizes.runs(sizes.middling)
    low, high = settings.ends(10)
    policy, bandit = sb.policies.ModifiedMVTS(L=1.0), settings.uniform_arms(10)
    some = sizes.runs(sizes.middling // 2)
    generator = np.random.default_rng(1)
    seen: list[np.ndarray] = []
    engines = [
        contender(policy, bandit, n, runs),
        Contender(GENERATOR, n * some, lambda: seen.extend(by_hand.modified_mvts(low, high, 1.0, n, some, generator))),
    ]
    table = rows(take_turns(engines, sizes.repetitions))
    study = ours(policy, bandit, n, 4 * runs, machine.cores())
    gaps = sb.RSSR(1.0).gaps(
        sb.objectives.Statistics(mean=settings.MEANS[None, :], variance=settings.VARIANCES[None, :])
    )[0]
    truth = estimate(study[policy.name].final @ gaps)
    for row in table:
        sample = truth if row["engine"] == OURS else estimate(np.array(seen) @ gaps)
        row |= {"regret": sample, "distance": distance(sample, truth)}
    return {"arms": 10, "horizon": n, "rows": table}


def halving(sizes: Sizes, loop: CLoop) -> dict[str, Any]:
    """(d) Sequential halving on 64 arms against a C loop that draws as many rewards, vectorised, and adds them up."""
    arms = settings.BUDGET_ARMS
    policy, bandit = sb.SHSR(L=settings.HALVING_L), settings.uniform_arms(arms)
    found = []
    for n in (sizes.budget, 10 * sizes.budget):
        runs, c_runs = sizes.runs(16 * sizes.fast, n), sizes.runs(2 * sizes.fast, n)
        pulls = int(ours(policy, bandit, n, 1)["SHSR"].final.sum())
        drawn = int(loop.play("bare_draws", policy, bandit, n, 1)[0].sum())
        engines = [
            Contender(OURS, pulls * runs, lambda n=n, runs=runs: ours(policy, bandit, n, runs)),
            Contender(DRAWS, drawn * c_runs, lambda n=n, runs=c_runs: loop.play("bare_draws", policy, bandit, n, runs)),
        ]
        found.append({"arms": arms, "horizon": n, "rows": rows(take_turns(engines, sizes.repetitions), DRAWS)})
    return {"arms": arms, "works": found}


@sb.index_policy(name="my UCB-RSSR", objective=sb.RSSR(settings.L))
def my_rssr(arm: Any, t: int, L: float) -> float:
    d = L + arm.variance
    room = d - 3.0 * arm.epsilon
    if room <= 0.0:
        return math.inf
    return arm.mean**2 / d + (d + arm.second_moment + 2.0 * arm.epsilon) * arm.epsilon / (d * room)


def own_policy(sizes: Sizes) -> dict[str, Any]:
    """(e) UCB-RSSR written by a user, against the built-in one."""
    n, runs, bandit = sizes.horizon, sizes.runs(sizes.fast), settings.uniform_arms(10)
    engines = [
        contender(sb.UCBRSSR(L=settings.L), bandit, n, runs),
        contender(my_rssr(L=settings.L), bandit, n, runs, OWN),
    ]
    return {"arms": 10, "horizon": n, "rows": rows(take_turns(engines, sizes.repetitions))}


def exponent(x: list[float], y: list[float]) -> float:
    """The slope of log y against log x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def growth(sizes: Sizes) -> dict[str, Any]:
    """(f) How cost grows with arms and workers."""
    n = sizes.horizon
    repetitions = max(2, sizes.repetitions // 2)
    by_arms = {}
    policies = {
        "UCB-RSSR": sb.UCBRSSR(L=settings.L),
        "Modified-MVTS": sb.policies.ModifiedMVTS(L=1.0),
        "SHSR": sb.SHSR(L=settings.HALVING_L),
    }
    for name, policy in policies.items():
        rounds = {"SHSR": 4 * sizes.fast, "UCB-RSSR": sizes.fast}.get(name, sizes.middling)
        length = sizes.budget if name == "SHSR" else n
        engines = []
        for k in sizes.growth_arms:
            runs = sizes.runs(rounds if name == "SHSR" else max(8 * rounds // (8 + k), 16 * length), length)
            engines.append(contender(policy, settings.uniform_arms(k), length, runs, str(k)))
        timings = take_turns(engines, repetitions)
        cost = [timings[str(k)].median for k in sizes.growth_arms]
        by_arms[name] = {"ns": cost, "exponent": exponent([float(k) for k in sizes.growth_arms], cost)}
    ten = settings.uniform_arms(10)
    policy = sb.UCBRSSR(L=settings.L)
    cores = machine.cores()
    mvts = sb.policies.ModifiedMVTS(L=1.0)
    runs, mvts_runs = sizes.runs(8 * sizes.fast), sizes.runs(4 * sizes.middling)
    engines = [contender(policy, ten, n, runs, str(w), w) for w in sorted({1, 2, cores})]
    timings = take_turns(engines, sizes.repetitions)
    thompson = take_turns([contender(mvts, ten, n, mvts_runs, str(w), w) for w in (1, 2)], sizes.repetitions)
    return {
        "arms": list(sizes.growth_arms),
        "by arms": by_arms,
        "workers": {w: timings["1"].over(timings[w]) for w in timings},
        "workers, Modified-MVTS": {w: thompson["1"].over(thompson[w]) for w in thompson},
    }


# Not getrusage: on Linux a process inherits the peak of the one that started it.
_MEMORY = """
import sys
from benchmarks.adapters.common import peak
import sharpe_bandits as sb
runs, horizon = int(sys.argv[1]), int(sys.argv[2])
arms = [sb.Uniform(0.5 + 0.1 * i, 2.0 + 0.2 * i) for i in range(10)]
sb.simulate(sb.UCBRSSR(L=0.75), arms, horizon=horizon, runs=runs, progress=False)
print(peak())
"""

_START = """
import sys, time
import sharpe_bandits as sb
imported = time.process_time()
policy = getattr(sb.policies, sys.argv[1])(L=0.5)
sb.simulate(policy, [sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)], horizon=1000, runs=100, progress=False)
print(imported, time.process_time() - imported)
"""
#: A policy of each kind of kernel.
_KINDS = {"UCBRSSR": "side by side", "SlidingWindowUCB": "reference", "SHSR": "in phases"}


def _child(script: str, *arguments: object, **environment: str) -> list[float]:
    command = [sys.executable, "-c", script, *(str(a) for a in arguments)]
    path = os.pathsep.join([str(peers.HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, **environment}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # byte code is on disk, as it is after an install
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return [float(word) for word in done.stdout.split()]


def memory(sizes: Sizes) -> list[dict[str, Any]]:
    """(g) Peak memory of a fresh process against runs and rounds."""
    if sys.platform == "win32":
        return []
    _child(_MEMORY, *sizes.memory[0])  # compile first: that takes memory of its own
    return [{"runs": r, "horizon": n, "MiB": _child(_MEMORY, r, n)[0]} for r, n in sizes.memory]


def starting(sizes: Sizes) -> dict[str, Any]:
    """(h) Seconds to import, to make the first call with kernels on disk, and to make it with nothing on disk."""
    _child(_START, "UCBRSSR")
    warm = [_child(_START, "UCBRSSR") for _ in range(sizes.repetitions)]
    cold: dict[str, list[float]] = {_KINDS[policy]: [] for policy in sizes.cold}
    for _ in range(max(1, sizes.repetitions // 2)):
        for policy in sizes.cold:
            with tempfile.TemporaryDirectory() as folder:
                cold[_KINDS[policy]].append(_child(_START, policy, SHARPE_BANDITS_CACHE=folder)[1])
    seconds = {"import": [w[0] for w in warm], "first call": [w[1] for w in warm], "first call ever": cold}
    return seconds


def everything(sizes: Sizes, with_peers: bool, say: Say) -> dict[str, Any]:
    """All works; plain data, as JSON would have it."""
    began = time.perf_counter()
    loop = CLoop()
    found: dict[str, Any] = {"machine": machine.description()}
    say("(a) plain UCB1")
    found["ucb1"] = plain_ucb1(sizes, loop, with_peers, say)
    found["paths"] = []
    for path in paths(sizes):
        say(f"(b) {path.what}")
        found["paths"].append(against_c(path, loop, sizes.repetitions))
    say("(c) Thompson sampling")
    found["thompson"] = thompson(sizes)
    say("(d) sequential halving")
    found["halving"] = halving(sizes, loop)
    say("(e) a user's own policy")
    found["own"] = own_policy(sizes)
    say("(f) growth")
    found["growth"] = growth(sizes)
    say("(g) memory")
    found["memory"] = memory(sizes)
    say("(h) import and first call")
    found["start"] = starting(sizes)
    say("(i) tools")
    found["tools"] = tools(sizes)
    found["seconds"] = time.perf_counter() - began
    return json.loads(json.dumps(found))


def quick(sizes: Sizes, say: Say) -> dict[str, Any]:
    """The library and the C loops alone."""
    loop = CLoop()
    found: dict[str, Any] = {"paths": []}
    for path in paths(sizes):
        say(f"(b) {path.what}")
        found["paths"].append(against_c(path, loop, sizes.repetitions))
    say("(d) sequential halving")
    found["halving"] = halving(sizes, loop)
    say("(e) a user's own policy")
    found["own"] = own_policy(sizes)
    return found
