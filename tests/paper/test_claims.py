"""Verdicts from differences that can be worked out by hand."""

import dataclasses
import json
import math

import numpy as np
import pytest
import scipy.stats

import sharpe_bandits as sb
from sharpe_bandits.experiments import verdicts as scorecard
from sharpe_bandits.experiments.verdicts import SOURCES, Evidence, UnderReading, Verdict, together
from sharpe_bandits.paper.claims import below_zero, compare, find, judge
from sharpe_bandits.results.metrics import Estimate
from tests import synthetic
from tests.synthetic import case, finished, panel, wrong_plays

EXPERIMENTS, THEORY, OTHERS, _ = SOURCES.values()
A, B = sb.policies.UCB1(name="A"), sb.policies.UCB1(name="B")


def two(a, b, **more):
    """One case, two policies, that many wrong plays per run."""
    return finished(panel([case([A, B], {"K": 5})]), [wrong_plays(A, a, **more), wrong_plays(B, b, **more)])


def test_a_paired_difference_by_hand():
    # differences -1, -2, -1, -2: mean -1.5, standard deviation 1/sqrt(3), standard error 1/sqrt(12)
    # the 99.5% point of Student's distribution with 3 degrees of freedom is 5.8409
    found = compare("A @ K=5 < B @ K=5", two([1, 2, 3, 6], [2, 4, 4, 8]))
    assert (found.left, found.right) == (3.0, 4.5)
    assert found.difference.mean == -1.5
    assert found.difference.se == pytest.approx(1 / math.sqrt(12))
    assert found.difference.low == pytest.approx(-1.5 - 5.840909 / math.sqrt(12), abs=1e-5)
    assert found.difference.high == pytest.approx(-1.5 + 5.840909 / math.sqrt(12), abs=1e-5)
    assert found.verdict == "undecided"
    assert found.check == "A @ K=5 < B @ K=5"


def test_more_of_the_same_decides():
    # eight differences: standard error sqrt(2/7)/sqrt(8) = 0.18898, 3.4995 of these are 0.66134
    few = two([1, 2, 3, 6] * 2, [2, 4, 4, 8] * 2)
    found = compare("A @ K=5 < B @ K=5", few)
    assert (found.difference.low, found.difference.high) == pytest.approx((-2.16134, -0.83866), abs=1e-4)
    assert found.verdict == "holds"
    assert compare("B @ K=5 < A @ K=5", few).verdict == "fails"


def test_pairing_is_what_decides():
    # the runs differ much more from each other than the policies do within a run
    spread = np.arange(0, 1000, 50)
    found = compare("A @ K=5 < B @ K=5", two(spread, spread + 1 + np.arange(20) % 2, horizon=2000))
    assert found.difference.mean == -1.5
    assert found.verdict == "holds"


def test_a_difference_of_nothing_is_undecided():
    found = compare("A @ K=5 < B @ K=5", two([3, 3, 3], [3, 3, 3]))
    assert (found.difference.low, found.difference.high, found.verdict) == (0, 0, "undecided")


def test_a_certain_difference_needs_no_spread():
    assert compare("A @ K=5 < B @ K=5", two([3, 3, 3], [4, 4, 4])).verdict == "holds"


def test_factors_multiply_their_side():
    same = two([3, 5, 4, 4], [8, 9, 8, 7])
    found = compare("2 * A @ K=5 < 0.5 * B @ K=5", same)
    assert (found.left, found.right) == (8.0, 4.0)
    np.testing.assert_allclose(found.difference.mean, np.mean([6 - 4, 10 - 4.5, 8 - 4, 8 - 3.5]))
    assert compare("A @ K=5 < 0.5 * B @ K=5", same).difference.mean == pytest.approx(0.0)


def test_batches_of_unequal_size():
    # runs of A - B by batch: totals -4 (2 runs), -2 (2 runs), -3 (1 run); mean -9/5
    # deviations from size times mean: -0.4, 1.6, -1.2; squares sum to 4.16; times 3/2 over 25
    one = case([A, B], {"K": 5})
    of_a = synthetic.outcome(A, [[[16, 4]], [[15, 5]], [[9, 1]]], batch=2, runs=5)
    of_b = synthetic.outcome(B, [[[12, 8]], [[13, 7]], [[6, 4]]], batch=2, runs=5)
    found = compare("A @ K=5 < B @ K=5", finished(panel([one]), [of_a, of_b]))
    assert found.difference.mean == pytest.approx(-1.8)
    assert found.difference.se == pytest.approx(math.sqrt(4.16 * 1.5 / 25))
    half = scipy.stats.t.ppf(0.995, 2) * math.sqrt(4.16 * 1.5 / 25)
    assert found.difference.high == pytest.approx(-1.8 + half)


def test_gaps_weigh_the_plays():
    objective = sb.MeanVariance(rho=2.0)  # values 2 and 0
    one = case([A, B], {"K": 5}, objective)
    done = finished(panel([one]), [wrong_plays(A, [1, 2, 3]), wrong_plays(B, [2, 2, 2])])
    assert compare("A @ K=5 < B @ K=5", done).left == 4.0


def test_regret_is_judged_at_the_horizon():
    pulls = np.array([[[5, 5], [14, 6]], [[4, 6], [12, 8]]])
    one = case([A, B], {"K": 5}, horizon=20)
    of_a = synthetic.outcome(A, pulls, (10, 20))
    of_b = synthetic.outcome(B, pulls[:, :, ::-1], (10, 20))
    found = compare("A @ K=5 < B @ K=5", finished(panel([one]), [of_a, of_b]))
    assert (found.left, found.right) == (7.0, 13.0)


def test_errors_are_compared_run_by_run():
    one = case([A, B], {"K": 5})
    wrong_a, wrong_b = [0, 0, 1, 0, 0, 1], [1, 0, 1, 1, 0, 1]
    done = finished(
        panel([one], "error"),
        [wrong_plays(A, [1] * 6, recommended=wrong_a), wrong_plays(B, [9] * 6, recommended=wrong_b)],
    )
    found = compare("A @ K=5 < B @ K=5", done)
    differences = np.subtract(wrong_a, wrong_b)  # -1, 0, 0, -1, 0, 0
    assert (found.left, found.right) == pytest.approx((2 / 6, 4 / 6))
    assert found.difference.mean == pytest.approx(-1 / 3)
    assert found.difference.se == pytest.approx(differences.std(ddof=1) / math.sqrt(6))
    assert found.verdict == "undecided"


def test_cases_are_paired_too():
    cases = [case([A], {"K": K, "L": 0.5}) for K in (5, 10)]
    done = finished(panel(cases), [wrong_plays(A, [1, 5, 9])], [wrong_plays(A, [2, 6, 10])])
    found = compare("A @ K=5 < A @ K=10", done)
    assert (found.difference.mean, found.difference.se) == (-1.0, 0.0)
    assert found.verdict == "holds"


def test_cases_that_cannot_be_paired_are_refused():
    cases = [case([A], {"K": K}) for K in (5, 10)]
    done = finished(panel(cases), [wrong_plays(A, [1, 5, 9])], [wrong_plays(A, [2, 6])])
    with pytest.raises(AssertionError, match="not paired"):
        compare("A @ K=5 < A @ K=10", done)


@pytest.fixture
def several():
    cases = [case([A, B], {"set": s, "L": L}) for s, L in (("A", 0.5), ("A", 1), ("B", 0.5))]
    return finished(panel(cases), *([wrong_plays(A, [k, k]), wrong_plays(B, [k, k])] for k in (1, 2, 3)))


@pytest.mark.parametrize(
    ("selector", "number"),
    [("set=A, L=0.5", 0), ("set=A, L=1", 1), ("L=1", 1), ("set=B", 2), ("set=B,L=0.5,n=10", 2)],
)
def test_a_selector_names_one_case(several, selector, number):
    found, outcome = find(several, "B", selector)
    assert found is several.studies[number]
    assert outcome is several.studies[number]["B"]


@pytest.mark.parametrize(("selector", "count"), [("set=A", 2), ("L=7", 0), ("M=1", 0), ("n=10", 3)])
def test_a_selector_that_does_not_is_refused(several, selector, count):
    with pytest.raises(AssertionError, match=f"{selector!r} names {count} cases of R9-paper, not one"):
        find(several, "A", selector)


def test_a_policy_that_is_not_there(several):
    with pytest.raises(sb.errors.UnknownNameError, match="no policy in this study is called 'C'"):
        find(several, "C", "set=B")


@pytest.mark.parametrize(
    "check",
    ["A @ K=5", "A @ K=5 < B @ K=5 < A @ K=5", "A < B @ K=5", "A @ K=5 < B", "A @ K < B @ K=5", "A @ K=x < B @ K=5"],
)
def test_what_is_no_comparison_is_refused(check):
    with pytest.raises((AssertionError, ValueError)):
        compare(check, two([1, 2], [2, 3]))


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-2, -1, "holds"), (1, 2, "fails"), (-1, 1, "undecided"), (-1, 0, "undecided"), (0, 1, "undecided"),
        (math.nan, math.nan, "undecided"), (-math.inf, math.inf, "undecided"),
    ],
)  # fmt: skip
def test_below_zero(low, high, verdict):
    assert below_zero(Estimate((low + high) / 2, 1.0, low, high)) == verdict


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        (["holds", "holds"], "holds"), (["holds", "undecided"], "undecided"),
        (["holds", "undecided", "fails"], "fails"), (["fails"], "fails"),
    ],
)  # fmt: skip
def test_parts_of_a_claim_taken_together(parts, verdict):
    assert together(parts) == verdict
    assert together(parts[::-1]) == verdict


def test_all_claims_of_a_panel_are_judged():
    said = [
        ("A is ahead", ["A @ K=5 < B @ K=5"], "never shown"),
        ("B is ahead", ["B @ K=5 < A @ K=5"], "it is not"),
        ("both at once", ["A @ K=5 < B @ K=5", "A @ K=5 < 0.1 * B @ K=5"], "too much said"),
    ]
    done = finished(
        panel([case([A, B], {"K": 5})], claims=said), [wrong_plays(A, [3, 3, 4, 4]), wrong_plays(B, [5, 5, 6, 7])]
    )
    verdicts = judge(done)
    assert [(v.id, v.panel, v.profile, v.says, v.verdict) for v in verdicts] == [
        ("R9.1", "R9", "paper", "A is ahead", "holds"),
        ("R9.2", "R9", "paper", "B is ahead", "fails"),
        ("R9.3", "R9", "paper", "both at once", "fails"),
    ]
    assert [len(v.evidence) for v in verdicts] == [1, 1, 2]
    assert verdicts[2].decisive is verdicts[2].evidence[1]
    assert verdicts[1].decisive.difference.mean == 2.25  # 23/4 - 14/4
    assert verdicts[1].decisive.difference.low > 0
    assert verdicts[2].decisive.difference.mean == pytest.approx(3.5 - 0.575)
    assert [e.verdict for e in verdicts[2].evidence] == ["holds", "fails"]
    assert [Verdict.from_dict(json.loads(json.dumps(v.to_dict()))) for v in verdicts] == verdicts


def evidence(mean, se, verdict):
    return Evidence(f"{mean}", 0.0, 0.0, Estimate(mean, se, mean - se, mean + se), verdict)


def test_the_decisive_comparison_is_the_one_furthest_from_being_shown():
    parts = (
        evidence(-9, 1, "holds"),
        evidence(-1, 1, "undecided"),
        evidence(0.5, 1, "undecided"),
        evidence(-5, 1, "holds"),
    )
    assert Verdict("x", "R9", "paper", "", "undecided", parts).decisive is parts[2]
    assert Verdict("x", "R9", "paper", "", "holds", (parts[0], parts[3])).decisive is parts[3]
    exact = Verdict("x", "R9", "paper", "", "holds", ())
    assert exact.decisive is None


# --- readings ---------------------------------------------------------------------------------------------------------

SAID = [("A is ahead", ["A @ K=5 < B @ K=5"], "never shown")]


def read(base, **others):
    """A panel with one claim, played so often wrong by A and B, and so under each other reading."""
    one = panel([case([A, B], {"K": 5})], claims=SAID)

    def played(counts, **more):
        return finished(
            dataclasses.replace(one, **more), [wrong_plays(p, c) for p, c in zip((A, B), counts, strict=True)]
        )

    results = [played(counts, reading=name, condition=f"it is {name}") for name, counts in others.items()]
    (verdict,) = judge(dataclasses.replace(played(base), readings=results))
    return verdict


AHEAD, BEHIND, LEVEL = ([3, 3, 4, 4], [5, 5, 6, 7]), ([5, 5, 6, 7], [3, 3, 4, 4]), ([3, 5, 4, 4], [5, 3, 4, 4])


def test_a_verdict_that_is_the_same_under_every_reading():
    verdict = read(AHEAD, other=([2, 3, 4, 4], [5, 5, 6, 7]))
    assert (verdict.verdict, len(verdict.readings), verdict.dependence) == ("holds", 1, "")


def test_a_verdict_that_depends_on_the_reading_says_on_which():
    verdict = read(BEHIND, good=AHEAD, better=([1, 1, 1, 2], [5, 5, 6, 7]), level=LEVEL)
    assert verdict.verdict == "fails"
    assert verdict.dependence == "holds with good / better; is undecided with level"
    assert [(r.reading, r.verdict) for r in verdict.readings] == [
        ("good", "holds"), ("better", "holds"), ("level", "undecided"),
    ]  # fmt: skip
    assert verdict.readings[0].evidence[0].left == 3.5
    assert Verdict.from_dict(verdict.to_dict()) == verdict


def test_a_reading_that_changes_nothing_does_not_concern_the_claim():
    verdict = read(AHEAD, same=AHEAD)
    assert (verdict.readings, verdict.dependence) == ((), "")


def test_a_claim_that_is_judged_only_under_a_reading():
    one = panel([case([A, B], {"K": 5})])
    outcomes = [wrong_plays(p, c) for p, c in zip((A, B), AHEAD, strict=True)]
    claim = panel([], claims=SAID).claims
    other = finished(dataclasses.replace(one, reading="pilot", claims=claim), outcomes)
    (verdict,) = judge(dataclasses.replace(finished(one, outcomes), readings=[other]))
    assert (verdict.id, verdict.verdict, verdict.readings) == ("R9.1", "holds", ())


def test_regret_as_the_released_code_plots_it():
    """The gap of arms 1 and 2 times all sub-optimal plays, whatever the third arm costs."""
    arms = sb.Bandit([sb.arms.Constant(1.0), sb.arms.Constant(0.5), sb.arms.Constant(-3.0)])
    one = case([A, B], {"K": 3}, environment=arms)
    of_a = synthetic.outcome(A, [[[6, 2, 2]], [[5, 2, 3]]])
    of_b = synthetic.outcome(B, [[[3, 7, 0]], [[4, 6, 0]]])
    done = finished(panel([one]), [of_a, of_b])
    found = compare("A @ K=3 < B @ K=3", done, "regret as plotted")
    assert (found.left, found.right) == (0.5 * 4.5, 0.5 * 6.5)
    assert compare("A @ K=3 < B @ K=3", done).left == pytest.approx((2 * 0.5 + 2 * 4 + 2 * 0.5 + 3 * 4) / 2)
    assert found.check == "regret as plotted: A @ K=3 < B @ K=3"


# --- counting ---------------------------------------------------------------------------------------------------------


def verdict(id, says, word, source=EXPERIMENTS, other=None, profile="paper"):
    readings = () if other is None else (UnderReading("x", "it is x", other, ()),)
    return Verdict(id, id.split(".")[0], profile, f"{says}, here", word, (), "", source, readings, says)


COUNTED = [
    verdict("R1.1", "A grows", "holds"),
    verdict("R1.1", "A grows", "holds", profile="authors"),
    verdict("R2.1", "A grows", "fails", other="holds"),
    verdict("R2.1", "A grows", "holds", profile="authors"),
    verdict("R1.2", "B grows", "undecided"),
    verdict("R1.log", "A is logarithmic", "holds", THEORY),
    verdict("R2.log", "A is logarithmic", "vacuous", THEORY),
    verdict("S1.1", "C grows", "holds", OTHERS),
]


def test_a_statement_that_several_panels_test_is_one():
    stated = scorecard.statements(COUNTED)
    assert {source: [s.text for s in own] for source, own in stated.items()} == {
        EXPERIMENTS: ["A grows", "B grows"], THEORY: ["A is logarithmic"], OTHERS: ["C grows"],
    }  # fmt: skip
    first = stated[EXPERIMENTS][0]
    assert (first.verdict, first.count) == ("partly", "Holds in 3 of 4")
    assert first.settings == {"holds": "R1, R2 (authors)", "fails": "R2 (paper)"}
    assert [v.id for v in first.dependent] == ["R2.1"]
    assert stated[THEORY][0].where == "holds in R1; says nothing in R2"


@pytest.mark.parametrize(
    ("words", "verdict_of_all"),
    [
        (["holds"] * 2, "holds"), (["holds", "undecided"], "undecided"), (["fails", "undecided"], "fails"),
        (["fails", "holds", "undecided"], "partly"), (["vacuous", "holds"], "holds"), (["vacuous"], "vacuous"),
    ],
)  # fmt: skip
def test_the_verdict_on_a_statement(words, verdict_of_all):
    own = tuple(verdict(f"R{n}.1", "A grows", word) for n, word in enumerate(words))
    assert scorecard.Statement(EXPERIMENTS, "A grows", own).verdict == verdict_of_all


def test_the_conclusion_counts_statements_of_the_paper_only():
    count, *named = scorecard.conclusion(COUNTED)
    assert count.startswith("3 statements of the paper: 1 holds, 1 holds in part, 1 needs more runs; 1 depends")
    assert named[0] == "Holds in 3 of 4: A grows"


def test_how_sure_a_statement_is():
    measured = Verdict("R1.1", "R1", "paper", "", "holds", (evidence(-9, 1, "holds"), evidence(-5, 1, "holds")))
    assert scorecard.Statement(EXPERIMENTS, "", (measured,)).certainty == "5.0 s.e. or more"
    assert scorecard.Statement(EXPERIMENTS, "", tuple(COUNTED[:1])).certainty == "exact"


def test_verdicts_of_a_folder(tmp_path):
    with pytest.raises(sb.errors.InvalidInputError, match="sharpe-bandits reproduce"):
        scorecard.load(tmp_path)
    (tmp_path / "claims.json").write_text(json.dumps([v.to_dict() for v in COUNTED]))
    assert scorecard.load(tmp_path) == COUNTED
    (tmp_path / "claims.json").write_text('[{"id": "R1.1", "claim": "of an earlier version"}]')
    with pytest.raises(sb.errors.InvalidInputError, match="again"):
        scorecard.load(tmp_path)


def test_a_verdict_without_a_standard_error_is_written_and_read_as_json():
    """Few runs leave no standard error, and JSON has no word for that but null."""
    unknown = Estimate(1.5, math.nan, -math.inf, math.inf)
    verdict = Verdict(
        "R1.1", "R1", "paper", "less", "undecided", (Evidence("a < b", 2.0, math.nan, unknown, "undecided"),)
    )
    again = Verdict.from_dict(json.loads(json.dumps(verdict.to_dict(), allow_nan=False)))
    (evidence,) = again.evidence
    assert math.isnan(evidence.right)
    assert math.isnan(evidence.difference.se)
    assert (evidence.difference.mean, evidence.difference.low, evidence.difference.high) == (1.5, -math.inf, math.inf)
    assert again.says == verdict.says
