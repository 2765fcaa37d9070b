"""The base classes of policies, which are immutable: what one has learnt is kept in an agent or a kernel."""

from __future__ import annotations

import dataclasses
import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

from .._support.described import Described, Inside, NotNegative, Regulariser, whole
from .._support.display import html_table, in_words
from .._support.names import check_name
from .._support.validation import check_keywords, is_whole, one_of
from .._support.validation import whole as check_whole
from ..errors import BudgetTooSmallError, InvalidInputError, shown
from ..objectives import RSSR, MeanVariance, Objective
from ..objectives.influence import Formula
from ..play.elimination import drop_worst, share_equally
from ..play.fixed_confidence import in_turn

if TYPE_CHECKING:
    from ..live.agents import Agent

#: The paper that this library implements.
PAPER = "Khurshid, Abdulla & Ghatak, Optimizing Sharpe Ratio: Risk-Adjusted Decision-Making in Multi-Armed Bandits"

#: Pulls of an arm after which a policy checks whether it can handle its rewards.
MIN_PULLS_FOR_WARNING = 10
#: Whether rewards are maximised, or are costs, which are minimised.
Direction = Literal["max", "min"]
#: How a policy forgets that forgets nothing: see :attr:`IndexPolicy.forgetting`.
NO_FORGETTING = (0, 1.0)


class Policy(Described, abstract=True):
    """A rule for choosing arms. Subclasses add their parameters as dataclass fields, and define ``objective``: what the
    policy tries to maximise, None if that is unknown.
    """

    #: Default name, as the paper writes it; unless it is set, the name of the class.
    title: ClassVar[str]
    #: Where the rule comes from.
    citation: ClassVar[str] = ""
    #: The name of its adapter in :mod:`sharpe_bandits.simulation.families`.
    family: ClassVar[str]
    #: The metric that it is ranked by unless another is asked for.
    default_metric: ClassVar[Literal["regret", "error", "stopping time"]]
    #: Whether it plays for low regret, until the horizon.
    minimises_regret: ClassVar[bool] = False
    #: Whether it identifies best arms with a fixed budget: all of its rounds explore.
    has_fixed_budget: ClassVar[bool] = False
    #: Whether it identifies best arms with a fixed confidence: a run ends when the policy is sure.
    stops_itself: ClassVar[bool] = False
    #: Whether it plays all arms equally often, whatever they pay.
    ignores_rewards: ClassVar[bool] = False
    #: Increased whenever a release makes other choices from the same rewards: campaigns log which one chose.
    choices_revision: ClassVar[int] = 1
    what: ClassVar[str] = "policy"
    #: Every concrete policy class by its class name.
    kinds: ClassVar[dict[str, type[Policy]]]

    name: str = field(default="", kw_only=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "title" not in vars(cls):
            cls.title = cls.__name__

    def __post_init__(self) -> None:
        self._set(name=self.title if self.name == "" else check_name("the name of a policy", self.name))
        super().__post_init__()
        if not hasattr(self, "objective"):
            raise InvalidInputError(
                f"{type(self).__name__} does not say what it maximises; add an objective (None: it is unknown)"
            )

    def usual(self, field: dataclasses.Field[Any]) -> Any:
        return self.title if field.name == "name" else super().usual(field)

    if TYPE_CHECKING:  # a property, or a parameter

        @property
        def objective(self) -> Objective | None:
            """The objective that the policy tries to maximise; None if it is unknown."""

    @property
    def n_recommended(self) -> int:
        """Number of arms recommended at the end."""
        return 1

    def check_horizon(self, horizon: int, arms: int) -> None:
        """Raise :class:`BudgetTooSmallError` if the horizon is too short for this number of arms."""
        raise AssertionError(f"{type(self).__name__} does not define check_horizon")

    def with_fixed_pilot(self, horizon: int, arms: int) -> Policy:
        """The policy with parameters that depend on the game, such as the length of its pilot, as fixed numbers."""
        return self

    @check_keywords(
        budget="the budget of a policy with phases is its horizon; pass horizon=",
        objective="policies are given theirs, as in ScaleFreeUCB(objective=...)",
        runs="an agent plays once; simulate() plays many runs",
    )
    def agent(
        self, arms: int | Iterable[str], *, horizon: int | None = None, seed: int = 0, direction: Direction = "max"
    ) -> Agent:
        """A live agent that follows this policy: ask it for an arm, tell it the reward.

        Parameters
        ----------
        arms : int | Iterable[str]
            names of the arms, or their number (they are then called 0, 1, ...)
        horizon : int | None, optional
            number of rounds, if the policy needs it (the budget of a policy with phases)
        seed : int, optional
            seed of the policy's own randomness, if it has any
        direction : Direction, optional
            "min" if rewards are costs: tell them as they are. The policy maximises its objective of minus the cost,
            so give it one that does not reward risk there, as in ``ScaleFreeUCB(objective=MeanRisk(aversion=0.5))``
        """
        from ..live.agents import AGENTS

        one_of("direction", direction, get_args(Direction))
        agent = AGENTS[self.family](self, arms, horizon, seed)
        agent.direction = direction
        return agent

    def reward_warning(self, arms: list[tuple[Any, float, float, float]], horizon: int | None) -> str | None:
        """A warning, with the remedy, if the policy cannot handle such rewards; otherwise None.

        ``arms`` has the name, pulls, mean and variance of each arm; ``horizon`` is None if it is unknown.
        """
        objective = self.objective
        if objective is None:
            return None
        rate, maximises = objective.hurdle, f"{self.name} maximises {type(objective).__name__}"
        losers = [
            (arm, pulls, mean, mean + 2 * math.sqrt(variance / pulls) < rate)
            for arm, pulls, mean, variance in arms
            if pulls >= MIN_PULLS_FOR_WARNING and mean < rate
        ]
        if objective.rewards_risk_of_losses and sum(is_sure for *_, is_sure in losers) == len(arms):
            return (
                f"{maximises}, and the mean of every arm is below {rate:g}, where it rewards risk: of two arms with "
                "the same loss the riskier one looks better. Use an objective that never rewards risk, as in "
                'ScaleFreeUCB(objective=MeanRisk(aversion=0.5)), and for costs agents with direction="min"'
            )
        if objective.rewards_losses and losers:
            arm, pulls, mean, _ = losers[0]
            return (
                f"{maximises}, which squares the mean, and arm {arm!r} has a mean of {mean:.4g} after {pulls:g} pulls: "
                "the more it loses, the better it looks. Use a signed objective: ScaleFreeUCB(L=...), or "
                "RSSR(L, signed=True) where the policy takes an objective; if all arms lose, MeanRisk(aversion=...)"
            )
        return None

    def in_words(self) -> str:
        """Kind and parameters: ``ScaleFreeUCB(L = 0.1, risk_free = 0, c = 0.5)``."""
        return in_words(self.to_dict())

    def _repr_html_(self) -> str:
        (_, kind), (_, name), *parameters = self.to_dict().items()
        return html_table(("parameter", "value"), parameters, f"{name} ({kind}): {self.citation}")


class IndexPolicy(Policy, abstract=True):
    """Plays the arm with the largest index after a pilot in which all arms are played equally often.

    Subclasses define :attr:`formula`, a plain function ``index(arm, t, ...)`` of an arm's record
    (:class:`sharpe_bandits.play.statistics.ArmRecord`), the number of rounds already played, and the policy's own
    parameters by name. Engine and agents compile that one function.

    The pilot is ``max(least_pilot, ceil(pilot_fraction * n / K))`` pulls per arm, or ``pilot_pulls``.
    """

    family: ClassVar[str] = "index"
    default_metric = "regret"
    minimises_regret: ClassVar[bool] = True
    #: Whether the formula is a user's own, which must be checked before use.
    users_own: ClassVar[bool] = False
    #: Pulls per arm before the index is defined (two if it uses the variance).
    least_pilot: ClassVar[int] = 2
    #: Whether the formula needs to know the horizon.
    needs_horizon: ClassVar[bool] = False
    #: Functions that the formula calls, and replacements without branches, which are NaN where a branch is needed: the
    #: formula is then evaluated again. With them many runs are evaluated by vector instructions. NaN must reach the
    #: result of the formula.
    branch_free: ClassVar[dict[Formula, Formula]] = {}

    pilot_fraction: Inside | None = field(default=None, kw_only=True)
    pilot_pulls: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.pilot_fraction is not None and self.pilot_pulls is not None:
            raise InvalidInputError(
                f"give pilot_fraction or pilot_pulls, not both (got {shown(self.pilot_fraction)} and "
                f"{shown(self.pilot_pulls)})"
            )
        if self.pilot_pulls is not None:
            self._set(pilot_pulls=check_whole("pilot_pulls", self.pilot_pulls, self.least_pilot))
        super().__post_init__()

    @property
    def formula(self) -> Formula:
        """The index, a plain function of (arm, t, parameters by name)."""
        raise AssertionError(f"{type(self).__name__} does not define a formula")

    @property
    def score(self) -> Formula | None:
        """A function like the formula, whose maximum over all arms the index can read as ``arm.lead``; None: unused."""
        return None

    @property
    def forgetting(self) -> tuple[int, float]:
        """The window in rounds (0: unlimited), and the factor by which each round discounts a reward's weight."""
        return NO_FORGETTING

    def argument(self, name: str, horizon: int) -> Any:
        """The value of the formula's parameter ``name``: by default the policy's field of that name, of ``objective``
        the parameters. Tables (arrays) must have entries for pulls or rounds up to ``horizon``.
        """
        return self.objective.arguments() if name == "objective" and self.objective else self.number(name)

    def arguments(self, horizon: int) -> tuple[Any, ...]:
        """The arguments of the formula after arm and t, for a game of ``horizon`` rounds."""
        code = self.formula.__code__
        return tuple(self.argument(name, horizon) for name in code.co_varnames[2 : code.co_argcount])

    def pilot(self, horizon: int | None, arms: int) -> int:
        """Pulls of each arm in the pilot."""
        if self.pilot_pulls is not None:
            return self.pilot_pulls
        if self.pilot_fraction is None:
            return self.least_pilot
        if horizon is None:
            raise InvalidInputError(
                f"{self.name} has pilot_fraction={self.pilot_fraction!r}, so it needs a horizon; pass horizon=... or "
                "set pilot_pulls instead"
            )
        return max(self.least_pilot, math.ceil(self.pilot_fraction * horizon / arms))

    def with_fixed_pilot(self, horizon: int, arms: int) -> Policy:
        return dataclasses.replace(self, pilot_fraction=None, pilot_pulls=self.pilot(horizon, arms))

    def check_horizon(self, horizon: int, arms: int) -> None:
        _check_pilot(self, "a horizon", self.pilot(horizon, arms), horizon, arms)


class OnMeanVariance(IndexPolicy, abstract=True):
    """An index policy on the mean-variance."""

    rho: NotNegative = 1.0

    @property
    def objective(self) -> Objective:
        return MeanVariance(self.rho)


class OnRSSR(IndexPolicy, abstract=True):
    """An index policy on RSSR."""

    L: Regulariser

    @property
    def objective(self) -> Objective:
        return RSSR(self.L)


class EliminationPolicy(Policy, abstract=True):
    """Plays in phases, drops the arms with the lowest estimated objective after each, and recommends the remaining."""

    family: ClassVar[str] = "phases"
    default_metric = "error"
    has_fixed_budget: ClassVar[bool] = True
    #: How a phase's pulls are shared among the undecided arms: a plain function, bound to
    #: :func:`sharpe_bandits.play.formulas.share`. A policy that shares unequally keeps its samples.
    share = staticmethod(share_equally)
    #: Whether the best arm is accepted next, or the worst dropped: a plain function, bound to
    #: :func:`sharpe_bandits.play.formulas.decide_on`.
    decide_on = staticmethod(drop_worst)
    #: Whether estimates use all of an arm's rewards, or only those of the current phase.
    keeps_samples: ClassVar[bool] = True

    def phases(self, budget: int, arms: int) -> list[tuple[int, int]]:
        """Per phase: pulls of each undecided arm, and how many arms remain undecided afterwards."""
        raise AssertionError(f"{type(self).__name__} does not define its phases")

    def schedule(self, budget: int, arms: int) -> list[tuple[int, int]]:
        """The :meth:`phases`, checked: kernels rely on them."""
        if self.n_recommended >= arms:
            raise InvalidInputError(
                f"{self.name} looks for the m = {self.n_recommended} best arms, but there are {arms}: pass "
                f"m={arms - 1} at most, or more arms"
            )
        phases, undecided, left = self.phases(budget, arms), arms, budget
        where = f"{self.name} divides a budget of {budget} for {arms} arms into phases wrongly: "
        for phase in phases if isinstance(phases, list) else [phases]:
            pulls, keep = phase if isinstance(phase, (tuple, list)) and len(phase) == 2 else (None, None)
            most = left // undecided
            if not (is_whole(pulls) and is_whole(keep) and 0 <= pulls <= most and 1 <= keep <= undecided):
                raise InvalidInputError(
                    f"{where}{shown(phase)} must be (pulls of each of {undecided} undecided arms, arms that remain), "
                    f"whole numbers from 0 to {most}, as rounds are left, and from 1 to {undecided}"
                )
            left -= pulls * undecided
            undecided = keep
        if undecided > self.n_recommended:
            raise InvalidInputError(
                f"{where}{shown(phases)} leaves {undecided} arms and must end with (pulls, {self.n_recommended})"
            )
        return phases

    def _least_pulls(self, budget: int, arms: int) -> int:
        pulls = [pulls for pulls, _ in self.schedule(budget, arms)]
        return pulls[0] if self.keeps_samples else min(pulls)

    def least_budget(self, arms: int) -> int:
        """The smallest budget with two pulls per arm, which the estimated variance needs."""
        budgets = range(2**40)
        least = bisect_left(budgets, 2, key=lambda budget: self._least_pulls(budget, arms))
        if least == len(budgets):
            raise InvalidInputError(f"{self.name} plays {arms} arms less than twice in a phase, whatever the budget")
        return least

    def check_horizon(self, horizon: int, arms: int) -> None:
        if self._least_pulls(horizon, arms) < 2:
            raise BudgetTooSmallError(
                f"{self.name} needs a budget of at least {self.least_budget(arms)} for {arms} arms (two pulls per arm "
                f"and phase), got {horizon}"
            )


class FixedConfidencePolicy(Policy, abstract=True):
    """Plays until it has identified the best arm with confidence 1 - ``delta``, or one whose estimate is within
    ``epsilon`` of the best one's (in the root of the objective, for RSSR the Sharpe ratio); then it stops.

    Subclasses define two plain functions of an arm's record and :meth:`arguments`.
    """

    family: ClassVar[str] = "fixed confidence"
    #: Which arms are played before arms are judged again: a plain function, bound to
    #: :func:`sharpe_bandits.play.formulas.turns`.
    turns = staticmethod(in_turn)
    default_metric = "stopping time"
    stops_itself: ClassVar[bool] = True

    delta: Inside = field(default=0.05, kw_only=True)
    epsilon: NotNegative = field(default=0.0, kw_only=True)
    pilot_pulls: Annotated[int, whole(2)] = field(default=32, kw_only=True)

    @property
    def estimate(self) -> Formula:
        """The estimate that arms are compared by."""
        raise AssertionError(f"{type(self).__name__} does not define an estimate")

    @property
    def noise(self) -> Formula:
        """The variance of the influence function of the estimate."""
        raise AssertionError(f"{type(self).__name__} does not define noise")

    def arguments(self) -> tuple[tuple[float, ...], float]:
        """Those of the objective, and the value of W for an arm that has always paid the same (0: there is none)."""
        assert self.objective is not None
        return self.objective.arguments(), float(self.objective.unseen_influence_variance or 0.0)

    def log_odds(self, arms: int) -> float:
        """``ln((K - 1) / delta)``: a union bound over the arms that could be mistaken for the best."""
        return math.log((arms - 1) / self.delta)

    def check_horizon(self, horizon: int, arms: int) -> None:
        _check_pilot(self, "a budget", self.pilot_pulls, horizon, arms)


def _check_pilot(policy: Policy, what: str, pulls: int, horizon: int, arms: int) -> None:
    if horizon < pulls * arms:
        raise BudgetTooSmallError(
            f"{policy.name} needs {what} of at least {pulls * arms} for {arms} arms ({pulls} pulls each in the pilot), "
            f"got {horizon}; raise it or lower pilot_pulls"
        )


def as_list(policies: Any) -> list[Any]:
    """One or several policies as a list, not checked."""
    several = isinstance(policies, Iterable) and not isinstance(policies, str)
    listed = list(policies) if several else [policies]
    if not listed:
        raise InvalidInputError("there is no policy; pass at least one")
    return listed


def check_policy(thing: Any) -> Policy:
    """``thing`` if it is a policy."""
    if isinstance(thing, Policy):
        return thing
    hint = "; call it with its parameters" if callable(thing) else ""
    if isinstance(thing, type) and issubclass(thing, Policy):
        raise InvalidInputError(f"{thing.__name__} is a policy class{hint}, as in {thing.__name__}(...)")
    if isinstance(thing, str):
        same = (c for c in Policy.kinds.values() if thing.lower() in (c.__name__.lower(), c.title.lower()))
        named = next((c.__name__ for c in same), "UCBRSSR")
        hint = f"; pass an object, not a name: sb.policies.{named}(...)"
    raise InvalidInputError(f"a policy such as UCBRSSR(L=0.5) is needed, got {shown(thing)}{hint}")
