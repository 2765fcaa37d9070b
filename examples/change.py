"""Arms that change: a detector that starts SF-UCB anew, beside a window and a discount.

Regret against the arm that is best at the time, in signed RSSR, and the alarms of the detector. In "a rival rises" only
an arm that is not played changes. Run with: python examples/change.py [runs]
"""

import sys
import warnings

import numpy as np

import sharpe_bandits as sb
from sharpe_bandits.live.change import ChangeDetector

warnings.simplefilter("ignore", sb.errors.RewardWarning)  # an agent that has just begun may see only losses
RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 100
#: Regulariser, rounds of a segment, and mean and standard deviation of every arm in every segment.
CASES = {
    "D1: the best arm changes twice": (1.0, 2_000, [[(1, 1), (0.6, 1), (0.6, 1)], [(0.6, 1), (1, 1), (0.6, 1)], [(0.6, 1), (0.6, 1), (1, 1)]]),
    "no change": (1.0, 6_000, [[(1, 1), (0.6, 1), (0.6, 1)]]),
    "a rival rises": (1.0, 3_000, [[(1, 1), (0.6, 1), (0.6, 1)], [(1, 1), (1.6, 1), (0.6, 1)]]),
    "returns: the best one's volatility triples": (1e-5, 2_500, [[(0.0010, 0.01), (0.0004, 0.01)], [(0.0010, 0.03), (0.0004, 0.01)]]),
    "returns: the best one loses its edge": (1e-5, 2_500, [[(0.0010, 0.01), (0.0004, 0.01)], [(0.0, 0.01), (0.0004, 0.01)]]),
}  # fmt: skip


def detected(L: float, length: int, segments: list, run: int) -> tuple[np.ndarray, int]:
    """How often every arm was played in every segment, and the alarms."""
    random, detector, alarms = np.random.default_rng([41, run]), ChangeDetector(), 0
    arms = len(segments[0])
    agent, plays = sb.ScaleFreeUCB(L=L).agent(arms=arms), np.zeros((len(segments), arms))
    for place, segment in enumerate(segments):
        rewards = random.normal(*np.array(segment, float).T, size=(length, arms))
        for row in rewards:
            arm = agent.ask()
            plays[place, arm] += 1
            agent.tell(arm, row[arm])
            if detector.add(arm, row[arm]):
                agent, alarms = sb.ScaleFreeUCB(L=L).agent(arms=arms), alarms + 1
    return plays, alarms


print("| arms | SF-UCB | window 800 | discount 0.998 | SF-UCB with a detector | alarms per run |")
print("|---|---:|---:|---:|---:|---:|")
for name, (L, length, segments) in CASES.items():
    bandits = [[sb.Normal(mean, sd=sd) for mean, sd in segment] for segment in segments]
    after = [length * k for k in range(1, len(segments))]
    bandit = sb.SwitchingBandit(bandits, after=after) if after else sb.Bandit(bandits[0])
    policies = [
        sb.ScaleFreeUCB(L=L),
        sb.policies.SlidingWindowUCB(L=L, window=800),
        sb.policies.DiscountedUCB(L=L, discount=0.998),
    ]
    study = sb.simulate(policies, bandit, horizon=length * len(segments), runs=RUNS, seed=1, workers=1)
    cells = [study[policy].regret().final for policy in study.names]
    values = np.array([[mean * abs(mean) / (L + sd * sd) for mean, sd in segment] for segment in segments])
    gaps = values.max(axis=1, keepdims=True) - values
    games = [detected(L, length, segments, run) for run in range(RUNS)]
    regrets = np.array([(plays * gaps).sum() for plays, _ in games])
    digits = 0 if regrets.mean() > 20 else 1
    words = [f"{cell.mean:,.{digits}f} ± {cell.se:,.{digits}f}" for cell in cells]
    words.append(f"{regrets.mean():,.{digits}f} ± {regrets.std(ddof=1) / RUNS**0.5:,.{digits}f}")
    print(f"| {name} | {' | '.join(words)} | {np.mean([alarms for _, alarms in games]):.2f} |", flush=True)
