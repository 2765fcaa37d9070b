"""Arms and bandits: parameters of any type and size, whose moments and draws are then asked for."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import scipy.stats

import sharpe_bandits as sb
from sharpe_bandits.arms.base import Arm

from .driver import Target
from .things import ODD_NUMBERS, ODD_TEXTS, Hostile, pick

_KINDS = [kind for name, kind in sorted(Arm.kinds.items()) if name != "Scipy" and kind.__module__.startswith("sharpe")]
_DISTRIBUTIONS = (
    "norm", "lognorm", "t", "pareto", "expon", "uniform", "laplace", "gamma", "poisson", "geom", "binom", "cauchy",
)  # fmt: skip


def _parameter(rng: np.random.Generator) -> Any:
    if rng.random() < 0.25:
        return pick(rng, ODD_NUMBERS)
    return float(pick(rng, [rng.random(), rng.normal(), 10.0 ** rng.integers(-320, 308), float(rng.integers(-5, 9))]))


def _arm(rng: np.random.Generator) -> tuple[Any, list[Any]]:
    """What makes an arm, and its arguments."""
    if rng.random() < 0.15:
        make = getattr(scipy.stats, pick(rng, _DISTRIBUTIONS))
        return make, [_parameter(rng) for _ in range(int(rng.integers(0, 4)))]
    kind = pick(rng, _KINDS)
    arguments = [_parameter(rng) for _ in inspect.signature(kind).parameters]
    if kind in (sb.Empirical, sb.arms.BlockBootstrap):
        listed: list[Any] = [float(x) for x in rng.normal(size=int(rng.integers(0, 6)))]
        if listed and rng.random() < 0.5:
            listed[0] = _parameter(rng)
        arguments[0] = pick(rng, [listed, listed, tuple(listed), iter(listed), "text", Hostile(), None])
    return kind, arguments


def _make(rng: np.random.Generator) -> tuple[list[tuple[Any, list[Any]]], dict[str, Any]]:
    options: dict[str, Any] = {}
    for option, values in {
        "names": [["a", "b"], ["a", "a"], "ab", 5, [Hostile(), 1], list(ODD_TEXTS), Hostile()],
        "clock": ["pulls", "rounds", 5, Hostile()], "jointly": [True, False, 1, Hostile()],
    }.items():  # fmt: skip
        if rng.random() < 0.1:
            options[option] = pick(rng, values)
    return [_arm(rng) for _ in range(int(rng.integers(1, 4)))], options


def _check(case: tuple[list[tuple[Any, list[Any]]], dict[str, Any]]) -> None:
    described, options = case
    arms: list[Any] = []
    for make, arguments in described:
        if not isinstance(make, type):  # what scipy itself refuses is not ours to judge
            try:
                arms.append(make(*arguments))
            except Exception:
                return
        else:
            arms.append(make(*arguments))
    bandit = sb.Bandit([*arms, sb.arms.Constant(1.0)], **options)
    assert np.isfinite(bandit.means).all()
    assert (bandit.variances >= 0).all()
    assert np.isfinite(bandit.table(0, range(1)).loc).all()
    for arm in bandit.arms:
        low, high = arm.support
        assert low <= high
        repr(arm)
    bandit.to_dict()


def target() -> Target:
    """The target of this file."""
    return Target("arms", _make, _check, seconds=10.0)  # moments of scipy distributions by quadrature
