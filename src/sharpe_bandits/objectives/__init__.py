"""Objectives: what makes an arm good. Larger is better.

Ratios      ``Sharpe``: mean over standard deviation; ``RSSR``: the paper's squared and regularised form;
            ``SharpeLike``: mean over variance; ``IsraelsenSharpe``: no reward for risk below the hurdle
Downside    ``Sortino``: mean over downside deviation; ``Omega``: gains over losses; ``CVaR``: mean of the worst rewards
Moments     ``Mean``; ``Variance``; ``MeanVariance``: mean less variance; ``MeanRisk``: mean less standard deviation
Growth      ``LogGrowth``: expected logarithm of wealth
Covariate   ``Adjusted``: sharper estimates from a number seen in every round; ``InformationRatio``: against a benchmark
Your own    ``Objective``: the base class; ``Statistics``: what it is computed from

The same formula computes an arm's true value from its distribution and its estimated value from its rewards, in
simulations, agents, campaigns and rankings. A new objective is one class, as in :mod:`.downside`.
"""

from .base import Objective
from .base import check_objective as check_objective
from .base import gaps_of as gaps_of
from .covariate import Adjusted, InformationRatio
from .cvar import CVaR
from .downside import Omega, Sortino
from .log_growth import LogGrowth
from .moments import Mean, MeanRisk, MeanVariance, Variance
from .ratios import RSSR, IsraelsenSharpe, Sharpe, SharpeLike
from .ratios import usual_regulariser as usual_regulariser
from .statistics import Statistics

__all__ = [
    "RSSR", "Adjusted", "CVaR", "InformationRatio", "IsraelsenSharpe",
    "LogGrowth", "Mean", "MeanRisk", "MeanVariance", "Objective", "Omega", "Sharpe",
    "SharpeLike", "Sortino", "Statistics", "Variance",
]  # fmt: skip
