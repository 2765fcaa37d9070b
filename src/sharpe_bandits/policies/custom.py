"""A user's own index policy from a plain function."""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..call_tree import mentions, reads_local, reads_whole
from ..errors import InvalidInput, unknown
from ..objectives import Objective, check_objective, objective_from_dict
from .base import IndexPolicy

_RESERVED = ("name", "pilot_fraction", "pilot_pulls", "objective")


@dataclass(frozen=True)
class CustomPolicy(IndexPolicy):
    """An index policy made by :func:`index_policy`; call the decorated function to get one."""

    title: ClassVar[str] = "custom"
    citation: ClassVar[str] = "the user's own"

    factory: Any
    parameters: tuple[tuple[str, Any], ...] = ()
    objective: Objective | None = None

    @property
    def least_pilot(self) -> int:  # type: ignore[override]
        return int(self.factory.least_pilot)

    @property
    def goal(self) -> Objective | None:
        return self.objective

    @property
    def formula(self) -> Callable[..., Any]:
        return self.factory.function

    def argument(self, name: str, horizon: int) -> Any:
        return dict(self.parameters)[name]

    def never_falls(self, lowest: float) -> bool:
        return bool(self.factory.still if self.factory.never_falls is None else self.factory.never_falls)

    def to_dict(self) -> dict[str, Any]:
        return {
            "policy": "CustomPolicy",
            "defined_as": self.factory.name,
            "fingerprint": self.factory.fingerprint,
            "parameters": dict(self.parameters),
            "objective": None if self.objective is None else self.objective.to_dict(),
            "name": self.name,
            "pilot_fraction": self.pilot_fraction,
            "pilot_pulls": self.pilot_pulls,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> CustomPolicy:
        data = dict(data)
        defined_as = data.pop("defined_as", None)
        if defined_as not in PolicyFactory.known:
            raise unknown(
                "index policy (decorated with @index_policy and imported before loading)",
                defined_as,
                PolicyFactory.known,
            )
        fingerprint = data.pop("fingerprint", None)
        if fingerprint != PolicyFactory.known[defined_as].fingerprint:
            raise InvalidInput(
                f"the function of the index policy {defined_as!r} is not the one it was: to go on, import the old one; "
                "to change it, give the new one another name and start afresh"
            )
        objective = data.pop("objective", None)
        parameters = data.pop("parameters", {})
        return PolicyFactory.known[defined_as](
            **parameters, objective=None if objective is None else objective_from_dict(objective), **data
        )


class PolicyFactory:
    """What :func:`index_policy` returns: call it with the function's parameters to get a policy."""

    known: ClassVar[dict[str, PolicyFactory]] = {}

    def __init__(
        self, function: Callable[..., Any], name: str, never_falls: bool | None, objective: Objective | None
    ) -> None:
        if not inspect.isfunction(function):
            raise InvalidInput(f"an index policy is made of a function index(arm, t, ...), got {function!r}")
        signature = inspect.signature(function)
        names = list(signature.parameters)
        if names[:2] != ["arm", "t"]:
            raise InvalidInput(
                f"the index function {function.__name__} must take arm and t first, as in "
                f"def {function.__name__}(arm, t, L): ..., got ({', '.join(names)})"
            )
        for word in names[2:]:
            if word in _RESERVED:
                raise InvalidInput(
                    f"the index function {function.__name__} must not have a parameter {word!r}: rename it"
                )
            if signature.parameters[word].kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
                raise InvalidInput(f"parameter {word!r} of {function.__name__} must be an ordinary one")
        self.function, self.name, self.objective = function, name, objective
        self.fingerprint = _fingerprint(function)
        self.parameters = [signature.parameters[word] for word in names[2:]]
        self.__doc__ = function.__doc__
        read = mentions(function)
        self.never_falls = never_falls
        # A record that is unpacked, numbered or handed on may be read in ways that do not show here.
        hidden = reads_whole(function, "arm")
        self.still = not (hidden or "epsilon" in read or reads_local(function, "t"))
        self.least_pilot = 2 if hidden or "variance" in read else 1
        PolicyFactory.known[name] = self

    def __repr__(self) -> str:
        return f"<index policy {self.name!r}: {', '.join(p.name for p in self.parameters)}>"

    def __call__(
        self,
        *,
        name: str = "",
        pilot_fraction: float | None = None,
        pilot_pulls: int | None = None,
        objective: Objective | None = None,
        **parameters: Any,
    ) -> CustomPolicy:
        """A policy with these values for the function's parameters."""
        known = [p.name for p in self.parameters]
        for word in parameters:
            if word not in known:
                raise unknown(f"parameter of {self.name}", word, known)
        values = []
        for p in self.parameters:
            value = parameters.get(p.name, p.default)
            if value is inspect.Parameter.empty:
                raise InvalidInput(
                    f"{self.name} needs a value for {p.name}, as in {self.function.__name__}({p.name}=1.0)"
                )
            values.append((p.name, _number_or_table(p.name, value)))
            if isinstance(values[-1][1], np.ndarray):
                self.function.reads_tables = True  # type: ignore[attr-defined]  # see engine.compiler.READS_TABLES
        goal = self.objective if objective is None else check_objective(objective)
        return CustomPolicy(
            self,
            tuple(values),
            goal,
            name=name or self.name,
            pilot_fraction=pilot_fraction,
            pilot_pulls=pilot_pulls,
        )


def _fingerprint(function: Callable[..., Any]) -> str:
    """A digest of what a function says, whatever its layout and comments."""
    try:
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
        said = ast.unparse(ast.Module([*node.args.args, *node.body], []))  # type: ignore[attr-defined]
    except (OSError, TypeError, SyntaxError, ValueError, AttributeError):  # typed in where no source is kept
        said = repr((function.__code__.co_code, function.__code__.co_consts, function.__code__.co_names))
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def index_policy(
    *, name: str, never_falls: bool | None = None, objective: Objective | None = None
) -> Callable[[Callable[..., Any]], PolicyFactory]:
    """Make an index policy of a plain function ``index(arm, t, ...)``; it is compiled, and played like a built-in one.

    ``arm`` has ``pulls``, ``mean``, ``variance``, ``second_moment``, ``epsilon`` (``sqrt(2 ln t / pulls)``), ``last``,
    ``maximum`` and, for randomised policies, ``key`` (see :class:`sharpe_bandits.kernels.statistics.Arm`); ``t`` is the
    number of rounds already played; the arm with the largest index is played, ties go to the lowest arm, among infinite
    ones to the least played. Further parameters of the function become parameters of the policy.

    Parameters
    ----------
    name : default name of the policy
    never_falls : say True if an arm's index cannot fall as t grows while its record stands still (as for UCB indices):
        the policy is then played by the fast lazy kernel; the promise is tried on sample records before use.
        Default: True if the function reads neither ``t`` nor ``arm.epsilon``, otherwise False
    objective : what the policy tries to maximise (default: unknown; it then recommends the arm it played most)

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> @sb.index_policy(name="Greedy Sharpe")
    ... def greedy(arm, t, L):
    ...     return arm.mean ** 2 / (L + arm.variance)
    >>> greedy(L=1.0).name
    'Greedy Sharpe'
    """
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"an index policy needs a name, got {name!r}")
    if objective is not None:
        check_objective(objective)
    return lambda function: PolicyFactory(function, name, never_falls, objective)


def _number_or_table(name: str, value: Any) -> Any:
    try:
        return np.ascontiguousarray(value, float) if isinstance(value, (np.ndarray, list, tuple)) else float(value)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be a number or an array of numbers, got {value!r}") from None
