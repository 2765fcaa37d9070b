"""What a policy is: an immutable description. What it has learnt lives in an agent or a kernel, never here."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import BudgetTooSmall, InvalidInput, unknown
from ..objectives import Objective, objective_from_dict
from ..validation import inside, real, whole

if TYPE_CHECKING:
    from ..agents import Agent

#: The paper that this library implements.
PAPER = "Khurshid, Abdulla & Ghatak, Optimizing Sharpe Ratio: Risk-Adjusted Decision-Making in Multi-Armed Bandits"

#: The memory of a policy that forgets nothing: see :attr:`IndexPolicy.memory`.
EVERYTHING = (0, 1.0)


@dataclass(frozen=True)
class Policy:
    """A rule that says which arm to play. Subclasses add their parameters as dataclass fields."""

    #: Default name, as the paper writes it.
    title: ClassVar[str]
    #: Where the rule comes from.
    citation: ClassVar[str]
    #: Every concrete policy class by its class name.
    kinds: ClassVar[dict[str, type[Policy]]] = {}

    name: str = field(default="", kw_only=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "title" in cls.__dict__:
            Policy.kinds[cls.__name__] = cls

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise InvalidInput(f"name must be text, got {self.name!r}")
        self._set(name=self.name or self.title)
        self.check()

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def check(self) -> None:
        """Raise if a parameter is out of range; may normalise parameters with :meth:`_set`."""

    @property
    def goal(self) -> Objective | None:
        """What the policy tries to maximise; None if it does not say."""
        raise AssertionError(f"{type(self).__name__} names no objective")

    @property
    def sought(self) -> int:
        """How many arms are recommended in the end."""
        return 1

    def check_horizon(self, horizon: int, arms: int) -> None:
        """Raise :class:`BudgetTooSmall` if the policy cannot be played on so many arms for so many rounds."""
        raise AssertionError(f"{type(self).__name__} checks no horizon")

    def agent(self, arms: int | Iterable[str], *, horizon: int | None = None, seed: int = 0) -> Agent:
        """A live agent that follows this policy: ask it for an arm, tell it the reward.

        Parameters
        ----------
        arms : names of the arms, or their number (they are then called 0, 1, ...)
        horizon : number of rounds, where the policy needs to know it
        seed : of the policy's own randomness, if it has any
        """
        from ..agents import new_agent

        return new_agent(self, arms, horizon, seed)

    def to_dict(self) -> dict[str, Any]:
        """Plain data from which :func:`policy_from_dict` makes the same policy."""
        data: dict[str, Any] = {"policy": type(self).__name__}
        for f in dataclasses.fields(self):
            value = getattr(self, f.name)
            data[f.name] = value.to_dict() if isinstance(value, Objective) else value
        return data

    def in_words(self) -> str:
        """Kind and parameters: ``ScaleFreeUCB(L = 0.1, risk_free = 0, c = 0.5)``."""
        data = self.to_dict()
        kind = data.pop("policy")
        words = [
            f"{key} = {f'{value:.6g}' if isinstance(value, float) else value}"
            for key, value in data.items()
            if key != "name" and value is not None
        ]
        return f"{kind}({', '.join(words)})"

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Policy:
        """The policy described by plain data, its kind already taken off."""
        values = {k: objective_from_dict(v) if isinstance(v, dict) else v for k, v in data.items()}
        return cls(**values)  # type: ignore[arg-type]


def policy_from_dict(data: dict[str, Any]) -> Policy:
    """The policy described by plain data (see :meth:`Policy.to_dict`)."""
    data = dict(data)
    kind = data.pop("policy", None)
    if kind not in Policy.kinds:
        raise unknown("policy", kind, Policy.kinds)
    try:
        return Policy.kinds[kind].from_dict(data)
    except TypeError as error:
        raise InvalidInput(f"these are not the parameters of {kind}: {error}") from None


@dataclass(frozen=True)
class IndexPolicy(Policy):
    """Plays the arm with the largest index after a pilot in which all arms are played equally often.

    Subclasses give :attr:`formula`, a plain function ``index(arm, t, ...)`` of an arm's record
    (:class:`sharpe_bandits.kernels.statistics.Arm`), the number of rounds already played, and the policy's own
    parameters by name. Engine and agents compile that one function.

    The pilot is ``max(least_pilot, ceil(pilot_fraction * n / K))`` pulls per arm, or ``pilot_pulls``.
    """

    #: Pulls per arm before the index is defined (two where it looks at the variance).
    least_pilot: ClassVar[int] = 2
    #: Whether the formula needs to know the horizon.
    needs_horizon: ClassVar[bool] = False

    pilot_fraction: float | None = field(default=None, kw_only=True)
    pilot_pulls: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.pilot_fraction is not None and self.pilot_pulls is not None:
            raise InvalidInput(
                f"give pilot_fraction or pilot_pulls, not both (got {self.pilot_fraction!r} and {self.pilot_pulls!r})"
            )
        if self.pilot_fraction is not None:
            self._set(pilot_fraction=inside("pilot_fraction", self.pilot_fraction))
        if self.pilot_pulls is not None:
            self._set(pilot_pulls=whole("pilot_pulls", self.pilot_pulls, self.least_pilot))
        super().__post_init__()

    @property
    def formula(self) -> Callable[..., Any]:
        """The index, a plain function of (arm, t, parameters by name)."""
        raise AssertionError(f"{type(self).__name__} names no formula")

    @property
    def score(self) -> Callable[..., Any] | None:
        """A function like the formula whose largest value over all arms the index sees as ``arm.lead``, if it does."""
        return None

    @property
    def memory(self) -> tuple[int, float]:
        """Rewards of how many rounds are remembered (0: of all), and what each round leaves of a reward's weight."""
        return EVERYTHING

    def argument(self, name: str, horizon: int) -> Any:
        """The value of the formula's parameter ``name``: by default the policy's field of that name.

        Tables (arrays) must have entries for pulls or rounds up to ``horizon``.
        """
        return float(getattr(self, name))

    def arguments(self, horizon: int) -> tuple[Any, ...]:
        """What the formula takes after arm and t, for a game of ``horizon`` rounds."""
        code = self.formula.__code__
        return tuple(self.argument(name, horizon) for name in code.co_varnames[2 : code.co_argcount])

    def never_falls(self, lowest: float) -> bool:
        """Whether an arm's index cannot fall as t grows while its record stands still, given the lowest reward."""
        return False

    def pilot(self, horizon: int | None, arms: int) -> int:
        """Pulls of each arm in the pilot."""
        if self.pilot_pulls is not None:
            return self.pilot_pulls
        if self.pilot_fraction is None:
            return self.least_pilot
        if horizon is None:
            raise InvalidInput(
                f"{self.name} has pilot_fraction={self.pilot_fraction!r} and so needs a horizon; pass horizon=... or "
                "set pilot_pulls instead"
            )
        return max(self.least_pilot, math.ceil(self.pilot_fraction * horizon / arms))

    def check_horizon(self, horizon: int, arms: int) -> None:
        needed = self.pilot(horizon, arms) * arms
        if horizon < needed:
            raise BudgetTooSmall(
                f"{self.name} needs a horizon of at least {needed} for {arms} arms ({needed // arms} pulls each in the "
                f"pilot), got {horizon}"
            )


@dataclass(frozen=True)
class EliminationPolicy(Policy):
    """Plays in phases and drops the arms with the lowest estimated objective after each; recommends those left."""

    #: Whether an arm that is clearly among the best is accepted, and not played any more.
    accepts: ClassVar[bool] = False
    #: Whether a phase after one that drops no arm has its pulls shared out so that estimates are equally certain. Such
    #: a policy keeps its samples.
    by_spread: ClassVar[bool] = False

    @property
    def keeps_samples(self) -> bool:
        """Whether estimates use all of an arm's rewards, or those of the current phase alone."""
        raise AssertionError(f"{type(self).__name__} does not say whether it keeps samples")

    def phases(self, budget: int, arms: int) -> list[tuple[int, int]]:
        """Per phase: pulls of each arm alive, and how many arms stay afterwards."""
        raise AssertionError(f"{type(self).__name__} has no phases")

    def _playable(self, budget: int, arms: int) -> bool:
        phases = self.phases(budget, arms)
        return (phases[0][0] if self.keeps_samples else min(pulls for pulls, _ in phases)) >= 2

    def least_budget(self, arms: int) -> int:
        """The smallest budget with two pulls per arm where the variance is estimated."""
        self._check_sought(arms)
        high = 4 * arms
        while not self._playable(high, arms):
            high *= 2
        low = 0
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._playable(middle, arms) else (middle, high)
        return high

    def check_horizon(self, horizon: int, arms: int) -> None:
        self._check_sought(arms)
        if not self._playable(horizon, arms):
            raise BudgetTooSmall(
                f"{self.name} needs a budget of at least {self.least_budget(arms)} for {arms} arms (two pulls per arm "
                f"and phase), got {horizon}"
            )

    def _check_sought(self, arms: int) -> None:
        if self.sought >= arms:
            raise InvalidInput(
                f"{self.name} looks for the m = {self.sought} best arms, but there are {arms}; m must be less than the "
                f"number of arms: pass m={arms - 1} at most, or more arms"
            )


@dataclass(frozen=True)
class StoppingPolicy(Policy):
    """Plays until it is sure which arm is best, but for an error of probability ``delta``; then it stops.

    Subclasses give two plain functions of an arm's record (:class:`sharpe_bandits.kernels.statistics.Arm`) and of
    :meth:`arguments`: the estimate that arms are compared by, and the variance of one pull's influence on it.
    """

    delta: float = field(default=0.05, kw_only=True)
    pilot_pulls: int = field(default=32, kw_only=True)

    def __post_init__(self) -> None:
        if not 0 < real(self.delta) < 1:
            raise InvalidInput(
                "delta, the accepted probability of a wrong answer, must lie strictly between 0 and 1, got "
                f"{self.delta!r}; 0.05 is usual"
            )
        self._set(delta=float(self.delta), pilot_pulls=whole("pilot_pulls", self.pilot_pulls, 2))
        super().__post_init__()

    @property
    def estimate(self) -> Callable[..., Any]:
        """What arms are compared by."""
        raise AssertionError(f"{type(self).__name__} names no estimate")

    @property
    def noise(self) -> Callable[..., Any]:
        """The variance of one pull's influence on the estimate."""
        raise AssertionError(f"{type(self).__name__} names no noise")

    def arguments(self) -> tuple[float, ...]:
        """What both functions take after the arm."""
        raise AssertionError(f"{type(self).__name__} names no arguments")

    def log_odds(self, arms: int) -> float:
        """``ln((K - 1) / delta)``: any of the other arms could be mistaken for the best one."""
        return math.log((arms - 1) / self.delta)

    def check_horizon(self, horizon: int, arms: int) -> None:
        needed = self.pilot_pulls * arms
        if horizon < needed:
            raise BudgetTooSmall(
                f"{self.name} needs a limit of at least {needed} for {arms} arms ({self.pilot_pulls} pulls each in the "
                f"pilot), got {horizon}; raise it or set pilot_pulls=..."
            )


def check_policy(thing: Any) -> Policy:
    """``thing`` if it is a policy."""
    if isinstance(thing, Policy):
        return thing
    if isinstance(thing, type) and issubclass(thing, Policy):
        raise InvalidInput(
            f"{thing.__name__} is a policy class; call it with its parameters, as in {thing.__name__}(...)"
        )
    hint = "; call it with its parameters" if callable(thing) else ""
    raise InvalidInput(f"a policy such as UCBRSSR(L=0.5) is needed, got {thing!r}{hint}")
