"""Seventy ways to explore, on bandits that nothing was tuned on: regret, and runs that lock in, beside SF-UCB's.

All are one formula with other numbers. Twenty bandits of 2 to 10 uniform, normal, gamma and Beta arms, and twenty of
normal returns, Student's t, lognormal and Bernoulli arms, drawn at random.

Run with: python examples/frontier.py [runs]
"""

import math
import sys
from typing import ClassVar

import numpy as np
import scipy.stats

import sharpe_bandits as sb
from sharpe_bandits.play.streams import normal
from sharpe_bandits.policies.base import IndexPolicy

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 100
HORIZON, SEED, BANDITS = 10_000, 20_261, 20
UCB, GAUSSIAN, IMED, TS, OPTIMISTIC = range(5)
OF_T, OF_LEFT, LAI, QUANTILE = range(4)


def noise(arm, L, prior, floor, extra, doubt, at):
    """W of the signed root of RSSR for the value ``at``, stabilised, and widened where there are few pulls."""
    v, d = arm.variance, L + arm.variance
    if v <= 1e-15 * arm.mean * arm.mean:
        return 0.5
    share = arm.pulls / (arm.pulls + prior)
    fourth = share * arm.fourth + (1.0 - share) * 3.0 * v * v
    x = at / math.sqrt(d)
    w = v / d - x * share * arm.third / d + 0.25 * x * x * (fourth - v * v) / d
    w = max(w, floor * (v / d + 0.5 * x * x * v * v / d))
    return w * (1.0 + (extra + doubt * arm.fourth / (v * v)) / arm.pulls)


def exploration(arm, t, n, level, a, b, loglog):
    """The divergence that is allowed: by the round, by the rounds that are left, or by a quantile."""
    s, left = arm.pulls, max(n - t, 1.0)
    if level == LAI:
        ratio = max((s + left) / s, math.e)
        return max(a * (math.log(ratio) - 0.5 * math.log(math.log(ratio)) - 0.5 * math.log(16.0 * math.pi)), 0.0)
    if level == QUANTILE:
        log = math.log(t) + loglog * math.log(math.log(t))
        return log - 0.5 * math.log(4.0 * math.pi * max(log, 1.0))
    of_share = math.log((left if level == OF_LEFT else t) / s)
    if b < 0.0:  # the whole horizon instead of the round
        of_share, b = math.log(n / s), -b
    return max(a * (math.log(t) + loglog * math.log(math.log(t))) + b * max(of_share, 0.0), 0.0)


def variant(
    arm, t, L, n, kind, level, a, b, loglog, lost, prior, floor, extra, doubt, leaders, largest, bias, ln_s, wide, forced,
):  # fmt: skip
    s = arm.pulls
    if forced > 0.0 and t - arm.last > forced * max(1.0, 0.01 * math.sqrt(t)):
        return math.inf
    h = arm.mean / math.sqrt(L + arm.variance)
    w = arm.lead if largest > 0.0 else noise(arm, L, prior, floor, extra, doubt, arm.lead if leaders > 0.0 else h)
    h *= 1.0 - bias / s
    if kind == IMED:
        behind = max(arm.lead - h, 0.0)
        return -(0.5 * (s - lost) * math.log1p(behind * behind / w) + ln_s * math.log(s))
    if kind >= TS:
        z = wide * normal(arm.key, 0)
        away = math.sqrt(w * math.expm1(min(z * z / (s - lost), 200.0)))
        return h + away if z > 0.0 else (h if kind == OPTIMISTIC else h - away)
    more = exploration(arm, t, n, level, a, b, loglog)
    if kind == GAUSSIAN:
        return h + math.sqrt(2.0 * more * w / s)
    return h + math.sqrt(w * math.expm1(min(2.0 * more / (s - lost), 200.0)))


def best(
    arm, t, L, n, kind, level, a, b, loglog, lost, prior, floor, extra, doubt, leaders, largest, bias, ln_s, wide, forced,
):  # fmt: skip
    """The largest estimate, or the largest W."""
    h = arm.mean / math.sqrt(L + arm.variance)
    return noise(arm, L, prior, floor, extra, doubt, h) if largest > 0.0 else h


class Variant(IndexPolicy):
    """A way to explore; see :func:`variant`."""

    title: ClassVar[str] = "variant"
    citation: ClassVar[str] = "this library"
    least_pilot: ClassVar[int] = 3
    formula = staticmethod(variant)
    score = staticmethod(best)

    L: float = 0.1
    kind: float = UCB
    level: float = OF_T
    a: float = 0.5
    b: float = 0.0
    loglog: float = 0.0
    lost: float = 2.0
    prior: float = 10.0
    floor: float = 0.25
    extra: float = 0.0
    doubt: float = 0.0
    leaders: float = 0.0
    largest: float = 0.0
    bias: float = 0.0
    ln_s: float = 1.0
    wide: float = 1.0
    forced: float = 0.0

    @property
    def objective(self):
        return sb.RSSR(self.L, signed=True)

    def argument(self, name, horizon):
        return float(horizon) if name == "n" else super().argument(name, horizon)


def variants():
    """Their names and numbers."""
    yield "SF-UCB (c = 0.5)", {}
    for c in (0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 1.0, 1.5):
        yield f"c = {c:g}", {"a": c}
    for lost in (0, 1, 3):
        yield f"s − {lost} degrees of freedom" if lost else "s degrees of freedom", {"lost": lost}
    yield "s degrees of freedom, c = 0.6", {"lost": 0, "a": 0.6}
    yield "normal width, sqrt(2 c ln N W/s)", {"kind": GAUSSIAN}
    for c, k in ((0.3, 3), (0.4, 1), (0.4, 2), (0.5, 1)):
        yield f"c (ln N + {k} ln ln N), c = {c:g}", {"a": c, "loglog": k}
    for c in (0.5, 0.8, 1.0, 1.2, 1.5):
        yield f"c ln(N/s), c = {c:g}", {"a": 0, "b": c}
    for c in (0.3, 0.5, 0.6, 0.8, 1.0):
        yield f"c ln(n/s), horizon n known, c = {c:g}", {"a": 0, "b": -c}
    for c in (0.5, 0.8, 1.0):
        yield f"c ln((n − N)/s), c = {c:g}", {"a": 0, "b": c, "level": OF_LEFT}
    for a, b in ((0.1, 0.6), (0.2, 0.5), (0.3, 0.3), (0.3, 0.5), (0.4, 0.2)):
        yield f"{a:g} ln N + {b:g} ln((n − N)/s)", {"a": a, "b": b, "level": OF_LEFT}
    yield "0.2 ln N + 0.5 ln((n − N)/s), s degrees of freedom", {"a": 0.2, "b": 0.5, "level": OF_LEFT, "lost": 0}
    for c in (0.6, 0.8, 1.0):
        yield f"Lai's boundary for the rounds left, c = {c:g}", {"a": c, "level": LAI}
    yield "Student's quantile at 1/N (Bayes-UCB)", {"level": QUANTILE}
    yield "Student's quantile at 1/(N ln N)", {"level": QUANTILE, "loglog": 1}
    for extra in (4, 8, 16):
        yield f"W (1 + {extra}/s), c = 0.4", {"a": 0.4, "extra": extra}
    for doubt in (1, 2, 4):
        yield f"W (1 + {doubt} kurtosis/s), c = 0.4", {"a": 0.4, "doubt": doubt}
    for prior in (0.01, 3, 30):
        yield f"W shrunk by {prior:g} pulls, not 10", {"prior": prior}
    yield "W as for normal rewards", {"prior": 1e12}
    for floor in (0, 0.5, 1):
        yield f"W at least {floor:g} of the normal one, not 0.25", {"floor": floor}
    yield "W at the leader's value", {"leaders": 1}
    yield "the largest W of any arm", {"largest": 1}
    yield "estimates less their bias", {"bias": 0.75}
    for k in (0.5, 0.8, 1.0, 1.2):
        yield f"IMED with {k:g} ln s" + (" (SF-IMED)" if k == 1 else ""), {"kind": IMED, "ln_s": k}
    yield "IMED, s degrees of freedom", {"kind": IMED, "lost": 0}
    for wide in (0.8, 1.0, 1.2):
        yield f"sampled, {wide:g} times as wide" + (" (SF-TS)" if wide == 1 else ""), {"kind": TS, "wide": wide}
    for wide in (0.8, 1.0, 1.2):
        yield f"sampled, optimistic, {wide:g} times as wide", {"kind": OPTIMISTIC, "wide": wide}
    for every, c in ((95, 0.2), (1_000, 0.3)):
        yield f"forced: every arm once in {every:,} rounds, c = {c:g}", {"forced": every, "a": c}


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


def other(number: int, seed: int = SEED + 1) -> tuple[sb.Bandit, float]:
    """The same for returns, heavy tails and Bernoulli arms; all arms of a bandit are of one kind."""
    rng = np.random.default_rng([seed, number])
    draw = [
        lambda: sb.Normal((sd := rng.uniform(0.005, 0.02)) * rng.uniform(-0.05, 0.25), variance=sd**2),
        lambda: scipy.stats.t(5, loc=rng.uniform(0.0, 0.6), scale=rng.uniform(0.5, 1.5)),
        lambda: scipy.stats.lognorm(rng.uniform(0.3, 0.8), scale=rng.uniform(0.5, 2.0)),
        lambda: sb.Bernoulli(rng.uniform(0.1, 0.9)),
    ][number % 4]
    bandit = sb.Bandit([draw() for _ in range(int(rng.integers(2, 9)))])
    return bandit, float(bandit.variances.min()) / 10


def measured(draw, runs: int, chosen=None) -> dict[str, tuple[float, float, np.ndarray]]:
    """Of every variant: regret beside SF-UCB's (geometric mean over bandits), its error, and the shares locked in."""
    regrets, locked = {}, {}
    for number in range(BANDITS):
        bandit, L = draw(number)
        objective = sb.RSSR(L, signed=True)
        for name, numbers in variants():
            if chosen is None or name in chosen:
                policy = Variant(L=L, name=name, **numbers)
                study = sb.simulate(policy, bandit, horizon=HORIZON, runs=runs, seed=SEED + number, workers=1)
                result = study[name]
                regrets.setdefault(name, []).append(result.regret_per_run(objective) + 1e-9)
                shares = [result.locked_in(objective, share=share).mean for share in (0.01, 0.1, 0.5)]
                locked.setdefault(name, []).append(shares)
    table = {}
    for name, of_bandits in regrets.items():
        logs, errors = [], []
        for mine, theirs in zip(of_bandits, next(iter(regrets.values())), strict=True):
            apart = mine / mine.mean() - theirs / theirs.mean()  # paired: both saw the same rewards
            logs.append(math.log(mine.mean() / theirs.mean()))
            errors.append(apart.std(ddof=1) / math.sqrt(runs))
        mean = math.exp(np.mean(logs))
        table[name] = mean, mean * math.sqrt(sum(e * e for e in errors)) / BANDITS, np.mean(locked[name], axis=0)
    return table


if __name__ == "__main__":
    first, second = measured(drawn, RUNS), measured(other, RUNS)
    print("| variant | regret, first twenty | locked in at 1%, 10%, 50% | regret, other twenty | at 1%, 10%, 50% |")
    print("|---|---:|---:|---:|---:|")
    for name in first:
        cells = []
        for mean, error, shares in (first[name], second[name]):
            cells += [f"{mean:.3f} ± {error:.3f}", ", ".join(f"{share:.1%}" for share in shares)]
        print(f"| {name} | {' | '.join(cells)} |")
