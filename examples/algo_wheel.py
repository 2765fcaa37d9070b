"""An algo wheel that is handed over in steps: traders decide, then a tenth of orders, half of them, all of them.

``python examples/algo_wheel.py 16`` prints, for so many simulated campaigns, what each stage costs or gains against the
desk's usual algorithm, and what the campaign itself reports of it.
"""

import os
import sys
import tempfile

import numpy as np

import sharpe_bandits as sb

#: Mean cost and standard deviation of an order, in basis points; the desk uses IS, and now and then another one.
TRUE = {"VWAP": (4.0, 9.0), "TWAP": (4.6, 8.0), "IS": (3.6, 14.0), "POV": (5.5, 25.0)}
CONTROL, AVERSION = "IS", 1.0
TRADERS = {"IS": 0.7, "VWAP": 0.1, "TWAP": 0.1, "POV": 0.1}
#: Orders and the policy's share at each stage.
STAGES = {"shadow": (500, 0.0), "10%": (1000, 0.1), "50%": (1000, 0.5), "live": (2500, 1.0)}


def run(store, name, seed):
    """Gain per order against control at each stage, the policy's part of it, and the lift that the campaign reports;
    and of shadow mode the mean cost of the policy's choices, as the campaign estimates it, as it is, and the traders'.
    """
    generator = np.random.default_rng(seed)
    campaign = store.campaign(
        name, policy=sb.ScaleFreeUCB(objective=sb.MeanRisk(AVERSION)), arms=list(TRUE), direction="min",
        mode="shadow", control=CONTROL, seed=seed,
        guardrails=[{"kind": "mean", "limit": 12.0, "arm": "*", "action": "suspend"}],
    )  # fmt: skip
    value = {arm: mean + AVERSION * deviation for arm, (mean, deviation) in TRUE.items()}
    rows = {}
    for stage, (orders, share) in STAGES.items():
        if share:
            campaign.set(mode="live", share=share, why=f"stage {stage}")
        gains, own, choices = [], [], []
        for _ in range(orders):
            if share:
                decision = campaign.ask()
                campaign.tell(decision, generator.normal(*TRUE[decision.arm]))
            else:
                arm = str(generator.choice(list(TRADERS), p=list(TRADERS.values())))
                decision = campaign.record(arm, generator.normal(*TRUE[arm]), propensity=TRADERS[arm])
                choices.append(TRUE[decision.choice][0])
            gains.append(value[CONTROL] - value[decision.arm])
            if decision.by == "policy":
                own.append(gains[-1])
        status = campaign.status()
        lift = status.lift.value_difference if status.lift else np.nan
        rows[stage] = np.mean(gains), np.mean(own) if own else np.nan, lift
        if choices:
            shadow = status.shadow.policy, np.mean(choices), status.shadow.others
    assert campaign.verify().ok
    return rows, shadow


def main(campaigns):
    folder = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=folder) as path, sb.Store(f"{path}/wheel.db", synchronous="NORMAL") as store:
        pairs = [run(store, f"wheel {seed}", seed) for seed in range(campaigns)]
    runs = [rows for rows, _ in pairs]
    print("| stage | orders | gain per order against control, bp | of the policy's orders | lift reported |")
    print("|---|---:|---:|---:|---:|")
    for stage, (orders, _) in STAGES.items():
        cells = np.array([rows[stage] for rows in runs])
        pairs_of = zip(cells.mean(axis=0), _errors(cells), strict=True)
        words = ["" if np.isnan(m) else f"{m:.2f} ± {e:.2f}" for m, e in pairs_of]
        print(f"| {stage} | {orders:,} | {' | '.join(words)} |")
    shadow = np.array([one for _, one in pairs])
    words = [f"{m:.2f} ± {e:.2f}" for m, e in zip(shadow.mean(axis=0), _errors(shadow), strict=True)]
    print("In shadow mode, mean cost of the policy's choices: estimated {}, true {}; of the traders' {}".format(*words))


def _errors(cells):
    return cells.std(axis=0, ddof=1) / np.sqrt(len(cells))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4)
