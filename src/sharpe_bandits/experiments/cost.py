"""The cost of an experiment, so that one that cannot finish is refused before it starts."""

from __future__ import annotations

from ..engine.spec import BATCHES
from ..simulation import bytes_per_run, machine_memory
from .description import Case, DescriptionError

#: Maximum number of days on one core.
LONGEST = 1000
#: Approximate nanoseconds per round, plus one more per arm.
_ROUND = 4


def check_cost(cases: list[Case], runs: int, checkpoints: int) -> None:
    """Raise if an experiment takes years, or more memory than the machine has; the error states the cost."""
    rounds = runs * sum(len(case.policies) * case.horizon for case in cases)
    nanoseconds = runs * sum(len(case.policies) * case.horizon * (_ROUND + case.environment.K) for case in cases)
    needed, there = sum(_bytes(case, runs, checkpoints) for case in cases), machine_memory()
    days = nanoseconds // (86_400 * 10**9)
    if days <= LONGEST and needed <= there:
        return
    largest = ", ".join(
        f"{key} {value:,}"
        for key, value in (
            ("runs", runs), ("horizon", max(c.horizon for c in cases)), ("cases", len(cases)),
            ("arms", max(c.environment.K for c in cases)), ("checkpoints", checkpoints),
        )
    )  # fmt: skip
    raise DescriptionError(
        f"this experiment is too large: {_short(rounds)} rounds, about {_short(days)} days on one core, and "
        f"{_short(needed // 2**30)} GiB of memory for its results; the limits are {LONGEST:,} days and the "
        f"{there / 2**30:.0f} GiB of this machine; make one of these smaller: {largest}",
        "runs",
    )


def _bytes(case: Case, runs: int, checkpoints: int) -> int:
    """Memory for the results of a case: pulls per run, and per batch of runs at every checkpoint."""
    batches = runs if case.environment.varies else min(runs, BATCHES)
    kept = min(checkpoints, case.horizon) + len(case.environment.switches)
    per_policy = runs * bytes_per_run(case.environment.K) + 8 * batches * kept * case.environment.K
    written = 8 * case.horizon * case.environment.K if case.environment.pregenerated else 0
    return len(case.policies) * per_policy + written


def _short(number: int) -> str:
    return f"{number:,}" if number < 10**6 else f"{number:.1e}" if number < 10**300 else "more than 1e+300"
