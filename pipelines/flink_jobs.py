"""Stopping our job on a Flink cluster, which Beam does not do.

Beam's job server gives up waiting and lets the job go on; its submission as one jar
asks Flink to stop it at an address that does not exist (Beam 2.77). So a job gets a
name of its own and is cancelled at the cluster, where `--flink_master` tells its place.
"""

import json
import re
import time
import urllib.parse
import urllib.request
import uuid
from typing import Any

from apache_beam.options.pipeline_options import (
    FlinkRunnerOptions,
    GoogleCloudOptions,
    PipelineOptions,
)

_ENDED = {"FINISHED", "FAILED", "CANCELED", "SUSPENDED"}
_ID = re.compile(r"[0-9a-f]{32}")
_SECONDS, _PAUSE = 30, 5


def name(options: PipelineOptions) -> None:
    """Gives a job for Flink a name by which it is known again, if it has none."""
    known = options.view_as(GoogleCloudOptions)
    if cluster(options) and not known.job_name:
        known.job_name = f"belvedere-{uuid.uuid4().hex[:12]}"


def cancel(options: PipelineOptions, tries: int = 1) -> bool:
    """Cancels the job of these options; False if it is not for a Flink that we know.

    Args:
      options: of the job, which has a name.
      tries: to reach the cluster, with some seconds in between.

    Raises:
      OSError: the cluster does not answer.
      RuntimeError: no job there has its name, or several have.
    """
    at = cluster(options)
    if not at:
        return False
    wanted = options.view_as(GoogleCloudOptions).job_name
    found = [
        job["jid"]
        for job in _jobs(at, tries)
        if job["name"] == wanted and job["state"] not in _ENDED
    ]
    if len(found) != 1 or not _ID.fullmatch(found[0]):
        raise RuntimeError(f"{len(found)} jobs named {wanted} at {at}")
    _asked(f"{at}/jobs/{found[0]}?mode=cancel", "PATCH")
    return True


def cluster(options: PipelineOptions) -> str:
    """The address of Flink's REST server, empty if it is not told."""
    told = options.view_as(FlinkRunnerOptions).flink_master or ""
    if not told or told.startswith("["):  # [auto], [local]
        return ""
    url = told if "://" in told else f"http://{told}"
    return url.rstrip("/") if urllib.parse.urlsplit(url).hostname else ""


def _jobs(at: str, tries: int) -> list[dict[str, Any]]:
    for left in reversed(range(tries)):
        try:
            return _asked(f"{at}/jobs/overview")["jobs"]
        except OSError:
            if not left:
                raise
            time.sleep(_PAUSE)
    return []


def _asked(url: str, method: str = "GET") -> Any:
    request = urllib.request.Request(url, method=method)
    with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
        return json.load(answer)
