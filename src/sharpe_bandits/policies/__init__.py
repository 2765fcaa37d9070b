"""Policies. This is the one list of them: a policy is a file of its own and a line here."""

from .classical import MVLCB as MVLCB
from .classical import UCB1 as UCB1
from .classical import EpsilonGreedy as EpsilonGreedy
from .classical import UniformPlay as UniformPlay
from .custom import index_policy as index_policy
from .elimination import SHSR as SHSR
from .elimination import SHVV as SHVV
from .elimination import SequentialHalving as SequentialHalving
from .elimination import SuccessiveRejects as SuccessiveRejects
from .elimination import SuRSR as SuRSR
from .elimination import UniformSampling as UniformSampling
from .gra_ucb import GRAUCB as GRAUCB
from .gra_ucb import ModifiedGRAUCB as ModifiedGRAUCB
from .thompson import MTS as MTS
from .thompson import MVTS as MVTS
from .thompson import VTS as VTS
from .thompson import ModifiedMVTS as ModifiedMVTS
from .thompson import NormalGammaTS as NormalGammaTS
from .thompson import ThompsonSampling as ThompsonSampling
from .u_ucb import UUCB as UUCB
from .ucb_sharpe import UCBRSSR as UCBRSSR
from .ucb_sharpe import UCBSRLike as UCBSRLike
from .ucb_vv import UCBVV as UCBVV
