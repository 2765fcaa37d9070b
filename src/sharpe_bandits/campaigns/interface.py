"""What one can do with a campaign, whether its store is at hand or behind HTTP."""

from __future__ import annotations

import os
import platform
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..agents import Agent
from ..errors import InvalidInputError, SharpeBanditsError, shown
from ..names import check_name
from ..policies.base import Policy
from ..validation import finite, whole
from .answers import Evaluation, LogEntry, Verification
from .decisions import Decision
from .status import Status

if TYPE_CHECKING:
    import pyarrow as pa

#: Decisions that are asked for, or told, in one call, at most.
MAX_BATCH = 10_000


class CampaignInterface(ABC):
    """The methods of a campaign: a worker's code does not change when a campaign moves from a file to a service."""

    name: str
    #: What keys begin with that the library gives.
    _AUTOMATIC: str

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
            how many decisions to make in one commit. Where the policy can hand out fewer for now, the list is
            shorter
        key : str | None, optional
            idempotency key, of up to 200 characters: asking again with the same key gives the same decision,
            whatever has become of it
        keys : Sequence[str | None] | None, optional
            one key (or None) per decision, instead of ``count``
        worker : str | None, optional
            who asks (host and process)

        Raises
        ------
        WaitForRewardsError : if the policy can only wait; it says for how many rewards of which arms
        CampaignOverError : if the budget is spent, or the policy is sure
        """
        if sum(option is not None for option in (count, key, keys)) > 1:
            raise InvalidInputError("give one of count=, key= and keys=")
        wanted: list[str | None] = [key]
        if keys is not None:
            wanted = list(keys)
            whole("the number of keys", len(wanted), 1, MAX_BATCH)
        elif count is not None:
            wanted = [None] * whole("count", count, 1, MAX_BATCH)
        for one in wanted:
            if one is not None:
                check_name("an idempotency key", one)
        who = f"{platform.node()}:{os.getpid()}" if worker is None else check_name("the name of a worker", worker)
        # Decisions without a key get one, so that a transaction whose end was not heard of can be tried again.
        token = secrets.token_hex(12) if None in wanted else ""
        named = [f"{self._AUTOMATIC}{token}-{i}" if one is None else one for i, one in enumerate(wanted)]
        made = self._asked(named, who)
        return made[0] if count is None and keys is None else made

    def tell(self, decision: Decision | int, reward: float) -> None:
        """Record the reward of a decision, given itself or by its number.

        The same reward again changes nothing. Another one for a decision that has a reward is a
        :class:`~sharpe_bandits.errors.ConflictError`, and nothing is changed. A reward that comes after the lease ran
        out is welcome.
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
            if one of them is refused, refuse all of them and raise. Otherwise the others are recorded, and what
            was wrong with each (None: nothing) is given, in their order
        """
        pairs = list(rewards.items() if isinstance(rewards, Mapping) else rewards)
        whole("the number of rewards", len(pairs), 0, MAX_BATCH)
        if not pairs:
            return []
        checked: list[tuple[int, float] | SharpeBanditsError] = []
        for decision, reward in pairs:
            try:
                checked.append((number_of(decision), finite(f"the reward of decision {_name(decision)}", reward)))
            except InvalidInputError as error:
                if strict:
                    raise
                checked.append(error)
        return self._told(checked, strict)

    @property
    @abstractmethod
    def arms(self) -> list[Any]:
        """All arms, retired ones included."""

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What the campaign was made with, as plain data; the lease in seconds."""

    @abstractmethod
    def cancel(self, decision: Decision | int) -> None:
        """Take back a decision that will not be played. Again: nothing changes; with a reward: ConflictError."""

    @abstractmethod
    def add_arm(self, arm: str) -> None:
        """Play a new arm from now on; it begins with its pilot. Nothing changes if there is an arm of that name."""

    @abstractmethod
    def retire_arm(self, arm: Any) -> None:
        """Do not play an arm any more; rewards of its decisions are still taken in. Again: nothing changes."""

    @abstractmethod
    def decision(self, number: int) -> Decision:
        """The decision of that number, as it is now."""

    @abstractmethod
    def pending(self, count: int = 100) -> list[Decision]:
        """Decisions that wait for their reward, at most ``count``; the lease of the first one ends first."""

    @abstractmethod
    def status(self) -> Status:
        """Where the campaign stands: arms with pulls, pulls under way, estimates and intervals; what was spent."""

    @abstractmethod
    def recommend(self) -> Any:
        """The arm that looks best, or the arms: see :meth:`sharpe_bandits.Agent.recommend`."""

    @abstractmethod
    def agent(self) -> Agent:
        """The same state as an agent in memory; what it does from now on does not touch the campaign."""

    def history(self, last: int | None = None, *, first: int | None = None, count: int | None = None) -> pa.Table:
        """All decisions as an Arrow table, in their order; ``.to_pandas()`` makes a frame.

        Parameters
        ----------
        last : int | None, optional
            only so many, the last ones
        first : int | None, optional
            or those from this number on
        count : int | None, optional
            and at most so many
        """
        if last is not None and first is not None:
            raise InvalidInputError("give last= or first=, not both")
        begin = 1 if first is None else whole("first", first, 1)
        if last is not None:
            begin = max(1, self._decided() + 1 - whole("last", last, 1))
        return self._history(begin, None if count is None else whole("count", count, 1))

    def log(self, *, before: int | None = None, count: int = 100, search: str = "") -> list[LogEntry]:
        """Entries of the log, the newest first.

        Parameters
        ----------
        before : int | None, optional
            only entries before the one of this number
        count : int, optional
            at most so many
        search : str, optional
            only entries in which this is found: the number of a decision, or part of a kind of event, of the name
            of an arm, of a key or of a worker
        """
        if not isinstance(search, str):
            raise InvalidInputError(f"search must be text, got {shown(search)}")
        whole("count", count, 1, MAX_BATCH)
        return self._log(None if before is None else whole("before", before, 1), count, search)

    @abstractmethod
    def verify(self, *, choices: bool = False) -> Verification:
        """Fold the log again from the beginning, and compare it with the state and with all decisions.

        Parameters
        ----------
        choices : bool, optional
            also ask the policy again, decision by decision, whether it chooses the arms that it chose (takes
            longer)
        """

    @abstractmethod
    def evaluate(self, policy: Policy) -> Evaluation:
        """What another policy would have earned per round, by inverse propensity and doubly robust estimates.

        Needs a campaign made with ``explore=``; raises :class:`~sharpe_bandits.errors.InvalidInputError`, with the
        reason, where the log cannot say. See :mod:`sharpe_bandits.campaigns.evaluation` for what is estimated.
        """

    @abstractmethod
    def _asked(self, keys: list[str], worker: str) -> list[Decision]:
        """Decisions with these keys, in one commit: new ones, or those that were asked for with them before."""

    @abstractmethod
    def _told(
        self, rewards: list[tuple[int, float] | SharpeBanditsError], strict: bool
    ) -> list[SharpeBanditsError | None]:
        """Record rewards by the number of their decision; for each, what is wrong with it."""

    @abstractmethod
    def _decided(self) -> int:
        """How many decisions were made."""

    @abstractmethod
    def _history(self, first: int, count: int | None) -> pa.Table:
        """Decisions from this number on, at most so many."""

    @abstractmethod
    def _log(self, before: int | None, count: int, search: str) -> list[LogEntry]:
        """Entries before this number, at most so many, in which ``search`` is found."""


def number_of(decision: Decision | int) -> int:
    """The number of a decision that is given itself, or by its number."""
    return decision.number if isinstance(decision, Decision) else whole("the number of a decision", decision, 1)


def _name(decision: Decision | int) -> str:
    return str(decision.number) if isinstance(decision, Decision) else shown(decision)
