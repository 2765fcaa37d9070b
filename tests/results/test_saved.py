"""Studies on disk: what is saved is what is read, and what was damaged is reported, never guessed."""

import errno
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import sharpe_bandits as sb
from sharpe_bandits._support import files
from sharpe_bandits.results.saved import FORMAT
from tests.catalogue import greedy_sharpe
from tests.data.studies import numbers
from tests.synthetic import case, finished, panel, wrong_plays
from tests.top_m import FINDERS, FIVE

A = sb.policies.UCB1(name="A")

BANDIT = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8), sb.arms.Gamma(2, 1)])
POLICIES = [sb.UCBRSSR(L=2.0), sb.policies.MVTS(), sb.SHSR(L=2.0), greedy_sharpe(L=1.0)]
FIELDS = (
    "checkpoints",
    "pulls",
    "final",
    "recommended",
    "reward_mean",
    "reward_variance",
    "stopped",
    "mean",
    "variance",
)


@pytest.fixture(scope="module")
def study():
    return sb.simulate(POLICIES, BANDIT, horizon=60, runs=20, seed=7, checkpoints=[10, 30])


@pytest.fixture(scope="module")
def _saved(study, tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    study.save(folder)
    return folder


@pytest.fixture
def saved(_saved, tmp_path):
    """A copy of the saved study, to be spoilt."""
    return shutil.copytree(_saved, tmp_path / "copy")


def assert_same(a, b):
    assert a.names == b.names
    for name in a:
        first, second = a[name], b[name]
        for field in FIELDS:
            np.testing.assert_array_equal(getattr(first, field), getattr(second, field))
        assert first.objective == second.objective
        assert first.batch == second.batch


def test_what_is_read_is_what_was_saved(study, saved):
    again = sb.load(saved)
    assert_same(study, again)
    objective = sb.RSSR(L=0.5)
    for name in study:
        before, after = study[name].regret(objective), again[name].regret(objective)
        for field in ("t", "mean", "se", "low", "high"):
            np.testing.assert_array_equal(getattr(before, field), getattr(after, field))
        assert study[name].error(objective) == again[name].error(objective)
        assert study[name].achieved(objective) == again[name].achieved(objective)
    assert again["UCB-RSSR"].regret().final == study["UCB-RSSR"].regret().final  # its own objective came along


def test_the_manifest_says_how_the_study_was_made(saved):
    manifest = json.loads((saved / "manifest.json").read_text("utf-8"))
    settings = manifest["settings"]
    assert (settings["seed"], settings["runs"], settings["horizon"], settings["source"]) == (7, 20, 60, "splitmix")
    assert settings["bandit"]["arms"][2] == {"arm": "Gamma", "shape": 2.0, "scale": 1.0}
    assert set(manifest["versions"]) == {"sharpe-bandits", "python", "numpy", "numba", "scipy", "pyarrow"}
    assert manifest["versions"]["sharpe-bandits"] == sb.__version__
    assert [p["policy"]["policy"] for p in manifest["policies"]] == ["UCBRSSR", "MVTS", "SHSR", "CustomPolicy"]
    assert manifest["policies"][0]["policy"]["L"] == 2.0


def test_the_data_are_plain_parquet(study, saved):
    """Anyone can read them: long tables with a column for everything."""
    table = pq.read_table(next(saved.glob("pulls-0-*.parquet"))).to_pydict()
    assert set(table) == {"batch", "t", "arm", "pulls"}
    outcome = study["UCB-RSSR"]
    assert sum(p for p, t in zip(table["pulls"], table["t"], strict=True) if t == 30) == 30 * 20
    row = next(i for i in range(len(table["t"])) if (table["batch"][i], table["t"][i], table["arm"][i]) == (3, 60, 1))
    assert table["pulls"][row] == outcome.final[3, 1]


def test_random_bandits_and_tapes_are_saved_too(tmp_path):
    bandit = sb.RandomBandit(2, lambda g: sb.arms.UniformArms([0, 0], g.uniform(1, 2, size=2)), name="pairs")
    study = sb.simulate(sb.SHSR(L=2.0), bandit, horizon=40, runs=6)
    study.save(tmp_path / "random")
    again = sb.load(tmp_path / "random")
    assert_same(study, again)
    assert again["SHSR"].mean.shape == (6, 2)
    assert again["SHSR"].error() == study["SHSR"].error()
    study = sb.simulate(sb.SHSR(L=2.0), sb.Tape(np.arange(80.0).reshape(2, 40) % 7), horizon=40, runs=2)
    study.save(tmp_path / "tape")
    assert_same(study, sb.load(tmp_path / "tape"))


def test_saving_again_replaces_the_study_and_leaves_no_litter(study, saved):
    other = sb.simulate(sb.UCBRSSR(L=2.0), BANDIT, horizon=60, runs=5, seed=8)
    other.save(saved)
    assert_same(other, sb.load(saved))
    assert len(list(saved.glob("*"))) == 4  # manifest, truth, pulls, runs
    assert list(saved.glob(".*")) == []
    study.save(saved)
    assert_same(study, sb.load(saved))


def data_files(folder):
    return sorted(path.name for path in folder.glob("*.parquet"))


def test_a_flipped_byte_is_found_in_every_file(saved):
    names = data_files(saved)
    assert len(names) == 9
    for name in names:
        path = saved / name
        content = path.read_bytes()
        for place in (0, len(content) // 2, len(content) - 1):
            path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            with pytest.raises(sb.errors.UnreadableDataError, match=f"{name} was changed or truncated"):
                sb.load(saved)
        path.write_bytes(content)
    sb.load(saved)


def test_a_file_cut_short_or_missing_is_found(saved):
    name = data_files(saved)[0]
    content = (saved / name).read_bytes()
    (saved / name).write_bytes(content[:-10])
    with pytest.raises(sb.errors.UnreadableDataError, match=f"{name} was changed or truncated.*save the study again"):
        sb.load(saved)
    (saved / name).unlink()
    with pytest.raises(sb.errors.UnreadableDataError, match=f"{name} is missing"):
        sb.load(saved)


def test_no_byte_of_the_manifest_can_be_changed_unnoticed(study, saved):
    """Settings and batch sizes are in there: a wrong one would give wrong errors."""
    path = saved / "manifest.json"
    content = path.read_bytes()
    unnoticed = 0
    for place in range(0, len(content), 37):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        try:
            again = sb.load(saved)
        except sb.errors.UnreadableDataError:
            continue
        assert_same(study, again)  # white space, which says nothing
        assert content[place : place + 1].isspace()
        unnoticed += 1
    assert unnoticed < len(content) / 37 / 2


def test_a_manifest_cut_short_is_found(saved):
    path = saved / "manifest.json"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(sb.errors.UnreadableDataError, match=r"manifest\.json is not a manifest"):
        sb.load(saved)


def test_newer_formats_say_what_to_do(saved):
    path = saved / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 99}))
    told = r"format 99, this version reads formats 3 to 4; use the version of the library named in its manifest"
    with pytest.raises(sb.errors.UnreadableDataError, match=told):
        sb.load(saved)


def test_foreign_folders_are_refused(tmp_path):
    with pytest.raises(sb.errors.UnreadableDataError, match=r"no study in .*manifest\.json is missing"):
        sb.load(tmp_path)
    with pytest.raises(sb.errors.UnreadableDataError, match="no study in"):
        sb.load(tmp_path / "nowhere")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(sb.errors.UnreadableDataError, match="no study in"):
        sb.load(tmp_path / "text")
    for foreign in ('{"name": "web app"}', "[1, 2]", "null"):
        (tmp_path / "manifest.json").write_text(foreign)
        with pytest.raises(sb.errors.UnreadableDataError, match="is not the manifest of a study"):
            sb.load(tmp_path)


@pytest.mark.parametrize("foreign", ['{"name": "web app", "icons": []}', "not JSON at all", "[]"])
def test_nothing_is_saved_over_someone_elses_manifest(study, tmp_path, foreign):
    (tmp_path / "manifest.json").write_text(foreign)
    (tmp_path / "precious.txt").write_text("keep me")
    with pytest.raises(
        sb.errors.InvalidInputError, match=r"manifest\.json does not belong to a study; save .* another folder"
    ):
        study.save(tmp_path)
    assert (tmp_path / "manifest.json").read_text() == foreign
    assert sorted(path.name for path in tmp_path.iterdir()) == ["manifest.json", "precious.txt"]


def test_a_manifest_cannot_name_files_outside_its_folder(study, saved):
    """Replacing a study deletes its old files: not others."""
    outside = saved.parent / "outside.txt"
    outside.write_text("keep me")
    path = saved / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "sha256": {"../outside.txt": "0" * 64}}))
    study.save(saved)
    assert outside.read_text() == "keep me"


# --- earlier formats --------------------------------------------------------------------------------------------------


DATA = Path(__file__).parents[1] / "data"
FORMAT_3 = DATA / "study-format-3"
KEPT = {
    f"{folder.name}, {name}": (folder / name, expected)
    for folder in sorted(DATA.glob("study-format-*"))
    for name, expected in json.loads((folder / "expected.json").read_text()).items()
}


@pytest.mark.parametrize("what", KEPT)
def test_studies_of_every_format_are_read(what):
    """Saved by the version that wrote that format, with the numbers that it computed from them."""
    folder, expected = KEPT[what]
    found = sb.load(folder)
    assert {policy: numbers(result) for policy, result in found.items()} == expected
    assert found.summary(sb.RSSR(L=0.5)).rows


def test_studies_of_every_format_are_kept():
    assert {path.name for path in DATA.glob("study-format-*")} == {f"study-format-{n}" for n in range(3, FORMAT + 1)}


def test_a_study_of_an_earlier_format_is_saved_in_the_present_one(tmp_path):
    found = sb.load(shutil.copytree(FORMAT_3 / "plain", tmp_path / "copy"))
    found.save(tmp_path / "copy")
    manifest = json.loads((tmp_path / "copy" / "manifest.json").read_text())
    assert manifest["format"] == FORMAT
    assert "checksum" in manifest
    assert "seal" not in manifest
    assert_same(found, sb.load(tmp_path / "copy"))
    assert len(list((tmp_path / "copy").iterdir())) == 8  # the files of the earlier format are gone


def test_an_earlier_format_is_checked_too(tmp_path):
    path = shutil.copytree(FORMAT_3 / "plain", tmp_path / "copy") / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "seal": "0" * 64}))
    with pytest.raises(sb.errors.UnreadableDataError, match="was changed after it was saved"):
        sb.load(tmp_path / "copy")


# --- other formats and texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["4", True, [4], None, 2, 5])
def test_other_formats_are_refused(saved, number):
    path = saved / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": number}))
    with pytest.raises(sb.errors.UnreadableDataError, match="this version reads formats 3 to 4"):
        sb.load(saved)


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 20_000, "1e400", '{"kind": 1e999}', "9" * 10_000])
def test_a_hostile_text_is_refused(saved, text):
    (saved / "manifest.json").write_text(text)
    with pytest.raises(sb.errors.UnreadableDataError, match="is not a manifest of this library"):
        sb.load(saved)


# --- several at once --------------------------------------------------------------------------------------------------


SAVER = """
import sys
import sharpe_bandits as sb
studies = [sb.load(folder) for folder in sys.argv[2:]]
sys.stdout.write("ready\\n"); sys.stdout.flush(); sys.stdin.readline()
for _ in range(25):
    for study in studies:
        study.save(sys.argv[1])
"""


def test_two_processes_that_save_to_one_folder_never_leave_a_broken_study(study, tmp_path):
    other = sb.simulate(sb.UCBRSSR(L=2.0), BANDIT, horizon=60, runs=5, seed=8)
    study.save(tmp_path / "a")
    other.save(tmp_path / "b")
    target = tmp_path / "target"
    sources = [str(tmp_path / "a"), str(tmp_path / "b")]
    savers = [
        subprocess.Popen(
            [sys.executable, "-c", SAVER, str(target), *order],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for order in (sources, sources[::-1])
    ]  # fmt: skip
    for saver in savers:
        assert saver.stdout.readline() == "ready\n"
    for saver in savers:
        saver.stdin.write("go\n")
        saver.stdin.flush()
    whole = 0
    while any(saver.poll() is None for saver in savers):
        if (target / "manifest.json").exists():
            assert list(sb.load(target)) in (list(study), list(other))  # read while it is being replaced
            whole += 1
    for saver in savers:
        saver.communicate()
    assert [saver.returncode for saver in savers] == [0, 0]
    assert whole > 0
    found = sb.load(target)
    assert_same(found, study if len(found) == 4 else other)
    assert not list(target.glob(".*"))


def test_what_interrupted_saves_left_is_cleaned(study, saved):
    other, foreign = saved / f"pulls-0-{'a' * 12}-{'b' * 8}.parquet", saved / "mine.parquet"
    for path in (other, foreign):
        path.write_bytes(b"x")
    temporary = saved / f".truth.parquet.{files._HOST}-{2**22 + 1}-0.new"  # no process has such a number
    temporary.write_bytes(b"x")
    study.save(saved)
    assert not temporary.exists()
    assert other.exists()  # another process may be about to name it
    assert foreign.exists()
    assert_same(study, sb.load(saved))


def test_a_save_that_fails_leaves_the_old_study_and_nothing_else(study, saved, monkeypatch):
    before = {path.name for path in saved.iterdir()}
    write_bytes = Path.write_bytes
    written = []

    def until_full(self, content):
        written.append(self)
        if len(written) > 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_bytes(self, content)

    monkeypatch.setattr(Path, "write_bytes", until_full)
    with pytest.raises(OSError, match="No space left"):
        study.save(saved)
    monkeypatch.undo()
    assert {path.name for path in saved.iterdir()} == before
    assert_same(study, sb.load(saved))


def test_studies_of_fixed_confidence_are_saved_too(tmp_path):
    bandit = sb.Bandit([sb.Uniform(0, 6), sb.Uniform(0, 2)])
    free = sb.identify(sb.policies.LUCB(L=0.5), bandit, runs=9)["LUCB"]
    study = sb.identify(sb.policies.LUCB(L=0.5), bandit, runs=9, max_budget=int(np.median(free.rounds)))
    assert 0 < study["LUCB"].stopped.sum() < 9
    study.save(tmp_path)
    again = sb.load(tmp_path)
    assert_same(study, again)
    assert again.metric == "stopping time"
    assert again["LUCB"].stopping_time() == study["LUCB"].stopping_time()
    assert again["LUCB"].error() == study["LUCB"].error()


def test_a_case_of_an_experiment_is_saved_with_its_objective(tmp_path):
    done = finished(panel([case([A], {"set": "A", "L": 2}, sb.Mean())], "error"), [wrong_plays(A, [1, 2, 3])])
    done.studies[0].save(tmp_path)
    again = sb.load(tmp_path)
    assert again.rows() == done.studies[0].rows()
    assert (again.label, again.variables) == ("set = A, L = 2", {"set": "A", "L": 2})
    assert (again.objective, again.L) == (sb.Mean(), 2.0)


def test_studies_are_indexed_by_name(study):
    assert list(study) == ["UCB-RSSR", "MVTS", "SHSR", "Greedy Sharpe"]
    assert len(study) == 4
    assert "UCB-RSSR, MVTS" in repr(study)
    with pytest.raises(sb.errors.UnknownNameError, match="'UCB-RSR': did you mean 'UCB-RSSR'"):
        study["UCB-RSR"]
    with pytest.raises(sb.errors.UnknownNameError, match="'U-UCB'"):
        study.compare("MVTS", "U-UCB", sb.RSSR(L=1.0))


def test_a_policy_without_an_objective_asks_for_one(study):
    with pytest.raises(
        sb.errors.InvalidInputError, match=r"Greedy Sharpe has no objective; pass one, as in RSSR\(L=0\.5\)"
    ):
        study["Greedy Sharpe"].regret()
    with pytest.raises(sb.errors.InvalidInputError, match="objective such as"):
        study["MVTS"].regret("RSSR")


def test_studies_of_sets_are_saved(tmp_path):
    policies = [FINDERS[family](2) for family in ("SAR", "uniform")] + [sb.SHSR(L=0.5), sb.policies.UCB1()]
    study = sb.simulate(policies, FIVE, horizon=100, runs=20, seed=3)
    study.save(tmp_path)
    again = sb.load(tmp_path)
    for name, width in {"SAR": 2, "Uniform sampling": 2, "SHSR": 1, "UCB1": 1}.items():
        first, second = study[name].recommended, again[name].recommended
        assert first.shape == second.shape == (20, width)
        np.testing.assert_array_equal(first, second)
    assert again["SAR"].error() == study["SAR"].error()
    manifest = json.loads((tmp_path / "manifest.json").read_text("utf-8"))
    manifest["format"] = 1
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(sb.errors.UnreadableDataError, match="has format 1, this version reads formats 3 to 4"):
        sb.load(tmp_path)
