"""docs/evidence/reading-the-paper.md and the readings that are played are one list."""

import re
from pathlib import Path

import pytest

import sharpe_bandits as sb
from sharpe_bandits.paper.panels import PROFILES, descriptions, readings

PAGE = (Path(__file__).parents[2] / "docs" / "evidence" / "reading-the-paper.md").read_text("utf-8")
#: Rows of the tables that have a column for readings.
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in PAGE.splitlines()
    if line.startswith("|") and not line.startswith("|---")
]
PLAYED = [
    (row[0], re.findall(r"`([^`]+)`", row[3])) for row in ROWS if len(row) == 4 and row[3] != "other readings played"
]


def test_the_page_names_every_reading_once_and_no_other():
    named = [name for _, names in PLAYED for name in names]
    assert sorted(named) == sorted(readings())


def test_rows_of_panels_name_the_panels_where_their_readings_are_played():
    """The first column of a row about experiments is a list or a range of panels."""
    for place, names in PLAYED:
        first = re.match(r"([RVB])(\d)(?:–[RVB](\d))?", place)
        if not first or not names:
            continue
        listed = set()
        for letter, low, high in re.findall(r"([RVB])(\d)(?:–[RVB](\d))?", place):
            listed |= {f"{letter}{n}" for n in range(int(low), int(high or low) + 1)}
        for name in names:
            assert set(readings()[name].panels) <= listed, place


def test_every_option_that_the_page_shows_exists():
    calls = [call for call in re.findall(r"`(\w+\([^`]*=[^`]*\))`", PAGE) if hasattr(sb.policies, call.split("(")[0])]
    assert {call.split("(")[0] for call in calls} >= {"UUCB", "UCBRSSR", "UCBSRLike", "SHSR", "NPTS"}
    for call in calls:
        code = call.replace("RSSR(L,", "RSSR(1,")
        assert eval(code, {**vars(sb.objectives), **vars(sb.policies)})


@pytest.mark.parametrize("reading", readings().values(), ids=lambda reading: reading.id)
def test_a_reading_changes_something_and_names_what_exists(reading):
    assert reading.policies or reading.added or reading.replaced or reading.metric
    assert set(reading.panels) <= set(descriptions())
    assert set(reading.profiles) <= set(PROFILES)
    assert {panel for panels in reading.replaced for panel in panels.split()} <= set(reading.panels)
    assert reading.name
    assert reading.condition
    assert not reading.condition.endswith(".")
    assert {claim.split(".")[0] for claim in reading.claims} <= set(reading.panels)
