"""Panel results made of numbers that a test chooses, to judge, draw and report without simulating."""

import numpy as np

import sharpe_bandits as sb
from sharpe_bandits.experiments.description import Case
from sharpe_bandits.experiments.panel import Claim, Panel, PanelResult
from sharpe_bandits.results.policy_result import PolicyResult
from sharpe_bandits.results.study import Study
from sharpe_bandits.simulation.api import settings_of

#: Two arms whose gaps under Mean are 0 and 1: regret is the number of pulls of the second arm.
ARMS = sb.Bandit([sb.arms.Constant(1.0), sb.arms.Constant(0.0)])


def outcome(policy, pulls, checkpoints=(10,), batch=1, runs=None, recommended=None):
    """What a policy did: ``pulls[batch, checkpoint, arm]``, added over the runs of a batch."""
    pulls = np.asarray(pulls)
    runs = len(pulls) * batch if runs is None else runs
    final = np.repeat(pulls[:, -1], batch, axis=0)[:runs] // batch
    return PolicyResult(
        policy.name,
        policy.to_dict(),
        policy.objective,
        np.asarray(checkpoints),
        batch,
        pulls,
        final // 2,
        final,
        np.reshape(np.zeros(runs, int) if recommended is None else recommended, (runs, 1)),
        np.linspace(0.4, 0.6, runs),
        np.linspace(0.1, 0.2, runs),
        np.ones(runs, bool),
        np.empty((0, 0)),  # the truth is that of the case
        np.empty((0, 0)),
    )


def case(policies, variables, objective=None, environment=ARMS, horizon=10):
    """A case of these policies."""
    names = {"n": horizon, "K": environment.K, **variables}
    return Case(dict(variables), names, environment, tuple(policies), objective or sb.Mean(), horizon)


def panel(cases, metric="regret", claims=(), id="R9", profile="paper", checkpoints=1):
    """A panel of these cases; claims are given as (sentence, checks, why)."""
    stated = tuple(Claim(f"{id}.{n}", says, tuple(checks), why) for n, (says, checks, why) in enumerate(claims, 1))
    return Panel(id, profile, "Made up", "A with B", "Nothing real", metric, tuple(cases), checkpoints, stated)


def wrong_plays(policy, counts, horizon=10, **more):
    """An outcome in which run r played the second arm ``counts[r]`` times."""
    return outcome(policy, [[[horizon - c, c]] for c in counts], (horizon,), **more)


def study(case, outcomes, metric="regret", seed=0):
    """The study of a case with these outcomes, judged by its arms."""
    runs = outcomes[0].runs if outcomes else 2
    for result in outcomes:
        result.mean, result.variance = case.environment.truth(seed, runs)
    settings = settings_of(case.environment, case.horizon, runs, seed)
    named = {result.name: result for result in outcomes}
    return Study(named, settings, metric, case.objective, case.variables, case.label, case.L)


def finished(panel, *outcomes, seed=0):
    """A panel's result; one list of outcomes per case."""
    listed = outcomes or [[] for _ in panel.cases]
    studies = [study(c, of_case, panel.metric, seed) for c, of_case in zip(panel.cases, listed, strict=True)]
    return PanelResult(panel, studies)
