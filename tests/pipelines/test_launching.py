"""What a runner says at the end of a run, and what the log of the output says."""

import types

import outputs
import pytest
import requests
from apache_beam.metrics.execution import MetricKey, MetricResult
from apache_beam.metrics.metricbase import MetricName

from belvedere.pipelines import launching
from belvedere.transforms import commit, commits, manifests, stores, tally


class Result:
    """A run on a runner with these counters."""

    def __init__(self, *counters: tuple[str, str, str, int | None, int | None]) -> None:
        self.counters = [
            MetricResult(MetricKey(step, MetricName(space, name)), *numbers)
            for step, space, name, *numbers in counters
        ]

    def metrics(self) -> types.SimpleNamespace:
        return types.SimpleNamespace(query=lambda _: {"counters": self.counters})


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


def test_a_cluster_gone_at_the_end_costs_the_counters_alone(monkeypatch, caplog):
    def gone(_: Result) -> None:
        raise requests.ConnectionError("no answer")

    monkeypatch.setattr(Result, "metrics", gone)
    assert launching._counts(Result()) == launching.Counts(0, 0, 0, 0)
    assert "tells no counters" in caplog.text


def test_only_a_single_process_here_works_alone():
    assert launching.works_alone((), 1)
    assert not launching.works_alone((), 2)
    assert not launching.works_alone(("--runner=PrismRunner",), 1)
    assert not launching.works_alone(("--direct_num_workers=2",), 1)
