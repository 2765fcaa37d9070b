"""Settings that all tests share."""

import os

import pytest
from hypothesis import settings

# Compiling dwarfs all else here, so that a limit per example would only be noise. A run of the tests is repeatable; a
# long one (make test-long) looks at other examples every time, and prints what repeats one that fails.
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("long", deadline=None, max_examples=300, print_blob=True)
settings.load_profile("quick")  # --hypothesis-profile chooses another


def pytest_configure(config: pytest.Config) -> None:
    """Keep compiled kernels between test runs, inside the project and apart from the user's own."""
    os.environ.setdefault("SHARPE_BANDITS_CACHE", str(config.rootpath / ".pytest_cache" / "kernels"))
