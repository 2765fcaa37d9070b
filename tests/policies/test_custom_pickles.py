"""A user's policy travels: from a script or a notebook into another process, and only as what it was."""

import copy
import inspect
import json
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import sharpe_bandits as sb

SCALE = 2.0
REWARDS = np.random.default_rng(2).uniform([0.0, 1.0, 0.4], [3.0, 2.0, 2.9], (100, 3)).round(6)


def helper(x):
    return SCALE * x


@sb.index_policy(name="test: travels")
def travels(arm, t, L, table):
    return helper(arm.mean) / (L + arm.variance) + table[0]


def play(policy, rewards):
    """What a live agent asks for: the formula is compiled sooner for that than for a simulation."""
    agent, asked = policy.agent(arms=3), []
    for row in rewards:
        asked.append(agent.ask())
        agent.tell(asked[-1], float(row[asked[-1]]))
    return asked


def choices(policy):
    return play(policy, REWARDS)


def test_a_policy_comes_back_as_it_was():
    policy = travels(L=0.5, table=[0.25], name="mine")
    for again in (pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy)):
        assert again.name == "mine"
        assert again.factory is travels  # defined here, and the same
        assert again.to_dict()["fingerprint"] == policy.to_dict()["fingerprint"]
        assert choices(again) == choices(policy)


def run(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *arguments], capture_output=True, text=True, check=False,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_policy_of_a_script_travels_into_another_process(tmp_path):
    """Its source is in neither process's files; its constant, helper and closure come along."""
    path = tmp_path / "policy.pickle"
    run(
        """
        import pickle, sys
        import sharpe_bandits as sb

        SCALE = 3.0

        def helper(x):
            return SCALE * x

        def make(shift):
            @sb.index_policy(name="typed in")
            def typed(arm, t, L):
                return helper(arm.mean) / (L + arm.variance) + shift
            return typed

        pickle.dump(make(0.125)(L=0.5), open(sys.argv[1], "wb"))
        """,
        str(path),
    )
    played = "import json, pickle, sys\nprint(play(pickle.load(open(sys.argv[1], 'rb')), json.loads(sys.argv[2])))"
    printed = run(f"{inspect.getsource(play)}\n{played}", str(path), json.dumps(REWARDS.tolist()))

    @sb.index_policy(name="test: the same said directly")
    def direct(arm, t, L):
        return 3.0 * arm.mean / (L + arm.variance) + 0.125

    assert printed.strip() == str(choices(direct(L=0.5)))


def test_two_of_one_name_are_never_mixed_up():
    def of_sign(sign):
        @sb.index_policy(name="test: one name")
        def signed(arm, t):
            return sign * arm.mean

        return signed()

    plus, minus = of_sign(1.0), of_sign(-1.0)
    before = {id(p): choices(p) for p in (plus, minus)}
    assert before[id(plus)] != before[id(minus)]
    for policy in (plus, minus):
        assert choices(pickle.loads(pickle.dumps(policy))) == before[id(policy)]


def test_a_helper_that_is_another_one_there_is_noticed(tmp_path, monkeypatch):
    """Helpers of importable modules are not sent; where they differ, the policy is refused."""
    (tmp_path / "their_helpers.py").write_text("def scale(x):\n    return 2.0 * x\n")
    monkeypatch.syspath_prepend(tmp_path)
    import their_helpers

    @sb.index_policy(name="test: their helper")
    def index(arm, t):
        return their_helpers.scale(arm.mean)

    content = pickle.dumps(index())
    assert pickle.loads(content).name == "test: their helper"
    monkeypatch.setattr(their_helpers, "scale", lambda x: -2.0 * x)
    with pytest.raises(sb.InvalidInputError, match="'test: their helper', or a value that it reads, is not what it"):
        pickle.loads(content)


def test_a_table_stays_read_only():
    again = pickle.loads(pickle.dumps(travels(L=0.5, table=[0.25])))
    with pytest.raises(ValueError, match="read-only"):
        again.argument("table", 10)[0] = np.nan
