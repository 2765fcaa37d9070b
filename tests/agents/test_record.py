"""The record of an arm: what no rewards could have led to is refused, and whatever they lead to is accepted."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sharpe_bandits as sb
import sharpe_bandits.agents.index
from tests.agents.played import POLICIES, a_state
from tests.damage import with_checksum

#: What rewards cannot lead to, in the state of three arms with three pulls each: column, arm and number.
IMPOSSIBLE_NUMBERS = {
    "a variance below 0": ("sum2", 0, lambda v, r: r["sum1"][0] ** 2 / 3 * 0.999),
    "a fourth power below the square": ("sum4", 1, lambda v, r: 0.3 * r["sum2"][1] ** 2),
    "a fourth power below 0": ("sum4", 1, lambda v, r: -1.0),
    "a third power beyond the others": ("sum3", 2, lambda v, r: 2 * math.sqrt(r["sum2"][2] * r["sum4"][2])),
    "a maximum below the mean": ("maximum", 0, lambda v, r: r["anchor"][0] + r["sum1"][0] / 3 - 0.01),
    "a maximum beyond the squares": ("maximum", 0, lambda v, r: r["anchor"][0] + 1.1 * math.sqrt(r["sum2"][0])),
    "no maximum": ("maximum", 0, lambda v, r: None),
    "a last round to come": ("last", 2, lambda v, r: 10.0),
    "a last round shared": ("last", 2, lambda v, r: r["last"][1]),
    "a last round too early for its pulls": ("last", 1, lambda v, r: 2.0),
    "half a round": ("last", 1, lambda v, r: 7.5),
    "an anchor that no first reward has": ("anchor", 1, lambda v, r: 3.0),
    "truth for a number": ("sum1", 1, lambda v, r: True),
    "text for a number": ("sum1", 1, lambda v, r: str(v)),
    "a number in a list": ("sum1", 1, lambda v, r: [v]),
}


@pytest.mark.parametrize("case", IMPOSSIBLE_NUMBERS)
def test_states_that_no_rewards_lead_to_are_refused(case):
    column, arm, number = IMPOSSIBLE_NUMBERS[case]
    state = a_state(sb.UCBRSSR(L=0.8))
    record = state["record"]
    assert sb.Agent.from_json(with_checksum(state)).t == 9
    record[column][arm] = number(record[column][arm], record)
    with pytest.raises(sb.UnreadableDataError):
        sb.Agent.from_json(with_checksum(state))


@pytest.mark.parametrize("column", ["sum1", "sum2", "sum3", "sum4", "anchor", "last", "maximum"])
def test_an_arm_that_was_never_played_has_no_record(column):
    agent = sb.UCB1().agent(arms=3)
    agent.tell(0, 0.5)
    state = json.loads(agent.to_json())
    state["record"][column][2] = 0.25
    with pytest.raises(sb.UnreadableDataError, match="never played"):
        sb.Agent.from_json(with_checksum(state))


@pytest.mark.parametrize("column", ["sum1", "sum2", "sum3", "sum4", "maximum"])
def test_the_record_of_a_single_reward_is_known(column):
    agent = sb.UCB1().agent(arms=2)
    agent.tell(0, 3.0)  # anchor 0: the sums are 3, 9, 27, 81
    state = json.loads(agent.to_json())
    assert [state["record"][f"sum{k}"][0] for k in (1, 2, 3, 4)] == [3, 9, 27, 81]
    state["record"][column][0] *= 1 + 1e-9
    with pytest.raises(sb.UnreadableDataError):
        sb.Agent.from_json(with_checksum(state))


@given(
    rewards=st.lists(
        st.floats(-1e75, 1e75) | st.floats(-1e-60, 1e-60) | st.integers(-5, 5) | st.floats(1e6, 1e6 + 1e-3),
        min_size=1,
        max_size=40,
    ),
    policy=st.sampled_from([*POLICIES, sb.SlidingWindowUCB(L=0.8, window=12), sb.DiscountedUCB(L=0.8, discount=0.93)]),
)
def test_whatever_rewards_were_told_the_state_is_accepted(rewards, policy):
    """The checks of a state allow for all that rounding does, tiny and huge numbers included."""
    agent = policy.agent(arms=2, horizon=40)
    for j, reward in enumerate(rewards):
        arm = (
            min(agent.pulls, key=agent.pulls.get) if j % 3 else agent.arms[0]
        )  # no ask: NaN indices do not matter here
        try:
            agent.tell(arm, reward)
        except sb.SharpeBanditsError:
            continue
        assert sb.Agent.from_json(agent.to_json()).to_json() == agent.to_json()
