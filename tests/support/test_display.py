"""How results show themselves: as text, as escaped HTML, and as tables of other libraries."""

import csv
import io
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits._support.console import Findings
from sharpe_bandits._support.display import Table, html_table, in_words
from sharpe_bandits.report.reported import Reported

TABLE = Table(["policy", "regret", "note"], [["A", 1.23456789, None], ["<b>&", 12, "x"]], "A title")


def test_text_is_aligned():
    assert repr(TABLE).splitlines() == ["A title", "policy  regret  note", "A        1.235", "<b>&        12  x"]


def test_the_text_of_a_long_table_is_its_first_and_last_rows():
    def lines(rows):
        return repr(Table(["i", "square"], [[i, i * i] for i in range(rows)])).splitlines()

    assert lines(20) == [" i  square", *(f"{i:2}  {i * i:6}" for i in range(20))]
    first, *middle, last = lines(1234)
    assert first.split() == ["i", "square"]
    assert last == "1,234 rows, 2 columns"
    rows = [line.split() for line in middle]
    assert rows[10] == ["…", "…"]
    assert [int(row[0]) for row in rows if row != rows[10]] == [*range(10), *range(1224, 1234)]


def test_html_is_well_formed_and_escaped():
    root = ET.fromstring(TABLE._repr_html_().replace("style=text-align:right", 'style="text-align:right"'))
    assert [cell.text for cell in root.iter("td")] == ["A", "1.235", None, "<b>&", "12", "x"]
    assert [cell.text for cell in root.iter("th")] == ["policy", "regret", "note"]
    assert root.find("caption").text == "A title"
    assert "<script>" not in html_table(["<script>"], [["<script>"]], "<script>")


def test_other_libraries_get_the_same_numbers():
    records = [{"policy": "A", "regret": 1.5, "runs": 3}, {"policy": "B", "regret": float("nan"), "runs": 4}]
    table = Table.of(records)
    assert table.records() == records
    arrow = table.to_arrow()
    assert arrow.column_names == ["policy", "regret", "runs"]
    for frame in (table.to_pandas(), table.to_polars()):
        assert list(frame.columns) == arrow.column_names
        assert list(frame["policy"]) == ["A", "B"]
        assert list(frame["runs"]) == [3, 4]
        np.testing.assert_array_equal(np.asarray(frame["regret"], float), [1.5, np.nan])
    assert list(csv.reader(io.StringIO(table.to_csv().decode()))) == [
        ["policy", "regret", "runs"], ["A", "1.5", "3"], ["B", "nan", "4"],
    ]  # fmt: skip


def test_a_missing_library_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(sb.errors.MissingLibraryError, match="pip install polars") as caught:
        TABLE.to_polars()
    assert isinstance(caught.value, ImportError)


def test_plain_data_in_words():
    assert in_words(sb.ScaleFreeUCB(L=0.1).to_dict()).startswith("ScaleFreeUCB(")
    assert in_words({"arm": "Uniform", "low": 0.0, "high": 1.5}, named=False) == "Uniform(0, 1.5)"
    assert in_words(sb.Empirical(range(100)).to_dict()) == "Empirical(values = 100 values)"


class Found(Reported):
    def findings(self):
        facts = {"runs": "10"}
        return Findings(["a < b"], [(["", "mean"], [["A", "1"]])], "A is <best>. By far.\n\nLuck differs.", facts)

    def table(self):
        return TABLE

    def to_dict(self):
        return {"runs": 10}


def test_a_result_shows_its_findings():
    assert repr(Found()) == "<Found: A is <best>>"
    text = str(Found())
    assert "Check: a < b." in text
    assert "Luck differs." in text
    page = Found()._repr_html_()
    assert page.startswith("<p><b>Check:</b> a &lt; b.</p><p>A is &lt;best&gt;. By far.</p><p>Luck differs.</p>")
    assert page.count("<table") == 2
