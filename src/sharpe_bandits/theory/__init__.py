"""The paper's bounds as functions of a bandit, their measured coverage, and the growth of regret.

Every bound of the paper has a ``form``: "printed", or "repaired" and thereby "proved". For the regret of UCB-RSSR and
UCB-SR-like correcting the algebra ("corrected") does not make the bound valid, and "proved" is another one.

``bandit`` is a :class:`~sharpe_bandits.Bandit` or a list of arms with known moments, ``horizon`` or ``budget`` the
number of rounds n, and ``pilot`` the pulls per arm in the pilot; ``L``, ``risk_free``, ``keep_samples`` are parameters
of the policy.
"""

from .bound import FORMS as FORMS
from .bound import Bound as Bound
from .concentration import STATISTICS as STATISTICS
from .concentration import concentration as concentration
from .concentration import radius as radius
from .concentration import width as width
from .coverage import Coverage as Coverage
from .coverage import coverage as coverage
from .coverage import order_coverage as order_coverage
from .error_bounds import PlayedPhase as PlayedPhase
from .error_bounds import epsilon_of_gap as epsilon_of_gap
from .error_bounds import path_error as path_error
from .error_bounds import played_phases as played_phases
from .error_bounds import shsr_error as shsr_error
from .error_bounds import shvv_error as shvv_error
from .error_bounds import shvv_phase_error as shvv_phase_error
from .error_bounds import sursr_error as sursr_error
from .error_bounds import variance_order as variance_order
from .growth import Growth as Growth
from .growth import growth as growth
from .registry import bounds_for as bounds_for
from .registry import informative_budget as informative_budget
from .regret_bounds import ucb_rssr_regret as ucb_rssr_regret
from .regret_bounds import ucb_sr_like_regret as ucb_sr_like_regret
from .regret_bounds import ucb_vv_regret as ucb_vv_regret
