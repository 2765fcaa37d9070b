"""Finished panels as one tidy table: a row per panel, profile, case, policy, metric and time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import metrics
from ..metrics import Curve, Estimate
from ..objectives import Sharpe
from ..results import Outcome
from .description import Case
from .panel import Finished

COLUMNS = ("panel", "profile", "case", "policy", "K", "L", "n", "t", "metric", "mean", "se", "low", "high", "runs")
CONFIDENCE = 0.95


def gaps(case: Case, seed: int, runs: int) -> np.ndarray:
    """Gaps of a case's arms under its objective: one row for all runs, or a row per run."""
    return case.objective.gaps(*case.environment.truth(seed, runs))


def measures(case: Case, outcome: Outcome, gap: np.ndarray, metric: str) -> Iterator[tuple[str, Curve | Estimate]]:
    """All that is reported of one policy in one case."""
    if metric == "regret":
        yield "regret", metrics.regret(outcome, gap, CONFIDENCE)
        yield "sub-optimal plays", metrics.suboptimal_plays(outcome, gap, CONFIDENCE)
        yield "runs locked in", metrics.locked_in(outcome, gap, CONFIDENCE)
    yield "error", metrics.error(outcome, gap, CONFIDENCE)
    yield "simple regret", metrics.simple_regret(outcome, gap, CONFIDENCE)
    yield "achieved objective", metrics.achieved(outcome, case.objective, CONFIDENCE)
    if case.L is not None:
        yield "achieved Sharpe ratio", metrics.achieved(outcome, Sharpe(case.L), CONFIDENCE)


def rows(finished: Finished, seed: int) -> list[dict[str, Any]]:
    """The tidy table of one panel."""
    panel = finished.panel
    table = []
    for case, outcomes in zip(panel.cases, finished.outcomes, strict=True):
        for name, outcome in outcomes.items():
            fixed = {
                "panel": panel.id,
                "profile": panel.profile,
                "case": case.label,
                "policy": name,
                "K": case.environment.K,
                "L": np.nan if case.L is None else case.L,
                "n": case.horizon,
                "runs": outcome.runs,
            }
            gap = gaps(case, seed, outcome.runs)
            for metric, measured in measures(case, outcome, gap, panel.metric):
                table += [{**fixed, "metric": metric, **numbers} for numbers in _points(measured, case.horizon)]
    return [{column: row[column] for column in COLUMNS} for row in table]


def _points(measured: Curve | Estimate, horizon: int) -> Iterator[dict[str, Any]]:
    if isinstance(measured, Estimate):
        yield {"t": horizon, "mean": measured.mean, "se": measured.se, "low": measured.low, "high": measured.high}
        return
    for t, *values in zip(measured.t, measured.mean, measured.se, measured.low, measured.high, strict=True):
        yield {"t": int(t), **dict(zip(("mean", "se", "low", "high"), map(float, values), strict=True))}


def as_csv(table: list[dict[str, Any]]) -> bytes:
    """The table as CSV, numbers at full precision."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.DictWriter(text, list(table[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue().encode()


def as_parquet(table: list[dict[str, Any]]) -> bytes:
    """The table as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(table), sink, compression="zstd")
    return sink.getvalue().to_pybytes()
