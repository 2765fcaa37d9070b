"""Damaged states of agents, sealed again: what refuses them is then the check of their content, not the seal."""

import json

from sharpe_bandits.seals import seal


def resealed(state):
    """The state as text with a seal that fits it."""
    content = {key: value for key, value in state.items() if key != "seal"}
    return json.dumps({**content, "seal": seal(content)})
