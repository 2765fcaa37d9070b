"""States of agents: one that is read continues exactly, and what no agent could have saved is refused."""

import json
import math
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sharpe_bandits as sb
import sharpe_bandits.agents.index
from sharpe_bandits.agents.state import FORMAT
from sharpe_bandits.kernels import statistics
from sharpe_bandits.policies.base import Policy
from tests.agents.played import POLICIES, REWARDS, step
from tests.damage import with_checksum
from tests.data.agents.make import follow


@given(
    policy=st.sampled_from(POLICIES),
    cuts=st.lists(st.integers(0, 79), max_size=4),
    seed=st.integers(0, 2**64 - 1),
)
def test_a_state_continues_exactly(policy, cuts, seed):
    """Through JSON and back at any points: the same questions to the end, and the same recommendation."""
    plain = policy.agent(arms=4, horizon=80, seed=seed)
    moved = policy.agent(arms=4, horizon=80, seed=seed)
    while not plain.done:
        for _ in range(cuts.count(plain.t)):
            text = moved.to_json()
            moved = sb.Agent.from_json(text)
            assert moved.to_json() == text
        assert step(plain) == step(moved)
    assert moved.done
    assert plain.recommend() == moved.recommend()
    assert plain.to_json() == moved.to_json()
    assert sb.Agent.from_json(moved.to_json()).done


@given(
    policy=st.sampled_from([sb.UCBRSSR(L=0.8), sb.SHSR(L=0.5)]),
    rewards=st.lists(st.floats(-1e75, 1e75) | st.integers(-(2**70), 2**70), min_size=1, max_size=30),
)
def test_any_finite_rewards_survive_the_trip(policy, rewards):
    agent = policy.agent(arms=["a", "b"], horizon=40)
    for reward in rewards:
        agent.tell(agent.ask(), reward)
    again = sb.Agent.from_json(agent.to_json())
    assert again.to_json() == agent.to_json()
    assert again.pulls == agent.pulls
    assert json.dumps(again.estimates()) == json.dumps(agent.estimates())


DAMAGES = {
    "not JSON": lambda s: "{" + json.dumps(s),
    "cut short": lambda s: json.dumps(s)[:-20],
    "a list": lambda s: json.dumps([s]),
    "foreign": lambda s: json.dumps({"weights": [1, 2]}),
    "other kind": lambda s: with_checksum({**s, "kind": "someone's agent"}),
    "newer format": lambda s: with_checksum({**s, "format": 99}),
    "no policy": lambda s: with_checksum({k: v for k, v in s.items() if k != "policy"}),
    "unknown policy": lambda s: with_checksum({**s, "policy": {**s["policy"], "policy": "UCBRSR"}}),
    "unknown parameter": lambda s: with_checksum({**s, "policy": {**s["policy"], "M": 1.0}}),
    "bad parameter": lambda s: with_checksum({**s, "policy": {**s["policy"], "L": -1.0}}),
    "one arm": lambda s: with_checksum({**s, "arms": 1}),
    "more arms": lambda s: with_checksum({**s, "arms": 5}),
    "negative rounds": lambda s: with_checksum({**s, "t": -1}),
    "other rounds": lambda s: with_checksum({**s, "t": s["t"] + 1}),
    "half a pull": lambda s: with_checksum({**s, "record": {**s["record"], "pulls": [2.5, 3.5, 3.0]}}),
    "negative pulls": lambda s: with_checksum({**s, "record": {**s["record"], "pulls": [-1.0, 5.0, 5.0]}}),
    "NaN": lambda s: with_checksum({**s, "record": {**s["record"], "sum1": [math.nan, 0.0, 0.0]}}),
    "text": lambda s: with_checksum({**s, "record": {**s["record"], "sum1": ["x", 0.0, 0.0]}}),
    "missing column": lambda s: with_checksum({**s, "record": {k: v for k, v in s["record"].items() if k != "sum2"}}),
    "short column": lambda s: with_checksum({**s, "record": {**s["record"], "sum2": [0.0]}}),
    "negative squares": lambda s: with_checksum({**s, "record": {**s["record"], "sum2": [-1.0, 0.0, 0.0]}}),
    "record of nothing": lambda s: with_checksum({**s, "record": None}),
    "past the horizon": lambda s: with_checksum({**s, "horizon": 6}),
}


def a_state(policy):
    agent = policy.agent(arms=3, horizon=30)
    for _ in range(9):
        step(agent)
    return json.loads(agent.to_json())


@pytest.mark.parametrize("policy", [sb.UCBRSSR(L=0.8), sb.SHSR(L=0.5)], ids=lambda policy: policy.name)
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_and_foreign_states_are_refused(policy, damage):
    state = a_state(policy)
    assert sb.Agent.from_json(json.dumps(state)).t == 9
    with pytest.raises(sb.UnreadableDataError) as caught:
        sb.Agent.from_json(DAMAGES[damage](state))
    assert len(str(caught.value)) > 20
    assert isinstance(caught.value, sb.SharpeBanditsError)


PHASE_DAMAGES = {
    "phase beyond the last": {"phase": 9},
    "other phase": {"phase": 1},
    "nobody alive": {"alive": []},
    "unknown arm alive": {"alive": [0, 1, 7]},
    "an arm twice": {"alive": [0, 0, 1]},
    "nothing due": {"due": [0, 0, 0]},
    "too much due": {"due": [9, 9, 9]},
    "negative due": {"due": [-1, 2, 2]},
    "due to too few": {"due": [2, 2]},
    "no sums": {"current": {}},
    "sums of nothing": {"current": {"count": [1, 1, 1], "sum1": [0, 0, None], "sum2": [0, 0, 0]}},
}


@pytest.mark.parametrize("damage", PHASE_DAMAGES)
def test_damaged_phases_are_refused(damage):
    state = a_state(sb.SHSR(L=0.5))
    with pytest.raises(sb.UnreadableDataError):
        sb.Agent.from_json(with_checksum({**state, **PHASE_DAMAGES[damage]}))


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


WINDOW_DAMAGES = {
    "another reward in the window": lambda s: s["ring"][3].__setitem__(2, s["ring"][3][2] + 0.5),
    "another arm in the window": lambda s: s["ring"][3].__setitem__(1, (s["ring"][3][1] + 1) % 3),
    "another slot": lambda s: s["ring"][3].__setitem__(0, s["ring"][4][0]),
    "another weight": lambda s: s["memory"][0].__setitem__(0, s["memory"][0][0] + 1),
    "other squares": lambda s: s["memory"][2].__setitem__(1, 1.01 * s["memory"][2][1]),
    "a NaN in the window": lambda s: s["ring"][3].__setitem__(2, None),
    "a reward beyond all": lambda s: s["ring"][3].__setitem__(2, 1e300),
    "one fewer": lambda s: s["ring"].pop(),
}


@pytest.mark.parametrize("damage", WINDOW_DAMAGES)
def test_windows_that_do_not_add_up_are_refused(damage):
    agent = sb.SlidingWindowUCB(L=0.8, window=20).agent(arms=3)
    for _ in range(50):
        step(agent)
    state = json.loads(agent.to_json())
    assert len(sb.Agent.from_json(with_checksum(state)).pulls) == 3
    WINDOW_DAMAGES[damage](state)
    with pytest.raises(sb.UnreadableDataError):
        sb.Agent.from_json(with_checksum(state))


@pytest.mark.parametrize(("row", "factor"), [(0, 1.01), (0, 0.98), (2, 0.5), (4, 0.0), (1, 50.0)])
def test_discounted_sums_that_cannot_be_are_refused(row, factor):
    agent = sb.DiscountedUCB(L=0.8, discount=0.95).agent(arms=3)
    for _ in range(50):
        step(agent)
    state = json.loads(agent.to_json())
    state["memory"][row][1] *= factor
    with pytest.raises(sb.UnreadableDataError):
        sb.Agent.from_json(with_checksum(state))


def test_first_rewards_that_do_not_add_up_are_refused():
    agent = sb.ScaleFreeDirichlet(L=0.8).agent(arms=2)
    for t in range(150):
        agent.tell(t % 2, REWARDS[t % 2, t // 2])
    late = json.loads(agent.to_json())
    assert len(late["firsts"][0]) == 64
    for state, row, place, value in (
        (a_state(sb.ScaleFreeDirichlet(L=0.8)), 0, 1, 0.123),
        (a_state(sb.ScaleFreeDirichlet(L=0.8)), 1, 0, 0.5),  # the first reward is its own anchor
        (late, 0, 5, 100.0),
    ):
        state["firsts"][row][place] = value
        with pytest.raises(sb.UnreadableDataError, match="first rewards do not fit its sums"):
            sb.Agent.from_json(with_checksum(state))


def test_phases_that_could_not_have_been_are_refused():
    """Four arms, two phases of 15 and 30 pulls per arm: in the second phase two arms have 15 pulls, two have more."""
    agent = sb.SHSR(L=0.5).agent(arms=4, horizon=120)
    for _ in range(75):
        step(agent)
    state = json.loads(agent.to_json())
    assert state["phase"] == 1
    alive, gone = state["alive"], [i for i in range(4) if i not in state["alive"]]
    for key, value in (
        ("alive", gone),
        ("phase", 0),
        ("phase", 2),
        ("accepted", [gone[0]]),
        ("current", {**state["current"], "count": [1.0] * 4}),
        ("current", {**state["current"], "sum1": [x + 5 for x in state["current"]["sum1"]]}),
        ("current", {**state["current"], "sum2": [100 * x for x in state["current"]["sum2"]]}),
        ("due", [d + (i == alive[0]) - (i == alive[1]) for i, d in enumerate(state["due"])]),
    ):
        with pytest.raises(sb.UnreadableDataError):
            sb.Agent.from_json(with_checksum({**state, key: value}))


HOSTILE = {
    "deep": "[" * 100_000,
    "deep and closed": "[" * 5000 + "]" * 5000,
    "deep inside": '{"kind": "sharpe-bandits agent", "format": 5, "x": ' + "[" * 900 + "]" * 900 + "}",
    "beyond the largest number": '{"kind": "sharpe-bandits agent", "format": 5, "t": 1e400}',
    "NaN": '{"kind": "sharpe-bandits agent", "format": 5, "t": NaN}',
    "Infinity": '{"kind": "sharpe-bandits agent", "format": 5, "t": -Infinity}',
    "a long whole number": '{"kind": "sharpe-bandits agent", "format": 5, "t": 1' + "0" * 4000 + "}",
    "a longer whole number": '{"kind": "sharpe-bandits agent", "format": 5, "t": 1' + "0" * 9000 + "}",
    "a key twice": '{"kind": "sharpe-bandits agent", "kind": "sharpe-bandits agent", "format": 5}',
    "empty": "",
    "null": "null",
    "bytes that are not text": b"\xff\xfe\x00",
    "no text at all": 7,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_refused_quickly(text):
    began = time.perf_counter()
    with pytest.raises(sb.UnreadableDataError) as caught:
        sb.Agent.from_json(text)
    assert time.perf_counter() - began < 2
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("policy", [*POLICIES, sb.VarianceAwareHalving(sb.RSSR(L=0.5)), sb.GRAUCB(), sb.LUCB(L=0.5)])
@pytest.mark.parametrize(
    "change",
    [
        {"arms": 10**6},
        {"arms": 10**12},
        {"horizon": 10**12, "t": 5},
        {"horizon": 10**18},
        {"seed": 2**64},
        {"t": 10**14},
    ],
    ids=str,
)
def test_absurd_sizes_are_refused_quickly(policy, change):
    """No sooner is room made than there are rewards to fill it."""
    state = json.loads(policy.agent(arms=3, horizon=200).to_json())
    began = time.perf_counter()
    with pytest.raises(sb.UnreadableDataError):
        sb.Agent.from_json(with_checksum({**state, **change}))
    assert time.perf_counter() - began < 2


STORED = sorted((Path(__file__).parents[1] / "data" / "agents").glob("format-*/*.json"))


@pytest.mark.parametrize("path", STORED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_states_of_every_format_are_read_and_continue_as_they_did(path):
    """States saved by earlier versions of the library, with what those versions then asked for."""
    stored = json.loads(path.read_text())
    agent = sb.Agent.from_json(json.dumps(stored["state"]))
    assert follow(path.stem, agent) == stored["then"]
    assert json.loads(agent.to_json())["format"] == FORMAT


def test_every_format_and_every_policy_is_stored():
    formats = {int(path.parent.name.removeprefix("format-")) for path in STORED}
    assert formats == set(range(3, FORMAT + 1))
    for version in formats:
        kinds = {
            json.loads(path.read_text())["state"]["policy"]["policy"]
            for path in STORED
            if path.parent.name == f"format-{version}"
        }
        renamed = {"UniformPlay": "RoundRobin"}
        library = {name for name, kind in Policy.kinds.items() if kind.__module__.startswith("sharpe_bandits.")}
        stored = {renamed.get(kind, kind) for kind in kinds}
        assert stored <= library
        assert stored == library or version < FORMAT  # policies that came later have no states of earlier formats


def test_other_formats_are_explained():
    state = a_state(sb.UCBRSSR(L=0.8))
    for version, said in ((99, "saved by a newer version"), (2, "reads 3 to 5"), ("5", "reads 3 to 5"), (None, "None")):
        with pytest.raises(sb.UnreadableDataError, match=said):
            sb.Agent.from_json(with_checksum({**state, "format": version}))


@pytest.mark.parametrize("firsts", [[], [[1.0]] * 3, [[1.0] * 9] * 2, [[None] * 3] * 3, None])
def test_damaged_first_rewards_are_refused(firsts):
    state = a_state(sb.ScaleFreeDirichlet(L=0.8))
    assert [len(row) for row in state["firsts"]] == [3, 3, 3]
    with pytest.raises(sb.UnreadableDataError):
        sb.Agent.from_json(with_checksum({**state, "firsts": firsts}))


def test_messages_about_states_say_what_is_wrong():
    state = a_state(sb.UCBRSSR(L=0.8))
    with pytest.raises(sb.UnreadableDataError, match=f"format 99, this version reads up to {FORMAT}.*upgrade"):
        sb.Agent.from_json(json.dumps({**state, "format": 99}))
    with pytest.raises(sb.UnreadableDataError, match="'UCBRSR': did you mean 'UCBRSSR'"):
        sb.Agent.from_json(with_checksum({**state, "policy": {**state["policy"], "policy": "UCBRSR"}}))
    with pytest.raises(sb.UnreadableDataError, match="9 pulls in 10 rounds"):
        sb.Agent.from_json(with_checksum({**state, "t": 10, "asked": 10}))


def test_a_state_without_pulls_is_a_state():
    agent = sb.ModifiedMVTS(L=0.8, form="authors").agent(arms=2)  # its largest reward so far is minus infinity
    again = sb.Agent.from_json(agent.to_json())
    assert again.to_json() == agent.to_json()
    assert again.ask() == 0


@pytest.mark.parametrize("column", ["sum1", "anchor", "last", "maximum"])
def test_a_state_in_which_a_number_was_changed_is_refused(column):
    agent = sb.UCBRSSR(L=1).agent(arms=2)
    for reward in (0.5, 1.25, 0.75, 2.5):
        agent.tell(agent.ask(), reward)
    state = json.loads(agent.to_json())
    asked = agent.ask()
    assert sb.Agent.from_json(json.dumps(state, sort_keys=True)).ask() == asked
    assert sb.Agent.from_json(json.dumps(state).replace(".0,", ",").replace(".0]", "]")).ask() == asked
    state["record"][column][0] += 0.25
    with pytest.raises(sb.UnreadableDataError, match="was changed after it was saved"):
        sb.Agent.from_json(json.dumps(state))


def take_total(kept, i, at, k, pulls, x, d):
    kept[i, at, k] += x


def total(kept, i, at, k, pulls, anchor, mean, variance, third, fourth, key):
    return kept[i, at, k], 0.0


@sb.index_policy(name="Least paid")
def least_paid(arm, t):
    return -arm.third


def test_a_new_statistic_is_saved_without_further_ado(monkeypatch):
    """Another statistic takes the place of the third moment: its numbers are in the state, and are restored."""
    new = statistics.Statistic(("third", "fourth"), total, cells=1, take=take_total)
    declared = tuple(new if s.fields == new.fields else s for s in statistics.STATISTICS)
    monkeypatch.setattr(statistics, "STATISTICS", declared)
    monkeypatch.setattr(sharpe_bandits.agents.index, "STATISTICS", declared)
    agent = least_paid().agent(arms=2)
    for reward in (1.0, 2.0, 4.0, 1.0):  # the pilot
        agent.tell(agent.ask(), reward)
    state = json.loads(agent.to_json())
    assert state["third"] == [[5.0], [3.0]]
    again = sb.Agent.from_json(agent.to_json())
    assert again.ask() == agent.ask() == 1
    with pytest.raises(sb.UnreadableDataError, match="its third does not fit its arms"):
        sb.Agent.from_json(with_checksum({**state, "third": [[5.0]]}))
