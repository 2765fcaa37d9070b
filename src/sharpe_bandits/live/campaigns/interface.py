"""The interface of a campaign, whether its store is local or behind HTTP."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..._support.validation import whole
from ...errors import InvalidInputError, SharpeBanditsError, shown
from ...policies.base import Policy
from ..agents import Agent
from .records import Decision, Evaluation, LogEntry, Verification
from .requests import MAX_BATCH, AddArm, Ask, Cancel, Request, RetireArm, Tell
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
    ) -> Any:
        """Which arm to play now: a :class:`Decision`, or a list of them if ``count`` or ``keys`` is given.

        Parameters
        ----------
        count : int | None, optional
            how many decisions to make in one commit. The list is shorter if the policy can hand out only fewer at the
            moment
        key : str | None, optional
            idempotency key, of up to 200 characters: asking again with the same key returns the same decision, whatever
            its state
        keys : Sequence[str | None] | None, optional
            one key (or None) per decision, instead of ``count``
        worker : str | None, optional
            who asks (host and process)

        Raises
        ------
        WaitForRewardsError : if the policy must wait for rewards; it says how many of which arms
        CampaignOverError : if the budget is spent, or the policy has stopped
        """
        if sum(option is not None for option in (count, key, keys)) > 1:
            raise InvalidInputError("give one of count=, key= and keys=")
        if count is not None:
            keys = [None] * whole("count", count, 1, MAX_BATCH)
        decisions = self._do(Ask([key] if keys is None else keys, worker))
        return decisions[0] if keys is None else decisions

    def tell(self, decision: Decision | int, reward: float) -> None:
        """Record the reward of a decision, or of the decision with this number.

        Repeating a reward changes nothing. A different reward for a decision that already has one raises
        :class:`~sharpe_bandits.errors.ConflictError` and changes nothing. Late rewards are accepted.
        """
        self.tell_many([(decision, reward)])

    def tell_many(
        self,
        rewards: Mapping[Decision | int, float] | Iterable[tuple[Decision | int, float]],
        *,
        strict: bool = True,
    ) -> list[SharpeBanditsError | None]:
        """Record rewards by decision, or by its number, in one commit.

        Parameters
        ----------
        rewards : Mapping[Decision | int, float] | Iterable[tuple[Decision | int, float]]
            decision (or number) -> reward
        strict : bool, optional
            if one of them is refused, refuse all of them and raise. Otherwise the others are recorded, and the error of
            each (None if there was none) is returned, in order
        """
        request = Tell(rewards, strict)
        return self._do(request) if request.checked else []

    @property
    @abstractmethod
    def arms(self) -> list[Any]:
        """All arms, including retired ones."""

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """The settings that the campaign was created with, as plain data; the lease in seconds."""

    def cancel(self, decision: Decision | int) -> None:
        """Cancel a decision that will not be played. Repeating it changes nothing; ConflictError if it has a reward."""
        self._do(Cancel(decision))

    def add_arm(self, arm: str) -> None:
        """Add an arm, which starts with its pilot. Nothing changes if there is an arm with that name."""
        self._do(AddArm(arm))

    def retire_arm(self, arm: Any) -> None:
        """Stop playing an arm; rewards of its decisions are still accepted. Repeating it changes nothing."""
        self._do(RetireArm(arm))

    @abstractmethod
    def decision(self, number: int) -> Decision:
        """The decision with this number, in its current state."""

    @abstractmethod
    def pending(self, count: int = 100) -> list[Decision]:
        """At most ``count`` pending decisions, ordered by the end of their leases."""

    @abstractmethod
    def status(self) -> Status:
        """The status of the campaign: arms with pulls, pending pulls, estimates and intervals; rounds spent."""

    @abstractmethod
    def recommend(self) -> Any:
        """The arm that looks best, or the arms: see :meth:`sharpe_bandits.Agent.recommend`."""

    @abstractmethod
    def agent(self) -> Agent:
        """A copy of the state as an agent in memory, independent of the campaign."""

    def history(self, last: int | None = None, *, first: int | None = None, count: int | None = None) -> pa.Table:
        """All decisions as an Arrow table, in order; ``.to_pandas()`` makes a frame.

        Parameters
        ----------
        last : int | None, optional
            only this many of the last decisions
        first : int | None, optional
            only decisions from this number on
        count : int | None, optional
            at most this many
        """
        if last is not None and first is not None:
            raise InvalidInputError("give last= or first=, not both")
        begin = 1 if first is None else whole("first", first, 1)
        if last is not None:
            begin = max(1, self._decisions_made() + 1 - whole("last", last, 1))
        return self._history(begin, None if count is None else whole("count", count, 1))

    def log(self, *, before: int | None = None, count: int = 100, search: str = "") -> list[LogEntry]:
        """Entries of the log, newest first.

        Parameters
        ----------
        before : int | None, optional
            only entries before this number
        count : int, optional
            at most this many
        search : str, optional
            only entries that match: the number of a decision, or part of a kind of event, of the name of an arm, of
            a key or of a worker
        """
        if not isinstance(search, str):
            raise InvalidInputError(f"search must be text, got {shown(search)}")
        whole("count", count, 1, MAX_BATCH)
        return self._log(None if before is None else whole("before", before, 1), count, search)

    @abstractmethod
    def verify(self, *, choices: bool = False) -> Verification:
        """Replay the log from the beginning, and compare the result with the state and with all decisions.

        Parameters
        ----------
        choices : bool, optional
            also check, decision by decision, that the policy still chooses the same arms (takes longer)
        """

    @abstractmethod
    def evaluate(self, policy: Policy) -> Evaluation:
        """What another policy would have earned per round, by inverse propensity and doubly robust estimates.

        Needs a campaign created with ``explore=``; raises :class:`~sharpe_bandits.errors.InvalidInputError`, with the
        reason, if the log does not support an estimate. See :mod:`sharpe_bandits.live.campaigns.evaluation` for what is
        estimated.
        """

    @abstractmethod
    def _do(self, request: Request) -> Any:
        """The result of a request, once it is committed; raises its error."""

    @abstractmethod
    def _decisions_made(self) -> int:
        """Number of decisions made."""

    @abstractmethod
    def _history(self, first: int, count: int | None) -> pa.Table:
        """At most ``count`` decisions from number ``first`` on."""

    @abstractmethod
    def _log(self, before: int | None, count: int, search: str) -> list[LogEntry]:
        """At most ``count`` entries before this number that match ``search``."""
