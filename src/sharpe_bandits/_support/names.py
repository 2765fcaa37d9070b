"""Names that users give: checked where they come in, escaped for each medium that shows them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from ..errors import InvalidInputError, shown

#: Characters of a name, at most.
LONGEST = 200
#: Control characters, line breaks, surrogates, invisible signs, signs that turn the direction of writing, and code
#: points that are no characters (XML allows neither the first nor the last).
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufdd0-\ufdef\ufeff"
    + "".join(chr(plane + end) for plane in range(0, 0x110000, 0x10000) for end in (0xFFFE, 0xFFFF))
    + "]"
)
#: A spreadsheet takes text that starts with one of these for a formula.
_FORMULA = re.compile("[=+\\-@\t\r\n＝＋－＠]")


def check_name(what: str, name: Any, longest: int | None = LONGEST) -> str:
    """``name``, if it is text that can be shown in one line; ``what`` says whose name it is."""
    if not isinstance(name, str):
        raise InvalidInputError(f"{what} must be text, got {shown(name)}")
    hidden = _UNPRINTABLE.search(name)
    if hidden:
        raise InvalidInputError(
            f"{what} must be printable text in one line, got {shorten(ascii(name), 80)} with {hidden[0]!a} at "
            f"position {hidden.start() + 1}; leave that character out"
        )
    if not name.strip():
        raise InvalidInputError(f"{what} must not be blank, got {shown(name)}")
    if longest is not None and len(name) > longest:
        raise InvalidInputError(
            f"{what} must have at most {longest} characters, got {len(name):,}: {shorten(name, 60)!r}; shorten it"
        )
    return name


def check_column(name: str) -> str:
    """``name``, if it can head a column of data: of any length, and with line breaks, which are shown as spaces."""
    check_name("the name of a column", re.sub(r"\s", " ", name), longest=None)
    return name


def printable(text: str) -> str:
    """Text in one line; unprintable characters become the replacement character."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", re.sub(r"\s", " ", text))


def shorten(text: str, longest: int) -> str:
    """Text, cut with an ellipsis if it is longer than so many characters."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def repeats_counted(names: Iterable[str]) -> list[str]:
    """Names with repeats in a row counted: ``Uniform(0, 1) ×3``."""
    runs = [(name, len(list(same))) for name, same in groupby(names)]
    return [name if count == 1 else f"{name} ×{count}" for name, count in runs]


def plain_text(text: str) -> str:
    """Text for matplotlib, which takes what stands between dollar signs for a formula."""
    return printable(text).replace("$", r"\$")


def csv_cell(value: Any) -> Any:
    """A cell for CSV: text that a spreadsheet would run as a formula gets an apostrophe in front; numbers stay."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value
