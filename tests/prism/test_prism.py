"""Both pipelines on Prism, Beam's runner in Go: the rows and models of a plain run.

`make test-prism` builds Prism of Beam's version and runs this. Each command is a
process of its own, as a user starts it; when it ends, so must the Prism it started,
which runs under a name of this session's, so that it is found if it is left.
"""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
import runs

from belvedere.core import configuration
from belvedere.pipelines import failures

pytestmark = pytest.mark.slow
SUPPORT = pathlib.Path(runs.__file__).parent
COMMAND = (
    "import sys, runs; from belvedere.pipelines import __main__ as command_line\n"
    "with runs.images_per_slice(3): command_line.main(sys.argv[1:])"
)
SECONDS = 600
OURS = "belvedere"  # the logger of the commands


@pytest.fixture(scope="session")
def prism(tmp_path_factory) -> pathlib.Path:
    """The binary that `make prism` builds, under a name that no other process has."""
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    built = pathlib.Path(cache) / "belvedere" / "bin" / "prism"
    assert built.exists(), "there is no Prism: run `make test-prism`"
    named = tmp_path_factory.mktemp("prism") / "prism-under-test"
    named.symlink_to(built)
    return named


def _processes(prism: pathlib.Path) -> list[int]:
    """The processes that were started under this name."""
    found = []
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            started = file.read_bytes().split(b"\0")[0]
        except OSError:  # it has ended meanwhile
            continue
        if started == str(prism).encode():
            found.append(int(file.parent.name))
    return found


@pytest.fixture
def belvedere(prism):
    """Runs a command; whatever becomes of it, no Prism outlives the test."""
    started: list[subprocess.Popen] = []

    def start(*words: str, runner: str = "PrismRunner") -> subprocess.Popen:
        beams = ("--", f"--runner={runner}", f"--prism_location={prism}")
        started.append(
            subprocess.Popen(
                [sys.executable, "-c", COMMAND, *words, "--log-format=json", *beams],
                env=os.environ | {"PYTHONPATH": str(SUPPORT)},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
    for left in _processes(prism):
        os.kill(left, signal.SIGKILL)


def _finished(process: subprocess.Popen, prism: pathlib.Path) -> dict:
    """The last document of a command that ends well and leaves no Prism."""
    said, logged = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, logged[-5000:]
    assert not _processes(prism)
    return json.loads(said.splitlines()[-1])


def _settings() -> list[str]:
    """Those of the toy models."""
    plain = configuration.flat(configuration.resolve())
    return [
        f"--set={key}={json.dumps(value)}"
        for key, value in configuration.flat(runs.TINY).items()
        if value != plain[key]
    ]


def _training(to: pathlib.Path) -> list[str]:
    world = runs.world()
    told = (f"--images={world}/images", f"--boxes={world}/boxes.csv")
    return ["train", *told, f"--models={to}", f"--work={to}-work", *_settings()]


def _annotation(to: pathlib.Path) -> list[str]:
    told = (f"--images={runs.world()}/images", f"--models={runs.models()}")
    return ["annotate", *told, f"--output={to}"]


def test_prism_is_of_beams_version(prism):
    import apache_beam

    said = subprocess.run(
        ["go", "version", "-m", prism], capture_output=True, text=True
    )
    version = re.search(r"\smod\s+github.com/apache/beam/sdks/v2\s+(\S+)", said.stdout)
    assert version and version[1] == f"v{apache_beam.__version__}", said


def test_training_gives_the_same_models(prism, belvedere, tmp_path):
    told = _training(tmp_path / "models")
    said = _finished(belvedere(*told), prism)
    assert said["annotated"] == len(runs.LABELS) and not said["dead"]
    assert runs.model_bytes(tmp_path / "models") == runs.model_bytes(runs.models())
    runs.assert_sound(tmp_path / "models", len(runs.LABELS))
    before = runs.files(tmp_path)
    again = _finished(belvedere(*told), prism)
    assert (again["annotated"], again["already_done"]) == (0, len(runs.LABELS))
    assert runs.files(tmp_path) == before


@pytest.mark.parametrize("runner", ["PrismRunner", "DirectRunner"])
def test_annotating_gives_the_same_rows(prism, belvedere, tmp_path, runner):
    process = belvedere(*_annotation(tmp_path), runner=runner)
    used = _seen(prism, process)
    said = _finished(process, prism)
    assert used, f"{runner} has not used Prism"
    assert (said["annotated"], said["dead"]) == (runs.TASKS, 0)
    assert runs.rows(tmp_path) == runs.rows(runs.output())
    runs.assert_sound(tmp_path, runs.TASKS)
    before = runs.files(tmp_path)
    again = _finished(belvedere(*_annotation(tmp_path), runner=runner), prism)
    assert (again["annotated"], again["already_done"]) == (0, runs.TASKS)
    assert runs.files(tmp_path) == before


def _seen(prism: pathlib.Path, process: subprocess.Popen) -> bool:
    """Waits for Prism to be running."""
    for _ in range(10 * SECONDS):
        if _processes(prism):
            return True
        if process.poll() is not None:
            return False
        time.sleep(0.1)
    return False


def test_an_interrupted_run_leaves_no_prism_and_is_finished_by_the_next(
    prism, belvedere, tmp_path
):
    process = belvedere(*_annotation(tmp_path))
    assert _seen(prism, process)
    while not any(tmp_path.glob("records/*")) and process.poll() is None:
        time.sleep(0.01)
    process.terminate()  # one unit of eight is done
    process.communicate(timeout=60)
    assert process.returncode == failures.STOPPED and not _processes(prism)
    _finished(belvedere(*_annotation(tmp_path)), prism)
    assert runs.rows(tmp_path) == runs.rows(runs.output())
    runs.assert_sound(tmp_path, runs.TASKS)


def test_an_output_that_cannot_be_written_is_told_in_a_line(prism, belvedere, tmp_path):
    (tmp_path / "annotations").write_text("a file where a folder has to be")
    process = belvedere(*_annotation(tmp_path))
    _, logged = process.communicate(timeout=SECONDS)
    told = [one["message"] for one in _documents(logged) if one["logger"] == OURS]
    assert process.returncode == 2, told
    assert len(told) == 1 and "choose another folder" in told[0]
    assert not _processes(prism)


def _documents(lines: str) -> Iterator[dict]:
    """Those of a log; libraries write other lines between them."""
    for line in lines.splitlines():
        with contextlib.suppress(ValueError):
            found = json.loads(line)
            if isinstance(found, dict):
                yield found
