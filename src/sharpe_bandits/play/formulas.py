"""Placeholders that are bound to a policy's index, an objective's value and so on when a kernel is compiled.

See :func:`sharpe_bandits.simulation.compiler.specialise`.
"""


def _unbound(name):
    def placeholder(*arguments):
        raise AssertionError(f"a kernel ran without {name} bound")

    return placeholder


#: ``index(arm, t, *parameters)``: index of an arm after ``t`` rounds; the arm with the largest index is played.
index = _unbound("index")
#: The same without loops inside, so that the compiler can vectorise over runs. Where NaN, ``index`` has the value.
index_branch_free = _unbound("index_branch_free")
#: ``score(arm, t, *parameters)``: its maximum over all arms is available to every index as ``arm.lead``.
score = _unbound("score")
#: ``value(arm, *parameters)``: value of an arm under an objective, from its record.
value = _unbound("value")
#: ``feature(x, *parameters)``: the feature of a reward whose mean an objective uses.
feature = _unbound("feature")
#: ``update_statistics(kept, i, at, k, pulls, x, d, z, objective)``: update the cells of statistics with a reward
#: x = anchor + d and the covariate z of its round; see :mod:`sharpe_bandits.play.statistics`.
update_statistics = _unbound("update_statistics")
#: ``statistics_of(kept, i, at, k, pulls, anchor, mean, variance, third, fourth, key)``: the statistics of an arm beyond
#: mean and variance; NaN where no formula reads them.
statistics_of = _unbound("statistics_of")
#: ``estimate(arm, *parameters)``: what fixed-confidence identification compares, from the arm's own record.
estimate = _unbound("estimate")
#: ``noise(arm, *parameters)``: the variance of the influence function of ``estimate``, or of ``value``.
noise = _unbound("noise")
#: ``turns(pulls, estimates, errors, best, challenger, turn)``: write the arms to play before judging again to ``turn``;
#: returns how many, 1 or 2.
turns = _unbound("turns")
#: ``share(sums, kept, alive, size, pulls, previous_kept_all, objective, quota)``: write the pulls of each of the
#: ``size`` undecided arms in a phase, not the first, to ``quota``, ``pulls`` on average; ``previous_kept_all``: whether
#: the previous phase left all arms undecided.
share = _unbound("share")
#: ``decide_on(values, low, high, wanted)``: whether the best undecided arm is accepted next; otherwise the worst is
#: dropped. ``values[low:high]`` are the estimates of the undecided arms, the best first; ``wanted`` of them are still
#: to be accepted, fewer than there are.
decide_on = _unbound("decide_on")

#: Number of cells per arm that statistics keep.
kept_cells = _unbound("kept_cells")
# Flags are bound to always() or never(), so that code that they rule out is removed.
#: Whether ``index`` may have a value where ``index_branch_free`` is NaN.
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


def always():
    return True


def never():
    return False


def constant(flag):
    """:func:`always` or :func:`never`, to bind a placeholder to."""
    return always if flag else never


# What they are bound to if statistics keep nothing, an objective has no feature, and a policy has no score.


def no_update(kept, i, at, k, pulls, x, d, z, objective):
    pass


def no_feature(x, *parameters):
    return 0.0


def no_score(arm, t, *parameters):
    return 0.0
