"""``python -m sharpe_bandits``."""

from .cli.program import program

program()
