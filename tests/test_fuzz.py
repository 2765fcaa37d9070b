"""The fuzz suite in its short form: some fixed cases of every target, and all inputs that ever broke something."""

import time
from pathlib import Path

import numpy as np
import pytest
from fuzz.__main__ import main
from fuzz.driver import Target, attack, campaign
from fuzz.targets import TARGETS

import sharpe_bandits as sb

CASES = Path(__file__).parent / "fuzz_cases"
#: Cases of each target; those that compile are few.
SHORT = {
    "agent_states": 150, "arms": 50, "experiment_files": 100, "index_functions": 1, "kernel_cache": 3,
    "tables": 400,
}  # fmt: skip
SEEDS = [line.split() for line in (CASES / "seeds.txt").read_text().splitlines() if line.strip()]


def test_every_target_has_a_short_form():
    assert SHORT.keys() == TARGETS.keys()


@pytest.mark.parametrize("name", SHORT)
def test_the_short_form(name):
    for crash in campaign(TARGETS[name](), 0, SHORT[name]):
        pytest.fail(str(crash))


@pytest.mark.parametrize("path", sorted(CASES.glob("*-*")), ids=lambda path: path.stem)
def test_inputs_that_once_broke_something(path):
    content = path.read_bytes()
    case = content if path.suffix == ".bin" else content.decode("utf-8", "surrogatepass")
    target = TARGETS[path.stem.rpartition("-")[0]]()
    crash = attack(Target(target.name, lambda rng: case, target.check, target.seconds), 0)
    assert crash is None, str(crash)


@pytest.mark.parametrize(("name", "seed"), SEEDS)
def test_cases_that_once_broke_something(name, seed):
    crash = attack(TARGETS[name](), int(seed))
    assert crash is None, str(crash)


def trouble(check, **options):
    crash = attack(Target("mine", lambda rng: rng.integers(10), check, **options), 3)
    return "" if crash is None else str(crash)


def test_the_driver_lets_errors_of_the_library_pass_and_tells_all_others():
    def refuse(case):
        raise sb.errors.InvalidInputError("as it should be")

    def fail(case):
        raise ValueError("raw")

    def wrong(case):
        assert case > 10, "a promise"

    assert trouble(refuse) == ""
    assert "ValueError: raw" in trouble(fail)
    assert "AssertionError: a promise" in trouble(wrong)
    assert "repeat it with: python -m fuzz --target mine --seed 3" in trouble(fail)


def test_the_driver_notices_what_computes_or_waits_for_too_long(monkeypatch):
    def compute(case):
        while True:
            try:
                sum(range(10_000))
            except Exception:  # a handler of errors does not save it
                continue

    monkeypatch.setattr("fuzz.driver.WAITING", 0.1)
    assert "hung" in trouble(compute, seconds=0.2)
    assert "hung" in trouble(lambda case: time.sleep(60), seconds=0.2)
    assert trouble(lambda case: None, seconds=0.2) == ""


@pytest.mark.parametrize("name", ["agent_states", "experiment_files", "index_functions"])
def test_a_case_is_a_function_of_its_number(name):
    first, again = (TARGETS[name]().make(np.random.default_rng(4)) for _ in range(2))
    assert first == again
    assert first != TARGETS[name]().make(np.random.default_rng(5))


def test_the_command_repeats_a_case(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["fuzz", "--target", "experiment_files", "--seed", "5"])
    assert main() == 0
    assert capsys.readouterr().out.strip() == "nothing broke"
