"""What verifying a campaign finds."""

from __future__ import annotations

from dataclasses import dataclass, field

#: Problems that are listed, at most.
_LISTED = 20


@dataclass
class Verification:
    """What was found.

    Attributes
    ----------
    events, decisions : int, optional
        how many were checked
    problems : list[str], optional
        what does not fit, in words; empty if all is well
    """

    events: int = 0
    decisions: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether all is well."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            return f"all is well: {self.events:,} events lead to the state, and to {self.decisions:,} decisions"
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        return "\n".join([f"{count} in {self.events:,} events:", *self.problems])

    def add(self, problem: str) -> None:
        """Take note of a problem; of very many, the first ones."""
        if len(self.problems) < _LISTED:
            self.problems.append(problem)
