"""Many figures are drawn by two processes, and the files are those that one would have written."""

import subprocess
import sys

import pytest

from sharpe_bandits.charts import Heatmap, pictures
from sharpe_bandits.report import drawing


def figures(count):
    return {
        f"figure {i}": Heatmap(title=f"Figure {i}", columns=["a", "b"], rows=["c"], values=[[0.1 * i, 0.5]])
        for i in range(count)
    }


def expected(of):
    return {f"{name}.{kind}": picture for name, figure in of.items() for kind, picture in pictures(figure).items()}


def found(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def starts(monkeypatch):
    """The figures that other processes, which are started for real, were given."""
    given, real = [], drawing.started

    def started(main, what):
        given.append(sorted(what[0]))
        return real(main, what)

    monkeypatch.setattr(drawing, "started", started)
    monkeypatch.setattr(drawing, "cores", lambda: 2)
    return given


def test_many_figures_are_shared_between_two_processes(starts, tmp_path):
    of = figures(drawing.MANY)
    drawing.draw_all(of, tmp_path)
    assert starts == [["figure 1", "figure 3", "figure 5"]]
    assert found(tmp_path) == expected(of)


def test_few_figures_and_one_core_need_no_other_process(starts, tmp_path, monkeypatch):
    drawing.draw_all(figures(2), tmp_path)
    monkeypatch.setattr(drawing, "cores", lambda: 1)
    drawing.draw_all(figures(drawing.MANY), tmp_path)
    assert starts == []
    assert len(found(tmp_path)) == 2 * drawing.MANY


def test_what_the_other_process_does_not_draw_is_drawn_here(monkeypatch, tmp_path):
    failing = lambda main, what: subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])  # noqa: E731
    monkeypatch.setattr(drawing, "started", failing)
    monkeypatch.setattr(drawing, "cores", lambda: 2)
    of = figures(drawing.MANY)
    drawing.draw_all(of, tmp_path)
    assert found(tmp_path) == expected(of)


def test_an_error_here_ends_the_other_process(monkeypatch, tmp_path):
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    monkeypatch.setattr(drawing, "started", lambda main, what: process)
    monkeypatch.setattr(drawing, "cores", lambda: 2)
    of = {**figures(drawing.MANY), "figure 0": None}
    with pytest.raises(AttributeError):
        drawing.draw_all(of, tmp_path)
    assert process.poll() is not None
