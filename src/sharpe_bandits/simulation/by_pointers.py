"""Formulas behind pointers: a kernel that calls them this way is compiled once for all policies.

A pointer costs some nanoseconds per call, and the kernel a few seconds per policy: small games are played this way.
"""

from math import nan

from ..play.formulas import feature, index, score, unpacked, value


def index_target(arm, t, parameters):
    """The function behind a pointer to an index."""
    return float(index(arm, t, *unpacked(parameters)))


def keep_record(arm, parameters):
    """Write the fields of a record to the last places of ``parameters``."""
    raise AssertionError("a formula behind a pointer ran without its record bound")


def guarded_index_target(arm, t, parameters):
    """:func:`index_target`, but if the index raises an exception, which no pointer can pass on: NaN, and the record is
    kept at the end of ``parameters``.
    """
    failed, v = False, nan
    try:
        v = index_target(arm, t, parameters)
    except Exception:
        failed = True
    if failed:
        keep_record(arm, parameters)
    return v


def score_target(arm, t, parameters):
    """The function behind a pointer to a score."""
    return float(score(arm, t, *unpacked(parameters)))


def value_target(arm, parameters):
    """The function behind a pointer to the value of an arm."""
    return float(value(arm, *unpacked(parameters)))


def feature_target(x, parameters):
    """The function behind a pointer to the feature of an objective."""
    return float(feature(x, *unpacked(parameters)))


# The parameters come first: Numba warns of a tuple that starts with a pointer.


def index_by_pointer(arm, t, parameters, index_pointer, score_pointer):
    """Stands for :func:`~sharpe_bandits.play.formulas.index`."""
    return index_pointer(arm, t, parameters)


def score_by_pointer(arm, t, parameters, index_pointer, score_pointer):
    """Stands for :func:`~sharpe_bandits.play.formulas.score`."""
    return score_pointer(arm, t, parameters)


def value_by_pointer(arm, parameters, value_pointer, feature_pointer):
    """Stands for :func:`~sharpe_bandits.play.formulas.value`."""
    return value_pointer(arm, parameters)


def feature_by_pointer(x, parameters, value_pointer, feature_pointer):
    """Stands for :func:`~sharpe_bandits.play.formulas.feature`."""
    return feature_pointer(x, parameters)
