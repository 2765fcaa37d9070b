"""Types of parameters of your own policies, arms and objectives, which check what users give.

Numbers: ``Finite``, ``Positive``, ``NotNegative``, ``Probability`` (0 to 1), ``Inside`` (0 to 1, both excluded),
``InRewardUnits``, ``Regulariser``, ``RegulariserOrZero``.
Whole numbers: ``whole``, as in ``Annotated[int, whole(1)]`` for at least 1.
Objectives: ``ObjectiveParameter``.
"""

from ._support.described import Finite as Finite
from ._support.described import InRewardUnits as InRewardUnits
from ._support.described import Inside as Inside
from ._support.described import NotNegative as NotNegative
from ._support.described import Positive as Positive
from ._support.described import Probability as Probability
from ._support.described import Regulariser as Regulariser
from ._support.described import RegulariserOrZero as RegulariserOrZero
from ._support.described import whole as whole
from .objectives.base import ObjectiveParameter as ObjectiveParameter
