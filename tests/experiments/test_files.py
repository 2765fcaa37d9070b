"""Experiment files: what they give, and the entry of whatever is wrong in them."""

import re
from pathlib import Path

import pytest

import sharpe_bandits as sb
from sharpe_bandits.experiments.files import read

ROOT = Path(__file__).parents[2]

TABLES = """\
title = "Two arms"
runs = 50
seed = 7
horizon = 500
sweep = { L = [0.5, 2.0] }  # horizon = "wrong"
objective = { kind = "RSSR", L = "L" }

[[arms]]
kind = "Uniform"
low = [0, 1]
high = [1, 3]

[[policies]]
kind = "UCBRSSR"
# L = 3
L = "L"

[[policies]]  # the other
kind = "UUCB"
epsilon0 = "L"
"""

INLINE = """\
horizon = 500
arms = [{ kind = "Uniform", low = [0, 1], high = [1, 3] }]
objective = { kind = "RSSR", L = 1 }
policies = [
  { kind = "UCBRSSR", L = 1 },  # { kind = "none", L = 3 }
  # kind = "none"
  { kind = "UUCB", epsilon0 = 1 },
  { kind = "RoundRobin", objective = { kind = "RSSR", L = 2 } },
]
let = { x = 1 }
"""

LET = "let = { x = 1 }"
ENDS = "low = [0, 1], high = [1, 3]"
CASES = '\n[[cases]]\nset = 1\n[[cases]]\nset = 2\n[[cases.arms]]\nkind = "Bern"\n'


@pytest.fixture
def write(tmp_path):
    def to_file(text):
        path = tmp_path / "mine.toml"
        path.write_text(text, "utf-8")
        return path

    return to_file


@pytest.mark.parametrize(("text", "count"), [(TABLES, 2), (INLINE, 1)])
def test_both_styles_are_read(write, text, count):
    (experiment,) = read(write(text)).panels
    assert len(experiment.cases) == count
    assert list(experiment.cases[0].environment.arms) == [sb.Uniform(0, 1), sb.Uniform(1, 3)]
    assert [p.name for p in experiment.cases[0].policies][:2] == ["UCB-RSSR", "U-UCB"]


def test_settings_and_their_defaults(write):
    job = read(write(TABLES))
    assert (job.title, job.runs, job.seed, job.panels[0].metric) == ("Two arms", 50, 7, "regret")
    job = read(write(INLINE))
    assert (job.title, job.runs, job.seed, job.panels[0].metric) == ("mine", 10_000, 1, "regret")
    assert read(write('metric = "error"\n' + INLINE)).panels[0].metric == "error"
    job = read(write('runs = "3 * 7"\ncheckpoints = "10 // 2"\n' + INLINE))  # expressions, as all numbers
    assert (job.runs, job.panels[0].checkpoints) == (21, 5)


def test_the_description_is_all_that_results_depend_on_but_runs_and_seed(write):
    assert set(read(write(TABLES)).description) == {"title", "horizon", "sweep", "objective", "arms", "policies"}


@pytest.mark.parametrize(
    ("text", "old", "new", "entry", "message"),
    [
        (TABLES, '"UUCB"', '"UUBC"', "policies[1].kind", "no policy is called 'UUBC': did you mean 'UUCB'"),
        (INLINE, '"RSSR", L = 2', '"RSSR", M = 2', "policies[2].objective.M", "no parameter of RSSR is called 'M'"),
        (TABLES, '"Uniform"', '"Unform"', "arms[0].kind", "no arm is called 'Unform': did you mean 'Uniform'"),
        (TABLES, "horizon = 500", "horizn = 500", "horizn", "no key is called 'horizn': did you mean 'horizon'"),
        (TABLES, "runs = 50", "runs = 1", "runs", "runs must be a whole number from 2 .* got 1"),
        (TABLES, "runs = 50", "runs = 1" + "0" * 400, "runs", "runs must be a whole number"),
        (TABLES, "seed = 7", "seed = -7", "seed", "seed must be .* got -7"),
        (TABLES, "horizon = 500", "horizon = 1_000_000_000_000", "horizon", "whole number from 2 to 1000000000"),
        (TABLES, "seed = 7", 'metric = "coverage"', "metric", "metric must be one of 'regret', 'error'"),
        (TABLES, "seed = 7", 'metric = "regrets"', "metric", "metric must be one of .* got 'regrets'"),
        (TABLES, "seed = 7", "checkpoints = 0", "checkpoints", "checkpoints must be .* got 0"),
        (TABLES, "Two arms", "x" * 300, "title", "title must have at most 200 characters"),
        (TABLES + CASES, '"Bern"', '"Bern"', "cases[1].arms[0].kind", "did you mean 'Bernoulli'"),
        (INLINE, LET, "cases = [{ set = 1 }, { set = 2, let = 5 }]", "cases[1].let", "let must be a table"),
        (INLINE, LET, "sweep = { let = [1, 2] }", "sweep.let", "let must be a table, .* got 1"),
        (INLINE, LET, "checkpoints = 1000000", "checkpoints", "checkpoints must be a whole number from 1 to 10000"),
        (INLINE, "high = [1, 3]", "high = [1, 1e80]", "arms", "has rewards beyond 1e.18"),
        (INLINE, ENDS, "low = 0, high = 1, repeat = 1000000", "arms[0].repeat", "whole number from 1 to 10000"),
    ],
)  # fmt: skip
def test_the_entry_of_what_is_wrong(write, text, old, new, entry, message):
    assert text.count(old) == 1
    path = write(text.replace(old, new))
    with pytest.raises(sb.errors.InvalidInputError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}, {entry}: ")


def test_a_key_that_is_missing(write):
    with pytest.raises(sb.errors.InvalidInputError, match=r"horizon: the description has no horizon; add it"):
        read(write(TABLES.replace("horizon = 500\n", "")))
    with pytest.raises(sb.errors.InvalidInputError, match="has no policies; add it"):
        read(write(TABLES.split("[[policies]]")[0]))
    with pytest.raises(sb.errors.InvalidInputError, match="has no horizon; add it"):
        read(write(""))


def test_a_syntax_error_has_its_line(write):
    with pytest.raises(sb.errors.InvalidInputError, match=r"mine\.toml is not TOML: .*line 4, column"):
        read(write(TABLES.replace("horizon = 500", "horizon = = 500")))
    with pytest.raises(sb.errors.InvalidInputError, match=r"is not TOML: .*line 3"):
        read(write("a = 1\nb = 2\na = 3\n"))


def test_files_that_are_none(tmp_path):
    with pytest.raises(sb.errors.InvalidInputError, match=r"there is no file .*none\.toml"):
        read(tmp_path / "none.toml")
    with pytest.raises(sb.errors.InvalidInputError, match="cannot be read: Is a directory"):
        read(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(sb.errors.InvalidInputError, match="is not TOML"):
        read(tmp_path / "binary.toml")


def test_the_example_of_the_documentation_is_the_file_that_it_names():
    page = (ROOT / "docs" / "do" / "experiment-file.md").read_text("utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    assert blocks[0] == (ROOT / "examples" / "desks.toml").read_text("utf-8")
    (experiment,) = read(ROOT / "examples" / "desks.toml").panels
    assert [c.label for c in experiment.cases] == ["L = 0.5", "L = 2"]
    assert [p.name for p in experiment.cases[0].policies] == ["UCB-RSSR", "NG-TS"]


def test_the_random_arms_of_the_documentation(write):
    page = (ROOT / "docs" / "do" / "experiment-file.md").read_text("utf-8")
    (snippet,) = (b for b in re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL) if "random" in b)
    text = re.sub(r"^arms = .*$", snippet.strip(), INLINE, flags=re.MULTILINE)
    assert read(write(text)).panels[0].cases[0].environment.K == 16


@pytest.mark.parametrize("text", ["horizon = " + "1" * 5000, "x = " + "[" * 5000 + "]" * 5000])
def test_texts_that_a_parser_refuses(write, text):
    with pytest.raises(sb.errors.InvalidInputError, match="is not TOML"):
        read(write(text))


def test_a_file_at_the_bounds_is_read(write):
    wide = INLINE.replace(ENDS, "low = 0, high = 1, repeat = 5000")
    (experiment,) = read(write(wide.replace("horizon = 500", "horizon = 1_000_000_000\nruns = 2"))).panels
    assert experiment.cases[0].environment.K == 5000
    assert experiment.cases[0].horizon == 10**9


def test_options_of_the_command_stand_instead_of_the_files(write):
    job = read(write(INLINE), runs=7, seed=3)
    assert (job.runs, job.seed) == (7, 3)


def test_long_formulas_of_random_arms(write):
    formula = "u1" + " + 0" * 200
    text = (
        f'horizon = 50\narms = {{ kind = "Uniform", random = true, low = """\n{formula}""", high = 2, repeat = 3 }}\n'
    )
    rest = 'objective = { kind = "RSSR", L = 1 }\npolicies = { kind = "UCBRSSR", L = 1 }\n'
    (case,) = read(write(text + rest)).panels[0].cases
    assert formula in case.environment.name
    assert "\n" not in case.environment.name
