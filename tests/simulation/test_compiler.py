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


#: Changes of the text of a formula; those of what it reads are in tests/support/test_fingerprints.py.
VARIANTS = {
    "constant": ("def formula(x, t):\n    return 2.0 * x", "def formula(x, t):\n    return 3.0 * x"),
    "operator": ("def formula(x, t):\n    return 2.0 * x", "def formula(x, t):\n    return 2.0 + x"),
    "library function": (
        "from math import sqrt as f\ndef formula(x, t):\n    return f(x)",
        "from math import log as f\ndef formula(x, t):\n    return f(x)",
    ),
    "numpy function": (
        "from numpy import sqrt as f\ndef formula(x, t):\n    return f(x)",
        "from numpy import log as f\ndef formula(x, t):\n    return f(x)",
    ),
    "compiled helper": (
        "import numba\n@numba.njit\ndef f(x, sign=1.0):\n    return sign * x\ndef formula(x, t):\n    return f(x)",
        "import numba\n@numba.njit\ndef f(x, sign=-1.0):\n    return sign * x\ndef formula(x, t):\n    return f(x)",
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
