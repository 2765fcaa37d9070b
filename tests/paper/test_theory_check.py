"""Theory against measurement, on panels whose measurements are made up."""

import dataclasses
import math

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits import theory
from sharpe_bandits.experiments.panel import PanelResult
from sharpe_bandits.paper import theory_check
from sharpe_bandits.paper.panels import panel as of_paper
from sharpe_bandits.paper.theory_check import examine
from sharpe_bandits.simulation.api import checkpoint_times
from tests.experiments.test_panel import COLUMNS
from tests.synthetic import case, finished, outcome, panel

HORIZON = 10_000
TIMES = np.array(checkpoint_times(60, HORIZON))
UCB = sb.UCBRSSR(L=1.0)
#: Values 1/(1 + 1/12) and 4/(1 + 1/12): a gap of 36/13.
BANDIT = sb.Bandit([sb.Uniform(0.5, 1.5), sb.Uniform(1.5, 2.5)])
GAP = 36 / 13


def growing(curve, batches=30, noise=0.02, batch=100):
    """UCB-RSSR whose plays of the wrong arm follow a curve, a little different in every batch of runs."""
    wobble = 1 + noise * np.random.default_rng(1).standard_normal((batches, 1))
    wrong = np.rint(np.minimum(curve(TIMES) * wobble, TIMES)).astype(int)
    pulls = np.stack([wrong, TIMES - wrong], axis=2)
    one = case([UCB], {"L": 1.0}, sb.RSSR(1.0), BANDIT, HORIZON)
    return finished(panel([one]), [outcome(UCB, batch * pulls, TIMES, batch=batch)])


def found(done, what):
    return {v.id: v for v in examine([done], 30, 0).verdicts}.get(f"R9.{what}")


@pytest.mark.parametrize(
    ("curve", "verdict"),
    [
        (lambda t: 50 * np.log(t), "holds"),
        (lambda t: 500 - 2e3 / t, "holds"),  # levels off
        (lambda t: 500 + 0.2 * t, "fails"),
        (lambda t: 50 * np.log(t) + 0.05 * t, "fails"),  # a logarithm fits better than a line, and yet
        (lambda t: 20 * t**0.5, "fails"),
        (lambda t: 300 * t**0.15, "undecided"),
    ],
)
def test_growth_of_regret(curve, verdict):
    done = growing(curve)
    judged = found(done, "log")
    assert judged.verdict == verdict
    assert judged.says == "The regret of UCB-RSSR is logarithmic in n, up to n = 10,000"
    table = examine([done], 30, 0).tables["growth"]
    (row,) = (dict(zip(table.columns, values, strict=True)) for values in table.rows)
    assert (row["panel"], row["profile"], row["case"]) == ("R9", "paper", "L = 1")
    assert row["verdict"] == verdict


def test_runs_that_lock_in_may_have_been_missed():
    """None of 30 runs: up to 18% may lock in (99%), and each costs 36/13 in every round."""
    judged = found(growing(lambda t: 50 * np.log(t), batch=1), "log")
    assert judged.verdict == "undecided"
    share = 2.575829**2 / (30 + 2.575829**2)
    assert f"0.00% of 30 runs locked in, which may be up to {share:.2%}" in judged.evidence[0].check
    assert judged.evidence[0].difference.high > share * GAP * HORIZON / (50 * GAP * math.log(HORIZON)) - 0.1


def test_a_proved_bound_excludes_lock_ins():
    """UCB-VV on rewards in [0, 1] has one, so that a few runs are enough."""
    policy, bandit = sb.UCBVV(), sb.Bandit([sb.Bernoulli(0.5), sb.Bernoulli(0.1)])
    wrong = np.rint(10 * np.log(TIMES) * np.linspace(0.98, 1.02, 30)[:, None]).astype(int)
    one = case([policy], {"set": "A"}, sb.Variance(), bandit, HORIZON)
    done = finished(panel([one]), [outcome(policy, np.stack([TIMES - wrong, wrong], axis=2), TIMES)])
    done = PanelResult(dataclasses.replace(done.panel, long_cases=(one,)), done.studies, done.studies)
    assert found(done, "log").verdict == "holds"


def test_regret_that_hardly_grows_needs_no_power():
    """Flat but for noise: no power fits, and yet the growth is small."""
    flat = growing(lambda t: 500 + 0 * t, noise=0.05)
    assert found(flat, "log").verdict == "holds"


def test_a_linear_regret_is_explained_by_the_runs_that_locked_in():
    # three runs in four play the wrong arm throughout, the others never
    wrong = np.where((np.arange(40) % 4 < 3)[:, None], TIMES, 0)
    one = case([UCB], {"L": 1.0}, sb.RSSR(1.0), BANDIT, HORIZON)
    done = finished(panel([one]), [outcome(UCB, np.stack([wrong, TIMES - wrong], axis=2), TIMES)])
    judged = found(done, "log")
    assert judged.verdict == "fails"
    assert "p = 1.00 ± 0.00, 75.00% of 40 runs locked in" in judged.evidence[0].check
    assert judged.evidence[0].left == pytest.approx(1.0)
    assert judged.why


@pytest.mark.parametrize("times", [np.array([1, 3000, 5000, 10_000]), np.array([10_000])])
def test_too_few_points_or_runs_for_a_fit_give_no_verdict(times):
    one = case([UCB], {"L": 1.0}, sb.RSSR(1.0), BANDIT, HORIZON)
    pulls = np.stack([np.full((30, times.size), 1), np.tile(times - 1, (30, 1))], axis=2)
    assert found(finished(panel([one]), [outcome(UCB, pulls, times)]), "log") is None
    assert found(growing(lambda t: 50 * np.log(t), batches=2), "log") is None


def test_policies_without_ucb_rssr_have_no_growth_to_judge():
    other = sb.policies.UUCB(epsilon0=1.0)
    one = case([other], {"L": 1.0}, sb.RSSR(1.0), BANDIT, HORIZON)
    pulls = np.stack([np.full((30, TIMES.size), 1), np.tile(TIMES - 1, (30, 1))], axis=2)
    done = finished(panel([one]), [outcome(other, pulls, TIMES)])
    assert found(done, "log") is None


def test_growth_is_judged_by_the_longer_games_where_there_are_some():
    """Logarithmic up to 10,000, linear up to a million: the verdict is about the million, and says so."""
    short = growing(lambda t: 50 * np.log(t))
    far = np.array(checkpoint_times(60, 10**6))
    wrong = np.tile(np.rint(50 * np.log(far) + 0.01 * far).astype(int), (30, 1))
    wrong[:, -1] += np.arange(30)
    one = case([UCB], {"L": 1.0}, sb.RSSR(1.0), BANDIT, 10**6)
    long_panel = finished(panel([one]), [outcome(UCB, np.stack([wrong, far - wrong], axis=2), far)])
    both = dataclasses.replace(short.panel, long_cases=(one,))
    done = PanelResult(both, short.studies, long_panel.studies)
    findings = examine([done], 30, 0)
    verdicts = {v.id: v for v in findings.verdicts}
    assert verdicts["R9.log"].verdict == "fails"
    assert verdicts["R9.log"].says == "The regret of UCB-RSSR is logarithmic in n, up to n = 1,000,000"
    assert verdicts["R9.bound"].verdict == "fails"
    assert {row[4] for row in findings.bounds.rows} == {10**4, 10**6}
    assert "linear regret" not in verdicts["R9.bound"].why  # no run locked in
    assert "not a valid bound" in verdicts["R9.bound"].why
    assert all(row["t"] <= 10**4 for row in done.of_theory)  # what is drawn is what was drawn before


def test_a_bound_is_not_judged_where_the_pilot_is_longer_than_the_theorem_takes_it_to_be():
    assert theory.bounds_for(sb.UCBRSSR(L=1.0), BANDIT, HORIZON)[0].applies
    assert not theory.bounds_for(sb.UCBRSSR(L=1.0, pilot_pulls=50), BANDIT, HORIZON)[0].applies


# --- bounds -----------------------------------------------------------------------------------------------------------


def shvv(wrong, runs=400, budget=200_000):
    policy = sb.SHVV()
    bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0.4, 0.6)])
    one = case([policy], {"K": 2}, sb.Variance(), bandit, budget)
    recommended = np.arange(runs) < wrong
    done = outcome(policy, np.full((runs, 1, 2), budget // 2), (budget,), recommended=recommended.astype(int))
    return finished(panel([one], "error"), [done]), bandit, policy


def test_a_bound_on_the_error_is_held_against_the_measured_one():
    done, bandit, policy = shvv(0)
    bounds = {b.form: b for b in theory.bounds_for(policy, bandit, 200_000)}
    assert not bounds["printed"].vacuous
    findings = examine([done], 400, 0)
    table = findings.tables["bounds"]
    by_form = {row[5]: row for row in table.rows}
    assert set(by_form) == set(bounds)
    assert by_form["printed"][6] == bounds["printed"].value
    assert by_form["printed"][7] == 0
    assert by_form["printed"][8] == theory.informative_budget(policy, bandit)


def test_a_bound_that_is_broken_fails_and_one_that_may_be_is_undecided():
    many, bandit, policy = shvv(200)
    value = theory.bounds_for(policy, bandit, 200_000)[0].value
    assert value < 0.01  # so that half the runs wrong is far above, and none of 400 is not surely below
    assert found(many, "bound").verdict == "fails"
    assert found(many, "bound").evidence[0].left == 0.5
    assert found(shvv(0)[0], "bound").verdict == "undecided"


def test_bounds_that_say_nothing_are_vacuous_and_say_from_where_on_they_would():
    done, bandit, policy = shvv(0, budget=300)
    verdict = found(done, "bound")
    assert verdict.verdict == "vacuous"
    assert f"{theory.informative_budget(policy, bandit):,}" in verdict.why
    assert verdict.source == "the paper's theory"


def test_that_the_bounds_show_who_is_ahead_is_vacuous():
    verdicts = {v.id: v for v in examine([without_runs("B1", "authors")], 3, 0).verdicts}
    assert verdicts["B1.evident"].verdict == "vacuous"
    assert verdicts["B1.bound"].verdict == "vacuous"


def test_what_the_released_code_plots_is_beside_the_regret():
    done = without_runs("R3", "authors")
    examine([done], 3, 0)
    rows = done.of_theory
    plotted = [row for row in rows if row["metric"] == "regret as plotted"]
    plays = {
        (row["case"], row["policy"], row["t"]): row["mean"]
        for row in done.rows()
        if row["metric"] == "sub-optimal plays"
    }
    assert len(plotted) == len(plays)
    for row in plotted:
        case = next(c for c in done.panel.cases if c.label == row["case"])
        values = case.objective.value(
            sb.objectives.Statistics(mean=case.environment.means, variance=case.environment.variances)
        )
        assert row["mean"] == pytest.approx(abs(values[0] - values[1]) * plays[row["case"], row["policy"], row["t"]])
    two_arms = without_runs("R1", "authors")
    examine([two_arms], 3, 0)
    assert "regret as plotted" not in {row["metric"] for row in two_arms.of_theory}


def test_bounds_are_rows_of_the_tidy_table_where_they_say_something():
    done, bandit, policy = shvv(0)
    examine([done], 400, 0)
    rows = done.of_theory
    assert all(list(row) == COLUMNS for row in rows)
    expected = {f"bound ({b.form})": b.value for b in theory.bounds_for(policy, bandit, 200_000) if not b.vacuous}
    assert {row["metric"]: row["mean"] for row in rows} == expected
    assert all(row["low"] == row["mean"] == row["high"] for row in rows)
    assert all(row["t"] == 200_000 and row["se"] == 0 and row["policy"] == "SHVV" for row in rows)


def test_a_bound_on_regret_is_drawn_only_while_it_says_something():
    done = growing(lambda t: 10 * np.log(t))
    examine([done], 30, 0)
    rows = [row for row in done.of_theory if row["metric"] == "bound (printed)"]
    assert rows
    for row in rows:
        assert row["mean"] < GAP * row["t"]
        (bound,) = (b for b in theory.bounds_for(UCB, BANDIT, row["t"], horizon=HORIZON) if b.form == "printed")
        assert row["mean"] == bound.value
    silent = set(TIMES) - {row["t"] for row in rows}
    assert silent
    assert all(t < 2 * BANDIT.K or theory.bounds_for(UCB, BANDIT, int(t), horizon=HORIZON)[0].vacuous for t in silent)


# --- "the best RSSR arm is the best SR arm" ---------------------------------------------------------------------------


def without_runs(id, profile, runs=3):
    """A panel of the paper whose policies always played, and recommend, the first arm."""
    source = of_paper(id, profile)
    outcomes = []
    for one in source.cases:
        times = np.array(checkpoint_times(source.checkpoints, one.horizon))
        pulls = np.zeros((runs, times.size, one.environment.K), int)
        pulls[:, :, 0] = times
        outcomes.append([outcome(p, pulls, times) for p in one.policies])
    return finished(source, *outcomes)


def test_the_best_arms_differ_in_r3_as_the_audit_says():
    # at L = 0.75 RSSR prefers arm 1 and SR arm 3
    by_hand = {}
    for i, (mean, variance) in enumerate(((3.80, 2.7), (5.09, 6.01)), 1):
        by_hand[i] = (mean**2 / (0.75 + variance), mean / (0.75 + math.sqrt(variance)))
    assert by_hand[1][0] > by_hand[2][0]
    assert by_hand[1][1] < by_hand[2][1]
    verdict = {v.id: v for v in examine([without_runs("R3", "paper")], 3, 0).verdicts}["R3.arm"]
    assert verdict.verdict == "fails"
    assert "K = 10, L = 0.75: RSSR prefers arm 1, SR arm 3" in verdict.why


@pytest.mark.parametrize("id", ["R1", "R2", "B1"])
def test_the_best_arms_agree_elsewhere(id):
    verdict = {v.id: v for v in examine([without_runs(id, "paper")], 3, 0).verdicts}[f"{id}.arm"]
    assert verdict.verdict == "holds"
    assert verdict.evidence == ()


def test_arms_drawn_anew_are_counted():
    verdict = {v.id: v for v in examine([without_runs("B6", "paper", 50)], 50, 4).verdicts}["B6.arm"]
    differ = 0
    (first, *_) = of_paper("B6", "paper").cases
    for run in range(50):
        arms = first.environment.arms_of(4, run)
        mean, variance = (arms.low + arms.high) / 2, (arms.high - arms.low) ** 2 / 12
        L = 1 / 1200
        differ += int((mean**2 / (L + variance)).argmax() != (mean / (L + np.sqrt(variance))).argmax())
    assert differ > 0
    assert verdict.verdict == "fails"
    assert f"K = 16, n = 10000: they differ in {differ / 50:.1%} of the runs" in verdict.why


def test_variance_panels_have_no_ratio_to_agree_on():
    assert "V1.arm" not in {v.id for v in examine([without_runs("V1", "paper")], 3, 0).verdicts}


def test_a_users_own_experiment_is_measured_but_nothing_is_claimed_of_it():
    done = growing(lambda t: 50 * np.log(t))
    mine = PanelResult(panel(done.panel.cases, profile=""), done.studies)
    findings = examine([mine], 30, 0)
    assert findings.verdicts == []
    assert set(findings.tables) == {"bounds", "growth"}


# --- coverage ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def coverage():
    """The panel, its rows, and its verdicts by id."""
    done = finished(of_paper("C1", "paper"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(theory_check, "SAMPLES", 2000)
        return done.panel, done.of_theory, {v.id: v for v in examine([done], 3, 0).verdicts}


def test_the_coverage_panel_has_a_row_per_inequality_arm_and_case(coverage):
    source, rows, _ = coverage
    arms = source.cases[0].environment.K
    kinds = {row["policy"] for row in rows}
    concentration = {f"{s}, {form}" for s in ("variance", "sr_like", "rssr") for form in ("printed", "repaired")}
    lemmas = {f"{s}, {form}" for s in ("order of variances", "phases of SHVV") for form in ("printed", "repaired")}
    assert concentration | lemmas == kinds
    # six inequalities per arm; Lemma 2, twice, of every two arms; Lemma 3, twice, of both phases of two sets of arms;
    # each with its promise
    sizes = {one.horizon for one in source.cases}  # Lemmas 2 and 3 do not depend on L
    assert len(rows) == 2 * (len(source.cases) * arms * 6 + len(sizes) * (arms * (arms - 1) + 8))
    keys = [(row["case"], row["policy"], row["metric"]) for row in rows]
    assert len(set(keys)) == len(keys)
    assert all(list(row) == COLUMNS and 0 <= row["low"] <= row["mean"] <= row["high"] <= 1 for row in rows)


def test_lemmas_2_and_3_fail_as_printed(coverage):
    _, _, verdicts = coverage
    assert verdicts["C1.4"].verdict == verdicts["C1.5"].verdict == "fails"


def test_all_five_hold_on_rewards_within_one(coverage):
    """The lemmas do not ask for it, but the paper's experiments with SHVV are there."""
    for verdict in coverage[2].values():
        inside = [e for e in verdict.evidence if "[0, 1]" in e.check or within_one(e.check)]
        assert inside
        assert not [e for e in inside if e.verdict == "fails"]
        assert "With rewards in [0, 1] it failed in 0 of" in verdict.why


def within_one(check):
    place = check.split(" @ ")[1].rsplit(", n", 1)[0]
    return all(name in ("Uniform(0, 1)", "Bernoulli(0.5)") for name in place.split(" over "))


def test_every_inequality_is_beside_its_own_promise(coverage):
    _, rows, _ = coverage
    promised = {(r["case"], r["policy"]): r["mean"] for r in rows if r["metric"] == "promised rate"}
    for row in rows:
        if row["policy"].startswith(("order", "phases")) and row["policy"].endswith("repaired"):
            if "of arms in" not in row["case"]:
                expected = min(1.0, promise_of(row["policy"], row))
                assert promised[row["case"], row["policy"]] == pytest.approx(expected)
        elif not row["policy"].startswith(("order", "phases")):
            assert promised[row["case"], row["policy"]] == pytest.approx(0.1)


def evidence_of(rows, kind):
    """By how much a rate, at its lower end, exceeds what was promised; the promises are worked out anew."""
    found = []
    for row in rows:
        if row["policy"] == kind and row["metric"] == "violation rate" and "of arms in" not in row["case"]:
            found.append(row["low"] - promise_of(kind, row))
    return found


def promise_of(kind, row):
    environment = of_paper("C1", "paper").cases[0].environment
    if kind.startswith("phases"):
        four = sb.Bandit([environment.arms[i] for i in np.argsort(environment.variances)[:4]])
        return theory.shvv_phase_error(four, row["t"], int(row["case"].split()[1]) - 1).value
    names = row["case"].rsplit(", n", 1)[0].split(" over ")
    less, more = (next(arm for arm in environment.arms if name in (repr(arm), type(arm).__name__)) for name in names)
    return theory.variance_order([more, less], 1, row["t"]).value


def test_lemma_1_fails_as_printed_and_nothing_breaks_the_repaired_forms(coverage):
    _, rows, verdicts = coverage
    assert verdicts["C1.1"].verdict == "fails"  # u² where u⁴ is needed
    rates = [row for row in rows if row["metric"] == "violation rate"]
    of_lemma_1 = [row for row in rates if row["policy"] == "variance, printed"]
    assert len(verdicts["C1.1"].evidence) == len(of_lemma_1)
    for kind in ("order of variances, repaired", "phases of SHVV, repaired"):
        assert not [e for e in evidence_of(rows, kind) if e > 0]
    for row in rates:
        if row["policy"].endswith("repaired") and row["policy"].split(",")[0] in ("variance", "sr_like", "rssr"):
            assert row["low"] <= 0.1


def test_rewards_within_one_keep_lemma_1(coverage):
    _, rows, _ = coverage
    rates = [
        row["mean"]
        for row in rows
        if (row["policy"], row["metric"]) == ("variance, printed", "violation rate")
        and row["case"].startswith("Uniform(0, 1)")
    ]
    assert rates
    assert max(rates) < 0.1
