"""How many rounds it takes to find the arm of the best Sharpe ratio, and how often one errs with those one has."""

from .needs import Need as Need
from .needs import Plan as Plan
from .needs import Point as Point
from .problem import BestArmProblem as BestArmProblem
from .search import plan as plan
