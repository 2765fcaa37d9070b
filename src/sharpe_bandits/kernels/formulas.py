"""The functions that a kernel is compiled for: placeholders, bound to a policy's index and an objective's value.

See :func:`sharpe_bandits.engine.compiler.specialise`.
"""


def index(arm, t, *parameters):
    """Index of an arm after ``t`` rounds; the arm with the largest is played."""
    raise AssertionError("a kernel ran without its policy's index bound")


def index_at_once(arm, t, *parameters):
    """The same without a loop inside, so that many runs are served by vector instructions; may be not a number.

    Where it is, :func:`index` says what it is.
    """
    raise AssertionError("a kernel ran without its policy's index bound")


def value(mean, variance, *parameters):
    """Value of an arm of given mean and variance under an objective."""
    raise AssertionError("a kernel ran without its objective's value bound")
