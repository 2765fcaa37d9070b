"""Replays: a table worked by hand, what is said of it, and what cannot be replayed."""

import json
import math

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.returns.playing import BEST, EQUAL, LEADER, NUMBERS
from tests.returns.replayed import orders, table, two_years

A = [0.10, -0.10, 0.20, 0.00, -0.50, 0.10]
B = [0.00, 0.50, -0.20, 0.10, 0.00, 0.20]


@pytest.fixture(scope="module")
def small():
    return table(A, B)


@pytest.fixture(scope="module")
def daily():
    return two_years()


#: A seed with which two runs have two columns in the order of the table.
IN_ORDER = next(s for s in range(100) if all(order.tolist() == [0, 1] for order in orders(s, 2, 2)))


def played_in_turn(small, **options):
    return sb.replay(small, sb.policies.RoundRobin(), runs=2, seed=IN_ORDER, **options)


# --- by hand ----------------------------------------------------------------------------------------------------------


def test_a_table_worked_by_hand(small):
    """Every column in turn: A, B, A, B, A, B."""
    player = played_in_turn(small)["Round robin"]
    assert player.wealth == pytest.approx([1.1, 1.65, 1.98, 2.178, 1.089, 1.3068])
    assert player.total == pytest.approx(0.3068)
    assert player.drawdown == pytest.approx(0.5)  # from 2.178 to 1.089
    assert player.annual_mean == pytest.approx(1.2)  # 0.1 a month
    assert player.annual_volatility == pytest.approx(math.sqrt(12 * 0.108))
    assert player.sharpe == pytest.approx(0.1 / math.sqrt(0.108))
    assert player.annual_sharpe == pytest.approx(math.sqrt(12) * 0.1 / math.sqrt(0.108))
    assert player.turnover == pytest.approx(5 / 6)
    assert player.annual_turnover == pytest.approx(10)
    assert player.shares == {"A": 0.5, "B": 0.5}
    assert player.runs == 2
    assert set(player.sd_over_runs.values()) == {0}
    assert (player.wealth_low == player.wealth).all()


def test_the_benchmarks_by_hand(small):
    played = sb.replay(small, sb.policies.RoundRobin())
    equal, best, leader = played[EQUAL], played[BEST], played[LEADER]
    assert equal.wealth == pytest.approx(np.cumprod([1.05, 1.2, 1.0, 1.05, 0.75, 1.15]))
    # Before the second row A is at 0.55 and B at 0.5 of 1.05, and so on.
    moved = [0, 0.05 / 1.05, 0.3 / 1.2, 0.2 / 1, 0.05 / 1.05, 0.25 / 0.75]
    assert equal.turnover == pytest.approx(sum(moved) / 2 / 6)
    assert (equal.annual_difference, equal.annual_difference_se) == (0, 0)
    assert best.shares == {"A": 0, "B": 1}  # A has lost
    assert best.wealth == pytest.approx(np.cumprod(1 + np.array(B)))
    assert best.turnover == 0
    assert "B, whose annualised Sharpe ratio over all rows is best" in best.rule
    # Sharpe ratios before rows 3 to 6: 0 and 0.71, 0.44 and 0.28, 0.39 and 0.34, -0.23 and 0.31.
    assert leader.wealth == pytest.approx(np.cumprod([1.05, 1.2, 0.8, 1.0, 0.5, 1.2]))
    assert leader.shares == pytest.approx({"A": 3 / 6, "B": 3 / 6})
    # Into B: A's part, 0.45 of 1.2; then two switches.
    assert leader.turnover == pytest.approx((0.05 / 1.05 / 2 + 0.45 / 1.2 + 1 + 0 + 1) / 6)
    difference = leader.annual_sharpe - equal.annual_sharpe
    assert leader.annual_difference == pytest.approx(difference)


def test_a_switch_costs(small):
    """Nine tenths of wealth are left after a switch, before the row's return."""
    free, dear = (played_in_turn(small, cost=c)["Round robin"] for c in (0.0, 0.1))
    assert dear.wealth == pytest.approx(free.wealth * 0.9 ** np.arange(6))
    assert dear.shares == free.shares
    assert sb.replay(small, sb.policies.RoundRobin(), cost=0.1)[BEST].total == pytest.approx(
        np.prod(1 + np.array(B)) - 1
    )


def test_the_risk_free_rate_is_taken_off_ratios_only(small):
    player = played_in_turn(small, annual_risk_free=1.05**12 - 1)["Round robin"]
    assert player.sharpe == pytest.approx(0.05 / math.sqrt(0.108))
    assert player.total == pytest.approx(0.3068)


# --- policies ---------------------------------------------------------------------------------------------------------


def test_a_pilot_that_takes_up_the_table_is_no_result():
    g = np.random.default_rng(4)
    crowd = table(*g.normal(0, 0.01, (50, 150)), names=[f"s{k}" for k in range(50)], q=252)
    with pytest.raises(
        sb.errors.InvalidInputError, match=r"50 columns are too many for 150 observations: SF-UCB would reach the end"
    ):
        sb.replay(crowd, "SF-UCB", runs=2)
    with pytest.raises(
        sb.errors.InvalidInputError,
        match=r"50 columns are too many for 6 observations: SF-UCB, .* decisions with every=",
    ):
        sb.replay(crowd, every=25, runs=2)
    played = sb.replay(crowd, ["SF-UCB", "RoundRobin"], runs=2)
    assert [p.name for p in played.policies] == ["Round robin"]
    assert played.remarks[0].startswith(
        "left out SF-UCB: trying all 50 columns often enough takes nearly all of the 150 observations"
    )
    assert str(played).startswith("Check: left out SF-UCB: trying all 50 columns")
    more = table(*g.normal(0, 0.01, (50, 250)), names=[f"s{k}" for k in range(50)], q=252)
    late = sb.replay(more, ["SF-UCB", "RoundRobin"], runs=2)
    assert late.remarks[0].startswith(
        "SF-UCB: trying all 50 columns often enough takes more than half of the 250 observations"
    )
    assert sb.replay(table(*g.normal(0, 0.01, (5, 250)), q=252), "SF-UCB", runs=2).remarks == ()


def test_five_hundred_columns_leave_fifteen_hundred_rows_no_time():
    """Three rows for each of 500 columns are 1,500 rows: every row is a trial, and nothing was chosen."""
    x = np.random.default_rng(4).normal(0, 0.01, (500, 1500))
    crowd = table(*x, names=[f"s{k}" for k in range(500)], q=252)
    with pytest.raises(
        sb.errors.InvalidInputError, match="500 columns are too many for 1,500 observations: SF-UCB would reach the end"
    ):
        sb.replay(crowd, "SF-UCB", runs=2)
    held = sb.trace(sb.ScaleFreeUCB(L=1e-5), sb.Tape(x, clock="rounds"), horizon=1500).choices
    assert np.bincount(held, minlength=500).tolist() == [3] * 500
    played = sb.replay(crowd, ["SF-UCB", "RoundRobin"], runs=2)
    assert [player.name for player in played.players] == ["Round robin", EQUAL, BEST, LEADER]
    assert str(played).startswith("Check: left out SF-UCB: trying all 500 columns")


def test_the_default_regulariser_knows_nothing_of_later_rows(daily):
    """A calm second half would lower a variance that is taken from all rows."""
    calm = daily.values.copy()
    calm[250:] /= 10
    found = sb.replay(table(*calm.T, q=252), "RoundRobin", runs=2).L
    assert found == sb.replay(daily, "RoundRobin", runs=2).L
    assert found == pytest.approx(daily.values[:20].var(axis=0, ddof=1).min() / 10)


def test_rssr_is_signed_in_a_replay_however_a_policy_is_given(daily):
    by_name = sb.replay(daily, "SHSR", runs=3, L=1e-5)["SHSR"]
    as_object = sb.replay(daily, sb.SHSR(L=1e-5, signed=True), runs=3)["SHSR"]
    assert by_name.to_dict() == as_object.to_dict()
    for unsigned in (sb.SHSR(L=1e-5), "SHSR:signed=false", sb.policies.SequentialHalving(sb.RSSR(1e-5))):
        with pytest.raises(sb.errors.InvalidInputError, match=r"unsigned RSSR.*pass signed=True"):
            sb.replay(daily, unsigned)


def test_seeing_all_columns_is_no_worse_where_one_is_best():
    """A column that is clearly the best: with full feedback it is found at once, without it is paid for."""
    g = np.random.default_rng(1)
    x = g.normal([0, 0, 0, 0.01, 0, 0], 0.01, (600, 6))
    returns = table(*x.T, q=252)
    bandit, full = (sb.replay(returns, "SF-UCB", feedback=f)["SF-UCB"] for f in ("bandit", "full"))
    assert full.shares["D"] > 0.95 > bandit.shares["D"] > 0.7
    assert full.total > bandit.total


# --- what is said -----------------------------------------------------------------------------------------------------


def test_nothing_is_called_better_without_its_error():
    g = np.random.default_rng(2)
    same = sb.replay(table(*g.normal(0.001, 0.01, (3, 400)), q=252), "SF-UCB")
    luck = math.hypot(same["SF-UCB"].annual_difference_se, same["SF-UCB"].sd_over_runs["annual_difference"])
    assert abs(same["SF-UCB"].annual_difference) < 2 * luck
    assert "No policy is two standard errors away from it." in same.conclusion
    x = g.normal(0, 0.01, (3, 900)) + np.array([[-0.02], [0.01], [-0.02]])
    far = sb.replay(table(*x, q=252), ["SF-UCB", "RoundRobin"])
    assert far["SF-UCB"].annual_difference > 2 * far["SF-UCB"].annual_difference_se
    assert "Clearly better than equal weight by more than two standard errors: SF-UCB" in far.conclusion
    assert "clearly worse" not in far.conclusion
    many = table(*g.normal(0.002, 0.01, (10, 900)), q=252)  # one at a time forgoes what holding all gains
    one = sb.replay(many, "RoundRobin")
    assert one["Round robin"].annual_difference < -2 * one["Round robin"].annual_difference_se
    assert "Clearly worse than equal weight by more than two standard errors: Round robin" in one.conclusion


def test_what_is_printed(daily):
    played = sb.replay(daily, ["SF-UCB", "SF-TS"], runs=4, cost=0.002, annual_risk_free=0.03)
    words = " ".join(str(played).split())
    ucb = played["SF-UCB"]
    for text in (
        f"{ucb.annual_sharpe:.2f}", f"{ucb.annual_se:.2f}", f"{ucb.annual_difference:+.2f}",
        "{:.2f} to {:.2f}".format(*ucb.band["annual_sharpe"]), "{:.0%} to {:.0%}".format(*ucb.band["total"]),
        f"{ucb.total:.0%}", f"{ucb.drawdown:.0%}", f"{ucb.annual_turnover:.1f}", f"{ucb.shares['c']:.1%}",
        "252 periods per year", "√252", "0.002 of wealth per switch", "0.03 annual",
        f"{played.L:.4g} (variance per period)",
        "4 of each policy on the recorded rows, the columns in a random order; seed 0",
        "only the return of the column held", "a bandit is the wrong tool",
        "rebalanced to equal weights before every row", "ScaleFreeUCB(L = ",
    ):  # fmt: skip
        assert text in words, text
    full = str(sb.replay(daily, "SF-UCB", feedback="full"))
    assert "you need no bandit" in " ".join(full.split())


def test_columns_beyond_count_are_summed_up():
    g = np.random.default_rng(4)
    played = sb.replay(table(*g.normal(0, 0.01, (40, 200)), names=[f"s{k}" for k in range(40)], q=252), "SF-UCB")
    heads, rows = played.tables()[2]
    assert heads == ["share of time in", "SF-UCB", BEST, LEADER]
    assert len(rows) == 25
    assert rows[-1][0] == "16 others"
    shares = np.array([[float(share.rstrip("%")) for share in row[1:]] for row in rows])
    assert shares.sum(axis=0) == pytest.approx([100, 100, 100], abs=0.05 * len(rows))


def test_numbers_come_as_plain_data(daily):
    played = sb.replay(daily, ["SF-TS"], runs=3)
    back = json.loads(json.dumps(played.to_dict(), allow_nan=False))
    assert back["players"][0]["annual_sharpe"] == played["SF-TS"].annual_sharpe
    assert back["players"][0]["shares"] == played["SF-TS"].shares
    rows = played.table.records()
    assert len(rows) == 4 * (len(NUMBERS) + 4)
    found = {(r["player"], r["metric"], r["column"]): r for r in rows}
    assert found["SF-TS", "share", "b"]["value"] == played["SF-TS"].shares["b"]
    assert found["SF-TS", "drawdown", ""]["sd_over_runs"] == played["SF-TS"].sd_over_runs["drawdown"]
    assert found[EQUAL, "sharpe", ""]["sd_over_runs"] == ""


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policies", "options", "words"),
    [
        (["SF-UCB", "SF-UCB"], {}, "two players are called 'SF-UCB'"),
        ([], {}, "there is no policy; pass at least one"),
        ("LUCB", {}, "LUCB has fixed confidence: it stops only when it is sure"),
        ("SHSR:m=2", {}, "SHSR looks for 2 columns"),
        ("SHSR", {"feedback": "full"}, 'use feedback="bandit"'),
        ("SHSR", {"budget": 12}, "needs a budget of at least 16 for 4 arms"),
        ("SHSR", {"budget": 501}, "budget must be a whole number from 1 to 500, got 501"),
        ("SW-SF-UCB:window=10", {}, "too few for 4 arms"),
        (sb.policies.RoundRobin(name=EQUAL), {}, "two players are called 'equal weight'"),
        (sb.ScaleFreeUCB, {}, "call it with its parameters"),
        ("SF-UCB", {"cost": 1.0}, "cost must be from 0 to below 1, got 1.0"),
        ("SF-UCB", {"cost": -0.1}, "got -0.1"),
        ("SF-UCB", {"L": 0.0}, "L must be a finite number above 0, got 0.0"),
        ("SF-UCB", {"runs": 1}, "runs must be a whole number at least 2, got 1"),
        ("SF-UCB", {"feedback": "some"}, "feedback must be one of 'bandit', 'full', got 'some'"),
        ("SF-UCB", {"cost_aware": "yes"}, "cost_aware must be True or False, got 'yes'"),
        (3, {}, r"a policy such as UCBRSSR\(L=0.5\) is needed, got 3"),
        ("SF-UCB", {"annual_risk_free": math.nan}, "annual_risk_free must be a finite number"),
    ],
    ids=lambda value: "",
)
def test_what_cannot_be_replayed(daily, policies, options, words):
    with pytest.raises(sb.errors.InvalidInputError, match=words):
        sb.replay(daily, policies, **options)


def test_what_is_no_table_or_too_small_a_one(daily):
    with pytest.raises(sb.errors.InvalidInputError, match="read_returns needs kind and periods_per_year"):
        sb.replay(daily.values)
    with pytest.raises(sb.errors.InvalidInputError, match="at least two columns, but there is only 'A'"):
        sb.replay(table(A))
    with pytest.raises(sb.errors.InvalidInputError, match="4 columns are too many for 6 observations: SF-UCB would"):
        sb.replay(table(A, B, A[::-1], B[::-1]), "SF-UCB")
    flat = table([0.01, 0.02] * 4, [0.02, 0.01] * 4)
    with pytest.raises(sb.errors.InvalidInputError, match="the returns of Round robin do not vary"):
        sb.replay(flat, sb.policies.RoundRobin())
    with pytest.raises(
        sb.errors.UnknownNameError, match="no player is called 'equal weigth': did you mean 'equal weight'"
    ):
        sb.replay(daily, "SF-UCB")["equal weigth"]


def test_options_that_do_nothing_are_refused():
    returns = sb.read_returns(np.random.default_rng(0).normal(0, 0.01, (50, 2)), names=["a", "b"], kind="returns",
                              periods_per_year=12)  # fmt: skip
    with pytest.raises(sb.errors.InvalidInputError, match="budget=20 is for policies such as SHSR"):
        sb.replay(returns, ["SF-UCB"], budget=20)
    with pytest.raises(sb.errors.InvalidInputError, match="gives window twice"):
        sb.replay(returns, ["SlidingWindowUCB:window=30,window=20"])
    with pytest.raises(sb.errors.InvalidInputError, match="10 resamples are too few"):
        sb.rank(returns, replications=10)
    with pytest.raises(sb.errors.InvalidInputError, match="columns must be a list of names, got 7"):
        sb.read_returns({"a": [0.1, 0.2, 0.1]}, kind="returns", periods_per_year=12, columns=7)


def test_against_a_benchmark_the_ratio_is_called_information_ratio_and_the_benchmark_has_a_row():
    x = np.random.default_rng(3).normal(0.001, 0.01, (200, 3))
    found = sb.replay(x, names=["A", "B", "M"], kind="returns", periods_per_year=252, benchmark="M", runs=2)
    assert "Sharpe" not in found.conclusion
    ratios, wealth, _ = found.tables()
    assert "information" in ratios[0][1]
    last = wealth[1][-1]
    assert last[0].startswith("M")
    assert last[1] == f"{np.prod(1 + x[:, 2]) - 1:,.0%}"
