"""What a simulation returns: a :class:`~sharpe_bandits.Study` of policies, and the results of each.

``PolicyResult``: all runs of one policy; ``StoppingResult``: of one that stops by itself; ``Estimate``: a mean with its
standard error and interval; ``Curve``: the same over time.
"""

from .metrics import Curve, Estimate
from .policy_result import PolicyResult, StoppingResult

__all__ = ["Curve", "Estimate", "PolicyResult", "StoppingResult"]
