"""A user's own index policy from a plain function."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any, ClassVar, overload

import numpy as np

from .._support.call_tree import mentions, reads_whole
from .._support.fingerprints import fingerprint, remember, sources
from .._support.validation import needs
from ..errors import InvalidInputError, shown, unknown
from ..objectives import Objective, check_objective
from .base import IndexPolicy

#: Parameters of every policy made here, beside those of its function.
OPTIONS = ("name", "pilot_fraction", "pilot_pulls", "objective")


class CustomPolicy(IndexPolicy):
    """An index policy made by :func:`index_policy`; call the decorated function to get one."""

    title: ClassVar[str] = "custom"
    citation: ClassVar[str] = "the user's own"
    users_own: ClassVar[bool] = True

    factory: Any
    parameters: tuple[tuple[str, Any], ...] = ()
    objective: Objective | None = None

    def __repr__(self) -> str:
        options = {"objective": self.objective, "pilot_fraction": self.pilot_fraction, "pilot_pulls": self.pilot_pulls}
        values = {**dict(self.parameters), **{key: value for key, value in options.items() if value is not None}}
        function = self.factory.function.__name__
        return f"{function}({', '.join(f'{key}={shown(value)}' for key, value in values.items())})"

    def _identity(self) -> tuple[Any, ...]:
        values = tuple((name, np.shape(value), np.asarray(value).tobytes()) for name, value in self.parameters)
        return self.factory, values, self.objective, self.name, self.pilot_fraction, self.pilot_pulls

    def __eq__(self, other: object) -> bool:
        return self._identity() == other._identity() if isinstance(other, CustomPolicy) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

    @property
    def least_pilot(self) -> int:  # type: ignore[override]
        # If the arm's record is unpacked, indexed or passed on, it is unknown which fields are read.
        return 2 if reads_whole(self.formula, "arm") or "variance" in mentions(self.formula) else 1

    @property
    def formula(self) -> Callable[..., Any]:
        return self.factory.function

    def argument(self, name: str, horizon: int) -> Any:
        value = dict(self.parameters)[name]
        return _read_only(value) if isinstance(value, np.ndarray) else value

    def to_dict(self) -> dict[str, Any]:
        factory = {"defined_as": self.factory.name, "fingerprint": self.factory.fingerprint}
        data = {**super().to_dict(), **factory, "parameters": dict(self.parameters)}
        del data["factory"]
        return data

    @classmethod
    def from_parameters(cls, data: dict[str, Any]) -> CustomPolicy:
        defined_as, known = data.pop("defined_as", None), PolicyFactory.known
        if defined_as not in known:
            what = "index policy (decorated with @index_policy and imported before loading)"
            raise unknown(what, defined_as, known)
        if data.pop("fingerprint", None) != known[defined_as].fingerprint:
            raise _changed(defined_as)
        return known[defined_as](**data.pop("parameters", {}), **data)


class PolicyFactory:
    """What :func:`index_policy` returns: call it with the function's parameters to get a policy."""

    known: ClassVar[dict[str, PolicyFactory]] = {}

    def __init__(self, function: Callable[..., Any], name: str, objective: Objective | None) -> None:
        if not inspect.isfunction(function):
            raise InvalidInputError(f"an index policy is made of a function index(arm, t, ...), got {shown(function)}")
        signature = inspect.signature(function)
        names, kinds = list(signature.parameters), {p.kind for p in signature.parameters.values()}
        if names[:2] != ["arm", "t"] or kinds != {inspect.Parameter.POSITIONAL_OR_KEYWORD} or {*names} & {*OPTIONS}:
            raise InvalidInputError(
                f"an index function must take arm and t first, as in def {function.__name__}(arm, t, L): ..., and no "
                f"parameter that is keyword-only, *args, **kwargs or one of {', '.join(OPTIONS)}; got "
                f"{function.__name__}{signature}"
            )
        self.function, self.name, self.objective = function, name, objective
        self.__doc__ = function.__doc__
        fingerprint(function)  # records the source, which may be edited later
        PolicyFactory.known[name] = self

    # These properties are computed whenever they are needed: a helper or a constant may have changed.

    @property
    def fingerprint(self) -> str:
        """A digest of the function, everything it calls, and every value that these read, as they are now."""
        return fingerprint(self.function)

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The function's parameters after arm and t."""
        return list(inspect.signature(self.function).parameters.values())[2:]

    @property
    def __signature__(self) -> inspect.Signature:
        own = [p.replace(kind=p.KEYWORD_ONLY) for p in self.parameters]
        options = inspect.signature(type(self).__call__).parameters
        return inspect.Signature([*own, *(options[name] for name in OPTIONS)])

    def __reduce__(self) -> tuple[Any, ...]:
        import cloudpickle

        content = (self.function, self.__dict__ | {"function": None}, sources(self.function))
        return _restored, (cloudpickle.dumps(content), self.fingerprint)

    def __repr__(self) -> str:
        return f"<index policy {self.name!r}: {', '.join(p.name for p in self.parameters)}>"

    def __call__(
        self,
        *positional: Any,
        name: str = "",
        pilot_fraction: float | None = None,
        pilot_pulls: int | None = None,
        objective: Objective | None = None,
        **parameters: Any,
    ) -> CustomPolicy:
        """A policy with these values for the function's parameters."""
        values = {p.name: p.default for p in self.parameters}
        if len(positional) > len(values) or {*list(values)[: len(positional)]} & parameters.keys():
            raise InvalidInputError(
                f"{self.function.__name__} takes {', '.join(values) or 'no parameters'}, each once, got "
                f"{shown(positional)} before those that are named"
            )
        values |= zip(values, positional, strict=False)
        if strange := [word for word in parameters if word not in values]:
            raise unknown(f"parameter of {self.name}", strange[0], values)
        values |= parameters
        if missing := [name for name, value in values.items() if value is inspect.Parameter.empty]:
            raise needs(self.function.__name__, missing)
        return CustomPolicy(
            self,
            tuple((name, _number_or_table(name, value)) for name, value in values.items()),
            self.objective if objective is None else check_objective(objective),
            name=self.name if isinstance(name, str) and not name else name,
            pilot_fraction=pilot_fraction,
            pilot_pulls=pilot_pulls,
        )


def _changed(name: str) -> InvalidInputError:
    return InvalidInputError(
        f"the function of the index policy {name!r}, or a value that it reads, is not what it was: to go on, restore "
        "it; to change it, give the new one another name and start again"
    )


def _restored(content: bytes, digest: str) -> PolicyFactory:
    """The factory that was pickled; if the same one is defined here, that one."""
    function, attributes, texts = pickle.loads(content)
    remember(texts)
    factory = object.__new__(PolicyFactory)
    factory.__dict__.update(attributes, function=function)
    if factory.fingerprint != digest:  # a helper or a constant of an importable module differs here
        raise _changed(factory.name)
    known = PolicyFactory.known.setdefault(factory.name, factory)
    return known if known.fingerprint == digest else factory


@overload
def index_policy(function: Callable[..., Any], /) -> PolicyFactory: ...


@overload
def index_policy(
    *, name: str | None = None, objective: Objective | None = None
) -> Callable[[Callable[..., Any]], PolicyFactory]: ...


def index_policy(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    objective: Objective | None = None,
) -> PolicyFactory | Callable[[Callable[..., Any]], PolicyFactory]:
    """Make an index policy from a plain function ``index(arm, t, ...)``, which is compiled like a built-in one.

    ``arm`` has ``pulls``, ``mean``, ``variance``, ``second_moment``, ``epsilon`` (``sqrt(2 ln t / pulls)``), ``last``,
    ``maximum`` and, for randomised policies, ``key`` (see :class:`sharpe_bandits.play.statistics.ArmRecord`); ``t``
    is the number of rounds already played. The arm with the largest index is played; ties go to the lowest arm, among
    infinite indices to the least played arm. Further parameters of the function become parameters of the policy.

    Parameters
    ----------
    name : str | None, optional
        default name of the policy
    objective : Objective | None, optional
        the objective that the policy tries to maximise (default: unknown; it then recommends the arm it played most)

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> @sb.index_policy(name="Greedy Sharpe")
    ... def greedy(arm, t, L):
    ...     return arm.mean ** 2 / (L + arm.variance)
    >>> greedy(L=1.0).name
    'Greedy Sharpe'
    """
    if name is not None and (not isinstance(name, str) or not name):
        raise InvalidInputError(f"an index policy needs a name, got {shown(name)}")
    if objective is not None:
        check_objective(objective)

    def make(formula: Callable[..., Any]) -> PolicyFactory:
        return PolicyFactory(formula, name or str(getattr(formula, "__name__", "")), objective)

    return make if function is None else make(function)


def _number_or_table(name: str, value: Any) -> Any:
    try:
        if isinstance(value, (np.ndarray, list, tuple)):
            return _read_only(np.array(value, float, order="C"))  # a copy: the caller's array may change
        if not isinstance(value, str):
            return float(value)
    except Exception:  # conversion may fail in any way
        pass
    raise InvalidInputError(f"{name} must be a number or an array of numbers, got {shown(value)}")


def _read_only(table: np.ndarray) -> np.ndarray:
    view = table.view()
    view.flags.writeable = False
    return view
