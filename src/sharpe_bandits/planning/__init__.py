"""How many rounds it takes to find the arm of the best Sharpe ratio, and how often one errs with those one has."""

from .problem import BestArmProblem as BestArmProblem
from .search import Need as Need
from .search import Plan as Plan
from .search import Point as Point
from .search import plan as plan
