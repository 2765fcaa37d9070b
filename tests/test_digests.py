"""Choices, rewards and results are those of every earlier version, to the last bit (see tests/digests.py)."""

import json

import pytest

from tests import digests

EXPECTED = json.loads(digests.FILE.read_text())


#: The long sections in parts, which can be played side by side.
PARTS = [(part, section, 4) for section in ("simulate", "agents") for part in range(4)]


@pytest.mark.parametrize(("part", "section", "parts"), [*PARTS, (0, "identify", 1), (0, "replay", 1)])
def test_what_is_played_has_not_changed(part, section, parts):
    played, expected = dict(digests.SECTIONS[section](slice(part, None, parts))), EXPECTED[section]
    changed = [case for case, digest in played.items() if expected.get(case, digest) != digest]
    assert played
    assert not changed
    assert len(played.keys() & expected.keys()) >= 0.75 * len(played)  # others are of policies that came later
