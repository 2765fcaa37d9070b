"""The picture of the architecture: which part of the package imports which, drawn from the sources.

    python -m docs.site.architecture > architecture.svg

Levels are those that ``tests/test_layout.py`` enforces. An arrow is an import at the top of a module; those that follow
from others are left out (a part that imports A, which imports B, may import B too).
"""

from __future__ import annotations

import ast
from html import escape
from pathlib import Path

import sharpe_bandits

ROOT = Path(__file__).parents[2]
PACKAGE = Path(sharpe_bandits.__file__).parent
WIDTH, ROW, BOX = 980, 62, 30
#: What each level is about, for a reader.
SHADES = {
    "kernels": "compute", "engine": "compute", "executors": "compute", "simulation": "compute", "machines": "compute",
    "arms": "model", "policies": "model", "objectives": "model", "theory": "model", "confidence_sequences": "model",
    "agents": "live", "campaigns": "live", "service": "live",
    "results": "results", "metrics": "results", "study": "results", "saved": "results", "returns": "results",
    "planning": "results", "experiments": "results", "paper": "results", "report": "results", "charts": "results",
    "reproduction": "results",
}  # fmt: skip


def levels() -> list[set[str]]:
    """The table that the test enforces, read from its source."""
    tree = ast.parse((ROOT / "tests" / "test_layout.py").read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "LEVELS":
            return list(ast.literal_eval(node.value))
    raise LookupError("tests/test_layout.py has no LEVELS")


def imports() -> dict[str, set[str]]:
    """Parts that each part imports when it is imported."""
    known = set().union(*levels())
    found: dict[str, set[str]] = {name: set() for name in known}
    for path in PACKAGE.rglob("*.py"):
        inside = path.relative_to(PACKAGE)
        own = inside.parts[0] if len(inside.parts) > 1 else inside.stem
        if own not in known:
            continue
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.level:
                base = ["", *inside.parent.parts][: len(inside.parent.parts) + 2 - node.level]
                names = [node.module] if node.module else [alias.name for alias in node.names]
                for name in names:
                    target = ".".join([*base[1:], name]).split(".")[0]
                    if target in known and target != own:
                        found[own].add(target)
    return found


def reduced(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Without arrows that follow from others."""

    def reach(name: str) -> set[str]:
        seen: set[str] = set()
        stack = list(graph[name])
        while stack:
            other = stack.pop()
            if other not in seen:
                seen.add(other)
                stack.extend(graph[other])
        return seen

    below = {name: reach(name) for name in graph}
    return {name: {o for o in others if not any(o in below[p] for p in others - {o})} for name, others in graph.items()}


def picture() -> str:
    """The picture as SVG: the bottom of the package at the bottom."""
    rows = levels()
    arrows = reduced(imports())
    height = ROW * len(rows) + 20
    place: dict[str, tuple[float, float, float]] = {}
    for rank, names in enumerate(rows):
        ordered = sorted(names)
        widths = [14 + 7.4 * len(name) for name in ordered]
        # Levels of one part step sideways, so that arrows between them can be told apart.
        x = (WIDTH - sum(widths) - 24 * (len(ordered) - 1)) / 2 + (130 if rank % 2 else -130) * (len(ordered) == 1)
        for name, width in zip(ordered, widths, strict=True):
            place[name] = (x, height - ROW * (rank + 1) + 10, width)
            x += width + 24
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'font-family="ui-monospace, monospace" font-size="12">',
        "<title>Parts of the package and their imports</title>",
        '<rect width="100%" height="100%" fill="#ffffff" rx="8"/>',
        "<style>path{fill:none;stroke:#8793a5;stroke-width:1}rect.b{stroke:#51606f;stroke-width:1}"
        ".compute{fill:#dce9f7}.model{fill:#e0f0df}.live{fill:#f9e6d0}.results{fill:#ece3f5}.base{fill:#eef0f2}"
        "text{fill:#1d2731}</style>",
    ]
    for name, others in sorted(arrows.items()):
        x, y, w = place[name]
        for other in sorted(others):
            ox, oy, ow = place[other]
            a, b = x + w / 2, ox + ow / 2
            bend = min(0.45 * (oy - y), 90)
            lines.append(
                f'<path d="M{a:.0f} {y + BOX} C{a:.0f} {y + BOX + bend:.0f} {b:.0f} {oy - bend:.0f} {b:.0f} {oy}"/>'
            )
    for name, (x, y, w) in place.items():
        lines.append(
            f'<rect class="b {SHADES.get(name, "base")}" x="{x:.0f}" y="{y}" width="{w:.0f}" height="{BOX}" rx="5"/>'
        )
        lines.append(f'<text x="{x + w / 2:.0f}" y="{y + 19}" text-anchor="middle">{escape(name)}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


if __name__ == "__main__":
    print(picture(), end="")
