"""The page as a document: every verdict, links that lead somewhere, nothing from elsewhere, the numbers of the data."""

import csv
import json
import re
from html.parser import HTMLParser

import pytest

import sharpe_bandits as sb
from sharpe_bandits._support.display import Table
from sharpe_bandits.charts.render_matplotlib import pictures
from sharpe_bandits.experiments import verdicts as scorecard
from sharpe_bandits.experiments.verdicts import Evidence, Verdict
from sharpe_bandits.paper import lock_ins
from sharpe_bandits.paper.claims import judge
from sharpe_bandits.paper.panels import panels
from sharpe_bandits.report.page import Section, page
from sharpe_bandits.results.metrics import Estimate
from tests.synthetic import ARMS, case, finished, outcome, panel, wrong_plays

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent = tag, dict(attributes), parent
        self.children, self.text = [], ""

    def all(self, tag=None, css=None, **attributes):
        """Elements below this one, in order."""
        for child in self.children:
            fits = tag in (None, child.tag) and (css is None or css in child.attributes.get("class", "").split())
            if fits and all(child.attributes.get(key) == value for key, value in attributes.items()):
                yield child
            yield from child.all(tag, css, **attributes)

    def words(self):
        return " ".join([self.text, *(child.words() for child in self.children)]).strip()


class Document(HTMLParser):
    """A page as a tree; complains about tags that do not match."""

    def __init__(self, text):
        super().__init__()
        self.root = self.here = Element("root", {}, None)
        self.feed(text)
        self.close()
        assert self.here is self.root, f"<{self.here.tag}> is not closed"

    def handle_starttag(self, tag, attributes):
        element = Element(tag, attributes, self.here)
        self.here.children.append(element)
        if tag not in VOID:
            self.here = element

    def handle_endtag(self, tag):
        assert self.here.tag == tag, f"</{tag}> closes <{self.here.tag}>"
        self.here = self.here.parent

    def handle_data(self, text):
        self.here.text += text


@pytest.fixture(scope="module")
def text(folder):
    return (folder / "report.html").read_text("utf-8")


@pytest.fixture(scope="module")
def root(text):
    return Document(text).root


@pytest.fixture(scope="module")
def claims(folder):
    return json.loads((folder / "claims.json").read_text("utf-8"))


def by_id(root, id):
    (element,) = root.all(id=id)
    return element


def test_ids_are_unique(root):
    ids = [element.attributes["id"] for element in root.all() if "id" in element.attributes]
    assert len(set(ids)) == len(ids)


def test_the_answer_comes_first(root, claims):
    ids = [element.attributes["id"] for element in root.all() if "id" in element.attributes]
    assert ids[:2] == ["answer", "scorecard"]
    verdicts = [Verdict.from_dict(claim) for claim in claims]
    answer = by_id(root, "answer").words()
    assert scorecard.conclusion(verdicts)[0] in answer
    for statement in (s for own in scorecard.statements(verdicts).values() for s in own):
        assert (statement.text in answer) == statement.important


def test_every_statement_is_there_once_with_all_its_verdicts(root, claims):
    shown, stated = [], []
    for table in root.all("table", "scorecard"):
        for row in list(table.all("tr"))[1:]:
            _, cell = row.all("td")
            stated.append(next(iter(cell.text.strip().splitlines())).strip())
            for chip in next(cell.all("div", "where")).all("a", "chip"):
                shown.append((stated[-1], chip.attributes["href"], chip.attributes["class"].split()[-1]))
    expected = [(c["statement"], f"#{c['panel']}-{c['profile']}", c["verdict"]) for c in claims]
    assert sorted(shown) == sorted(expected)
    assert len(shown) > 10
    assert len(set(stated)) == len(stated)


def test_the_scorecard_says_on_which_reading_a_verdict_depends(root, claims):
    dependent = [c for c in claims if {r["verdict"] for r in c["readings"]} - {c["verdict"]}]
    words = " ".join(table.words() for table in root.all("table", "scorecard"))
    assert dependent
    readings = by_id(root, "readings").words()
    for claim in dependent:
        assert f"{claim['id']} ({claim['profile']}) {claim['verdict']} as read here; {claim['dependence']}." in words
        assert all(reading["condition"] in readings for reading in claim["readings"])


def test_a_verdict_leads_to_its_panel_where_its_evidence_is(root, claims):
    for claim in claims:
        section = by_id(root, f"{claim['panel']}-{claim['profile']}")
        (details,) = (d for d in section.all("details") if claim["id"] in [e.words() for e in d.all("span", "soft")])
        summary = next(details.all("summary"))  # those of other readings follow
        assert next(summary.all("span", "chip")).words() == claim["verdict"]
        assert ("Fails: " in summary.words()) == (claim["verdict"] == "fails")
        assert claim["says"] in summary.words()
        for part in claim["evidence"]:
            # the first table is that of the text as it is read here
            row = next(r for r in details.all("tr") if part["check"] in [c.words() for c in r.all("td")])
            cells = [c.words() for c in row.all("td")]
            difference = part["difference"]
            assert cells[1:] == [
                f"{part['left']:.4g}",
                f"{part['right']:.4g}",
                f"{difference['mean']:.4g}",
                f"{difference['se']:.4g}",
                f"[{difference['low']:.4g}, {difference['high']:.4g}]",
                part["verdict"],
            ]


def test_claims_that_fail_are_explained(root, claims):
    failed = [c for c in claims if c["verdict"] == "fails"]
    assert failed
    words = " ".join(table.words() for table in root.all("table", "scorecard"))
    for claim in failed:
        assert claim["why"]
        assert claim["why"] in words


def test_links_lead_somewhere_and_nothing_is_loaded_from_elsewhere(root, folder):
    ids = {element.attributes["id"] for element in root.all() if "id" in element.attributes}
    links = [element.attributes["href"] for element in root.all() if "href" in element.attributes]
    assert len(links) > 20
    for link in links:
        if link.startswith("#"):
            assert link[1:] in ids, link
        elif link != "data:,":
            assert not re.match(r"\w+:|//", link), link
            assert (folder / link).is_file()
    assert not [e.tag for e in root.all() if "src" in e.attributes or "srcset" in e.attributes]
    assert {e.tag for e in root.all("link")} == {"link"}
    assert [e.attributes["rel"] for e in root.all("link")] == ["icon"]
    assert not list(root.all("iframe"))
    (style,) = root.all("style")
    assert "@import" not in style.text
    assert "url(" not in style.text
    scripts = [s.text for s in root.all("script")]
    assert len(scripts) == 2
    assert not [s for s in scripts if "http" in s]


def test_every_panel_has_its_figure_data_numbers_and_settings(root):
    for p in panels(["R2", "V3", "B1", "C1"]):
        section = by_id(root, p.key)
        links = [a.attributes["href"] for a in section.all("a")]
        assert links == [f"figures/{p.key}.svg", f"figures/{p.key}.png", f"data/{p.id}.csv", f"data/{p.id}.parquet"]
        words = section.words()
        for case_ in p.cases:
            for policy in case_.policies:
                assert type(policy).__name__ in words
        assert p.note in by_id(root, f"panel-{p.id}").words()
    assert "arm 39" in by_id(root, "panel-V3").words()


def test_theory_has_its_tables(root):
    assert by_id(root, "theory").words() == "Theory and measurement"
    bounds = by_id(root, "bounds")
    head, *rows = bounds.all("tr")
    columns = [th.words() for th in head.all("th")]
    assert {"bound", "measured", "verdict"} <= set(columns)
    verdicts = [list(r.all("td"))[-1].words() for r in rows]
    assert set(verdicts) <= {"holds", "fails", "undecided", "vacuous"}
    assert "vacuous" in verdicts
    searched = f"{lock_ins.GAMES} times as many games of {lock_ins.ROUNDS:,} rounds"
    assert searched in " ".join(by_id(root, "growth").words().split())


def shown(root, key):
    """The figure on the page, and what its series say when pointed at."""
    (figure,) = root.all("figure", **{"data-figure": key})
    return figure, {title.text for title in figure.all("title")}


def table(folder, id, **wanted):
    with (folder / "data" / f"{id}.csv").open(newline="") as file:
        return [r for r in csv.DictReader(file) if all(r[key] == value for key, value in wanted.items())]


def said(row):
    return f"{float(row['mean']):.4g} ± {float(row['se']):.2g} (s.e.)"


def test_every_panel_shows_its_figure(root, folder):
    figures = [figure.attributes["data-figure"] for figure in root.all("figure", "picture")]
    assert figures == [p.key for p in panels(["R2", "V3", "B1", "C1"])]
    figure, _ = shown(root, "R2-paper")
    texts = {text.words() for text in figure.all("text")}
    assert {"L = 0.5", "L = 5", "regret R(t)", "UCB-RSSR", "U-UCB (ε₀ = L)"} <= texts


def test_the_curves_say_the_numbers_of_the_data(root, folder):
    _, tips = shown(root, "R2-paper")
    for case_ in ("L = 0.5", "L = 5"):  # with two arms sub-optimal plays have the same shape
        (row,) = table(folder, "R2", profile="paper", policy="U-UCB", case=case_, metric="regret", t="10000")
        assert f"U-UCB: {said(row)} at t = 10,000" in tips


def test_the_errors_are_those_of_the_data(root, folder):
    figure, tips = shown(root, "B1-authors")
    (tip,) = (tip for tip in tips if tip.startswith("SuRSR\n"))
    rows = table(folder, "B1", profile="authors", policy="SuRSR", metric="error")
    assert [line.split(" at ")[0] for line in tip.split("\n")[1:]] == [said(row) for row in rows]
    assert {"SHSR", "SHSR, samples kept", "SuRSR", "Uniform sampling"} <= {text.words() for text in figure.all("text")}


def test_the_settings_are_at_the_end(root):
    facts = {}
    for row in list(root.all("table"))[-1].all("tr"):
        facts[next(row.all("th")).words()] = next(row.all("td")).words()
    assert facts["runs"] == "32"
    assert facts["seed"] == "7"
    assert facts["version of sharpe-bandits"] == sb.__version__


# --- pages of made-up content -----------------------------------------------------------------------------------------

NASTY = """</script><script>alert("x")</script> & <b>'"""


def section(done):
    rows = done.rows()
    return Section(done.panel, done.studies, rows, pictures(done.figure(rows)))


def made_up(**changes):
    policy = sb.policies.UCB1(name=NASTY)
    done = finished(panel([case([policy], {"set": NASTY})]), [wrong_plays(policy, [1, 2, 3])])
    return Document(page(NASTY, NASTY, [section(done)], **changes)).root


def test_names_are_text_not_markup():
    judged = Verdict(
        "R9.1", "R9", "paper", NASTY, "fails", (Evidence(NASTY, 1, 2, Estimate(1, 1, 0, 2), "fails"),), NASTY
    )
    tables = {"bounds": Table([NASTY], [[NASTY]], NASTY)}
    document = made_up(verdicts=[judged], tables=tables, **{NASTY: NASTY})
    assert len(list(document.all("script"))) == 2  # tables that sort, figures that are enlarged
    assert next(document.all("h1")).words() == NASTY
    figure, tips = shown(document, "R9-paper")
    assert any(tip.startswith(f"{NASTY}: ") for tip in tips)
    assert NASTY in [text.words() for text in figure.all("text")]  # the legend


def test_a_page_without_verdicts_has_no_scorecard():
    document = made_up()
    assert not list(document.all(id="scorecard"))
    assert [a.words() for a in next(document.all("nav")).all("a")] == ["Panels", "Methods"]


@pytest.mark.parametrize("id", ["data", "scorecard", "made", "theory", "why"])
def test_an_experiment_may_be_called_like_a_part_of_the_page(id):
    policy = sb.policies.UCB1()
    done = finished(panel([case([policy], {})], id=id, profile=""), [wrong_plays(policy, [1, 2, 3])])
    document = Document(page("Mine", "", [section(done)])).root
    ids = [element.attributes["id"] for element in document.all() if "id" in element.attributes]
    assert len(set(ids)) == len(ids)
    assert [figure.attributes["data-figure"] for figure in document.all("figure")] == [id]


def test_verdicts_of_the_page_are_those_of_the_panel():
    a, b = sb.policies.UCB1(name="A"), sb.policies.UCB1(name="B")
    said = [("A is ahead", ["A @ K=5 < B @ K=5"], "")]
    done = finished(panel([case([a, b], {"K": 5})], claims=said), [wrong_plays(a, [1, 1]), wrong_plays(b, [2, 2])])
    (chip,) = Document(page("", "", [section(done)], judge(done))).root.all("a", "chip")
    assert (chip.words(), chip.attributes["href"]) == ("R9", "#R9-paper")
    assert "holds" in chip.attributes["class"].split()


def test_policies_of_single_cases_are_in_their_own_charts():
    a, b = sb.policies.UCB1(name="A"), sb.policies.UCB1(name="B")
    done = finished(
        panel([case([a], {"set": "X"}), case([b], {"set": "Y"})]), [wrong_plays(a, [1, 2])], [wrong_plays(b, [3, 4])]
    )
    for row in done.figure(done.rows()).charts:
        assert [[s.name for s in chart.series] for chart in row] == [["A"], ["B"]]
        assert [chart.title for chart in row] == ["set = X", "set = Y"]


def test_cases_that_differ_in_something_else_have_places_of_their_own():
    a = sb.SHVV()
    cases = [case([a], {"rho": rho}, sb.Mean(), ARMS, 100) for rho in (1, 2)]
    done = finished(panel(cases, "error"), *([outcome(a, [[[50, 50]]] * 3, (100,))] for _ in cases))
    ((chart,),) = done.figure(done.rows()).charts
    assert chart.x.places == ["rho = 1\nK = 2\nn = 100", "rho = 2\nK = 2\nn = 100"]
