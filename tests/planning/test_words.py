"""A plan in words: the answer, what is assumed, and doubts about the table."""

import html

import pytest

import sharpe_bandits as sb
from sharpe_bandits.planning import words
from sharpe_bandits.planning.needs import EVERY_ARM, Need, Point
from sharpe_bandits.results.metrics import Estimate
from tests.planning.problems import easy_plan, exact


@pytest.fixture(scope="module")
def plan():
    return easy_plan()


def test_rounds_are_shown_to_the_digits_that_are_known():
    rounds = Estimate(258_098.4, 6_300.0, 245_992.0, 270_799.0)
    need = Need("SHSR", rounds, None, Point("SHSR", 270_001, 1900, 80, "verify", 0.01))
    assert words._rounds(rounds) == ["258,000", "246,000 to 271,000"]
    assert words._budget(need) == "271,000"  # rounded up
    assert words._rounds(Estimate(278.4, 6.3, 266.2, 291.1)) == ["278", "266 to 291"]


def test_a_plan_in_words(plan):
    """The conclusion comes first, and names the quickest method."""
    text = " ".join(str(plan).split())
    least = min((n for n in plan.needs if n.policy != EVERY_ARM), key=lambda n: n.check.budget)
    assert text.startswith(f"With one arm seen per period, {least.policy} needs {words._budget(least)} rounds")
    assert "for an error probability of 0.05, if arm 1 (Sharpe ratio 8) is the best arm" in text
    assert words.title(plan) == "How long does it take to find the best of 4 arms by RSSR?"
    assert len(words.heads(plan)) == len(words.lines(plan)[0])


def test_the_best_arm_of_a_table_is_named_and_what_is_assumed_stands_in_the_headline(tmp_path):
    problem = sb.BestArmProblem.from_returns(exact([3.0, 0.5], 0.5), block=4)
    plan = sb.plan(problem, budget=500, runs=200)
    assert plan.asked[0].policy == EVERY_ARM
    text = " ".join(str(plan).split())
    assumed = (
        "the table's means and variances are the true ones; if every arm is seen, the table's 2,520 rows, resampled "
        "in blocks of 4 on average and jointly for all arms, which preserves autocorrelation and correlation between "
        "arms; if one is seen at a time, independent normal rewards."
    )
    assert text.startswith("Error probability after 500 rounds (2 years): every arm seen in every period")
    assert assumed in text
    assert words.title(plan) == "How often is the best of 2 arms by Sharpe ratio missed?"
    page = plan.report(tmp_path).read_text("utf-8")
    assert html.escape(assumed).replace("&#x27;", "&#39;") in page
    assert page.index("Assumed:") < page.index("<table")
    one_by_one = sb.BestArmProblem.from_returns(exact([3.0, 0.5], 0.5), block=1)
    assert "rows, resampled one by one and jointly for all arms, which preserves correlation" in one_by_one.rewards
    assert words.answer(plan).endswith("if A (Sharpe ratio 3.00 ± 0.36) is the best arm and the others are as assumed.")


def test_a_doubt_about_the_table_stands_in_the_plan(tmp_path):
    returns = exact([3.0, 0.5], 0.5)
    doubted = sb.Returns(returns.names, returns.values, None, 252.0, "returns", (), ("it looks odd",))
    plan = sb.plan(sb.BestArmProblem.from_returns(doubted), budget=100, runs=50)
    assert str(plan).startswith("Check: it looks odd.\n")
    page = plan.report(tmp_path).read_text("utf-8")
    assert page.index("Check: it looks odd.") < page.index("Assumed:")
