"""Placeholders that are bound to a policy's index, an objective's value and so on when a kernel is compiled.

See :func:`sharpe_bandits.engine.compiler.specialise`.
"""


def index(arm, t, *parameters):
    """Index of an arm after ``t`` rounds; the arm with the largest index is played."""
    raise AssertionError("a kernel ran without its policy's index bound")


def index_branch_free(arm, t, *parameters):
    """:func:`index` without loops inside, so that the compiler can vectorise over runs; may be NaN.

    Where it is NaN, :func:`index` has the value.
    """
    raise AssertionError("a kernel ran without its policy's index bound")


def tries_again():
    """Whether :func:`index` may have a value where :func:`index_branch_free` is NaN; bound to :func:`yes` or
    :func:`no`.
    """
    raise AssertionError("a kernel ran without its policy's index bound")


def value(mean, variance, *parameters):
    """Value of an arm of given mean and variance under an objective."""
    raise AssertionError("a kernel ran without its objective's value bound")


def score(arm, t, *parameters):
    """Score of an arm. Its maximum over all arms is available to every index as ``arm.lead``."""
    raise AssertionError("a kernel ran without its policy's score bound")


def index_parts(arm, *parameters):
    """Parts of the index that depend only on the arm's pulls and moments, recomputed when these change:
    ``arm.estimate``, ``arm.width`` and ``arm.offset``.
    """
    raise AssertionError("a kernel ran without its policy's parts bound")


def keeps_parts():
    """Whether there are such parts; bound to :func:`yes` or :func:`no`."""
    raise AssertionError("a kernel ran without its policy bound")


def take(kept, i, at, k, pulls, x, d):
    """Update the cells of statistics with a reward x = anchor + d; see :mod:`sharpe_bandits.kernels.statistics`."""
    raise AssertionError("a kernel ran without its policy's statistics bound")


def extras(kept, i, at, k, pulls, anchor, mean, variance, third, fourth, key):
    """The statistics of an arm beyond mean and variance; NaN where no formula reads them."""
    raise AssertionError("a kernel ran without its policy's statistics bound")


def quick_extras(kept, i, at, k, pulls, anchor, mean, variance, third, fourth, key):
    """:func:`extras` without loops, so that the compiler can vectorise over runs; meaningless where :func:`needs_loop`
    is true.
    """
    raise AssertionError("a kernel ran without its policy's statistics bound")


def needs_loop(pulls):
    """Whether some statistic of an arm with this number of pulls takes a loop."""
    raise AssertionError("a kernel ran without its policy's statistics bound")


def kept_cells():
    """Number of cells per arm that statistics keep."""
    raise AssertionError("a kernel ran without its policy's statistics bound")


def keeps_powers():
    """Whether sums of third and fourth powers are kept; bound to :func:`yes` or :func:`no`, so that unused code is
    removed.
    """
    raise AssertionError("a kernel ran without its policy bound")


def keeps_lead():
    """Whether ``arm.lead`` is computed; bound to :func:`yes` or :func:`no`."""
    raise AssertionError("a kernel ran without its policy bound")


def draws_normals():
    """Whether ``arm.standard_normal`` is drawn; bound to :func:`yes` or :func:`no`."""
    raise AssertionError("a kernel ran without its policy bound")


def has_window():
    """Whether rewards older than a window are forgotten; bound to :func:`yes` or :func:`no`."""
    raise AssertionError("a kernel ran without its policy bound")


def discounts():
    """Whether rewards are discounted by age; bound to :func:`yes` or :func:`no`."""
    raise AssertionError("a kernel ran without its policy bound")


def sees_all():
    """Whether the rewards of all arms are seen in every round; bound to :func:`yes` or :func:`no`."""
    raise AssertionError("a kernel ran without its kind of feedback bound")


def stands_still():
    """Whether an index depends only on the arm's rewards and the confidence radius; bound to :func:`yes` or
    :func:`no`.
    """
    raise AssertionError("a kernel ran without its policy bound")


def plays_stretches():
    """Whether long leads are played in stretches (see :mod:`sharpe_bandits.kernels.stretches`); bound to :func:`yes` or
    :func:`no`.
    """
    raise AssertionError("a kernel ran without its policy bound")


def by_round():
    """Whether rewards are indexed by round, not by an arm's own pulls; bound to :func:`yes` or :func:`no`."""
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


def no_loop(pulls):
    """:func:`needs_loop` if no statistic takes a loop."""
    return False


def take_nothing(kept, i, at, k, pulls, x, d):
    """:func:`take` if no statistic keeps anything."""


def no_parts(arm, *parameters):
    """The parts of an index that has none."""
    return 0.0, 0.0, 0.0


def no_score(arm, t, *parameters):
    """The score of a policy that has none."""
    return 0.0


def estimate(arm, *parameters):
    """The estimate of an arm that fixed-confidence identification compares, from the arm's own record."""
    raise AssertionError("a kernel ran without its policy's estimate bound")


def noise(arm, *parameters):
    """The variance of the influence function of :func:`estimate`."""
    raise AssertionError("a kernel ran without its policy's noise bound")


def turns(pulls, estimates, errors, best, challenger, turn):
    """Write the arms to play before judging again to ``turn``; returns how many, 1 or 2."""
    raise AssertionError("a kernel ran without its policy's way of taking turns bound")


def share(sums, alive, size, pulls, looked, goal, quota):
    """Write the pulls of each of the ``size`` undecided arms in a phase to ``quota``, ``pulls`` on average.

    ``looked``: whether the previous phase left all arms undecided.
    """
    raise AssertionError("a kernel ran without its policy's way of sharing bound")


def decide_on(values, low, high, wanted):
    """Whether the best undecided arm is accepted next; otherwise the worst is dropped.

    ``values[low:high]`` are the estimates of the undecided arms, the best first; ``wanted`` of them are still to be
    accepted, fewer than there are.
    """
    raise AssertionError("a kernel ran without its policy's way of deciding bound")
