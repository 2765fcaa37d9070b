"""Requests to a campaign as data: a campaign executes any number of them in one commit."""

from __future__ import annotations

import os
import platform
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._support.names import check_name
from ..._support.validation import finite, whole
from ...errors import InvalidInputError, SharpeBanditsError, shown
from .records import Decision

#: Maximum number of decisions, or rewards, in one request.
MAX_BATCH = 10_000


@dataclass
class Ask:
    """Which arms to play: one decision per key.

    Parameters
    ----------
    keys : Sequence[str | None], optional
        idempotency keys of up to 200 characters; None for a decision without one
    worker : str | None, optional
        who asks (host and process)
    """

    keys: Sequence[str | None] = (None,)
    worker: str | None = None
    #: Part of the keys that are generated, so that a transaction with unknown outcome can be retried.
    token: str = field(default_factory=lambda: secrets.token_hex(12), repr=False, compare=False)

    def __post_init__(self) -> None:
        self.keys = list(self.keys)
        whole("the number of keys", len(self.keys), 1, MAX_BATCH)
        for key in self.keys:
            if key is not None:
                check_name("an idempotency key", key)
        if self.worker is None:
            self.worker = f"{platform.node()}:{os.getpid()}"
        check_name("the name of a worker", self.worker)

    def all_keys(self, prefix: str) -> list[str]:
        """The keys, with generated ones, which start with ``prefix``, for decisions without a key."""
        return [f"{prefix}{self.token}-{i}" if key is None else key for i, key in enumerate(self.keys)]


@dataclass
class Tell:
    """Rewards of decisions: all or none, or each independently if not ``strict``.

    Parameters
    ----------
    rewards : Any
        decision (or its number) -> reward, as a mapping or as pairs
    strict : bool, optional
        whether one refused reward refuses all
    """

    rewards: Any
    strict: bool = True
    #: Number and reward of each, or why it is refused.
    checked: list[tuple[int, float] | SharpeBanditsError] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        pairs: Iterable[Any] = self.rewards.items() if isinstance(self.rewards, Mapping) else self.rewards
        self.rewards = list(pairs)
        whole("the number of rewards", len(self.rewards), 0, MAX_BATCH)
        self.checked = []
        for decision, reward in self.rewards:
            which = decision.number if isinstance(decision, Decision) else shown(decision)
            try:
                self.checked.append((number_of(decision), finite(f"the reward of decision {which}", reward)))
            except InvalidInputError as error:
                if self.strict:
                    raise
                self.checked.append(error)

    @property
    def numbers(self) -> list[int]:
        """Numbers of the decisions."""
        return [pair[0] for pair in self.checked if isinstance(pair, tuple)]


@dataclass
class Cancel:
    """Cancel a decision that will not be played."""

    decision: Decision | int

    def __post_init__(self) -> None:
        self.decision = number_of(self.decision)


@dataclass
class AddArm:
    """Play one more arm."""

    arm: str

    def __post_init__(self) -> None:
        check_name("the name of an arm", self.arm)


@dataclass
class RetireArm:
    """Stop playing an arm."""

    arm: Any


@dataclass
class AcceptClock:
    """Accept the store's clock as it is now, even though it is before the last event."""


Request = Ask | Tell | Cancel | AddArm | RetireArm | AcceptClock


def number_of(decision: Decision | int) -> int:
    """The number of a decision, given as a decision or as a number."""
    return decision.number if isinstance(decision, Decision) else whole("the number of a decision", decision, 1)
