"""Bandit policies that choose under risk: simulate them, use them live, and rank, compare and replay returns.

``import sharpe_bandits as sb``; ``help(sb.simulate)`` explains a name, ``help(sb.policies)`` lists what a module has.

Simulate    simulate, identify (fixed confidence), trace (one run), Study, load, panels (the paper's experiments)
Bandits     Bandit, RandomBandit, SwitchingBandit, FactorBandit, Tape; arms: Normal, Uniform,
            Bernoulli, Beta, Empirical; more in sb.arms
Objectives  Sharpe, RSSR, Sortino, MeanRisk, MeanVariance, Mean, Variance; more in sb.objectives
Policies    regret: UCBRSSR, UCBSRLike, UCBVV, ScaleFreeUCB, ScaleFreeIMED, ScaleFreeTS
            best arm: SuRSR, SHSR, SHVV (fixed budget), TopTwo (fixed confidence); more in sb.policies
            your own: index_policy
Live        policy.agent(...), Agent; Store (campaigns), connect, connect_async (to a service)
Returns     read_returns, Returns, rank, compare, replay
Plan        plan, BestArmProblem
Statements  confidence_sequence; the paper's bounds in sb.theory
Plain data  from_dict
Errors      SharpeBanditsError; all of them in sb.errors
Tests       contracts for your own policies, arms and storages in sb.testing
"""

from typing import Any as _Any

import lazy_loader as _lazy_loader

# What is in __init__.pyi is imported when it is first asked for: importing the package takes no time. There is no
# __all__, with which help() would print every class in full.
_imported, __dir__, _names = _lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> _Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("sharpe-bandits")
    if name not in _names:
        parts = ("policies", "arms", "objectives", "errors", "testing") if name[0].isupper() else ()
        where = next((part for part in parts if name in dir(_imported(part))), None)
        if where:
            raise AttributeError(f"use sb.{where}.{name}: the top level has only the names of the first pages")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _imported(name)
