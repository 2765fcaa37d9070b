"""The short forms of ``make torture``: random and faulty sequences against a plain model, kills, a long log."""

import subprocess
import sys
from pathlib import Path

import pytest
from torture.actors import Local
from torture.faults import KEPT, simulate
from torture.model import play

import sharpe_bandits as sb

KNOWN = [int(line) for line in KEPT.read_text().split()] if KEPT.exists() else []


def test_a_campaign_is_what_the_model_says():
    play(25, [Local() for _ in range(3)], derandomize=True)


@pytest.mark.parametrize("seed", [*KNOWN, 0, 1])
def test_a_campaign_survives_faults(seed):
    simulate(seed)


def test_a_clock_that_is_corrected_has_not_jumped_forward(file_store, clock):
    """Found by a simulation: after an hour back and a refusal, the right clock was refused for ever."""
    campaign = file_store.campaign("c", policy=sb.ScaleFreeUCB(L=1.0), arms=2)
    campaign.ask()
    clock[0] = -3600.0
    with pytest.raises(sb.errors.StoreError, match="the last event was at"):
        campaign.ask()
    clock[0] = 0.0
    assert campaign.ask().number == 2


def test_campaigns_bear_what_they_must():
    done = subprocess.run(
        [sys.executable, "-m", "torture", "--quick"], capture_output=True, text=True, cwd=Path(__file__).parents[3]
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all is well" in done.stdout
