"""Emulators of object stores on loopback, each in a process of its own.

- s3://: moto, with one thread: with more it looks and then writes, so that two writers
  can both win, which no real store allows.
- gs://: fake-gcs-server, which keeps the conditions of an upload, where its binary is
  to be had (`make emulators` builds it); gcp-storage-emulator, which ignores them.
"""

import contextlib
import dataclasses
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

BUCKET = "belvedere-test"
MOTO = (
    "from moto.server import DomainDispatcherApplication, create_backend_app;"
    "from werkzeug.serving import run_simple;"
    "run_simple('127.0.0.1', {port},"
    " DomainDispatcherApplication(create_backend_app), threaded=False)"
)
WITHOUT_BINARY = "no fake-gcs-server on PATH or in ~/.cache: run `make emulators`"


@dataclasses.dataclass(frozen=True)
class Emulator:
    """A store that runs; `url` is where."""

    scheme: str
    name: str
    url: str
    process: subprocess.Popen

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _fake_gcs_server() -> str | None:
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    cached = pathlib.Path(cache) / "belvedere" / "bin" / "fake-gcs-server"
    return shutil.which("fake-gcs-server") or (str(cached) if cached.exists() else None)


def _command(name: str, port: int) -> list[str]:
    here = pathlib.Path(sys.executable).parent
    if name == "moto":
        pytest.importorskip("moto", reason="the dev extra brings it")
        return [sys.executable, "-c", MOTO.format(port=port)]
    if name == "gcp-storage-emulator":
        pytest.importorskip("gcp_storage_emulator", reason="the dev extra brings it")
        told = ["start", "--host=127.0.0.1", f"--port={port}", "--in-memory", "-q"]
        return [str(here / "gcp-storage-emulator"), *told]
    binary = _fake_gcs_server()
    if not binary:
        pytest.skip(WITHOUT_BINARY)
    at = f"127.0.0.1:{port}"
    told = ["-scheme=http", "-host=127.0.0.1", f"-port={port}", "-backend=memory"]
    return [binary, *told, f"-external-url=http://{at}", f"-public-host={at}"]


def start(name: str) -> Emulator:
    """Starts an emulator and makes the bucket."""
    port = free_port()
    process = subprocess.Popen(
        _command(name, port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    scheme = "s3" if name == "moto" else "gs"
    emulator = Emulator(scheme, name, f"http://127.0.0.1:{port}", process)
    for _ in range(300):
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", port), 1),
        ):
            break
        assert process.poll() is None, f"{name} does not start"
        time.sleep(0.1)
    _make_bucket(emulator)
    return emulator


def _make_bucket(emulator: Emulator) -> None:
    if emulator.scheme == "s3":
        asked = urllib.request.Request(f"{emulator.url}/{BUCKET}", method="PUT")
    else:
        asked = urllib.request.Request(
            f"{emulator.url}/storage/v1/b?project=test",
            b'{"name": "%s"}' % BUCKET.encode(),
            {"Content-Type": "application/json"},
        )
    for _ in range(50):
        try:
            urllib.request.urlopen(asked, timeout=10).close()
            return
        except urllib.error.HTTPError:
            raise
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"{emulator.name} does not answer")
