"""Policies that forget, against plain-Python twins that keep every reward with its age."""

import json
import math

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.kernels.statistics import higher_moments
from tests.damage import with_checksum

L, C = 0.3, 0.5
TABLE = np.random.default_rng(5).gamma(2.0, 1.0, (500, 3)) - np.array([1.9, 1.8, 1.7])
#: The third column turns bad half way.
TABLE[250:, 2] -= 0.8


def moments(weights, x):
    """Mean, variance (unbiased as if the weight were a number of rewards), third and fourth moment under weights."""
    total = math.fsum(weights)
    mean = math.fsum(w * v for w, v in zip(weights, x, strict=True)) / total
    second, third, fourth = (
        math.fsum(w * (v - mean) ** k for w, v in zip(weights, x, strict=True)) / total for k in (2, 3, 4)
    )
    return total, mean, second * total / (total - 1), third, fourth


def index(weights, x, rounds):
    """The index of SF-UCB, from its docstring."""
    s, mean, v, third, fourth = moments(weights, x)
    d = L + v
    third *= s / (s + 10)
    fourth = s / (s + 10) * fourth + 10 / (s + 10) * 3 * v * v
    w = v / d - mean * third / d**2 + mean**2 * (fourth - v * v) / (4 * d**3)
    w = max(w, (v / d + mean**2 * v * v / (2 * d**3)) / 4)
    return mean / math.sqrt(d) + math.sqrt(w * math.expm1(2 * C * math.log(rounds) / (s - 2)))


def twin(horizon, weigh, rounds_of, full=False):
    """Choices, if the weight of a reward of ``age`` rounds is ``weigh(age)``."""
    seen = [[] for _ in range(3)]  # (round, reward)
    choices = []
    for t in range(horizon):
        weights = [[weigh(t - 1 - u) for u, _ in arm] for arm in seen]
        kept = [
            [(w, x) for w, (_, x) in zip(ws, arm, strict=True) if w > 0] for ws, arm in zip(weights, seen, strict=True)
        ]
        totals = [math.fsum(w for w, _ in arm) for arm in kept]
        if t < (3 if full else 9):
            choice = t % 3
        elif min(totals) < 3 - 1e-9:
            choice = totals.index(min(totals))
        else:
            rounds = rounds_of(t, totals)
            indices = [index([w for w, _ in arm], [x for _, x in arm], rounds) for arm in kept]
            choice = indices.index(max(indices))
        choices.append(choice)
        for arm in range(3):
            if full or arm == choice:
                seen[arm].append((t, TABLE[t, arm]))
    return choices


def window_twin(horizon, window, full=False):
    return twin(horizon, lambda age: 1.0 if age < window else 0.0, lambda t, totals: min(t, window), full)


def discount_twin(horizon, gamma, full=False):
    return twin(horizon, lambda age: gamma**age, lambda t, totals: math.fsum(totals), full)


CASES = [
    (sb.SlidingWindowUCB(L=L, window=40), lambda full=False: window_twin(500, 40, full)),
    (sb.SlidingWindowUCB(L=L, window=137), lambda full=False: window_twin(500, 137, full)),
    (sb.DiscountedUCB(L=L, discount=0.97), lambda full=False: discount_twin(500, 0.97, full)),
]
IDS = ["window 40", "window 137", "discount"]


@pytest.mark.parametrize(("policy", "expected"), CASES, ids=IDS)
@pytest.mark.parametrize("full", [False, True], ids=["bandit", "full"])
def test_the_same_choices_as_the_twin(policy, expected, full):
    tape = sb.Tape(TABLE.T, clock="rounds")
    trace = sb.trace(policy, tape, horizon=500, feedback="full" if full else "bandit")
    assert trace.choices.tolist() == expected(full)
    assert len(set(trace.choices[20:].tolist())) == 3


@pytest.mark.parametrize(("policy", "expected"), CASES, ids=IDS)
def test_an_agent_forgets_alike_and_survives_json(policy, expected):
    agent = policy.agent(arms=["a", "b", "c"])
    for t, arm in enumerate(expected()):
        assert agent.ask() == "abc"[arm]
        agent.tell("abc"[arm], TABLE[t, arm])
        if t in (0, 5, 39, 40, 41, 200):
            agent = sb.Agent.from_json(agent.to_json())
    trace = sb.trace(policy, sb.Tape(TABLE.T, clock="rounds"), horizon=500)
    assert agent.recommend() == "abc"[trace.recommended]


def test_a_window_as_long_as_the_game_forgets_nothing():
    tape = sb.Tape(TABLE.T, clock="rounds")
    plain = sb.trace(sb.ScaleFreeUCB(L=L), tape, horizon=500)
    windowed = sb.trace(sb.SlidingWindowUCB(L=L, window=500), tape, horizon=500)
    assert (plain.choices == windowed.choices).all()


@pytest.mark.parametrize("policy", [sb.SlidingWindowUCB, sb.DiscountedUCB])
@pytest.mark.parametrize("scale", [2.0**-10, 2.0**7])
def test_choices_do_not_depend_on_the_scale(policy, scale):
    small = sb.trace(policy(L=L), sb.Tape(TABLE.T, clock="rounds"), horizon=500)
    large = sb.trace(policy(L=L * scale**2), sb.Tape(scale * TABLE.T, clock="rounds"), horizon=500)
    assert (small.choices == large.choices).all()


def test_forgetting_pays_where_arms_switch_and_costs_where_they_do_not():
    good, bad = sb.Normal(0.5, 1.0), sb.Normal(0.0, 1.0)
    still = sb.Bandit([good, bad, bad])
    switching = sb.SwitchingBandit([[good, bad, bad], [bad, good, bad], [bad, bad, good]], after=[2000, 4000])
    policies = [sb.ScaleFreeUCB(L=0.1), sb.SlidingWindowUCB(L=0.1, window=600), sb.DiscountedUCB(L=0.1, discount=0.998)]
    objective = sb.RSSR(L=0.1, signed=True)
    study = sb.simulate(policies, switching, horizon=6000, runs=64, seed=1)
    for name in ("SW-SF-UCB", "D-SF-UCB"):
        assert study.compare(name, "SF-UCB", objective).final.high < 0
    study = sb.simulate(policies, still, horizon=6000, runs=64, seed=1)
    for name in ("SW-SF-UCB", "D-SF-UCB"):
        assert study.compare(name, "SF-UCB", objective).final.low > 0


@pytest.mark.parametrize("policy", [sb.SlidingWindowUCB(L=1, window=200), sb.DiscountedUCB(L=1, discount=0.98)])
def test_a_level_that_moves_far_does_not_break_the_moments(policy):
    """Rewards jump by a million after a third of the game; what is remembered later must know its unit variance."""
    rng = np.random.default_rng(1)
    table = rng.normal(0.0, 1.0, (6000, 2))
    table[2000:] += 1e6
    agent = policy.agent(arms=2)
    last = {0: [], 1: []}
    for t, row in enumerate(table):
        arm = t % 2
        agent.tell(arm, row[arm])
        last[arm].append(row[arm])
    for arm in (0, 1):
        mean, variance = agent.estimates()[arm]
        assert mean == pytest.approx(1e6, abs=0.5)
        assert 0.5 < variance < 1.8
        weight, *sums = agent._memory[:, arm]
        _, fourth = higher_moments(*sums, 1 / weight)
        assert 1.0 < fourth < 8.0  # 3 for a normal distribution; about an anchor a million away it would be noise
    trace = sb.trace(policy, sb.Tape(table.T, clock="rounds"), horizon=6000)
    live = policy.agent(arms=2)
    for t, arm in enumerate(trace.choices):
        assert live.ask() == arm
        live.tell(int(arm), table[t, arm])


def test_bad_input():
    with pytest.raises(sb.InvalidInputError, match="window must be a whole number from 6 to 1000000, got 5"):
        sb.SlidingWindowUCB(L=1, window=5)
    with pytest.raises(sb.InvalidInputError, match=r"window must be .* 1000000, got 10000000000"):
        sb.SlidingWindowUCB(L=1, window=10**10)
    with pytest.raises(sb.InvalidInputError, match="discount"):
        sb.DiscountedUCB(L=1, discount=1.0)
    with pytest.raises(sb.InvalidInputError, match="remembers 20 rounds, too few for 4 arms, which need 24; lengthen"):
        sb.SlidingWindowUCB(L=1, window=20).agent(arms=4)
    with pytest.raises(sb.InvalidInputError, match="remembers 10 rounds, too few for 2 arms, which need 12; raise"):
        sb.simulate(sb.DiscountedUCB(L=1, discount=0.9), [sb.Normal(0, 1)] * 2, horizon=100, runs=1)


@pytest.mark.parametrize(
    "damage",
    [
        lambda state: state["ring"].pop(),
        lambda state: state["ring"][0].__setitem__(0, 40),
        lambda state: state["ring"][0].__setitem__(1, 3),
        lambda state: state["memory"].pop(),
        lambda state: state.pop("memory"),
    ],
)
def test_a_damaged_memory_is_refused(damage):
    agent = sb.SlidingWindowUCB(L=L, window=40).agent(arms=3)
    for t in range(60):
        arm = agent.ask()
        agent.tell(arm, TABLE[t, arm])
    state = json.loads(agent.to_json())
    damage(state)
    with pytest.raises(sb.UnreadableDataError):
        sb.Agent.from_json(with_checksum(state))
