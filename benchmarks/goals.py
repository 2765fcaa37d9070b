"""The goals, each with what was measured and whether it is met."""

from __future__ import annotations

import math
import statistics
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
    #: Of the measured number, over repetitions; empty where there is none.
    interval: tuple[float, ...] = ()

    @property
    def met(self) -> bool:
        """Whether the goal is met: by the whole interval, not by a lucky number within it."""
        ends = self.interval or (self.measured,)
        return min(ends) >= self.target if self.least else max(ends) <= self.target

    @property
    def verdict(self) -> str:
        """In words; where missed, by how much."""
        if math.isnan(self.measured):
            return "not measured: see its row"
        if self.met:
            return "met"
        if self.interval and min(self.interval) <= self.target <= max(self.interval):
            return "undecided: the interval holds the target"
        short = self.target / self.measured if self.least else self.measured / self.target
        return f"missed by a factor of {short:.2f}"


def of_row(what: str, target: float, work: dict[str, Any], engine: str, least: bool = True, limit: str = "") -> Goal:
    """A goal on the ratio of an engine in a work's rows."""
    row = next(row for row in work["rows"] if row["engine"] == engine)
    return Goal(what, target, row["ratio"], least, limit=limit, interval=tuple(row["interval"]))


def in_seconds(what: str, target: float, seconds: list[float], limit: str = "") -> Goal:
    """A goal on seconds: their median, between the least and the largest."""
    ends = (min(seconds), max(seconds))
    return Goal(what, target, statistics.median(seconds), least=False, unit="s", limit=limit, interval=ends)


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
    limit = (
        "the tuned loop keeps what depends on an arm's own rewards and works out the rest by hand; here formulas are "
        "written once, and every index is evaluated anew in every round"
    )
    for work in found.get("paths", []):
        for row, target in zip(work["rows"][1:], work["targets"], strict=False):
            what = f"(b) {work['what']}: faster than the {row['engine']}"
            goals.append(
                of_row(what, target, work, row["engine"], limit=limit if row["engine"] == measure.C_TUNED else "")
            )
    if "thompson" in found:
        what = "(c) Modified-MVTS, K = 10: faster than a Numba loop over numpy's generator"
        limit = "a normal and a gamma draw per arm and step: one logarithm, four roots and five divisions"
        goals.append(of_row(what, 2, found["thompson"], measure.GENERATOR, limit=limit))
    if "halving" in found:
        limit = "two sums per draw; between phases every arm is estimated and ranked, at checkpoints pulls are kept"
        for work in found["halving"]["works"]:
            what = f"(d) SHSR, K = 64, budget {work['horizon']:,}: cost per pull against the vectorised bare draws"
            goals.append(of_row(what, 1.5, work, measure.OURS, least=False, limit=limit))
    if "own" in found:
        what = "(e) a user's own policy: cost against the built-in one"
        goals.append(of_row(what, 1.5, found["own"], measure.OWN, least=False))
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
        goals.append(in_seconds("(h) import", 0.5, found["start"]["import"]))
        goals.append(in_seconds("(h) first call, kernels on disk", 2.0, found["start"]["first call"]))
        limit = "imports take a quarter, LLVM a third, most of the rest is Numba's work in Python: types and lowering"
        for kind, seconds in found["start"]["first call ever"].items():
            goals.append(in_seconds(f"(h) first call, nothing on disk, {kind}", 6.0, seconds, limit))
    return goals


def _span(rows: list[dict[str, Any]]) -> str:
    rounds = [row["runs"] * row["horizon"] for row in rows]
    return f"{max(rounds) // min(rounds)} times"
