"""Placeholders that are bound to a policy's index, an objective's value and so on when a kernel is compiled.

See :func:`sharpe_bandits.simulation.compiler.specialise`.
"""


def index(arm, t, *parameters):
    """Index of an arm after ``t`` rounds; the arm with the largest index is played."""
    raise AssertionError("a kernel ran without its policy's index bound")


def index_branch_free(arm, t, *parameters):
    """:func:`index` without loops inside, so that the compiler can vectorise over runs; may be NaN.

    Where it is NaN, :func:`index` has the value.
    """
    raise AssertionError("a kernel ran without its policy's index bound")


def has_exact_fallback():
    """Whether :func:`index` may have a value where :func:`index_branch_free` is NaN; bound to :func:`always` or
    :func:`never`.
    """
    raise AssertionError("a kernel ran without its policy's index bound")


def value(arm, *parameters):
    """Value of an arm under an objective, from its record."""
    raise AssertionError("a kernel ran without its objective's value bound")


def feature(x, *parameters):
    """The feature of a reward whose mean an objective uses."""
    raise AssertionError("a kernel ran without its objective's feature bound")


def no_feature(x, *parameters):
    """The feature of objectives of mean and variance."""
    return 0.0


def score(arm, t, *parameters):
    """Score of an arm. Its maximum over all arms is available to every index as ``arm.lead``."""
    raise AssertionError("a kernel ran without its policy's score bound")


def update_statistics(kept, i, at, k, pulls, x, d, z, objective):
    """Update the cells of statistics with a reward x = anchor + d and the covariate z of its round; see
    :mod:`sharpe_bandits.play.statistics`.
    """
    raise AssertionError("a kernel ran without its policy's statistics bound")


def statistics_of(kept, i, at, k, pulls, anchor, mean, variance, third, fourth, key):
    """The statistics of an arm beyond mean and variance; NaN where no formula reads them."""
    raise AssertionError("a kernel ran without its policy's statistics bound")


def kept_cells():
    """Number of cells per arm that statistics keep."""
    raise AssertionError("a kernel ran without its policy's statistics bound")


def keeps_powers():
    """Whether sums of third and fourth powers are kept; bound to :func:`always` or :func:`never`, so that unused code
    is removed.
    """
    raise AssertionError("a kernel ran without its policy bound")


def keeps_lead():
    """Whether ``arm.lead`` is computed; bound to :func:`always` or :func:`never`."""
    raise AssertionError("a kernel ran without its policy bound")


def draws_normals():
    """Whether ``arm.standard_normal`` is drawn; bound to :func:`always` or :func:`never`."""
    raise AssertionError("a kernel ran without its policy bound")


def late():
    """Whether rewards may arrive later than before the next round; bound to :func:`always` or :func:`never`."""
    raise AssertionError("a kernel ran without its game bound")


def forgets():
    """Whether the policy forgets old rewards; bound to :func:`always` or :func:`never`."""
    raise AssertionError("a kernel ran without its game bound")


def holds():
    """Whether several arms are held at a time; bound to :func:`always` or :func:`never`."""
    raise AssertionError("a kernel ran without its game bound")


def shared():
    """Whether the policy does not decide alone about all arms; bound to :func:`always` or :func:`never`."""
    raise AssertionError("a kernel ran without its game bound")


def by_round():
    """Whether rewards are indexed by round, not by an arm's own pulls; bound to :func:`always` or :func:`never`."""
    raise AssertionError("a kernel ran without its environment bound")


def long_game():
    """Whether the game is longer than tables by rounds and pulls; bound to :func:`always` or :func:`never`."""
    raise AssertionError("a kernel ran without its horizon bound")


def always():
    """True."""
    return True


def never():
    """False."""
    return False


def constant(flag):
    """:func:`always` or :func:`never`, to bind a placeholder to."""
    return always if flag else never


def no_update(kept, i, at, k, pulls, x, d, z, objective):
    """:func:`update_statistics` if no statistic keeps anything."""


def no_score(arm, t, *parameters):
    """The score of a policy that has none."""
    return 0.0


def estimate(arm, *parameters):
    """The estimate of an arm that fixed-confidence identification compares, from the arm's own record."""
    raise AssertionError("a kernel ran without its policy's estimate bound")


def noise(arm, *parameters):
    """The variance of the influence function of an estimate: of :func:`estimate`, or of :func:`value`."""
    raise AssertionError("a kernel ran without its policy's noise bound")


def turns(pulls, estimates, errors, best, challenger, turn):
    """Write the arms to play before judging again to ``turn``; returns how many, 1 or 2."""
    raise AssertionError("a kernel ran without its policy's way of taking turns bound")


def share(sums, kept, alive, size, pulls, previous_kept_all, objective, quota):
    """Write the pulls of each of the ``size`` undecided arms in a phase, not the first, to ``quota``, ``pulls`` on
    average.

    ``previous_kept_all``: whether the previous phase left all arms undecided.
    """
    raise AssertionError("a kernel ran without its policy's way of sharing bound")


def decide_on(values, low, high, wanted):
    """Whether the best undecided arm is accepted next; otherwise the worst is dropped.

    ``values[low:high]`` are the estimates of the undecided arms, the best first; ``wanted`` of them are still to be
    accepted, fewer than there are.
    """
    raise AssertionError("a kernel ran without its policy's way of deciding bound")
