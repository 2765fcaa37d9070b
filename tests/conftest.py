"""Settings that all tests share."""

import os

import pytest
from hypothesis import settings

# Compiling dwarfs all else here, so that a limit per example would only be noise; and a test run should be repeatable.
settings.register_profile("tests", deadline=None, derandomize=True, max_examples=25)
settings.load_profile("tests")


def pytest_configure(config: pytest.Config) -> None:
    """Keep compiled kernels between test runs, inside the project and apart from the user's own."""
    os.environ.setdefault("SHARPE_BANDITS_CACHE", str(config.rootpath / ".pytest_cache" / "kernels"))
