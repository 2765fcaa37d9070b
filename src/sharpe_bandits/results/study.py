"""Studies: policies simulated on the same rewards, and their comparison."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .._support.display import Table
from .._support.validation import one_of
from ..charts.description import Figure
from ..charts.render_matplotlib import render_matplotlib
from ..charts.tidy_rows import curves, points
from ..errors import InvalidInputError, shown, unknown
from ..objectives import Objective, check_objective
from . import metrics, saved
from .metrics import Curve, Estimate
from .policy_result import CONFIDENCE, Metric, PolicyResult, StoppingResult

#: Numbers of an estimate, and columns of the tidy table.
ENDS = ("mean", "se", "low", "high")
_M = TypeVar("_M", bound=Curve | Estimate)


class ByPolicy(dict[str, _M]):
    """One curve or estimate per policy of a study, by name or class; displayed as a table of the final values."""

    def __init__(self, what: str, values: dict[str, _M], study: Study) -> None:
        super().__init__(values)
        self.what, self._study = what, study

    def __getitem__(self, name: str) -> _M:
        return super().__getitem__(self._study[name].name)

    def table(self) -> Table:
        """The values at the end."""
        return Table(["policy", self.what, "s.e.", "low", "high"], metrics.at_the_end(self.items()))

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


@dataclass(repr=False, eq=False)
class Study(Mapping[str, PolicyResult]):
    """Policies simulated on the same rewards, by name, or by class if only one has that class.

    Methods that concern all policies need a common objective: the one given, that of the study's experiment, or the one
    that the policies share.

    Attributes
    ----------
    results : Mapping[str, PolicyResult]
        the results of each policy, by its name
    settings : Mapping[str, Any]
        what was simulated: bandit, horizon, runs, seed
    metric : Metric, optional
        the default metric for ranking policies: "regret", "error" or "stopping time"
    objective : Objective | None, optional
        the default objective, if the study is a case of an experiment
    variables, label : Mapping[str, Any] | None and str, optional
        what distinguishes it from the other cases of an experiment, if it is one
    L : float | None, optional
        the regulariser of its experiment, or of its objective, if there is one

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> bandit = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)])
    >>> policies = [sb.UCBRSSR(L=0.5), sb.policies.UUCB(epsilon0=0.5)]
    >>> study = sb.simulate(policies, bandit, horizon=1_000, runs=100, seed=1)
    >>> study.names
    ['UCB-RSSR', 'U-UCB']
    >>> print(study.compare("UCB-RSSR", "U-UCB", sb.RSSR(L=0.5)).final)
    -0.3 ± 6.8 [-13.8, 13.1]
    """

    results: Mapping[str, PolicyResult]
    settings: Mapping[str, Any]
    metric: Metric = "regret"
    objective: Objective | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""
    L: float | None = None

    def __post_init__(self) -> None:
        self.L = getattr(self.objective, "L", None) if self.L is None else float(self.L)

    def __repr__(self) -> str:
        return f"<Study of {', '.join(self.names)}: {self._size()} on {self.K} arms>"

    def _size(self) -> str:
        bound = "at most " if self.metric == "stopping time" else ""
        return f"{self.runs:,} runs of {bound}{self.horizon:,} rounds"

    def __str__(self) -> str:
        return str(self._overview())

    def _repr_html_(self) -> str:
        return self._overview()._repr_html_()

    def _overview(self) -> Table:
        try:
            return self.summary()
        except InvalidInputError:  # no common objective: show what needs none
            rows = [[name, str(result.objective or "none")] for name, result in self.items()]
            title = f"{self._size()}; for a comparison pass one objective, as in study.summary({self._example()})"
            return Table(["policy", "its own objective"], rows, title)

    @property
    def names(self) -> list[str]:
        """Names of the policies."""
        return list(self.results)

    @property
    def runs(self) -> int:
        """Runs of each policy."""
        return next((result.runs for result in self.values()), 0)

    @property
    def horizon(self) -> int:
        """Maximum number of rounds of each run."""
        return int(self.settings["horizon"])

    @property
    def K(self) -> int:
        """Number of arms."""
        return int(self.settings["arms"])

    @property
    def switches(self) -> tuple[int, ...]:
        """Rounds after which the arms changed."""
        return next((result.switches for result in self.values()), ())

    @property
    def checkpoints(self) -> np.ndarray:
        """Rounds at which pulls are known."""
        return next(iter(self.values())).checkpoints

    def judged_by(self, objective: Objective | None = None) -> Study:
        """The same study with an objective: the given one, its own, or the one that its policies share."""
        return replace(self, objective=self._common(objective), L=self.L if objective is None else None)

    def _common(self, objective: Objective | None, results: Iterable[PolicyResult] = ()) -> Objective:
        """The given objective, the study's, or the one that these policies (by default all) share."""
        if objective is not None:
            return check_objective(objective)
        if self.objective is not None:
            return self.objective
        objectives = list(dict.fromkeys(result.objective for result in results or self.values()))
        first = objectives[0]
        if first is not None and None not in objectives:
            # Objectives that agree on all arms of the study, such as RSSR and its signed form, count as the same.
            gaps = [next(iter(self.values())).gaps(own) for own in objectives]
            if all(np.array_equal(gaps[0], other) for other in gaps[1:]):
                return first
        raise InvalidInputError(
            f"these policies have no objective in common ({', '.join(map(str, objectives))}); pass one, as in "
            f"objective={self._example()}"
        )

    def _example(self) -> str:
        """An objective that the study could be judged by, as code."""
        return next((f"sb.objectives.{r.objective!r}" for r in self.values() if r.objective), "sb.RSSR(L=0.5)")

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, name: str) -> PolicyResult:
        if not isinstance(name, str):
            raise unknown("policy in this study", name, self.names)
        if name in self.results:
            return self.results[name]
        kinds = ("policy", "defined_as")  # the name of its class, or the name under which a user's policy was defined
        of_class = [result for result in self.results.values() if name in map(result.policy.get, kinds)]
        if len(of_class) == 1:
            return of_class[0]
        several = ", ".join(repr(result.name) for result in of_class)
        see = f"{several} are of that class; use their names" if several else ""
        raise unknown("policy in this study", name, self.names, see)

    # --- all policies -------------------------------------------------------------------------------------------------

    def _all(self, what: str, ask: Callable[..., _M], objective: Objective | None, *how: float) -> ByPolicy[_M]:
        judge = self._common(objective)
        return ByPolicy(what, {name: ask(result, judge, *how) for name, result in self.items()}, self)

    def regret(self, objective: Objective | None = None, confidence: float = CONFIDENCE) -> ByPolicy[Curve]:
        """Regret over time of every policy."""
        return self._all("regret", PolicyResult.regret, objective, confidence)

    def suboptimal_plays(self, objective: Objective | None = None, confidence: float = CONFIDENCE) -> ByPolicy[Curve]:
        """Expected plays of arms that are not best, over time, of every policy."""
        return self._all("sub-optimal plays", PolicyResult.suboptimal_plays, objective, confidence)

    def error(self, objective: Objective | None = None, confidence: float = CONFIDENCE) -> ByPolicy[Estimate]:
        """Probability of error of every policy."""
        return self._all("error", PolicyResult.error, objective, confidence)

    def simple_regret(self, objective: Objective | None = None, confidence: float = CONFIDENCE) -> ByPolicy[Estimate]:
        """Expected gap of the arm recommended at the end, of every policy."""
        return self._all("simple regret", PolicyResult.simple_regret, objective, confidence)

    def achieved(self, objective: Objective | None = None, confidence: float = CONFIDENCE) -> ByPolicy[Estimate]:
        """Expected objective of every policy's own sequence of rewards."""
        return self._all("achieved objective", PolicyResult.achieved, objective, confidence)

    def locked_in(
        self, objective: Objective | None = None, confidence: float = CONFIDENCE, share: float = 0.1
    ) -> ByPolicy[Estimate]:
        """Proportion of runs in which the best arms got less than ``share`` of the pulls in the last half, of every
        policy.
        """
        return self._all("runs locked in", PolicyResult.locked_in, objective, confidence, share)

    def stopping_time(self, confidence: float = CONFIDENCE) -> ByPolicy[Estimate]:
        """Mean number of rounds of every policy of :func:`identify`. Unfinished runs count with the maximum budget."""
        return ByPolicy("stopping time", {n: r.stopping_time(confidence) for n, r in self._stopping().items()}, self)

    def unfinished(self, confidence: float = CONFIDENCE) -> ByPolicy[Estimate]:
        """Proportion of runs that reached the maximum budget without stopping, of every policy of :func:`identify`."""
        return ByPolicy("unfinished runs", {n: r.unfinished(confidence) for n, r in self._stopping().items()}, self)

    def _stopping(self) -> dict[str, StoppingResult]:
        stopping = {name: result for name, result in self.items() if isinstance(result, StoppingResult)}
        if len(stopping) < len(self):
            raise InvalidInputError(
                f"{', '.join(self.names)} do not stop by themselves; sb.identify() plays policies that do"
            )
        return stopping

    # --- comparisons --------------------------------------------------------------------------------------------------

    def compare(self, a: str, b: str, objective: Objective | None = None, confidence: float = CONFIDENCE) -> Curve:
        """Regret of ``a`` minus regret of ``b`` over time, paired, since both saw the same rewards.

        Below zero: ``a`` has less regret. The objective defaults to the one that both maximise.
        """
        first, second = self[a], self[b]
        judge = self._common(objective, [first, second])
        totals = first.regret_per_batch(judge) - second.regret_per_batch(judge)
        return metrics.batch_means(totals, first.batch_sizes, first.checkpoints, confidence)

    def compare_errors(
        self, a: str, b: str, objective: Objective | None = None, confidence: float = CONFIDENCE
    ) -> Estimate:
        """Probability of error of ``a`` minus that of ``b``, paired."""
        first, second = self[a], self[b]
        return self._difference(first, second, "error", self._common(objective, [first, second]), confidence)

    def _difference(
        self, a: PolicyResult, b: PolicyResult, metric: Metric, objective: Objective, confidence: float
    ) -> Estimate:
        (first, sizes), (second, _) = a.totals(metric, objective), b.totals(metric, objective)
        paired = ~np.isnan(first - second)  # for errors of fixed-confidence policies: runs in which both stopped
        if not paired.any():
            return Estimate(math.nan, math.nan, -math.inf, math.inf)
        estimate = metrics.mean_of((first - second)[paired], sizes[paired], confidence)
        if metric == "error" and estimate.se == 0:  # all runs agree: Wilson's interval of their share
            room = metrics.wilson(0, int(sizes[paired].sum()), confidence).high
            mean = estimate.mean
            return Estimate(mean, 0.0, max(mean - room, -1.0), min(mean + room, 1.0))
        return estimate

    # --- tables, pictures, files --------------------------------------------------------------------------------------

    def summary(
        self, objective: Objective | None = None, metric: Metric | None = None, confidence: float = CONFIDENCE
    ) -> Table:
        """Policies, best first: the ranking metric with its interval, and the paired difference to the best."""
        judge = self._common(objective)
        metric = self.metric if metric is None else metric
        for result in self.values():
            one_of("metric", metric, result.ranked_by)
        if metric == "error":  # proportions have Wilson intervals
            values = {name: result.error(judge, confidence) for name, result in self.items()}
        else:
            values = {name: metrics.mean_of(*r.totals(metric, judge), confidence) for name, r in self.items()}
        best, *others = sorted(values, key=lambda name: (math.isnan(values[name].mean), values[name].mean))
        differences = {name: self._difference(self[name], self[best], metric, judge, confidence) for name in others}
        columns = ["policy", metric, "s.e.", "low", "high"]
        columns += ["difference from best", "difference low", "difference high"]
        rows: list[list[Any]] = [[best, *vars(values[best]).values(), None, None, None]]
        for name, paired in differences.items():
            rows.append([name, *vars(values[name]).values(), paired.mean, paired.low, paired.high])
        title = f"{self._size()}, {judge!r}, {100 * confidence:g}% intervals"
        if metric == "stopping time":
            unfinished = {name: float(np.mean(~result.stopped)) for name, result in self.items()}
            columns, rows = [*columns, "unfinished runs"], [[*row, unfinished[row[0]]] for row in rows]
            if any(unfinished.values()):
                title += "; a stopping time is a lower bound where runs are unfinished"
        if metric == "error" and any(getattr(result, "epsilon", 0) for result in self.values()):
            title += "; arms within a policy's epsilon of the best are no errors of its own objective"
        return Table(columns, rows, title)

    def row(self, policy: str, runs: int, numbers: Mapping[str, Any]) -> dict[str, Any]:
        """A row of the tidy table: ``numbers`` are t, metric, mean, se, low and high."""
        case = {"panel": "", "profile": "", "case": self.label, "policy": policy}  # panels fill in the first two
        size = {"K": self.K, "L": np.nan if self.L is None else self.L, "horizon": self.horizon}
        return case | size | {name: numbers[name] for name in ("t", "metric", *ENDS)} | {"runs": runs}

    def rows(self, objective: Objective | None = None, metric: Metric | None = None) -> list[dict[str, Any]]:
        """The tidy table as a list of rows."""
        study = self.judged_by(objective) if self.results else self
        table = []
        for name, result in self.items():
            for what, measured in result.measures(self.metric if metric is None else metric, study.objective, study.L):
                times = measured.t if isinstance(measured, Curve) else [self.horizon]
                ends = [np.atleast_1d(getattr(measured, end)).tolist() for end in ENDS]
                for t, *values in zip(map(int, times), *ends, strict=True):
                    numbers = dict(zip(("t", "metric", *ENDS), (t, what, *values), strict=True))
                    table.append(study.row(name, result.runs, numbers))
        return table

    def table(self, objective: Objective | None = None, metric: Metric | None = None) -> Table:
        """The tidy table: one row per policy, metric and time, with mean, standard error and 95% interval."""
        return Table.of(self.rows(objective, metric))

    def figure(self, objective: Objective | None = None) -> Figure:
        """The description of its figure: regret over time, or errors or stopping times of all policies."""
        study = self.judged_by(objective)
        rounds = f"{'at most ' if self.metric == 'stopping time' else ''}{self.horizon:,} rounds"
        caption = f"{self.K} arms, {rounds}, {self.runs:,} runs, {study.objective!r}; 95% intervals"
        if self.metric == "regret":
            return curves(study.rows(), [study], caption)
        return points(study.rows(), [study], self.metric, caption)

    def plot(self, objective: Objective | None = None) -> Any:
        """The figure of the study, drawn by matplotlib (the extra ``report``)."""
        return render_matplotlib(self.figure(objective))

    def report(self, folder: str | os.PathLike[str], objective: Objective | None = None) -> Path:
        """Write a folder with a page of charts, numbers and settings that works offline, figures, and data; returns the
        path of the page.
        """
        from ..report.page import report

        path = _folder(folder)
        if path.suffix.lower() in (".html", ".htm"):
            raise InvalidInputError(f"a report is a folder, got {str(folder)!r}; leave {path.suffix} out")
        return report(self.judged_by(objective), path)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the study to a folder: ``study.npz``, NumPy arrays with a manifest of settings, seed and versions."""
        case = {name: getattr(self, name) for name in ("metric", "objective", "variables", "label", "L")}
        saved.save(self.results, self.settings, case, _folder(folder))


def load(folder: str | os.PathLike[str]) -> Study:
    """The study that :meth:`Study.save` wrote to a folder.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> import tempfile
    >>> bandit = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)])
    >>> study = sb.simulate(sb.UCBRSSR(L=0.5), bandit, horizon=1_000, runs=100, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study.save(folder)
    ...     back = sb.load(folder)
    >>> print(back["UCB-RSSR"].regret().final)
    89.0 ± 6.8 [75.5, 102.4]
    """
    results, settings, case = saved.load(_folder(folder))
    return Study(results, settings, **case)


def _folder(thing: Any) -> Path:
    if not isinstance(thing, (str, os.PathLike)):
        raise InvalidInputError(f"a folder is needed, got {shown(thing)}")
    return Path(thing)
