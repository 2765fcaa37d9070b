"""The status of a campaign."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from ..._support.display import in_words
from ...confidence_sequences import Evidence, Leader, lateness
from ...errors import InvalidInputError
from ...objectives import Mean, Objective, Sharpe, Statistics
from ...policies.base import Direction
from ...results.metrics import normal_half_width
from ..agents import Agent
from ..change import ChangeDetector
from .comparison import Comparison, ShadowEstimate, finite_ends
from .records import DecisionRow, utc_time, with_iso_times
from .state import State
from .storage import Head, Records
from .transaction import clock_refusal

if TYPE_CHECKING:
    from rich.console import RenderableType

#: Confidence of the intervals, and the least number of rewards for a fixed-time one.
CONFIDENCE, _LEAST = 0.95, 10
#: Decisions that remarks look at, and rewards without which nothing is said.
LAST, LEAST = 1_000, 64


@dataclass(frozen=True)
class ArmStatus:
    """The status of an arm.

    Attributes
    ----------
    arm : its name
    retired, suspended : whether it is no longer played, for good or for the time being
    pulls, pending : rewards told, and pending pulls
    mean, mean_interval, standard_deviation : of its rewards, or costs; intervals are as :attr:`Status.intervals` says
    value, value_interval : of the policy's objective; for costs it is a cost, such as mean cost plus risk
    metrics : means of other metrics
    """

    arm: Any
    retired: bool
    pulls: int
    pending: int
    mean: float | None
    mean_interval: tuple[float, float] | None
    standard_deviation: float | None
    value: float | None
    value_interval: tuple[float, float] | None
    suspended: bool = False
    metrics: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class SegmentStatus:
    """The status of a segment; lists are by arm.

    Attributes
    ----------
    segment : its name
    pulls : rewards told
    borrowed : what other segments tell, in rewards that it is worth
    means : mean of its own rewards, or costs
    best : the arm recommended for it; None before there are enough rewards
    """

    segment: str
    pulls: list[int]
    borrowed: list[int]
    means: list[float | None]
    best: Any

    def cells(self) -> list[str]:
        """The best arm, and mean, rewards and borrowed rewards of each, as text."""
        rows = zip(self.pulls, self.borrowed, self.means, strict=True)
        best = "" if self.best is None else str(self.best)
        return [best, *(f"{_cell(mean)} ({n:,}{f' + {more:,}' if more else ''})".strip() for n, more, mean in rows)]


@dataclass(frozen=True)
class Status:
    """The status of a campaign.

    Attributes
    ----------
    name, policy : name and policy of the campaign
    objective : what the policy maximises, as text; None if it declares none
    time : time of the database
    arms : an :class:`ArmStatus` each
    decisions
        handed out so far; of these ``rewards`` have a reward, ``pending`` are pending, the leases of ``expired`` ran
        out, and ``cancelled`` were cancelled
    unused : rewards that arrived when the policy no longer needed them
    horizon : the budget, if there is one; ``spent`` rounds of it are handed out or rewarded
    best : the recommended arm (a list for several); None before there are enough rewards
    leader : the arm that looks best of those not retired (see :meth:`sharpe_bandits.Agent.leader`)
    leader_since : since when it has been probably best; None if it is not
    done : whether the budget is spent, or the policy has stopped
    events : length of the log
    reward_warning : what is wrong with rewards that the policy cannot handle, and the remedy; None if nothing is wrong
    direction : "min" if rewards are costs
    rules : the :class:`~sharpe_bandits.live.campaigns.rules.Rules` now: mode, share, control arm, bounds, guardrails
    evidence : whether any arm is above the hurdle (see :meth:`sharpe_bandits.Agent.evidence`); None for costs
    remarks : what the last 1,000 decisions say against these statements, with remedies
    lift : the policy against control; None before both have rewards
    lift_until : time of the last reward of control, if the policy now makes all decisions
    agreement : share of the decisions of others in which the policy would have chosen the same arm, if there are any
    shadow : what the policy would have earned there
    segments : segments with records of their own
    rho : variance of an arm's mean between segments, in units of the variance of a reward, if segments are pooled
    broken_guardrails : guardrails that are broken now, counted per arm
    guardrails : guardrails in words, with what they have seen where they are closest to their limit
    clock_refusal : why nothing is recorded because of the clock, and the remedy; None if it is right
    intervals
        "at all times": the intervals of all arms hold together, however often one looks; "fixed-time": at one look, for
        policies that forget, since arms may drift
    """

    name: str
    policy: str
    objective: str | None
    time: datetime
    arms: list[ArmStatus]
    decisions: int
    rewards: int
    pending: int
    expired: int
    cancelled: int
    unused: int
    horizon: int | None
    spent: int
    best: Any
    leader: Leader
    leader_since: datetime | None
    done: bool
    events: int
    reward_warning: str | None
    direction: Direction = "max"
    rules: dict[str, Any] = field(default_factory=dict)
    evidence: Evidence | None = None
    remarks: list[str] = field(default_factory=list)
    lift: Comparison | None = None
    lift_until: datetime | None = None
    agreement: float | None = None
    shadow: ShadowEstimate | None = None
    segments: list[SegmentStatus] = field(default_factory=list)
    rho: float | None = None
    broken_guardrails: int = 0
    guardrails: list[str] = field(default_factory=list)
    clock_refusal: str | None = None
    intervals: Literal["at all times", "fixed-time"] = "at all times"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, times in ISO 8601."""
        return with_iso_times(asdict(self))

    def __str__(self) -> str:
        from ..._support import console

        return console.as_text(self)

    def __rich__(self) -> RenderableType:
        from ..._support import console

        mean = "mean" if self.direction == "max" else "mean cost"
        ends = "95% at all times" if self.intervals == "at all times" else "95% at one look"
        heads = ["arm", "pulls", "pending", mean, ends, "standard deviation"]
        if self.objective:
            heads += [self.objective.partition("(")[0] + (" of the cost" if self.direction == "min" else ""), ends]
        rows = []
        for arm in self.arms:
            cells = [_cell(arm.mean), _pair(arm.mean_interval), _cell(arm.standard_deviation)]
            cells += [_cell(arm.value), _pair(arm.value_interval)] if self.objective else []
            name = f"{arm.arm} (retired)" if arm.retired else f"{arm.arm}{' (suspended)' if arm.suspended else ''}"
            rows.append([name, f"{arm.pulls:,}", f"{arm.pending:,}", *cells])
        spent = f"{self.spent:,}" + (f" of {self.horizon:,} rounds" if self.horizon else " rounds")
        best = "not known yet" if self.best is None else f"{self.best}"
        facts = {
            "policy": self.policy,
            "objective": (self.objective or "none") + (" of the cost" if self.direction == "min" else ""),
            "spent": f"{spent}{', done' if self.done else ''}",
            "decisions": f"{self.decisions:,}: {self.rewards:,} rewarded, {self.pending:,} pending, {self.expired:,} "
            f"expired, {self.cancelled:,} cancelled",
            "leader": self._leader_in_words(),
        }
        if self.evidence is not None:
            facts["any arm above the hurdle"] = f"p = {self.evidence.p_value:.2g} (valid at any time)"
        facts |= {**self.rules_in_words(), "time": f"{self.time:%Y-%m-%d %H:%M:%S} UTC"}
        tables = [(heads, rows)]
        if self.segments:
            names = ["segment", "best so far", *(str(arm.arm) for arm in self.arms)]
            tables.append((names, [[one.segment, *one.cells()] for one in self.segments]))
        warnings = [self.reward_warning] if self.reward_warning else []
        return console.Findings([*warnings, *self.remarks], tables, f"Best so far: {best}.", facts)

    def rules_in_words(self) -> dict[str, str]:
        """The rules that are not the usual ones, and what they show."""
        rules = self.rules
        words = {} if self.clock_refusal is None else {"clock": self.clock_refusal}
        words["mode"] = str(rules.get("mode", "live"))
        if rules.get("control") is not None:
            rest = f", the rest by {rules['control']}" if rules["share"] < 1 else ""
            words["mode"] += f", {rules['share']:.0%} by the policy{rest}"
        if rules.get("mode") == "paused":
            words["mode"] += "; asks are refused" if rules["fallback"] is None else f"; asks get {rules['fallback']}"
        if rules.get("bounds"):
            words["shares"] = ", ".join(f"{arm} {low:g} to {high:g}" for arm, (low, high) in rules["bounds"].items())
        if self.guardrails:
            words["guardrails"] = "; ".join(self.guardrails)
        if self.lift is not None:
            words["lift"] = self.lift.in_words(self.direction == "min", self.lift_until)
        if self.agreement is not None:
            words["shadow"] = f"the policy would have chosen the same arm in {self.agreement:.0%} of decisions"
            if self.shadow is not None and self.agreement > 0:  # no match yet: nothing is known of the policy's arms
                words["shadow"] += f"; {self.shadow}"
        if self.rho is not None:
            words["segments"] = (
                f"arms differ between segments by {math.sqrt(self.rho):.2g} standard deviations of a reward"
                if self.rho
                else "no difference in how arms do is seen between segments"
            )
        return words

    def _leader_in_words(self) -> str:
        """Whether the arm that looks best is probably best, and since when."""
        leader = self.leader
        if not leader.probably_best:
            return f"{leader.arm}, not yet separated from {leader.rival}"
        heavy = "; heavy-tailed rewards: this may be wrong more often" if leader.heavy_tailed else ""
        since = "" if self.leader_since is None else f" since {self.leader_since:%Y-%m-%d %H:%M:%S} UTC"
        return f"{leader.arm}, probably best{since} (time-uniform error {leader.alpha:.0%}{heavy})"


def status_of(name: str, state: State, head: Head, records: Records, remarks: list[str]) -> Status:
    """The status of a campaign; decisions whose lease ran out are no longer pending, though not yet marked."""
    agent, goal, now = state.agent, state.agent.objective, max(head.now, head.clock)
    is_due = head.next_expiry is not None and head.next_expiry <= now
    overdue = Counter(row.arm for row in records.pending(until=now)) if is_due else Counter()
    n_pending, n_overdue = sum(agent.pending.values()), sum(overdue.values())
    leader = agent.leader()
    separated = agent._leading is not None and agent.arms[agent._leading[0]] == leader.arm
    since = now if state.lead_began is None or not separated else state.lead_began
    until = None if state.rules.policy_share < 1 else state.control_until
    return Status(
        name=name,
        policy=f"{agent.policy.name}: {agent.policy.in_words()}",
        objective=None if goal is None else in_words(goal.to_dict()),
        time=utc_time(now),
        arms=_arms(state, overdue),
        decisions=state.decisions,
        rewards=state.decisions - n_pending - state.expired - state.cancelled,
        pending=n_pending - n_overdue,
        expired=state.expired + n_overdue,
        cancelled=state.cancelled,
        unused=state.unused,
        horizon=agent.horizon,
        spent=agent.t + n_pending - (n_overdue if state.settings.default_reward is None else 0),
        best=_recommended(agent),
        leader=leader,
        leader_since=utc_time(since) if leader.probably_best else None,
        done=agent.done,
        events=state.seq,
        reward_warning=agent._reward_warning(),
        direction=agent.direction,
        rules=asdict(state.rules),
        evidence=agent.evidence(Sharpe(0.0, goal.hurdle if goal else 0.0)) if agent.direction == "max" else None,
        remarks=[*remarks, *_silent_arms(agent)],
        lift=Comparison.of(state),
        lift_until=None if until is None else utc_time(until),
        agreement=state.agreed / state.compared if state.compared else None,
        shadow=ShadowEstimate.of(state),
        **_segments(state),
        broken_guardrails=sum(len(watch.broken) for watch in state.watches),
        guardrails=state.guardrails(),
        clock_refusal=clock_refusal(head),
        intervals="at all times" if remembers_everything(agent) else "fixed-time",
    )


def _arms(state: State, overdue: Mapping[int, int]) -> list[ArmStatus]:
    agent, goal, arms = state.agent, state.agent.objective, []
    pulls, pending, active = agent.pulls, agent.pending, agent.active
    mean_intervals, value_intervals = _intervals(agent, Mean()), _intervals(agent, goal)
    for i, (arm, statistics) in enumerate(agent.statistics().items()):
        has_variance = statistics.pulls > 1 and math.isfinite(statistics.variance)
        value = float(goal.value(statistics)) if has_variance and goal is not None else math.nan
        one = ArmStatus(
            arm,
            i not in active,
            pulls[arm],
            pending[arm] - overdue.get(i, 0),
            float(agent._as_told(statistics.mean)) if statistics.pulls > 0 else None,
            mean_intervals[arm],
            math.sqrt(statistics.variance) if has_variance else None,
            agent._as_told(value) if math.isfinite(value) else None,
            value_intervals[arm],
            arm in state.rules.suspended,
            {name: by_arm[str(i)][1] for name, by_arm in state.metrics.items() if str(i) in by_arm},
        )
        arms.append(one)
    return arms


def _intervals(agent: Agent, objective: Objective | None) -> dict[Any, tuple[float, float] | None]:
    """A 95% interval of an objective by arm: at all times, or at one look where the policy forgets."""
    if objective is None:
        return dict.fromkeys(agent.arms)
    if remembers_everything(agent):
        return {arm: finite_ends(one) for arm, one in agent.intervals(objective, alpha=1 - CONFIDENCE).items()}
    ends = {arm: _fixed_time(objective, statistics) for arm, statistics in agent.statistics().items()}
    return {arm: pair and agent._interval_as_told(pair) for arm, pair in ends.items()}


def _fixed_time(objective: Objective, statistics: Statistics) -> tuple[float, float] | None:
    if statistics.pulls < _LEAST or not statistics.variance > 0:
        return None
    value, error = float(objective.value(statistics)), float(objective.standard_error(statistics))
    half = normal_half_width(CONFIDENCE) * error
    return (value - half, value + half) if math.isfinite(value + half) else None


def _recommended(agent: Agent) -> Any:
    try:
        return agent.recommend()
    except InvalidInputError:
        return None


def remarks_on(rows: Iterable[DecisionRow], arms: Sequence[Any]) -> list[str]:
    """What the last decisions say against statements about arms, with remedies; those without a reward are skipped."""
    paid = [row for row in rows if row.reward is not None and row.told is not None]
    if len(paid) < LEAST:
        return []
    remarks = []
    late = lateness([row.arm for row in paid], [row.reward for row in paid], [row.told - row.asked for row in paid])  # type: ignore[operator]
    if late.differs:
        worse = "lower" if late.z < 0 else "higher"
        remarks.append(
            f"rewards that come late are {worse} than prompt ones (rank correlation {late.z:+.1f} standard errors in "
            f"the last {len(paid):,} rewards): estimates are biased while rewards are pending, and 'probably best' is "
            "wrong more often than stated. Tell a default reward at the end of the lease, or wait until few are pending"
        )
    detector = ChangeDetector()
    changed = [row for row in sorted(paid, key=lambda row: (row.told, row.number)) if detector.add(row.arm, row.reward)]  # type: ignore[arg-type]
    if changed:
        row = changed[-1]
        remarks.append(
            f"arm {arms[row.arm]!r} no longer pays as it did (noticed at decision {row.number}): estimates mix what "
            "was before and after. Start a new campaign, or one with SlidingWindowUCB or DiscountedUCB"
        )
    return remarks


def remembers_everything(agent: Agent) -> bool:
    """Whether estimates use all rewards. Those of a policy that forgets follow drifting arms, for which no interval is
    time-uniform."""
    return [statistics.pulls for statistics in agent.statistics().values()] == list(agent.pulls.values())


def _silent_arms(agent: Agent) -> list[str]:
    """A remark per arm that was asked for in vain."""
    return [
        f"arm {arm!r} cannot be judged: its rewards are missing, though it was handed out {pending} times, longer ago "
        "than others that were rewarded. Tell these rewards, or cancel the decisions; with a lease they expire"
        for arm, pending in agent._silent()
    ]


def _segments(state: State) -> dict[str, Any]:
    rows, rho = [], None
    for segment, agent in state.segments.agents.items():
        borrowed = state.segments.borrowed(segment)
        best = _recommended(state.segments.chooser(segment, state.agent))
        means = [None if math.isnan(mean) else mean for mean, _ in agent.estimates().values()]
        counts = [0] * len(means) if borrowed is None else borrowed.rewards.astype(int).tolist()
        rows.append(SegmentStatus(segment, list(agent.pulls.values()), counts, means, best))
        rho = rho if borrowed is None else borrowed.rho
    return {"segments": rows, "rho": rho}


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _pair(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{interval[0]:.4g} to {interval[1]:.4g}"
