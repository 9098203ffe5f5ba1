"""What a runner says at the end of a run, and what the log of the output says."""

import types

import grpc
import outputs
import pytest
import requests
from apache_beam.metrics.execution import MetricKey, MetricResult
from apache_beam.metrics.metricbase import MetricName
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.runner import PipelineState

from belvedere.pipelines import failures, flink_jobs, launching
from belvedere.pipelines.failures import ClusterLost
from belvedere.transforms import commit, commits, manifests, stores, tally


class Result:
    """A run on a runner with these counters."""

    def __init__(self, *counters: tuple[str, str, str, int | None, int | None]) -> None:
        self.counters = [
            MetricResult(MetricKey(step, MetricName(space, name)), *numbers)
            for step, space, name, *numbers in counters
        ]
        self.cancelled = False

    def metrics(self) -> types.SimpleNamespace:
        return types.SimpleNamespace(query=lambda _: {"counters": self.counters})

    error: BaseException = KeyboardInterrupt()
    state = PipelineState.RUNNING

    def wait_until_finish(self) -> None:
        raise self.error

    def cancel(self) -> None:
        self.cancelled = True


class Mute(Result):
    """A runner without counters."""

    def metrics(self) -> types.SimpleNamespace:
        raise NotImplementedError("no metrics")


def test_counters_of_all_steps_are_summed_committed_or_not():
    counts = launching._counts(
        Result(
            ("Commit", commit.NAMESPACE, "annotated", None, 5),  # as on Flink
            ("Eyes", tally.NAMESPACE, "read/items", 2, 4),
            ("Describe", tally.NAMESPACE, "read/items", 3, 3),
            ("Localize", "dead", "truncated", None, 1),
        )
    )
    assert counts == launching.Counts(5, 0, 0, 0)
    assert counts.stages["read"].items == 5
    assert counts.counters == {"dead/truncated": 1}


@pytest.fixture
def log(tmp_path) -> commits.Log:
    """One unit of an earlier run is committed, and two of "run-2"."""
    log = commits.Log(stores.store_for(str(tmp_path)))
    for run_id, numbers in (("run-1", [0]), ("run-2", [0, 1, 2])):
        entries = [
            manifests.Entry.of(outputs.finish(log.store, outputs.unit(n), run_id))
            for n in numbers
        ]
        commits.commit(log, outputs.run(run_id), entries)
    return log


@pytest.mark.parametrize(
    "by_counters",
    [
        launching.Counts(0, 0, 0, 9),  # the commit was done again
        launching.Counts(0, 0, 0, 0),  # no counters
        launching.Counts(2, 2, 2, 3),
    ],
)
def test_the_log_has_the_last_word(log, by_counters):
    """Each unit has one box, one refusal, one dead letter."""
    counts = launching.as_committed(by_counters, log.store.uri, "run-2", since=1)
    assert counts == launching.Counts(2, 2, 2, 3)


def test_a_run_that_added_nothing_is_known_by_its_counters(log):
    idle = launching.Counts(0, 0, 0, 9)
    assert launching.as_committed(idle, log.store.uri, "run-3", since=2) == idle


def test_a_runner_without_counters_is_told_of(caplog):
    assert launching._counts(Mute()) == launching.Counts(0, 0, 0, 0)
    assert "tells no counters" in caplog.text


def _pipeline(run):
    return types.SimpleNamespace(run=run, options=PipelineOptions([]))


def test_a_job_elsewhere_does_not_go_on_when_the_user_stops():
    result = Result()
    with pytest.raises(KeyboardInterrupt):
        launching._finished(_pipeline(lambda: result))
    assert result.cancelled


def test_a_job_that_cannot_be_stopped_is_told_of(caplog, monkeypatch):
    def cannot(_: Result) -> None:
        raise RuntimeError("no such path")

    monkeypatch.setattr(Result, "cancel", cannot)
    with pytest.raises(KeyboardInterrupt):
        launching._finished(_pipeline(Result))
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
        launching._finished(_pipeline(lambda: result))
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
        launching._finished(_pipeline(Lost))
    code, said = failures.verdict(lost.value)
    assert code == failures.BUG and said == (
        "the cluster does not answer (no answer): its job was cancelled; what is "
        "finished is kept, run the same command again"
    )


def test_a_job_that_may_go_on_is_told_with_the_cluster(monkeypatch):
    monkeypatch.setattr(Lost, "cancel", lambda _: 1 / 0)
    with pytest.raises(ClusterLost, match="its job may go on"):
        launching._finished(_pipeline(Lost))


def test_another_error_of_a_lost_job_stays_what_it_is(monkeypatch):
    monkeypatch.setattr(Lost, "error", KeyError("a bug"))
    with pytest.raises(KeyError):
        launching._finished(_pipeline(Lost))


def test_a_cluster_gone_at_the_end_costs_the_counters_alone(monkeypatch, caplog):
    def gone(_: Result) -> None:
        raise requests.ConnectionError("no answer")

    monkeypatch.setattr(Result, "metrics", gone)
    assert launching._counts(Result()) == launching.Counts(0, 0, 0, 0)
    assert "tells no counters" in caplog.text


def test_a_cluster_is_given_time_to_come_back(monkeypatch):
    tries = []
    monkeypatch.setattr(flink_jobs, "cancel", lambda _, n: tries.append(n) or True)
    for kind in (Lost, Result):
        with pytest.raises((ClusterLost, KeyboardInterrupt)):
            launching._finished(_pipeline(kind))
    assert tries[0] > tries[1] == 1  # a user at the keyboard does not wait


def test_only_a_single_process_here_works_alone():
    assert launching.works_alone((), 1)
    assert not launching.works_alone((), 2)
    assert not launching.works_alone(("--runner=PrismRunner",), 1)
    assert not launching.works_alone(("--direct_num_workers=2",), 1)
