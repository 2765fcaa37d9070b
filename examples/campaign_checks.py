"""How often guardrails are wrong and how soon they are right; how often off-policy intervals hold the truth.

``python examples/campaign_checks.py 1000`` prints both tables, from so many campaigns per row.
"""

import sys

import numpy as np

import sharpe_bandits as sb
from sharpe_bandits.live.campaigns.evaluation import objective_value
from sharpe_bandits.live.campaigns.guardrails import Guardrail, Watch

ROUNDS = 2000
#: A guardrail is looked at after each of these numbers of rewards: more often changes little, and takes long.
LOOKS = np.unique(np.concatenate([np.arange(1, 200, 3), np.geomspace(200, ROUNDS, 120).astype(int)]))


def first_breach(kind, limit, metric, values):
    """After how many values a guardrail is broken; None if it never is."""
    watch, looks = Watch(Guardrail(kind, limit, metric)), set(LOOKS.tolist())
    for n, x in enumerate(values, 1):
        watch.observe(["A"], 0, 0.0, {metric: float(x)}, 1.0)
        if n in looks and watch.breach(0, 1, 1.0, 1.0):
            return n
    return None


def rewards(generator, mean, tails):
    """Rewards of standard deviation 1."""
    noise = generator.normal(size=ROUNDS) if tails == "normal" else generator.standard_t(5, ROUNDS) / np.sqrt(5 / 3)
    return mean + noise


def guardrails(campaigns, seed=1):
    """Rows of the table of guardrails."""
    generator = np.random.default_rng(seed)
    cases = [
        (f"mean of {tails} rewards, limit -0.5: true mean {mean}", "mean", -0.5, "reward", (mean, tails))
        for tails in ("normal", "t5")
        for mean in (-0.5, -0.7, -1.0, -1.5)
    ]
    cases += [
        (f"rate of errors, limit 5%: true rate {rate:.0%}", "rate", 0.05, "error", rate)
        for rate in (0.05, 0.08, 0.1, 0.2)
    ]
    for words, kind, limit, metric, truth in cases:
        draws = (
            rewards(generator, *truth) if kind == "mean" else generator.random(ROUNDS) < truth for _ in range(campaigns)
        )
        found = [first_breach(kind, limit, metric, values) for values in draws]
        delays = [n for n in found if n is not None]
        share = len(delays) / campaigns
        error = np.sqrt(share * (1 - share) / campaigns)
        delay = "" if share < 0.2 else f"{np.median([n or np.inf for n in found]):.0f}"
        yield words, f"{share:.1%} ± {error:.1%}", delay


def off_policy(campaigns, seed=2):
    """Rows of the table of coverage: Sharpe ratio and mean less risk of three arms, logged with exploration."""
    generator = np.random.default_rng(seed)
    means, deviations = np.array([0.3, 0.1, -0.2]), np.array([1.0, 0.5, 0.8])
    targets = {
        "uniform": np.full(3, 1 / 3),
        "second arm": np.array([0.0, 1.0, 0.0]),
        "mixture": np.array([0.7, 0.2, 0.1]),
    }
    for tails in ("normal", "t5"):
        for n in (1000, 10_000):
            for name, target in targets.items():
                mean = target @ means
                truth = sb.objectives.Statistics(mean=mean, variance=target @ (deviations**2 + means**2) - mean**2)
                for goal in (sb.Sharpe(L=0.0), sb.MeanRisk(aversion=0.5)):
                    inside = np.zeros(3)
                    value = float(goal.value(truth))
                    for _ in range(campaigns):
                        estimate, anytime, own = _logged(generator, n, means, deviations, target, tails, goal)
                        inside += [
                            estimate.low < value < estimate.high,
                            own.low < value < own.high,
                            anytime[0] < value < anytime[1],
                        ]
                    yield tails, f"{n:,}", name, type(goal).__name__, *(f"{x / campaigns:.1%}" for x in inside)


def _logged(generator, n, means, deviations, target, tails, goal):
    """Estimates from a log in which one decision in ten is a uniform draw."""
    probabilities = np.array([0.9, 0.0, 0.0]) + 0.1 / 3
    arm = generator.choice(3, n, p=probabilities)
    noise = generator.normal(size=n) if tails == "normal" else generator.standard_t(5, n) / np.sqrt(5 / 3)
    x = means[arm] + deviations[arm] * noise
    played = arm[:, None] == np.arange(3)
    before = np.maximum(np.cumsum(played, axis=0) - played, 1)
    models = [(np.cumsum(played * x[:, None] ** k, axis=0) - played * x[:, None] ** k) / before for k in (1, 2)]
    w, rows = target[arm] / probabilities[arm], np.arange(n)
    first, second = (model @ target + w * (x**k - model[rows, arm]) for k, model in zip((1, 2), models, strict=True))
    estimate, anytime = objective_value(goal, first, second, np.ones(n))
    return estimate, anytime, objective_value(goal, w * x, w * x**2, w)[0]


def main(campaigns):
    print(f"Guardrails, {campaigns} campaigns of {ROUNDS:,} rewards each\n")
    print("| guardrail | broken | median delay |\n|---|---:|---:|")
    for row in guardrails(campaigns):
        print("| " + " | ".join(row) + " |", flush=True)
    print("\nOff-policy intervals of 95% that hold the truth\n")
    print("| rewards | rounds | policy | objective | doubly robust | self-normalised | time-uniform |")
    print("|---|---:|---|---|---:|---:|---:|")
    for row in off_policy(campaigns):
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
