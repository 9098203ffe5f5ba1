"""Several worker processes: quiet ones, and one that dies."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
import runs

from belvedere.pipelines import failures, local_workers

COMMAND = [sys.executable, "-m", "belvedere.pipelines"]

SLOW = pytest.mark.slow


def _command(output, *more):
    told = ["annotate", "--images", runs.world() / "images", "--models", runs.models()]
    return [str(one) for one in (*told, "--output", output, *more)]


def test_two_workers_give_the_same_rows_and_no_chatter(tmp_path):
    done = subprocess.run(
        [*COMMAND, *_command(tmp_path / "o", "--workers", 2)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == failures.DONE, done.stderr
    assert f"{runs.TASKS} images in: {runs.TASKS} annotated" in done.stdout
    assert [line for line in done.stderr.splitlines() if "Annotating" not in line] == []
    assert runs.rows(tmp_path / "o") == runs.rows(runs.output())


def test_a_worker_that_dies_ends_the_command(belvedere, tmp_path, monkeypatch):
    monkeypatch.setattr(local_workers.worker, "__name__", "belvedere.nothing")
    said = belvedere(*_command(tmp_path / "o", "--workers", 2))
    assert said.code == failures.BUG
    assert "a worker process has died" in said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("victim", "blow", "pause", "code"),
    [
        ("launcher", signal.SIGTERM, 0, failures.STOPPED),
        pytest.param("worker", signal.SIGKILL, 1, failures.BUG, marks=SLOW),
        pytest.param("launcher", signal.SIGKILL, 1, -9, marks=SLOW),
        pytest.param("launcher", signal.SIGTERM, 1, failures.STOPPED, marks=SLOW),
        pytest.param("launcher", signal.SIGINT, 1, failures.STOPPED, marks=SLOW),
    ],
)
def test_kill_a_worker_or_the_launcher(tmp_path, victim, blow, pause, code):
    """Nobody is left behind, and the same command finishes the work."""
    told = [*COMMAND, *_command(tmp_path / "o", "--workers", 2)]
    launcher = subprocess.Popen(told, stderr=subprocess.PIPE, text=True)
    workers = _workers(launcher.pid)
    time.sleep(pause)  # of about three seconds, from loading to the last row
    os.kill(workers[0] if victim == "worker" else launcher.pid, blow)
    _, said = launcher.communicate(timeout=60)
    assert launcher.returncode == code
    assert ("worker process has died" in said) == (victim == "worker")
    stopped = "stopped; what is finished is kept" in said
    assert stopped == (code == failures.STOPPED)
    deadline = time.monotonic() + 10
    while any(pathlib.Path(f"/proc/{pid}").exists() for pid in workers):
        assert time.monotonic() < deadline, "a worker works on for nobody"
        time.sleep(0.2)
    again = subprocess.run([*told, "--log-format", "json"], capture_output=True)
    assert json.loads(again.stdout)["tasks_in"] == runs.TASKS
    assert runs.rows(tmp_path / "o") == runs.rows(runs.output())


def _workers(launcher: int) -> list[int]:
    """The two worker processes, once they are there."""
    for _ in range(600):
        time.sleep(0.1)
        found = [
            int(process.name)
            for process in pathlib.Path("/proc").glob("[0-9]*")
            if _is_worker(process, launcher)
        ]
        if len(found) == 2:
            return found
    raise AssertionError("no workers")


def _is_worker(process: pathlib.Path, launcher: int) -> bool:
    try:
        parent = process.joinpath("stat").read_text().rpartition(")")[2].split()[1]
        command = process.joinpath("cmdline").read_text()
    except OSError:
        return False
    return parent == str(launcher) and "belvedere.pipelines.worker" in command
