"""`-- --runner=DirectRunner` without a network: it ends, with the same rows.

Beam would fetch Prism from GitHub first. Here the way there is a proxy on loopback that
refuses, or that takes the call and is silent, and Beam's cache of Prism is empty.
"""

import functools
import os
import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import runs
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.prism_runner import PrismJobServer

from belvedere.pipelines import annotate, direct_runner, launching, train
from belvedere.pipelines.failures import Mistake

DIRECT = ("--runner=DirectRunner",)


def offline(main: Callable) -> Callable:
    """The command, in a process that finds no network."""
    return functools.partial(_offline, main)


def _offline(main: Callable, options: Any) -> launching.Counts:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # nobody listens there
        os.environ["https_proxy"] = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        PrismJobServer.BIN_CACHE = str(runs.session() / "no-prism")
        return main(options)


def test_training_offline_gives_the_same_models(tmp_path):
    told = runs.training(tmp_path / "models", beam_options=DIRECT)
    runs.Child(offline(train.main), told).finish()
    assert runs.model_bytes(tmp_path / "models") == runs.model_bytes(runs.models())
    runs.assert_sound(tmp_path / "models", len(runs.LABELS))


def test_annotating_offline_gives_the_same_rows(tmp_path):
    told = runs.annotation(tmp_path / "output", beam_options=DIRECT)
    runs.Child(offline(annotate.main), told).finish()
    assert runs.rows(tmp_path / "output") == runs.rows(runs.output())
    before = runs.files(tmp_path / "output")
    again = runs.Child(offline(annotate.main), told).finish()
    assert again["already_done"] == runs.TASKS
    assert runs.files(tmp_path / "output") == before


@pytest.fixture
def silence(tmp_path, monkeypatch) -> Iterator[socket.socket]:
    """A way to GitHub that takes the call and says nothing."""
    monkeypatch.setattr(PrismJobServer, "BIN_CACHE", str(tmp_path))
    monkeypatch.setattr(direct_runner, "SILENCE", 0.5)
    monkeypatch.setattr(urllib.request, "_opener", None)  # it remembers the way
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        yield taken


def test_a_silent_network_is_given_up(silence):
    before = socket.getdefaulttimeout()
    start = time.monotonic()
    assert direct_runner.runs_in_process(PipelineOptions(DIRECT))
    assert 0.4 < time.monotonic() - start < 20
    assert socket.getdefaulttimeout() == before
    silence.settimeout(1)
    silence.accept()[0].close()  # somebody has called


def test_prism_itself_cannot_do_without(silence):
    with pytest.raises(Mistake, match="give --prism_location"):
        direct_runner.runs_in_process(PipelineOptions(["--runner=PrismRunner"]))


@pytest.mark.parametrize("runner", ["FlinkRunner", "DataflowRunner", "PortableRunner"])
def test_other_runners_are_left_alone(silence, runner):
    assert not direct_runner.runs_in_process(PipelineOptions([f"--runner={runner}"]))
    silence.settimeout(0.1)
    with pytest.raises(TimeoutError):
        silence.accept()


def test_a_prism_that_is_given_is_used(silence, tmp_path):
    (tmp_path / "prism").write_bytes(b"\x7fELF")
    told = [*DIRECT, f"--prism_location={tmp_path / 'prism'}"]
    assert not direct_runner.runs_in_process(PipelineOptions(told))


@pytest.mark.parametrize("command", ["evaluate", "retry", "run"])
def test_commands_with_work_behind_the_graph_refuse_a_template(command):
    told = ("--runner=DataflowRunner", "--template_location=gs://b/template")
    with pytest.raises(Mistake, match="drop --template_location"):
        launching.must_wait(command, told)
    launching.must_wait(command, ("--runner=DataflowRunner",))
