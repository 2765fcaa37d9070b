"""Daily budgets among four channels whose conversions come up to two weeks late.

Run with: python examples/channels.py
"""

import random
import tempfile
from pathlib import Path

import sharpe_bandits as sb

# Profit per budget of 100: mean and standard deviation, made up. Video is the best on average and the riskiest by far.
CHANNELS = {"search": (12, 25), "social": (9, 30), "mail": (7, 10), "video": (14, 80)}
BUDGETS, DAYS, LATE = 5, 365, 14
policy = sb.ScaleFreeTS(objective=sb.Sharpe(L=1))

print(f"Share of {BUDGETS * DAYS:,} budgets per channel, average of 1,000 simulated years:")
arms = [sb.Normal(mean, sd=sd) for mean, sd in CHANNELS.values()]
for words, delay in (("at once", 0), ("up to two weeks late", sb.Uniform(0, BUDGETS * LATE))):
    study = sb.simulate(policy, arms, horizon=BUDGETS * DAYS, runs=1_000, seed=1, delay=delay)
    shares = study["SF-TS"].final.mean(axis=0) / (BUDGETS * DAYS)
    print(f"  profits {words}: " + ", ".join(f"{c} {s:.0%}" for c, s in zip(CHANNELS, shares, strict=True)))

with tempfile.TemporaryDirectory() as folder:
    store = sb.Store(Path(folder) / "channels.db")
    campaign = store.campaign("channels", policy=policy, arms=list(CHANNELS), lease="30 days", seed=1)
    generator, waiting = random.Random(1), []
    for day in range(60):
        waiting += [(day + generator.randint(0, LATE), decision) for decision in campaign.ask(count=BUDGETS)]
        arrived = {decision: generator.gauss(*CHANNELS[decision.arm]) for due, decision in waiting if due <= day}
        campaign.tell_many(arrived)
        waiting = [(due, decision) for due, decision in waiting if due > day]
    status = campaign.status()
    print(f"The campaign after 60 days: {status.rewards} profits recorded, {status.pending} to come.")
    print("  " + ", ".join(f"{arm.arm} {arm.pulls + arm.pending}" for arm in status.arms))
    leader = status.leader
    print(
        f"  {leader.arm} leads {leader.rival}" + ("." if leader.probably_best else ", not yet separated: keep going.")
    )
    store.close()
