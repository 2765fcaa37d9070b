"""Settings that all tests share."""

import gc
import os
import random
import shutil
import signal
import sys

import pytest
from hypothesis import settings

# Compiling dwarfs all else here, so that a limit per example would only be noise. A run of the tests is repeatable; a
# long one (make test-long) looks at other examples every time, and prints what repeats one that fails.
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("long", deadline=None, max_examples=300, print_blob=True)
settings.load_profile("quick")  # --hypothesis-profile chooses another


def examples(share):
    """A share of the examples of the profile, for tests whose examples take long."""
    return max(1, round(share * settings.default.max_examples))


def pytest_configure(config: pytest.Config) -> None:
    """Keep compiled kernels between test runs, inside the project and apart from the user's own."""
    os.environ.setdefault("SHARPE_BANDITS_CACHE", str(config.rootpath / ".pytest_cache" / "kernels"))
    os.environ.pop("COLUMNS", None)  # workers of pytest-xdist have it; tables have the width that they have in a file
    # Programs that tests start import pandas, Dask and the like: with the bytecode of earlier ones, in half the time.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # The compiler makes millions of objects that live on: looking through them again and again takes an eighth of it.
    gc.set_threshold(100_000, 50, 100)


#: Files whose tests take longest: whole programs.
LONG = {"test_examples.py", "test_site.py"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--order", type=int, metavar="SEED", help="shuffle the tests; the same order for the same seed")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest tests come first, so that no worker waits for them at the end. No test relies on another having run
    before it.
    """
    items.sort(key=lambda item: item.path.name not in LONG)
    if (seed := config.getoption("order")) is not None:
        random.Random(seed).shuffle(items)


#: Browsers, and how they are started.
NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture(scope="session")
def browser():
    """One browser for all tests."""
    path = next((found for found in map(shutil.which, NAMES) if found), None)
    if path is None:
        reason = f"no browser found; install one of {', '.join(NAMES)} (on Debian: apt install chromium)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(autouse=True)
def interrupts():
    """Ctrl-C raises KeyboardInterrupt in every test: a shell that runs the suite in the background has it ignored, and
    some libraries take it over."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def own_work():
    """What earlier tests have simulated does not make the compilation of a faster kernel pay."""
    if index := sys.modules.get("sharpe_bandits.simulation.families.index"):
        index._requested.clear()


@pytest.fixture(autouse=True)
def own_policies():
    """Policies that a test defines are gone after it: those of other tests may have the same name."""
    custom = sys.modules.get("sharpe_bandits.policies.custom")
    known = custom and custom.PolicyFactory.known
    before = dict(known or {})
    yield
    if custom:
        known.clear()
        known.update(before)
