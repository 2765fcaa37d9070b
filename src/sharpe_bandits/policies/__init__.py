"""Policies. A new one is a new file and a line here.

Least regret, the paper's: ``UCBRSSR`` (RSSR), ``UCBSRLike`` (SR-like), ``UCBVV`` (variance).
Least regret, beyond the paper: ``ScaleFreeUCB``, ``ScaleFreeIMED``, ``ScaleFreeTS``, ``ScaleFreeNPTS`` (any unit of
rewards); ``SlidingWindowUCB``, ``DiscountedUCB`` (arms that change).
Least regret, benchmarks: ``UUCB``, ``GRAUCB``, ``ModifiedGRAUCB``, ``MVLCB``, ``MVTS``, ``ModifiedMVTS``, ``MTS``,
``VTS``, ``SRTS``, ``NormalGammaTS``, ``NPTS``, ``UCB1``, ``UCBV``, ``UCBTuned``,
``KLUCB``, ``ThompsonSampling``, ``EpsilonGreedy``, ``RoundRobin``.
Best arm, fixed budget, the paper's: ``SuRSR`` and ``SHSR`` (RSSR), ``SHVV`` (variance).
Best arm, fixed budget, any objective: ``SequentialHalving``, ``SuccessiveRejects``, ``VarianceAwareHalving``,
``OCBARejects``, ``SuccessiveAcceptsRejects`` (the m best), ``UniformSampling``.
Best arm, fixed confidence: ``LUCB``, ``TopTwo``.
Your own: ``index_policy`` makes one from a function; base classes: ``IndexPolicy``, ``EliminationPolicy``,
``FixedConfidencePolicy``, and ``Policy`` of all.
"""

from .base import EliminationPolicy as EliminationPolicy
from .base import FixedConfidencePolicy as FixedConfidencePolicy
from .base import IndexPolicy as IndexPolicy
from .base import Policy as Policy
from .classical import KLUCB as KLUCB
from .classical import MVLCB as MVLCB
from .classical import UCB1 as UCB1
from .classical import UCBV as UCBV
from .classical import EpsilonGreedy as EpsilonGreedy
from .classical import RoundRobin as RoundRobin
from .classical import UCBTuned as UCBTuned
from .custom import index_policy as index_policy
from .dirichlet import NPTS as NPTS
from .dirichlet import ScaleFreeNPTS as ScaleFreeNPTS
from .elimination import SHSR as SHSR
from .elimination import SHVV as SHVV
from .elimination import OCBARejects as OCBARejects
from .elimination import SequentialHalving as SequentialHalving
from .elimination import SuccessiveAcceptsRejects as SuccessiveAcceptsRejects
from .elimination import SuccessiveRejects as SuccessiveRejects
from .elimination import SuRSR as SuRSR
from .elimination import UniformSampling as UniformSampling
from .elimination import VarianceAwareHalving as VarianceAwareHalving
from .fixed_confidence import LUCB as LUCB
from .fixed_confidence import TopTwo as TopTwo
from .gra_ucb import GRAUCB as GRAUCB
from .gra_ucb import ModifiedGRAUCB as ModifiedGRAUCB
from .scale_free import DiscountedUCB as DiscountedUCB
from .scale_free import ScaleFreeIMED as ScaleFreeIMED
from .scale_free import ScaleFreeTS as ScaleFreeTS
from .scale_free import ScaleFreeUCB as ScaleFreeUCB
from .scale_free import SlidingWindowUCB as SlidingWindowUCB
from .thompson import MTS as MTS
from .thompson import MVTS as MVTS
from .thompson import SRTS as SRTS
from .thompson import VTS as VTS
from .thompson import ModifiedMVTS as ModifiedMVTS
from .thompson import NormalGammaTS as NormalGammaTS
from .thompson import ThompsonSampling as ThompsonSampling
from .u_ucb import UUCB as UUCB
from .ucb_sharpe import UCBRSSR as UCBRSSR
from .ucb_sharpe import UCBSRLike as UCBSRLike
from .ucb_vv import UCBVV as UCBVV
