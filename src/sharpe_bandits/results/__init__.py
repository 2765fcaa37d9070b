"""What a simulation returns: a :class:`~sharpe_bandits.Study` of policies, and the results of each."""

from .policy_result import Curve, Estimate, PolicyResult, StoppingResult

__all__ = ["Curve", "Estimate", "PolicyResult", "StoppingResult"]
