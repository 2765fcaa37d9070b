"""Numbers in text: decimal and thousands separators, currency symbols and per cent signs. Nothing is guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidInputError, shown

#: Accepted thousands separators, and decimal separators.
_THOUSANDS, _DECIMAL = ("", ",", ".", " ", "'", "’", "_"), (".", ",")
#: Spaces that programs write between digits, other than the ordinary one.
_BLANKS = "\u00a0\u202f\u2009"
_CURRENCY = re.compile(r"[$€£¥₹₩]|\b[A-Z]{3}\b|(?<=\d)\s?(kr|Fr|zł)\.?$|^(kr|Fr|zł)\.?(?=\s?\d)")


@dataclass(frozen=True)
class Notation:
    """How numbers are written in text.

    Attributes
    ----------
    decimal : str, optional
        decimal separator, "." or ","
    thousands : str, optional
        thousands separator; "" for none
    currency : str, optional
        currency symbol before or after amounts; "" for none
    percent : bool, optional
        whether numbers may end in a per cent sign
    """

    decimal: str = "."
    thousands: str = ""
    currency: str = ""
    percent: bool = False

    def __post_init__(self) -> None:
        for name, value, known in (
            ("decimal", self.decimal, _DECIMAL),
            ("thousands", self.thousands, _THOUSANDS),
        ):
            if not isinstance(value, str) or value not in known:
                choices = ", ".join(map(repr, filter(None, known)))
                raise InvalidInputError(f"{name} must be one of {choices}, got {shown(value)}")
        if self.decimal == self.thousands:
            raise InvalidInputError(f"decimal and thousands are both {self.decimal!r}; pass different separators")
        if not isinstance(self.currency, str) or re.search(r"[\d.,%+-]", self.currency):
            raise InvalidInputError(f"currency must be a symbol such as '€' or 'USD', got {shown(self.currency)}")

    @property
    def plain(self) -> bool:
        """Whether numbers are written as Python writes them."""
        return self == Notation()

    @property
    def _form(self) -> str:
        """Regular expression that matches a number, for Arrow."""
        group, point, money = (re.escape(sign) for sign in (self.thousands, self.decimal, self.currency))
        groups = rf"\d{{1,3}}({group}\d{{3}})+|" if group else ""
        sign = f"({money})?" if money else ""
        end = r"\s?%?" if self.percent else ""
        return rf"^[-+]?{sign}\s?[-+]?({groups}\d*)({point}\d*)?([eE][-+]?\d+)?\s?{sign}{end}$"

    def numbers(self, text: Any) -> tuple[np.ndarray, int | None]:
        """Text (an Arrow array, null where a value is missing) as floats; and the first invalid row, if any."""
        import pyarrow as pa
        import pyarrow.compute as pc

        for blank in _BLANKS:
            text = pc.replace_substring(text, blank, " ")
        held = pc.and_(pc.match_substring_regex(text, self._form), pc.match_substring_regex(text, r"\d"))
        if self.percent:
            signs = np.asarray(pc.match_substring(text, "%").fill_null(False))
            if signs.any() and not (signs | np.asarray(text.is_null())).all():
                return np.empty(0), int(np.flatnonzero(~signs & ~np.asarray(text.is_null()))[0])
        bad = np.flatnonzero(~np.asarray(held.fill_null(True)))
        if len(bad):
            return np.empty(0), int(bad[0])
        for sign in (self.currency, self.thousands, " ", "%"):
            text = pc.replace_substring(text, sign, "") if sign else text
        plain = pc.replace_substring(text, self.decimal, ".")
        return np.asarray(plain.cast(pa.float64()).to_numpy(zero_copy_only=False), float), None


def remedy(text: str) -> str | None:
    """The options that make text readable as a number; None if it does not look like one, or needs none."""
    options = []
    for blank in _BLANKS:
        text = text.replace(blank, " ")
    money = _CURRENCY.search(text)
    if money is not None:
        options.append(_option("currency", money[0].strip()))
        text = text.replace(money[0], "")
    if "%" in text:
        options.append("scale=0.01")
        text = text.replace("%", "")
    digits = text.strip().lstrip("+-").strip()
    if not re.fullmatch(r"\d[\d.,' ’]*|[.,]\d+", digits):
        return None
    signs = [sign for sign in ",.'’ " if sign in digits]
    if signs == [","] and re.fullmatch(r"[1-9]\d{0,2},\d{3}", digits):
        whole, fraction = digits.split(",")
        either = f"{_option('thousands', ',')} if it is {whole}{fraction}, {_option('decimal', ',')} if it is "
        return " and ".join([*options, f"{either}{whole}.{fraction}"])
    last = max(signs, key=digits.rindex, default=".")
    if last == "," and digits.count(",") == 1:
        options.append(_option("decimal", ","))
        signs.remove(",")
    elif last == "." and digits.count(".") == 1:
        signs.remove(".") if "." in signs else None
    options += [_option("thousands", sign) for sign in signs]
    return " and ".join(options) or None


def _option(name: str, value: str) -> str:
    return f"{name}={value!r}"
