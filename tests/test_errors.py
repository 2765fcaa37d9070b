"""Errors that say what to do, and are what a caller would catch."""

import pickle
import sys

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.charts.description import Axis, Chart, Figure, Series
from sharpe_bandits.charts.render_matplotlib import pictures
from sharpe_bandits.report.document import document

ONE = Chart(series=[Series(name="A", colour="#000000", at=[1, 2], mean=[1, 2])], x=Axis(), y=Axis())
FIGURE = Figure(title="", charts=[[ONE]], size=(4, 3))


def ranked():
    x = np.random.default_rng(0).normal(0, 0.01, (40, 2))
    return sb.rank(sb.read_returns(x, kind="returns", periods_per_year=12, names=["a", "b"]))


@pytest.mark.parametrize(
    ("library", "extra", "use"),
    [
        ("matplotlib", "report", lambda: pictures(FIGURE)),
        ("jinja2", "report", lambda: document("plan.html")),
        ("arch", "data", ranked),
    ],
)
def test_a_missing_library_is_an_import_error_too(monkeypatch, library, extra, use):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=f"{library}, which is not installed") as caught:
        use()
    assert isinstance(caught.value, sb.errors.MissingLibraryError)
    assert isinstance(caught.value, sb.SharpeBanditsError)
    assert str(caught.value).endswith(f"pip install 'sharpe-bandits[{extra}]'")


def test_all_errors_have_one_root():
    for name in sb.errors.__all__:
        assert issubclass(getattr(sb.errors, name), UserWarning if name == "RewardWarning" else sb.SharpeBanditsError)
    assert issubclass(sb.errors.InvalidInputError, ValueError)
    assert issubclass(sb.errors.BudgetTooSmallError, sb.errors.InvalidInputError)
    assert issubclass(sb.errors.UnknownNameError, KeyError)


def test_errors_travel_between_processes():
    error = sb.errors.WaitForRewardsError("wait", {"a": 3})
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.arms, again.count) == ("wait", {"a": 3}, 3)
