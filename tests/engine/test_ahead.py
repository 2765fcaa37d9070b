"""Kernels compiled by another process: it is started only where one is missing, and what it compiles is found."""

import subprocess
import sys

import pytest

import sharpe_bandits as sb
from sharpe_bandits.engine import ahead, cache
from sharpe_bandits.engine.spec import Spec


def specs(*policies):
    bandit = sb.Bandit([sb.Bernoulli(0.3), sb.Bernoulli(0.6)])
    return [Spec(policy, bandit, 100, 2, 0, (100,)) for policy in policies]


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Names of the policies that another process was started for, in order."""
    monkeypatch.setenv("SHARPE_BANDITS_CACHE", str(tmp_path))
    names = []

    def start(of):
        names.append([spec.policy.name for spec in of])
        return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])

    monkeypatch.setattr(ahead, "_started", start)
    return names


def miss():
    from numba.core.registry import cpu_target

    assert cache.KernelCache("nothing", "0").load_overload("()", cpu_target.target_context) is None


def test_the_other_process_is_started_once_and_only_where_a_kernel_is_missing(started):
    pair = specs(sb.UCB1(), sb.SHSR(L=1.0))
    with ahead.compiled_ahead(pair, workers=2):
        assert started == []
        miss()
        miss()
    assert started == [["UCB1", "SHSR"]]
    miss()  # after the context: nobody is called
    assert len(started) == 1


@pytest.mark.parametrize(("count", "workers"), [(1, 2), (2, 1)])
def test_one_spec_or_one_worker_needs_no_other_process(started, count, workers):
    with ahead.compiled_ahead(specs(sb.UCB1(), sb.SHSR(L=1.0))[:count], workers):
        miss()
    assert started == []


def test_the_other_process_leaves_kernels_in_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("SHARPE_BANDITS_CACHE", str(tmp_path))
    broken = specs(sb.SHSR(L=1.0))[0]
    object.__setattr__(broken, "horizon", 1)  # too small a budget: the error is for the process that asked
    process = ahead._started([*specs(sb.SHSR(L=1.0)), broken])
    assert process.wait(timeout=120) == 0
    assert [path.name.partition("-")[0] for path in (tmp_path / "kernels").iterdir()] == ["play_phases"]
