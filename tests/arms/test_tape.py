"""Recorded rewards: the same in every run, and an error where they run out."""

import numpy as np
import pytest

import sharpe_bandits as sb
from tests.clocks import TABLE


def test_a_tape_keeps_its_own_rewards():
    rewards = np.array([[1.0, 2.0, 3.0, 4.0], [2.0, 2.0, 2.0, 2.0]])
    tape = sb.Tape(rewards)
    rewards[:] = 0.0
    assert sb.trace(sb.policies.RoundRobin(), tape, horizon=4).rewards.tolist() == [1.0, 2.0, 2.0, 2.0]


def test_a_tape_pays_the_same_in_every_run():
    tape = sb.Tape(np.random.default_rng(0).normal(size=(3, 40)))
    study = sb.simulate(sb.policies.UCB1(), tape, horizon=40, runs=5, workers=1)
    assert (study["UCB1"].final == study["UCB1"].final[0]).all()


@pytest.mark.parametrize(
    "policy", [sb.policies.UCB1(), sb.UCBVV(), sb.policies.RoundRobin(), sb.policies.MTS(), sb.SHSR(L=1.0)]
)
def test_a_tape_that_is_too_short_is_an_error(policy):
    tape = sb.Tape(np.linspace(1, 2, 30).reshape(2, 15))
    with pytest.raises(
        sb.errors.InvalidInputError, match=r"pulled arm \d more often than the tape has rewards for it \(15\).*shorten"
    ):
        sb.trace(policy, tape, horizon=200)


def test_a_tape_that_is_just_long_enough_is_none():
    """The kernels draw ahead of need, past the end of a short tape; that must not show."""
    tape = sb.Tape(np.concatenate([np.full((1, 17), 5.0), np.full((1, 17), 3.5)]) + 0.25)
    for kernel in ("reference", "side by side"):
        trace = sb.trace(sb.policies.UCB1(), tape, horizon=19, kernel=kernel)
        assert np.isfinite(trace.rewards).all()
        assert np.bincount(trace.choices).tolist() == [17, 2]
    assert sb.trace(sb.policies.RoundRobin(), tape, horizon=34).choices.tolist() == [0, 1] * 17


def test_a_table_that_is_too_short_is_refused():
    with pytest.raises(sb.errors.InvalidInputError, match="the tape has 300 rounds, fewer than the horizon of 301"):
        sb.simulate(sb.policies.UCB1(), sb.Tape(TABLE.T, clock="rounds"), horizon=301, runs=2)
