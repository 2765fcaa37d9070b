"""Experiment files: what they give, and the line of whatever is wrong in them."""

import os
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
    with pytest.raises(sb.InvalidInputError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}, line {line(marked)}: ")


def test_a_key_that_is_missing(write):
    with pytest.raises(sb.InvalidInputError, match=r"line 1: the description has no horizon; add it"):
        read(write(TABLES.replace("horizon = 500\n", "")))
    with pytest.raises(sb.InvalidInputError, match="has no policies; add it"):
        read(write(TABLES.split("[[policies]]")[0]))
    with pytest.raises(sb.InvalidInputError, match="has no horizon; add it"):
        read(write(""))


def test_a_syntax_error_has_its_line(write):
    with pytest.raises(sb.InvalidInputError, match=r"mine\.toml is not TOML: .*line 4, column"):
        read(write(TABLES.replace("horizon = 500", "horizon = = 500")))
    with pytest.raises(sb.InvalidInputError, match=r"is not TOML: .*line 3"):
        read(write("a = 1\nb = 2\na = 3\n"))


def test_files_that_are_none(tmp_path):
    with pytest.raises(sb.InvalidInputError, match=r"there is no file .*none\.toml"):
        read(tmp_path / "none.toml")
    with pytest.raises(sb.InvalidInputError, match="is not a text file"):
        read(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(sb.InvalidInputError, match="is not a text file"):
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


def written(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("horizon = 500", "horizon = 1_000_000_000_000", 1, "horizon must be a whole number from 2 to 1000000000"),
        ("horizon = 500", "horizon = 1e400", 1, "horizon must be a whole number .*, got inf"),
        ("horizon = 500", "horizon = nan", 1, "horizon must be a whole number .*, got nan"),
        ("horizon = 500", "horizon = 500\nruns = 1" + "0" * 400, 2,
         r"more than 1e\+300 rounds, about more than 1e\+300"),
        ("horizon = 500", "runs = 1_000_000_000_000\nhorizon = 500", 1,
         r"too large: 1.5e\+15 rounds, about .* days .* GiB of memory .* one of these smaller: runs 1,000,000,000,000"),
        ("let = { x = 1 }", "let = 5", 10, "let must be a table, .* got 5"),
        ("let = { x = 1 }", "cases = [\n{ set = 1 },\n{ set = 2, let = 5 },\n]", 12, "let must be a table, .* got 5"),
        ("let = { x = 1 }", "sweep = { let = [1, 2] }", 10, "let must be a table, .* got 1"),
        ("let = { x = 1 }", f"sweep = {{ {', '.join(f'v{k} = [1, 2, 3]' for k in range(7))} }}", 10,
         "2187 cases, at most 1,000"),
        ("let = { x = 1 }", f"sweep = {{ {', '.join(f'v{k} = [1, 2, 3]' for k in range(40))} }}", 10,
         r"more than 10\^9 cases"),
        ("let = { x = 1 }", 'sweep = { "a\\u0000" = [1, 2] }', 10, "the name of a variable must be printable"),
        ("let = { x = 1 }", f"x = {'[' * 20}{']' * 20}", 10, "nested too deeply; 12 levels suffice"),
        ("let = { x = 1 }", 'checkpoints = "20"', 10, "checkpoints must be a whole number from 1 to 10000, got '20'"),
        ("let = { x = 1 }", "checkpoints = 1000000", 10, "checkpoints must be a whole number from 1 to 10000"),
        ("high = [1, 3]", "high = [1, 1e80]", 2, "Uniform.* has moments beyond the largest number; scale rewards down"),
        ("low = [0, 1], high = [1, 3]", "low = 0, high = 1, repeat = 1000000", 2,
         "repeat must be a whole number from 1 to 10000"),
        ("low = [0, 1], high = [1, 3]",
         "low = 0, high = 1, repeat = 6000 }, { kind = 'Constant', value = 1, repeat = 6000", 2,
         "a bandit has at most 10,000 arms here"),
        ("horizon = 500", f'title = "{"x" * 300}"\nhorizon = 500', 1, "title must have at most 200 characters"),
    ],
)  # fmt: skip
def test_bounds_are_told_with_their_line(tmp_path, old, new, line, message):
    assert INLINE.count(old) == 1
    with pytest.raises(sb.InvalidInputError, match=rf"mine\.toml, line {line}: .*{message}"):
        read(written(tmp_path, INLINE.replace(old, new)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = " + "[" * 5000 + "]" * 5000, "nested too deeply"),
        ("x = " + "{ a = " * 5000 + "1" + " }" * 5000, "nested too deeply"),
        ("\n" + ".".join("a" * 100_000) + " = 1", "line 2: a key has at most 20 parts"),
        ("[" + " . ".join(['"a"'] * 40_000) + "]", "line 1: a key has at most 20 parts"),
        ("horizon = " + "1" * 5000, "is not TOML: Exceeds the limit"),
        ("#" * 300_000, "has 300,000 bytes; an experiment file has at most 262,144"),
    ],
    ids=["lists", "tables", "dotted key", "dotted header", "digits", "bytes"],
)
def test_texts_that_would_break_a_parser(tmp_path, text, message):
    with pytest.raises(sb.InvalidInputError, match=message):
        read(written(tmp_path, text))


def test_what_is_no_ordinary_file(tmp_path):
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero"), tmp_path):
        with pytest.raises(sb.InvalidInputError, match=f"^{path} is not a text file, but a folder, a device or a pipe"):
            read(path)
    with pytest.raises(sb.InvalidInputError, match="cannot be read"):
        read("a\0b.toml")


def test_a_file_at_the_bounds_is_read(tmp_path):
    wide = INLINE.replace("low = [0, 1], high = [1, 3]", "low = 0, high = 1, repeat = 5000")
    experiment = read(written(tmp_path, wide.replace("horizon = 500", "horizon = 1_000_000_000\nruns = 2")))
    assert experiment.cases[0].environment.K == 5000
    assert experiment.cases[0].horizon == 10**9


def test_options_of_the_command_stand_instead_of_the_files(tmp_path):
    experiment = read(written(tmp_path, INLINE), runs=7, seed=3)
    assert (experiment.runs, experiment.seed) == (7, 3)
    with pytest.raises(sb.InvalidInputError, match="too large"):
        read(written(tmp_path, INLINE), runs=10**15)


def test_long_formulas_of_random_arms(tmp_path):
    formula = "u1" + " + 0" * 200
    text = (
        f'horizon = 50\narms = {{ kind = "Uniform", random = true, low = """\n{formula}""", high = 2, repeat = 3 }}\n'
    )
    rest = 'objective = { kind = "RSSR", L = 1 }\npolicies = { kind = "UCBRSSR", L = 1 }\n'
    (case,) = read(written(tmp_path, text + rest)).cases
    assert formula in case.environment.name
    assert "\n" not in case.environment.name
