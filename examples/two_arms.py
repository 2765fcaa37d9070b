"""UCB-RSSR against U-UCB on two uniform arms: a table, and a figure of their regret.

Run with: python examples/two_arms.py [folder for the figure]
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt

import sharpe_bandits as sb

bandit = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)])
study = sb.simulate(
    [sb.UCBRSSR(L=0.5), sb.UUCB(epsilon0=0.5)],
    bandit,
    horizon=10_000,
    runs=10_000,
    seed=1,
)

objective = sb.RSSR(L=0.5)
print(f"{'policy':<10} {'regret':>18} {'sub-optimal plays':>22}")
for name in study:
    regret = study[name].regret(objective).final
    plays = study[name].suboptimal_plays(objective).final
    print(f"{name:<10} {regret.mean:>10.1f} ± {regret.se:<5.1f} {plays.mean:>14.0f} ± {plays.se:<5.0f}")
difference = study.compare("UCB-RSSR", "U-UCB", objective).final
print(f"UCB-RSSR minus U-UCB: {difference.mean:.1f}, 95% interval [{difference.low:.1f}, {difference.high:.1f}]")

figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for name, colour in zip(study, ("#0072B2", "#D55E00"), strict=True):
    curve = study[name].regret(objective)
    ax.plot(curve.t, curve.mean, color=colour, label=name)
    ax.fill_between(curve.t, curve.low, curve.high, color=colour, alpha=0.2, linewidth=0)
ax.set(xscale="log", xlim=(10, 10_000), ylim=(0, None), xlabel="rounds t", ylabel="regret R(t)")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
path = Path(sys.argv[1] if len(sys.argv) > 1 else "out") / "two_arms.png"
path.parent.mkdir(parents=True, exist_ok=True)
figure.savefig(path, dpi=150)
print(f"figure: {path}")
