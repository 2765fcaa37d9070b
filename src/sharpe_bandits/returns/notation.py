"""Numbers in text: decimal and thousands separators, currency symbols and per cent signs. Nothing is guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from .._support.validation import one_of
from ..errors import InvalidInputError, shown

#: Accepted thousands separators, and decimal separators.
_THOUSANDS, _DECIMAL = ("", ",", ".", " ", "'", "’", "_"), (".", ",")
#: Spaces that programs write between digits, other than the ordinary one.
_BLANKS = "\u00a0\u202f\u2009"
#: Decimal and thousands separators that are tried, the likelier first: nothing, one sign, or two.
_SEPARATORS = ((".", ""), (",", ""), (".", ","), (",", "."), (".", "'"), (".", "’"), (".", " "), (",", " "))
_CURRENCY = re.compile(r"[$€£¥₹₩]|\b[A-Z]{3}\b|(?<=\d)\s?(kr|Fr|zł)\.?$|^(kr|Fr|zł)\.?(?=\s?\d)")


@dataclass(frozen=True)
class Notation:
    """How numbers are written in text; with ``percent`` they may end in a per cent sign."""

    decimal: str = "."
    thousands: str = ""
    currency: str = ""
    percent: bool = False

    def __post_init__(self) -> None:
        one_of("decimal", self.decimal, _DECIMAL)
        one_of("thousands", self.thousands, _THOUSANDS)
        if self.decimal == self.thousands:
            raise InvalidInputError(f"decimal and thousands are both {self.decimal!r}; pass different separators")
        if not isinstance(self.currency, str) or re.search(r"[\d.,%+-]", self.currency):
            raise InvalidInputError(f"currency must be a symbol such as '€' or 'USD', got {shown(self.currency)}")

    @cached_property
    def plain(self) -> bool:
        return self == PLAIN

    @cached_property
    def form(self) -> str:
        """Regular expression that matches a number."""
        group, point, money = (re.escape(sign) for sign in (self.thousands, self.decimal, self.currency))
        groups = rf"\d{{1,3}}({group}\d{{3}})+|" if group else ""
        sign = f"({money})?" if money else ""
        end = r"\s?%?" if self.percent else ""
        return rf"^[-+]?{sign}\s?[-+]?(({groups}\d+)({point}\d*)?|{point}\d+)([eE][-+]?\d+)?\s?{sign}{end}$"

    def number(self, text: str) -> float | None:
        """Text as a float; None if it is not a number in this notation."""
        if self.plain:
            try:
                return None if "_" in text else float(text)  # Python itself would accept 1_000
            except ValueError:
                return None
        for blank in _BLANKS:
            text = text.replace(blank, " ")
        if not re.match(self.form, text):
            return None
        for sign in filter(None, (self.currency, self.thousands, " ", "%")):
            text = text.replace(sign, "")
        return float(text.replace(self.decimal, "."))


#: Numbers as Python writes them.
PLAIN = Notation()


def remedy(text: str) -> str | None:
    """The options that make text readable as a number; None if it does not look like one, or needs none."""
    for blank in _BLANKS:
        text = text.replace(blank, " ")
    text, money = text.strip(), _CURRENCY.search(text)
    currency, percent = money[0].strip() if money else "", "%" in text
    options = [f"currency={currency!r}"] * bool(currency) + ["scale=0.01"] * percent
    fits = []
    for decimal, thousands in _SEPARATORS:
        if re.match(Notation(decimal, thousands, currency, percent).form, text):
            signs = [f"decimal={decimal!r}"] * (decimal != ".") + [f"thousands={thousands!r}"] * bool(thousands)
            fits.append(" and ".join(options + signs))
    if len(fits) > 1 and re.search(r"[1-9]\d{0,2},\d{3}(?!\d)", text):  # 1,234 may be either
        digits = re.sub(r"[^\d,]", "", text)
        return f"{fits[1]} if it is {digits.replace(',', '')}, {fits[0]} if it is {digits.replace(',', '.')}"
    return fits[0] if fits and fits[0] else None
