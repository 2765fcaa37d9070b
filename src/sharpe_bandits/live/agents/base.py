"""The base class of agents: it records rewards, keeps sums, and is saved to and restored from JSON."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from ..._support.call_tree import substituted
from ..._support.display import html_table
from ..._support.names import check_name
from ..._support.plain_data import plain
from ..._support.validation import finite, is_number, is_supported_reward, list_of, real, unsupported_reward, whole
from ...confidence_sequences import Evidence, Interval, Leader, evidence_above, intervals, leader
from ...errors import CampaignOverError, InvalidInputError, RewardWarning, shown, unknown
from ...objectives import Objective, Statistics
from ...play import state as arm_state
from ...play.state import ArmState, Rule, Sums
from ...play.statistics import FEATURE, StatisticsLayout, arm_record, higher_moments, layout_for, summary
from ...policies.base import MIN_PULLS_FOR_WARNING, Direction, Policy
from . import state as states

#: Maximum numbers of arms and rounds of an agent.
MAX_ARMS, MAX_ROUNDS = 10**5, 10**15
#: Least number of rounds between two checks of whether the leader is probably best.
_LOOK = 32
#: Maximum number of arms shown in a notebook.
_SHOWN = 50


class Agent:
    """An agent that follows a policy. Made by ``policy.agent(...)`` or :meth:`from_json`.

    Threads may share an agent: calls are atomic. Agents can be pickled and copied with everything they have learnt.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> agent = sb.ScaleFreeUCB(L=1e-5).agent(arms=["momentum", "carry"], seed=1)
    >>> arm = agent.ask()
    >>> arm
    'momentum'
    >>> agent.tell(arm, 0.012)
    >>> copy = sb.Agent.from_json(agent.to_json())
    >>> copy.ask() == agent.ask()
    True
    """

    #: "min" if callers tell costs, which are then also shown as costs. Policies and objectives see minus the costs.
    direction: Direction = "max"

    def __init__(self, policy: Policy, arms: int | Iterable[str], horizon: int | None, seed: int) -> None:
        names = check_arms(arms)
        self.policy = policy
        #: The policy as it was when the agent was made: values that its formula reads may change later.
        self._described = plain(policy.to_dict())
        self.seed = whole("seed", seed, 0, 2**64 - 1)
        self._named = not isinstance(names, int)
        self.arms: list[Any] = list(range(names)) if isinstance(names, int) else names
        k = len(self.arms)
        self.horizon = None if horizon is None else whole("horizon", horizon, 2, MAX_ROUNDS)
        if self.horizon is not None:
            policy.check_horizon(self.horizon, k)
        #: Rounds played: rewards told.
        self.t = 0
        #: Decisions made: rounds played, pending pulls, and cancelled ones.
        self.asked = 0
        self._lock = threading.RLock()
        self._warned = False
        self._place = {arm: i for i, arm in enumerate(self.arms)}
        layout = self._layout()
        #: What decisions are based on.
        self._state = arm_state.new_state(k, layout.cells, 0)
        #: All rewards ever told: another state, if the policy forgets.
        self._all = self._state
        self._observing = Rule(0, 1.0, 0, layout.cells, False), substituted(arm_state.update, layout.bindings)
        self._record_of = substituted(arm_record, layout.bindings)
        self._objective_arguments = () if policy.objective is None else policy.objective.arguments()
        self._n_pending = 0  # sum of pending
        #: The number of the arm that was probably best at the last check, and since which round.
        self._leading: tuple[int, int] | None = None

    def _layout(self) -> StatisticsLayout:
        """The statistics that the policy's formulas and its objective read."""
        objective = self.policy.objective
        return layout_for(FEATURE if objective is not None and objective.has_feature else (), objective)

    @property
    def _pulls(self) -> np.ndarray:
        return self._all.sums.pulls

    @property
    def _pending(self) -> np.ndarray:
        return self._state.pending

    @property
    def _active(self) -> np.ndarray:
        return self._state.active

    @property
    def _needs_covariate(self) -> bool:
        return self.policy.objective is not None and self.policy.objective.needs_covariate

    def __repr__(self) -> str:
        return f"<agent of {self.policy.name}: {len(self.arms)} arms, {self.t} rounds played>"

    def _as_told(self, reward: float) -> float:
        """A reward as callers tell it, minus the reward for costs; and the way back."""
        return reward if self.direction == "max" else 0.0 - reward  # not -reward, which may be -0.0

    def _interval_as_told(self, ends: tuple[float, float]) -> tuple[float, float]:
        return ends if self.direction == "max" else (self._as_told(ends[1]), self._as_told(ends[0]))

    def _repr_html_(self) -> str:
        """The arms as a table, for notebooks."""
        with self._lock:
            columns = self.pulls.items(), self.estimates().values(), self.values().values()
        objective = [] if self.policy.objective is None else [type(self.policy.objective).__name__]
        names = ["arm", "pulls", "mean" if self.direction == "max" else "mean cost", "standard deviation", *objective]
        rows = []
        for (arm, n), (mean, variance), value in islice(zip(*columns, strict=True), _SHOWN):
            numbers = (None if math.isnan(x) else x for x in (mean, math.sqrt(variance), value))
            rows.append([arm, n, *numbers][: len(names)])
        if len(self.arms) > _SHOWN:
            rows.append([f"and {len(self.arms) - _SHOWN} more"])
        return html_table(names, rows, repr(self).strip("<>"))

    @property
    def done(self) -> bool:
        """Whether the budget is spent (never, for an agent without a horizon)."""
        return self.horizon is not None and self.t >= self.horizon

    @property
    def pulls(self) -> dict[Any, int]:
        """Number of pulls of each arm."""
        with self._lock:
            return self._by_arm(self._pulls.astype(int))

    def estimates(self) -> dict[Any, tuple[float, float]]:
        """Mean and unbiased variance of each arm's rewards, or costs (NaN if there are too few)."""
        return {arm: (self._as_told(float(x.mean)), float(x.variance)) for arm, x in self.statistics().items()}

    def intervals(self, objective: Objective | None = None, *, alpha: float = 0.05) -> dict[Any, Interval]:
        """Time-uniform confidence intervals for the objective of every arm: with probability 1 - alpha they hold for
        all arms at all times (see :mod:`sharpe_bandits.confidence_sequences`).

        They use all rewards told, and assume that an arm's rewards are independent and identically distributed.
        ``objective`` defaults to the policy's own, or to the Sharpe ratio if it has none. For costs it is shown as a
        cost (mean cost plus risk), of which less is better.
        """
        with self._lock:
            objective = self._objective(objective)
            arms, statistics = list(self.arms), self._statistics(self._all)
        sequence = intervals(statistics, objective, alpha=alpha, arms=len(arms))
        columns = (x.tolist() for x in (sequence.estimate, sequence.low, sequence.high, sequence.heavy_tailed))
        return {
            arm: Interval(self._as_told(estimate), *self._interval_as_told((low, high)), heavy)
            for arm, estimate, low, high, heavy in zip(arms, *columns, strict=True)
        }

    @property
    def objective(self) -> Objective | None:
        """The objective that statements about arms are made of: the policy's own, estimated from rewards alone."""
        return None if self.policy.objective is None else self.policy.objective.unadjusted

    def _objective(self, objective: Objective | None) -> Objective | None:
        """The given objective, or the policy's own, whose statistics the agent keeps."""
        if objective is None or objective in (self.policy.objective, self.objective):
            return self.objective
        if objective.has_feature:
            raise InvalidInputError(
                f"this agent does not keep what {objective!r} needs; pass an objective of mean and variance, or give "
                "the policy this one, as in ScaleFreeUCB(objective=...)"
            )
        return objective

    def leader(self, objective: Objective | None = None, *, alpha: float | None = None) -> Leader:
        """The arm with the best estimate among those not retired, whether it is probably the best of them (by a
        time-uniform test), and since which round (see :func:`sharpe_bandits.confidence_sequences.leader`).

        Every 32 rounds (every K if that is more, later about every 1% of rounds, so that the cost per reward is
        negligible), agents check whether the leader by the policy's own objective (the Sharpe ratio if it has none) is
        probably best with alpha = 0.05. ``since`` is the first of these rounds since which it always was. It is None if
        another ``objective`` or ``alpha`` is given.
        """
        with self._lock:
            level, since = 0.05 if alpha is None else alpha, None
            best = leader(self._statistics(self._all), self._objective(objective), alpha=level, among=self._active)
            if objective is None and alpha is None and best.probably_best:
                since = self._leading[1] if self._leading is not None and self._leading[0] == best.arm else self.t
            rival = None if best.rival is None else self.arms[best.rival]
            return replace(best, arm=self.arms[best.arm], rival=rival, since=since)

    def evidence(self, objective: Objective | None = None, *, hurdle: float = 0.0) -> Evidence:
        """Evidence that some arm beats a hurdle (a cost, if costs are told) at all, valid at any time: ``p_value`` and
        the arm with the most of it (see :func:`sharpe_bandits.confidence_sequences.evidence_above`).
        """
        bar = self._as_told(finite("hurdle", hurdle))
        with self._lock:
            best = evidence_above(self._statistics(self._all), self._objective(objective), hurdle=bar)
            return replace(best, arm=self.arms[best.arm])

    def _look(self) -> None:
        """Record which arm is probably best, and since which round."""
        best = leader(self._statistics(self._all), self.objective, among=self._active)
        if not best.probably_best:
            self._leading = None
        elif self._leading is None or self._leading[0] != best.arm:
            self._leading = best.arm, self.t

    def statistics(self) -> dict[Any, Statistics]:
        """What the estimates of each arm are computed from (see :class:`sharpe_bandits.objectives.Statistics`), of
        minus the costs if costs are told; NaN if there are too few rewards. Pulls are the total weight of rewards, if
        some are forgotten.
        """
        with self._lock:
            columns = self._statistics(self._state)
        return {arm: columns.at(i) for i, arm in enumerate(self.arms)}

    def _statistics(self, state: ArmState) -> Statistics:
        rows = [moments_of(state, i) for i in range(len(self.arms))]
        statistics = Statistics(*np.array(rows).T)
        if self.policy.objective is None or not self.policy.objective.has_feature:
            return statistics
        records = [self._arm_record(i, state) if n > 0 else None for i, n in enumerate(statistics.pulls)]
        columns = {name: np.array([getattr(arm, name, math.nan) for arm in records]) for name in FEATURE}
        return statistics._replace(**columns)

    @property
    def pending(self) -> dict[Any, int]:
        """Number of pending pulls of each arm: asked for, without a reward yet."""
        with self._lock:
            return self._by_arm(self._pending.astype(int))

    @property
    def retired(self) -> list[Any]:
        """The arms that are no longer played."""
        with self._lock:
            return [self.arms[i] for i in np.flatnonzero(~self._active)]

    def ask(self) -> Any:
        """The arm to play now. It may be called again before the reward is told: pending pulls are allowed for.

        A policy that plays in phases raises :class:`~sharpe_bandits.errors.WaitForRewardsError` if it can only wait.
        """
        with self._lock:
            i = self._next()
            self._begin(i)
            return self.arms[i]

    def probabilities(self) -> dict[Any, float]:
        """The probability that each arm is chosen next: 1 for one of them if the policy is deterministic, otherwise its
        frequency in 256 independent draws (with a standard error of at most 0.031).
        """
        with self._lock:
            return self._by_arm(self._shares(self._next()))

    def cancel(self, arm: Any) -> None:
        """Cancel a pending pull of ``arm`` that will not be played."""
        with self._lock:
            self._end(self._number_of(arm))

    def add_arm(self, arm: str) -> None:
        """Add an arm; it starts with its pilot."""
        with self._lock:
            self._check_arms_may_change(len(self.arms) + 1)
            if not self._named:
                raise InvalidInputError("the arms of this agent are numbers; give names to an agent whose arms change")
            if check_name("the name of an arm", arm) in self._place:
                raise InvalidInputError(f"there is an arm {arm!r} already; give the new one another name")
            whole("the number of arms", len(self.arms) + 1, 2, MAX_ARMS)
            self._place[arm] = len(self.arms)
            self.arms.append(arm)
            self._grow()
            self._leading = None  # the new one may be better

    def retire_arm(self, arm: Any) -> None:
        """Stop playing ``arm``; rewards of its pending pulls are still recorded."""
        i = self._number_of(arm)
        with self._lock:
            self._check_arms_may_change(len(self.arms))
            if self._active[i] and self._active.sum() == 1:
                raise InvalidInputError(f"arm {arm!r} is the last one; add another before it is retired")
            self._active[i] = False
            self._look()

    def tell(self, arm: Any, reward: float, *, covariate: float | None = None) -> None:
        """Record the reward of a round in which ``arm`` was played. An invalid reward leaves the agent unchanged.

        ``covariate`` is what was seen in that round whichever arm was played, such as the return of the market; for
        objectives that use one, such as :class:`~sharpe_bandits.objectives.Adjusted`.
        """
        i = self._number_of(arm)
        z = self._check_covariate(covariate)
        x = self._checked_reward(i, reward)
        with self._lock:
            if why := self._refusal(i):
                kind = CampaignOverError if self.done else InvalidInputError
                raise kind(f"{why}; nothing was recorded")
            if not self._pending[i]:  # a round that the caller chose to play
                self._begin(i)
            self._tell(i, x, z)
            self._end(i)
            due = not self._warned and self.t % (MIN_PULLS_FOR_WARNING * len(self.arms)) == 0
            warning = self._reward_warning() if due else None
            self._warned |= warning is not None
        if warning is not None:
            warnings.warn(warning, RewardWarning, stacklevel=2)

    def _checked_reward(self, i: int, reward: Any) -> float:
        """A reward of arm number i as the policy sees it."""
        x = real(reward)
        if not is_supported_reward(x):
            problem = unsupported_reward(reward, f"a reward of arm {self.arms[i]!r}")
            raise InvalidInputError(f"{problem}; nothing was recorded")
        return self._as_told(x)

    def _check_covariate(self, covariate: float | None) -> float:
        """The covariate of a round, NaN if there is none; raises unless it is what the objective needs."""
        if not self._needs_covariate:
            if covariate is not None:
                raise InvalidInputError(
                    f"covariate={shown(covariate)}, but {self.policy.name} does not use one; leave it out, or give the "
                    "policy an objective that does, as in ScaleFreeUCB(objective=sb.objectives.Adjusted(sb.Mean()))"
                )
            return math.nan
        z = math.nan if covariate is None else real(covariate)
        if not is_supported_reward(z):
            raise InvalidInputError(
                f"{self.policy.objective!r} needs the covariate of every round, a finite number, got "
                f"{shown(covariate)}; pass covariate=...; nothing was recorded"
            )
        return self._as_told(z)

    def _reward_warning(self) -> str | None:
        """A warning, with the remedy, if the policy cannot handle the rewards so far; otherwise None."""
        with self._lock:
            known = [(moments_of(self._state, i), float(n)) for i, n in enumerate(self._pulls)]
            arms = [(arm, n, one.mean, one.variance) for arm, (one, n) in zip(self.arms, known, strict=True)]
            warning = self.policy.reward_warning(arms, self.horizon)
        if warning and self.direction == "min":
            return f"rewards are minus the costs. {warning.partition(', and for costs')[0]}"  # that remedy is in use
        return warning

    def recommend(self) -> Any:
        """The arm with the best estimate of the policy's objective, or the most played one if it has no objective,
        among those not retired.

        A policy that plays in phases recommends the last remaining arm; before the end, the remaining arm with the best
        estimate. One that identifies the m > 1 best arms returns a list of m arms, in order of arm.
        """
        with self._lock:
            return self._recommend()

    # Campaigns decide elsewhere, and hold a lock of their own.

    def _apply_rewarded(self, i: int, reward: float, pending: bool, covariate: float | None = None) -> bool:
        """Record the reward of a pull of arm number i that was handed out, and may have been given up since (not
        ``pending``); returns whether the policy could use it.
        """
        used = self._refusal(i) is None
        if used:
            x = self._checked_reward(i, reward)
            z = self._check_covariate(covariate) if self._needs_covariate else math.nan
        if pending:
            self._end(i)
        if used:
            self._tell(i, x, z)
        return used

    def _prepare(self) -> None:
        """Compile the functions behind ask and tell, without changing the agent, so that a campaign that holds a lock
        need not wait for the compiler.
        """

    def _example_sums(self) -> Sums:
        """Sums that any kernel can evaluate: four rewards per arm, with mean 0 and mean square 1."""
        four, zero = np.full(len(self.arms), 4.0), np.zeros(len(self.arms))
        return Sums(four, zero, four.copy(), zero.copy(), four.copy(), zero.copy())

    @contextmanager
    def _only(self, arms: Iterable[int]) -> Iterator[None]:
        """Choose among these arms, given by number."""
        with self._lock:
            active, self._active[:] = self._active.copy(), False
            self._active[list(arms)] = True
            try:
                yield
            finally:
                self._active[:] = active

    @property
    def active(self) -> list[int]:
        """Numbers of the arms that are not retired."""
        with self._lock:
            return np.flatnonzero(self._active).tolist()

    def _number_of(self, arm: Any) -> int:
        try:
            return self._place[arm]
        except (KeyError, TypeError):
            raise unknown("arm", arm, self.arms) from None

    def _next(self) -> int:
        """The arm to play now, without changing the agent."""
        if self.done:
            raise CampaignOverError(f"{self._why_over()}; see recommend()")
        if self.horizon is not None and self.t + self._n_pending >= self.horizon:
            raise CampaignOverError(
                f"all {self.horizon} rounds of this agent are handed out; {self._n_pending} rewards are still to come"
            )
        return self._choose()

    def _begin(self, i: int) -> None:
        self._state.pending[i] += 1
        self._n_pending += 1
        self.asked += 1

    def _end(self, i: int) -> None:
        """Record that a pending pull of arm number i is rewarded, or will not be played."""
        if not self._pending[i]:
            raise InvalidInputError(f"no pull of arm {self.arms[i]!r} is pending; nothing was changed")
        self._state.pending[i] -= 1
        self._n_pending -= 1

    def _shares(self, first: int) -> np.ndarray:
        """Choice probabilities of all arms; ``first`` is the one that would be chosen now."""
        shares = np.zeros(len(self.arms))
        shares[first] = 1.0
        return shares

    def _refusal(self, i: int) -> str | None:
        """Why a reward of arm i, which may arrive late, cannot be used; None if it can."""
        return self._why_over() if self.done else None

    def _check_arms_may_change(self, count: int) -> None:
        """Raise if the policy cannot continue with different arms, ``count`` in total."""
        raise InvalidInputError(
            f"{self.policy.name} shares its budget, or its probability of an error, among the arms that it starts "
            "with; start another campaign for other arms"
        )

    def _grow(self) -> None:
        alone = self._all is self._state
        self._state = arm_state.with_one_more_arm(self._state)
        self._all = self._state if alone else arm_state.with_one_more_arm(self._all)

    def _tell(self, i: int, x: float, z: float) -> None:
        self._record(i, x, z)
        self.t += 1
        self._after(i, x, z)
        if self.t % max(_LOOK, len(self.arms), 1 << max(self.t.bit_length() - 7, 0)) == 0:
            self._look()

    def _record(self, i: int, x: float, z: float) -> None:
        """Record a reward of arm i in round t, and the covariate of that round."""
        arm_state.observe(self._all, i, x, z, self.t, *self._observing, self._objective_arguments)

    def _recommend(self) -> Any:
        return self.arms[self._best(np.flatnonzero(self._active & (self._state.sums.pulls > 1)).tolist())]

    def _choose(self) -> int:
        """The arm to play now, among the active ones."""
        raise AssertionError("an agent of no family")

    def _silent(self) -> list[tuple[Any, int]]:
        """Arms without an index whose pending pulls seem lost, with their numbers; others go on."""
        return []

    def _why_over(self) -> str:
        return f"the {self.horizon} rounds of this agent are played"

    def _after(self, i: int, x: float, z: float) -> None:
        """What a subclass does after arm i has paid ``x``, with the covariate ``z``."""

    def _by_arm(self, values: np.ndarray) -> dict[Any, Any]:
        return dict(zip(self.arms, values.tolist(), strict=True))

    def _best(self, among: list[int]) -> int:
        objective = self.policy.objective
        if not among:
            raise InvalidInputError("nothing can be recommended before an arm has two rewards; ask and tell first")
        if objective is None:
            return int(max(among, key=lambda i: (self._pulls[i], -i)))
        values = objective.value(self._statistics(self._state))
        return max(among, key=lambda i: (values[i], -i))

    def _arm_record(self, i: int, state: ArmState) -> Any:
        """What a formula sees of arm i, which has rewards in ``state``."""
        return self._record_of(state.sums, state.kept, i)

    def values(self) -> dict[Any, float]:
        """Estimate of the policy's objective for each arm, for costs as a cost (NaN if there are too few rewards, or no
        objective).
        """
        objective, known = self.policy.objective, self.statistics()
        return {
            arm: self._as_told(float(objective.value(one))) if objective is not None and one.pulls > 1 else math.nan
            for arm, one in known.items()
        }

    def to_json(self) -> str:
        """The whole state as JSON; :meth:`from_json` continues exactly."""
        try:
            with self._lock:  # until it is written: the content refers to state that the agent keeps changing
                return states.write(self._content())
        except ValueError as error:
            raise InvalidInputError(f"{self!r} cannot be saved: a parameter of its policy is not finite") from error

    def _content(self) -> dict[str, Any]:
        """What is saved; subclasses add to it."""
        return {
            "policy": self._described,
            "arms": self.arms if self._named else len(self.arms),
            "horizon": self.horizon,
            "seed": self.seed,
            "t": self.t,
            "asked": self.asked,
            "pending": self._pending.tolist(),
            "retired": np.flatnonzero(~self._active).tolist(),
            "record": saved(self._all),
            **({} if self.direction == "max" else {"direction": self.direction}),
            **({} if self._leading is None else {"leading": list(self._leading)}),
        }

    @staticmethod
    def from_json(text: str | bytes) -> Agent:
        """The agent with a state written by :meth:`to_json`; it continues exactly where that one stopped."""
        return states.restored(text, None)

    def __reduce__(self) -> tuple[Any, ...]:
        return states.restored, (self.to_json(), self.policy)

    def _restore(self, state: dict[str, Any]) -> None:
        self.t, self.asked = state["t"], state["asked"]
        restore(self._all, state["record"])
        self._pending[:], self._active[state["retired"]] = state["pending"], False
        self._n_pending = int(self._pending.sum())
        if "leading" in state:
            arm, since = state["leading"]
            self._leading = arm, since


def saved(state: ArmState) -> dict[str, Any]:
    """Plain data of all rewards that a state knows of."""
    return {name: column.tolist() for name, column in _columns(state).items()}


def restore(state: ArmState, content: dict[str, Any]) -> None:
    """Restore what :func:`saved` returned."""
    for name, column in _columns(state).items():
        column[...] = content[name]


def _columns(state: ArmState) -> dict[str, np.ndarray]:
    return {**state.sums._asdict(), "last": state.last, "seen": state.seen, "kept": state.kept[:, :, 0]}


def check_arms(arms: int | Iterable[str]) -> list[str] | int:
    """Check the names of an agent's arms, or their number."""
    if is_number(arms):
        return whole("arms", arms, 2, MAX_ARMS)
    names = list_of("arms", arms, "a list of names or a number of arms")
    if not all(isinstance(name, str) for name in names):
        raise InvalidInputError(f"names of arms must be text, got {shown(names)}; pass a number for arms 0, 1, ...")
    if len(names) < 2 or len(set(names)) != len(names):
        raise InvalidInputError(f"arms must be at least 2 different names, got {shown(names)}")
    whole("the number of arms", len(names), 2, MAX_ARMS)
    return [check_name("the name of an arm", name) for name in names]


def moments_of(state: ArmState, i: int) -> Statistics:
    """Moments of the rewards of arm i; NaN if there are too few."""
    pulls, sum1, sum2, sum3, sum4, anchor = (float(column[i]) for column in state.sums)
    if pulls == 0:
        return Statistics(pulls, math.nan, math.nan)
    mean, variance, _ = summary(anchor, sum1, sum2, 1.0 / pulls, 1.0 / (pulls - 1.0) if pulls > 1 else math.nan)
    if not pulls > 1:
        return Statistics(pulls, mean, math.nan)
    return Statistics(pulls, mean, variance, *higher_moments(sum1, sum2, sum3, sum4, 1.0 / pulls))
