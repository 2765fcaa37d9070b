"""``python -m sharpe_bandits``."""

from .cli import program

program()
