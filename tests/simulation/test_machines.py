"""Machines that do not calculate alike are told apart."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from sharpe_bandits.simulation import machines


def facts(**environment):
    code = "import json; from sharpe_bandits.simulation.machines import *; print(json.dumps([machine(), arithmetic()]))"
    path = os.pathsep.join(sys.path)
    env = {**os.environ, "PYTHONPATH": path, **environment}
    import json

    return json.loads(subprocess.run([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, check=True).stdout)


def has_fma():
    cpu = Path("/proc/cpuinfo")
    return platform.libc_ver()[0] == "glibc" and cpu.exists() and " fma " in cpu.read_text()


@pytest.mark.skipif(not has_fma(), reason="needs glibc on a processor with fused multiply-add")
def test_other_forms_of_the_c_library_show_in_the_arithmetic():
    assert facts() == [machines.machine(), machines.arithmetic()]
    other, arithmetic = facts(GLIBC_TUNABLES="glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2", NUMBA_CPU_NAME="generic")
    assert arithmetic != machines.arithmetic()
    assert other["compiled for"] == "generic"
