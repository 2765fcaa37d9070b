"""Runs panels: all chunks of all cases on all cores, with progress; finished chunks survive an interruption."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TextIO, cast

from ..results.policy_result import Metric, PolicyResult
from ..results.study import Study
from ..simulation.api import run_specs, settings_of
from ..simulation.executors import Backend
from ..simulation.spec import Spec, prepare
from .panel import PanelResult, PanelSpec
from .store import ChunkStore, digest


def run_panels(
    panels: Sequence[PanelSpec], backend: Backend, store: ChunkStore | None, stream: TextIO | None = None
) -> list[PanelResult]:
    """Simulate panels, with progress on a stream. Equivalent specs are simulated once."""
    every = [spec for panel in panels for of_case in panel.specs for spec in of_case]
    names = {id(spec): digest(spec) for spec in every}
    specs = {names[id(spec)]: spec for spec in every}
    for spec in specs.values():
        prepare(spec)
    results = dict(zip(specs, run_specs(list(specs.values()), backend, None, store, stream), strict=True))
    finished = []
    for panel in panels:
        all_cases = (*panel.panel.cases, *panel.panel.long_cases)
        studies = [
            Study(
                {spec.policy.name: _named(results[names[id(spec)]], spec) for spec in of_case},
                settings_of(case.environment, case.horizon, of_case[0].runs if of_case else panel.runs, panel.seed),
                cast(Metric, panel.panel.metric),  # "coverage" is for panels without policies
                case.objective,
                case.variables,
                case.label,
                case.L,
            )
            for case, of_case in zip(all_cases, panel.specs, strict=True)
        ]
        count = len(panel.panel.cases)
        finished.append(PanelResult(panel.panel, studies[:count], studies[count:]))
    return finished


def _named(result: PolicyResult, spec: Spec) -> PolicyResult:
    """The result under the name that its policy has in this panel."""
    return replace(result, name=spec.policy.name, policy=spec.policy.to_dict())
