"""Runs a Beam graph where the user wants it, and says how it went."""

import dataclasses
import importlib.metadata
import logging
import os
import uuid
from collections.abc import Callable, Sequence

import apache_beam as beam
from apache_beam.metrics import MetricsFilter
from apache_beam.options.pipeline_options import PipelineOptions

from belvedere.transforms import commit

_IN_PROCESS = "apache_beam.runners.portability.fn_api_runner.FnApiRunner"


@dataclasses.dataclass(frozen=True)
class Counts:
    """How the tasks of a run ended, as the commit counted them."""

    annotated: int
    refused: int
    dead: int
    already_done: int

    @property
    def tasks(self) -> int:
        return self.annotated + self.refused + self.dead + self.already_done


def run_id() -> str:
    """A new name for a run."""
    return uuid.uuid4().hex


def code_version() -> str:
    return importlib.metadata.version("belvedere")


def launch(
    build: Callable[[beam.Pipeline], None], beam_options: Sequence[str], workers: int
) -> Counts:
    """Builds the graph, runs it to its end, and reads the counters of the commit.

    Args:
      build: puts the transforms into a pipeline.
      beam_options: everything behind `--`, untouched; `--runner` decides where.
      workers: processes of the runner in this process; 1 is this process itself.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    logging.getLogger("apache_beam").setLevel(logging.ERROR)
    options = list(beam_options)
    if not any(option.startswith("--runner") for option in options):
        options.append(f"--runner={_IN_PROCESS}")
        if workers > 1:
            options += [
                "--direct_running_mode=multi_processing",
                f"--direct_num_workers={workers}",
            ]
    pipeline = beam.Pipeline(options=PipelineOptions(options))
    build(pipeline)
    result = pipeline.run()
    result.wait_until_finish()
    found = result.metrics().query(MetricsFilter().with_namespace(commit.NAMESPACE))
    counters = {c.key.metric.name: c.committed or 0 for c in found["counters"]}
    return Counts(*(counters.get(f.name, 0) for f in dataclasses.fields(Counts)))
