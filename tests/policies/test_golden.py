"""Every index policy, in every form, against a plain-Python twin on recorded rewards (docs/evidence/reading-the-paper.md)."""

import math

import numpy as np
import pytest
import scipy.stats
from scipy.optimize import brentq
from scipy.special import rel_entr

import sharpe_bandits as sb
from sharpe_bandits._support.call_tree import substituted
from sharpe_bandits.play import formulas
from sharpe_bandits.play.statistics import ArmRecord
from sharpe_bandits.play.streams import BESIDE_GAMMA
from sharpe_bandits.policies.base import IndexPolicy, Policy
from tests import twin

HORIZON, SEED = 150, 11
#: Four arms with means and spreads that differ, long enough for one arm to be played throughout.
TAPE = np.random.default_rng(3).normal(
    np.array([[1.0], [1.3], [0.8], [1.2]]), np.array([[0.9], [1.6], [0.5], [1.2]]), size=(4, HORIZON)
)


def epsilon(record, played):
    return math.sqrt(2 * math.log(played) / record.s)


def width(e, d, moment, literal):
    """(D + moment + 2 eps) eps / (D (D - 3 eps)), D = V + L; infinite where D <= 3 eps, unless it is taken literally."""
    return math.inf if d <= 3 * e and not literal else (d + moment + 2 * e) * e / (d * (d - 3 * e))


def ucb_vv(record, played, draws):
    return record.variance + epsilon(record, played)


def ucb_rssr(L, risk_free=0.0, literal=False, ddof=1):
    def index(record, played, draws):
        excess, d = twin.Record(x - risk_free for x in record.rewards), L + np.var(record.rewards, ddof=ddof)
        return excess.mean**2 / d + width(epsilon(record, played), d, excess.second, literal)

    return index


def ucb_sr_like(L, risk_free=0.0, literal=False, equation=False):
    """With ``equation`` the first term as in the equation, X / V."""

    def index(record, played, draws):
        excess, d = record.mean - risk_free, L + record.variance
        return excess / (record.variance if equation else d) + width(epsilon(record, played), d, excess, literal)

    return index


def u_ucb(epsilon0, risk_free=0.0, q=2.0, ddof=1, undefined=None):
    """With ``undefined`` the variance is subtracted, and that is the index where it is too large."""
    b = 4 * max(1 / epsilon0, 2 * epsilon0**-1.5 * (abs(risk_free) + 1))

    def index(record, played, draws):
        x = 2.5 * math.log(played) / (0.5 * record.s)
        variance = np.var(record.rewards, ddof=ddof)
        room = epsilon0 - variance if undefined else epsilon0 + variance
        if undefined == "absolute":
            room = abs(room)
        if room <= 0:
            return math.inf if undefined == "infinite" else -math.inf
        return (record.mean - risk_free) / math.sqrt(room) + 2 * b * max(x**0.5, x ** (q / 2))

    return index


def gra_ucb(rho, alpha=0.05):
    def index(record, played, draws):
        chi2 = scipy.stats.chi2.ppf(1 - alpha, record.s - 1)
        lower = (record.s - 1) * record.variance / chi2
        return -(lower - rho * (record.mean + math.sqrt(math.log(played) / record.s)))  # the print minimises

    return index


def modified_gra_printed(L):
    def index(record, played, draws):
        chi2 = scipy.stats.chi2.ppf(0.95, record.s - 1)
        top = (record.mean + math.sqrt(math.log(played) / record.s)) ** 2
        return top / math.sqrt(L + (record.s - 1) * record.variance**2 / chi2)

    return index


def modified_gra_authors(L, ddof=1):
    def index(record, played, draws):
        chi2 = scipy.stats.chi2.ppf(0.95, record.s - 1)
        top = record.mean**2 + math.sqrt(math.log(played) / record.s)
        return top / (L + (record.s - 1) * np.var(record.rewards, ddof=ddof) / chi2)

    return index


def posterior(record):
    """The published updates, pull by pull: a += 1/2, b += (s / (s + 1)) (x - mean)^2 / 2, from 1/2 and 1/2."""
    a, b, mean = 0.5, 0.5, 0.0
    for s, x in enumerate(record.rewards):
        a += 0.5
        b += s / (s + 1) * (x - mean) ** 2 / 2
        mean = (s * mean + x) / (s + 1)
    return a, b


def tau(record, draws):
    a, b = posterior(record)
    return draws.gamma(a) / b


def theta(record, draws):
    return record.mean + draws.normal(BESIDE_GAMMA) / math.sqrt(record.s)


def mvts(rho):
    return lambda record, played, draws: rho * theta(record, draws) - 1 / tau(record, draws)


def modified_mvts_printed(L):
    return lambda record, played, draws: theta(record, draws) ** 2 / (L + math.sqrt(1 / tau(record, draws)))


def modified_mvts_repaired(L):
    return lambda record, played, draws: theta(record, draws) ** 2 / (L + 1 / tau(record, draws))


def modified_mvts_authors(record, played, draws):
    """The logarithm of u: the index of the released code, (u/2)^2 / (L + u^2/12), grows with u for every L > 0."""
    a, b = 0.5, 0.5
    for x in record.rewards:
        a += 1
        b = max(b, x)
    return math.log(b * draws.uniform() ** (-1 / a))  # Pareto(a, scale b) by inversion


def normal_gamma_ts(L):
    def index(record, played, draws):
        precision = tau(record, draws)
        mean = record.mean + draws.normal(BESIDE_GAMMA) / math.sqrt(record.s * precision)
        return mean**2 / (L + 1 / precision)

    return index


def thompson(variance):
    return lambda record, played, draws: record.mean + draws.normal() * math.sqrt(variance / (record.s + 1))


def mv_lcb(rho, horizon):
    delta = 1 / horizon**2

    def index(record, played, draws):
        width = (5 + rho) * math.sqrt(math.log(1 / delta) / (2 * record.s))
        return -(record.variance - rho * record.mean - width)  # the print minimises

    return index


def ucb_v(record, played, draws):
    level, zeta = math.log(played) / record.s, 1.2
    return record.mean + math.sqrt(2 * zeta * np.var(record.rewards) * level) + 3 * zeta * level


def ucb_tuned(record, played, draws):
    level = math.log(played) / record.s
    return record.mean + math.sqrt(level * min(0.25, np.var(record.rewards) + math.sqrt(2 * level)))


def kl_ucb(record, played, draws):
    mean = min(max(record.mean, 0.0), 1.0)

    def excess(q):
        return rel_entr(mean, q) + rel_entr(1 - mean, 1 - q) - math.log(played) / record.s

    return brentq(excess, mean, 1 - 1e-15, xtol=1e-15) if mean < 1 else 1.0


def epsilon_greedy(objective, epsilon):
    def index(record, played, draws):
        explores = draws.uniform_of_round() < epsilon
        return draws.uniform() if explores else objective(record.mean, record.variance)

    return index


def rssr(L, risk_free=0.0):
    return lambda mean, variance: (mean - risk_free) ** 2 / (L + variance)


def sr_like(L, risk_free=0.0):
    return lambda mean, variance: (mean - risk_free) / (L + variance)


def signed_rssr(L, risk_free=0.0):
    return lambda mean, variance: math.copysign((mean - risk_free) ** 2, mean - risk_free) / (L + variance)


def mean_variance(rho):
    return lambda mean, variance: rho * mean - variance


def mean_alone(mean, variance):
    return mean


#: Policy, twin of its index, twin of its objective.
GOLDEN = [
    (sb.UCBVV(), ucb_vv, lambda mean, variance: variance),
    (sb.UCBRSSR(L=0.5), ucb_rssr(0.5), rssr(0.5)),
    (sb.UCBRSSR(L=3.0, pilot_pulls=8, name="UCB-RSSR, pilot"), ucb_rssr(3.0), rssr(3.0)),
    (sb.UCBRSSR(L=3.0, risk_free=0.7, name="UCB-RSSR, rate"), ucb_rssr(3.0, 0.7), rssr(3.0, 0.7)),
    (sb.UCBRSSR(L=0.5, undefined_width="printed", name="UCB-RSSR printed"), ucb_rssr(0.5, literal=True), rssr(0.5)),
    (sb.UCBSRLike(L=3.0), ucb_sr_like(3.0), sr_like(3.0)),
    (sb.UCBSRLike(L=3.0, risk_free=0.7, name="UCB-SR-like, rate"), ucb_sr_like(3.0, 0.7), sr_like(3.0, 0.7)),
    (
        sb.UCBSRLike(L=0.5, undefined_width="printed", name="SR-like printed"),
        ucb_sr_like(0.5, literal=True),
        sr_like(0.5),
    ),
    (sb.policies.UUCB(epsilon0=20.0), u_ucb(20.0), signed_rssr(20.0)),
    (sb.policies.UUCB(epsilon0=20.0, risk_free=-4.0, name="U-UCB, rate"), u_ucb(20.0, -4.0), signed_rssr(20.0, -4.0)),
    (sb.policies.UUCB(epsilon0=20.0, q=3.0, name="U-UCB, q = 3"), u_ucb(20.0, q=3.0), signed_rssr(20.0)),
    *(
        (
            sb.policies.UUCB(epsilon0=1.5, sign="minus", undefined=undefined, name=f"U-UCB minus, {undefined}"),
            u_ucb(1.5, undefined=undefined),
            signed_rssr(1.5),
        )
        for undefined in ("infinite", "absolute", "barred")
    ),
    (sb.policies.UUCB(epsilon0=20.0, ddof=0, name="U-UCB, ddof 0"), u_ucb(20.0, ddof=0), signed_rssr(20.0)),
    *(
        (
            sb.UCBRSSR(L=0.5, ddof=0, undefined_width=form, name=f"UCB-RSSR, ddof 0, {form}"),
            ucb_rssr(0.5, literal=form == "printed", ddof=0),
            rssr(0.5),
        )
        for form in ("infinite", "printed")
    ),
    *(
        (
            sb.UCBSRLike(L=3.0, first_term="equation", undefined_width=form, name=f"SR-like, equation, {form}"),
            ucb_sr_like(3.0, literal=form == "printed", equation=True),
            sr_like(3.0),
        )
        for form in ("infinite", "printed")
    ),
    (
        sb.policies.ModifiedGRAUCB(L=0.5, form="authors", ddof=0, name="Modified-GRA authors, ddof 0"),
        modified_gra_authors(0.5, ddof=0),
        rssr(0.5),
    ),
    (sb.policies.GRAUCB(rho=1.5), gra_ucb(1.5), mean_variance(1.5)),
    (sb.policies.GRAUCB(rho=1.5, alpha=0.3, name="GRA-UCB, alpha"), gra_ucb(1.5, 0.3), mean_variance(1.5)),
    (sb.policies.ModifiedGRAUCB(L=0.5), modified_gra_printed(0.5), rssr(0.5)),
    (
        sb.policies.ModifiedGRAUCB(L=0.5, form="authors", name="Modified-GRA authors"),
        modified_gra_authors(0.5),
        rssr(0.5),
    ),
    (sb.policies.MVTS(rho=1.5), mvts(1.5), mean_variance(1.5)),
    (sb.policies.ModifiedMVTS(L=0.5), modified_mvts_printed(0.5), rssr(0.5)),
    (sb.policies.ModifiedMVTS(L=0.5, form="repaired", name="M-MVTS repaired"), modified_mvts_repaired(0.5), rssr(0.5)),
    (sb.policies.ModifiedMVTS(L=0.5, form="authors", name="M-MVTS authors"), modified_mvts_authors, rssr(0.5)),
    (sb.policies.NormalGammaTS(L=0.5), normal_gamma_ts(0.5), rssr(0.5)),
    (
        sb.policies.SRTS(L=0.8, rho=1.3),
        lambda record, played, draws: theta(record, draws) / (0.8 + 1.3 / tau(record, draws)),
        lambda mean, variance: mean / (0.8 / 1.3 + variance),
    ),
    (sb.policies.ThompsonSampling(variance=2.0), thompson(2.0), mean_alone),
    (sb.policies.MTS(), lambda record, played, draws: theta(record, draws), mean_alone),
    (sb.policies.VTS(), lambda record, played, draws: -1 / tau(record, draws), mean_variance(0.0)),
    (
        sb.policies.VTS(largest=True, name="VTS, largest"),
        lambda record, played, draws: 1 / tau(record, draws),
        lambda mean, variance: variance,
    ),
    (sb.policies.UCB1(), lambda record, played, draws: record.mean + epsilon(record, played), mean_alone),
    (sb.policies.UCBV(), ucb_v, mean_alone),
    (sb.policies.UCBTuned(), ucb_tuned, mean_alone),
    (sb.policies.KLUCB(), kl_ucb, mean_alone),
    (sb.policies.MVLCB(rho=0.05), mv_lcb(0.05, HORIZON), mean_variance(0.05)),
    (sb.policies.EpsilonGreedy(sb.RSSR(L=0.5), epsilon=0.3), epsilon_greedy(rssr(0.5), 0.3), rssr(0.5)),
    (sb.policies.RoundRobin(sb.Mean()), lambda record, played, draws: -record.s, mean_alone),
]
PILOTS = {"UCB-RSSR, pilot": 8, "UCB1": 1, "Thompson sampling": 1, "MTS": 1}  # elsewhere two: a variance needs them


def twin_of(policy, index):
    """Choices and records of the twin, on the common tape."""
    refresh_all = not (isinstance(policy, sb.policies.ModifiedGRAUCB) and policy.form == "authors")
    pilot = PILOTS.get(policy.name, 2)
    return twin.play(index, TAPE, HORIZON, pilot, seed=SEED, refresh_all=refresh_all)


@pytest.mark.parametrize(("policy", "index", "objective"), GOLDEN, ids=[entry[0].name for entry in GOLDEN])
def test_every_choice_is_the_twins(policy, index, objective):
    choices, records = twin_of(policy, index)
    trace = sb.trace(policy, sb.Tape(TAPE), horizon=HORIZON, seed=SEED)
    assert trace.choices.tolist() == choices
    assert trace.recommended == twin.best(objective, records)
    pulls = [0] * len(TAPE)
    for arm, reward in zip(choices, trace.rewards, strict=True):  # the j-th pull pays what the tape says
        assert reward == TAPE[arm, pulls[arm]]
        pulls[arm] += 1


@pytest.mark.parametrize(("policy", "index", "objective"), GOLDEN, ids=[entry[0].name for entry in GOLDEN])
def test_every_index_is_the_twins(policy, index, objective):
    """The number itself, on records of many sizes: a slip too small to change a choice shows here."""
    generator = np.random.default_rng(1)
    infinite = 0
    for case in range(60):
        s = int(generator.integers(2, 120))
        played = int(s + generator.integers(2, 1000))
        rewards = generator.gamma(2.0, generator.uniform(0.1, 2.0), size=s)
        record, draws = twin.Record(rewards), twin.Draws(SEED, 0, case, 4, played)
        arm = ArmRecord(
            pulls=float(s), mean=record.mean, variance=record.variance, second_moment=record.second,
            epsilon=epsilon(record, played), last=float(played), key=draws.key, round_key=draws.round_key,
            maximum=max(rewards),
        )  # fmt: skip
        with np.errstate(over="ignore"):
            ours = bound(policy)(arm, played, *policy.arguments(HORIZON))
        assert ours == pytest.approx(index(record, played, draws), rel=1e-11)
        infinite += ours == math.inf
        assert policy.objective.value(record) == pytest.approx(objective(record.mean, record.variance), rel=1e-14)
    assert infinite < 40


def bound(policy):
    """The formula as the engine would compile it, but in plain Python: with the objective's value in its place."""
    return substituted(policy.formula, {formulas.value: policy.objective.record_formula})


def test_the_tape_tells_all_formulas_apart():
    """If two twins made the same choices, a formula in the place of another would go unnoticed."""
    traces = {policy.name: tuple(twin_of(policy, index)[0]) for policy, index, _ in GOLDEN}
    same = [(a, b) for a in traces for b in traces if a < b and traces[a] == traces[b]]
    assert same == []


def test_every_index_policy_of_the_paper_has_a_golden_trace():
    golden = {type(policy).__name__ for policy, _, _ in GOLDEN}
    # These have tests of their own.
    elsewhere = tuple(f"sharpe_bandits.policies.{name}" for name in ("scale_free", "dirichlet", "custom"))
    kinds = {
        name
        for name, kind in Policy.kinds.items()
        if issubclass(kind, IndexPolicy)
        and kind.__module__.startswith("sharpe_bandits.")
        and kind.__module__ not in elsewhere
    }
    assert golden == kinds


def test_kl_ucb_has_less_regret_than_ucb1_on_rare_successes():
    bandit = sb.Bandit([sb.Bernoulli(0.1), sb.Bernoulli(0.05), sb.Bernoulli(0.05)])
    study = sb.simulate([sb.policies.KLUCB(), sb.policies.UCB1()], bandit, horizon=5_000, runs=64, seed=3)
    assert study["KL-UCB"].regret(sb.Mean()).final.mean < 0.5 * study["UCB1"].regret(sb.Mean()).final.mean


def test_ties_of_coin_tosses_go_to_the_lowest_arm():
    tape = np.random.default_rng(8).integers(0, 2, size=(3, 60)).astype(float)
    tape[:, 0] = 0.0, 1.0, 1.0  # after the pilot arms 1 and 2 tie above arm 0: the rule decides at once
    choices, _ = twin.play(lambda record, played, draws: record.mean + epsilon(record, played), tape, 60, 1)
    assert sb.trace(sb.policies.UCB1(), sb.Tape(tape), horizon=60).choices.tolist() == choices
    assert choices[3] == 1


@pytest.mark.parametrize(
    ("policy", "pulls"),
    [
        (sb.UCBRSSR(L=3.0), 2),
        (sb.UCBRSSR(L=3.0, pilot_fraction=0.001), 2),  # ceil(0.15 / 4) = 1, but a variance needs two
        (sb.UCBRSSR(L=3.0, pilot_fraction=0.3), 12),  # ceil(0.3 x 150 / 4) = ceil(11.25)
        (sb.UCBRSSR(L=3.0, pilot_pulls=9), 9),
    ],
)
def test_the_pilot_is_whole_cycles(policy, pulls):
    choices = sb.trace(policy, sb.Tape(TAPE), horizon=HORIZON).choices.tolist()
    assert choices[: 4 * pulls] == [0, 1, 2, 3] * pulls
    rest, _ = twin.play(ucb_rssr(3.0), TAPE, HORIZON, pulls)
    assert choices[4 * pulls :] == rest[4 * pulls :]
    assert choices[4 * pulls : 4 * pulls + 4] != [0, 1, 2, 3]  # so that the pilot's end shows
