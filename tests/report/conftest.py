"""One reproduction and one browser for all tests of the report."""

import os
import shutil

import pytest

from sharpe_bandits.cli import main
from sharpe_bandits.paper import theory_check

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The folder of a small reproduction with all three kinds of panels."""
    out = tmp_path_factory.mktemp("report") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(theory_check, "SAMPLES", 400)
        assert main(["reproduce", "R2", "V3", "B1", "C1", "--runs", "32", "--seed", "7", "--out", str(out)]) == 0
    return out


@pytest.fixture(scope="session")
def browser():
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
