"""Rounds until LUCB and TopTwo are sure, beside the information lower bound for the functional.

No rule that errs with probability delta at most, on every bandit near this one, stops before T ln(1 / (2.4 delta))
rounds on average (Garivier & Kaufmann, 2016), where 1/T is the largest, over shares w of the arms, of the least of
(h_1 - h_i)^2 / (2 (W_1/w_1 + W_i/w_i)): to first order, by the true W.

Run with: python examples/stopping_times.py [runs]
"""

import math
import sys

import numpy as np
from scipy.optimize import minimize

import sharpe_bandits as sb

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
DELTA = 0.05
BANDITS = {
    "U[0.5, 13.5], U[3, 13.5]": (sb.Bandit([sb.Uniform(0.5, 13.5), sb.Uniform(3, 13.5)]), 1.0),
    "Bernoulli 0.6, 0.5, 0.4": (sb.Bandit([sb.Bernoulli(p) for p in (0.6, 0.5, 0.4)]), 0.1),
    "normal: means 1, 0.9, 0.2, variances 4, 0.2, 1": (
        sb.Bandit([sb.Normal(1.0, variance=4.0), sb.Normal(0.9, variance=0.2), sb.Normal(0.2, variance=1.0)]), 0.1,
    ),
    "ten normal arms, means 0.5 and nine times 0.3": (sb.Bandit([sb.Normal(0.5, variance=1)] + [sb.Normal(0.3, variance=1)] * 9), 0.1),
    "twenty Bernoulli arms, 0.6 and 19 times 0.4": (sb.Bandit([sb.Bernoulli(0.6)] + [sb.Bernoulli(0.4)] * 19), 0.1),
}  # fmt: skip


def moments(bandit: sb.Bandit, name: str) -> np.ndarray:
    return np.array([getattr(arm, f"{name}_moment") for arm in bandit.arms])


def true_values(bandit: sb.Bandit, L: float) -> tuple[np.ndarray, np.ndarray]:
    """h and W of every arm."""
    third, fourth = moments(bandit, "third"), moments(bandit, "fourth")
    true = sb.objectives.Statistics(mean=bandit.means, variance=bandit.variances, third=third, fourth=fourth)
    return sb.RSSR(L, signed=True).estimate(true)


def least_rounds(bandit: sb.Bandit, L: float) -> float:
    """T ln(1 / (2.4 delta))."""
    h, w = true_values(bandit, L)
    best = int(np.argmax(h))
    others = [i for i in range(bandit.K) if i != best]

    def slowest(logits: np.ndarray) -> float:
        share = np.exp(logits - logits.max())
        share /= share.sum()
        rates = [(h[best] - h[i]) ** 2 / (2 * (w[best] / share[best] + w[i] / share[i])) for i in others]
        return -math.log(min(rates))

    starts = [np.zeros(bandit.K), np.where(np.arange(bandit.K) == best, 1.0, 0.0)]
    options = {"maxiter": 40_000, "maxfev": 40_000, "xatol": 1e-7, "fatol": 1e-9}
    found = min(minimize(slowest, start, method="Nelder-Mead", options=options).fun for start in starts)
    return math.exp(found) * math.log(1 / (2.4 * DELTA))


def factors(bandit: sb.Bandit, L: float, pulls: np.ndarray, ratio: float) -> list[float]:
    """What the ratio of TopTwo's rounds to the lower bound is made of, at its mean pulls."""
    h, w = true_values(bandit, L)
    best, rival = np.argsort(-h)[:2]
    pair, m = [best, rival], 32.0
    s, noise, kurtosis = pulls[pair], w[pair], (moments(bandit, "fourth") / bandit.variances**2)[pair]
    odds = math.log((bandit.K - 1) / DELTA)
    uniform = odds + 0.5 * np.log(1 + s / m).sum() - 2 * math.log(1.8)
    inflated = (noise / s * (1 + m / s) * (1 + 4 * kurtosis / s)).sum() / (noise / s).sum()
    found = [odds / math.log(1 / (2.4 * DELTA)), uniform / odds, inflated]
    return [*found, ratio / math.prod(found)]


if __name__ == "__main__":
    made_of = []
    print("| bandit | lower bound | LUCB | TopTwo | wrong: LUCB | TopTwo |\n|---|---:|---:|---:|---:|---:|")
    for name, (bandit, L) in BANDITS.items():
        study = sb.identify(
            [sb.policies.LUCB(L=L), sb.TopTwo(L=L)], bandit, runs=RUNS, seed=1, max_budget=200_000, workers=1
        )
        times = [study[policy].stopping_time() for policy in ("LUCB", "TopTwo")]
        wrong = [study[policy].error().mean for policy in ("LUCB", "TopTwo")]
        words = [f"{t.mean:,.0f} ± {t.se:.0f}" for t in times] + [f"{w:.4f}" for w in wrong]
        least = least_rounds(bandit, L)
        print(f"| {name} | {least:,.0f} | {' | '.join(words)} |", flush=True)
        ratio = times[1].mean / least
        parts = [ratio, *factors(bandit, L, study["TopTwo"].final.mean(axis=0), ratio)]
        made_of.append(f"| {name} | {' | '.join(f'{part:.2f}' for part in parts)} |")
    print("\n| TopTwo | rounds / lower bound | = ln((K−1)/δ) | × any time | × few pulls | × rest |")
    print("|---|---:|---:|---:|---:|---:|", *made_of, sep="\n")
