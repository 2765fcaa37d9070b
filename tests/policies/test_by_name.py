"""Policies from text: by kind, by name, with parameters; what is missing is filled in."""

import pytest

import sharpe_bandits as sb
from sharpe_bandits.policies.by_name import policies_by_name


def made(*texts, L=0.1, risk_free=0.02):
    return policies_by_name(texts, L=L, risk_free=risk_free)


def test_by_kind_or_name_in_any_case():
    assert made("ScaleFreeUCB", "SF-TS", "sf-imed") == [
        sb.ScaleFreeUCB(L=0.1, risk_free=0.02), sb.ScaleFreeTS(L=0.1, risk_free=0.02),
        sb.ScaleFreeIMED(L=0.1, risk_free=0.02),
    ]  # fmt: skip


def test_parameters_are_taken_and_others_filled_in():
    assert made("SlidingWindowUCB: window=250, c=1") == [
        sb.policies.SlidingWindowUCB(L=0.1, risk_free=0.02, window=250, c=1.0)
    ]
    assert made("SF-UCB:L=3,risk_free=0,name=mine") == [sb.ScaleFreeUCB(L=3.0, name="mine")]
    assert made("ModifiedMVTS:form=repaired") == [sb.policies.ModifiedMVTS(L=0.1, form="repaired")]
    assert made("SHSR:keep_samples=true") == [sb.SHSR(L=0.1, risk_free=0.02, signed=True, keep_samples=True)]
    assert made("SHSR:signed=false")[0].signed is False
    assert made("UCB1:pilot_pulls=4") == [sb.policies.UCB1(pilot_pulls=4)]


def test_index_policies_of_ones_own_are_found_by_their_name_or_function():
    @sb.index_policy(name="Greedy by name")
    def greedy_by_name(arm, t, L, bonus=2.0):
        return arm.mean / (L + arm.variance) + bonus

    for text in ("Greedy by name", "greedy_by_name", "GREEDY BY NAME:bonus=2"):
        (policy,) = made(text)
        assert policy.to_dict() == greedy_by_name(L=0.1).to_dict()
    (other,) = made("greedy_by_name:bonus=0.5,objective=Sharpe,pilot_pulls=3")
    assert other.to_dict() == greedy_by_name(L=0.1, bonus=0.5, objective=sb.Sharpe(0.1, 0.02), pilot_pulls=3).to_dict()
    with pytest.raises(sb.errors.UnknownNameError, match="no parameter of greedy_by_name is called 'bonos'"):
        made("greedy_by_name:bonos=1")


def test_a_policy_of_ones_own_does_not_pass_for_a_built_in_one():
    @sb.index_policy(name="ucb1")
    def mine(arm, t):
        return arm.mean

    assert made("mine")[0].to_dict() == mine().to_dict()
    with pytest.raises(
        sb.errors.InvalidInputError, match="several policies are called 'UCB1'; give your own one another"
    ):
        made("UCB1")


def test_objectives_where_one_is_needed():
    rssr = sb.RSSR(0.1, 0.02, signed=True)
    assert made("SequentialHalving", "SuccessiveRejects:objective=Variance", "EpsilonGreedy:objective=Sharpe") == [
        sb.policies.SequentialHalving(rssr), sb.policies.SuccessiveRejects(sb.Variance()), sb.policies.EpsilonGreedy(sb.Sharpe(0.1, 0.02)),
    ]  # fmt: skip
    assert made("EpsilonGreedy") == [sb.policies.EpsilonGreedy()]  # has an objective of its own


def test_the_same_policy_twice_is_told_apart_by_its_parameters():
    names = [p.name for p in made("SW-SF-UCB:window=100", "SW-SF-UCB:window=200", "SW-SF-UCB:window=300")]
    assert names == ["SW-SF-UCB", "SW-SF-UCB (window=200)", "SW-SF-UCB (window=300)"]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("SF-UBC", sb.errors.UnknownNameError, "no policy is called 'SF-UBC': did you mean 'SF-UCB'"),
        ("CustomPolicy", sb.errors.UnknownNameError, "sharpe-bandits policies lists all"),
        ("SF-UCB:windw=3", sb.errors.UnknownNameError, "no parameter of SF-UCB is called 'windw'"),
        ("SF-UCB:c", sb.errors.InvalidInputError, "'c' is not"),
        ("SF-UCB:c=", sb.errors.InvalidInputError, "'c=' is not"),
        ("SF-UCB:c=much", sb.errors.InvalidInputError, "c must be a finite number above 0, got 'much'"),
        ("U-UCB", sb.errors.InvalidInputError, "U-UCB needs epsilon0; give it as in U-UCB:epsilon0=0.1"),
        ("SequentialHalving:objective=RSR", sb.errors.UnknownNameError, "did you mean 'RSSR'"),
    ],
    ids=lambda value: value if isinstance(value, str) and "=" not in value and " " not in value else "",
)
def test_what_is_misnamed(text, error, words):
    with pytest.raises(error, match=words):
        made(text)


def test_policies_say_what_they_are():
    said = sb.ScaleFreeUCB(L=1 / 3, name="x").in_words()
    assert said == "ScaleFreeUCB(L = 0.333333, risk_free = 0, c = 0.5, dependent = False)"
    assert sb.policies.UCB1(pilot_pulls=4).in_words() == "UCB1(pilot_pulls = 4)"
