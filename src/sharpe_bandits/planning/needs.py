"""Results of planning: counts of wrong runs, the needs of policies, and the plan that holds both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from .._support.console import Findings
from .._support.display import Table
from .._support.versions import versions
from ..errors import unknown
from ..report.reported import Reported
from ..results.metrics import Estimate, wilson
from .crossing import CONFIDENCE, Line
from .problem import BestArmProblem

#: The purpose of a simulated budget.
Stage = Literal["bracket", "fit", "verify", "asked", "curve"]
STAGES: tuple[Stage, ...] = get_args(Stage)
BRACKET, FIT, VERIFY, ASKED, CURVE = STAGES
#: The method that sees every arm in every period, and takes the one that looks best: not a bandit.
EVERY_ARM = "every arm seen in every period"


@dataclass(frozen=True)
class Point:
    """The number of wrong runs of a policy with a given budget; ``loss`` is the expected one, the annualised Sharpe
    ratio of the best arm minus that of the chosen one.
    """

    policy: str
    budget: int
    runs: int
    wrong: int
    stage: Stage
    loss: float

    @property
    def error(self) -> Estimate:
        return wilson(self.wrong, self.runs, CONFIDENCE)


@dataclass(frozen=True)
class Need:
    """The budget that a policy needs.

    ``rounds`` is the budget at which its error is the target, None if it is not certain to reach that within the
    largest budget allowed; ``line`` the fitted error near it, None if for example the smallest possible budget
    suffices; ``check`` fresh runs at the recommended budget, or runs at the largest one allowed.
    """

    policy: str
    rounds: Estimate | None
    line: Line | None
    check: Point

    @property
    def recommended(self) -> int | None:
        """The smallest budget at which the upper limit of the line's 95% interval is at the target."""
        return None if self.rounds is None else self.check.budget


@dataclass(frozen=True, repr=False)
class Plan(Reported):
    """The budgets that are needed, or the errors at given budgets.

    With a ``target`` there are ``needs``, per policy and for seeing every arm in every period; with given budgets the
    target is None, and ``too_small`` names policies that cannot play with any of them. ``points`` are all simulated
    ones.
    """

    page_name: ClassVar = "plan"
    problem: BestArmProblem
    target: float | None
    needs: tuple[Need, ...]
    points: tuple[Point, ...]
    seed: int
    runs: int
    max_budget: int
    too_small: tuple[str, ...] = ()

    def __getitem__(self, policy: str) -> Need:
        for need in self.needs:
            if need.policy == policy:
                return need
        raise unknown("policy in this plan", policy, [need.policy for need in self.needs])

    @property
    def policies(self) -> list[str]:
        return list(dict.fromkeys(point.policy for point in self.points))

    @property
    def asked(self) -> list[Point]:
        return [point for point in self.points if point.stage == ASKED]

    @property
    def periods_at_once(self) -> Estimate | None:
        """Periods needed if the rewards of all arms are seen in each."""
        return self[EVERY_ARM].rounds if self.needs else None

    def years(self, rounds: float) -> float:
        return rounds / self.problem.periods_per_year

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "sharpe-bandits plan",
            "problem": self.problem.to_dict(),
            "conventions": self.problem.conventions(),
            "target": self.target,
            "needs": [self._need(need) for need in self.needs],
            "points": self.table.records(),
            "seed": self.seed,
            "runs": self.runs,
            "max_budget": self.max_budget,
            "versions": versions(),
        }

    def _need(self, need: Need) -> dict[str, Any]:
        check = need.check
        return {
            "policy": need.policy,
            "recommended": need.recommended,
            "rounds": need.rounds and vars(need.rounds),
            "years": need.rounds and {key: self.years(value) for key, value in vars(need.rounds).items()},
            "check": {"budget": check.budget, "runs": check.runs, "loss": check.loss, **vars(check.error)},
        }

    @property
    def table(self) -> Table:
        rows = [
            [p.policy, p.stage, p.budget, self.years(p.budget), p.runs, p.wrong, *vars(p.error).values(), p.loss]
            for p in self.points
        ]
        heads = ["policy", "stage", "budget", "years", "runs", "wrong", "error", "se", "low", "high", "loss"]
        return Table(heads, rows)

    def findings(self) -> Findings:
        from . import words

        notes = {"assumed": words.assumed(self).removeprefix("Assumed: "), "notes": " ".join(words.remarks(self))}
        return Findings(self.problem.remarks, [(words.heads(self), words.lines(self))], words.answer(self), notes)
