"""What policies, arms and objectives are: frozen dataclasses whose parameters are checked by their types."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache, partial
from types import UnionType
from typing import Annotated, Any, Literal, Union, dataclass_transform, get_args, get_origin, get_type_hints

from ..errors import InvalidInputError
from .plain_data import Kind
from .validation import (
    check_keywords,
    in_reward_units,
    inside,
    not_negative,
    one_of,
    positive,
    probability,
    regulariser,
    true_or_false,
)
from .validation import finite as check_finite
from .validation import whole as check_whole

Check = Callable[[str, Any], Any]

#: Types of parameters: each has a function of name and value that returns the value or raises.
Finite = Annotated[float, check_finite]
InRewardUnits = Annotated[float, in_reward_units]
Inside = Annotated[float, inside]
NotNegative = Annotated[float, not_negative]
Positive = Annotated[float, positive]
Probability = Annotated[float, probability]
Regulariser = Annotated[float, regulariser]
RegulariserOrZero = Annotated[float, partial(regulariser, zero=True)]


#: Checks of types without one.
_PLAIN: dict[Any, Check] = {bool: true_or_false, float: check_finite, int: partial(check_whole, minimum=None)}


def whole(minimum: int, maximum: int | None = None) -> Check:
    """The check of a whole number, as in ``m: Annotated[int, whole(1)]``."""
    return lambda name, value: check_whole(name, value, minimum, maximum)


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
class Described(Kind, abstract=True):
    """A frozen dataclass of parameters; subclasses need no decorator."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclasses.dataclass(frozen=True, repr=False)(cls)
        cls.__init__.__name__ = cls.__name__  # in errors
        cls.__init__ = check_keywords()(cls.__init__)  # type: ignore[method-assign]
        del cls.__setattr__, cls.__delattr__  # so that users may decorate the class once more

    def __setattr__(self, name: str, value: Any) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def __post_init__(self) -> None:
        for name, check in _checks(type(self)).items():  # type: ignore[arg-type]
            self._set(**{name: check(name, getattr(self, name))})
        self.check()

    def check(self) -> None:
        """Raise if parameters do not fit together; may normalise them with :meth:`_set`."""

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def parameter(self, name: str) -> Any:
        """A parameter as it was given."""
        return getattr(self, name)

    def number(self, name: str) -> float:
        """What its formula takes under this name."""
        if not hasattr(self, name):
            raise InvalidInputError(
                f"the formula of {type(self).__name__} takes {name!r}, which is no parameter of it; annotate it in the "
                f"class, as in {name}: float"
            )
        return float(getattr(self, name))

    def usual(self, field: dataclasses.Field[Any]) -> Any:
        """The default value of a parameter."""
        return field.default

    def __repr__(self) -> str:
        """The parameters that are not the default ones."""
        values = {f.name: (self.parameter(f.name), self.usual(f)) for f in dataclasses.fields(self)}  # type: ignore[arg-type]
        changed = (f"{name}={value!r}" for name, (value, usual) in values.items() if value != usual)
        return f"{type(self).__name__}({', '.join(changed)})"

    def to_dict(self) -> dict[str, Any]:
        values = {f.name: self.parameter(f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]
        described = {k: value.to_dict() if isinstance(value, Described) else value for k, value in values.items()}
        return {self.what: type(self).__name__, **described}


@cache
def _checks(cls: Any) -> dict[str, Check]:
    """Checks of the parameters of a class, by name."""
    types = get_type_hints(cls, include_extras=True)
    checks = {f.name: _check(types[f.name]) for f in dataclasses.fields(cls)}
    return {name: check for name, check in checks.items() if check is not None}


def _check(kind: Any) -> Check | None:
    if get_origin(kind) is Annotated:
        return kind.__metadata__[0]
    if get_origin(kind) is Literal:
        return partial(one_of, choices=get_args(kind))
    if get_origin(kind) in (Union, UnionType):
        check = next(filter(None, map(_check, get_args(kind))), None)
        return check and (lambda name, value: None if value is None else check(name, value))
    return _PLAIN.get(kind)
