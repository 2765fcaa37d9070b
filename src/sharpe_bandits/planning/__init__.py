"""How many rounds it takes to find the arm of the best Sharpe ratio, and how often one errs with those one has."""

from .plan import Need as Need
from .plan import Plan as Plan
from .plan import Point as Point
from .plan import plan as plan
from .problem import BestArmProblem as BestArmProblem
