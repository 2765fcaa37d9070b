"""Arms that change: a detector that starts SF-UCB anew, beside a window and a discount.

Regret against the arm that is best at the time, in signed RSSR, and the alarms of the detector. In "a rival rises" only
an arm that is not played changes. The detector is played alone, and with every tenth or twentieth round given to the
arms in turn, so that those that are not played are seen. Run with: python examples/change.py [runs]
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
    "five arms, the best one falls": (0.5, 3_000, [[(1, 1), (0.7, 1), (0.5, 0.8), (0.3, 0.5), (0.2, 1)], [(0.2, 1), (0.7, 1), (0.5, 0.8), (0.3, 0.5), (0.2, 1)]]),
    "five arms, another one rises": (0.5, 3_000, [[(1, 1), (0.7, 1), (0.5, 0.8), (0.3, 0.5), (0.2, 1)], [(1, 1), (0.7, 1), (0.5, 0.8), (0.3, 0.5), (1.6, 1)]]),
}  # fmt: skip


def detected(L: float, length: int, segments: list, run: int, every: int) -> tuple[np.ndarray, int]:
    """How often every arm was played in every segment, and the alarms; ``every``: rounds from one that is given to the
    arms in turn to the next, 0: none is.
    """
    random, detector, alarms = np.random.default_rng([41, run]), ChangeDetector(), 0
    arms = len(segments[0])
    agent, plays = sb.ScaleFreeUCB(L=L).agent(arms=arms), np.zeros((len(segments), arms))
    for place, segment in enumerate(segments):
        rewards = random.normal(*np.array(segment, float).T, size=(length, arms))
        for t, row in enumerate(rewards):
            arm = t // every % arms if every and t % every == 0 else agent.ask()
            plays[place, arm] += 1
            agent.tell(arm, row[arm])
            if detector.add(arm, row[arm]):
                agent, alarms = sb.ScaleFreeUCB(L=L).agent(arms=arms), alarms + 1
    return plays, alarms


print("| arms | SF-UCB | window 800 | discount 0.998 | detector | and 5% in turn | and 10% in turn | alarms per run |")
print("|---|---:|---:|---:|---:|---:|---:|---:|")
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
    digits = 0 if cells[0].mean > 20 else 1
    words = [f"{cell.mean:,.{digits}f} ± {cell.se:,.{digits}f}" for cell in cells]
    alarms = []
    for every in (0, 20, 10):
        games = [detected(L, length, segments, run, every) for run in range(RUNS)]
        regrets = np.array([(plays * gaps).sum() for plays, _ in games])
        words.append(f"{regrets.mean():,.{digits}f} ± {regrets.std(ddof=1) / RUNS**0.5:,.{digits}f}")
        alarms.append(f"{np.mean([count for _, count in games]):.2f}")
    print(f"| {name} | {' | '.join(words)} | {', '.join(alarms)} |", flush=True)
