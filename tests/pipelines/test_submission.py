"""A job that its launcher stops, loses or cannot submit does not go on unseen."""

import types

import grpc
import pytest
import requests
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.runner import PipelineState

from belvedere.pipelines import failures, flink_jobs, submission
from belvedere.pipelines.failures import ClusterLost


class Result:
    """A job that the user stops."""

    error: BaseException = KeyboardInterrupt()
    state = PipelineState.RUNNING

    def __init__(self) -> None:
        self.cancelled = False

    def wait_until_finish(self) -> None:
        raise self.error

    def cancel(self) -> None:
        self.cancelled = True


def _pipeline(run, options=()):
    return types.SimpleNamespace(run=run, options=PipelineOptions(list(options)))


def test_a_job_elsewhere_does_not_go_on_when_the_user_stops():
    result = Result()
    with pytest.raises(KeyboardInterrupt):
        submission.finished(_pipeline(lambda: result))
    assert result.cancelled


def test_a_job_that_cannot_be_stopped_is_told_of(caplog, monkeypatch):
    def cannot(_: Result) -> None:
        raise RuntimeError("no such path")

    monkeypatch.setattr(Result, "cancel", cannot)
    with pytest.raises(KeyboardInterrupt):
        submission.finished(_pipeline(Result))
    assert "may go on elsewhere: no such path" in caplog.text


class Lost(Result):
    """A job whose runner broke off in the middle of waiting."""

    error = ConnectionError("no answer")


class OutOfReach(Lost):
    """A job that even its state cannot be asked of."""

    @property
    def state(self) -> str:
        raise ConnectionError("no answer")


class Failed(Lost):
    """A job that has come to its end."""

    state = PipelineState.FAILED


@pytest.mark.parametrize(
    ("kind", "cancelled"), [(Lost, True), (OutOfReach, True), (Failed, False)]
)
def test_a_job_that_is_lost_does_not_go_on(kind, cancelled, caplog):
    """A scheduler that tries again would start another beside it."""
    result = kind()
    with pytest.raises((ClusterLost, ConnectionError), match="no answer"):
        submission.finished(_pipeline(lambda: result))
    assert result.cancelled == cancelled and not caplog.text


class Unavailable(grpc.RpcError, grpc.Call):
    """As a job server that went away is told of."""

    __abstractmethods__ = frozenset()

    def details(self) -> str:
        return "no answer"


@pytest.mark.parametrize(
    "error", [requests.ConnectionError("no answer"), Unavailable()]
)
def test_a_cluster_that_does_not_answer_is_no_bug(error, monkeypatch):
    monkeypatch.setattr(Lost, "error", error)
    with pytest.raises(ClusterLost) as lost:
        submission.finished(_pipeline(Lost))
    code, said = failures.verdict(lost.value)
    assert code == failures.BUG and said == (
        "the cluster does not answer (no answer): its job was cancelled; what is "
        "finished is kept, run the same command again"
    )


def test_a_cluster_that_takes_no_job_is_no_bug():
    def run() -> None:
        raise requests.ConnectionError("refused")

    told = ["--runner=FlinkRunner", "--flink_master=http://127.0.0.1:9"]
    with pytest.raises(ClusterLost, match=r"127.0.0.1:9 did not take .*refused"):
        submission.finished(_pipeline(run, told))
    with pytest.raises(requests.ConnectionError):  # nothing here tells of a cluster
        submission.finished(_pipeline(run))


def test_a_job_that_may_go_on_is_told_with_the_cluster(monkeypatch):
    monkeypatch.setattr(Lost, "cancel", lambda _: 1 / 0)
    with pytest.raises(ClusterLost, match="its job may go on"):
        submission.finished(_pipeline(Lost))


def test_another_error_of_a_lost_job_stays_what_it_is(monkeypatch):
    monkeypatch.setattr(Lost, "error", KeyError("a bug"))
    with pytest.raises(KeyError):
        submission.finished(_pipeline(Lost))


def test_a_cluster_is_given_time_to_come_back(monkeypatch):
    tries = []
    monkeypatch.setattr(flink_jobs, "cancel", lambda _, n: tries.append(n) or True)
    for kind in (Lost, Result):
        with pytest.raises((ClusterLost, KeyboardInterrupt)):
            submission.finished(_pipeline(kind))
    assert tries[0] > tries[1] == 1  # a user at the keyboard does not wait
