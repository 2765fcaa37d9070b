"""Experiment files: good ones with values, keys and bytes changed."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import numpy as np

import sharpe_bandits as sb
from sharpe_bandits.experiments.files import read

from .driver import Target, brief_errors
from .things import ODD_TEXTS, damaged_bytes, pick

_FILE = Path(tempfile.gettempdir()) / f"sharpe-bandits-fuzz-{os.getpid()}.toml"
_GOOD = (
    """\
title = "Two arms"
runs = 50
seed = 7
horizon = 500
checkpoints = 20
sweep = { L = [0.5, 2.0], K = [2, 4] }
objective = { kind = "RSSR", L = "L" }

[let]
x = "n / 2 + sqrt(K)"

[[arms]]
kind = "Uniform"
low = "0.1 * i"
high = "0.1 * i + 1"
repeat = "K"

[[policies]]
kind = "UCBRSSR"
L = "L"

[[policies]]
kind = "EpsilonGreedy"
name = "greedy"
epsilon = 0.1
objective = { kind = "Sharpe", L = 1 }
""",
    """\
metric = "error"
horizon = 2000
arms = [{ kind = "Normal", mean = [0, 1], variance = [1, 3] }, { kind = "Beta", a = 2, b = 3, repeat = 2 }]
objective = { kind = "Variance" }
policies = [{ kind = "SHVV" }, { kind = "SequentialHalving", objective = { kind = "RSSR", L = 1 } }]
cases = [{ set = "A" }, { set = "B", horizon = 4000 },
  { set = "C", arms = { kind = "Gamma", shape = [1, 2], scale = 1 } }]
""",
    """\
horizon = 400
arms = { kind = "Uniform", random = true, low = "u1", high = "u1 + u2", repeat = 5 }
objective = { kind = "RSSR", L = 1 }
policies = { kind = "UCBRSSR", L = 1, pilot_pulls = 3 }
""",
    """\
horizon = 400
clock = "rounds"
arms = [{ kind = "AR1", mean = 0, variance = 1, phi = 0.5 }, { kind = "Empirical", values = [0, 1, 2] }]
switches = [{ after = 200, arms = { kind = "Constant", value = [1, 2] } }]
objective = { kind = "MeanVariance", rho = 1 }
policies = [{ kind = "DiscountedUCB", L = 1, discount = 0.9 }, { kind = "UCB1" }]
""",
)
_VALUES = (
    "0", "-1", "1e400", "-1e400", "inf", "nan", "1" + "0" * 400, "1" * 5000, "1e308", "5e-324", "1_000",
    "10000000000000",
    "0x7fffffffffffffff", "true", '""', '"1/0"', '"9**9**9"', '"' + "(" * 500 + '1"', '"n"', '"i"', '"K"',
    '"L * x"', '"u1"',
    '"log(0)"', '"sqrt(-1)"', '"10**400"', '"max()"', '"__import__"', '"' + "1+" * 400 + '1"', '"a"' * 1, "[]",
    "{}", "[[]]",
    "[1, [2]]", "{ kind = 5 }", "2020-01-01", "07:32:00", '"""\nlong\n"""', "'raw'", "[" * 50 + "]" * 50,
    "[" * 3000 + "]" * 3000, "[" + "1," * 5000 + "]", "[" + "0.5," * 9000 + "]", "{ x = 1 }", '{ kind = "Uniform" }',
    '{ kind = "Uniform", low = 0, high = 1e80 }', '{ kind = "Uniform", low = 0, high = 1, repeat = 1000000 }',
    '{ kind = "TruncatedNormal", mean = 0, variance = 1e-320, low = 1, high = 2 }', '{ kind = "Scipy" }',
    "{ " + ", ".join(f"k{k} = {list(range(9))}" for k in range(9)) + " }", "100000", "1000000000", '"n * 10**9"',
    "{ " + ", ".join(f"k{k} = 1" for k in range(2000)) + " }",
    '{ kind = "UCBRSSR", L = "L", name = "' + "x" * 9000 + '" }',
)  # fmt: skip
_KEYS = (
    "kind", "let", "sweep", "cases", "arms", "policies", "horizon", "runs", "seed", "switches", "clock", "L",
    "K", "n", "i",
    "u1", "name", "form", '"("', '"\\\\b"', '""', '"a b"', "a.b.c", ".".join("a" * 50),
    "'<script>'",
    "objective", "metric", "checkpoints", "title", "random", "repeat", "values", "x", "é", '"\\u0000"', "x" * 10_000,
)  # fmt: skip
_HEADERS = (
    "[let]", "[[arms]]", "[[policies]]", "[sweep]", "[[cases]]", "[[cases.arms]]", "[objective]", "[x]",
)  # fmt: skip
_LONG = (
    *ODD_TEXTS, "x = [" + "0.5," * 60_000 + "]", "a = 1\n" * 30_000, "[a]\n" * 1000, "a.b = 1\n", "[[a]]\n" * 30_000,
    "x" * 2**21,
)  # fmt: skip
_VALUE = re.compile(r'"[^"\n]*"|\btrue\b|\b\d[\d.e]*\b')


def _make(rng: np.random.Generator) -> str:
    text = pick(rng, _GOOD)
    for _ in range(int(rng.integers(1, 4))):
        places = list(_VALUE.finditer(text))
        action = rng.integers(6)
        if action <= 2 and places:
            at = pick(rng, places)
            good = [place.group() for place in places]
            text = text[: at.start()] + pick(rng, _VALUES if rng.random() < 0.8 else good) + text[at.end() :]
        elif action == 3:
            lines = text.splitlines()
            line = f"{pick(rng, _KEYS)} = {pick(rng, _VALUES)}"
            lines.insert(int(rng.integers(len(lines) + 1)), line)
            text = "\n".join(lines)
        elif action == 4:
            keys = list(re.finditer(r"\b\w+(?= =)", text))
            at = pick(rng, keys) if keys else None
            text = text if at is None else text[: at.start()] + pick(rng, _KEYS) + text[at.end() :]
        else:
            lines = [line for line in text.splitlines() if rng.random() > 0.05]
            lines.insert(int(rng.integers(len(lines) + 1)), pick(rng, _HEADERS))
            text = "\n".join(lines)
    if rng.random() < 0.1:
        text = damaged_bytes(rng, text.encode()).decode("utf-8", "replace")
    if rng.random() < 0.02:
        text = pick(rng, _LONG)
    return text.encode("utf-8", "replace").decode()


def _check(text: str) -> None:
    _FILE.write_text(text, "utf-8", newline="")
    try:
        with brief_errors():
            (experiment,) = read(_FILE).panels
    except sb.SharpeBanditsError as error:
        message = str(error)
        named = re.match(rf"{re.escape(str(_FILE))}(, .+: | is not TOML: )", message)
        assert named, "what is wrong in valid TOML has an entry"
        return
    finally:
        _FILE.unlink()
    assert len(experiment.cases) >= 1
    assert all(2 <= case.horizon <= 10**9 and case.environment.K >= 2 for case in experiment.cases)


def target() -> Target:
    """The target of this file."""
    return Target("experiment_files", _make, _check)
