"""One reproduction for all tests of the report."""

import pytest

from sharpe_bandits.cli.program import main
from sharpe_bandits.paper import theory_check


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The folder of a small reproduction with all three kinds of panels."""
    out = tmp_path_factory.mktemp("report") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(theory_check, "SAMPLES", 400)
        assert main(["reproduce", "R2", "V3", "B1", "C1", "--runs", "32", "--seed", "7", "--out", str(out)]) == 0
    return out
