"""Both pipelines on a Flink cluster, and what it loses: `make test-flink-cluster`.

Two TaskManagers of two slots each; the workers are processes of a pool, EXTERNAL.
"""

import os
import pathlib
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import flinks
import pytest
import runs
import yaml

from belvedere.pipelines import annotate, failures, toy_data, train
from belvedere.transforms import records

pytestmark = pytest.mark.slow
MANY = 30  # images of a class, where a run must last a while


class Running:
    """A command in a thread of this process."""

    def __init__(self, main: Callable, told: Any) -> None:
        self._ended: list[Any] = []
        self._thread = threading.Thread(target=self._run, args=(main, told))
        self._thread.daemon = True
        self._thread.start()

    def _run(self, main: Callable, told: Any) -> None:
        try:
            self._ended.append(main(told))
        except BaseException as error:
            self._ended.append(error)

    @property
    def over(self) -> bool:
        return not self._thread.is_alive()

    def counts(self) -> Any:
        """What it came to, within some minutes."""
        self._thread.join(400)
        assert self.over, "it does not end"
        (ended,) = self._ended
        if isinstance(ended, BaseException):
            raise ended
        return ended


@pytest.fixture(scope="module")
def larger(tmp_path_factory) -> pathlib.Path:
    """A world of so many pictures that one can step in between."""
    folder = tmp_path_factory.mktemp("larger")
    toy_data.write(folder, runs.LABELS, 0, MANY, 100)
    return folder


def test_models_and_rows_are_the_same(cluster, tmp_path):
    options = cluster.options(4)
    with runs.images_per_slice(3):
        learned = train.main(runs.training(tmp_path / "models", beam_options=options))
        boxed = annotate.main(runs.annotation(tmp_path / "out", beam_options=options))
    assert (learned.annotated, learned.tasks) == (len(runs.LABELS), len(runs.LABELS))
    assert runs.model_bytes(tmp_path / "models") == runs.model_bytes(runs.models())
    runs.assert_sound(tmp_path / "models", len(runs.LABELS))
    assert (boxed.annotated, boxed.tasks) == (runs.TASKS, runs.TASKS)
    assert runs.rows(tmp_path / "out") == runs.rows(runs.output())
    runs.assert_sound(tmp_path / "out", runs.TASKS)
    jobs = cluster.ask("jobs/overview")["jobs"]
    assert [job["state"] for job in jobs] == ["FINISHED"] * 2


def test_a_lost_taskmanager_costs_time_and_nothing_else(cluster, larger, tmp_path):
    told = runs.annotation(tmp_path / "plain", of=larger)
    runs.Child(annotate.main, told, per_slice=64).finish()
    output = tmp_path / "output"
    told = runs.annotation(output, of=larger, beam_options=cluster.options(2))
    with runs.images_per_slice(1):
        running = Running(annotate.main, told)
        flinks.waited(lambda: _finished(output))
        lost = cluster.workers(1)
        (taskmanager,) = cluster.pids(f"{cluster.logs}/hosts-1")
        os.kill(taskmanager, signal.SIGKILL)
        done = _finished(output)
        counts = running.counts()
    assert 0 < done < len(runs.LABELS) * MANY, "it was not in mid-job"
    assert counts.annotated == counts.tasks == len(runs.LABELS) * MANY
    assert runs.rows(output) == runs.rows(tmp_path / "plain")
    runs.assert_sound(output, len(runs.LABELS) * MANY)
    (job,) = cluster.ask("jobs/overview")["jobs"]
    failed = cluster.ask(f"jobs/{job['jid']}/exceptions")["exceptionHistory"]
    assert failed["entries"], "the job has not noticed"
    assert cluster.ask("overview")["taskmanagers"] == 1
    assert lost and not set(lost) & set(cluster.pids("SdkHarness"))


def test_submission_as_one_jar_as_on_kubernetes(cluster, tmp_path):
    """The options of the launcher's job there, with the addresses of this machine."""
    job = yaml.safe_load((flinks.SCRIPTS / "job.yaml").read_text())
    args = job["spec"]["template"]["spec"]["containers"][0]["args"]
    here = {
        "--flink_master": f"http://127.0.0.1:{cluster.rest_port}",
        "--environment_config": f"worker-pool:{cluster.pool_port}",
        "--parallelism": "4",
        "--sdk_worker_parallelism": "2",
    }
    given = [word.partition("=")[::2] for word in args[args.index("--") + 1 :]]
    assert here.keys() < dict(given).keys()
    options = [f"{k}={here.get(k, v)}" if v else k for k, v in given]
    options.append(f"--flink_job_server_jar={flinks.one_jar(tmp_path / 'beam.jar')}")
    told = runs.annotation(tmp_path / "out", beam_options=tuple(options))
    with runs.images_per_slice(3):
        counts, again = annotate.main(told), annotate.main(told)
    assert (counts.annotated, counts.tasks) == (runs.TASKS, runs.TASKS)
    assert counts.stages["localize"].items == runs.TASKS
    assert runs.rows(tmp_path / "out") == runs.rows(runs.output())
    assert (again.annotated, again.already_done) == (0, runs.TASKS)


def test_a_command_that_is_stopped_stops_its_job(cluster, larger, tmp_path):
    told = ("--images", larger / "images", "--models", runs.models())
    flink = f"--flink_master=127.0.0.1:{cluster.rest_port}"
    command = [
        *(sys.executable, "-m", "belvedere.pipelines", "annotate", *told),
        *("--output", tmp_path / "out", "--", *cluster.options(2), flink),
    ]

    def states() -> list[str]:
        return [job["state"] for job in cluster.ask("jobs/overview")["jobs"]]

    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as launcher:
        try:
            flinks.waited(lambda: states() == ["RUNNING"])
            launcher.terminate()
            _, said = launcher.communicate(timeout=100)
        finally:
            launcher.kill()
    assert launcher.returncode == failures.STOPPED, said
    assert "run the same command again" in said
    flinks.waited(lambda: states() == ["CANCELED"])


def _finished(output: pathlib.Path) -> int:
    """The number of units that have a record."""
    return len(list((output / records.FOLDER).glob("[!.]*.json")))
