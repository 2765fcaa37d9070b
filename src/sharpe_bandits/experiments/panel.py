"""Panels: experiments with an identity, ready to be run, measured and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from ..charts.description import Figure
from ..charts.tidy_rows import AsPlotted, Rows, curves, points, rates
from ..results.policy_result import Compared, Metric, PolicyResult
from ..results.study import Study
from ..simulation.api import check_memory, checkpoint_times, run_specs, settings_of
from ..simulation.executors import Backend
from ..simulation.spec import Spec, prepare
from .description import Case
from .store import ChunkStore, digest

#: Checkpoints of a regret curve, unless the description says otherwise.
CHECKPOINTS = 60


@dataclass(frozen=True)
class Claim:
    """A claim about a panel: a sentence, the comparisons that test it, and the reason if it fails.

    ``metric`` is what is compared; by default the metric of the panel. Regrets at different L are in different units:
    comparisons across regularisers use "sub-optimal plays". ``statement``: the name of what it says in general.
    """

    id: str
    says: str
    checks: tuple[str, ...]
    why: str = ""
    metric: Compared | AsPlotted | None = None
    statement: str = ""


@dataclass(frozen=True)
class Panel:
    """An experiment under a profile; a user's own has profile ""."""

    id: str
    profile: Literal["paper", "authors", ""]
    title: str
    compares: str
    note: str
    metric: Metric | Literal["coverage"]  # what is plotted first
    cases: tuple[Case, ...]
    checkpoints: int  # number of rounds kept per curve
    claims: tuple[Claim, ...] = ()
    max_runs: int | None = None  # if fewer runs than usual are enough
    long_cases: tuple[Case, ...] = ()  # with a longer horizon and one policy, to judge statements about growth
    beyond: bool = False  # whether the panel goes beyond the paper: nothing is claimed
    readings: tuple[Panel, ...] = ()  # under other readings of the text, each with the claims that it is played for
    reading: str = ""  # if this is such a panel: the name of its reading, and what is read how
    condition: str = ""

    def __repr__(self) -> str:
        return f"<panel {self.key}: {self.title}; {len(self.cases)} cases>"

    @property
    def key(self) -> str:
        """Name for files and links: ``R3-paper``."""
        return "-".join(part for part in (self.id, self.profile, self.reading) if part)

    def specs(self, runs: int, seed: int) -> list[list[Spec]]:
        """What has to be simulated: per case, the specs of its policies; the long cases come last.

        Raises if the results do not fit into memory.
        """
        runs = min(runs, self.max_runs or runs)
        specs = []
        often = [runs] * len(self.cases) + [min(max(-(-runs // 5), 2), 1000)] * len(self.long_cases)
        for case, count in zip((*self.cases, *self.long_cases), often, strict=True):
            times = checkpoint_times(self.checkpoints, case.horizon, case.environment.switches)
            specs.append([Spec(p, case.environment, case.horizon, count, seed, times) for p in case.policies])
            if case.policies:
                check_memory(specs[-1][0], sum(len(c.policies) for c in self.cases))
        return specs


@dataclass(frozen=True)
class Job:
    """A set of panels to run, with the title and the introduction of their report."""

    title: str
    introduction: str
    panels: list[Panel]
    runs: int
    seed: int
    description: Any = None  # anything else that the results depend on, as plain data: a user's experiment file


@dataclass(frozen=True)
class PanelResult:
    """A simulated panel: a study per case, a study per long case, and the results under other readings."""

    panel: Panel
    studies: list[Study]
    long_studies: list[Study] = field(default_factory=list)
    readings: list[PanelResult] = field(default_factory=list)
    of_theory: Rows = field(default_factory=list)  # what theory adds to the tidy table

    def rows(self) -> Rows:
        """The tidy table: what was measured, and what theory adds."""
        own = {"panel": self.panel.id, "profile": self.panel.profile}
        return [{**row, **own} for row in [*(row for study in self.studies for row in study.rows()), *self.of_theory]]

    def figure(self, rows: Rows) -> Figure:
        """The figure of the panel, from its rows."""
        panel = self.panel
        where = f" ({panel.id}, {panel.profile} profile)" if panel.profile else ""
        if panel.metric == "coverage":
            return rates(rows, f"{panel.title}{where}. Bars are 99% intervals")
        caption = f"{panel.title}{where}. {max(study.runs for study in self.studies):,} runs; 95% intervals"
        if panel.metric != "regret":
            return points(rows, self.studies, panel.metric, caption)
        if all(study.K == 2 for study in self.studies):
            caption += "; with two arms, sub-optimal plays are regret divided by the gap"
        return curves(rows, self.studies, caption)


def run_panels(
    panels: Sequence[Panel], runs: int, seed: int, backend: Backend, store: ChunkStore | None, stream: Any = None
) -> list[PanelResult]:
    """Simulate panels and their readings, with progress on a stream. Equivalent specs are simulated once."""
    by_panel = {one.key: one.specs(runs, seed) for panel in panels for one in (panel, *panel.readings)}
    specs = [spec for of_panel in by_panel.values() for of_case in of_panel for spec in of_case]
    names = {id(spec): digest(spec) for spec in specs}
    distinct = {names[id(spec)]: spec for spec in specs}
    for spec in distinct.values():
        prepare(spec)
    played = dict(zip(distinct, run_specs(list(distinct.values()), backend, None, store, stream), strict=True))

    def named(spec: Spec) -> PolicyResult:
        """The result under the name that its policy has in this panel."""
        return replace(played[names[id(spec)]], name=spec.policy.name, policy=spec.policy.to_dict())

    def finished(panel: Panel) -> PanelResult:
        studies = []
        for case, of_case in zip((*panel.cases, *panel.long_cases), by_panel[panel.key], strict=True):
            results = {spec.policy.name: named(spec) for spec in of_case}
            settings = settings_of(case.environment, case.horizon, of_case[0].runs if of_case else runs, seed)
            metric = cast(Metric, panel.metric)  # "coverage" is for panels without policies
            studies.append(Study(results, settings, metric, case.objective, case.variables, case.label, case.L))
        count = len(panel.cases)
        return PanelResult(panel, studies[:count], studies[count:], [finished(other) for other in panel.readings])

    return [finished(panel) for panel in panels]
