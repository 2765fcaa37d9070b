"""Arms (reward distributions) and bandits (sets of arms).

Continuous: ``Normal``, ``Uniform``, ``Beta``, ``Gamma``, ``TruncatedNormal``, ``TruncatedGamma``.
Discrete: ``Bernoulli``, ``Empirical`` (given values), ``Constant``.
Any frozen scipy.stats distribution: ``Scipy``.
Dependent over time: ``AR1``, ``GARCH``, ``BlockBootstrap``.
Sets of arms: ``Bandit``, ``RandomBandit`` (new arms in every run), ``SwitchingBandit`` (arms that change), ``Tape``
(recorded rewards), ``bootstrap`` (columns of a table, resampled), ``FactorBandit`` (arms that share a factor).
For your own: ``Arm``, the base class; ``UniformArms``, many uniform arms as arrays.
"""

from .bandit import Bandit as Bandit
from .bandit import SwitchingBandit as SwitchingBandit
from .bandit import bootstrap as bootstrap
from .base import Arm as Arm
from .beta import Beta as Beta
from .discrete import Bernoulli as Bernoulli
from .discrete import Empirical as Empirical
from .factor_bandit import FactorBandit as FactorBandit
from .gamma import Gamma as Gamma
from .gamma import TruncatedGamma as TruncatedGamma
from .normal import Normal as Normal
from .normal import TruncatedNormal as TruncatedNormal
from .processes import AR1 as AR1
from .processes import GARCH as GARCH
from .processes import BlockBootstrap as BlockBootstrap
from .random_bandit import RandomBandit as RandomBandit
from .random_bandit import UniformArms as UniformArms
from .scipy_arm import Scipy as Scipy
from .tape import Tape as Tape
from .uniform import Constant as Constant
from .uniform import Uniform as Uniform
