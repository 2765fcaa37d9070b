"""Experiment files: what they give, and the line of whatever is wrong in them."""

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
  { kind = "UniformPlay", objective = { kind = "RSSR", L = 2 } },
]
let = { x = 1 }
"""

OTHER = "[[policies]]  # the other"
CASES = '\n[[cases]]\nset = 1\n[[cases]]\nset = 2\n[[cases.arms]]\nkind = "Bern"\n'


def line(text):
    """The line (from 1) of the mark ``>>``."""
    return text[: text.index(">>")].count("\n") + 1


@pytest.fixture
def write(tmp_path):
    def to_file(text):
        path = tmp_path / "mine.toml"
        path.write_text(text, "utf-8")
        return path

    return to_file


@pytest.mark.parametrize(("text", "count"), [(TABLES, 2), (INLINE, 1)])
def test_both_styles_are_read(write, text, count):
    experiment = read(write(text))
    assert len(experiment.cases) == count
    assert list(experiment.cases[0].environment.arms) == [sb.Uniform(0, 1), sb.Uniform(1, 3)]
    assert [p.name for p in experiment.cases[0].policies][:2] == ["UCB-RSSR", "U-UCB"]


def test_settings_and_their_defaults(write):
    experiment = read(write(TABLES))
    assert (experiment.title, experiment.runs, experiment.seed, experiment.metric) == ("Two arms", 50, 7, "regret")
    experiment = read(write(INLINE))
    assert (experiment.title, experiment.runs, experiment.seed, experiment.metric) == ("mine", 10_000, 1, "regret")
    assert read(write('metric = "error"\n' + INLINE)).metric == "error"


def test_the_description_is_all_that_results_depend_on_but_runs_and_seed(write):
    assert set(read(write(TABLES)).description) == {"title", "horizon", "sweep", "objective", "arms", "policies"}


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        # the second policy: its kind, its parameters, one that another policy has
        (TABLES, 'kind = "UUCB"', '>>kind = "UUBC"', "no policy is called 'UUBC': did you mean 'UUCB'"),
        (TABLES, "epsilon0 =", ">>epsilon =", "no parameter of UUCB is called 'epsilon': did you mean 'epsilon0'"),
        (TABLES, "epsilon0 =", ">>L =", "no parameter of UUCB is called 'L'"),
        (TABLES, 'epsilon0 = "L"', '>>epsilon0 = "M"', "no name in 'M'"),
        (TABLES, 'epsilon0 = "L"', ">>epsilon0 = -2", "epsilon0 must be .* got -2"),
        (INLINE, '{ kind = "UUCB"', '>>{ kind = "UUBC"', "did you mean 'UUCB'"),
        (INLINE, "epsilon0 = 1", ">>epsilon = 1", "did you mean 'epsilon0'"),
        (INLINE, "epsilon0 = 1", ">>L = 1", "no parameter of UUCB is called 'L'"),
        (INLINE, '"RSSR", L = 2', '"RSSR", >>M = 2', "no parameter of RSSR is called 'M'"),
        (INLINE, 'objective = { kind = "RSSR", L = 2', 'objective = { >>kind = "RSRR", L = 2', "did you mean 'RSSR'"),
        # the first one
        (TABLES, 'kind = "UCBRSSR"', '>>kind = "UCBRSR"', "did you mean 'UCBRSSR'"),
        (TABLES, '# L = 3\nL = "L"', '# L = 3\n>>l = "L"', "did you mean 'L'"),
        (INLINE, '{ kind = "UCBRSSR"', '>>{ kind = "UCBRSR"', "did you mean 'UCBRSSR'"),
        (INLINE, "{ kind = \"UCBRSSR\", L", ">>{ kind = \"UCBRSSR\", LL", "did you mean 'L'"),
        # arms and objective
        (TABLES, 'kind = "Uniform"', '>>kind = "Unform"', "no arm is called 'Unform': did you mean 'Uniform'"),
        (TABLES, "high =", ">>hihg =", "did you mean 'high'"),
        (TABLES, "low = [0, 1]", ">>low = [0, 9]", "low must be less than high"),
        (INLINE, "high =", ">>hihg =", "did you mean 'high'"),
        (TABLES, '"RSSR"', '>>"RSR"', "no objective is called 'RSR': did you mean 'RSSR'"),
        (TABLES, '"RSSR", L', '>>"RSSR", riskfree', "did you mean 'risk_free'"),
        # the top
        (TABLES, "horizon = 500", ">>horizn = 500", "no key is called 'horizn': did you mean 'horizon'"),
        (TABLES, "runs = 50", ">>run = 50", "did you mean 'runs'"),
        (TABLES, "runs = 50", ">>runs = 1", "runs must be a whole number at least 2, got 1"),
        (TABLES, "seed = 7", ">>seed = -7", "seed must be .* got -7"),
        (TABLES, "horizon = 500", '>>horizon = "500 +"', "is not an expression"),
        (TABLES, "horizon = 500", ">>horizon = 0", "horizon must be .* got 0"),
        (TABLES, "[0.5, 2.0]", ">>[]", "non-empty lists"),
        (TABLES, "seed = 7", 'seed = 7\n>>metric = "errors"', "metric must be one of 'regret', 'error', got 'errors'"),
        (TABLES, "seed = 7", 'seed = 7\n>>metric = "coverage"', "metric must be one of 'regret', 'error'"),
        (INLINE, "{ x = 1 }", '>>{ x = "y" }', "no name in 'y'"),
        # a parameter that is missing: the line where its table begins
        (TABLES, f'{OTHER}\nkind = "UUCB"\nepsilon0 = "L"', f'>>{OTHER}\nkind = "UUCB"', "UUCB needs epsilon0"),
        (TABLES, f'{OTHER}\nkind = "UUCB"', f">>{OTHER}", "this policy has no kind"),
        (INLINE, '  { kind = "UUCB", epsilon0 = 1 }', '>>  { kind = "UUCB" }', "UUCB needs epsilon0"),
        # cases
        (
            TABLES,
            "sweep = { L = [0.5, 2.0] }",
            'cases = [\n  { L = 1 },\n  >>{ L = 2, objective = { kind = "RSR" } },\n]',
            "did you mean 'RSSR'",
        ),
        (TABLES + CASES, '"Bern"', '>>"Bern"', "did you mean 'Bernoulli'"),
    ],
)  # fmt: skip
def test_the_line_of_what_is_wrong(write, text, old, new, message):
    assert text.count(old) == 1
    marked = text.replace(old, new)
    path = write(marked.replace(">>", ""))
    with pytest.raises(sb.InvalidInput, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}, line {line(marked)}: ")


def test_a_key_that_is_missing(write):
    with pytest.raises(sb.InvalidInput, match=r"line 1: the description has no horizon; add it"):
        read(write(TABLES.replace("horizon = 500\n", "")))
    with pytest.raises(sb.InvalidInput, match="has no policies; add it"):
        read(write(TABLES.split("[[policies]]")[0]))
    with pytest.raises(sb.InvalidInput, match="has no horizon; add it"):
        read(write(""))


def test_a_syntax_error_has_its_line(write):
    with pytest.raises(sb.InvalidInput, match=r"mine\.toml is not TOML: .*line 4, column"):
        read(write(TABLES.replace("horizon = 500", "horizon = = 500")))
    with pytest.raises(sb.InvalidInput, match=r"is not TOML: .*line 3"):
        read(write("a = 1\nb = 2\na = 3\n"))


def test_files_that_are_none(tmp_path):
    with pytest.raises(sb.InvalidInput, match=r"there is no file .*none\.toml"):
        read(tmp_path / "none.toml")
    with pytest.raises(sb.InvalidInput, match="is not a text file"):
        read(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(sb.InvalidInput, match="is not a text file"):
        read(tmp_path / "binary.toml")


def test_the_example_of_the_documentation_is_the_file_that_it_names():
    page = (ROOT / "docs" / "experiment-file.md").read_text("utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    assert blocks[0] == (ROOT / "examples" / "desks.toml").read_text("utf-8")
    experiment = read(ROOT / "examples" / "desks.toml")
    assert [c.label for c in experiment.cases] == ["L = 0.5", "L = 2"]
    assert [p.name for p in experiment.cases[0].policies] == ["UCB-RSSR", "NG-TS"]


def test_the_random_arms_of_the_documentation(write):
    page = (ROOT / "docs" / "experiment-file.md").read_text("utf-8")
    (snippet,) = (b for b in re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL) if "random" in b)
    text = re.sub(r"^arms = .*$", snippet.strip(), INLINE, flags=re.MULTILINE)
    assert read(write(text)).cases[0].environment.K == 16
