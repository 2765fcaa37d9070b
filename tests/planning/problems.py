"""Problems that the tests of planning share."""

import re
from functools import lru_cache

import sharpe_bandits as sb

EASY = sb.BestArmProblem.from_gap(4, 8.0, 6.0)  # needs few rounds
A, B = [0.01, 0.03, 0.02, 0.06], [-0.01, 0.02, 0.0, 0.01]


def says(*parts):
    """A pattern that wants all parts, in order."""
    return "(?s)" + ".*".join(re.escape(str(part)) for part in parts)


def table(**columns):
    return sb.read_returns(columns, kind="returns", periods_per_year=4)


@lru_cache
def easy_plan():
    """What the easy problem needs."""
    return sb.plan(EASY, error=0.05, seed=7)
