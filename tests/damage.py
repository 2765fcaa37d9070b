"""Damaged states of agents with a checksum that fits: what refuses them is then the check of their content."""

import json

from sharpe_bandits.live.agents.state import checksum


def with_checksum(state):
    """The state as text with a checksum that fits it."""
    content = {key: value for key, value in state.items() if key != "checksum"}
    return json.dumps({**content, "checksum": checksum(content)})
