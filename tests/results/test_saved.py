"""Studies on disk: what is saved is what is read, and what was damaged is reported, never guessed."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.results.saved import FILE, FORMAT
from tests.catalogue import greedy_sharpe
from tests.data.studies import numbers
from tests.synthetic import case, finished, panel, wrong_plays
from tests.top_m import FINDERS, FIVE

A = sb.policies.UCB1(name="A")

BANDIT = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8), sb.arms.Gamma(2, 1)])
POLICIES = [sb.UCBRSSR(L=2.0), sb.policies.MVTS(), sb.SHSR(L=2.0), greedy_sharpe(L=1.0)]
FIELDS = (
    "checkpoints", "pulls", "final", "recommended", "reward_mean", "reward_variance", "stopped", "mean",
    "variance",
)  # fmt: skip


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


def test_anyone_can_read_the_arrays_and_how_they_were_made(study, saved):
    with np.load(saved / FILE) as archive:
        np.testing.assert_array_equal(archive["final_0"], study["UCB-RSSR"].final)
        manifest = json.loads(str(archive["manifest"]))
    settings = manifest["settings"]
    assert (settings["seed"], settings["runs"], settings["horizon"]) == (7, 20, 60)
    assert settings["bandit"]["arms"][2] == {"arm": "Gamma", "shape": 2.0, "scale": 1.0}
    assert manifest["versions"]["sharpe-bandits"] == sb.__version__
    assert [p["policy"]["policy"] for p in manifest["policies"]] == ["UCBRSSR", "MVTS", "SHSR", "CustomPolicy"]
    assert manifest["policies"][0]["policy"]["L"] == 2.0


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


def test_saving_again_replaces_the_study_and_leaves_no_litter(saved):
    other = sb.simulate(sb.UCBRSSR(L=2.0), BANDIT, horizon=60, runs=5, seed=8)
    other.save(saved)
    assert_same(other, sb.load(saved))
    assert [path.name for path in saved.iterdir()] == [FILE]


def test_no_byte_can_be_changed_or_missing_unnoticed(saved):
    content = (saved / FILE).read_bytes()
    changed = [content[:k] + bytes([content[k] ^ 1]) + content[k + 1 :] for k in range(0, len(content), 97)]
    ends = [content[:-2] + bytes([content[-2] ^ 1]) + content[-1:], content[:-10], content + b"x", content[:40], b""]
    for damaged in [*changed, *ends]:
        (saved / FILE).write_bytes(damaged)
        with pytest.raises(sb.errors.UnreadableDataError, match=f"{FILE} is no study, or was changed .* save it again"):
            sb.load(saved)


def test_a_folder_without_a_study_is_refused(tmp_path):
    (tmp_path / "text").write_text("hello")
    for folder in (tmp_path, tmp_path / "nowhere", tmp_path / "text"):
        with pytest.raises(sb.errors.UnreadableDataError, match=f"no study in .*{FILE} is missing"):
            sb.load(folder)


def test_other_formats_say_what_to_do(study, tmp_path, monkeypatch):
    monkeypatch.setattr("sharpe_bandits.results.saved.FORMAT", 99)
    study.save(tmp_path)
    monkeypatch.undo()
    told = f"format 99, this version reads format {FORMAT}; use the version of the library that saved it"
    with pytest.raises(sb.errors.UnreadableDataError, match=told):
        sb.load(tmp_path)


DATA = Path(__file__).parents[1] / "data" / f"study-format-{FORMAT}"


@pytest.mark.parametrize(("name", "expected"), json.loads((DATA / "expected.json").read_text()).items())
def test_studies_saved_by_the_first_release_are_read(name, expected):
    """With the numbers that the version that saved them computed."""
    study = sb.load(DATA / name)
    assert {policy: numbers(result) for policy, result in study.items()} == expected
    assert study.summary(sb.RSSR(L=0.5)).rows


SAVER = """
import sys
import sharpe_bandits as sb
studies = [sb.load(folder) for folder in sys.argv[2:]]
sys.stdout.write("ready\\n"); sys.stdout.flush(); sys.stdin.readline()
for _ in range(10):
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
        if (target / FILE).exists():
            assert list(sb.load(target)) in (list(study), list(other))  # read while it is being replaced
            whole += 1
    for saver in savers:
        saver.communicate()
    assert [saver.returncode for saver in savers] == [0, 0]
    assert whole > 0
    found = sb.load(target)
    assert_same(found, study if len(found) == 4 else other)
    assert not list(target.glob(".*"))


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
