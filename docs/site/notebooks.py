"""Tutorials as Jupyter notebooks, for download."""

from __future__ import annotations

from pathlib import Path

import nbformat
from myst_nb.core.read import read_myst_markdown_notebook
from myst_parser.config.main import MdParserConfig


def write(tutorials: Path, folder: Path) -> None:
    """A notebook without output for every tutorial; one that is the same is not touched."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in sorted(tutorials.glob("*.md")):
        text = page.read_text("utf-8")
        if "{code-cell}" not in text:
            continue
        notebook = read_myst_markdown_notebook(text.partition("{download}")[0], MdParserConfig())
        for number, cell in enumerate(notebook.cells):
            cell.id = f"cell-{number}"
        path, content = folder / f"{page.stem}.ipynb", nbformat.writes(notebook)
        if not path.exists() or path.read_text("utf-8") != content:
            path.write_text(content, "utf-8")
