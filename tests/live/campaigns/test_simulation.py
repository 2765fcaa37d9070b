"""Simulations know shares, control arms and bounds: choice for choice what a campaign does."""

from itertools import cycle

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.simulation.spec import Spec, run_chunk

BANDIT = sb.Bandit([sb.Normal(0.2, sd=1), sb.Normal(0.0, sd=1), sb.Normal(0.5, sd=1)])
POLICY, SEED = sb.ScaleFreeUCB(L=0.1), 5


@pytest.mark.parametrize(
    ("rules", "fields"),
    [
        ({"control": 1, "share": 0.3}, {"control": 1, "share": 0.3}),
        ({"bounds": {2: (0.1, 0.5), 1: (0.05, 0.4)}}, {"bounds": ((1, 0.05, 0.4), (2, 0.1, 0.5))}),
        (
            {"control": 0, "share": 0.6, "bounds": {2: (0.0, 0.2)}},
            {"control": 0, "share": 0.6, "bounds": ((2, 0.0, 0.2),)},
        ),
        ({"suspended": [2]}, {"among": ((0, 1),)}),
        ({}, {"among": ((0, 1), (1, 2), (0, 1, 2))}),
    ],
)
def test_a_campaign_makes_the_choices_of_a_simulation(rules, fields, file_store):
    spec = Spec(POLICY, BANDIT, 300, 1, SEED, (300,), **fields)
    chunk = run_chunk(spec, range(1), trace=True)
    campaign = file_store.campaign("c", policy=POLICY, arms=3, seed=SEED, horizon=300)
    campaign.set(**rules or {"share": 1.0})
    turns = cycle(fields["among"] if "among" in fields and not rules else (None,))
    for arm, reward, among in zip(chunk.choices[0].tolist(), chunk.rewards[0].tolist(), turns, strict=False):
        decision = campaign.ask(among=among)
        assert decision.arm == arm, decision
        campaign.tell(decision, reward)


def test_shares_of_a_simulation():
    """The control arm gets what the policy leaves it, and bounds hold on average."""
    study = sb.simulate(POLICY, BANDIT, horizon=400, runs=50, seed=1, control=1, share=0.25, progress=False)
    shares = study["SF-UCB"].pulls[..., -1, :].sum(axis=0) / (400 * 50)
    assert shares[1] == pytest.approx(0.75, abs=0.05)
    assert study.settings["rules"]["share"] == 0.25
    study = sb.simulate(POLICY, BANDIT, horizon=400, runs=50, seed=1, bounds={2: (0.0, 0.3)}, progress=False)
    shares = study["SF-UCB"].pulls[..., -1, :].sum(axis=0) / (400 * 50)
    assert shares[2] <= 0.3 + 4 * np.sqrt(0.21 / 20_000)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"share": 0.5}, "control="),
        ({"share": 2.0}, "2.0"),
        ({"control": 3, "share": 0.5}, "control"),
        ({"bounds": {0: (0.5, 0.2)}}, "low <= high"),
        ({"bounds": {0: 0.5}}, "low <= high"),
        ({"bounds": {0: ("0", "1")}}, "low <= high"),
        ({"bounds": {2: (0.5, 0.2)}, "among": [0, 1]}, "low <= high"),  # also of an arm that is not played
        ({"bounds": {0: (0, 0.2), 1: (0, 0.2), 2: (0, 0.2)}}, "add up to 1"),
        ({"among": []}, "among"),
        ({"among": [[0], []]}, "among"),
        ({"among": [[0, 1], [2]], "control": 0, "share": 0.5}, "control arm"),
        ({"among": [0], "control": 1, "share": 0.5}, "control arm"),
        ({"among": [0, 1], "feedback": "full"}, "full"),
    ],
)
def test_bad_rules(rules, words):
    with pytest.raises(sb.errors.InvalidInputError, match=words):
        sb.simulate(POLICY, BANDIT, horizon=100, runs=2, **rules)
    with pytest.raises(sb.errors.InvalidInputError, match="SHSR decides how often"):
        sb.simulate(sb.SHSR(L=0.1), BANDIT, horizon=100, runs=2, among=[0, 1])
