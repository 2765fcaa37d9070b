"""Tables on the screen: nothing is cut."""

import pytest
from rich.console import Console

from sharpe_bandits._support import console


@pytest.mark.parametrize("width", [40, 60, 80, 160])
def test_nothing_is_cut_on_a_narrow_screen(width):
    heads = ["share of time in", *(f"a policy {k}" for k in range(9))]
    rows = [[f"momentum_12m_{side}", *(f"{k}7.{k}%" for k in range(9))] for side in ("long", "short")]
    screen = Console(width=width, color_system=None, force_terminal=False)
    with screen.capture() as captured:
        screen.print(console.Findings([], [(heads, rows)], "", {}))
    text = captured.get()
    assert "…" not in text
    assert all(cell in text for row in rows for cell in row[1:])
    assert max(map(len, text.splitlines())) <= width
