"""Bad values of parameters and arguments everywhere: an error that names the value and the remedy."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

import sharpe_bandits as sb
from sharpe_bandits.arms.base import Draws
from sharpe_bandits.arms.environment import stack
from sharpe_bandits.play.rewards import QUANTILE
from tests.catalogue import BY_CLASS
from tests.messages import says

PAIR = [sb.Uniform(0, 1), sb.Uniform(0, 2)]
NOT_POSITIVE = [0, -0.5, math.nan, math.inf, -math.inf, "1", None, True, [1.0], 10**400, 1j, Decimal("0.5")]


@pytest.mark.parametrize(
    "make",
    [
        sb.UCBRSSR, sb.UCBSRLike, sb.policies.ModifiedGRAUCB, sb.policies.ModifiedMVTS, sb.policies.NormalGammaTS, sb.SHSR, sb.SuRSR, sb.RSSR,
        sb.objectives.SharpeLike, sb.ScaleFreeUCB, sb.ScaleFreeIMED, sb.ScaleFreeTS, sb.policies.SRTS,
        sb.policies.ScaleFreeNPTS, sb.policies.SlidingWindowUCB, sb.policies.DiscountedUCB, sb.policies.NPTS,
    ],
)  # fmt: skip
def test_the_regulariser(make):
    for L in NOT_POSITIVE:
        with pytest.raises(sb.errors.InvalidInputError, match=says("L must be a finite number above 0, got", repr(L))):
            make(L=L)


def test_every_policy_with_a_regulariser_is_tested_above():
    with_l = {name for name, policies in BY_CLASS.items() if hasattr(policies[0], "L")}
    assert with_l == {
        "UCBRSSR", "UCBSRLike", "ModifiedGRAUCB", "ModifiedMVTS", "NormalGammaTS", "SHSR", "SuRSR", "ScaleFreeUCB",
        "ScaleFreeIMED", "ScaleFreeTS", "SRTS", "ScaleFreeNPTS", "SlidingWindowUCB", "DiscountedUCB",
        "NPTS",
    }  # fmt: skip


def test_numbers_of_other_kinds_are_numbers():
    for L in (1, Fraction(1, 2), np.float32(0.5), np.int64(2)):
        assert float(L) == sb.UCBRSSR(L=L).L
        assert type(sb.UCBRSSR(L=L).L) is float


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda: sb.policies.UUCB(epsilon0=0), ("epsilon0", "above 0", "0")),
        (lambda: sb.policies.UUCB(epsilon0=1, g=-1), ("g must be", "above 0", "-1")),
        (lambda: sb.policies.UUCB(epsilon0=1, risk_free=math.nan), ("risk_free must be a finite number", "nan")),
        (lambda: sb.UCBRSSR(L=1, undefined_width="x"), ("undefined_width must be one of 'infinite', 'printed'", "'x'")),
        (lambda: sb.UCBRSSR(L=1, risk_free="0"), ("risk_free must be a finite number", "'0'")),
        (lambda: sb.UCBRSSR(L=1, pilot_fraction=1.5), ("pilot_fraction", "strictly between 0 and 1", "1.5")),
        (lambda: sb.UCBRSSR(L=1, pilot_fraction=0), ("pilot_fraction", "strictly between 0 and 1", "0")),
        (lambda: sb.UCBRSSR(L=1, pilot_pulls=1), ("pilot_pulls must be a whole number at least 2", "1")),
        (lambda: sb.UCBRSSR(L=1, pilot_pulls=2.5), ("pilot_pulls must be a whole number at least 2", "2.5")),
        (lambda: sb.UCBRSSR(L=1, pilot_pulls=3, pilot_fraction=0.1), ("not both", "0.1", "3")),
        (lambda: sb.UCBRSSR(L=1, name=7), ("the name of a policy must be text", "7")),
        (lambda: sb.policies.ModifiedMVTS(L=1, form="fixed"), ("one of 'printed', 'repaired', 'authors'", "'fixed'")),
        (lambda: sb.policies.ModifiedGRAUCB(L=1, form="repaired"), ("form must be one of 'printed', 'authors'", "'repaired'")),
        (lambda: sb.policies.GRAUCB(alpha=1.0), ("alpha", "strictly between 0 and 1", "1.0")),
        (lambda: sb.policies.NPTS(L=1, anchor=math.nan), ("anchor must be a finite number", "nan")),
        (lambda: sb.policies.MVTS(rho=-1), ("rho", "at least 0", "-1")),
        (lambda: sb.policies.EpsilonGreedy(epsilon=1.1), ("epsilon must lie between 0 and 1", "1.1")),
        (lambda: sb.policies.EpsilonGreedy("RSSR"), ("objective such as RSSR(L=0.5)", "'RSSR'")),
        (lambda: sb.policies.SequentialHalving(0.5), ("objective such as RSSR(L=0.5)", "0.5")),
        (lambda: sb.policies.ThompsonSampling(variance=0), ("variance", "above 0", "0")),
        # Objectives.
        (lambda: sb.RSSR(), ("RSSR needs L, as in RSSR(L=0.1)",)),
        # Arms.
        (lambda: sb.Uniform(2, 1), ("low must be less than high", "low=2.0", "high=1.0", "swap them")),
        (lambda: sb.Uniform(1), ("Uniform needs high, as in Uniform(high=...)",)),
        (lambda: sb.Normal(), ("Normal needs mean, as in Normal(mean=...)",)),
        (lambda: sb.Uniform(1, 1), ("low must be less than high", "low=1.0", "widen")),
        (lambda: sb.Uniform(math.nan, 1), ("low must be a finite number", "nan")),
        (lambda: sb.arms.TruncatedNormal(0, 1, 3, 3), ("low must be less than high", "low=3.0")),
        (lambda: sb.arms.TruncatedGamma(2, 2, 5, 4), ("low must be less than high", "low=5.0", "high=4.0")),
        (lambda: sb.arms.TruncatedGamma(2, 2, -1, 4), ("low must be at least 0", "-1.0")),
        (lambda: sb.Normal(0, variance=0), ("variance", "above 0", "0", "use Constant")),
        (lambda: sb.Normal(math.inf, variance=1), ("mean must be a finite number", "inf")),
        (lambda: sb.arms.Gamma(-1, 1), ("shape", "above 0", "-1")),
        (lambda: sb.Beta(1, 0), ("b must be", "above 0", "0")),
        (lambda: sb.Bernoulli(1.5), ("p must lie between 0 and 1", "1.5")),
        (lambda: sb.arms.Constant(math.nan), ("value must be a finite number", "nan")),
        (lambda: sb.Empirical([]), ("values", "non-empty")),
        (lambda: sb.Empirical([1, math.nan]), ("values must be finite", "nan", "at position 1", "drop or fill it")),
        (lambda: sb.Empirical(["a"]), ("values must be numbers", "'a'")),
        (lambda: sb.Uniform.from_moments(1, -2), ("variance", "at least 0", "-2")),
        (lambda: sb.arms.UniformArms([0, 2], [1, 1]), ("low must not exceed high", "low=2.0", "high=1.0", "arm 1")),
        (lambda: sb.arms.UniformArms([0, 2], [1]), ("same length", "2 and 1")),
        # Distributions without a variance.
        (lambda: sb.Bandit([scipy.stats.cauchy(), PAIR[0]]), ("cauchy()", "variance nan", "truncate")),
        (lambda: sb.Bandit([scipy.stats.t(2), PAIR[0]]), ("t(2)", "variance inf", "finite variance or truncate")),
        (lambda: sb.arms.Scipy(scipy.stats.pareto(1.5)), ("pareto(1.5)", "variance inf")),
        (lambda: sb.arms.Scipy(scipy.stats.norm), ("a frozen scipy.stats distribution is needed",)),
        # Bandits.
        (lambda: sb.Bandit([]), ("at least 2 arms, got 0",)),
        (lambda: sb.Bandit([PAIR[0]]), ("at least 2 arms, got 1", "nothing to choose")),
        (lambda: sb.Bandit(PAIR[0]), ("arms must be a list", "got Uniform(")),
        (lambda: sb.Bandit([PAIR[0], 3.0]), ("an arm such as Uniform(0, 1)", "3.0")),
        (lambda: sb.Bandit(PAIR, names=["a"]), ("names must be 2 different names", "['a']")),
        (lambda: sb.Bandit(PAIR, names=["a", "a"]), ("names must be 2 different names", "['a', 'a']")),
        (lambda: sb.Tape([[1.0, 2.0]]), ("at least 2 arms (rows), got 1",)),
        (lambda: sb.Tape([1.0, 2.0]), ("2 dimension(s)", "(2,)")),
        (lambda: sb.Tape([[1.0, math.inf], [1.0, 2.0]]), ("rewards must be finite, got inf at position (0, 1)", "drop or fill")),
        (lambda: sb.RandomBandit(1, lambda g: PAIR), ("arms must be a whole number at least 2", "1")),
        (lambda: sb.RandomBandit(2, lambda g: None).truth(0, 1), ("draw of RandomBandit(2, 'random') returns must be a list, got None",)),
        (lambda: stack([[PAIR[0].draws(), Draws(QUANTILE, 0.0, 1.0, 3, np.array([0.0, 0.5, math.nan]))]]), ("the draws of arm 1 have a pool with NaN, first at position 2",)),
        # Delays.
        (lambda: sb.simulate(sb.ScaleFreeUCB(L=1), PAIR, horizon=9, delay=1.5), ("delay must be a whole number from 0", "got 1.5")),
    ],
)  # fmt: skip
def test_values_are_named_with_a_remedy(make, parts):
    with pytest.raises(sb.errors.InvalidInputError, match=says(*parts)):
        make()


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda: sb.policies.UCB1().agent(arms=1), ("arms must be a whole number from 2 to 100000, got 1",)),
        (lambda: sb.policies.UCB1().agent(arms=0), ("arms must be a whole number from 2 to 100000, got 0",)),
        (lambda: sb.policies.UCB1().agent(arms=2.5), ("arms must be a whole number from 2 to 100000, got 2.5",)),
        (lambda: sb.policies.UCB1().agent(arms=["a"]), ("at least 2 different names", "['a']")),
        (lambda: sb.policies.UCB1().agent(arms=["a", "a"]), ("at least 2 different names", "['a', 'a']")),
        (lambda: sb.policies.UCB1().agent(arms="ab"), ("a list of names or a number of arms", "'ab'")),
        (lambda: sb.policies.UCB1().agent(arms=None), ("a list of names or a number of arms", "None")),
        (lambda: sb.policies.UCB1().agent(arms=[1, 2]), ("names of arms must be text", "[1, 2]", "pass a number")),
        (lambda: sb.policies.UCB1().agent(arms=2, seed=-1), ("seed must be a whole number from 0", "-1")),
        (lambda: sb.policies.UCB1().agent(arms=2, seed=2**64), ("seed must be a whole number from 0", str(2**64))),
        (lambda: sb.policies.UCB1().agent(arms=2, horizon=2.5), ("horizon must be a whole number", "2.5")),
        (lambda: sb.SHSR(L=1.0).agent(arms=4), ("SHSR needs a budget; pass horizon=... (16 at least)",)),
        (lambda: sb.policies.MVLCB().agent(arms=2), ("MV-LCB needs to know the number of rounds; pass horizon=...",)),
        (
            lambda: sb.UCBRSSR(L=1.0, pilot_fraction=0.1).agent(arms=2),
            ("pilot_fraction=0.1", "needs a horizon; pass horizon=... or set pilot_pulls"),
        ),
        # Budgets and horizons say how much is needed.
        (lambda: sb.SHSR(L=1.0).agent(arms=16, horizon=127), ("at least 128 for 16 arms", "127")),
        (lambda: sb.trace(sb.SHVV(), PAIR * 8, horizon=100), ("at least 128 for 16 arms", "100")),
        (lambda: sb.trace(sb.UCBRSSR(L=1.0), PAIR, horizon=3), ("at least 4 for 2 arms (2 pulls each", "3")),
        (
            lambda: sb.trace(sb.UCBRSSR(L=1.0, pilot_pulls=30), PAIR, horizon=50),
            ("at least 60 for 2 arms (30 pulls each", "50"),
        ),
        (lambda: sb.simulate(sb.SuRSR(L=1.0), PAIR, horizon=4), ("at least 5 for 2 arms", "4")),
        # What is simulated.
        (lambda: sb.simulate([], PAIR, horizon=10), ("there is no policy; pass at least one",)),
        (lambda: sb.simulate(sb.UCBRSSR, PAIR, horizon=10), ("UCBRSSR is a policy class; call it with",)),
        (lambda: sb.simulate([sb.UCBRSSR], PAIR, horizon=10), ("UCBRSSR is a policy class; call it",)),
        (lambda: sb.simulate("UCB1", PAIR, horizon=10), ("a policy such as UCBRSSR(L=0.5)", "'UCB1'")),
        (lambda: sb.simulate(None, PAIR, horizon=10), ("a policy such as UCBRSSR(L=0.5)", "None")),
        (lambda: sb.trace("UCB1", PAIR, horizon=10), ("a policy such as UCBRSSR(L=0.5)", "'UCB1'")),
        (
            lambda: sb.simulate([sb.UCBRSSR(L=1.0), sb.UCBRSSR(L=2.0)], PAIR, horizon=10),
            ("two policies are called 'UCB-RSSR'; give one of them another name=",),
        ),
        (lambda: sb.simulate(sb.policies.UCB1(), 7, horizon=10), ("SwitchingBandit", "is needed", "7")),
        (lambda: sb.simulate(sb.policies.UCB1(), [PAIR[0]], horizon=10), ("at least 2 arms, got 1",)),
        (lambda: sb.simulate(sb.policies.UCB1(), PAIR, horizon=1), ("horizon must be a whole number", "1")),
        (lambda: sb.simulate(sb.policies.UCB1(), PAIR, horizon=99.5), ("horizon must be a whole number", "99.5")),
        (lambda: sb.simulate(sb.policies.UCB1(), PAIR, horizon=10, runs=0), ("runs must be a whole number from 1 to", "0")),
        (lambda: sb.simulate(sb.policies.UCB1(), PAIR, horizon=10, seed=-1), ("seed must be a whole number from 0", "-1")),
        (lambda: sb.simulate(sb.policies.UCB1(), PAIR, horizon=10, workers=0), ("workers must be a whole number", "0")),
        (lambda: sb.simulate(sb.policies.UCB1(), PAIR, horizon=10, chunk=0), ("chunk must be a whole number at least 1", "0")),
        (lambda: sb.simulate(sb.policies.UCB1(), PAIR, horizon=10, checkpoints=[11]), ("checkpoint", "from 1 to 10", "11")),
        (lambda: sb.trace(sb.policies.UCB1(), PAIR, horizon=10, kernel="fast"), ("kernel must be one of 'auto'", "'fast'")),
        (lambda: sb.trace(sb.policies.UCB1(), PAIR, horizon=10, run=-1), ("run must be a whole number at least 0", "-1")),
    ],
)  # fmt: skip
def test_calls_are_refused_with_a_remedy(make, parts):
    with pytest.raises(sb.errors.InvalidInputError, match=says(*parts)):
        make()


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (
            lambda: sb.simulate(sb.policies.UCB1(), PAIR, horizon=10, objective=sb.Mean()),
            ("simulate takes no objective=", "study.regret(RSSR(L=0.5))"),
        ),
        (lambda: sb.simulate(sb.policies.UCB1(), PAIR, budget=10), ("simulate takes no budget=", "pass horizon=")),
        (lambda: sb.identify(sb.policies.LUCB(L=0.5), PAIR, horizon=10), ("identify takes no horizon=", "max_budget")),
        (lambda: sb.trace(sb.policies.UCB1(), PAIR, horizon=10, runs=3), ("trace takes no runs=", "pass run=")),
        (lambda: sb.SHSR(L=0.5).agent(arms=3, budget=10), ("agent takes no budget=", "pass horizon=")),
        (
            lambda: sb.policies.UCB1().agent(arms=3, sed=1),
            ("no argument of agent is called 'sed'", "did you mean 'seed'?"),
        ),
        (
            lambda: sb.simulate(sb.policies.UCB1(), PAIR, horizon=10, run=3),
            ("no argument of simulate", "'run'", "mean 'runs'?"),
        ),
        (lambda: sb.rank(None, replication=9), ("no argument of rank is called 'replication'", "'replications'?")),
        (lambda: sb.replay(None, perods_per_year=9), ("no argument of replay", "did you mean 'periods_per_year'?")),
        (lambda: sb.read_returns(None, kinds="prices"), ("no argument of read_returns", "did you mean 'kind'?")),
    ],
)
def test_arguments_that_a_function_does_not_have_are_refused_with_a_remedy(call, parts):
    with pytest.raises(sb.SharpeBanditsError, match=says(*parts)):
        call()


def test_what_is_missing_is_named_with_a_value():
    bandit = [sb.Uniform(0, 1), sb.Uniform(0, 2)]
    for call, told in (
        (lambda: sb.UCBRSSR(), "UCBRSSR needs L, as in UCBRSSR(L=0.1)"),
        (lambda: sb.simulate(sb.UCBRSSR(L=0.1), bandit), "simulate needs horizon, as in simulate(horizon=10_000)"),
        (lambda: sb.simulate("UCB1", bandit, horizon=10), "not a name: sb.policies.UCB1(...)"),
        (
            lambda: sb.read_returns({"A": [1, 2, 3]}),
            "needs kind and periods_per_year, as in read_returns(kind='prices'",
        ),
    ):
        with pytest.raises(sb.errors.InvalidInputError) as error:
            call()
        assert told in str(error.value)
    study = sb.simulate(sb.UCBRSSR(L=0.1), bandit, horizon=1e2, runs=2)
    assert study.horizon == 100
    with pytest.raises(sb.errors.InvalidInputError, match="horizon must be a whole number"):
        sb.simulate(sb.UCBRSSR(L=0.1), bandit, horizon=99.5)


def test_a_misspelt_field_of_an_arm():
    @sb.index_policy
    def mine(arm, t):
        return arm.meen

    with pytest.raises(sb.errors.CompilationError, match="did you mean 'mean'"):
        sb.simulate(mine(), [sb.Uniform(0, 1), sb.Uniform(0, 2)], horizon=10, runs=2)
