"""A plain-Python twin of policies that forget, which keeps every reward with its age."""

import math

import numpy as np

import sharpe_bandits as sb

L, C = 0.3, 0.5
TURNING = np.random.default_rng(5).gamma(2.0, 1.0, (500, 3)) - np.array([1.9, 1.8, 1.7])
#: The third column turns bad half way.
TURNING[250:, 2] -= 0.8


def moments(weights, x):
    """Mean, variance (unbiased as if the weight were a number of rewards), third and fourth moment under weights."""
    total = math.fsum(weights)
    mean = math.fsum(w * v for w, v in zip(weights, x, strict=True)) / total
    second, third, fourth = (
        math.fsum(w * (v - mean) ** k for w, v in zip(weights, x, strict=True)) / total for k in (2, 3, 4)
    )
    return total, mean, second * total / (total - 1), third, fourth


def index(weights, x, rounds):
    """The index of SF-UCB, from its docstring."""
    s, mean, v, third, fourth = moments(weights, x)
    d = L + v
    third *= s / (s + 10)
    fourth = s / (s + 10) * fourth + 10 / (s + 10) * 3 * v * v
    w = v / d - mean * third / d**2 + mean**2 * (fourth - v * v) / (4 * d**3)
    w = max(w, (v / d + mean**2 * v * v / (2 * d**3)) / 4)
    return mean / math.sqrt(d) + math.sqrt(w * math.expm1(2 * C * math.log(rounds) / (s - 2)))


def index_for(objective):
    """The index of SF-UCB for an objective of a feature, whose spread is shrunk towards that of normal rewards."""

    def feature_index(weights, x, rounds):
        s, mean, v, *_ = moments(weights, x)
        x, weights = np.array(x), np.array(weights)
        y = objective.features(x)  # a discount is not combined with CVaR, whose features depend on the sample
        feature = (weights * y).sum() / s
        h, by_mean, by_feature, scale = objective.root(mean, feature, *objective.arguments())
        covariance, spread = objective.spread_if_normal(mean, v, *objective.arguments())
        normal = by_mean**2 * v + 2 * by_mean * by_feature * covariance + by_feature**2 * spread
        share = s / (s + 10)
        covariance = share * (weights * (x - mean) * (y - feature)).sum() / s + (1 - share) * covariance
        spread = share * (weights * (y - feature) ** 2).sum() / s + (1 - share) * spread
        w = by_mean**2 * v + 2 * by_mean * by_feature * covariance + by_feature**2 * spread
        return h + math.sqrt(max(w, normal / 4) / scale * math.expm1(2 * C * math.log(rounds) / (s - 2)))

    return feature_index


def twin(horizon, weigh, rounds_of, full=False, index=index):
    """Choices, if the weight of a reward of ``age`` rounds is ``weigh(age)``."""
    seen = [[] for _ in range(3)]  # (round, reward)
    choices = []
    for t in range(horizon):
        weights = [[weigh(t - 1 - u) for u, _ in arm] for arm in seen]
        kept = [
            [(w, x) for w, (_, x) in zip(ws, arm, strict=True) if w > 0] for ws, arm in zip(weights, seen, strict=True)
        ]
        totals = [math.fsum(w for w, _ in arm) for arm in kept]
        if t < (3 if full else 9):
            choice = t % 3
        elif min(totals) < 3 - 1e-9:
            choice = totals.index(min(totals))
        else:
            rounds = rounds_of(t, totals)
            indices = [index([w for w, _ in arm], [x for _, x in arm], rounds) for arm in kept]
            choice = indices.index(max(indices))
        choices.append(choice)
        for arm in range(3):
            if full or arm == choice:
                seen[arm].append((t, TURNING[t, arm]))
    return choices


def window_twin(horizon, window, full=False, index=index):
    return twin(horizon, lambda age: 1.0 if age < window else 0.0, lambda t, totals: min(t, window), full, index)


def discount_twin(horizon, gamma, full=False, index=index):
    return twin(horizon, lambda age: gamma**age, lambda t, totals: math.fsum(totals), full, index)


def case(policy, forgetful_twin, memory):
    """A policy with an objective of more than mean and variance, and its twin."""
    index = index_for(policy.objective)
    return policy, lambda full=False: forgetful_twin(500, memory, full, index)


SORTINO, CVAR = sb.Sortino(L=L, target=0.1), sb.objectives.CVaR(alpha=0.2)


CASES = [
    (sb.policies.SlidingWindowUCB(L=L, window=40), lambda full=False: window_twin(500, 40, full)),
    (sb.policies.SlidingWindowUCB(L=L, window=137), lambda full=False: window_twin(500, 137, full)),
    (sb.policies.DiscountedUCB(L=L, discount=0.97), lambda full=False: discount_twin(500, 0.97, full)),
    case(sb.policies.SlidingWindowUCB(objective=SORTINO, window=137), window_twin, 137),
    case(sb.policies.DiscountedUCB(objective=SORTINO, discount=0.97), discount_twin, 0.97),
    case(sb.policies.SlidingWindowUCB(objective=CVAR, window=80), window_twin, 80),
]
IDS = ["window 40", "window 137", "discount", "Sortino, window", "Sortino, discount", "CVaR, window"]
