"""Index functions of users: written at random, played by the engine, and compared with the same function in Python.

A function reads globals, closures, tables, helpers and defaults. Between two games one of them is changed in place, so
that machine code which was made of old values would be noticed.
"""

from __future__ import annotations

import itertools
import linecache
import math
import textwrap
from types import SimpleNamespace
from typing import Any

import numpy as np

import sharpe_bandits as sb

from .driver import Target
from .things import pick

_ARMS, _HORIZON = 3, 24
_TAPE = np.random.default_rng(9).gamma(2.0, 0.5, (_ARMS, _HORIZON))
_NUMBER = itertools.count()


def _term(rng: np.random.Generator, depth: int) -> str:
    """An expression that is defined for every record."""
    if depth == 0 or rng.random() < 0.15:
        return pick(rng, ["arm.mean", "arm.pulls", "arm.variance", "1.5", "0.25", "C", "D", "scale", "TABLE[0]",
                          "TABLE[min(int(arm.pulls), 3)]", "PAIR[1]", "t * 0.125", "arm.maximum"])  # fmt: skip
    left, right = _term(rng, depth - 1), _term(rng, depth - 1)
    return pick(rng, [
        f"({left} + {right})", f"({left} - {right})", f"({left} * {right})", f"({left} / (abs({right}) + 1.0))",
        f"max({left}, {right})", f"min({left}, {right})", f"abs({left})", f"math.sqrt(abs({left}))", f"helper({left})",
        f"({left} if {right} > 0.5 else {_term(rng, 0)})", f"np.floor({left})", f"(-{left})",
    ])  # fmt: skip


def _make(rng: np.random.Generator) -> tuple[str, str, bool]:
    """The source of a module, what is changed in it after the first game, and whether the engine or an agent plays."""
    source = f"""
        import math
        import numpy as np

        C = {rng.integers(-4, 5) / 4}
        D = {rng.integers(1, 5)}
        PAIR = (0.5, {rng.integers(1, 5) / 2})
        TABLE = np.array({(rng.integers(-8, 9, 4) / 8).tolist()})

        def helper(x, by={rng.integers(1, 5) / 2}):
            return x * by + C

        def made(scale):
            def index(arm, t, L=0.5):
                value = {_term(rng, 3)}
                if value > {rng.integers(0, 8)}.0:
                    value = {_term(rng, 2)}
                return value + L * arm.mean
            return index

        index = made({rng.integers(1, 9) / 4})
        """
    change = pick(rng, ["C = C + 1.0", "D = D + 1", "TABLE[0] += 2.0", "PAIR = (0.5, 7.0)",
        "helper.__defaults__ = (3.0,)",
                        "index = made(9.0)", "index.__defaults__ = (4.0,)"])  # fmt: skip
    return textwrap.dedent(source), change, bool(rng.random() < 0.3)


def _check(case: tuple[str, str, bool]) -> None:
    source, change, live = case
    name = f"<fuzzed {next(_NUMBER)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    module: dict[str, Any] = {"__name__": "fuzzed"}
    exec(compile(source, name, "exec"), module)
    _compare(module["index"], live)
    exec(change, module)
    _compare(module["index"], live)


def _compare(index: Any, live: bool) -> None:
    """Whether every arm that was chosen has the largest index by Python's reckoning, but for rounding."""
    policy = sb.index_policy(name=f"fuzzed {next(_NUMBER)}")(index)(L=0.5)
    agent = policy.agent(arms=_ARMS)
    choices = [] if live else sb.trace(policy, sb.Tape(_TAPE), horizon=_HORIZON).choices.tolist()
    rewards: list[list[float]] = [[] for _ in range(_ARMS)]
    for t in range(_HORIZON):
        arm = agent.ask() if live else choices[t]
        if all(len(kept) >= 2 for kept in rewards):
            values = [float(index(_record(kept), float(t), 0.5)) for kept in rewards]
            assert values[arm] >= max(values) - 1e-9 * (1 + abs(max(values))), f"round {t}: {arm} of {values}"
        rewards[arm].append(float(_TAPE[arm, len(rewards[arm])]))
        if live:
            agent.tell(arm, rewards[arm][-1])


def _record(kept: list[float]) -> SimpleNamespace:
    n = len(kept)
    mean = math.fsum(kept) / n
    variance = math.fsum((x - mean) ** 2 for x in kept) / (n - 1)
    return SimpleNamespace(pulls=float(n), mean=mean, variance=variance, maximum=max(kept))


def target() -> Target:
    """The target of this file."""
    return Target("index_functions", _make, _check, seconds=60.0)  # most of it is compiling
