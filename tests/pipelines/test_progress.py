"""The bar and the lines, and the board they are read from."""

import io
import shutil
import sys
import threading
import time

import pytest

from belvedere.pipelines import launching, progress
from belvedere.pipelines.progress import Done, Stage, Watch
from belvedere.transforms import tally

STAGES = (Stage("Listing", "listed", None), Stage("Working", "done", "listed"))


class Terminal(io.StringIO):
    """A stream that says it is a terminal, or that it is none."""

    def __init__(self, tty: bool) -> None:
        super().__init__()
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


@pytest.fixture
def board(tmp_path, monkeypatch):
    monkeypatch.setenv(tally.BOARD, str(tmp_path))
    return str(tmp_path)


def test_only_stages_that_have_begun_are_shown():
    told = {"listed": tally.Stage(10)}
    assert progress.begun(STAGES, told) == [Done(STAGES[0], 10, None)]
    told["done"] = tally.Stage(3, 1.5)
    assert progress.begun(STAGES, told)[1] == Done(STAGES[1], 3, 10)
    told["done"] = tally.Stage(11)  # a bundle was tried again
    assert progress.begun(STAGES, told)[1] == Done(STAGES[1], 11, 11)


@pytest.mark.parametrize("tty", [True, False])
def test_a_bar_on_a_terminal_and_lines_elsewhere(board, monkeypatch, tty):
    stream = Terminal(tty)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress.Lines, "period", 0.05)
    monkeypatch.setattr(progress.Bars, "period", 0.05)
    with Watch(quiet=False).over(board, STAGES):
        tally.add("listed", 40)
        for _ in range(4):
            tally.add("done", 10)
            time.sleep(0.12)
    said = stream.getvalue()
    lines = [line for line in said.splitlines() if line.startswith("Working: ")]
    assert ("━" in said) == tty
    assert bool(lines) != tty
    if tty:
        assert "40/40" in said and "images" in said and "/100" not in said
    else:
        assert any(" of 40 images, " in line and "left" in line for line in lines)


def test_what_has_not_changed_is_not_said_again(capsys):
    lines = progress.Lines(as_json=False)
    for items in (5, 5, 5, 8):
        lines.show([Done(STAGES[1], items, 10)])
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_quiet_starts_no_thread(board):
    before = threading.active_count()
    with Watch().over(board, STAGES):
        assert threading.active_count() == before


def test_the_thread_ends_with_the_run(board, capsys):
    before = threading.active_count()
    with pytest.raises(ZeroDivisionError), Watch(quiet=False).over(board, STAGES):
        assert threading.active_count() == before + 1
        raise ZeroDivisionError
    assert threading.active_count() == before


def test_the_board_adds_up_processes(board, tmp_path):
    tally.add("a", 2, 0.5)
    with tally.timed("a", 3):
        pass
    (tmp_path / "other.json").write_text('{"a": [5, 1.0], "b": [1, 0.0]}')
    (tmp_path / "dead.json").write_text('{"a": [5,')
    found = tally.read(board)
    assert found["a"].items == 10 and found["a"].seconds >= 1.5
    assert found["b"] == tally.Stage(1, 0.0)


def test_work_that_failed_is_not_counted(board):
    with pytest.raises(ValueError), tally.timed("failed"):
        raise ValueError
    assert "failed" not in tally.read(board)


def test_beams_counters_give_the_stages_back():
    counters = {"a/items": 3, "a/microseconds": 1_500_000, "b/items": 1}
    stages = tally.gathered(counters)
    assert stages == {"a": tally.Stage(3, 1.5), "b": tally.Stage(1, 0.0)}


def test_workers_that_still_write_do_not_hide_the_error():
    """Those of a job that failed may be at it when its board is cleared away."""
    stop = threading.Event()

    def write(board: str) -> None:
        while not stop.is_set():
            tally._write(board, {"done": tally.Stage(1)})

    for _ in range(10):
        stop.clear()
        with pytest.raises(KeyError), launching._board() as board:
            worker = threading.Thread(target=write, args=(board,))
            worker.start()
            time.sleep(0.01)
            raise KeyError("why the job failed")
        stop.set()
        worker.join()
        shutil.rmtree(board, ignore_errors=True)
