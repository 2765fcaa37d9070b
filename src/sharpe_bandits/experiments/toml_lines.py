"""The line of every key of a TOML text, which the parser of the standard library does not provide."""

from __future__ import annotations

import re
from bisect import bisect_right

#: Keys and list indices from the top to a place: ``("policies", 1, "kind")``.
Place = tuple[str | int, ...]

_BLANK = re.compile(r"(?:\s|#[^\n]*)*")
_KEY = re.compile(r'[ \t]*(?:"((?:\\.|[^"\\])*)"|\'([^\']*)\'|([\w-]+))[ \t]*')
_STRING = re.compile(r'"""(?:\\.|[^\\])*?"""+|\'\'\'.*?\'\'\'+|"(?:\\.|[^"\\])*"|\'[^\']*\'', re.DOTALL)
_BARE = re.compile(r"[^,\]}#\n]*")


def line_of(text: str, place: Place) -> int:
    """The line of a place in a valid TOML text, or of the nearest enclosing one; 1 if there is none."""
    lines = _Scanner(text).lines
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place, 1)


class _Scanner:
    """Scans valid TOML text and records the line of every key, table and list entry."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self._starts = [0, *(newline.end() for newline in re.finditer("\n", text))]
        self.lines: dict[Place, int] = {}
        self._tables: dict[Place, int] = {}  # number of [[tables]] with that name so far
        inside: Place = ()
        self._skip_blank()
        while self.at < len(text):
            if text.startswith("[", self.at):
                inside = self._header()
            else:
                self._pair(inside)
            self._skip_blank()

    def _note(self, place: Place) -> None:
        self.lines.setdefault(place, bisect_right(self._starts, self.at))

    def _skip_blank(self) -> None:
        self.at = self._match(_BLANK).end()

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise AssertionError(f"not TOML at {self.text[self.at : self.at + 20]!r}")
        return found

    def _header(self) -> Place:
        several = self.text.startswith("[[", self.at)
        start = self.at
        self.at += 1 + several
        parts = self._key()
        end = self.at + 1 + several
        self.at = start
        place: Place = ()
        for part in parts[:-1]:
            place = self._last((*place, part))
            self._note(place)
        place = (*place, parts[-1])
        if several:
            self._note(place)
            self._tables[place] = self._tables.get(place, 0) + 1
        place = self._last(place)
        self._note(place)
        self.at = end
        return place

    def _last(self, place: Place) -> Place:
        """The last opened table with that name."""
        return (*place, self._tables[place] - 1) if place in self._tables else place

    def _key(self) -> list[str]:
        parts = []
        while True:
            found = self._match(_KEY)
            parts.append(next(part for part in found.groups() if part is not None))
            self.at = found.end()
            if not self.text.startswith(".", self.at):
                return parts
            self.at += 1

    def _pair(self, inside: Place) -> None:
        start = self.at
        parts = self._key()
        end, self.at = self.at + 1, start
        for part in parts:
            inside = (*inside, part)
            self._note(inside)
        self.at = end
        self._value(inside)

    def _value(self, place: Place) -> None:
        self._skip_blank()
        self._note(place)
        opening = self.text[self.at]
        if opening not in "[{":
            pattern = _STRING if opening in "\"'" else _BARE
            self.at = self._match(pattern).end()
            return
        self.at += 1
        number = 0
        while True:
            self._skip_blank()
            here = self.text[self.at]
            if here in "]}":
                self.at += 1
                return
            if here == ",":
                self.at += 1
            elif opening == "[":
                self._value((*place, number))
                number += 1
            else:
                self._pair(place)
