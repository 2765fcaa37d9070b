"""``python -m sharpe_bandits``."""

import sys

from .cli import main

sys.exit(main())
