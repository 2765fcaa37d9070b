"""Studies on disk: what is saved is what is read, and what was damaged is reported, never guessed."""

import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest

import sharpe_bandits as sb
from tests.catalogue import greedy_sharpe

BANDIT = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8), sb.Gamma(2, 1)])
POLICIES = [sb.UCBRSSR(L=2.0), sb.MVTS(), sb.SHSR(L=2.0), greedy_sharpe(L=1.0)]
FIELDS = ("checkpoints", "pulls", "final", "recommended", "reward_mean", "reward_variance")


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
        first, second = a[name].outcome, b[name].outcome
        for field in FIELDS:
            np.testing.assert_array_equal(getattr(first, field), getattr(second, field))
        assert first.goal == second.goal
        assert first.batch == second.batch
    np.testing.assert_array_equal(a.record.mean, b.record.mean)
    np.testing.assert_array_equal(a.record.variance, b.record.variance)


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
    outcome = study["UCB-RSSR"].outcome
    assert sum(p for p, t in zip(table["pulls"], table["t"], strict=True) if t == 30) == 30 * 20
    row = next(i for i in range(len(table["t"])) if (table["batch"][i], table["t"][i], table["arm"][i]) == (3, 60, 1))
    assert table["pulls"][row] == outcome.final[3, 1]


def test_random_bandits_and_tapes_are_saved_too(tmp_path):
    bandit = sb.RandomBandit(2, lambda g: sb.UniformArms([0, 0], g.uniform(1, 2, size=2)), name="pairs")
    study = sb.simulate(sb.SHSR(L=2.0), bandit, horizon=40, runs=6)
    study.save(tmp_path / "random")
    again = sb.load(tmp_path / "random")
    assert_same(study, again)
    assert again.record.mean.shape == (6, 2)
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
            with pytest.raises(sb.UnreadableData, match=f"{name} was changed or cut short"):
                sb.load(saved)
        path.write_bytes(content)
    sb.load(saved)


def test_a_file_cut_short_or_missing_is_found(saved):
    name = data_files(saved)[0]
    content = (saved / name).read_bytes()
    (saved / name).write_bytes(content[:-10])
    with pytest.raises(sb.UnreadableData, match=f"{name} was changed or cut short.*save the study again"):
        sb.load(saved)
    (saved / name).unlink()
    with pytest.raises(sb.UnreadableData, match=f"{name} is missing"):
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
        except sb.UnreadableData:
            continue
        assert_same(study, again)  # white space, which says nothing
        assert content[place : place + 1].isspace()
        unnoticed += 1
    assert unnoticed < len(content) / 37 / 2


def test_a_manifest_cut_short_is_found(saved):
    path = saved / "manifest.json"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(sb.UnreadableData, match=r"manifest\.json is not a manifest"):
        sb.load(saved)


def test_newer_formats_say_what_to_do(saved):
    path = saved / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 99}))
    with pytest.raises(sb.UnreadableData, match=r"format 99.*use the version of the library named in its manifest"):
        sb.load(saved)


def test_foreign_folders_are_refused(tmp_path):
    with pytest.raises(sb.UnreadableData, match=r"no study in .*manifest\.json is missing"):
        sb.load(tmp_path)
    with pytest.raises(sb.UnreadableData, match="no study in"):
        sb.load(tmp_path / "nowhere")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(sb.UnreadableData, match="no study in"):
        sb.load(tmp_path / "text")
    for foreign in ('{"name": "web app"}', "[1, 2]", "null"):
        (tmp_path / "manifest.json").write_text(foreign)
        with pytest.raises(sb.UnreadableData, match="belongs to something else"):
            sb.load(tmp_path)


@pytest.mark.parametrize("foreign", ['{"name": "web app", "icons": []}', "not JSON at all", "[]"])
def test_nothing_is_saved_over_someone_elses_manifest(study, tmp_path, foreign):
    (tmp_path / "manifest.json").write_text(foreign)
    (tmp_path / "precious.txt").write_text("keep me")
    with pytest.raises(sb.InvalidInput, match=r"manifest\.json belongs to something else; save .* a folder of its own"):
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


def test_studies_are_indexed_by_name(study):
    assert list(study) == ["UCB-RSSR", "MVTS", "SHSR", "Greedy Sharpe"]
    assert len(study) == 4
    assert "UCB-RSSR, MVTS" in repr(study)
    with pytest.raises(sb.UnknownName, match="'UCB-RSR': did you mean 'UCB-RSSR'"):
        study["UCB-RSR"]
    with pytest.raises(sb.UnknownName, match="'U-UCB'"):
        study.compare("MVTS", "U-UCB", sb.RSSR(L=1.0))


def test_a_policy_without_an_objective_asks_for_one(study):
    with pytest.raises(sb.InvalidInput, match=r"Greedy Sharpe names no objective; pass one, as in RSSR\(L=0\.5\)"):
        study["Greedy Sharpe"].regret()
    with pytest.raises(sb.InvalidInput, match="objective such as"):
        study["MVTS"].regret("RSSR")
