"""The line of every key: in written examples, and in texts made at random that note their lines as they go."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharpe_bandits.experiments.toml_lines import line_of

TEXT = '''\
title = "x"  # kind = "none"
horizon = 10

# [policies]
policies = [
  { kind = "A", L = 1 },  # { kind = "Z" }

  { kind = "B", L = [
    # } ]
    1,
    2], objective = { kind = "C" } },
]
"quoted key" = \'\'\'
[cases]
kind = 1
\'\'\'
a.b = 1
[let]
x = """
y = 3
"""
y = 4
[[cases]]
set = "A"
[[cases]]   # the second
set = "B#"
[cases.objective]
kind = "RSSR"
[[cases.policies]]
kind = "P"
[[cases.policies]]
kind = "Q"
'''


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("title",), 1),
        (("horizon",), 2),
        (("policies",), 5),
        (("policies", 0), 6),
        (("policies", 0, "L"), 6),
        (("policies", 1), 8),
        (("policies", 1, "kind"), 8),
        (("policies", 1, "L"), 8),
        (("policies", 1, "L", 1), 11),
        (("policies", 1, "objective", "kind"), 11),
        (("quoted key",), 13),
        (("a", "b"), 17),
        (("let",), 18),
        (("let", "x"), 19),
        (("let", "y"), 22),
        (("cases",), 23),
        (("cases", 0, "set"), 24),
        (("cases", 1), 25),
        (("cases", 1, "set"), 26),
        (("cases", 1, "objective"), 27),
        (("cases", 1, "objective", "kind"), 28),
        (("cases", 1, "policies", 0, "kind"), 30),
        (("cases", 1, "policies", 1), 31),
        (("cases", 1, "policies", 1, "kind"), 32),
    ],
)
def test_lines_of_a_text(place, line):
    tomllib.loads(
        TEXT.replace('B",\n    # } ]\n    L = [1,\n         2], ', 'B", L = [1, 2], ')
    )  # all but that is TOML
    assert line_of(TEXT, place) == line


def test_the_text_is_toml():
    assert tomllib.loads(TEXT)["policies"][1]["L"] == [1, 2]


def test_what_is_not_there_has_the_line_of_what_is_around_it():
    assert line_of(TEXT, ("policies", 1, "missing")) == 8
    assert line_of(TEXT, ("cases", 1, "objective", "L")) == 27
    assert line_of(TEXT, ("arms", 0, "kind")) == 1
    assert line_of("", ("arms",)) == 1


def test_windows_line_ends():
    assert line_of("a = 1\r\n[[b]]\r\nc = 2\r\n", ("b", 0, "c")) == 3


class Writer:
    """Writes data as TOML in a style that a generator of choices decides, and notes the line of every key."""

    def __init__(self, choose):
        self.choose, self.text, self.lines = choose, "", {}

    def note(self, place):
        self.lines.setdefault(place, self.text.count("\n") + 1)

    def blank(self):
        self.text += self.choose(["", "", "\n", '# a = [ { " \n', " \t\n"])

    def key(self, name):
        self.text += self.choose([name, name + " ", f'"{name}"', f"'{name}' "])

    def pair(self, inside, name, value):
        place = (*inside, name)
        self.note(place)
        self.key(name)
        self.text += self.choose(["=", " = ", "= "])
        self.value(place, value)

    def value(self, place, value):
        self.note(place)
        if isinstance(value, dict):
            self.text += "{ "
            for number, (name, inner) in enumerate(value.items()):
                self.text += ", " if number else ""
                self.pair(place, name, inner)
            self.text += " }"
        elif isinstance(value, list):
            self.text += "["
            for number, inner in enumerate(value):
                self.text += self.choose(["", "\n", ' # ]} "\n'])
                self.value((*place, number), inner)
                self.text += ","
            self.text += self.choose(["]", "\n]"])
        elif isinstance(value, str):
            plain = value.replace("\\", "\\\\").replace('"', '\\"')
            self.text += f'"{plain}"' if "'" in value or self.choose([True, False]) else f"'{value}'"
        else:
            self.text += repr(value)

    def document(self, data):
        for name, value in data["pairs"].items():
            self.blank()
            self.pair((), name, value)
            self.text += self.choose(["\n", "  # b = 2\n"])
        for name, table in data["tables"].items():
            self.blank()
            self.note((name,))
            self.text += f"[{name}]\n"
            self.rows((name,), table)
        for name, tables in data["lists"].items():
            for number, table in enumerate(tables):
                self.blank()
                self.note((name,))
                self.note((name, number))
                self.text += f"[[ {name} ]] # [x]\n"
                self.rows((name, number), table)

    def rows(self, inside, table):
        for name, value in table.items():
            self.blank()
            self.pair(inside, name, value)
            self.text += "\n"


names = st.sampled_from(["kind", "L", "low", "name", "K", "x-y", "objective"])
leaves = st.one_of(st.integers(0, 9), st.floats(0, 9), st.text("a#[]{}='\",.\\ ", max_size=6))
values = st.recursive(
    leaves, lambda v: st.one_of(st.lists(v, max_size=3), st.dictionaries(names, v, max_size=3)), max_leaves=8
)
tables = st.dictionaries(names, values, max_size=4)
documents = st.fixed_dictionaries(
    {
        "pairs": st.dictionaries(st.sampled_from(["title", "horizon", "arms"]), values),
        "tables": st.dictionaries(st.sampled_from(["let", "sweep"]), tables),
        "lists": st.dictionaries(st.sampled_from(["policies", "cases"]), st.lists(tables, min_size=1, max_size=3)),
    }
)


@given(documents, st.data())
def test_lines_of_texts_made_at_random(data, drawn):
    writer = Writer(lambda options: drawn.draw(st.sampled_from(options)))
    writer.document(data)
    assert tomllib.loads(writer.text) == {**data["pairs"], **data["tables"], **data["lists"]}
    for place, line in writer.lines.items():
        assert line_of(writer.text, place) == line, (place, writer.text)
