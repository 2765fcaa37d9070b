"""Simulated faults against the plain model; ``python -m torture.faults`` plays many seeds."""

import pytest
from torture.faults import KEPT, simulate

import sharpe_bandits as sb

KNOWN = [int(line) for line in KEPT.read_text().split()] if KEPT.exists() else []


@pytest.mark.parametrize("seed", [*KNOWN, 0, 1])
def test_a_campaign_survives_faults(seed):
    simulate(seed)


def test_a_clock_that_is_corrected_has_not_jumped_forward(tmp_path, clock):
    """Found by a simulation: after an hour back and a refusal, the right clock was refused for ever."""
    campaign = sb.Store(tmp_path / "campaigns.db").campaign("c", policy=sb.ScaleFreeUCB(L=1.0), arms=2)
    campaign.ask()
    clock[0] = -3600.0
    with pytest.raises(sb.errors.StoreError, match="the last event was at"):
        campaign.ask()
    clock[0] = 0.0
    assert campaign.ask().number == 2
