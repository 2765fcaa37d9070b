"""``sharpe-bandits campaign``: every action does what the library does, on the same store."""

import csv
import json
import re
import sqlite3

import pytest

import sharpe_bandits as sb
from sharpe_bandits.cli.program import main

ARMS = ["momentum", "carry", "value"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Campaigns of the current folder, unless told otherwise."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHARPE_BANDITS_STORE", raising=False)
    return tmp_path


@pytest.fixture
def run(capsys):
    """Run an action; returns what it printed, as plain data with --json."""

    def run(*words, status=0):
        capsys.readouterr()
        assert main(["campaign", *map(str, words)]) == status
        printed = capsys.readouterr().out
        return json.loads(printed) if "--json" in words else printed

    return run


@pytest.fixture
def desk(run):
    run("create", "desk", "--policy", "SF-UCB", "--L", 1e-5, "--seed", 3, "--arms", *ARMS)
    return sb.Store("campaigns.db").campaign("desk")


def played(run, count):
    """Decisions that were asked for and told, as JSON has them."""
    made = run("ask", "desk", "--count", count, "--json")
    for decision in made:
        run("tell", "desk", decision["number"], 0.001 * decision["number"])
    return made


def test_a_campaign_is_the_one_that_the_library_makes(run):
    words = ("--policy", "SF-UCB:c=0.5,risk_free=1e-4", "--L", 1e-5, "--horizon", 500)
    more = ("--lease", "1 day", "--default-reward", -0.01, "--explore", 0.1, "--seed", 4)
    said = run("create", "desk", *words, *more, "--arms", *ARMS, "--json")
    policy = sb.ScaleFreeUCB(L=1e-5, c=0.5, risk_free=1e-4)
    same = sb.Store("other.db").campaign(
        "desk", policy=policy, arms=ARMS, horizon=500, lease="1 day", default_reward=-0.01, explore=0.1, seed=4
    )
    assert said == json.loads(json.dumps({"name": "desk", **same.settings}))
    assert sb.Store("campaigns.db").campaign("desk").policy == policy
    assert run("create", "desk", *words, *more, "--arms", *ARMS) == "campaign desk: SF-UCB on 3 arms\n"  # it exists


def test_decisions_are_those_of_an_agent(run, desk):
    agent = sb.ScaleFreeUCB(L=1e-5).agent(arms=ARMS, seed=3)
    for number in range(1, 31):
        assert run("ask", "desk") == f"{number}\t{agent.ask()}\n"
        reward = 0.01 * (number % 7) - 0.02
        assert run("tell", "desk", number, reward) == f"reward {reward:g} recorded for decision {number}\n"
        agent.tell(desk.decision(number).arm, reward)
    assert {arm.arm: arm.pulls for arm in desk.status().arms} == agent.pulls


def test_a_key_is_asked_for_once(run, desk):
    first = run("ask", "desk", "--key", "order 7", "--worker", "me", "--json")
    assert run("ask", "desk", "--key", "order 7", "--json") == first
    assert (first["key"], first["worker"], first["state"]) == ("order 7", "me", "pending")
    assert len(desk.history()) == 1


def test_a_decision_is_withdrawn(run, desk):
    run("ask", "desk")
    run("ask", "desk", "--key", "7")
    assert run("cancel", "desk", 1) == "decision 1 cancelled\n"
    assert run("cancel", "desk", 7, "--by-key") == "decision 2 cancelled\n"
    assert desk.decision(1).state == desk.decision("7").state == "cancelled"


def test_rewards_of_a_file_are_recorded_line_by_line(run, desk, folder):
    run("ask", "desk", "--count", 3)
    (folder / "paid.csv").write_text("number,reward\n1,0.01\n2,-0.02\n9,0.5\n")
    found = run("import", "desk", "paid.csv", "--json", status=1)
    assert found["recorded"] == 2
    assert [item["line"] for item in found["refused"]] == [4]
    assert [desk.decision(n).reward for n in (1, 2, 3)] == [0.01, -0.02, None]


def test_rewards_go_by_key_too(run, desk, folder):
    for key in "ab":
        run("ask", "desk", "--key", key)
    (folder / "paid.csv").write_text("key,reward\nb,0.2\nnobody,0.1\na,0.1\n")
    words = run("import", "desk", "paid.csv", status=1)
    assert words.startswith("2 rewards recorded\nline 3: there is no decision with the key 'nobody'")
    assert [desk.decision(n).reward for n in (1, 2)] == [0.1, 0.2]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("number,paid\n1,0.1\n", "needs a column reward and a column number or key"),
        ("number,reward\n1,0.1\n2,much\n", "line 3 of paid.csv has number '2' and reward 'much'"),
    ],
)
def test_a_file_that_is_wrong_changes_nothing(run, desk, folder, capsys, text, says):
    run("ask", "desk", "--count", 2)
    (folder / "paid.csv").write_text(text)
    assert main(["campaign", "import", "desk", "paid.csv"]) == 2
    assert says in " ".join(capsys.readouterr().err.split())
    assert [desk.decision(n).reward for n in (1, 2)] == [None, None]


def test_arms_come_and_go(run, desk):
    assert run("add-arm", "desk", "quality") == "active arms: momentum, carry, value, quality\n"
    retired = run("retire-arm", "desk", "carry", "--why", "closed", "--by", "Ann", "--json")
    assert retired == {"arms": ["momentum", "value", "quality"]}
    assert sb.Store("campaigns.db").campaign("desk").log(count=1)[0].details == {"by": "Ann", "why": "closed"}
    assert {run("ask", "desk", "--json")["arm"] for _ in range(6)} == {"momentum", "value", "quality"}


def test_the_status_is_that_of_the_library(run, desk):
    played(run, 12)
    run("ask", "desk")
    said, known = run("status", "desk", "--json"), json.loads(json.dumps(desk.status().to_dict(), default=str))
    assert said.pop("time") < known.pop("time")
    assert said == known
    assert said["pending"] == 1
    printed = run("status", "desk")
    for arm in ARMS:
        assert arm in printed


def test_the_history_is_the_last_decisions(run, desk):
    played(run, 5)
    assert [row["number"] for row in run("history", "desk", "--last", 2, "--json")] == [4, 5]
    lines = run("history", "desk").splitlines()
    assert sum("rewarded" in line for line in lines) == 5


@pytest.mark.parametrize("choices", [[], ["--choices"]])
def test_a_log_verifies(run, desk, choices):
    played(run, 8)
    assert run("verify", "desk", *choices, "--json")["ok"] is True


def test_a_log_that_was_changed_does_not(run, desk):
    played(run, 4)
    with sqlite3.connect("campaigns.db") as connection:
        connection.execute("UPDATE sharpe_bandits_decisions SET reward = 1.0 WHERE number = 2")
    assert run("verify", "desk", "--json", status=1)["ok"] is False


def test_exports_hold_every_decision(run, desk, folder):
    made = played(run, 4)
    assert run("export", "desk", "--out", "all.csv").startswith("4 decisions: ")
    with (folder / "all.csv").open(newline="") as file:
        assert [row["arm"] for row in csv.DictReader(file)] == [d["arm"] for d in made]


def test_a_store_lists_its_campaigns(run, desk, monkeypatch):
    (entry,) = run("list", "--json")
    assert (entry["name"], entry["policy"]) == ("desk", "SF-UCB")
    monkeypatch.setenv("SHARPE_BANDITS_STORE", "campaigns.db")
    assert "desk" in run("list")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["create", "x", "--policy", "SF-UCB", "--arms", "a", "b"], "--L"),
        (["ask", "nobody"], "nobody"),
        (["tell", "desk", "99", "0.1"], "99"),
        (["export", "desk", "--out", "all.xls"], "--out must end in .csv, got 'all.xls'"),
        (["status", "desk", "--module", "no_such_module"], "--module no_such_module cannot be imported"),
    ],
)
def test_mistakes_are_told_on_one_line(desk, capsys, words, says):
    assert main(["campaign", *words]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert "Traceback" not in error


def test_a_policy_of_a_module_is_found(run, folder):
    (folder / "my_policies.py").write_text(
        "import sharpe_bandits as sb\n\n\n@sb.index_policy(name='Greedy')\ndef greedy(arm, t, L):\n"
        "    return arm.mean / (L + arm.variance)\n"
    )
    run("create", "own", "--module", "my_policies", "--policy", "greedy", "--L", 0.5, "--arms", "a", "b")
    assert run("ask", "own", "--module", "my_policies", "--json")["arm"] == "a"


def test_rules_are_set_and_shown(run, desk):
    """Every change is one of the library, logged with who and why."""
    assert "30% by the policy, the rest by carry" in run("set", "desk", "--control", "carry", "--share", "0.3")
    assert "momentum 0.1 to 0.5" in run("set", "desk", "--bounds", "momentum=0.1:0.5", "--why", "limits", "--by", "Ann")
    rail = "kind=rate,limit=0.05,metric=error"
    assert "rate of error, limit 0.05: pause" in run("set", "desk", "--guardrails", rail)
    assert "asks get value" in run("pause", "desk", "--fallback", "value")
    assert run("ask", "desk", "--key", "k", "--tag", "city=NY").endswith("\tvalue\n")
    assert "recorded for decision" in run("tell", "desk", "k", 0.5, "--metric", "error=0", "--weight", 2)
    assert "mode: live" in run("resume", "desk")
    assert "suspended: momentum" in run("suspend", "desk", "momentum")
    assert "suspended" not in run("resume", "desk", "momentum")
    assert "decision 1 corrected to 0.25" in run("amend", "desk", "k", 0.25, "--why", "typo")
    words = run("record", "desk", "carry", 0.1, "--key", "theirs")
    assert re.search(r"the policy would have chosen (carry, too|(momentum|value), not carry)", words)
    run("add-arm", "desk", "old")
    run("retire-arm", "desk", "old")
    assert run("record", "desk", "old", 0.1, "--key", "of-old").endswith(": recorded\n")
    assert "theirs" in run("history", "desk")
    assert run("set", "desk", "--bounds", "", "--json")["bounds"] == {}
    campaign = sb.Store("campaigns.db").campaign("desk")
    assert campaign.decision(campaign.numbers_of(["k"])["k"]).tags == {"city": "NY"}
    assert campaign.log(search="limits")[0].details["by"] == "Ann"
    assert "rate of error" in run("status", "desk")
    run("tell", "desk", "k", 0.5, status=2)
