"""Rows resampled in blocks."""

import numpy as np
import pytest

from sharpe_bandits.returns.resampling import resampled_rows


def test_blocks_are_the_stationary_bootstrap():
    """Rows follow one another but where a block begins, which has the probability 1/block; every row is as likely."""
    rows = resampled_rows(np.random.default_rng(3), 50, 200_000, 8.0)
    follows = (np.diff(rows) % 50) == 1
    assert follows.mean() == pytest.approx(1 - 1 / 8 * 49 / 50, abs=0.004)
    assert np.bincount(rows, minlength=50) / 200_000 == pytest.approx(0.02, abs=0.002)
    assert resampled_rows(np.random.default_rng(3), 50, 10, 50.0).max() < 50
