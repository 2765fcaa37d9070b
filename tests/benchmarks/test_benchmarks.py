"""The benchmark runs, and the C loop that the library is measured against makes the same choices. Never a time."""

import numpy as np
import pytest
from benchmarks.__main__ import main
from benchmarks.goals import Goal, goals_of
from benchmarks.settings import TINY
from benchmarks.timing import Timing

import sharpe_bandits as sb
from benchmarks import c_loop, measure

pytestmark = pytest.mark.skipif(c_loop.compiler() is None, reason="no C compiler here; the benchmark needs one")


def test_the_c_loops_make_the_same_choices():
    """Every path, literal and tuned, in C and in the library: two programs that share no line."""
    loop = c_loop.CLoop()
    for path in measure.paths(TINY):
        forms = (path.form, path.form + "_tuned") if path.tuned else (path.form,)
        for form in forms:
            final, choices = loop.play(form, path.policy, path.bandit, path.horizon, 1, trace=path.form != "shsr")
            traced = sb.trace(path.policy, path.bandit, horizon=path.horizon, feedback=path.feedback).choices
            pulls = np.bincount(traced[traced >= 0], minlength=path.bandit.K)
            np.testing.assert_array_equal(final[0], pulls, err_msg=f"{path.what}: {form}")
            if path.form != "shsr":
                np.testing.assert_array_equal(choices[0], traced, err_msg=f"{path.what}: {form}")


def test_quick_prints_ratios_and_writes_nothing(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "paths", lambda sizes, paths=measure.paths: paths(sizes)[:2])
    assert main(["--quick", "--output", str(tmp_path)], sizes=TINY) == 0
    printed = capsys.readouterr().out
    assert "C loop" in printed
    assert "times ours" in printed
    assert not list(tmp_path.iterdir())


def test_the_whole_of_it_runs_without_peers_and_writes_its_page(tmp_path):
    assert main(["--no-peers", "--output", str(tmp_path)], sizes=TINY) == 0
    page = (tmp_path / "RESULTS.md").read_text("utf-8")
    for part in "abcdefghi":  # the works of the benchmark, each with a section of its own
        assert f"({part})" in page
    assert (tmp_path / "results.png").exists()


def test_memory_is_that_of_the_child_not_of_the_process_that_starts_it():
    ballast = bytearray(600 * 2**20)  # touched: zeros are written
    found = measure.memory(TINY)
    assert all(row["MiB"] < len(ballast) / 2**20 - 100 for row in found)


def test_a_goal_that_could_not_be_measured_is_said_to_be_so():
    rows = [{"engine": "PyMAB", "ns": 100.0, "ratio": 50.0}, {"engine": "SMPyBandits", "reason": "does not install"}]
    first, second = goals_of({"ucb1": {"rows": rows}})
    assert first.verdict == "met"
    assert not second.met
    assert second.verdict == "not measured: see its row"


def test_a_goal_is_met_only_by_its_whole_interval():
    """Seven ratios: with 95% confidence their median lies between the least and the largest of them."""
    ours, other = Timing("ours", (1.0,) * 7), Timing("other", (4.0, 1.9, 2.5, 3.0, 2.2, 2.6, 2.4))
    assert other.over(ours) == 2.5
    assert other.interval(ours) == (1.9, 4.0)
    verdicts = [Goal("", target, 2.5, interval=(1.9, 4.0)).verdict for target in (1.5, 2.0, 5.0)]
    assert verdicts == ["met", "undecided: the interval holds the target", "missed by a factor of 2.00"]
