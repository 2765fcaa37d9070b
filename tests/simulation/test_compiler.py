"""Compiled code follows its source: what changes a formula changes the code; the cache is a help, never a need."""

import os
import textwrap

import pytest

import sharpe_bandits as sb
from sharpe_bandits.play import formulas
from sharpe_bandits.simulation.compiler import specialise
from tests.simulation.apart import run


def kernel(x):
    """A kernel small enough to compile in no time; its index is whatever is bound."""
    return index_of(x, 0)


index_of = formulas.index


def compiled(formula):
    return specialise(kernel, {formulas.index: formula})


def from_source(source, **scope):
    """A formula as if typed anew: same name, same file, other text."""
    exec(compile(textwrap.dedent(source), "formula.py", "exec"), scope)
    return scope["formula"]


VARIANTS = {
    "constant": ("def formula(x, t):\n    return 2.0 * x", "def formula(x, t):\n    return 3.0 * x"),
    "operator": ("def formula(x, t):\n    return 2.0 * x", "def formula(x, t):\n    return 2.0 + x"),
    "default": ("def formula(x, t, k=2.0):\n    return k * x", "def formula(x, t, k=3.0):\n    return k * x"),
    "global": ("K = 2.0\ndef formula(x, t):\n    return K * x", "K = 3.0\ndef formula(x, t):\n    return K * x"),
    "array": (
        "import numpy as np\nK = np.array([2.0])\ndef formula(x, t):\n    return K[0] * x",
        "import numpy as np\nK = np.array([3.0])\ndef formula(x, t):\n    return K[0] * x",
    ),
    "closure": (
        "def make(k):\n    def formula(x, t):\n        return k * x\n    return formula\nformula = make(2.0)",
        "def make(k):\n    def formula(x, t):\n        return k * x\n    return formula\nformula = make(3.0)",
    ),
    "helper": (
        "def helper(x):\n    return 2.0 * x\ndef formula(x, t):\n    return helper(x)",
        "def helper(x):\n    return 3.0 * x\ndef formula(x, t):\n    return helper(x)",
    ),
    "compiled helper": (
        "import numba\n@numba.njit\ndef helper(x):\n    return 2.0 * x\ndef formula(x, t):\n    return helper(x)",
        "import numba\n@numba.njit\ndef helper(x):\n    return 3.0 * x\ndef formula(x, t):\n    return helper(x)",
    ),
    "library function": (
        "from math import sqrt as f\ndef formula(x, t):\n    return f(x)",
        "from math import log as f\ndef formula(x, t):\n    return f(x)",
    ),
    "numpy function": (
        "from numpy import sqrt as f\ndef formula(x, t):\n    return f(x)",
        "from numpy import log as f\ndef formula(x, t):\n    return f(x)",
    ),
}


@pytest.mark.parametrize("change", VARIANTS)
def test_whatever_changes_a_formula_changes_the_code(change):
    before, after = (from_source(source) for source in VARIANTS[change])
    assert before(1.7, 0) != after(1.7, 0)
    assert compiled(before)(1.7) == before(1.7, 0)
    assert compiled(after)(1.7) == after(1.7, 0)


def test_the_same_formula_is_compiled_once():
    first, second = (from_source(VARIANTS["constant"][0]) for _ in range(2))
    assert first is not second
    assert compiled(first) is compiled(second)


def test_a_module_of_the_user_is_followed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    results = []
    for number, factor in enumerate((2.0, 3.0)):
        # Two modules of one content but for a number, used under one name.
        (tmp_path / f"mine{number}.py").write_text(
            f"import numba\n@numba.njit\ndef helper(x):\n    return {factor} * x\n"
        )
        formula = from_source(f"import mine{number} as mine\ndef formula(x, t):\n    return mine.helper(x)")
        results.append(compiled(formula)(1.5))
    assert results == [3.0, 4.5]


PLAIN = """
    import json
    import numpy as np
    import sharpe_bandits as sb
    from tests.catalogue import EVERY_POLICY

    np.seterr(over="ignore")  # plain Python counts modulo 2**64 in numpy numbers, which warn of it
    bandit = sb.Bandit([sb.Uniform(0.5, 2.5), sb.arms.Gamma(2.0, 0.8), sb.Bernoulli(0.9)])
    names = {names}
    print(json.dumps({{
        policy.name: [
            sb.trace(policy, bandit, horizon=36, seed=3, run=2).choices.tolist(),
            sb.trace(policy, bandit, horizon=36, seed=3, run=2).rewards.tolist(),
        ]
        for policy in EVERY_POLICY
        if policy.name in names
    }}))
"""


def test_kernels_are_plain_python_too():
    """With the compiler switched off every kernel gives the same choices and the same rewards, to the last bit."""
    names = ["UCB-RSSR", "UCB-RSSR printed", "MVTS", "SHSR", "SHSR, samples kept", "epsilon-greedy"]
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])
    plain, _ = run(PLAIN.format(names=names), NUMBA_DISABLE_JIT="1", PYTHONPATH=path)
    assert sorted(plain) == sorted(names)
    from tests.catalogue import EVERY_POLICY

    bandit = sb.Bandit([sb.Uniform(0.5, 2.5), sb.arms.Gamma(2.0, 0.8), sb.Bernoulli(0.9)])
    for policy in EVERY_POLICY:
        if policy.name in names:
            trace = sb.trace(policy, bandit, horizon=36, seed=3, run=2)
            assert plain[policy.name] == [trace.choices.tolist(), trace.rewards.tolist()], policy.name
