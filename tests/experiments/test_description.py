"""From descriptions to cases: arms, sweeps, cases that replace parts, names in their order."""

import copy
import math

import numpy as np
import pytest
from scipy.stats import kstest

import sharpe_bandits as sb
from sharpe_bandits.experiments.description import DescriptionError, cases

BASE = {
    "horizon": 100,
    "arms": [{"kind": "Uniform", "low": [0, 1], "high": [1, 3]}],
    "objective": {"kind": "RSSR", "L": 1},
    "policies": [{"kind": "UCBRSSR", "L": 1}],
}
PAIR = [{"kind": "Normal", "mean": [1, 3], "variance": 2}]


def made(**changes):
    return cases({**copy.deepcopy(BASE), **changes})


def arms_of(*entries, **changes):
    (case,) = made(arms=list(entries), **changes)
    return list(case.environment.arms)


def test_a_description_becomes_a_case():
    (case,) = made()
    assert case.variables == {}
    assert case.label == ""
    assert case.horizon == 100
    assert list(case.environment.arms) == [sb.Uniform(0, 1), sb.Uniform(1, 3)]
    assert case.policies == (sb.UCBRSSR(L=1),)
    assert case.objective == sb.RSSR(L=1)
    assert case.names == {"n": 100, "K": 2}


# --- arms -------------------------------------------------------------------------------------------------------------


def test_a_list_gives_one_arm_per_value_and_single_values_hold_for_all():
    found = arms_of({"kind": "TruncatedNormal", "mean": [5, 5.5], "variance": [4, 6.25], "low": 1, "high": 7})
    assert found == [sb.arms.TruncatedNormal(5, 4, 1, 7), sb.arms.TruncatedNormal(5.5, 6.25, 1, 7)]


def test_entries_are_joined_in_order():
    found = arms_of({"kind": "Bernoulli", "p": [0.1, 0.2]}, {"kind": "Constant", "value": 3})
    assert found == [sb.Bernoulli(0.1), sb.Bernoulli(0.2), sb.arms.Constant(3)]


def test_repeat_gives_copies_and_takes_the_first_values_of_a_list():
    assert arms_of({"kind": "Bernoulli", "p": 0.3, "repeat": 3}) == [sb.Bernoulli(0.3)] * 3
    assert arms_of({"kind": "Bernoulli", "p": [0.1, 0.2, 0.3], "repeat": 2}) == [sb.Bernoulli(0.1), sb.Bernoulli(0.2)]


def test_the_number_of_an_arm_counts_through_all_entries():
    found = arms_of(
        {"kind": "Bernoulli", "p": "i / 10", "repeat": 2}, {"kind": "Bernoulli", "p": "i / 10", "repeat": 3}
    )
    assert found == [sb.Bernoulli(i / 10) for i in (1, 2, 3, 4, 5)]


def test_uniform_arms_by_mean_and_variance_have_half_width_root_three_sigma():
    found = arms_of({"kind": "Uniform", "mean": [5, 2], "variance": [3, 0]})
    assert found == [sb.Uniform(2, 8), sb.arms.Constant(2)]  # sqrt(3 * 3) = 3; no variance is a constant


def test_values_of_an_empirical_arm_are_one_arm():
    found = arms_of({"kind": "Empirical", "values": [1, 2, 4], "repeat": 2})
    assert found == [sb.Empirical([1, 2, 4])] * 2


def test_random_false_is_a_fixed_arm():
    assert arms_of({"kind": "Uniform", "low": [0, 1], "high": [1, 3], "random": False}) == [
        sb.Uniform(0, 1),
        sb.Uniform(1, 3),
    ]


def drawn(runs=400, **entry):
    (case,) = made(
        arms=[{"kind": "Uniform", "random": True, **entry}],
        objective={"kind": "Mean"},
        policies=[{"kind": "UCB1"}],
        let={"c": 2},
    )
    return case.environment, [case.environment.arms_of(7, run) for run in range(runs)]


def test_random_arms_are_drawn_anew_and_independently():
    environment, runs = drawn(repeat=3, low="c * u1", high="c * u1 + u2")
    assert environment.K == 3
    assert environment.varies
    u1 = np.array([arms.low for arms in runs]) / 2
    u2 = np.array([arms.high - arms.low for arms in runs])
    for column in (*u1.T, *u2.T):
        assert kstest(column, "uniform").pvalue > 0.001
    correlations = np.corrcoef(np.hstack([u1, u2]).T)[np.triu_indices(6, 1)]
    assert np.abs(correlations).max() < 4 / math.sqrt(len(runs))


def test_random_arms_depend_on_seed_and_run_alone():
    environment, runs = drawn(4, repeat=2, low="u1 * u2", high="u1")
    again = [environment.arms_of(7, run) for run in (3, 1)]
    assert again[0].low.tolist() == runs[3].low.tolist()
    assert again[1].high.tolist() == runs[1].high.tolist()
    assert environment.arms_of(8, 3).low.tolist() != runs[3].low.tolist()


def test_random_arms_of_many_runs_are_those_of_each():
    """Expressions that are the same for all arms, lists, comparisons and functions included."""
    for low, high in (("min(u1, u2) ** c", "max(u1, u2, 0.5) + 1"), (0, [1, 2, 3]), ("u1 < u2", "exp(u1) + log(n)")):
        _, runs = drawn(140, repeat=3, low=low, high=high)
        again, _ = drawn(0, repeat=3, low=low, high=high)
        table = again.table(7, range(140))
        np.testing.assert_array_equal(table.loc, [arms.low for arms in runs])
        np.testing.assert_array_equal(table.scale, [arms.high - arms.low for arms in runs])
        assert len(np.unique(table.loc + table.scale)) > 1


def test_random_arms_have_a_name_that_tells_their_setting():
    environment, _ = drawn(0, repeat=2, low="c * u1", high="c * u1 + u2")
    assert environment.name == "Uniform(c * u1, c * u1 + u2), c = 2"


# --- sweeps, cases, names ---------------------------------------------------------------------------------------------


def test_a_sweep_is_the_product_of_its_lists_the_last_running_fastest():
    found = made(
        sweep={"K": [2, 3], "L": [0.5, 7.5]},
        arms=[{"kind": "Bernoulli", "p": 0.5, "repeat": "K"}],
        objective={"kind": "RSSR", "L": "L"},
        policies=[{"kind": "UCBRSSR", "L": "2 * L"}],
    )
    settings = [(c.environment.K, c.objective.L, c.policies[0].L) for c in found]
    assert settings == [(2, 0.5, 1), (2, 7.5, 15), (3, 0.5, 1), (3, 7.5, 15)]
    assert [c.label for c in found] == ["K = 2, L = 0.5", "K = 2, L = 7.5", "K = 3, L = 0.5", "K = 3, L = 7.5"]


def test_a_sweep_over_the_horizon():
    found = made(sweep={"horizon": [100, 200]})
    assert [(c.horizon, c.names["n"], c.label) for c in found] == [(100, 100, "n = 100"), (200, 200, "n = 200")]


def test_cases_replace_any_part_and_give_variables():
    found = made(
        cases=[
            {"set": "A", "L": 0.5},
            {"set": "B", "L": 1, "arms": [{"kind": "Bernoulli", "p": [0.1, 0.2, 0.3]}]},
            {"set": "C", "L": 2, "horizon": 50, "policies": [{"kind": "UUCB", "epsilon0": "L"}]},
            {"set": "D", "L": 3, "objective": {"kind": "Sharpe", "L": "L"}},
        ],
        objective={"kind": "RSSR", "L": "L"},
    )
    assert [c.label for c in found] == [
        "set = A, L = 0.5",
        "set = B, L = 1",
        "set = C, L = 2, n = 50",
        "set = D, L = 3",
    ]
    assert [c.environment.K for c in found] == [2, 3, 2, 2]
    assert [c.horizon for c in found] == [100, 100, 50, 100]
    assert [c.policies[0] for c in found] == [sb.UCBRSSR(1), sb.UCBRSSR(1), sb.policies.UUCB(2), sb.UCBRSSR(1)]
    assert [c.objective for c in found] == [sb.RSSR(0.5), sb.RSSR(1), sb.RSSR(2), sb.Sharpe(3)]


def test_cases_and_a_sweep_are_multiplied():
    found = made(cases=[{"set": "A"}, {"set": "B"}], sweep={"L": [1, 2]})
    assert [c.label for c in found] == ["set = A, L = 1", "set = A, L = 2", "set = B, L = 1", "set = B, L = 2"]


def test_a_part_that_all_cases_have_need_not_stand_at_the_top():
    description = {key: value for key, value in BASE.items() if key != "horizon"}
    assert [c.horizon for c in cases({**description, "cases": [{"horizon": 50}, {"horizon": 60}]})] == [50, 60]
    assert [c.horizon for c in cases({**description, "sweep": {"horizon": [70, 80]}})] == [70, 80]
    with pytest.raises(DescriptionError, match="no horizon"):
        cases({**description, "cases": [{"horizon": 50}, {"set": "B"}]})


def test_let_is_computed_in_order_and_knows_variables_and_the_horizon():
    # x = floor(30000 / (16 * 4)) = 468, as in the B panels
    (case,) = made(
        horizon=30_000,
        sweep={"K": [16]},
        let={"x": "floor(n / (K * log2(K)))", "L": "sqrt(2 * log(x) / x) / 8"},
        arms=[{"kind": "Bernoulli", "p": 0.5, "repeat": "K"}],
        objective={"kind": "RSSR", "L": "L"},
    )
    assert case.names["x"] == 468
    assert math.isclose(case.objective.L, math.sqrt(2 * math.log(468) / 468) / 8, rel_tol=1e-15)
    assert case.variables == {"K": 16}
    with pytest.raises(DescriptionError, match="no name in 'x'") as caught:
        made(let={"L": "x", "x": 1})
    assert caught.value.place == ("let", "L")


def test_the_horizon_may_be_an_expression_of_the_variables():
    assert [c.horizon for c in made(sweep={"m": [10, 20]}, horizon="50 * m")] == [500, 1000]


def test_policies_may_hold_an_objective_words_and_expressions_of_n_and_k():
    (case,) = made(
        policies=[
            {"kind": "UniformSampling", "objective": {"kind": "RSSR", "L": "K / 4"}},
            {"kind": "ModifiedMVTS", "L": 1, "form": "authors", "name": "n"},
            {"kind": "UCBRSSR", "L": 1, "pilot_pulls": "n // 10"},
            {"kind": "SHSR", "L": 1, "keep_samples": True},
        ]
    )
    assert case.policies == (
        sb.policies.UniformSampling(sb.RSSR(0.5)),
        sb.policies.ModifiedMVTS(1, form="authors", name="n"),
        sb.UCBRSSR(1, pilot_pulls=10),
        sb.SHSR(1, keep_samples=True),
    )


# --- what is wrong ----------------------------------------------------------------------------------------------------

UNIFORM = {"kind": "Uniform", "low": [0, 1], "high": [1, 3]}
UCB = {"kind": "UCBRSSR", "L": 1}


@pytest.mark.parametrize(
    ("changes", "message", "place"),
    [
        ({"horizont": 3}, "did you mean 'horizon'", ("horizont",)),
        ({"horizon": 1}, "horizon must be a whole number from 2 to 1000000000, got 1", ("horizon",)),
        ({"horizon": 10.5}, "got 10.5", ("horizon",)),
        ({"horizon": "10 / 3"}, "got 3.33", ("horizon",)),
        ({"horizon": "m"}, "no name in 'm'", ("horizon",)),
        ({"sweep": {"L": []}}, "non-empty lists", ("sweep",)),
        ({"sweep": {"L": 3}}, "non-empty lists", ("sweep",)),
        ({"sweep": [1]}, "sweep must be a table", ("sweep",)),
        ({"cases": 3}, "cases must be a list of tables", ("cases",)),
        ({"cases": []}, "cases must be a list of tables", ("cases",)),
        ({"cases": [3]}, "cases must be a list of tables", ("cases",)),
        ({"let": 3}, "let must be a table", ("let",)),
        ({"let": {"x": "1/0"}}, "division by zero", ("let", "x")),
        ({"arms": 3}, "arms must be a list of tables", ("arms",)),
        ({"arms": []}, "arms must be a list of tables", ("arms",)),
        ({"arms": [UNIFORM, 3]}, "arms must be a list of tables", ("arms",)),
        ({"arms": [{"kind": "Uniform", "low": 0, "high": 1}]}, "at least 2 arms, got 1", ("arms",)),
        ({"arms": [UNIFORM, {"kind": "Unifrom"}]}, "did you mean 'Uniform'", ("arms", 1, "kind")),
        ({"arms": [UNIFORM, {"low": 0, "high": 1}]}, "arm must be a table with a kind .AR1, ", ("arms", 1)),
        ({"arms": [UNIFORM, {"kind": "Uniform", "lo": 0, "high": 1}]}, "did you mean 'low'", ("arms", 1, "lo")),
        ({"arms": [{**UNIFORM, "high": [1, 2, 3]}]}, r"differ in length \(low 2, high 3\)", ("arms", 0)),
        ({"arms": [{**UNIFORM, "repeat": 3}]}, "repeat asks for 3 arms, .* only 2 values", ("arms", 0)),
        ({"arms": [{**UNIFORM, "repeat": 0}]}, "repeat must be .* got 0", ("arms", 0, "repeat")),
        ({"arms": [{**UNIFORM, "repeat": "Q"}]}, "no name in 'Q'", ("arms", 0, "repeat")),
        ({"arms": [{**UNIFORM, "low": [0, 5]}]}, "low must be less than high, got low=5.0", ("arms", 0, "low")),
        ({"arms": [{"kind": "Uniform", "mean": [1, 2]}]}, "Uniform needs variance", ("arms", 0)),
        ({"arms": [{"kind": "Uniform", "repeat": 2}]}, "Uniform needs low and high", ("arms", 0)),
        ({"arms": [{"kind": "Uniform", "mean": [1, 2], "variance": 1, "low": 0}]}, "no parameter", ("arms", 0, "low")),
        ({"objective": {"kind": "RSR", "L": 1}}, "did you mean 'RSSR'", ("objective", "kind")),
        ({"objective": {"kind": "RSSR", "l": 1}}, "did you mean 'L'", ("objective", "l")),
        ({"objective": {"kind": "RSSR"}}, "RSSR needs L", ("objective",)),
        ({"objective": {"L": 1}}, "objective must be a table with a kind", ("objective",)),
        ({"objective": "RSSR"}, "objective must be a table with a kind .*, got 'RSSR'", ("objective",)),
        ({"objective": {"kind": "RSSR", "L": -1}}, "L must be .* got -1", ("objective", "L")),
        ({"policies": []}, "policies must be a list of tables", ("policies",)),
        ({"policies": [UCB, {"kind": "UCBRSR", "L": 1}]}, "did you mean 'UCBRSSR'", ("policies", 1, "kind")),
        ({"policies": [UCB, {"kind": "ucb-rssr", "L": 1}]}, "did you mean 'UCBRSSR'", ("policies", 1, "kind")),
        ({"policies": [UCB, {"kind": ["UUCB"]}]}, "no policy is called", ("policies", 1, "kind")),
        ({"policies": [UCB, {"kind": "UUCB", "L": 1}]}, "there are 'epsilon0'", ("policies", 1, "L")),
        ({"policies": [UCB, {"kind": "UUCB", "epsilon": 1}]}, "did you mean 'epsilon0'", ("policies", 1, "epsilon")),
        ({"policies": [UCB, {"kind": "UUCB"}]}, "UUCB needs epsilon0", ("policies", 1)),
        ({"policies": [UCB, {"kind": "UUCB", "epsilon0": "Q"}]}, "no name in 'Q'", ("policies", 1, "epsilon0")),
        ({"policies": [UCB, {"kind": "UUCB", "epsilon0": 0}]}, "above 0, got 0", ("policies", 1, "epsilon0")),
        ({"policies": [UCB, {"kind": "UUCB", "epsilon0": [1]}]}, "got \\[1\\]", ("policies", 1, "epsilon0")),
        ({"policies": [UCB, UCB]}, "two policies are called 'UCB-RSSR'", ("policies", 1)),
        ({"policies": [{**UCB, "pilot_pulls": 60}]}, "at least 120 for 2 arms", ("policies", 0)),
        ({"policies": [UCB, {"kind": "LUCB", "L": 1}]}, "stops on its own", ("policies", 1)),
        (
            {"policies": [{"kind": "UniformSampling", "objective": {"kind": "RSSR", "M": 1}}]},
            "no parameter of RSSR is called 'M'",
            ("policies", 0, "objective", "M"),
        ),
        (
            {"policies": [{"kind": "ModifiedMVTS", "L": 1, "form": "author"}]},
            "form must be one of .* got 'author'",
            ("policies", 0, "form"),
        ),
        (
            {"cases": [{"set": "A"}, {"set": "B", "objective": {"kind": "RSSSR", "L": 1}}]},
            "did you mean 'RSSR'",
            ("cases", 1, "objective", "kind"),
        ),
        ({"sweep": {"horizon": [100, 1]}}, "got 1", ("sweep", "horizon")),
        ({"clock": "days"}, "clock must be one of .* got 'days'", ("arms",)),
        ({"switches": [{"after": 10}]}, "a switch needs arms", ("switches", 0)),
        ({"switches": [{"after": 10, "arm": []}]}, "did you mean 'arms'", ("switches", 0, "arm")),
        ({"switches": [{"after": 0, "arms": PAIR}]}, "after must be .* got 0", ("switches", 0, "after")),
        ({"switches": [{"after": 100, "arms": PAIR}]}, "but the horizon is 100", ("switches",)),
        (
            {"switches": [{"after": 10, "arms": [{"kind": "Normall", "mean": 1, "variance": 1}]}]},
            "did you mean 'Normal'",
            ("switches", 0, "arms", 0, "kind"),
        ),
        ({"switches": [{"after": 9, "arms": PAIR}, {"after": 9, "arms": PAIR}]}, "in increasing order", ("switches",)),
        ({"cases": [{"horizon": 50}, {"horizon": 50}]}, "cannot be distinguished", ("cases", 1)),
        ({"sweep": {"L": [1, 1]}}, "cannot be distinguished", ("sweep",)),
        (
            {"cases": [{"objective": {"kind": "Mean"}}, {"objective": {"kind": "Variance"}}]},
            'cannot be distinguished .* as in cases = .. set = "A"',
            ("cases", 1),
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(changes, message, place):
    with pytest.raises(DescriptionError, match=message) as caught:
        made(**changes)
    assert caught.value.place == place


def test_arms_that_switch():
    (case,) = made(switches=[{"after": "n // 4", "arms": PAIR}, {"after": 50, "arms": [{"kind": "AR1", "mean": [1, 2],
        "variance": 1, "phi": 0.5}]}])  # fmt: skip
    first = made()[0].environment
    assert case.environment.switches == (25, 50)
    assert case.environment.bandits[0].arms == first.arms
    assert case.environment.bandits[1].arms == (sb.Normal(1, variance=2), sb.Normal(3, variance=2))
    assert case.environment.bandits[2].arms == (sb.arms.AR1(1, 1, 0.5), sb.arms.AR1(2, 1, 0.5))


def test_clocks_of_arms_with_a_memory():
    arms = [{"kind": "AR1", "mean": [1, 2], "variance": 1, "phi": 0.5}]
    assert made(arms=arms)[0].environment.clock == "rounds"
    assert made(arms=arms, clock="pulls")[0].environment.clock == "pulls"


RANDOM = {"kind": "Uniform", "random": True, "repeat": 4, "low": "u1 * u2", "high": "u1"}


@pytest.mark.parametrize(
    ("entries", "message", "place"),
    [
        ([{**RANDOM, "low": "u3"}], "did you mean 'u2'|did you mean 'u1'", ("arms", 0, "low")),
        ([{**RANDOM, "low": "1 + u1"}], "low must not exceed high", ("arms", 0)),
        ([{k: v for k, v in RANDOM.items() if k != "high"}], "Uniform needs high", ("arms", 0)),
        ([{**RANDOM, "repeat": 1}], "repeat must be .* from 2 to 10000, got 1", ("arms", 0, "repeat")),
        ([{**RANDOM, "repeats": 1}], "did you mean 'repeat'", ("arms", 0, "repeats")),
        ([{**RANDOM, "kind": "Normal"}], "one entry of kind Uniform", ("arms", 0)),
        ([RANDOM, UNIFORM], "one entry of kind Uniform", ("arms", 0)),
        ([{**RANDOM, "low": [0, 1, 2]}], "broadcast", ("arms", 0)),
    ],
)
def test_what_is_wrong_with_random_arms_is_said_before_any_run(entries, message, place):
    with pytest.raises(DescriptionError, match=message) as caught:
        made(arms=entries)
    assert caught.value.place == place


def test_missing_parts_are_named():
    for key in BASE:
        description = {k: v for k, v in BASE.items() if k != key}
        with pytest.raises(DescriptionError, match=f"has no {key}; add it"):
            cases(description)


def test_any_part_may_be_swept_and_is_told_apart_by_its_kinds():
    coins, normal = [{"kind": "Bernoulli", "p": [0.1, 0.2]}], [{"kind": "Normal", "mean": [0, 1], "variance": 1}]
    assert [c.label for c in made(sweep={"arms": [coins, normal]})] == ["arms = Bernoulli", "arms = Normal"]
    ratios = [{"kind": "RSSR", "L": 1}, {"kind": "RSSR", "L": 2}]
    found = made(sweep={"objective": ratios})
    assert [c.label for c in found] == ["objective = 1", "objective = 2"]
    assert [c.objective for c in found] == [sb.RSSR(1), sb.RSSR(2)]


@pytest.mark.parametrize("sweep", [{"runs": [100, 200]}, {"seed": [1, 2]}, {"checkpoints": [5, 9]}])
def test_what_all_cases_share_is_not_swept(sweep):
    with pytest.raises(DescriptionError, match="is the same for all cases"):
        made(sweep=sweep)


@pytest.mark.parametrize("name", ["K", "n"])
def test_a_case_is_not_labelled_with_another_number_than_it_has(name):
    with pytest.raises(DescriptionError, match=f"{name} is 7 here, but the horizon or the arms make it"):
        made(sweep={name: [7, 9]})
