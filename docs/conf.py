"""Sphinx: the documentation. ``make docs`` builds it, without a network."""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))

from docs.site import notebooks, reference  # noqa: E402

import sharpe_bandits  # noqa: E402

reference.write(HERE / "_generated")
notebooks.write(HERE / "tutorials", HERE / "_generated" / "notebooks")

project = "sharpe-bandits"
author = copyright = "The sharpe-bandits developers"
release = version = sharpe_bandits.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_nb",
    "sphinx_copybutton",
    "sphinx_design",
    "docs.site.mathml",
]
exclude_patterns = ["_build", "site", "_generated/notebooks", "Thumbs.db"]
templates_path = ["_templates"]
html_static_path = ["_static"]

# Markdown
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist", "attrs_block"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # pages that are included begin with a heading of their own

# Notebooks are run once, and again when they change
nb_execution_mode = "cache"
nb_execution_cache_path = str(ROOT / "out" / "notebooks")
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_show_tb = True
nb_merge_streams = True

# API
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# Pages
html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = f"sharpe-bandits {release.partition('+')[0]}"
html_css_files = ["site.css"]
html_favicon = "_static/logo.svg"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "sharpe-bandits", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": {
        "*": ["page-toc"],
        "api/*": ["page-toc"],
        "_generated/*": ["page-toc"],
        "tutorials/*": [],
    },
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "findings": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# linkcheck, where there is a network
linkcheck_timeout = 20
linkcheck_retries = 2

#: Files outside the documentation that have a page in it.
PAGES = {
    "CHANGELOG.md": "reference/changelog.md",
    "CONTRIBUTING.md": "contribute/contributing.md",
    "SECURITY.md": "contribute/security.md",
    "benchmarks/RESULTS.md": "evidence/benchmarks.md",
    "benchmarks/EXECUTORS.md": "evidence/executors.md",
    "benchmarks/ASK_TELL.md": "evidence/ask-tell.md",
}
LINK = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)#\s]+)\)")


def _links(app, name, source):
    """Links to files of the repository: to their page where they have one, else as something to open or keep."""
    depth = name.count("/")

    def there(found: re.Match[str]) -> str:
        text, target = found[1], found[2]
        path = ((HERE / name).parent / target).resolve()
        plain = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else target
        if plain in PAGES:
            return f"[{text}]({'../' * depth}{PAGES[plain]})"
        if path.is_file() and HERE not in path.parents:
            return f"{{download}}`{text.strip('`')} <{target}>`"
        return found[0]

    if not name.startswith(("api/", "_generated/api")):
        source[0] = LINK.sub(there, source[0])


#: What the type of a parameter begins with, as opposed to words about it.
TYPE = re.compile(
    r"(int|float|str|bool|dict|list|tuple|set|bytes|object|np\.\w+|datetime|os\.\w+|[A-Z][A-Za-z]+)\b[^:]*$"
)


def _parameters(app, what, name, thing, options, lines):
    """Docstrings may say a parameter in one line, ``L : regulariser``: words, which numpydoc would take for a type."""
    inside = False
    done = []
    for i, line in enumerate(lines):
        following = lines[i + 1] if i + 1 < len(lines) else ""
        if following and set(following) == {"-"}:
            inside = line in {"Parameters", "Attributes", "Returns"}
        found = inside and re.match(r"(\w[\w, *]*) : (.+)$", line)
        if found and not (TYPE.match(found[2]) and following.startswith("    ")):
            done += [found[1], f"    {found[2]}"]
        else:
            done.append(line)
    lines[:] = done


def setup(app):
    """What Sphinx calls."""
    app.connect("source-read", _links)
    app.connect("autodoc-process-docstring", _parameters, priority=100)
