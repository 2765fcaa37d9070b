"""Digests of what is played: choices, rewards and results of every policy on many bandits, under every option.

``python -m tests.digests`` writes them to tests/data/digests.json. They change only with a choice, a reward or a
result that users see; tests/test_digests.py compares.
"""

import hashlib
import json
import warnings
from pathlib import Path

import numpy as np

import sharpe_bandits as sb
from tests.catalogue import EVERY_POLICY

FILE = Path(__file__).parent / "data" / "digests.json"

BANDITS = {
    "uniform": sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8), sb.Uniform(0.5, 8.5)]),
    "coins": sb.Bandit([sb.Bernoulli(p) for p in (0.5, 0.5, 0.4, 0.6)]),
    "negative": sb.Bandit([sb.Uniform(-3, 1), sb.Uniform(-2, 1.5), sb.Empirical([-1.0, 0.5, 0.25])]),
    "gamma": sb.Bandit([sb.arms.TruncatedGamma(2, 2, 1, 10), sb.arms.TruncatedGamma(2, 3, 1, 10)]),
    "autoregressive": sb.Bandit([sb.arms.AR1(1.0, 0.5, 0.4), sb.arms.AR1(1.2, 0.7, -0.2)]),
    "random": sb.RandomBandit(4, lambda rng: sb.arms.UniformArms(low=np.zeros(4), high=rng.uniform(0.5, 1.0, 4))),
    "switching": sb.SwitchingBandit(
        [[sb.Uniform(1, 3), sb.Uniform(1.5, 3.5)], [sb.Uniform(2, 4), sb.Uniform(0, 2)]], after=[300]
    ),
}
OPTIONS = {
    "plain": {},
    "delay": {"delay": 7},
    "random delay": {"delay": sb.Uniform(0, 20)},
    "batch": {"batch": 9},
    "delay and batch": {"delay": 3, "batch": 5},
    "full": {"feedback": "full"},
}
HORIZON, RUNS = 700, 19
#: Options take kernels of their own: a few policies of each kind are enough.
WITH_OPTIONS = (
    sb.UCBRSSR, sb.ScaleFreeUCB, sb.ScaleFreeTS, sb.ScaleFreeIMED, sb.policies.SlidingWindowUCB, sb.policies.DiscountedUCB, sb.SHSR,
    sb.policies.EpsilonGreedy, sb.policies.NPTS, sb.policies.SuccessiveAcceptsRejects,
)  # fmt: skip
#: Objectives of more than mean and variance: a feature kept as sums, and kept rewards.
WITH_FEATURES = [
    sb.ScaleFreeUCB(objective=sb.objectives.Sortino(L=0.1, target=0.5), name="SF-UCB, Sortino"),
    sb.ScaleFreeUCB(objective=sb.objectives.CVaR(alpha=0.2), name="SF-UCB, CVaR"),
]
#: So do rewards that are indexed by round.
BY_ROUND = ("autoregressive", "switching")


def of_arrays(*arrays):
    """A digest of arrays, exact to the last bit."""
    total = hashlib.sha256()
    for array in arrays:
        total.update(repr((array.dtype.str, array.shape)).encode())
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()[:16]


def of_result(result):
    """Everything that runs ended with, and pulls on the way."""
    halfway = result.halfway if result.halfway is not None else np.zeros(0)
    arrays = (result.pulls, halfway, result.final, result.recommended, result.reward_mean, result.reward_variance)
    return of_arrays(*arrays, result.stopped)


def simulations(part=slice(None)):
    """Digests of simulations and traces, by policy, bandit and option."""
    for policy in [*EVERY_POLICY, *WITH_FEATURES][part]:
        for bandit_name, bandit in BANDITS.items():
            if bandit_name in BY_ROUND and type(policy) not in WITH_OPTIONS:
                continue
            many = bandit_name in ("uniform", "coins") and type(policy) in WITH_OPTIONS
            options = OPTIONS if many else {"plain": {}}
            for option_name, option in options.items():
                case = f"{policy.name} | {bandit_name} | {option_name}"
                try:
                    study = sb.simulate(policy, bandit, horizon=HORIZON, runs=RUNS, seed=3, progress=False, **option)
                    run = sb.trace(policy, bandit, horizon=HORIZON, seed=3, run=5, **option)
                except sb.SharpeBanditsError as error:
                    yield case, type(error).__name__
                    continue
                yield case, of_result(study[policy.name]) + of_arrays(run.choices, run.rewards)


def identifications(part=slice(None)):
    """Digests of fixed-confidence policies."""
    for policy in (sb.policies.LUCB(L=0.5), sb.TopTwo(L=0.5))[part]:
        for name in ("uniform", "coins", "gamma"):
            study = sb.identify(policy, BANDITS[name], runs=9, seed=3, max_budget=20_000)
            run = sb.trace(policy, BANDITS[name], horizon=3_000, seed=3, run=2)
            yield f"{policy.name} | {name}", of_result(study[policy.name]) + of_arrays(run.choices, run.rewards)


def agents(part=slice(None)):
    """Digests of what agents choose with rewards told at once and late, and of their estimates."""
    draws = np.random.default_rng(11).gamma(2.0, 0.5, size=(3, 400)).round(6) * [[1.0], [1.1], [0.9]]
    for policy in [*EVERY_POLICY, *WITH_FEATURES, sb.policies.LUCB(L=0.5), sb.TopTwo(L=0.5)][part]:
        for late in (0, 6):
            agent = policy.agent(arms=["a", "b", "c"], horizon=300, seed=5)
            pending, asked = [], []
            while len(asked) < 260 and not agent.done:
                try:
                    arm = agent.ask()
                except sb.errors.WaitForRewardsError:
                    pass
                else:
                    asked.append(agent.arms.index(arm))
                    pending.append(arm)
                    if len(pending) <= late:
                        continue
                told = pending.pop(0)
                agent.tell(told, float(draws[agent.arms.index(told), agent.pulls[told]]))
            estimates = np.array(list(agent.estimates().values()))
            yield f"{policy.name} | late {late}", of_arrays(np.array(asked), estimates)


def holdings(part=slice(None)):
    """Digests of replays: several columns held, costs, minimum holdings, missing histories, all columns seen."""
    values = np.random.default_rng(2).normal(0.0004, 0.01, size=(600, 5)).round(9)
    unequal = values.copy()
    unequal[:200, 4] = np.nan
    policies = [
        sb.ScaleFreeUCB(L=1e-5), sb.ScaleFreeTS(L=1e-5), sb.policies.SlidingWindowUCB(L=1e-5, window=120),
        sb.policies.DiscountedUCB(L=1e-5, discount=0.99), sb.ScaleFreeIMED(L=1e-5),
    ]  # fmt: skip
    cases = {
        "plain": (values, {}),
        "unequal": (unequal, {}),
        "top two": (values, {"top": 2, "hold": 5}),
        "unequal, top two": (unequal, {"top": 2, "hold": 5}),
        "costs": (unequal, {"cost": 0.001, "cost_aware": True, "hold": 3}),
        "full": (values, {"feedback": "full"}),
        "full, top two": (unequal, {"feedback": "full", "top": 2}),
        "warm-up": (values, {"warm_up": 60}),
    }
    for case, (table, options) in list(cases.items())[part]:
        frame = {name: table[:, i] for i, name in enumerate("ABCDE")}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = sb.replay(
                frame, policies, runs=5, seed=4, kind="returns", missing="keep", periods_per_year=252, **options
            )
        for policy in policies:
            player = result[policy.name]
            yield f"{policy.name} | {case}", of_arrays(np.array(list(player.shares.values())))


SECTIONS = {"simulate": simulations, "identify": identifications, "agents": agents, "replay": holdings}


def digests():
    """All digests, by section."""
    return {name: dict(section()) for name, section in SECTIONS.items()}


if __name__ == "__main__":
    FILE.write_text(json.dumps(digests(), indent=0, ensure_ascii=False) + "\n")
