"""Values that ill-treated programs pass, and ways to damage good ones."""

from __future__ import annotations

import datetime
import json
import math
import numbers
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np


class Hostile:
    """An object whose every method fails."""

    def _fail(self, *_: Any) -> Any:
        raise RuntimeError("hostile")

    __float__ = __int__ = __index__ = __iter__ = __len__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _fail
    __repr__ = __str__ = __bool__ = __hash__ = __array__ = __getitem__ = _fail


class Liar(float):
    """A number that is another one every time, and cannot be shown."""

    def __float__(self) -> float:
        raise ZeroDivisionError("liar")

    def __repr__(self) -> str:
        raise RecursionError("liar")


numbers.Real.register(Hostile)

#: Numbers, and what some take for numbers.
ODD_NUMBERS: tuple[Any, ...] = (
    0, 1, -1, 2, 7, 0.5, -0.0, 1e-300, 5e-324, 1e80, 1e160, 1.7e308, -1e308, math.inf, -math.inf, math.nan, 10**12,
    10**30, 10**400, -(10**400), 10**5000, True, False, None, "1", "", "nan", "inf", "1e400", b"1", 1j, [1.0], {},
    Decimal("0.1"), Decimal("sNaN"), Decimal("1e999"), Fraction(1, 3), Fraction(10**400, 3), np.float32(0.5),
    np.int8(3),
    np.float64("nan"), np.longdouble("1e4000"), np.bool_(True), np.timedelta64(1, "s"), np.timedelta64("NaT"),
    np.datetime64("2020-01-01"), np.array(1.0), np.array([1.0, 2.0]), datetime.timedelta(1), Hostile(), Liar(1.0),
)  # fmt: skip
ODD_TEXTS: tuple[str, ...] = (
    "", " ", "a", "A b", "\0", "a\0b", "\n", "\r\n", "\t", "\ud800", "\u202e", "é", "名前", "𝔘", "<script>",
    "<!--<script>",
    "=1+1", "@cmd", "+1", "-1", "$a_b$", "$", "\\", "'", '"', "{x}", "%s", "..", "../x", "/", "a" * 300, "a" * 200_000,
    "nan", "None", "0", "1e5", "[link](x)", "&amp;", "\x1b[31m", ";", ",", "|", "#", "name", "index", "date", "seal",
)  # fmt: skip


def pick(rng: np.random.Generator, things: Any) -> Any:
    """One of them (never turned into something of NumPy's)."""
    return things[int(rng.integers(len(things)))]


def damaged_json(rng: np.random.Generator, data: Any) -> Any:
    """Plain data with one to three places changed: dropped, replaced, doubled, moved, or nudged."""
    data = json.loads(json.dumps(data))
    for _ in range(int(rng.integers(1, 4))):
        holder, key = _place(rng, data)
        if holder is None:
            continue
        action = rng.integers(8)
        value = holder[key]
        if action == 0 and isinstance(holder, dict):
            del holder[key]
        elif action == 1 and isinstance(value, list) and value:
            holder[key] = value[:-1] if rng.random() < 0.5 else [*value, pick(rng, value)]
        elif action == 2 and isinstance(value, (int, float)) and not isinstance(value, bool):
            holder[key] = pick(rng, [value + 1, value - 1, -value, value * 1e10, value + 0.5, value * 10**9])
        elif action == 3:
            other, place = _place(rng, data)
            if other is not None:
                holder[key] = json.loads(json.dumps(other[place]))
        elif action == 4:
            holder[key] = pick(rng, [t for t in ODD_TEXTS if len(t) < 1000])
        elif action == 5 and isinstance(holder, dict):
            holder[pick(rng, ["x", "policy", "kind", "L", "name"])] = value
        else:
            plain = [0, 1, -1, 2, 1e308, -1e308, 1e75, 10**12, 10**30, 0.5, True, None, "1", [], {}, [[]], 2**63, 2**64]
            holder[key] = pick(rng, plain)
    return data


def _place(rng: np.random.Generator, data: Any) -> tuple[Any, Any]:
    """A dictionary or list inside the data, and a key of it; those near the top are as likely as those far down."""
    holder, key = None, None
    while isinstance(data, (dict, list)) and data:
        holder, key = data, pick(rng, list(data) if isinstance(data, dict) else range(len(data)))
        data = data[key]
        if rng.random() < 0.3:
            break
    return holder, key


def damaged_bytes(rng: np.random.Generator, content: bytes) -> bytes:
    """Content with bits flipped, cut short, or with bytes put in, taken out or overwritten."""
    damaged = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(damaged) + 1))
        length = int(rng.integers(1, 20))
        action = rng.integers(8)
        if at < len(damaged) and action < 4:
            damaged[at] ^= 1 << int(rng.integers(8))
        elif action == 5:
            del damaged[at:]
        elif action == 6:
            damaged[at : at + length] = b""
        else:
            damaged[at : at + length * (action % 2)] = rng.bytes(length)
    return bytes(damaged)
