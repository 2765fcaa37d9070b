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


def tries_again():
    """Whether :func:`index` may be a number where :func:`index_at_once` is not; bound to :func:`yes` or :func:`no`."""
    raise AssertionError("a kernel ran without its policy's index bound")


def value(mean, variance, *parameters):
    """Value of an arm of given mean and variance under an objective."""
    raise AssertionError("a kernel ran without its objective's value bound")


def score(arm, t, *parameters):
    """A value of an arm whose largest over all arms every index may look at, as ``arm.lead``."""
    raise AssertionError("a kernel ran without its policy's score bound")


def index_parts(arm, *parameters):
    """Parts of the index that depend on the arm's pulls and moments alone, worked out when these change:
    ``arm.estimate``, ``arm.width`` and ``arm.offset``.
    """
    raise AssertionError("a kernel ran without its policy's parts bound")


def keeps_parts():
    """Whether there are such parts; bound to :func:`yes` or :func:`no`."""
    raise AssertionError("a kernel ran without its policy bound")


def take(kept, i, at, k, pulls, x, d):
    """Keep what statistics need of a reward x, d above the anchor; see :mod:`sharpe_bandits.kernels.statistics`."""
    raise AssertionError("a kernel ran without its policy's statistics bound")


def extras(kept, i, at, k, pulls, anchor, mean, variance, third, fourth, key):
    """The statistics of an arm beyond mean and variance; not a number where no formula reads them."""
    raise AssertionError("a kernel ran without its policy's statistics bound")


def kept_cells():
    """How many numbers per arm statistics keep."""
    raise AssertionError("a kernel ran without its policy's statistics bound")


def keeps_powers():
    """Whether sums of third and fourth powers are kept; bound to :func:`yes` or :func:`no`: unused code vanishes."""
    raise AssertionError("a kernel ran without its policy bound")


def keeps_lead():
    """Whether ``arm.lead`` is worked out; bound to :func:`yes` or :func:`no`."""
    raise AssertionError("a kernel ran without its policy bound")


def draws_normals():
    """Whether ``arm.standard_normal`` is drawn; bound to :func:`yes` or :func:`no`."""
    raise AssertionError("a kernel ran without its policy bound")


def has_window():
    """Whether rewards older than a window are forgotten; bound to :func:`yes` or :func:`no`."""
    raise AssertionError("a kernel ran without its policy bound")


def discounts():
    """Whether rewards weigh less the older they are; bound to :func:`yes` or :func:`no`."""
    raise AssertionError("a kernel ran without its policy bound")


def sees_all():
    """Whether the rewards of all arms are seen in every round; bound to :func:`yes` or :func:`no`."""
    raise AssertionError("a kernel ran without its kind of feedback bound")


def stands_still():
    """Whether an index changes with the arm's rewards and the confidence radius alone; bound to :func:`yes` or
    :func:`no`.
    """
    raise AssertionError("a kernel ran without its policy bound")


def by_round():
    """Whether rewards are counted by rounds, not by an arm's own pulls; bound to :func:`yes` or :func:`no`."""
    raise AssertionError("a kernel ran without its environment bound")


def long_game():
    """Whether the game is longer than tables by rounds and pulls; bound to :func:`yes` or :func:`no`."""
    raise AssertionError("a kernel ran without its horizon bound")


def yes():
    """True."""
    return True


def no():
    """False."""
    return False


def answer(question):
    """:func:`yes` or :func:`no`, to bind a placeholder to."""
    return yes if question else no


def take_nothing(kept, i, at, k, pulls, x, d):
    """Where no statistic keeps anything."""


def no_parts(arm, *parameters):
    """The parts of an index that has none."""
    return 0.0, 0.0, 0.0


def no_score(arm, t, *parameters):
    """The score of a policy that has none."""
    return 0.0


def estimate(arm, *parameters):
    """The estimate of an arm that fixed-confidence identification compares, from the arm's own record alone."""
    raise AssertionError("a kernel ran without its policy's estimate bound")


def noise(arm, *parameters):
    """The variance of one pull's influence on :func:`estimate`."""
    raise AssertionError("a kernel ran without its policy's noise bound")


def turns(pulls, estimates, errors, best, challenger, turn):
    """Write which arms are played before the next judgement to ``turn``; gives how many, 1 or 2."""
    raise AssertionError("a kernel ran without its policy's way of taking turns bound")


def share(sums, alive, size, pulls, looked, goal, quota):
    """Write how often each of the ``size`` arms alive is played in a phase to ``quota``, ``pulls`` on average.

    ``looked``: whether the phase before left all arms undecided.
    """
    raise AssertionError("a kernel ran without its policy's way of sharing bound")


def decide_on(values, low, high, wanted):
    """Whether the best of the arms undecided is accepted next; otherwise the worst is dropped.

    ``values[low:high]`` are theirs, the best first; so many of these arms are ``wanted``, fewer than there are.
    """
    raise AssertionError("a kernel ran without its policy's way of deciding bound")
