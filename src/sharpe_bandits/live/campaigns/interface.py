"""The interface of a campaign, whether its store is local or behind HTTP."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..._support.validation import whole
from ...errors import InvalidInputError, SharpeBanditsError, shown
from ...policies.base import Policy
from ..agents import Agent
from . import requests
from .records import Decision, Evaluation, LogEntry, Verification
from .status import Status

if TYPE_CHECKING:
    import pyarrow as pa


class CampaignInterface(ABC):
    """The methods of a campaign: a worker's code does not change when a campaign moves from a file to a service."""

    name: str

    def ask(
        self,
        *,
        count: int | None = None,
        key: str | None = None,
        keys: Sequence[str | None] | None = None,
        worker: str | None = None,
        distinct: int | None = None,
        among: Sequence[Any] | None = None,
        segment: str | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> Any:
        """Which arm to play now: a :class:`Decision`; a list of them if ``count``, ``keys`` or ``distinct`` is given.

        Parameters
        ----------
        count
            how many decisions to make in one commit. The list is shorter if the policy can hand out only fewer at the
            moment
        key
            idempotency key, of up to 200 characters: asking again with the same key returns the same decision, unless
            it was cancelled or its arm is not in ``among``: then ConflictError
        keys : one key (or None) per decision, instead of ``count``
        worker : who asks (host and process)
        distinct : as ``count``, of different arms; each probability is that of the arm among those left
        among : the arms that can be played now
        segment : segment of the decision; what it learns from is the campaign's setting ``segments``
        tags : anything to find and to group decisions by, such as ``{"desk": "NY"}``

        Raises
        ------
        WaitForRewardsError : if the policy must wait for rewards; it says how many of which arms
        CampaignOverError : if the budget is spent, or the policy has stopped
        CampaignPausedError : if the campaign is paused and has no fallback arm
        ConflictError : if others decide (shadow mode, without a control arm), or no arm is available
        """
        if sum(option is not None for option in (count, key, keys, distinct)) > 1:
            raise InvalidInputError("give one of count=, distinct=, key= and keys=")
        if count is not None or distinct is not None:
            name, number = ("count", count) if distinct is None else ("distinct", distinct)
            keys = [None] * whole(name, number, 1, requests.MAX_BATCH)
        request = requests.Ask(
            [key] if keys is None else keys, worker, among, distinct is not None, segment=segment, tags=tags
        )
        decisions = self._do(request)
        return decisions[0] if keys is None else decisions

    def tell(
        self,
        decision: Decision | int | str,
        reward: float,
        *,
        metrics: Mapping[str, float] | None = None,
        weight: float | None = None,
        covariate: float | None = None,
        seen: Mapping[Any, float] | None = None,
    ) -> None:
        """Record the reward of a decision, or of the decision with this number or key.

        ``metrics`` are other measurements of the decision, which guardrails may watch; ``seen`` are rewards of arms
        that were not played but seen, by arm, from which the policy learns. ``weight`` (such as a notional) counts in
        the weighted means of reports only: to a policy an order is one observation, however large, and ten times the
        notional is not ten times the evidence. If large orders matter more, tell rewards in money. ``covariate`` is
        what was seen in that round whichever arm was played, for objectives that use one, such as Adjusted.

        Repeating a reward changes nothing. A different reward for a decision that already has one raises
        :class:`~sharpe_bandits.errors.ConflictError` and changes nothing. Late rewards are accepted.
        """
        measures = {"metrics": metrics, "weight": weight, "covariate": covariate, "seen": seen}
        more = {name: value for name, value in measures.items() if value is not None}
        self.tell_many([(decision, {"reward": reward, **more} if more else reward)])

    def tell_many(
        self,
        rewards: Mapping[Decision | int | str, Any] | Iterable[tuple[Decision | int | str, Any]],
        *,
        strict: bool = True,
    ) -> list[SharpeBanditsError | None]:
        """Record rewards by decision, or by its number or key, in one commit.

        Parameters
        ----------
        rewards : decision (or number, or key) -> reward, or ``{"reward": 3.1, "metrics": {"error": 0}, "weight": 1e6}``
        strict
            if one of them is refused, refuse all of them and raise. Otherwise the others are recorded, and the error of
            each (None if there was none) is returned, in order
        """
        request = requests.Tell(rewards, strict)
        return self._do(request) if request.checked else []

    @property
    @abstractmethod
    def arms(self) -> list[Any]:
        """All arms, including retired ones."""

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """The settings that the campaign was created with, as plain data; the lease in seconds."""

    @property
    @abstractmethod
    def rules(self) -> dict[str, Any]:
        """The rules now: mode, share, control arm, bounds, suspended arms, guardrails."""

    def record(self, arm: Any, reward: float | None = None, **options: Any) -> Decision:
        """Record a decision that somebody else made, and its reward if it is known; the policy learns from it.

        What the policy would have chosen is logged beside it (``decision.choice``). The options are those of
        :class:`~sharpe_bandits.live.campaigns.Record`: ``key``, ``propensity`` (the probability with which the arm was
        chosen, if it is known), ``worker``, ``metrics``, ``weight``, ``covariate``, ``segment``,
        ``tags``.
        """
        return self._do(requests.Record(arm, reward, **options))

    def load_history(self, source: Any, *, arm: str = "arm", reward: str = "reward") -> int:
        """Learn from decisions before the campaign: they count as if they had been told, and are marked as history.

        Returns the number of new rows: loading the same rows again changes nothing. If a row is refused, none is
        recorded (a service takes 1,000 at a time).

        Parameters
        ----------
        source
            a Parquet or CSV file, an Arrow table, a frame, or a list of mappings, with columns ``arm`` and ``reward``
            and, if they are known, ``key``, ``propensity``, ``weight``, ``covariate`` and ``segment``
        arm, reward : the columns that have them, if they have other names
        """
        records = requests.past_records(source, self.arms, {"arm": arm, "reward": reward})
        numbers = self.numbers_of(str(record.key) for record in records)
        self._do(requests.RecordAll(records))
        return len({record.key for record in records} - numbers.keys())

    def _number(self, decision: Decision | int | str) -> Decision | int:
        """The decision, with its number for its key."""
        if not isinstance(decision, str):
            return decision
        if (number := self.numbers_of([decision]).get(decision)) is None:
            raise requests.unknown_decision(decision, self.name)
        return number

    def amend(
        self, decision: Decision | int | str, reward: float, why: str | None = None, *, by: str | None = None
    ) -> None:
        """Correct a wrong reward: both values stay in the log, and the state becomes what it would be with the new one
        from the start. The time is proportional to the length of the log: a second per 100,000 events.
        """
        self._do(requests.Amend(self._number(decision), reward, why=why, by=by))

    def set(self, *, why: str | None = None, by: str | None = None, **rules: Any) -> None:
        """Change rules, such as ``set(mode="live", share=0.1)``; the change is logged with who, when and why.

        Parameters
        ----------
        why, by : the reason, and who changes it (host and process)
        **rules
            ``mode``, ``share``, ``control``, ``fallback``, ``bounds``, ``suspended``, ``guardrails`` or ``webhook``:
            see :meth:`sharpe_bandits.Store.campaign`. None switches control, fallback and webhook off
        """
        self._do(requests.Change(rules, why=why, by=by))

    def pause(self, why: str | None = None, *, by: str | None = None, fallback: Any = ...) -> None:
        """Pause the campaign: asks get the arm ``fallback``, by default that of the rules, or are refused (None)."""
        rules = {"mode": "paused"} if fallback is ... else {"mode": "paused", "fallback": fallback}
        self._do(requests.Change(rules, why=why, by=by))

    def resume(self, arm: Any = None, why: str | None = None, *, by: str | None = None) -> None:
        """Play a suspended arm again; without an arm, end the pause of the campaign."""
        self._do(requests.Resume(arm, why=why, by=by))

    def suspend(self, arm: Any, why: str | None = None, *, by: str | None = None) -> None:
        """Stop playing an arm until it is resumed; rewards of its decisions are still accepted."""
        self._do(requests.Suspend(arm, why=why, by=by))

    def cancel(self, decision: Decision | int | str, *, by: str | None = None) -> None:
        """Cancel a decision, or the one with this number or key, that will not be played. Repeating it changes nothing;
        ConflictError if it has a reward.
        """
        self._do(requests.Cancel(self._number(decision), by=by))

    def add_arm(self, arm: str, why: str | None = None, *, by: str | None = None) -> None:
        """Add an arm, which starts with its pilot. Nothing changes if there is an arm with that name."""
        self._do(requests.AddArm(arm, why=why, by=by))

    def retire_arm(self, arm: Any, why: str | None = None, *, by: str | None = None) -> None:
        """Stop playing an arm; rewards of its decisions are still accepted. Repeating it changes nothing."""
        self._do(requests.RetireArm(arm, why=why, by=by))

    @abstractmethod
    def decision(self, number: int | str) -> Decision:
        """The decision with this number or key, in its current state."""

    @abstractmethod
    def pending(self, count: int = 100) -> list[Decision]:
        """At most ``count`` pending decisions, ordered by the end of their leases."""

    @abstractmethod
    def status(self) -> Status:
        """The status of the campaign: arms with pulls, pending pulls, estimates and intervals; rounds spent."""

    @abstractmethod
    def weights(self, *, max: float = 1.0, min: float = 0.0, segment: str | None = None) -> dict[Any, float]:
        """The policy's choice (in a segment) as weights of a portfolio, each between ``min`` and ``max``: what an arm
        cannot take goes to the policy's next choice.
        """

    @abstractmethod
    def recommend(self, segment: str | None = None) -> Any:
        """The arm that looks best (in a segment), or the arms: see :meth:`sharpe_bandits.Agent.recommend`."""

    @abstractmethod
    def agent(self) -> Agent:
        """A copy of the state as an agent in memory, independent of the campaign."""

    def history(self, last: int | None = None, *, first: int | None = None, count: int | None = None) -> pa.Table:
        """All decisions as an Arrow table, in order; ``.to_pandas()`` makes a frame.

        Parameters
        ----------
        last : only this many of the last decisions
        first : only decisions from this number on
        count : at most this many
        """
        if last is not None and first is not None:
            raise InvalidInputError("give last= or first=, not both")
        begin = 1 if first is None else whole("first", first, 1)
        if last is not None:
            begin = max(1, self.status().decisions + 1 - whole("last", last, 1))
        return self._history(begin, None if count is None else whole("count", count, 1))

    def log(self, *, before: int | None = None, count: int = 100, search: str = "") -> list[LogEntry]:
        """Entries of the log, newest first.

        Parameters
        ----------
        before : only entries before this number
        count : at most this many
        search
            only entries that match: the number of a decision, or part of a kind of event, of the name of an arm, of
            a key or of a worker
        """
        if not isinstance(search, str):
            raise InvalidInputError(f"search must be text, got {shown(search)}")
        whole("count", count, 1, requests.MAX_BATCH)
        return self._log(None if before is None else whole("before", before, 1), count, search)

    @abstractmethod
    def verify(self, *, choices: bool = False) -> Verification:
        """Replay the log from the beginning, and compare the result with the state and with all decisions.

        Parameters
        ----------
        choices : also check, decision by decision, that the policy still chooses the same arms (takes longer)
        """

    @abstractmethod
    def evaluate(self, policy: Policy) -> Evaluation:
        """What another policy would have earned per round, by inverse propensity and doubly robust estimates.

        Needs a campaign created with ``explore=``; raises :class:`~sharpe_bandits.errors.InvalidInputError`, with the
        reason, if the log does not support an estimate. See :mod:`sharpe_bandits.live.campaigns.evaluation` for what is
        estimated.
        """

    @abstractmethod
    def accept_clock(self, *, by: str | None = None) -> None:
        """Accept the database's clock as it is now, even though it is before the last event, or has jumped forward."""

    @abstractmethod
    def numbers_of(self, keys: Iterable[str]) -> dict[str, int]:
        """Numbers of the decisions with these keys; unknown keys are left out."""

    @abstractmethod
    def _do(self, request: requests.Request) -> Any:
        """The result of a request, once it is committed; raises its error."""

    @abstractmethod
    def _history(self, first: int, count: int | None) -> pa.Table:
        """At most ``count`` decisions from number ``first`` on."""

    @abstractmethod
    def _log(self, before: int | None, count: int, search: str) -> list[LogEntry]:
        """At most ``count`` entries before this number that match ``search``."""
