"""Formulas as MathML, made by docutils: browsers draw it themselves, so that pages need no script and no network."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

#: Sizes of delimiters, which browsers choose themselves.
SIZES = re.compile(r"\\[bB]igg?[lrm]?(?![a-zA-Z])")


def _mathml(node: nodes.Element, block: bool) -> str:
    return tex2mathml(SIZES.sub("", node.astext()).replace(r"\bar ", r"\overline "), as_block=block)


def _inline(writer: Any, node: nodes.Element) -> None:
    writer.body.append(_mathml(node, block=False))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.Element) -> None:
    writer.body.append(f'<div class="math-block">{_mathml(node, block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
