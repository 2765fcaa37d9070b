"""Choices, rewards and results are those of every earlier version, to the last bit (see tests/digests.py)."""

import json

import pytest

from tests import digests

EXPECTED = json.loads(digests.FILE.read_text())


@pytest.mark.parametrize("section", digests.SECTIONS)
@pytest.mark.parametrize("part", range(4))  # side by side, on as many processes
def test_what_is_played_has_not_changed(section, part):
    played, expected = dict(digests.SECTIONS[section](slice(part, None, 4))), EXPECTED[section]
    changed = [case for case, digest in played.items() if expected.get(case, digest) != digest]
    assert not changed
    assert len(played.keys() & expected.keys()) >= 0.75 * len(played)  # others are of policies that came later
