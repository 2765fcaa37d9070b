"""Many figures are drawn by two processes, and the files are those that one would have written."""

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sharpe_bandits.charts import Heatmap, pictures
from sharpe_bandits.report import drawing


def figures(count):
    return {
        f"figure {i}": Heatmap(title=f"Figure {i}", columns=["a", "b"], rows=["c"], values=[[0.1 * i, 0.5]])
        for i in range(count)
    }


def draw(pairs, folder):
    with drawing.Drawing(folder) as given:
        for name, figure in pairs:
            given.add(name, figure)


def expected(of):
    return {f"{name}.{kind}": picture for name, figure in of.items() for kind, picture in pictures(figure).items()}


def found(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def starts(monkeypatch):
    """The other processes, which are started for real."""
    processes, real = [], drawing.start_process

    def started(main, what):
        processes.append(real(main, what))
        return processes[-1]

    monkeypatch.setattr(drawing, "start_process", started)
    monkeypatch.setattr(drawing, "cores", lambda: 2)
    return processes


@pytest.fixture
def drawn_here(monkeypatch):
    """The names of figures that this process draws."""
    names, real = [], drawing._draw

    def drawn(taken, folder):
        names.append(pickle.loads(taken.read_bytes())[0])
        real(taken, folder)

    monkeypatch.setattr(drawing, "_draw", drawn)
    return names


def test_many_figures_are_drawn_while_others_are_made(starts, drawn_here, tmp_path):
    of = figures(drawing.MANY)
    with drawing.Drawing(tmp_path) as given:
        for name, figure in of.items():
            assert not starts
            given.add(name, figure)
        until = time.monotonic() + 60
        while len(list(tmp_path.glob("*.png"))) < drawing.MANY and time.monotonic() < until:
            time.sleep(0.05)
        given.add("late", of["figure 0"])
    assert len(starts) == 1
    assert starts[0].returncode == 0
    assert set(drawn_here) <= {"late"}
    assert found(tmp_path) == expected({**of, "late": of["figure 0"]})


def test_a_figure_that_the_other_process_has_taken_is_left_to_it(tmp_path):
    queue, folder = tmp_path / "queue", tmp_path / "figures"
    for number, pair in enumerate(figures(3).items()):
        drawing.write_atomically(queue / f"{number:06}.waiting", pickle.dumps(pair))
    (queue / "000002.waiting").rename(queue / "000002.taken")
    assert drawing._draw_one(queue, folder, last=True)
    assert sorted(found(folder)) == ["figure 1.png", "figure 1.svg"]
    assert drawing._draw_one(queue, folder)
    assert not drawing._draw_one(queue, folder)
    assert found(folder) == expected(figures(2))
    assert sorted(path.name for path in queue.iterdir()) == ["000000.drawn", "000001.drawn", "000002.taken"]


def test_this_process_draws_from_the_last_figure_on(starts, drawn_here, tmp_path):
    of = figures(4 * drawing.MANY)
    draw(of.items(), tmp_path)
    assert drawn_here == list(reversed(of))[: len(drawn_here)]  # from the last one on
    assert found(tmp_path) == expected(of)


def test_pictures_of_an_earlier_time_are_replaced(starts, tmp_path):
    for name in expected(figures(drawing.MANY)):
        (tmp_path / name).write_bytes(b"old")
    draw(figures(drawing.MANY).items(), tmp_path)
    assert found(tmp_path) == expected(figures(drawing.MANY))


def test_an_interrupt_leaves_the_pictures_of_an_earlier_time(tmp_path):
    draw(figures(1).items(), tmp_path)
    with pytest.raises(AttributeError):
        draw(between(figures(1)), tmp_path)
    assert found(tmp_path) == expected(figures(1))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not say whether a process is alone")
def test_the_other_process_ends_with_this_one(tmp_path):
    """It is killed just after the other one was started, and no figure waits."""
    code = f"""
import pathlib, sys, time
from sharpe_bandits.report import drawing
process = drawing.start_process(drawing.main, ({str(tmp_path)!r}, pathlib.Path({str(tmp_path)!r})))
print(process.pid, flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        parent.kill()
    until = time.monotonic() + 30
    while alive(child) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(child)


def alive(process):
    """Whether a process has not ended; one that nobody waits for has."""
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat")
        return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False


def test_few_figures_and_one_core_need_no_other_process(starts, tmp_path, monkeypatch):
    draw(figures(2).items(), tmp_path)
    monkeypatch.setattr(drawing, "cores", lambda: 1)
    draw(figures(drawing.MANY).items(), tmp_path)
    assert starts == []
    assert len(found(tmp_path)) == 2 * drawing.MANY


def test_what_the_other_process_does_not_draw_is_drawn_here(monkeypatch, tmp_path):
    """It takes a figure and ends before it has drawn it."""

    def failing(main, what):
        taken = "import pathlib; p = min(pathlib.Path(%r).glob('*.waiting')); p.rename(p.with_suffix('.taken'))"
        return subprocess.Popen([sys.executable, "-c", taken % what[0] + "; raise SystemExit(3)"])

    monkeypatch.setattr(drawing, "start_process", failing)
    monkeypatch.setattr(drawing, "cores", lambda: 2)
    of = figures(drawing.MANY)
    draw(of.items(), tmp_path)
    assert found(tmp_path) == expected(of)


def between(of):
    """Figures, and then an error."""
    yield from of.items()
    raise AttributeError("what comes next cannot be made")


@pytest.mark.parametrize("where", ["drawing", "between"])
def test_an_error_here_ends_the_other_process(where, monkeypatch, tmp_path):
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    queues = []
    monkeypatch.setattr(drawing, "start_process", lambda main, what: queues.append(Path(what[0])) or process)
    monkeypatch.setattr(drawing, "cores", lambda: 2)
    of = figures(drawing.MANY)
    pairs = between(of) if where == "between" else {**of, "figure 0": None}.items()
    with pytest.raises(AttributeError):
        draw(pairs, tmp_path)
    assert process.poll() is not None
    assert not queues[0].exists()
