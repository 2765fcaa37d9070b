"""The budget needed to find the arm with the best Sharpe ratio, and the probability of error with a given budget."""

from .needs import Need as Need
from .needs import Plan as Plan
from .needs import Point as Point
from .problem import BestArmProblem as BestArmProblem
from .search import plan as plan
