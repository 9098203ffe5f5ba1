#!/usr/bin/env python3
"""Fetches what Flink needs on one machine into a cache, and prints where it is.

    fetch.py job-server    Beam's job server with a Flink in it: 152 MB, by Maven
    fetch.py flink         a Flink of the same version for a cluster: 230 MB, by pip

What is there is not fetched again. It may be killed at any moment, and two may fetch at
once: a folder gets its name when it is whole. Any Python will do that has pip.
"""

import contextlib
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

FLINK = "1.19.3"
HERE = pathlib.Path(__file__).resolve().parent
CACHE = (
    pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    / "belvedere"
    / "flink"
)
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
HALF = ".fetching-"
PARTS = ("lib", "plugins", "bin", "licenses")


def job_server(folder: pathlib.Path) -> None:
    """Everything that Beam's Flink runner depends on, in one folder."""
    pom = HERE / "job-server.xml"
    _run(
        *("mvn", "--quiet", "--batch-mode", "--file", pom, COPY),
        f"-DoutputDirectory={folder}",
    )


def flink(folder: pathlib.Path) -> None:
    """The jars are in one Python package, the scripts in another: puts them together.

    The scripts are the same in the wheels of all systems.
    """
    down = folder / "down"
    fetch = (sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--dest", down)
    any_wheel = ("--only-binary=:all:", "--python-version=3.11")
    linux = "--platform=manylinux2014_x86_64"
    _run(*fetch, *any_wheel, linux, f"apache-flink=={FLINK}")
    _run(*fetch, f"apache-flink-libraries=={FLINK}")
    with tarfile.open(next(down.glob("*.tar.gz"))) as jars:
        for member in jars:
            name = member.name.partition("/deps/")[2]
            if member.isfile() and name.partition("/")[0] in PARTS:
                _put(folder / name, jars.extractfile(member).read())
    with zipfile.ZipFile(next(down.glob("*.whl"))) as scripts:
        for member in scripts.infolist():
            name = member.filename.removeprefix("pyflink/")
            if not member.is_dir() and name.partition("/")[0] in ("bin", "conf"):
                _put(folder / name, scripts.read(member))
    shutil.rmtree(down)


def _put(place: pathlib.Path, data: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    place.chmod(0o755 if place.parent.name == "bin" else 0o644)


def _run(*command: str | pathlib.Path) -> None:
    """Runs a program; what it says goes to standard error."""
    name = str(command[0])
    if not shutil.which(name):
        raise SystemExit(f"{name} is needed to fetch Flink, and is not installed")
    done = subprocess.run(list(map(str, command)), stdout=sys.stderr)
    if done.returncode:
        raise SystemExit(f"{name} could not fetch Flink's parts")


def fetched(name: str) -> pathlib.Path:
    """The folder of a part, fetched if it is not there."""
    pom = hashlib.sha256((HERE / "job-server.xml").read_bytes()).hexdigest()[:12]
    make, place = {
        "job-server": (job_server, CACHE / f"job-server-{pom}"),
        "flink": (flink, CACHE / f"flink-{FLINK}"),
    }[name]
    if not place.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        _tidy()
        with tempfile.TemporaryDirectory(prefix=HALF, dir=CACHE) as fresh:
            whole = pathlib.Path(fresh, "whole")
            whole.mkdir()
            make(whole)
            with contextlib.suppress(OSError):  # another was first
                whole.rename(place)
    return place


def _tidy() -> None:
    """Removes what was left by those that were killed, a day ago or more."""
    for left in CACHE.glob(f"{HALF}*"):
        if time.time() - left.stat().st_mtime > 86400:
            shutil.rmtree(left, ignore_errors=True)


if __name__ == "__main__":
    if sys.argv[1:] not in (["job-server"], ["flink"]):
        raise SystemExit(__doc__)
    if not shutil.which("java"):
        raise SystemExit("Java is needed to run Flink, and is not installed")
    print(fetched(sys.argv[1]))
