"""Imports point one way, the package imports lightly, public is what should be, and tests mirror the source."""

import ast
import inspect
import io
import json
import re
import subprocess
import sys
import tokenize
from itertools import pairwise
from pathlib import Path

import pytest

import sharpe_bandits as sb
from sharpe_bandits.arms.base import Arm
from sharpe_bandits.objectives import Objective
from sharpe_bandits.policies.base import Policy
from tests.conftest import LONGEST, TESTS

ROOT = Path(sb.__file__).parent

#: From the bottom to the top: a module imports from levels below its own, and within its own folder.
LEVELS = [
    {"errors", "console", "kernels", "checksums", "versions"},
    {"call_tree", "names"},
    {"fingerprints"},
    {"validation", "plain_data", "files", "display"},
    {"charts"},
    {"objectives"},
    {"arms", "confidence_sequences"},
    {"policies"},
    {"engine"},
    {"machines"},
    {"executors"},
    {"agents", "metrics"},
    {"results", "theory", "returns"},
    {"saved"},
    {"study"},
    {"simulation"},
    {"planning", "testing"},
    {"experiments"},
    {"paper"},
    {"report"},
    {"reproduction"},
    {"campaigns"},
    {"service"},
    {"commands"},
    {"cli"},
    {"__main__"},
]
#: Imports inside functions that point upward, and why they may.
UPWARD = {
    ("policies/base.py", "agents"): "policy.agent() hands over to whoever plays live",
    ("agents/elimination.py", "theory"): "agent.error_bound() asks theory, which nobody else who runs an agent needs",
    ("study.py", "report"): "study.report() hands over to whoever writes pages, and to optional libraries",
    ("returns/ranking.py", "report"): "ranking.report() hands over to whoever draws, and to optional libraries",
    ("returns/comparison.py", "report"): "comparison.report() hands over to whoever draws, and to optional libraries",
    ("returns/replay.py", "report"): "replay.report() hands over to whoever draws, and to optional libraries",
    ("planning/needs.py", "report"): "plan.report() hands over to whoever draws, and to optional libraries",
}
#: Modules of a folder that import each other inside functions, and why they may.
CIRCLES = {
    ("planning/needs.py", "planning/words.py"): "a plan says itself in words, which read the plan",
}
RANK = {name: rank for rank, names in enumerate(LEVELS) for name in names}
#: Libraries for drawing, serving, keeping and commanding: for the outermost modules only.
OUTER_LIBRARIES = {
    "matplotlib", "jinja2", "argparse", "click", "typer", "fastapi", "flask", "starlette", "uvicorn",
    "sqlite3", "duckdb", "sqlalchemy", "ray",
}  # fmt: skip

MODULES = sorted(ROOT.rglob("*.py"))

#: Test files that are about no single module, and what they are about.
TOPICS = {
    "arms/test_moments.py": "every kind of arm, in one table",
    "benchmarks/test_benchmarks.py": "benchmarks, which stand beside the package",
    "campaigns/test_model.py": "random operations against a plain model",
    "campaigns/test_torture.py": "many processes that are killed",
    "engine/test_clocks.py": "every kernel, on rewards counted by rounds",
    "policies/test_contract.py": "every policy keeps the contract",
    "policies/test_golden.py": "every index policy against its twin",
    "report/test_browser.py": "all pages in a real browser",
    "report/test_hostile_names.py": "hostile names in all pages and files",
    "returns/test_hostile_tables.py": "hostile input",
    "service/test_load.py": "the whole service, killed under load",
    "service/test_schema.py": "every route against the schema",
    "test_bad_input.py": "bad values everywhere",
    "test_documents.py": "README, docs and docstrings",
    "test_examples.py": "examples",
    "test_fuzz.py": "hostile input to everything that reads some",
    "test_layout.py": "all modules",
    "test_lower_bound.py": "an example that is research",
    "test_site.py": "what makes the documentation",
}
#: Lines of code from which on a module has a test file of its name.
LARGE = 100
#: Large modules that have none, and the file whose tests try them.
THROUGH = {
    "call_tree.py": "test_fingerprints.py",
    "campaigns/interface.py": "campaigns/test_campaign.py",
    "campaigns/ledger.py": "campaigns/test_journal.py",
    "kernels/side_by_side.py": "kernels/test_lazy.py",
    "planning/needs.py": "planning/test_search.py",
}
TEST_FILES = sorted(path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py"))


def part(path):
    """The module or folder of the package that a file belongs to."""
    inside = path.relative_to(ROOT)
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem


def at_import(nodes):
    """Statements that run when a module is imported; what only a type checker reads does not."""
    for node in nodes:
        yield node
        if isinstance(node, ast.If):
            if ast.unparse(node.test) != "TYPE_CHECKING":
                yield from at_import([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            yield from at_import([*node.body, *(s for h in node.handlers for s in h.body), *node.orelse])


def imported(path, nodes):
    """Parts of the package, and other libraries, that import statements among ``nodes`` name."""
    parts, libraries = set(), set()
    package = ["sharpe_bandits", *path.relative_to(ROOT).parent.parts]
    for node in nodes:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1]
            names = [".".join([*base, node.module])] if node.module else [".".join([*base, a.name]) for a in node.names]
        else:
            continue
        for name in names:
            words = name.split(".")
            if words[0] == "sharpe_bandits":
                parts.add(words[1] if len(words) > 1 else "")
            else:
                libraries.add(words[0])
    return parts, libraries


def test_every_module_has_its_place():
    assert {part(path) for path in MODULES} - {"__init__"} <= set(RANK), "give a new module a place in LEVELS"


def not_for_types(nodes):
    """All statements, those inside functions too, but for what only a type checker reads."""
    for node in nodes:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from not_for_types(node.orelse)
        else:
            yield node
            yield from not_for_types(ast.iter_child_nodes(node))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path):
    own = part(path)
    tree = ast.parse(path.read_text())
    parts, _ = imported(path, at_import(tree.body))
    if own == "__init__":
        assert parts <= {name for name in RANK if RANK[name] <= RANK["planning"]}
        return
    for other in parts - {own, "__version__"}:
        assert RANK[other] < RANK[own], f"{path.name} imports {other}"
    if own == "kernels":
        assert parts <= {"kernels"}
    everywhere, _ = imported(path, not_for_types(tree.body))
    for other in everywhere - parts - {own, "__version__"}:
        allowed = (path.relative_to(ROOT).as_posix(), other) in UPWARD
        assert allowed or RANK[other] < RANK[own], f"{path.name} imports {other} inside a function"


def test_imports_that_may_point_upward_still_do():
    """A list of exceptions must not outlive them."""
    for name, other in UPWARD:
        path = ROOT / name
        everywhere, _ = imported(path, not_for_types(ast.parse(path.read_text()).body))
        assert other in everywhere
        assert RANK[other] > RANK[part(path)]


def within_folder(path, everywhere):
    """Files of the same top folder that a file imports."""
    nodes = ast.parse(path.read_text()).body
    package = path.relative_to(ROOT).parent
    found = set()
    for node in not_for_types(nodes) if everywhere else at_import(nodes):
        if not isinstance(node, ast.ImportFrom) or node.level == 0:
            continue
        base = package
        for _ in range(node.level - 1):
            base = base.parent
        base = base.joinpath(*(node.module or "").split("."))
        for name in [alias.name for alias in node.names]:
            own = base.parent / f"{base.name}.py"
            for candidate in (base / f"{name}.py", base / name / "__init__.py", own, base / "__init__.py"):
                if (ROOT / candidate).is_file() and candidate.parts[0] == package.parts[0]:
                    found.add(candidate.as_posix())
                    break
    return found - {path.relative_to(ROOT).as_posix()}


def circle(graph):
    """Modules that import each other in a circle, if there are any."""
    left = {name: set(others) for name, others in graph.items()}
    while leaves := [name for name, others in left.items() if not others & set(left)]:
        for name in leaves:
            del left[name]
    return set(left)


@pytest.mark.parametrize("folder", sorted({p.relative_to(ROOT).parts[0] for p in MODULES if p.parent != ROOT}))
def test_no_circles_within_a_folder(folder):
    graph = {}
    for path in (ROOT / folder).rglob("*.py"):
        name = path.relative_to(ROOT).as_posix()
        graph[name] = within_folder(path, everywhere=True) - {b for a, b in CIRCLES if a == name}
    assert circle(graph) == set()


def test_circles_that_may_be_are_still_there():
    for name, other in CIRCLES:
        assert other in within_folder(ROOT / name, everywhere=True)
        assert other not in within_folder(ROOT / name, everywhere=False)


def test_a_circle_is_noticed():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == {"a", "b", "c", "d"}
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_libraries_stay_where_they_belong(path):
    """Also inside functions: the core never needs a library for drawing, serving or commanding."""
    own = part(path)
    tree = ast.parse(path.read_text())
    _, everywhere = imported(path, ast.walk(tree))
    _, at_once = imported(path, at_import(tree.body))
    if own == "kernels":
        assert everywhere <= {"math", "typing", "numpy", "collections", "functools"}
    if own == "charts":
        assert not at_once & OUTER_LIBRARIES
    elif own == "__init__" or RANK[own] < RANK["report"]:
        assert not everywhere & OUTER_LIBRARIES
        late = {ROOT / "engine" / name for name in ("callees.py", "intrinsics.py", "pipeline.py")}  # imported late
        extends_numba = {"numba"} if path in late else set()
        assert not at_once & {"numba", "scipy", "pyarrow", "rich"} - extends_numba
    if own != "engine":
        assert "numba" not in everywhere


def test_the_check_itself_notices():
    """Relative imports, plain ones, those of names, and those that only type checkers see."""
    source = (
        "from ..engine.spec import Spec\nfrom .. import metrics\nimport sharpe_bandits.study\nimport rich.console\n"
        "if TYPE_CHECKING:\n    from ..agents import Agent\ndef f():\n    import numba\n"
    )
    parts, libraries = imported(ROOT / "arms" / "new.py", at_import(ast.parse(source).body))
    assert parts == {"engine", "metrics", "study"}
    assert libraries == {"rich"}
    inside = "class C:\n    def f(self):\n        if True:\n            from ..report.page import page\n"
    parts, _ = imported(ROOT / "arms" / "new.py", not_for_types(ast.parse(source + inside).body))
    assert parts == {"engine", "metrics", "study", "report"}


def test_importing_the_package_is_light():
    code = (
        "import json, sys, sharpe_bandits; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    heavy = {"numpy", "numba", "llvmlite", "scipy", "pyarrow", "matplotlib", "rich", "pandas", "jinja2"}
    assert "sharpe_bandits" in loaded
    assert not loaded & heavy


def test_theory_is_imported_when_asked_for():
    program = (
        "import sys, sharpe_bandits as sb\n"
        "assert 'sharpe_bandits.theory' not in sys.modules\n"
        "before = set(sys.modules)\n"
        "sb.theory.Bound\n"
        "heavy = {name.split('.')[0] for name in set(sys.modules) - before} & {'scipy', 'numba', 'pyarrow'}\n"
        "assert not heavy, heavy\n"
        "try:\n    sb.theorem\nexcept AttributeError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "theorem" in done.stdout


def test_every_public_name_can_be_the_first_that_is_asked_for():
    """What it is imported from may not rest on what else was imported before."""
    code = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    for loaded in [other for other in sys.modules if other.startswith('sharpe_bandits')]:\n"
        "        del sys.modules[loaded]\n"
        "    importlib.import_module(name, 'sharpe_bandits')\n"
        "    print(name)\n"
    )
    stub = ast.parse((ROOT / "__init__.pyi").read_text())
    names = sorted({f".{node.module}" for node in stub.body if isinstance(node, ast.ImportFrom) and node.module})
    assert len(names) > 15
    done = subprocess.run([sys.executable, "-c", code, *names], capture_output=True, text=True)
    assert done.stdout.split() == names, done.stderr


def test_every_policy_arm_and_objective_is_public():
    for kinds in (Policy.kinds, Arm.kinds, Objective.kinds):
        for name, kind in kinds.items():
            if name != "CustomPolicy" and kind.__module__.startswith("sharpe_bandits."):
                assert getattr(sb, name) is kind


def test_the_names_that_are_promised():
    """Users rely on them."""
    promised = """
        Bandit Uniform Normal TruncatedNormal Gamma TruncatedGamma Beta Bernoulli Constant Empirical Tape RandomBandit
        UCBVV UCBSRLike UCBRSSR UUCB GRAUCB ModifiedGRAUCB MVTS ModifiedMVTS SHVV SHSR SuRSR UniformSampling
        SequentialHalving SuccessiveRejects UCB1 ThompsonSampling MTS VTS MVLCB EpsilonGreedy RoundRobin
        RSSR Sharpe SharpeLike Variance MeanVariance Mean simulate identify trace load Agent index_policy
        Study PolicyResult StoppingResult Curve Estimate
    """
    for name in promised.split():
        assert name in dir(sb), name
        assert callable(getattr(sb, name))


def test_modules_do_not_leak_into_the_public_names():
    assert not {"np", "annotations", "agents", "kernels", "engine"} & set(dir(sb))


def documented(node):
    """Names and what stands in their type slots in a docstring's sections of parameters and attributes."""
    lines = inspect.cleandoc(ast.get_docstring(node) or "").splitlines()
    section = ""
    for line, below in pairwise([*lines, ""]):
        if re.fullmatch("-{3,}", below):
            section = line
        elif section in ("Parameters", "Attributes") and (slot := re.fullmatch(r"([*\w, ]+) : (.+)", line)):
            yield [name.strip(" *") for name in slot[1].split(",")], slot[2]


def annotated(node):
    """The annotations of a function's arguments, or of a class's fields and of what it is made with."""
    if isinstance(node, ast.ClassDef):
        found = {n.target.id: ast.unparse(n.annotation) for n in node.body if isinstance(n, ast.AnnAssign)}
        made = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
        return (annotated(made[0]) if made else {}) | found
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return {a.arg: ast.unparse(a.annotation) for a in arguments if a.annotation is not None}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_docstrings_have_types_in_their_type_slots(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            types = annotated(node)
            for names, slot in documented(node):
                for name in names:
                    kind = types.get(name, "").replace('"', "'")
                    assert kind in slot.replace("numpy.", "np."), f"{node.name}: {name} is {kind}, not {slot!r}"


def module_of(test_file):
    """The module that a test file is named after, whether or not there is one."""
    path = Path(test_file)
    return path.with_name(path.name.removeprefix("test_"))


def named_after(module):
    """The test file that would be named after a module."""
    return Path(module).with_name(f"test_{Path(module).name}").as_posix()


def lines_of_code(source):
    """Lines that are neither blank nor a comment nor part of a docstring."""
    apart = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in apart:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, documented) and ast.get_docstring(node):
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(lines)


LARGE_MODULES = {p.relative_to(ROOT).as_posix() for p in MODULES if lines_of_code(p.read_text("utf-8")) >= LARGE}


@pytest.mark.parametrize("test_file", TEST_FILES)
def test_a_test_file_is_named_after_a_module_or_is_a_topic(test_file):
    has_module = (ROOT / module_of(test_file)).is_file()
    assert has_module or test_file in TOPICS, "name it after the module that it tests, or give it a place in TOPICS"
    assert not (has_module and test_file in TOPICS), "it is named after a module: take it out of TOPICS"


@pytest.mark.parametrize("module", sorted(LARGE_MODULES))
def test_a_large_module_has_a_test_file_of_its_name(module):
    has_file = named_after(module) in TEST_FILES
    assert has_file or module in THROUGH, f"add tests/{named_after(module)}, or say in THROUGH what tests it"
    assert not (has_file and module in THROUGH), "it has a test file of its name: take it out of THROUGH"


def test_lists_of_tests_do_not_outlive_what_they_name():
    assert set(TOPICS) - set(TEST_FILES) == set()
    assert set(THROUGH) - LARGE_MODULES == set()
    assert set(THROUGH.values()) - set(TEST_FILES) == set()


def test_lines_of_code_are_counted_without_words():
    assert lines_of_code('"""Words.\n\nMore.\n"""\n\n# A remark.\nX = [\n    1,  # one\n]\n') == 3
    assert lines_of_code('def f():\n    """Words."""\n    return """two\nlines"""\n\n\nclass C:\n    "Words."\n') == 4
    assert lines_of_code("") == 0


def test_the_longest_tests_are_there():
    """They are run first; a file that was renamed would not be."""
    assert [name for name in LONGEST if not (TESTS / name).is_file()] == []


def test_nothing_prints():
    """Only the command line writes to standard output."""
    for path in MODULES:
        if part(path) in {"cli", "commands", "__main__"}:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            prints = isinstance(node, ast.Call) and ast.unparse(node.func) == "print"
            assert not prints or any(k.arg == "file" for k in node.keywords), f"{path.name}, line {node.lineno}"
