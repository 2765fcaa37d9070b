"""A user's own index policy: compiled, played by the right kernel, followed live, sent to other processes, and
explained when it is wrong."""

import copy
import importlib.util
import inspect
import json
import math
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.play.choose import Holding
from sharpe_bandits.play.streams import normal
from sharpe_bandits.simulation.families.index import hold
from tests import twin
from tests.catalogue import greedy_sharpe
from tests.damage import with_checksum

HORIZON = 120
TAPE = np.random.default_rng(4).gamma([[2.0], [3.0], [2.5]], [[0.6], [0.5], [0.5]], size=(3, HORIZON))


def user_module(tmp_path, source):
    """A module of the user's, imported from a file of its own."""
    path = tmp_path / "my_policies.py"
    path.write_text(textwrap.dedent(source))
    spec = importlib.util.spec_from_file_location("my_policies", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_parameters_may_be_given_in_their_order():
    @sb.index_policy(name="two numbers")
    def two(arm, t, L, c=1.0):
        return arm.mean / (L + arm.variance) + c

    assert two(0.5, 2.0) == two(L=0.5, c=2.0)
    assert two(0.5) == two(L=0.5)
    for wrong in (lambda: two(0.5, 2.0, 3.0), lambda: two(0.5, L=0.5), lambda: two("0.5")):
        with pytest.raises(sb.errors.InvalidInputError, match=r"0\.5"):
            wrong()


def test_the_four_lines_of_the_readme():
    choices, records = twin.play(lambda r, played, draws: r.mean**2 / (1.0 + r.variance), TAPE, HORIZON, 2)
    trace = sb.trace(greedy_sharpe(L=1.0), sb.Tape(TAPE), horizon=HORIZON)
    assert trace.choices.tolist() == choices
    # Without an objective of its own it recommends the arm it played most.
    assert trace.recommended == max(range(3), key=lambda i: (records[i].s, -i))


def test_a_user_can_write_ucb_rssr_and_gets_the_built_in_one():
    @sb.index_policy(name="my UCB-RSSR", objective=sb.RSSR(L=0.8))
    def mine(arm, t, L):
        d = L + arm.variance
        room = d - 3.0 * arm.epsilon
        if room <= 0.0:
            return math.inf
        width = (d + arm.second_moment + 2.0 * arm.epsilon) * arm.epsilon
        return (arm.mean * arm.mean * room + width) / (d * room)

    for bandit in (sb.Tape(TAPE), sb.Bandit([sb.Uniform(0, 3), sb.Uniform(0, 3.2), sb.Uniform(1, 2)])):
        built_in = sb.trace(sb.UCBRSSR(L=0.8), bandit, horizon=HORIZON, seed=3)
        own = sb.trace(mine(L=0.8), bandit, horizon=HORIZON, seed=3)
        np.testing.assert_array_equal(own.choices, built_in.choices)
        assert own.recommended == built_in.recommended


def test_every_field_of_the_record_is_what_it_says():
    @sb.index_policy(name="all fields")
    def fields(arm, t, table):
        late = 0.01 * arm.last + 0.001 * t
        noise = 0.1 * normal(arm.key, 0)
        return (
            arm.mean + 0.3 * arm.maximum + arm.epsilon + 0.1 * arm.second_moment + late + noise + table[int(arm.pulls)]
        )

    table = np.sin(np.arange(HORIZON + 1.0))
    last = {}

    def index(record, played, draws):
        # The rounds played when the arm's statistics last changed; not before the end of the pilot.
        if last.get(id(record), (0, 0))[0] != record.s:
            last[id(record)] = (record.s, played)
        late = 0.01 * last[id(record)][1] + 0.001 * played
        epsilon = math.sqrt(2 * math.log(played) / record.s)
        known = record.mean + 0.3 * max(record.rewards) + epsilon + 0.1 * record.second
        return known + late + 0.1 * draws.normal() + table[record.s]

    policy = fields(table=table)
    choices, _ = twin.play(index, TAPE, HORIZON, 1, seed=6)
    assert sb.trace(policy, sb.Tape(TAPE), horizon=HORIZON, seed=6).choices.tolist() == choices
    assert len(set(choices[3:])) == 3


def test_parameters_may_have_defaults_and_be_tables_or_lists():
    @sb.index_policy(name="defaults")
    def defaults(arm, t, weight, bonus=0.5):
        return weight * arm.mean + bonus / arm.pulls

    assert dict(defaults(weight=2).parameters) == {"weight": 2.0, "bonus": 0.5}
    assert dict(defaults(weight=[1, 2]).parameters)["weight"].tolist() == [1.0, 2.0]


def test_a_live_agent_with_a_table_survives_json():
    @sb.index_policy(name="by table")
    def by_table(arm, t, table):
        return arm.mean + table[int(arm.pulls)]

    agent = by_table(table=np.linspace(3, 0, HORIZON + 1)).agent(arms=3, horizon=HORIZON)
    for pull in range(30):
        if pull == 11:
            agent = sb.Agent.from_json(agent.to_json())
        arm = agent.ask()
        agent.tell(arm, TAPE[arm, agent.pulls[arm]])
    expected, _ = twin.play(lambda r, played, draws: r.mean + np.linspace(3, 0, HORIZON + 1)[r.s], TAPE, 30, 1)
    assert list(agent.pulls.values()) == np.bincount(expected, minlength=3).tolist()


def test_a_function_that_does_not_compile_shows_the_users_line(tmp_path):
    module = user_module(
        tmp_path,
        """
        import sharpe_bandits as sb

        @sb.index_policy(name="broken")
        def broken(arm, t, L):
            scaled = arm.mean / L
            return scaled + arm.median
        """,
    )
    with pytest.raises(sb.errors.CompilationError) as caught:
        sb.trace(module.broken(L=1.0), sb.Tape(TAPE), horizon=HORIZON)
    message = str(caught.value)
    assert "broken" in message
    assert "return scaled + arm.median" in message
    assert "my_policies.py, line 7" in message
    assert "median" in message.splitlines()[0]
    assert "fields of arm" in message  # the remedy
    with pytest.raises(sb.errors.CompilationError, match=r"arm\.median"):
        module.broken(L=1.0).agent(arms=2)


def test_an_error_in_a_helper_shows_a_line_of_the_users(tmp_path):
    module = user_module(
        tmp_path,
        """
        import sharpe_bandits as sb

        def helper(x):
            return open(str(x))

        @sb.index_policy(name="broken helper")
        def broken(arm, t):
            return helper(arm.mean)
        """,
    )
    with pytest.raises(sb.errors.CompilationError) as caught:
        sb.trace(module.broken(), sb.Tape(TAPE), horizon=HORIZON)
    assert "my_policies.py, line" in str(caught.value)


def test_an_index_must_be_a_number_on_every_path():
    @sb.index_policy(name="half")
    def half(arm, t):
        if arm.mean > 1e9:
            return arm.mean

    with pytest.raises(sb.errors.CompilationError, match=r"half.*must return a number on every path"):
        sb.trace(half(), sb.Tape(TAPE), horizon=HORIZON)


def test_an_index_may_be_a_truth_value():
    @sb.index_policy(name="truth")
    def truth(arm, t):
        return arm.mean > 0.5

    @sb.index_policy(name="number")
    def number(arm, t):
        return 1.0 if arm.mean > 0.5 else 0.0

    study = sb.simulate([truth(), number()], [sb.Uniform(0, 1), sb.Uniform(0, 2)], horizon=50, runs=3)
    assert (study["truth"].pulls == study["number"].pulls).all()


@pytest.mark.parametrize("kernel", ["reference", "side by side"])
def test_not_a_number_is_an_error_that_says_where(kernel):
    @sb.index_policy(name="undefined")
    def undefined(arm, t):
        return math.sqrt(30.5 - arm.pulls) + 0.0 * arm.mean

    # Equal indices: the lowest arm first, and an index that falls with pulls: round robin until 31 pulls of arm 0.
    with pytest.raises(
        sb.errors.InvalidInputError, match="undefined is not a number for arm 0 after 91 rounds of run 2"
    ):
        sb.trace(undefined(), sb.Tape(TAPE), horizon=HORIZON, run=2, kernel=kernel)


def test_a_live_agent_says_which_record_has_no_index():
    @sb.index_policy(name="undefined live")
    def undefined(arm, t):
        return math.sqrt(2.5 - arm.pulls) + 0.0 * arm.mean

    agent = undefined().agent(arms=["a", "b"])
    for _ in range(5):  # the fifth is the third pull of the first arm
        agent.tell(agent.ask(), 1.5)
    with pytest.raises(sb.errors.InvalidInputError, match=r"not a number for arm 'a' \(pulls 3"):
        agent.ask()


def reserved(arm, t, name):
    return arm.mean


def several(arm, t, *more):
    return arm.mean


@pytest.mark.parametrize(
    ("declare", "said"),
    [
        (lambda: sb.index_policy(lambda x, t: x), r"must take arm and t first.*got <lambda>\(x, t\)"),
        (lambda: sb.index_policy(reserved), r"no parameter that is .*one of name.*got reserved\(arm, t, name\)"),
        (lambda: sb.index_policy(several), r"no parameter that is .*\*args.*got several\(arm, t, \*more\)"),
        (lambda: sb.index_policy(name=""), "needs a name, got ''"),
        (lambda: greedy_sharpe(), r"greedy_sharpe needs L, as in greedy_sharpe\(L=0.1\)"),
        (lambda: greedy_sharpe(L=1.0, M=2.0), "no parameter of Greedy Sharpe is called 'M'"),
        (lambda: greedy_sharpe(L="x"), "L must be a number or an array of numbers, got 'x'"),
        (lambda: sb.simulate(greedy_sharpe, sb.Tape(TAPE), horizon=HORIZON), "call it with its parameters"),
    ],
)
def test_bad_declarations_are_refused(declare, said):
    with pytest.raises(sb.SharpeBanditsError, match=said):
        declare()


def test_a_state_of_a_policy_that_is_not_defined_here_is_explained():
    state = greedy_sharpe(L=1.0).agent(arms=2).to_json().replace('"Greedy Sharpe"', '"Greedy Sharp"')
    with pytest.raises(sb.errors.UnreadableDataError, match="'Greedy Sharp': did you mean 'Greedy Sharpe'"):
        sb.Agent.from_json(with_checksum(json.loads(state)))


@sb.index_policy(name="fails")
def fails(arm, t, table, limit):
    if arm.pulls >= limit:
        raise ValueError("too many pulls")
    return arm.mean + table[int(arm.pulls)]


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        (fails(table=[1.0, 2.0, 3.0], limit=9.0), "fails reads past the end of a table"),
        (fails(table=[0.0] * 9, limit=3.0), "fails raised ValueError: too many pulls"),
    ],
)
def test_an_index_that_fails_is_named(policy, told):
    with pytest.raises(sb.errors.InvalidInputError, match=told):
        sb.simulate(policy, [sb.Uniform(0, 1), sb.Uniform(0, 2)], horizon=50, runs=2)
    agent = policy.agent(arms=2)
    for arm in (0, 1, 0, 0):
        agent.tell(arm, 0.5)
    before = agent.to_json()
    with pytest.raises(sb.errors.InvalidInputError, match=told):
        agent.ask()
    assert agent.to_json() == before


def test_an_index_that_fails_in_a_replay_is_named():
    policy = fails(table=[0.0] * 9, limit=3.0)
    with pytest.raises(sb.errors.InvalidInputError, match="fails raised ValueError: too many pulls"):
        hold(policy, TAPE.T, Holding(1, 1, 0, False, np.zeros(3)), False, 0, 0)


def test_a_statement_that_cannot_be_compiled_is_shown():
    @sb.index_policy(name="imports")
    def index(arm, t):
        import math

        return math.sqrt(arm.pulls)

    with pytest.raises(sb.errors.CompilationError, match="import math"):
        sb.simulate(index(), [sb.Uniform(0, 1), sb.Uniform(0, 2)], horizon=50, runs=2)


def test_a_state_does_not_go_on_with_another_formula():
    @sb.index_policy(name="test: fingerprint")
    def first(arm, t, L):
        return arm.mean / L  # whatever is said here does not matter

    agent = first(L=1.0).agent(arms=2)
    agent.tell(0, 1.0)
    state = agent.to_json()

    @sb.index_policy(name="test: fingerprint")
    def again(arm, t, L):
        return arm.mean / L

    assert sb.Agent.from_json(state).t == 1

    @sb.index_policy(name="test: fingerprint")
    def other(arm, t, L):
        return -arm.mean / L

    with pytest.raises(sb.errors.UnreadableDataError, match=r"'test: fingerprint'.*is not what it was"):
        sb.Agent.from_json(state)


@pytest.mark.parametrize("thing", [3, "text", max])
def test_an_index_policy_needs_a_function(thing):
    with pytest.raises(sb.errors.InvalidInputError, match=r"made of a function index\(arm, t, \.\.\.\), got"):
        sb.index_policy(name="test: nothing")(thing)


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
        with pytest.raises(ValueError, match="read-only"):
            again.argument("table", 10)[0] = np.nan


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
    with pytest.raises(
        sb.errors.InvalidInputError, match="'test: their helper', or a value that it reads, is not what it"
    ):
        pickle.loads(content)
