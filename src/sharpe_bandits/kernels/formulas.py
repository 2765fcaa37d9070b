"""The two functions that a kernel is compiled for: placeholders, bound to a policy's index and an objective's value.

See :func:`sharpe_bandits.engine.compiler.specialise`.
"""


def index(arm, t, *parameters):
    """Index of an arm after ``t`` rounds; the arm with the largest is played."""
    raise AssertionError("a kernel ran without its policy's index bound")


def value(mean, variance, *parameters):
    """Value of an arm of given mean and variance under an objective."""
    raise AssertionError("a kernel ran without its objective's value bound")
