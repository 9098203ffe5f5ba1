"""Flink on this machine, as the scripts of `deploy/flink` start it.

Every server is a process group of its own on free ports, which is gone when its fixture
is, however the test ends.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

SCRIPTS = pathlib.Path(__file__).parent.parent.parent / "deploy" / "flink"


def waited(for_: Callable[[], Any], seconds: float = 300) -> Any:
    """What comes of waiting for something that is true."""
    deadline = time.monotonic() + seconds
    while not (found := for_()):
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.02)
    return found


@contextlib.contextmanager
def started(
    script: str, log: pathlib.Path, ready: str, **known: str
) -> Iterator[tuple[int, re.Match]]:
    """Runs a script until the block ends; its group, and what matched `ready`."""
    with log.open("w") as file:
        process = subprocess.Popen(
            [SCRIPTS / script],
            env=os.environ | {"PYTHON": sys.executable} | known,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def told() -> re.Match | None:
        assert process.poll() is None, log.read_text()
        return re.search(ready, log.read_text())

    try:
        yield process.pid, waited(told)
    finally:
        _stop(process)


def _stop(process: subprocess.Popen) -> None:
    """First as a user would; then the whole group, which must be gone at last."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(20)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    waited(lambda: not members(process.pid), 10)


def members(group: int) -> list[int]:
    """The living processes of a group."""
    pids = [int(process.name) for process in pathlib.Path("/proc").glob("[0-9]*")]
    told = {pid: _status(pid) for pid in pids}
    return [p for p, of in told.items() if int(of[2]) == group and of[0] != "Z"]


def free_ports(count: int) -> list[str]:
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [str(one.getsockname()[1]) for one in sockets]


@dataclasses.dataclass(frozen=True)
class Cluster:
    """A JobManager, two TaskManagers with a pool of workers each, and a job server."""

    group: int
    logs: pathlib.Path
    job_port: str
    pool_port: str
    rest_port: str

    def options(self, parallelism: int) -> tuple[str, ...]:
        return (
            "--runner=PortableRunner",
            f"--job_endpoint=127.0.0.1:{self.job_port}",
            "--environment_type=EXTERNAL",
            f"--environment_config=worker-pool:{self.pool_port}",
            f"--parallelism={parallelism}",
            "--sdk_worker_parallelism=2",
        )

    def ask(self, path: str) -> dict:
        """An answer of Flink's REST server."""
        url = f"http://127.0.0.1:{self.rest_port}/{path}"
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)

    def pids(self, program: str) -> list[int]:
        """The processes of this cluster with a word in their command."""
        return [pid for pid in members(self.group) if program in _command(pid)]

    def workers(self, number: int) -> list[int]:
        """The Python workers of a TaskManager, 1 or 2."""
        (pool,) = self.pids(f"127.0.0.{number}:{self.pool_port}")
        return [pid for pid in self.pids("SdkHarness") if _parent(pid) == pool]


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    return ""


def _status(pid: int) -> list[str]:
    """State, parent, group, ... of a process; nothing if there is none."""
    with contextlib.suppress(OSError):
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
        return text.rpartition(")")[2].split()
    return ["Z", "0", "0"]


def _parent(pid: int) -> int:
    return int(_status(pid)[1])


def one_jar(to: pathlib.Path) -> pathlib.Path:
    """The jars of the job server in one, as Beam itself publishes them."""
    fetch = [sys.executable, SCRIPTS / "fetch.py", "job-server"]
    folder = pathlib.Path(subprocess.check_output(fetch, text=True).strip())
    services: dict[str, set[str]] = {}
    with zipfile.ZipFile(to, "w") as whole:
        for jar in sorted(folder.glob("*.jar")):
            with zipfile.ZipFile(jar) as part:
                _merge(part, whole, services)
        for name, lines in services.items():
            whole.writestr(name, "\n".join(sorted(lines)))
    return to


def _merge(
    part: zipfile.ZipFile, whole: zipfile.ZipFile, services: dict[str, set[str]]
) -> None:
    """Adds what is new; lists of services are put together, signatures left out."""
    for member in part.infolist():
        name = member.filename
        if name.startswith("META-INF/services/") and not member.is_dir():
            found = part.read(member).decode().splitlines()
            services.setdefault(name, set()).update(found)
        elif not name.startswith("META-INF/") and name not in whole.NameToInfo:
            whole.writestr(name, part.read(member))
