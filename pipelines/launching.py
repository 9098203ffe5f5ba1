"""Runs a Beam graph where the user wants it, and says how it went."""

import collections
import contextlib
import dataclasses
import importlib.metadata
import importlib.util
import logging
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence

import apache_beam as beam
import grpc
from apache_beam.metrics import MetricsFilter
from apache_beam.metrics.execution import MetricResult
from apache_beam.options.pipeline_options import (
    DirectOptions,
    GoogleCloudOptions,
    PipelineOptions,
)
from apache_beam.runners.runner import PipelineResult, PipelineState

from belvedere.core.configuration import Configuration
from belvedere.pipelines import (
    direct_runner,
    flink_jobs,
    local_workers,
    logs,
    submission,
)
from belvedere.pipelines.failures import Mistake
from belvedere.pipelines.progress import Stage, Watch
from belvedere.transforms import commit, commits, records, stores, tally
from belvedere.transforms.stores import OutputConflict

_IN_PROCESS = "apache_beam.runners.portability.fn_api_runner.FnApiRunner"
_log = logging.getLogger("belvedere")


@dataclasses.dataclass(frozen=True)
class Counts:
    """How the tasks of a run ended, as the commit counted them, and what it took.

    `stages` are summed over the workers; `counters` are those of other namespaces.
    """

    annotated: int
    refused: int
    dead: int
    already_done: int
    stages: Mapping[str, tally.Stage] = dataclasses.field(
        default_factory=dict, compare=False
    )
    counters: Mapping[str, int] = dataclasses.field(default_factory=dict, compare=False)

    @property
    def tasks(self) -> int:
        return self.annotated + self.refused + self.dead + self.already_done


def run_id() -> str:
    """A new name for a run."""
    return uuid.uuid4().hex


def code_version() -> str:
    return importlib.metadata.version("belvedere")


def check_output(uri: str, kind: str) -> int:
    """OutputConflict or Mistake if an output cannot take the work units of a kind.

    Looked at before hours of work, not when the first file is written.

    Returns:
      the number of its last manifest.
    """
    store = stores.store_for(uri)
    if isinstance(store, stores.LocalStore) and os.path.isfile(store.uri):
        raise Mistake(f"{store.uri} is a file: name a folder")
    log = commits.Log(store)
    found = commits.kind_of(log)
    if found not in ("", kind):
        raise OutputConflict(
            f"{store.uri} holds what `belvedere {found}` wrote: choose another folder"
        )
    return log.number


def writes_template(beam_options: Sequence[str]) -> bool:
    """Whether the graph is only written down, for Dataflow to run it later."""
    told = PipelineOptions(list(beam_options)).view_as(GoogleCloudOptions)
    return told.template_location is not None


def works_alone(beam_options: Sequence[str], workers: int) -> bool:
    """Whether this process does all the work itself: there are no others."""
    told = PipelineOptions(list(beam_options)).view_as(DirectOptions)
    return workers == told.direct_num_workers == 1 and not _elsewhere(beam_options)


def must_wait(command: str, beam_options: Sequence[str]) -> None:
    """Mistake if a command that has work behind its graph would not see its end."""
    if writes_template(beam_options):
        raise Mistake(
            f"`belvedere {command}` has work left when the graph is done, which a "
            "template never sees: drop --template_location"
        )


def require_torch(configuration: Configuration) -> None:
    """Mistake if learning needs torch and gpytorch, and they are not here."""
    gp = configuration.method.gp
    wanted = ("torch", "gpytorch") if gp.needs_torch else ()
    lacking = [name for name in wanted if not importlib.util.find_spec(name)]
    if lacking:
        raise Mistake(
            f"method.gp.objective={gp.objective} needs {' and '.join(lacking)}: "
            "pip install 'belvedere[train]'"
        )


def launch(
    build: Callable[[beam.Pipeline], None],
    beam_options: Sequence[str] = (),
    workers: int = 1,
    stages: Sequence[Stage] = (),
    watch: Watch | None = None,
) -> Counts:
    """Builds the graph, runs it to its end, and reads its counters.

    Args:
      build: puts the transforms into a pipeline.
      beam_options: everything behind `--`, untouched; `--runner` decides where.
      workers: processes of the runner in this process; 1 is this process itself.
      stages: what is shown of the run,
      watch: and how; nothing by default.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    pipeline = _pipeline(list(beam_options), workers)
    build(pipeline)
    with _board() as board, local_workers.watched(board):
        with (watch or Watch()).over(board, stages):
            result = submission.finished(pipeline)
    if writes_template(beam_options):
        return Counts(0, 0, 0, 0)  # nothing has run
    if result.state not in (None, PipelineState.DONE):
        raise RuntimeError(f"the runner ended in state {result.state}")
    return _counts(result)


def _elsewhere(options: Sequence[str]) -> bool:
    return any(option.startswith("--runner") for option in options)


def _pipeline(options: list[str], workers: int) -> beam.Pipeline:
    elsewhere = _elsewhere(options)
    if elsewhere and workers > 1:
        raise Mistake("--workers is for the runner in this process: drop --runner")
    told = PipelineOptions(options)
    flink_jobs.name(told)
    if elsewhere and not direct_runner.runs_in_process(told):
        return beam.Pipeline(options=told)
    logs.hush_beam()
    if workers == 1:
        return beam.Pipeline(_IN_PROCESS, told)
    options.append(f"--direct_num_workers={workers}")
    return beam.Pipeline(local_workers.runner(), PipelineOptions(options))


@contextlib.contextmanager
def _board() -> Iterator[str]:
    """A folder for the workers of this machine to tell how far they are."""
    # When a job fails, some of its workers still write for a moment.
    folder = tempfile.TemporaryDirectory(
        prefix="belvedere-", ignore_cleanup_errors=True
    )
    with folder as board:
        before = os.environ.get(tally.BOARD)
        os.environ[tally.BOARD] = board
        try:
            yield board
        finally:
            os.environ.pop(tally.BOARD)
            if before is not None:
                os.environ[tally.BOARD] = before


def _counts(result: PipelineResult) -> Counts:
    """What the counters of the runner say, summed over the steps of the graph."""
    found: dict[str, collections.Counter[str]] = {}
    for counter in _counters(result):
        metric = counter.key.metric
        # Flink has no committed counters: those of the last attempt are all.
        of = found.setdefault(metric.namespace, collections.Counter())
        of[metric.name] += counter.result or 0
    stages = tally.gathered(found.pop(tally.NAMESPACE, {}))
    ended = found.pop(commit.NAMESPACE, collections.Counter())
    return Counts(
        ended["annotated"],
        ended["refused"],
        ended["dead"],
        ended["already_done"],
        stages,
        {
            f"{space}/{name}": count
            for space, counters in found.items()
            for name, count in counters.items()
        },
    )


def _counters(result: PipelineResult) -> list[MetricResult]:
    try:
        return result.metrics().query(MetricsFilter())["counters"]
    except (LookupError, NotImplementedError, OSError, grpc.RpcError) as error:
        _log.warning("the runner tells no counters, so not all is counted: %s", error)
        return []


def as_committed(counts: Counts, output: str, run_id: str, since: int) -> Counts:
    """The counts of a run as the log of its output has them.

    A runner may do the commit again, which then finds everything done; or have no
    counters. The log tells what the run has added, once.

    Args:
      counts: by the counters; returned if they agree with the log.
      output: where the log is.
      run_id: of the run.
      since: the last manifest before it.
    """
    log = commits.Log(stores.store_for(output))
    added, already_done, any_mine = records.Counts(), 0, False
    for manifest in log.manifests(since + 1):  # one after the other: they are large
        if manifest.run.run_id == run_id:
            added, any_mine = added + manifest.counts, True
            already_done += manifest.already_done
    told = records.Counts(counts.annotated, counts.refused, counts.dead)
    if not any_mine or added == told:
        return counts
    return dataclasses.replace(counts, **vars(added), already_done=already_done)
