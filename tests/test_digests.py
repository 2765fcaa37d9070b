"""Choices, rewards and results are those of every earlier version, to the last bit (see tests/digests.py)."""

import json

import pytest

from tests import digests

EXPECTED = json.loads(digests.FILE.read_text())


@pytest.mark.parametrize("section", digests.SECTIONS)
def test_what_is_played_has_not_changed(section):
    changed = [case for case, digest in digests.SECTIONS[section]() if EXPECTED[section].get(case) != digest]
    assert not changed
