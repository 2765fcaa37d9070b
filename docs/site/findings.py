"""Write ``docs/findings.md`` and its figures from a reproduction: ``python -m docs.site.findings out/paper``."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

from sharpe_bandits.experiments.verdicts import Statement, conclusion, load, statements
from sharpe_bandits.paper.panels import panels

PAGE = Path(__file__).parents[1] / "findings.md"
FIGURES = PAGE.with_suffix("")
#: A figure for the panels whose name starts so, where a statement has no panel with a figure of its own.
JOINT = {"V": "Fig4a"}
HEADINGS = {
    "the paper's experiments": "What the paper says of its experiments",
    "the paper's theory": "What its theory says",
    "other papers": "What three other papers say",
    "ours": "What we add",
}
#: The figures that the page shows under a heading.
SHOWN = {
    "the paper's experiments": {
        "R3-authors": "UCB-RSSR and U-UCB on five and ten arms; the bottom row is what the authors plot",
        "B4-paper": "Errors of SHSR, SuRSR and uniform sampling",
    },
    "the paper's theory": {"C1-paper": "How often the printed inequalities are violated"},
}


def _picture(stem: str, caption: str) -> str:
    return f"![{caption}](findings/{stem}.svg)"


def figure_of(statement: Statement) -> str:
    """The figure that shows a statement: of the first verdict that is the statement's own."""
    word = {"partly": "fails"}.get(statement.verdict, statement.verdict)
    verdict = next((v for v in statement.verdicts if v.verdict == word), statement.verdicts[0])
    return JOINT.get(verdict.panel[0], f"{verdict.panel}-{verdict.profile}")


def because(statement: Statement) -> str:
    """Why it fails, in one sentence, if there is one, and whether it does so with rewards in [0, 1]."""
    whys = [v.why for v in statement.verdicts if v.verdict in ("fails", "vacuous") and v.why]
    if not whys:
        return ""
    first = re.split(r"(?<=[a-z)\]²⁴0-9])\. ", whys[0])[0].rstrip(".") + "."
    unit = re.search(r"With rewards in \[0, 1\] it failed in .*?comparisons\.", whys[0])
    return first if unit is None or unit[0] in first else f"{first} {unit[0]}"


def lines_of(statement: Statement) -> list[str]:
    """A statement: verdict, text, where, one sentence, how sure, readings, figure."""
    text = [f"**{statement.prefix}: {statement.text}.** {statement.where[0].upper()}{statement.where[1:]}."]
    text += [because(statement)] if because(statement) else []
    text.append({"exact": "Exact.", "–": ""}.get(statement.certainty, f"Certainty: {statement.certainty}."))
    for verdict in statement.dependent:
        text.append(f"{verdict.id} ({verdict.profile}) depends on the reading: {verdict.dependence}.")
    return [f"- {' '.join(filter(None, text))} [Figure](findings/{figure_of(statement)}.svg)", ""]


def page(folder: Path) -> str:
    """The whole page."""
    verdicts = load(folder)
    settings = json.loads((folder / "settings.json").read_text("utf-8"))
    titles = {panel.id: panel.title for panel in panels()}
    by_source = statements(verdicts)
    used = dict.fromkeys(v.panel for v in verdicts)
    readings = {other.reading: other.condition for verdict in verdicts for other in verdict.readings}
    lines = [
        "# Findings",
        "",
        f"<!-- Written by python -m docs.site.findings from sharpe-bandits reproduce --runs {settings['runs']} "
        f"--seed {settings['seed']}: do not edit. -->",
        "",
        f"**Does the paper reproduce?** {conclusion(verdicts)[0]} Every experiment was rerun with "
        f"{settings['runs']:,} runs, under the "
        "printed text (paper) and the code that the authors released (authors). A statement holds, or fails, if the "
        "99% interval of every paired difference says so ([methods](evidence/methods.md)); "
        "certainty is the distance from "
        "the opposite in standard errors (s.e.), in the least certain setting. "
        "[Reading the paper](evidence/reading-the-paper.md) says which text is judged, and how it is read.",
        "",
    ]
    for source, stated in by_source.items():
        lines += [f"## {HEADINGS[source]}", ""]
        lines += [part for stem, caption in SHOWN.get(source, {}).items() for part in (_picture(stem, caption), "")]
        for statement in stated:
            lines += lines_of(statement)
    lines += ["## Panels", "", "| panel | shows |", "|---|---|", *(f"| {id} | {titles[id]} |" for id in used), ""]
    lines += ["## Readings of the text", "", "| name | what is read how |", "|---|---|"]
    lines += [f"| {name} | {condition} |" for name, condition in sorted(readings.items())]
    return "\n".join(lines) + "\n"


def main(folder: Path) -> None:
    """Write the page, and copy the figures that it shows or links to."""
    text = page(folder)
    FIGURES.mkdir(exist_ok=True)
    for old in FIGURES.glob("*.svg"):
        old.unlink()
    for stem in sorted(set(re.findall(r"\(findings/([\w-]+)\.svg\)", text))):
        shutil.copy(folder / "figures" / f"{stem}.svg", FIGURES)
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
