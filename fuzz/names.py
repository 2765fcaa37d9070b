"""Names of policies, arms, columns and index functions: refused at once, or carried to every report."""

from __future__ import annotations

import io
import tempfile
from typing import Any

import numpy as np

import sharpe_bandits as sb

from .driver import Target
from .things import ODD_NUMBERS, ODD_TEXTS, pick

_LETTERS = [
    *"ab$_^{}\\<>&\"'=+-@#%`~|/;,. \t\n\r\0",
    "é",
    "名",
    "𝔘",
    "\u202e",
    "\ud800",
    "\ufeff",
    "\x1b",
    "\u2028",
    "́",
]
_RETURNS = np.random.default_rng(5).normal(0.001, 0.01, (40, 2))


def _name(rng: np.random.Generator) -> Any:
    if rng.random() < 0.1:
        return pick(rng, ODD_NUMBERS)
    if rng.random() < 0.3:
        return pick(rng, ODD_TEXTS)
    return "".join(pick(rng, _LETTERS) for _ in range(int(rng.integers(1, 12))))


def _make(rng: np.random.Generator) -> tuple[str, Any, Any]:
    return pick(rng, ["policy", "arm", "column", "agent", "index"]), _name(rng), _name(rng)


def _check(case: tuple[str, Any, Any]) -> None:
    what, first, second = case
    if what == "policy":
        study = sb.simulate(sb.UCBRSSR(L=1.0, name=first), _PAIR, horizon=8, runs=2, checkpoints=[8])
        name = next(iter(study))
        repr(study), repr(study[name])
        with tempfile.TemporaryDirectory() as folder:
            study.save(folder)
            assert list(sb.load(folder)) == [name]
    elif what == "arm":
        bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0, 2)], names=[first, second])
        assert len(set(bandit.names)) == 2
        repr(bandit)
    elif what == "column":
        returns = sb.read_returns(_RETURNS, names=[first, second], kind="returns", periods_per_year=252)
        assert len(set(returns.names)) == 2
        io.StringIO(repr(returns))
        _encodable(*returns.names)
    elif what == "agent":
        agent = sb.UCBRSSR(L=1.0).agent(arms=[first, second])
        agent.tell(agent.ask(), 1.0)
        assert sb.Agent.from_json(agent.to_json()).to_json() == agent.to_json()
        _encodable(*agent.arms)
    else:
        policy = sb.index_policy(name=first)(lambda arm, t: arm.mean)(name=second)
        repr(policy)
        _encodable(policy.name)


def _encodable(*names: str) -> None:
    for name in names:
        name.encode()  # what was let in can be written to a file


_PAIR = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0, 2)])


def target() -> Target:
    """The target of this file."""
    _check(("policy", "warm", "up"))
    return Target("names", _make, _check)
