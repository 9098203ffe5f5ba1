"""submit.sh with a stand-in for kubectl: what it creates, and how it ends."""

import os
import pathlib
import subprocess

import pytest
import yaml

FLINK = pathlib.Path(__file__).parent.parent.parent / "deploy" / "flink"
KUBECTL = """#!/bin/sh
echo "$*" >> "$SAID/calls"
case "$*" in
  "create configmap "*) echo "$3" >> "$SAID/maps" ;;
  create*) cat > "$SAID/job.yaml"; printf 'belvedere-annotate-x 1-2-3' ;;
  *"--patch"*) for last; do :; done; echo "$last" > "$SAID/patch.yaml" ;;
  get*) printf '%s' "$STATE" ;;
esac
"""
PATHS = ("gs://b/in", "gs://b/models", "gs://b/out")


@pytest.fixture
def submit(tmp_path):
    (tmp_path / "kubectl").write_text(KUBECTL)
    (tmp_path / "kubectl").chmod(0o755)

    def run(*arguments, state="SuccessCriteriaMet Complete", **known):
        path = f"{tmp_path}:{os.environ['PATH']}"
        known = os.environ | {"PATH": path, "SAID": tmp_path, "STATE": state} | known
        return subprocess.run(
            [FLINK / "submit.sh", *arguments],
            env=known,
            capture_output=True,
            text=True,
        ).returncode

    return run


@pytest.mark.parametrize("file", ["job.yaml", "laptop-job.yaml"])
def test_a_run_has_paths_of_its_own(submit, tmp_path, file):
    """Those of the nightly CronJob, and of a run under way, stay as they are."""
    assert submit(*PATHS, "64", JOB=file) == submit(*PATHS, JOB=file) == 0
    first, second = (tmp_path / "maps").read_text().split()
    calls = (tmp_path / "calls").read_text()
    for path in (*PATHS, "=64", "=4"):
        assert path in calls
    job = yaml.safe_load((tmp_path / "job.yaml").read_text())
    (launcher,) = job["spec"]["template"]["spec"]["containers"]
    (source,) = launcher["envFrom"]
    assert source["configMapRef"]["name"] == second != first != "belvedere-run"
    launcher["envFrom"] = [{"configMapRef": {"name": "belvedere-run"}}]
    assert job == yaml.safe_load((FLINK / file).read_text())


def test_the_paths_go_with_the_job(submit, tmp_path):
    assert submit(*PATHS) == 0
    patch = yaml.safe_load((tmp_path / "patch.yaml").read_text())
    assert patch["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "name": "belvedere-annotate-x",
            "uid": "1-2-3",
        }
    ]


def test_a_failed_job_is_told(submit):
    assert submit(*PATHS, state="FailureTarget Failed") == 1
    assert submit("gs://b/in") == 2
