"""Imports point one way, the package imports lightly, and nothing prints. Nothing else about the layout is law."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import sharpe_bandits as sb

ROOT = Path(sb.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))

#: Five layers, from the bottom to the top: when a module is imported, it imports from its own layer and those below.
LAYERS = [
    {"_support", "errors"},
    {"play", "arms", "objectives", "policies", "confidence_sequences", "descriptions", "parameters"},
    {"simulation", "results", "theory", "charts"},
    {"returns", "planning", "experiments", "paper", "live", "report"},
    {"service", "testing", "cli", "__main__"},
]  # fmt: skip
LAYER = {name: number for number, names in enumerate(LAYERS) for name in names}
#: Libraries for drawing, serving, storing and commanding, which importing the core must not need.
OUTER = {"matplotlib", "jinja2", "argparse", "fastapi", "starlette", "uvicorn", "sqlite3", "dask"}


def part(path):
    """The module or folder of the package that a file belongs to."""
    inside = path.relative_to(ROOT)
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem


def at_import(nodes):
    """Statements that run when a module is imported; what only a type checker reads does not."""
    for node in nodes:
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) != "TYPE_CHECKING":
            yield from at_import([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            yield from at_import([*node.body, *(s for h in node.handlers for s in h.body), *node.orelse])


def imports(path):
    """The parts of the package and the libraries that importing a file imports."""
    package = ["sharpe_bandits", *path.relative_to(ROOT).parent.parts]
    for node in at_import(ast.parse(path.read_text()).body):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            words = [*base, *(node.module or "").split(".")] if node.module else base
            names = [".".join(words)] if node.module else [".".join([*words, a.name]) for a in node.names]
        else:
            continue
        for name in names:
            yield name.split(".")


def test_imports_point_one_way():
    for path in MODULES:
        own = part(path)
        if own == "__init__":
            continue
        assert own in LAYER, f"give {own} a layer"
        for words in imports(path):
            if words[0] != "sharpe_bandits":
                assert words[0] not in OUTER or LAYER[own] >= 2, f"{path} imports {words[0]}"
            elif len(words) > 1 and words[1] != own:
                assert LAYER.get(words[1], 0) <= LAYER[own], f"{path} imports {words[1]}, which is in a layer above"


def test_importing_the_package_imports_nothing_heavy():
    code = "import json, sys, sharpe_bandits; print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    modules = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert not {"numba", "scipy", "pyarrow", "pandas", "rich", *OUTER} & set(modules)


def test_nothing_prints_but_the_command_line():
    printing = [
        f"{path}, line {node.lineno}"
        for path in MODULES
        if part(path) not in ("cli", "__main__")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
        and not any(keyword.arg == "file" for keyword in node.keywords)
    ]  # fmt: skip
    assert not printing
