"""Do other processors give the same bits? ``python -m benchmarks.same_bits`` (``make same-bits``) measures it.

Every case is played natively and in processes that are made to calculate as another processor would: kernels compiled
for other processors and vector widths, the C library without fused multiply-add, NumPy without its vector code, linear
algebra for an old processor. Choices, rewards and results are compared bit for bit.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import sharpe_bandits as sb
from sharpe_bandits.arms.bandit import as_environment
from sharpe_bandits.results.policy_result import merge
from sharpe_bandits.simulation import compiler
from sharpe_bandits.simulation.machines import arithmetic, machine
from sharpe_bandits.simulation.spec import Spec, run_chunk

RUNS, HORIZON = 32, 2000
#: Instructions that would contract a multiplication and an addition into one rounding.
FUSED = ("vfmadd", "vfmsub", "vfnmadd", "vfnmsub")
#: What a process is told, by what it stands for.
PROCESSORS = {
    "generic x86-64 (SSE2, 128-bit vectors)": {"NUMBA_CPU_NAME": "generic"},
    "x86-64-v3 without FMA": {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": "+avx,+avx2,-fma"},
    "Haswell, 128-bit vectors": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma,+prefer-128-bit"},
    "C library without FMA and AVX2": {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2"},
    "NumPy without AVX2 and FMA": {"NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3"},
    "OpenBLAS for Prescott": {"OPENBLAS_CORETYPE": "Prescott"},
}
POLICIES = [
    sb.UCBRSSR(L=0.5), sb.policies.GRAUCB(), sb.policies.UCB1(), sb.policies.ModifiedMVTS(L=1.0), sb.ScaleFreeTS(L=0.5), sb.policies.DiscountedUCB(L=0.5),
    sb.ScaleFreeUCB(L=0.5), sb.ScaleFreeIMED(L=0.5), sb.SHSR(L=0.5),
]  # fmt: skip
BANDITS = {
    "uniform": [sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8), sb.Uniform(0, 6)],
    "Bernoulli": [sb.Bernoulli(0.5), sb.Bernoulli(0.5), sb.Bernoulli(0.45)],
    "normal": [sb.Normal(1.0, variance=1.0), sb.Normal(0.9, variance=0.5), sb.Normal(1.1, variance=2.0)],
    "truncated normal": [sb.arms.TruncatedNormal(1.0, 1.0, 0.0, 3.0), sb.arms.TruncatedNormal(1.2, 1.5, 0.0, 3.0)],
    "gamma": [sb.arms.Gamma(2.0, 1.0), sb.arms.Gamma(3.0, 0.7)],
    "beta": [sb.Beta(2.0, 3.0), sb.Beta(4.0, 5.0)],
    "AR(1)": [sb.arms.AR1(1.0, 1.0, 0.5), sb.arms.AR1(0.9, 0.5, 0.3)],
    "GARCH": [sb.arms.GARCH(1.0, 0.1, 0.1, 0.8), sb.arms.GARCH(0.9, 0.05, 0.1, 0.8)],
}


#: Functions of the C library, and the arguments at which they are compared.
WHOLE, PARTS = np.arange(1.0, 200_001.0), np.random.default_rng(1).uniform(size=100_000)
FUNCTIONS: dict[str, tuple[Callable[[float], float], np.ndarray]] = {
    "log of whole numbers": (math.log, WHOLE), "log": (math.log, PARTS), "exp": (math.exp, PARTS),
    "log1p": (math.log1p, PARTS), "expm1": (math.expm1, PARTS), "sin": (math.sin, PARTS), "cos": (math.cos, PARTS),
    "pow": (lambda x: math.pow(x, 0.37), PARTS), "tanh": (math.tanh, PARTS),
}  # fmt: skip


def _values() -> dict[str, str]:
    return {name: np.array([f(x) for x in at.tolist()]).tobytes().hex() for name, (f, at) in FUNCTIONS.items()}


def _unlike(ours: dict[str, str], theirs: dict[str, str]) -> str:
    """How often functions of the C library gave something else."""
    counts = []
    for name, (_, at) in FUNCTIONS.items():
        a, b = (np.frombuffer(bytes.fromhex(values[name])) for values in (ours, theirs))
        counts.append(f"{name} {int((a != b).sum())} of {len(at):,}")
    return ", ".join(counts)


def _digest(*arrays: np.ndarray) -> str:
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def measured() -> dict[str, object]:
    """What this process makes of every case: digests of choices, of rewards, and of the regret computed from them."""
    cases = {}
    for kind, arms in BANDITS.items():
        environment = as_environment(sb.Bandit(arms))
        for policy in POLICIES:
            spec = Spec(policy, environment, HORIZON, RUNS, 7, (HORIZON,))
            chunk = run_chunk(spec, range(RUNS), trace=True)
            regret = merge(spec, [chunk], environment.truth(7, RUNS)).regret(sb.RSSR(L=0.5))
            cases[f"{policy.name} on {kind}"] = {
                "choices": _digest(chunk.choices, chunk.recommended),
                "rewards": _digest(chunk.rewards),
                "regret": _digest(regret.mean, regret.se),
            }
    texts = [text for kernel in compiler._compiled.values() for text in _assembly(kernel)]
    fused = sum(any(name in text for name in FUSED) for text in texts)
    return {
        "machine": {**machine(), "arithmetic": arithmetic()},
        "cases": cases,
        "fused": fused,
        "inspected": len(texts),
        "values": _values(),
    }


def _assembly(kernel: Any) -> list[str]:
    """Assembly of a kernel; nothing of one that came from the disk."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return list(kernel.inspect_asm().values())
        except Warning:  # says that code from the disk cannot be inspected
            return []


def _child(environment: dict[str, str]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.same_bits", "--child"],
        env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def page() -> str:
    """The comparison as a page."""
    with tempfile.TemporaryDirectory() as folder:
        return _page({"SHARPE_BANDITS_CACHE": folder})


def _page(shared: dict[str, str]) -> str:
    native = _child(shared)
    cases: dict[str, dict[str, str]] = native["cases"]
    lines = [
        "# Same bits on other processors",
        "",
        f"{len(cases)} cases ({len(POLICIES)} policies on {len(BANDITS)} kinds of arms, {RUNS} runs of {HORIZON:,} "
        "rounds) were played as another processor would, and compared bit for bit with how this machine plays them:",
        "",
        *(f"- {name}: {text}" for name, text in native["machine"].items()),
        "",
        "| as on | choices that differ | rewards that differ | regret that differs | arithmetic |",
        "|---|---:|---:|---:|---|",
    ]
    unlike = ["Functions of the C library that gave something else:", ""]
    odd: dict[str, set[str]] = {"choices": set(), "rewards": set(), "regret": set()}
    for name, environment in PROCESSORS.items():
        found = _child({**shared, **environment})
        counts = []
        for what, cases_that_differ in odd.items():
            differ = {case for case in cases if cases[case][what] != found["cases"][case][what]}
            cases_that_differ |= differ
            counts.append(f"{len(differ)} of {len(cases)}")
        alike = found["machine"]["arithmetic"] == native["machine"]["arithmetic"]
        lines.append(f"| {name} | {' | '.join(counts)} | {'the same' if alike else 'another'} |")
        print(lines[-1], file=sys.stderr, flush=True)
        if found["values"] != native["values"]:
            unlike.append(f"- {name}: {_unlike(native['values'], found['values'])}.")
    lines += ["", "*Arithmetic*: whether the digest that manifests record is that of this machine.", ""]
    for what, found_odd in odd.items():
        kinds = sorted({case.split(" on ")[1] for case in found_odd})
        lines.append(
            f"- {what.capitalize()} differed {'on arms of these kinds: ' + ', '.join(kinds) if kinds else 'never'}."
        )
    lines.append(
        f"- Fused multiply-add instructions in the code compiled for this machine, which has them: in "
        f"{native['fused']} of {native['inspected']} kernels."
    )
    return "\n".join([*lines, "", *unlike])


if __name__ == "__main__":
    if "--child" in sys.argv:
        print(json.dumps(measured()))
    else:
        print(page())
