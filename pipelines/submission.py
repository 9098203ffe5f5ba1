"""A job from its submission to its end, also where the end is lost from sight.

A job that runs elsewhere goes on when its launcher is stopped or loses the cluster. A
scheduler would start another beside it, so it is cancelled as far as it can be reached.
"""

import logging

import apache_beam as beam
import grpc
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.runner import PipelineResult, PipelineState

from belvedere.pipelines import flink_jobs
from belvedere.pipelines.failures import ClusterLost, Mistake

_TRIES = 12  # a minute, to stop a job that was lost
_log = logging.getLogger("belvedere")


def finished(pipeline: beam.Pipeline) -> PipelineResult:
    """Submits a graph and waits; what waits no longer lets no job go on."""
    try:
        result = pipeline.run()
    except grpc.FutureTimeoutError as error:
        raise Mistake("no job server answers: look at --job_endpoint") from error
    except OSError as error:
        if not (cluster := flink_jobs.cluster(pipeline.options)):
            raise
        raise ClusterLost(
            f"{cluster} did not take the job ({error}): look whether Flink is up and "
            "at --flink_master; then run the same command again"
        ) from error
    try:
        result.wait_until_finish()
    except KeyboardInterrupt:
        _cancel(result, pipeline.options)
        raise
    except Exception as error:
        if _ended(result):
            raise
        # we lost it; a scheduler is to find no other beside it
        cancelled = _cancel(result, pipeline.options, _TRIES)
        if not isinstance(error, OSError | grpc.RpcError):
            raise
        raise ClusterLost(_lost(error, cancelled)) from error
    return result


def _ended(result: PipelineResult) -> bool:
    try:
        return PipelineState.is_terminal(result.state)
    except Exception:  # out of reach
        return False


def _cancel(result: PipelineResult, options: PipelineOptions, tries: int = 1) -> bool:
    """A job that runs elsewhere would go on; whether it was told to end."""
    try:
        if not flink_jobs.cancel(options, tries):
            result.cancel()
    except Exception as error:  # of the network; some of Beam's runners cannot
        _log.warning("the job could not be stopped, it may go on elsewhere: %s", error)
        return False
    return True


def _lost(error: Exception, cancelled: bool) -> str:
    said = error.details() if isinstance(error, grpc.Call) else error
    job = "its job was cancelled" if cancelled else "its job may go on"
    return (
        f"the cluster does not answer ({said}): {job}; what is finished is kept, run "
        "the same command again"
    )
