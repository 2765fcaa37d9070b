"""Files that are there whole or not at all, and JSON that cannot do harm."""

import errno
import json
import threading
from pathlib import Path

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits._support.files import MAX_DEPTH, from_json, to_json, write_atomically


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "a" / "b.txt"
    write_atomically(path, b"old")
    write_bytes = Path.write_bytes

    def full(self, content):
        write_bytes(self, content[:2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new content")
    assert [p.name for p in path.parent.iterdir()] == ["b.txt"]
    assert path.read_bytes() == b"old"
    monkeypatch.undo()
    write_atomically(path, b"new content")
    assert path.read_bytes() == b"new content"


def test_several_threads_may_write_the_same_file(tmp_path):
    path = tmp_path / "shared"
    contents = [bytes([65 + k]) * 200_000 for k in range(8)]
    threads = [threading.Thread(target=lambda c=c: [write_atomically(path, c) for _ in range(20)]) for c in contents]
    for thread in threads:
        thread.start()
    seen = set()
    while any(thread.is_alive() for thread in threads):
        if path.exists():
            seen.add(path.read_bytes())
    for thread in threads:
        thread.join()
    assert seen | {path.read_bytes()} <= set(contents)
    assert [p.name for p in tmp_path.iterdir()] == ["shared"]


def test_a_long_name_can_be_written(tmp_path):
    path = tmp_path / ("n" * 250)
    write_atomically(path, b"x")
    assert path.read_bytes() == b"x"


def test_json_there_and_back():
    thing = {"a": np.float64(0.1), "b": np.arange(3), "c": (1, "ü"), "d": None, "e": np.int64(5), "f": 2**60}
    assert from_json(to_json(thing), "it") == {"a": 0.1, "b": [0, 1, 2], "c": [1, "ü"], "d": None, "e": 5, "f": 2**60}
    with pytest.raises(sb.errors.InvalidInputError, match="cannot be written as JSON"):
        to_json({"x": object()})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        ("1e400", "1e400 is out of range"),
        ("[-1e999]", "-1e999 is out of range"),
        ("NaN", "NaN is not a number"),
        ('{"x": Infinity}', "Infinity is not a number"),
        ("9" * 5000, "not JSON"),
        ("[" * 100_000, "nested more than|not JSON"),
        ("[" * 100_000 + "]" * 100_000, "nested"),
        ('{"a":' * 500 + "1" + "}" * 500, "nested more than 100 levels"),
    ],
)
def test_hostile_json_is_refused(text, told):
    with pytest.raises(sb.errors.UnreadableDataError, match=told):
        from_json(text, "the state")


def test_limits_of_json():
    deep = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert from_json(deep, "it") == json.loads(deep)
    with pytest.raises(sb.errors.UnreadableDataError, match="more than 100 levels"):
        from_json(f"[{deep}]", "it")
    assert from_json("[NaN, Infinity]", "it", constants=True)[1] == np.inf
    with pytest.raises(sb.errors.UnreadableDataError, match="out of range"):
        from_json("[1e400]", "it", constants=True)
