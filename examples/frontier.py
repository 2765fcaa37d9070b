"""Other ways to explore, on bandits that nothing was tuned on: regret, and runs that lock in, beside SF-UCB's.

Twenty bandits of 2 to 10 uniform, normal, gamma and Beta arms, drawn at random, and seeds used nowhere else. Each
variant is an index function of a few lines. Run with: python examples/frontier.py [runs]
"""

import math
import sys

import numpy as np

import sharpe_bandits as sb
from sharpe_bandits.play.streams import normal

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 100
HORIZON, SEED, BANDITS = 10_000, 20_261, 20


def influence_variance(arm, L):
    """W of the signed root of RSSR, stabilised as in the library."""
    v, d = arm.variance, L + arm.variance
    if v <= 1e-15 * arm.mean * arm.mean:
        return 0.5
    share = arm.pulls / (arm.pulls + 10.0)
    fourth = share * arm.fourth + (1.0 - share) * 3.0 * v * v
    x = arm.mean / d
    w = v / d - x * share * arm.third / d + 0.25 * x * x * (fourth - v * v) / d
    return max(w, 0.25 * (v / d + 0.5 * x * x * v * v / d))


def upper(arm, L, log):
    """The distance whose divergence is ``log``."""
    exponent = min(2.0 * max(log, 0.0) / (arm.pulls - 2.0), 200.0)
    return arm.mean / math.sqrt(L + arm.variance) + math.sqrt(influence_variance(arm, L) * math.expm1(exponent))


@sb.index_policy(name="ln(N/s)")
def by_share(arm, t, L, c):
    return upper(arm, L, c * math.log(t / arm.pulls))


@sb.index_policy(name="ln N + 3 ln ln N")
def with_log_log(arm, t, L, c):
    return upper(arm, L, c * (math.log(t) + 3.0 * math.log(math.log(t))))


@sb.index_policy(name="Student's quantile at 1/N (Bayes-UCB)")
def student(arm, t, L):
    log = math.log(t)  # the normal quantile of 1 - 1/N, to first order
    return upper(arm, L, log - 0.5 * math.log(4.0 * math.pi * max(log, 1.0)))


@sb.index_policy(name="forced: every arm once in 95 rounds, c = 0.2")
def forced(arm, t, L):
    if t - arm.last > 95.0 * max(1.0, 0.01 * math.sqrt(t)):
        return math.inf
    return upper(arm, L, 0.2 * math.log(t))


@sb.index_policy(name="wider where few pulls (c = 0.4, W (1 + 8/s))")
def wider(arm, t, L):
    exponent = min(0.8 * math.log(t) / (arm.pulls - 2.0), 200.0)
    w = influence_variance(arm, L) * (1.0 + 8.0 / arm.pulls)
    return arm.mean / math.sqrt(L + arm.variance) + math.sqrt(w * math.expm1(exponent))


@sb.index_policy(name="kurtosis allowed for (c = 0.4, W (1 + kurtosis/s))")
def doubtful(arm, t, L):
    exponent = min(0.8 * math.log(t) / (arm.pulls - 2.0), 200.0)
    v = arm.variance
    w = influence_variance(arm, L) * (1.0 + (arm.fourth / (v * v) if v > 0.0 else 0.0) / arm.pulls)
    return arm.mean / math.sqrt(L + arm.variance) + math.sqrt(w * math.expm1(exponent))


@sb.index_policy(name="SF-TS, samples 1.2 times as wide, optimistic")
def bolder(arm, t, L):
    z = 1.2 * normal(arm.key, 0)
    h = arm.mean / math.sqrt(L + arm.variance)
    away = math.sqrt(influence_variance(arm, L) * math.expm1(min(z * z / (arm.pulls - 2.0), 200.0)))
    return h + away if z > 0.0 else h


def policies(L: float) -> list[sb.policies.Policy]:
    return [
        sb.ScaleFreeUCB(L=L),
        sb.ScaleFreeUCB(L=L, c=0.4, name="SF-UCB, c = 0.4"),
        sb.ScaleFreeUCB(L=L, c=0.6, name="SF-UCB, c = 0.6"),
        sb.ScaleFreeIMED(L=L),
        sb.ScaleFreeTS(L=L),
        sb.ScaleFreeTS(L=L, optimistic=True, name="SF-TS, optimistic"),
        by_share(L=L, c=1.0, pilot_pulls=3),
        with_log_log(L=L, c=0.3, pilot_pulls=3),
        student(L=L, pilot_pulls=3),
        forced(L=L, pilot_pulls=3),
        wider(L=L, pilot_pulls=3),
        doubtful(L=L, pilot_pulls=3),
        bolder(L=L, pilot_pulls=3),
    ]


def drawn(number: int, seed: int = SEED) -> tuple[sb.Bandit, float]:
    """A bandit, and L: a tenth of the smallest variance."""
    rng = np.random.default_rng([seed, number])
    arms = []
    for _ in range(int(rng.integers(2, 11))):
        scale, kind = rng.uniform(0.5, 3.0), rng.integers(4)
        arms.append(
            [
                sb.Uniform(0.0, 2.0 * scale),
                sb.Normal(scale, variance=rng.uniform(0.2, 3.0)),
                sb.arms.Gamma(rng.uniform(1.0, 5.0), scale / 2.0),
                sb.Beta(rng.uniform(1.0, 6.0), rng.uniform(1.0, 3.0)),
            ][kind]
        )
    bandit = sb.Bandit(arms)
    return bandit, float(bandit.variances.min()) / 10


if __name__ == "__main__":
    regrets, locked = {}, {}
    for number in range(BANDITS):
        bandit, L = drawn(number)
        objective = sb.RSSR(L, signed=True)
        for policy in policies(L):
            study = sb.simulate(policy, bandit, horizon=HORIZON, runs=RUNS, seed=SEED + number, workers=1)
            result = study[policy.name]
            regrets.setdefault(policy.name, []).append(result.regret_per_run(objective) + 1e-9)
            locked.setdefault(policy.name, []).append([result.locked_in(objective, share=s).mean for s in (0.01, 0.1)])
    base = regrets["SF-UCB"]
    print("| variant | regret beside SF-UCB's, geometric mean | locked in at 1% | at 10% |\n|---|---:|---:|---:|")
    for name, of_bandits in regrets.items():
        logs, errors = [], []
        for mine, theirs in zip(of_bandits, base, strict=True):
            ratio = mine.mean() / theirs.mean()
            apart = mine / mine.mean() - theirs / theirs.mean()  # paired: both saw the same rewards
            logs.append(math.log(ratio))
            errors.append(apart.std(ddof=1) / math.sqrt(RUNS))
        mean, error = math.exp(np.mean(logs)), math.sqrt(sum(e * e for e in errors)) / BANDITS
        first, tenth = np.mean(locked[name], axis=0)
        print(f"| {name} | {mean:.3f} ± {mean * error:.3f} | {first:.1%} | {tenth:.1%} |", flush=True)
