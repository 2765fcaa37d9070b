"""What the last decisions of a campaign say against its statements: late rewards that differ, arms that changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...confidence_sequences import lateness
from ..change import ChangeDetector
from .records import DecisionRow

#: Decisions that are looked at, and rewards without which nothing is said.
LAST, LEAST = 1_000, 64


def remarks_on(rows: Iterable[DecisionRow], arms: Sequence[Any]) -> list[str]:
    """Warnings, each with its remedy, from decisions that have a reward; others are skipped."""
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
