"""Capital for one of six strategies, each seen only while it is funded: how long it takes, and what it costs.

Run with: python examples/funded_strategies.py
"""

import sharpe_bandits as sb

SHARPES = (1.2, 0.8, 0.5, 0.3, 0.0, -0.3)  # annualised, made up
problem = sb.BestArmProblem.from_sharpes(SHARPES, volatility=0.10, periods_per_year=12, tolerance=0.4)

print("Ten, twenty and fifty years of monthly decisions, successive rejects:")
plan = sb.plan(problem, budget=[120, 240, 600], runs=4_000, seed=1)
for point in plan.asked:
    if point.policy == "Successive rejects":
        print(f"  {point.budget // 12} years: more than 0.4 worse than the best in {point.error.mean:.0%} of runs")

print("Average annualised Sharpe ratio of the strategy that is funded, ten years:")
L = min(arm.variance for arm in problem.bandit.arms) / 10
policies = [sb.ScaleFreeUCB(L=L), sb.ScaleFreeTS(L=L), sb.policies.RoundRobin()]
study = sb.simulate(policies, problem.bandit, horizon=120, runs=4_000, seed=1)
for name in study.names:
    shares = study[name].final.mean(axis=0) / 120
    print(f"  {name:12} {shares @ SHARPES:.2f}")
