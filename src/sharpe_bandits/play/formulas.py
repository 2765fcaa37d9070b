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


def _unbound(name):
    message = f"a kernel ran without {name} bound"

    def placeholder():
        raise AssertionError(message)

    return placeholder


#: Number of cells per arm that statistics keep.
kept_cells = _unbound("kept_cells")

# Flags are bound to always() or never(), so that code that they rule out is removed.
#: Whether :func:`index` may have a value where :func:`index_branch_free` is NaN.
has_exact_fallback = _unbound("has_exact_fallback")
#: Whether sums of third and fourth powers are kept.
keeps_powers = _unbound("keeps_powers")
#: Whether ``arm.lead`` is computed.
keeps_lead = _unbound("keeps_lead")
#: Whether ``arm.standard_normal`` is drawn.
draws_normals = _unbound("draws_normals")
#: Whether rewards may arrive later than before the next round.
late = _unbound("late")
#: Whether the policy forgets old rewards.
forgets = _unbound("forgets")
#: Whether several arms are held at a time.
holds = _unbound("holds")
#: Whether the policy does not decide alone about all arms.
shared = _unbound("shared")
#: Whether rewards are indexed by round, not by an arm's own pulls.
by_round = _unbound("by_round")
#: Whether the game is longer than tables by rounds and pulls.
long_game = _unbound("long_game")


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
