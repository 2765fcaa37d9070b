"""The goals, each with what was measured and whether it is met."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from . import measure, peers


@dataclass(frozen=True)
class Goal:
    """``least``: the measured number must reach the target; otherwise it must not exceed it."""

    what: str
    target: float
    measured: float
    least: bool = True
    unit: str = "times"
    #: What stands in the way where the goal is missed.
    limit: str = ""

    @property
    def met(self) -> bool:
        """Whether the goal is met."""
        return self.measured >= self.target if self.least else self.measured <= self.target

    @property
    def verdict(self) -> str:
        """In words; where missed, by how much."""
        if math.isnan(self.measured):
            return "not measured: see its row"
        if self.met:
            return "met"
        short = self.target / self.measured if self.least else self.measured / self.target
        return f"missed by a factor of {short:.2f}"


def ratio(work: dict[str, Any], engine: str) -> float:
    """The ratio of an engine in a work's rows."""
    return float(next(row["ratio"] for row in work["rows"] if row["engine"] == engine))


def label(work: dict[str, Any]) -> str:
    """The arms of a work in a few words."""
    return f"{work['arms']}, the ten arms in copies" if work["copies"] else str(work["arms"])


def goals_of(found: dict[str, Any]) -> list[Goal]:
    """Every goal on which there are measurements."""
    goals = []
    if "ucb1" in found:
        names = {peer.name for peer in peers.PEERS if peer.policy == "UCB1"}
        ran = {row["engine"]: row["ratio"] for row in found["ucb1"]["rows"] if row["engine"] in names and "ns" in row}
        if ran:
            fastest = min(ran, key=lambda name: ran[name])
            goals.append(Goal(f"(a) UCB1, K = 10: faster than the fastest peer ({fastest})", 10, ran[fastest]))
        if any(row["engine"] == "SMPyBandits" for row in found["ucb1"]["rows"]):
            goals.append(Goal("(a) UCB1, K = 10: faster than SMPyBandits", 1000, ran.get("SMPyBandits", math.nan)))
    for work in found.get("rssr", []):
        target = {10: 5, 64: 10}.get(work["arms"])
        if target:
            what = f"(b) UCB-RSSR, K = {label(work)}: faster than the C loop"
            limit = "a step costs at least its draw, its two sums and one exact index"
            goals.append(Goal(what, target, ratio(work, measure.C_LOOP), limit=limit))
    if "thompson" in found:
        what = "(c) Modified-MVTS, K = 10: faster than a Numba loop over numpy's generator"
        limit = "a normal and a gamma draw per arm and step: one logarithm, four roots and five divisions"
        goals.append(Goal(what, 2, ratio(found["thompson"], measure.GENERATOR), limit=limit))
    if "halving" in found:
        what = "(d) SHSR, K = 64: cost per pull against the bare draws"
        limit = "two sums per draw, and the ranking between phases"
        goals.append(Goal(what, 2, ratio(found["halving"], measure.OURS), least=False, limit=limit))
    if "own" in found:
        what = "(e) a user's own policy: cost against the built-in one"
        goals.append(Goal(what, 1.5, ratio(found["own"], measure.OWN), least=False))
    if "growth" in found:
        limit = "both cores must be free of other work, and turbo clocks fall when both are busy"
        two = found["growth"]["workers"].get("2")
        if two is not None:
            goals.append(Goal("(f) two workers against one, UCB-RSSR", 1.7, two, limit=limit))
    if found.get("memory"):
        sizes = [row["MiB"] for row in found["memory"]]
        what = f"(g) peak memory over {_span(found['memory'])} more rounds: largest against smallest"
        goals.append(Goal(what, 1.2, max(sizes) / min(sizes), least=False))
    if "start" in found:
        goals.append(Goal("(h) import", 0.5, found["start"]["import"], least=False, unit="s"))
        goals.append(Goal("(h) first call, kernels on disk", 2.0, found["start"]["first call"], least=False, unit="s"))
    return goals


def _span(rows: list[dict[str, Any]]) -> str:
    rounds = [row["runs"] * row["horizon"] for row in rows]
    return f"{max(rounds) // min(rounds)} times"
