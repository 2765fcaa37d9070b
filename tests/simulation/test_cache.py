"""The cache is a help, never a need: whatever is wrong with it, results are right and it mends itself."""

import os
import pickle
import stat
import time

import numpy as np
import pytest

from sharpe_bandits._support.files import packed
from sharpe_bandits.cli.program import main
from sharpe_bandits.play import statistics, streams
from sharpe_bandits.simulation import cache
from sharpe_bandits.simulation.cache import KernelFiles, cache_folder
from sharpe_bandits.simulation.compiler import specialise
from tests.simulation.apart import refill, run

#: A process that calls some kernels, small ones: the cache does not care.
USE = """
    import json, warnings
    import numpy as np
    from sharpe_bandits.simulation import compiler
    from sharpe_bandits.play import statistics, streams

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        key = np.uint64(7)
        values = [compiler.specialise(draw, {})(key, 3) for draw in (streams.uniform, streams.normal)]
        values += [compiler.specialise(statistics.radius, {})(20)]
    kernels = list(compiler._compiled.values())
    print(json.dumps({
        "values": values,
        "refused": sum(k.stats.cache_path is None for k in kernels),
        "compiled": sum(sum(k.stats.cache_misses.values()) for k in kernels),
        "found": sum(sum(k.stats.cache_hits.values()) for k in kernels),
        "warnings": [str(w.message) for w in caught],
    }))
"""


#: A process that plays a policy, and says whether it has loaded all that code of others may call.
PLAY = """
    import json, math, sys
    import sharpe_bandits as sb

    @sb.index_policy(name="own")
    def own(arm, t, L):
        return arm.mean / (L + arm.variance)

    arms = [sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)]
    study = sb.simulate({policy}, arms, horizon=200, runs=4, seed=1)
    (result,) = study.values()
    print(json.dumps([result.final.tolist(), "numba.np.linalg" in sys.modules]))
"""


#: A process that reads a field of a record whose fields have some order.
READ = """
    from collections import namedtuple
    from sharpe_bandits.simulation.compiler import specialise

    Record, Outer = namedtuple("Record", "{fields}"), namedtuple("Outer", "inner")

    def field(outer):
        return outer.inner.first

    print(specialise(field, {{}})(Outer(Record(first=1.0, second=2.0))))
"""


def test_code_for_another_order_of_fields_is_not_loaded(tmp_path):
    for fields in ("first second", "second first"):
        value, _ = run(READ.format(fields=fields), SHARPE_BANDITS_CACHE=str(tmp_path / "kernels"))
        assert value == 1.0


def test_a_library_that_is_not_installed_compiles(tmp_path):
    """Used from its sources: it has no version."""
    code = """
        import importlib.metadata as metadata
        known = metadata.version

        def version(name):
            if name == "sharpe-bandits":
                raise metadata.PackageNotFoundError(name)
            return known(name)

        metadata.version = version
        from sharpe_bandits.simulation.compiler import specialise

        def doubled(x):
            return 2.0 * x

        print(specialise(doubled, {})(3.0))
    """
    value, _ = run(code, SHARPE_BANDITS_CACHE=str(tmp_path / "kernels"))
    assert value == 6.0


@pytest.mark.parametrize(("policy", "all_of_numba"), [("sb.ScaleFreeUCB(L=0.5)", False), ("own(L=0.5)", True)])
def test_a_kernel_of_the_package_loads_without_what_users_code_may_call(policy, all_of_numba):
    """A first process fills the cache of these tests, if nobody has yet."""
    code = PLAY.replace("{policy}", policy)
    (compiled, _), _ = run(code)
    assert run(code)[0] == [compiled, all_of_numba]


def expected_values():
    """What plain Python gives."""
    with np.errstate(over="ignore"):
        drawn = [float(draw(np.uint64(7), 3)) for draw in (streams.uniform, streams.normal)]
    return [*drawn, statistics.radius(20)]


def test_a_second_process_finds_the_code_of_the_first(tmp_path):
    folder = str(tmp_path / "kept")
    first, _ = run(USE, SHARPE_BANDITS_CACHE=folder)
    second, _ = run(USE, SHARPE_BANDITS_CACHE=folder)
    assert (first["compiled"], first["found"]) == (second["found"], second["compiled"])
    assert first["found"] == 0 < first["compiled"]
    assert first["values"] == second["values"] == expected_values()
    assert first["warnings"] == second["warnings"] == []


def test_without_a_writable_cache_everything_works_with_one_warning(tmp_path):
    """A folder below a regular file cannot be made, not even by root."""
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    result, _ = run(USE, SHARPE_BANDITS_CACHE=str(blocked / "cache"))
    assert result["values"] == expected_values()
    assert result["refused"] >= 2  # several kernels found no place
    assert len(result["warnings"]) == 1
    assert str(blocked / "cache") in result["warnings"][0]
    assert "set SHARPE_BANDITS_CACHE to a writable folder" in result["warnings"][0]
    assert blocked.read_text() == "not a folder"


def test_the_cache_folder_is_where_the_user_says(monkeypatch, tmp_path):
    monkeypatch.setenv("SHARPE_BANDITS_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
    monkeypatch.delenv("SHARPE_BANDITS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "sharpe-bandits"


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache that a process has filled, as bytes by file name."""
    folder = tmp_path_factory.mktemp("filled")
    run(USE, SHARPE_BANDITS_CACHE=str(folder))
    files = {path.name: path.read_bytes() for path in (folder / "kernels").glob("*.kernel")}
    assert len(files) >= 2
    assert all(name.endswith(".kernel") for name in files)
    return files


def test_a_damaged_file_is_a_miss(tmp_path, monkeypatch):
    monkeypatch.setenv("SHARPE_BANDITS_CACHE", str(tmp_path))
    files = KernelFiles("kernel", "digest")
    files.write("types", b"code" * 100)
    assert files.read("types") == b"code" * 100
    path = files.path("types")
    content = path.read_bytes()
    flipped = [content[:at] + bytes([content[at] ^ 16]) + content[at + 1 :] for at in (3, 40, len(content) // 2)]
    for damaged in (b"", content[:24], content[: len(content) // 2], content[:-1], b"something else", *flipped):
        path.write_bytes(damaged)
        assert files.read("types") is None


def repacked(filled, thing):
    """Files that are whole, but hold something else."""
    return {name: packed(pickle.dumps(thing), content.partition(b"\n")[0] + b"\n") for name, content in filled.items()}


def test_damage_costs_compiling_and_nothing_else(tmp_path, filled):
    """One file is cut short; one is whole and holds the code of another kernel; one is whole and does not load, as
    another version of Numba may leave it. Afterwards every file is whole.
    """
    (cut, content), (moved, _), (foreign, other) = list(filled.items())[-3:]
    kernels = refill(
        tmp_path, {cut: content[:-1], moved: content, **repacked({foreign: other}, ("not", "a", "kernel"))}
    )
    result, _ = run(USE, SHARPE_BANDITS_CACHE=str(tmp_path))
    assert result["values"] == expected_values()
    assert result["found"] == 0 < result["compiled"]
    assert result["warnings"] == []
    again, _ = run(USE, SHARPE_BANDITS_CACHE=str(tmp_path))
    assert again["compiled"] == 0 < again["found"]
    assert sorted(path.name for path in kernels.glob("*.kernel")) == sorted(filled)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners and permissions here")
def test_a_folder_that_others_may_write_is_not_read(tmp_path, filled, monkeypatch):
    """Not even where what lies in it looks right: a pickle that is read is run."""
    witness = tmp_path / "ran"
    kernels = refill(tmp_path, repacked(filled, Runs(str(witness))))
    kernels.chmod(0o777)
    result, _ = run(USE, SHARPE_BANDITS_CACHE=str(tmp_path))
    assert result["values"] == expected_values()
    assert not witness.exists()
    assert len(result["warnings"]) == 1
    assert (
        "may be written by other users (remedy: sharpe-bandits cache --clear, then chmod 700)" in result["warnings"][0]
    )
    # The test can fail: in a folder of one's own the same file would be run.
    kernels.chmod(0o700)
    run(USE, SHARPE_BANDITS_CACHE=str(tmp_path))
    assert witness.exists()


class Runs:
    """A pickle that leaves a trace when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners and permissions here")
def test_who_owns_the_folder_matters(tmp_path, monkeypatch):
    monkeypatch.setenv("SHARPE_BANDITS_CACHE", str(tmp_path))
    monkeypatch.setattr(cache, "_warned", set())
    folder = cache.usable_folder()
    assert folder == tmp_path / "kernels"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o755)  # others may look: not any more
    assert cache.usable_folder() == folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.warns(UserWarning, match="belongs to another user"):
        assert cache.usable_folder() is None


def test_without_a_home_folder_everything_works(monkeypatch):
    """As in a container that is run as a user who does not exist there."""
    for name in ("SHARPE_BANDITS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cache, "_warned", set())

    monkeypatch.delenv("HOME", raising=False)

    def nobody(number):
        raise KeyError(f"getpwuid(): uid not found: {number}")

    monkeypatch.setattr("pwd.getpwuid", nobody)
    with pytest.warns(UserWarning, match="there is no home folder; set SHARPE_BANDITS_CACHE"):
        assert cache.usable_folder() is None
    assert main(["cache"]) == 2


def test_a_full_disk_is_one_warning(tmp_path, monkeypatch):
    monkeypatch.setenv("SHARPE_BANDITS_CACHE", str(tmp_path))
    monkeypatch.setattr(cache, "_warned", set())

    def full(path, magic, payload):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache, "write_checked", full)

    def kernel(x):
        return 1.2345 * x

    with pytest.warns(UserWarning, match=r"cannot be written \(No space left on device\)") as caught:
        values = [specialise(kernel, {})(x) for x in (2.0, 2)]  # two signatures, neither of which can be kept
    assert values == [2.469, 2.469]
    assert len(caught) == 1
    assert list((tmp_path / "kernels").glob("*.kernel")) == []


def test_the_cache_is_trimmed_from_what_was_used_longest_ago(tmp_path):
    folder = tmp_path / "kernels"
    folder.mkdir()
    now = time.time()
    ages = {".left.new": 40, "a.kernel": 30, "b.kernel": 20, "c.kernel": 0, ".fresh.new": 0}
    for name, days in ages.items():
        (folder / name).write_bytes(bytes(1000))
        os.utime(folder / name, (now - 86400 * days,) * 2)
    (folder / "notes.txt").write_text("not ours")
    (tmp_path / "0123456789abcdef01234567").mkdir()  # whatever it is, it is not a kernel
    cache.trim(folder, max_bytes=3000)
    assert sorted(path.name for path in folder.iterdir()) == [".fresh.new", "b.kernel", "c.kernel", "notes.txt"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0123456789abcdef01234567", "kernels"]
