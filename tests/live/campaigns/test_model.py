"""Random sequences of operations against a plain model; ``python -m torture.model`` plays many."""

from torture.actors import Local
from torture.model import play


def test_a_campaign_is_what_the_model_says():
    play(25, [Local() for _ in range(3)], derandomize=True)
