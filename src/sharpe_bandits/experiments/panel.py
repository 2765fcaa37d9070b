"""Panels: experiments with an identity, ready to be run, measured and drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..engine.work import Work
from ..results import Outcome
from ..simulation import checkpoint_times
from .description import Case

#: Checkpoints of a regret curve, unless the description says otherwise.
CHECKPOINTS = 60


@dataclass(frozen=True)
class Claim:
    """Something said of a panel: a sentence, the comparisons it comes down to, and why it fails where it does."""

    id: str
    says: str
    checks: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True)
class Panel:
    """An experiment under a profile.

    Attributes
    ----------
    id, profile : its identity; a user's own experiment has profile ""
    title, compares, note : in words
    metric : what is drawn first, "regret" or "error"
    cases : what is simulated
    checkpoints : how many rounds are kept per curve
    claims : what is said of it
    most_runs : how many runs are enough for it, if that is fewer than for others
    """

    id: str
    profile: str
    title: str
    compares: str
    note: str
    metric: str
    cases: tuple[Case, ...]
    checkpoints: int
    claims: tuple[Claim, ...] = ()
    most_runs: int | None = None

    @property
    def key(self) -> str:
        """Name for files and links: ``R3-paper``."""
        return f"{self.id}-{self.profile}" if self.profile else self.id

    @property
    def axis(self) -> str:
        """How time is drawn: "log", or "linear" where arms change."""
        return "linear" if any(case.environment.switches for case in self.cases) else "log"

    def works(self, runs: int, seed: int) -> Iterator[tuple[int, Work]]:
        """What has to be simulated: number of the case, and the work of one policy in it."""
        runs = min(runs, self.most_runs or runs)
        for number, case in enumerate(self.cases):
            times = checkpoint_times(self.checkpoints, case.horizon, case.environment.switches)
            for policy in case.policies:
                yield number, Work(policy, case.environment, case.horizon, runs, seed, times)


@dataclass(frozen=True)
class Finished:
    """A panel that was simulated: per case, the gaps of its arms and each policy's outcome."""

    panel: Panel
    outcomes: list[dict[str, Outcome]]
    seconds: float
