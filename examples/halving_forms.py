"""Forms of sequential halving on the paper's panels B1 to B6, under both profiles: the probability of error of each.

Run with: python examples/halving_forms.py [runs]
"""

import sys

import sharpe_bandits as sb
from sharpe_bandits.paper.panels import panels

runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000

print(f"Probability of error, {runs:,} runs. Last column: variance-aware minus samples kept, ± standard error.\n")
print("| panel | profile | K | n | SuRSR | SHSR | SHSR, samples kept | variance-aware | difference |")
print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
for panel in panels(["B1", "B2", "B3", "B4", "B5", "B6"]):
    for case in panel.cases:
        L = case.names["L"]
        kept = sb.SHSR(L, keep_samples=True, name="samples kept")
        aware = sb.policies.VarianceAwareHalving(sb.RSSR(L), name="variance-aware")
        study = sb.simulate(
            [sb.SuRSR(L), sb.SHSR(L), kept, aware],
            case.environment,
            horizon=case.horizon,
            runs=runs,
            seed=1,
            checkpoints=[case.horizon],
        )
        errors = [f"{study[name].error().mean:.4f}" for name in study]
        better = study.compare_errors("variance-aware", "samples kept")
        cells = [panel.id, panel.profile, case.environment.K, f"{case.horizon:,}", *errors]
        print(f"| {' | '.join(map(str, cells))} | {better.mean:+.4f} ± {better.se:.4f} |", flush=True)

print("\nWhat a small budget gains by spending all of it: K = 6, n = 70, 100,000 runs\n")
print("| six normal arms of variance 1 | as published | spend_all=True | difference |\n|---|--:|--:|--:|")
for means in ([1.0, 0.8, 0.8, 0.8, 0.8, 0.8], [1.0, 0.9, 0.8, 0.7, 0.6, 0.5], [1.0, 0.5, 0.5, 0.5, 0.5, 0.5]):
    every = [sb.SHSR(0.1), sb.SHSR(0.1, spend_all=True, name="all")]
    study = sb.simulate(
        every, sb.Bandit([sb.Normal(mean, variance=1.0) for mean in means]), horizon=70, runs=100_000, seed=1
    )
    apart = study.compare_errors("all", "SHSR")
    words = f"means {', '.join(f'{mean:g}' for mean in means)}"
    errors = " | ".join(f"{study[name].error().mean:.4f}" for name in study)
    print(f"| {words} | {errors} | {apart.mean:+.4f} ± {apart.se:.4f} |", flush=True)
