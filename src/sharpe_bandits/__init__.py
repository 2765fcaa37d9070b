"""Bandit policies that maximise the Sharpe ratio: arms, policies, a compiled engine, and live agents."""

from . import interrupts as _interrupts

if _interrupts.is_program():
    _interrupts.leave_quietly()

# isort: split
from types import ModuleType as _Module
from typing import Any as _Any

from .agents import Agent as Agent
from .arms import *  # noqa: F403
from .arms.base import Arm as Arm
from .confidence_sequences import ConfidenceSequence as ConfidenceSequence
from .confidence_sequences import confidence_sequence as confidence_sequence
from .errors import BudgetTooSmallError as BudgetTooSmallError
from .errors import CampaignOverError as CampaignOverError
from .errors import CompilationError as CompilationError
from .errors import ConflictError as ConflictError
from .errors import ExecutorError as ExecutorError
from .errors import InvalidInputError as InvalidInputError
from .errors import MissingLibraryError as MissingLibraryError
from .errors import RewardWarning as RewardWarning
from .errors import SharpeBanditsError as SharpeBanditsError
from .errors import StoreError as StoreError
from .errors import UnknownNameError as UnknownNameError
from .errors import UnreadableDataError as UnreadableDataError
from .errors import WaitForRewardsError as WaitForRewardsError
from .metrics import Curve as Curve
from .metrics import Estimate as Estimate
from .objectives import RSSR as RSSR
from .objectives import Mean as Mean
from .objectives import MeanVariance as MeanVariance
from .objectives import Objective as Objective
from .objectives import Sharpe as Sharpe
from .objectives import SharpeLike as SharpeLike
from .objectives import Variance as Variance
from .objectives import objective_from_dict as objective_from_dict
from .planning import BestArmProblem as BestArmProblem
from .planning import Plan as Plan
from .planning import plan as plan
from .policies import *  # noqa: F403
from .policies.base import Policy as Policy
from .policies.base import policy_from_dict as policy_from_dict
from .results import PolicyResult as PolicyResult
from .results import StoppingResult as StoppingResult
from .returns.comparison import Comparison as Comparison
from .returns.comparison import compare as compare
from .returns.ranking import Ranking as Ranking
from .returns.ranking import rank as rank
from .returns.replay import Replay as Replay
from .returns.replay import replay as replay
from .returns.table import Returns as Returns
from .returns.table import read_returns as read_returns
from .simulation import identify as identify
from .simulation import simulate as simulate
from .simulation import trace as trace
from .study import Study as Study
from .study import load as load


def __getattr__(name: str) -> _Any:
    """Some names are imported when first asked for: importing the package stays light."""
    from importlib import import_module

    if name == "__version__":
        return import_module("importlib.metadata").version("sharpe-bandits")
    if name == "theory":
        return import_module(".theory", __name__)
    if name == "Store":
        from .errors import require

        for library in ("sqlalchemy", "alembic"):
            require(library, "a store of campaigns", "live")
        return import_module(".campaigns", __name__).Store
    if name == "panels":
        return import_module(".paper.panels", __name__).panels
    if name == "connect":
        return import_module(".service.client", __name__).connect
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    named = [name for name, thing in globals().items() if not name.startswith("_") and not isinstance(thing, _Module)]
    return [*named, "Store", "connect", "panels"]
