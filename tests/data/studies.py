"""Save studies of all kinds, with the numbers that they give: ``python -m tests.data.studies``.

Run once for each new format of studies, by the version of the library that brings it; the files stay as they are. They
are read by tests/results/test_saved.py.
"""

import json
from pathlib import Path

import sharpe_bandits as sb
from sharpe_bandits.results.saved import FORMAT

ARMS = [sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8), sb.arms.Gamma(2.0, 1.0)]
BERNOULLI = [[sb.Bernoulli(0.2), sb.Bernoulli(0.8)], [sb.Bernoulli(0.8), sb.Bernoulli(0.2)]]


def studies():
    """By name: several policies, two arms recommended, arms that switch, late rewards, fixed confidence."""
    policies = [sb.UCBRSSR(L=2.0), sb.policies.MVTS(), sb.SHSR(L=2.0)]
    return {
        "plain": sb.simulate(policies, ARMS, horizon=60, runs=12, seed=7, checkpoints=[10, 30]),
        "two-best": sb.simulate(sb.policies.SuccessiveAcceptsRejects(sb.RSSR(L=2.0), m=2), ARMS, horizon=60, runs=5),
        "switching": sb.simulate(sb.ScaleFreeUCB(L=0.1), sb.SwitchingBandit(BERNOULLI, [20]), horizon=40, runs=6),
        "late": sb.simulate(sb.policies.UCB1(), ARMS, horizon=60, runs=6, delay=3, checkpoints=[10]),
        "fixed-confidence": sb.identify(sb.policies.LUCB(L=0.1), ARMS[::2], runs=8, max_budget=3000),
    }


def numbers(result):
    """What a result of a study gives, exactly."""
    objective = sb.RSSR(L=0.5)
    error = result.error(objective)
    found = {
        "error": [error.mean, error.low, error.high],
        "final": result.final.sum(axis=0).tolist(),
        "recommended": result.recommended.tolist(),
    }
    if isinstance(result, sb.results.StoppingResult):
        return found
    curve = result.regret(objective)
    return {"regret": curve.mean.tolist(), "se": curve.se.tolist(), **found}


if __name__ == "__main__":
    folder = Path(__file__).parent / f"study-format-{FORMAT}"
    found = studies()
    for name, study in found.items():
        study.save(folder / name)
    expected = {name: {policy: numbers(result) for policy, result in study.items()} for name, study in found.items()}
    (folder / "expected.json").write_text(json.dumps(expected) + "\n")
