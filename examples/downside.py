"""What a policy costs that maximises another objective than yours: four strategies that two moments hardly tell apart.

Run with: python examples/downside.py [runs] [rounds]

Regret of SF-UCB for each objective beside SF-UCB for the Sharpe ratio and round robin, all judged by that objective,
with standard errors.
"""

import sys

import sharpe_bandits as sb
from sharpe_bandits.objectives import CVaR, LogGrowth, Omega

RUNS, ROUNDS = (int(sys.argv[k]) if len(sys.argv) > k else default for k, default in ((1, 1000), (2, 5000)))

#: Returns per round.
ARMS = {
    "sells crash insurance": sb.Empirical([0.6] * 92 + [-2.5] * 8),
    "index": sb.Normal(0.2, sd=0.8),
    "bonds": sb.Normal(0.06, sd=0.25),
    "buys crash insurance": sb.Empirical([-0.2] * 84 + [1.8] * 16),
}
BANDIT = sb.Bandit(list(ARMS.values()), list(ARMS))
SHARPE = sb.Sharpe(L=0.01)
OBJECTIVES = [SHARPE, sb.Sortino(L=0.01), Omega(L=0.01), CVaR(alpha=0.1), LogGrowth(fraction=0.35)]


def main() -> None:
    policies = [sb.ScaleFreeUCB(objective=objective, name=type(objective).__name__) for objective in OBJECTIVES]
    study = sb.simulate(
        [*policies, sb.policies.RoundRobin(name="round robin")],
        BANDIT,
        horizon=ROUNDS,
        runs=RUNS,
        seed=33,
        progress=False,
    )
    print("| judged by | best arm | SF-UCB for it | SF-UCB for Sharpe | round robin |")
    print("|---|---|---:|---:|---:|")
    for objective in OBJECTIVES:
        own = type(objective).__name__
        best = BANDIT.names[int(BANDIT.true_values(objective, 0, 1)[0].argmax())]
        finals = [study[name].regret(objective).final for name in (own, "Sharpe", "round robin")]
        print(f"| {own} | {best} |", " | ".join(f"{final.mean:,.1f} ± {final.se:.1f}" for final in finals), "|")


if __name__ == "__main__":
    main()
