"""Stopping a job at a Flink that is played by a server on loopback."""

import http.server
import json
import threading
from collections.abc import Iterator

import pytest
from apache_beam.options.pipeline_options import GoogleCloudOptions, PipelineOptions

from belvedere.pipelines import flink_jobs

MINE, OTHER = 32 * "a", 32 * "b"


class Flink(http.server.ThreadingHTTPServer):
    """Knows some jobs, and which of them were cancelled."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.jobs: list[dict[str, str]] = []
        self.patched: list[str] = []
        self.away = 0

    def runs(self, jid: str, name: str, state: str = "RUNNING") -> None:
        self.jobs.append({"jid": jid, "name": name, "state": state})


class Answers(http.server.BaseHTTPRequestHandler):
    server: Flink

    def do_GET(self) -> None:
        assert self.path == "/jobs/overview"
        self.server.away -= 1
        self._say(503 if self.server.away >= 0 else 200, {"jobs": self.server.jobs})

    def do_PATCH(self) -> None:
        self.server.patched.append(self.path)
        self._say(202, {})

    def log_message(self, *_: object) -> None:
        pass

    def _say(self, code: int, told: dict) -> None:
        body = json.dumps(told).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def flink() -> Iterator[Flink]:
    with Flink() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(params=["", "http://"])
def options(flink, request) -> PipelineOptions:
    """Of a job that has been named."""
    address = f"{request.param}127.0.0.1:{flink.server_port}"
    told = PipelineOptions(["--runner=FlinkRunner", f"--flink_master={address}"])
    flink_jobs.name(told)
    return told


def _name(options: PipelineOptions) -> str:
    return options.view_as(GoogleCloudOptions).job_name


def test_our_job_is_cancelled_and_no_other(flink, options):
    flink.runs(OTHER, "belvedere-0")
    flink.runs(32 * "c", _name(options), "CANCELED")
    flink.runs(MINE, _name(options))
    assert flink_jobs.cancel(options)
    assert flink.patched == [f"/jobs/{MINE}?mode=cancel"]


def test_a_cluster_that_is_away_for_a_moment_is_asked_again(
    flink, options, monkeypatch
):
    monkeypatch.setattr(flink_jobs, "_PAUSE", 0)
    flink.runs(MINE, _name(options))
    flink.away = 2
    with pytest.raises(OSError, match="503"):
        flink_jobs.cancel(options, tries=2)
    flink.away = 2
    assert flink_jobs.cancel(options, tries=3)
    assert flink.patched == [f"/jobs/{MINE}?mode=cancel"]


@pytest.mark.parametrize("count", [0, 2])
def test_when_in_doubt_nothing_is_cancelled(flink, options, count):
    for n in range(count):
        flink.runs(32 * str(n), _name(options))
    with pytest.raises(RuntimeError, match=f"{count} jobs named belvedere-"):
        flink_jobs.cancel(options)
    assert not flink.patched


def test_an_id_is_no_path(flink, options):
    flink.runs("../jars", _name(options))
    with pytest.raises(RuntimeError):
        flink_jobs.cancel(options)
    assert not flink.patched


def test_two_jobs_have_two_names_and_a_given_one_is_kept():
    told = [f"--flink_master=h:{port}" for port in (1, 2)]
    first, second = (PipelineOptions([word]) for word in told)
    given = PipelineOptions([told[0], "--job_name=nightly"])
    for one in (first, second, given):
        flink_jobs.name(one)
    assert _name(first) != _name(second)
    assert _name(given) == "nightly"


@pytest.mark.parametrize(
    "words", [[], ["--flink_master=[local]"], ["--flink_master=file:///etc"]]
)
def test_elsewhere_nothing_is_asked(words):
    options = PipelineOptions(words)
    flink_jobs.name(options)
    assert not _name(options)
    assert not flink_jobs.cancel(options)
