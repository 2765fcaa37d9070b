"""Puts the page together: scorecard first, then every panel with its curves, its numbers and its verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from importlib.util import find_spec
from typing import Any

from ..errors import SharpeBanditsError
from ..experiments.panel import Finished, Panel
from ..figures import BOUNDS, FLOOR_NAME, FLOOR_SHOWN, MARKERS, PALETTE, Rows, columns_of, policies_of, setting, style
from ..paper.claims import FAILS, HOLDS, UNDECIDED, Verdict
from ..paper.table import Table
from ..paper.theory_check import LEVEL, LOWER_BOUND
from .document import document, resource

_DASHES = ("solid", "dash", "dot", "dashdot")
SYMBOLS = dict(zip(MARKERS, ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x"), strict=True))


@dataclass
class Content:
    """Everything that a report shows.

    Attributes
    ----------
    title, lead : what this is
    finished, rows : panels and their tidy tables, by key
    verdicts : on all claims
    tables : what theory has to say, and the like
    facts : settings and versions, shown at the end
    """

    title: str
    lead: str
    finished: list[Finished]
    rows: dict[str, Rows]
    verdicts: list[Verdict] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)


def check_plotly() -> None:
    """Raise if plotly, whose script the page carries, is missing; the error says how to get it."""
    if find_spec("plotly") is None:
        raise SharpeBanditsError(
            "the report needs plotly, which is not installed; install it with: pip install 'sharpe-bandits[report]'"
        )


def page(content: Content) -> str:
    """The whole page."""
    panels = {f.panel.key: {"charts": charts(f, content.rows[f.panel.key])} for f in content.finished}
    return charted(content.title, "\n".join(_body(content)), panels)


def charted(title: str, body: str, panels: dict[str, Any]) -> str:
    """A page that needs nothing but itself: ``body``, with the charts of ``panels`` drawn in its places for them."""
    check_plotly()
    from plotly.offline import get_plotlyjs

    payload = json.dumps({"panels": panels}, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
    scripts = (
        f'<script type="application/json" id="data">{payload}</script>\n'
        f"<script>{get_plotlyjs()}</script>\n<script>{resource('page.js')}</script>\n"
    )
    return document(title, body, scripts)


def charts(finished: Finished, rows: Rows) -> list[dict[str, Any]]:
    """The interactive charts of one panel as data."""
    panel = finished.panel
    policies = policies_of(finished)
    cases: dict[str, str]
    if panel.metric == "error":
        cases = {c.label: ", ".join(setting(c)) for c in panel.cases}
        series = [_points(rows, policy, "error", p, cases, policy) for p, policy in enumerate(policies)]
        for form in ("printed", "repaired"):
            for p, policy in enumerate(policies):
                bound = _points(rows, policy, f"bound ({form})", p, cases, f"{form} bound, {policy}")
                series += [{**bound, "dash": "dot", "symbol": "line-ew-open"}] if bound["mean"] else []
        return [{"kind": "points", "label": "", "unit": "probability of error", "series": series}]
    if panel.metric == "coverage":
        cases = {x["case"]: x["case"] for x in rows}
        names = list(dict.fromkeys(x["policy"] for x in rows))
        series = [
            {**_points(rows, name, "violation rate", p, cases, name), "mode": "markers"} for p, name in enumerate(names)
        ]
        return [{"kind": "rates", "label": "", "unit": "violation rate", "promise": LEVEL, "series": series}]
    drawn = []
    for label, numbers in columns_of(finished):
        by_metric: dict[str, list[Any]] = {}
        for metric in ("regret", "sub-optimal plays"):
            for d, number in enumerate(numbers):
                case = panel.cases[number]
                for p, policy in enumerate(policies):
                    found = [x for x in rows if (x["case"], x["policy"], x["metric"]) == (case.label, policy, metric)]
                    if not found:
                        continue  # a policy of other cases
                    name = case.with_L(policy) if len(numbers) > 1 else policy
                    look = {"name": name, "colour": style(p)[0], "dash": _DASHES[(d + p // len(PALETTE)) % 4]}
                    by_metric.setdefault(metric, []).append({**look, "t": [x["t"] for x in found], **_numbers(found)})
                    for form in ("printed", "repaired", "proved") if metric == "regret" else ():
                        key = (case.label, policy, f"bound ({form})")
                        limit = [x for x in rows if (x["case"], x["policy"], x["metric"]) == key]
                        if limit:
                            text = f"{form} bound, {policy}"
                            text = case.with_L(text) if len(numbers) > 1 else text
                            extra = {"name": text, "colour": BOUNDS[form], "dash": _DASHES[d % 4]}
                            points = {"t": [x["t"] for x in limit], **_numbers(limit)}
                            by_metric[metric].append({**extra, **points})
        highest = max((max(s["high"]) for s in by_metric["regret"]), default=0.0)
        for d, number in enumerate(numbers):
            case = panel.cases[number]
            floor = [x for x in rows if (x["case"], x["metric"]) == (case.label, LOWER_BOUND)]
            if floor:
                text = case.with_L(FLOOR_NAME) if len(numbers) > 1 else FLOOR_NAME
                thin = {"name": text, "colour": "#000000", "dash": ("dot", "dashdot")[d % 2]}
                points = {"t": [x["t"] for x in floor], **_numbers(floor)}
                # One that is far above what so few rounds can cost is there to be asked for.
                by_metric["regret"].append({**thin, **points, "hidden": floor[-1]["mean"] > FLOOR_SHOWN * highest})
        drawn.append({"kind": "curves", "label": label, "series": by_metric})
    return drawn


def _points(rows: Rows, policy: str, metric: str, p: int, cases: dict[str, str], name: str) -> dict[str, Any]:
    found = [x for x in rows if x["policy"] == policy and x["metric"] == metric]
    colour, marker = style(p)
    look = {"name": name, "colour": colour, "dash": _DASHES[p % 4], "symbol": SYMBOLS[marker]}
    return {**look, "mode": "lines+markers", "cases": [cases[x["case"]] for x in found], **_numbers(found)}


def _numbers(found: Rows) -> dict[str, list[float]]:
    return {key: [float(f"{x[key]:.6g}") for x in found] for key in ("mean", "low", "high")}


def _body(content: Content) -> Iterable[str]:
    ids = list(dict.fromkeys(f.panel.id for f in content.finished))
    links = [("Scorecard", "scorecard")] if content.verdicts else []
    links += [(id, f"panel-{id}") for id in ids]
    links += [("Theory", "theory")] if content.tables else []
    links += [("How it was made", "made")]
    yield (
        "<nav><div>"
        + "".join(f'<a href="#{anchor}">{escape(text)}</a>' for text, anchor in links)
        + "</div></nav><main>"
    )
    yield f'<h1>{escape(content.title)}</h1><p class="lead">{escape(content.lead)}</p>'
    if content.verdicts:
        yield from _scorecard(content.verdicts)
    yield "<h2>Panels</h2>"
    for id in ids:
        of_id = [f for f in content.finished if f.panel.id == id]
        yield f'<section id="panel-{id}"><h3>{escape(f"{id}: {of_id[0].panel.title}")}</h3>'
        yield f"<p>{escape(of_id[0].panel.compares)}.</p>"
        if of_id[0].panel.note:
            yield f'<p class="note">{escape(of_id[0].panel.note)}</p>'
        yield "</section>"
        for finished in of_id:
            verdicts = [v for v in content.verdicts if (v.panel, v.profile) == (id, finished.panel.profile)]
            yield from _panel(finished, content.rows[finished.panel.key], verdicts)
    if content.tables:
        yield '<h2 id="theory">Theory against measurement</h2>'
        for table in content.tables:
            yield from _table(table)
    yield '<h2 id="made">How it was made</h2>'
    yield (
        "<p>Regret is the sum over arms of the true gap times the expected number of pulls; e<sub>n</sub> is the "
        "probability that the arm recommended in the end is not a best one (or, where m arms are looked for, that they "
        "are not m best ones). Bands and bars are 95% intervals "
        "(Student's, from batches of runs; Wilson's for proportions). All policies of a panel saw the same rewards: "
        "the j-th pull of arm i in run r pays the same whatever the policy, so that differences are paired. A claim "
        "<em>holds</em> if the 99% interval of the paired difference shows it in every comparison that it makes, "
        "<em>fails</em> if one comparison shows the contrary, and is <em>undecided</em> otherwise.</p>"
    )
    yield "<table>" + "".join(
        f"<tr><th>{escape(k)}</th><td>{escape(str(v))}</td></tr>" for k, v in content.facts.items()
    )
    yield "</table></main>"


def _scorecard(verdicts: list[Verdict]) -> Iterable[str]:
    yield '<h2 id="scorecard">Scorecard</h2>'
    counts = {name: sum(v.verdict == name for v in verdicts) for name in (HOLDS, FAILS, UNDECIDED)}
    yield '<div class="tally">'
    for name, count in counts.items():
        word = {HOLDS: "hold", FAILS: "fail"}.get(name, name)
        yield f'<div class="{name}"><b>{count}</b>{word}</div>'
    yield "</div>"
    profiles = list(dict.fromkeys(v.profile for v in verdicts))
    head = "".join(f"<th>{escape(p)} profile</th>" for p in profiles)
    yield f'<div class="wide"><table class="scorecard"><tr><th>Claim</th><th></th>{head}</tr>'
    for id in dict.fromkeys(v.id for v in verdicts):
        of_id = {v.profile: v for v in verdicts if v.id == id}
        says = next(iter(of_id.values())).says
        cells = "".join(f"<td>{_chip(of_id[p], link=True) if p in of_id else _NOTHING}</td>" for p in profiles)
        yield f"<tr><td>{escape(id)}</td><td>{escape(says)}</td>{cells}</tr>"
    yield "</table></div>"
    failed = [v for v in verdicts if v.verdict == FAILS]
    if failed:
        yield '<h3 id="why">Why claims fail</h3>'
        for why in dict.fromkeys(v.why for v in failed):
            same = [v for v in failed if v.why == why]
            says = "; ".join(f"{escape(text)}" for text in dict.fromkeys(v.says for v in same))
            links = ", ".join(f'<a href="#{_anchor(v)}">{escape(v.id)} ({escape(v.profile)})</a>' for v in same)
            yield f'<div class="why"><b>{says}.</b><br>{escape(why) or "No explanation is known."}<br>'
            yield f'<span class="soft">Evidence: {links}</span></div>'


_NOTHING = '<span class="none">–</span>'


def _anchor(verdict: Verdict) -> str:
    return f"{verdict.panel}-{verdict.profile}" if verdict.panel else verdict.id


def _chip(verdict: Verdict, link: bool) -> str:
    if not link:
        return f'<span class="chip {verdict.verdict}">{verdict.verdict}</span>'
    return f'<a class="chip {verdict.verdict}" href="#{_anchor(verdict)}">{verdict.verdict}</a>'


def _panel(finished: Finished, rows: Rows, verdicts: list[Verdict]) -> Iterable[str]:
    panel = finished.panel
    key = panel.key
    anchor = key if panel.profile else f"own-{key}"  # a user's file may be called "data" or "scorecard"
    yield f'<section id="{anchor}" data-metric="regret" data-axis="{panel.axis}">'
    yield f"<h4>{escape(panel.id)}, {escape(panel.profile)} profile</h4>" if panel.profile else ""
    drawn = charts(finished, rows)
    if panel.metric == "regret":
        yield (
            '<div class="controls">'
            + "".join(
                f'<button data-sets="{sets}" data-value="{value}" aria-pressed="{pressed}">{text}</button>'
                for sets, value, text, pressed in (
                    ("metric", "regret", "Regret", "true"),
                    ("metric", "sub-optimal plays", "Sub-optimal plays", "false"),
                    ("axis", "log", "log t", str(panel.axis == "log").lower()),
                    ("axis", "linear", "linear t", str(panel.axis == "linear").lower()),
                )
            )
            + "</div>"
        )
    yield '<div class="charts">'
    for number in range(len(drawn)):
        yield f'<div class="chart" data-panel="{key}" data-chart="{number}"></div>'
    yield "</div>"
    for verdict in verdicts:
        line = f"{_chip(verdict, link=False)} <b>{escape(verdict.id)}</b> {escape(verdict.says)}."
        yield f"<details><summary>{line}</summary>{_evidence(verdict)}</details>"
    yield '<details><summary class="more">Numbers at the horizon</summary>' + _numbers_table(panel, rows) + "</details>"
    yield '<details><summary class="more">Arms and policies</summary>' + _settings(panel) + "</details>"
    yield (
        f'<p class="files">Figure: <a href="figures/{key}.svg">SVG</a>, <a href="figures/{key}.png">PNG</a>. '
        f'Data: <a href="data/{panel.id}.csv">CSV</a>, <a href="data/{panel.id}.parquet">Parquet</a>.</p></section>'
    )


def _evidence(verdict: Verdict) -> str:
    why = f"<p>{escape(verdict.why)}</p>" if verdict.verdict == FAILS and verdict.why else ""
    if not verdict.evidence:
        return why or "<p>Exact, from the true moments of the arms.</p>"
    rows = "".join(
        f"<tr><td>{escape(e.check)}</td>{_n(e.left)}{_n(e.right)}{_n(e.difference.mean)}{_n(e.difference.se)}"
        f'<td class="n">[{e.difference.low:.4g}, {e.difference.high:.4g}]</td>'
        f'<td><span class="chip {e.verdict}">{e.verdict}</span></td></tr>'
        for e in verdict.evidence
    )
    head = "".join(f'<th class="n">{t}</th>' for t in ("left", "right", "difference", "s.e.", "99% interval"))
    return f'{why}<div class="wide"><table><tr><th>Comparison</th>{head}<th></th></tr>{rows}</table></div>'


def _numbers_table(panel: Panel, rows: Rows) -> str:
    last = [x for x in rows if x["t"] == x["n"]]
    body = "".join(
        f"<tr><td>{escape(x['case'])}</td><td>{escape(x['policy'])}</td><td>{escape(x['metric'])}</td>{_n(x['mean'])}"
        f'{_n(x["se"])}<td class="n">[{x["low"]:.4g}, {x["high"]:.4g}]</td></tr>'
        for x in last
    )
    head = "<th>Case</th><th>Policy</th><th>Metric</th>"
    head += "".join(f'<th class="n">{text}</th>' for text in ("mean", "s.e.", "95% interval"))
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'


def _settings(panel: Panel) -> str:
    parts = []
    for case in panel.cases:
        arms = getattr(case.environment, "arms", None)
        text = repr(case.environment) if arms is None else _grouped([repr(a) for a in arms])
        policies = "; ".join(p.in_words() for p in case.policies)
        parts.append(f"<tr><td>{escape(case.label)}</td><td>{escape(text)}</td><td>{escape(policies)}</td></tr>")
    return (
        f'<div class="wide"><table><tr><th>Case</th><th>Arms</th><th>Policies</th></tr>{"".join(parts)}</table></div>'
    )


def _grouped(names: list[str]) -> str:
    """A list with runs of the same name counted: ``Uniform(0, 1) ×3``."""
    runs: list[list[Any]] = []
    for name in names:
        if runs and runs[-1][0] == name:
            runs[-1][1] += 1
        else:
            runs.append([name, 1])
    return ", ".join(name if count == 1 else f"{name} ×{count}" for name, count in runs)


def _table(table: Table) -> Iterable[str]:
    yield f"<section{f' id={chr(34)}{table.anchor}{chr(34)}' if table.anchor else ''}><h3>{escape(table.title)}</h3>"
    yield f"<p>{escape(table.text)}</p>"
    numeric = {c for c in range(len(table.columns)) if any(isinstance(r[c], (int, float)) for r in table.rows)}
    head = "".join(
        f"<th{' class=n' if c in numeric else ''}>{escape(text)}</th>" for c, text in enumerate(table.columns)
    )
    yield f'<div class="wide"><table><tr>{head}</tr>'
    for row in table.rows:
        yield "<tr>" + "".join(_cell(value) for value in row) + "</tr>"
    yield "</table></div></section>"


def _cell(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return f"<td>{_NOTHING if value is None else 'yes' if value else 'no'}</td>"
    if isinstance(value, (int, float)):
        return _n(value)
    if value in (HOLDS, FAILS, UNDECIDED):
        return f'<td><span class="chip {value}">{value}</span></td>'
    return f"<td>{escape(str(value))}</td>"


def _n(value: float) -> str:
    return f'<td class="n">{value:.4g}</td>'
