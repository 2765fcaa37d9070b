"""The history of a campaign: the same in pages and as CSV."""

import io

import pyarrow.csv

from sharpe_bandits.service import api
from tests.service.desks import DESKS, ask


def test_history_in_pages_and_csv_is_the_same(http, store, monkeypatch):
    monkeypatch.setattr(api, "_PAGE", 10)
    ask(http, count=25)
    http.post(f"{DESKS}/rewards", json={"rewards": [{"decision": 3, "reward": 0.5}]})
    rows, first = [], 1
    while first is not None:
        page = http.get(f"{DESKS}/decisions?first={first}&count=10").json()
        rows, first = rows + page["decisions"], page["next"]
    assert [row["number"] for row in rows] == list(range(1, 26))
    expected = store.campaign("desks").history()
    csv = pyarrow.csv.read_csv(io.BytesIO(http.get(f"{DESKS}/decisions.csv").content))
    assert csv["arm"].to_pylist() == expected["arm"].to_pylist() == [row["arm"] for row in rows]
    assert csv["reward"].to_pylist() == expected["reward"].to_pylist()
