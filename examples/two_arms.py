"""UCB-RSSR against U-UCB on two uniform arms: a table, and a figure of their regret.

Run with: python examples/two_arms.py [folder for the figure]
"""

import sys
from pathlib import Path

import sharpe_bandits as sb

bandit = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)])
study = sb.simulate([sb.UCBRSSR(L=0.5), sb.policies.UUCB(epsilon0=0.5)], bandit, horizon=10_000, runs=10_000, seed=1)

objective = sb.RSSR(L=0.5)
print(study.summary(objective))
print(study.suboptimal_plays(objective))

path = Path(sys.argv[1] if len(sys.argv) > 1 else "out") / "two_arms.png"
path.parent.mkdir(parents=True, exist_ok=True)
study.plot(objective).savefig(path, dpi=150)
print(f"figure: {path}")
