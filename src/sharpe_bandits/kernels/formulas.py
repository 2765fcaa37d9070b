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


def score(arm, t, *parameters):
    """A value of an arm whose largest over all arms every index may look at, as ``arm.lead``."""
    raise AssertionError("a kernel ran without its policy's score bound")


def keeps_moments():
    """Whether third and fourth moments are kept; bound to :func:`yes` or :func:`no`, so that unused code vanishes."""
    raise AssertionError("a kernel ran without its policy bound")


def keeps_lead():
    """Whether ``arm.lead`` is worked out; bound to :func:`yes` or :func:`no`."""
    raise AssertionError("a kernel ran without its policy bound")


def keeps_draws():
    """Whether first rewards are kept and reweighted at random; bound to :func:`yes` or :func:`no`."""
    raise AssertionError("a kernel ran without its policy bound")


def by_round():
    """Whether rewards are counted by rounds, not by an arm's own pulls; bound to :func:`yes` or :func:`no`."""
    raise AssertionError("a kernel ran without its environment bound")


def yes():
    """True."""
    return True


def no():
    """False."""
    return False


def no_score(arm, t, *parameters):
    """The score of a policy that has none."""
    return 0.0


def estimate(arm, *parameters):
    """The estimate of an arm that fixed-confidence identification compares, from the arm's own record alone."""
    raise AssertionError("a kernel ran without its policy's estimate bound")


def noise(arm, *parameters):
    """The variance of one pull's influence on :func:`estimate`."""
    raise AssertionError("a kernel ran without its policy's noise bound")
