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
  "delete configmap "*) echo "$3" >> "$SAID/deleted" ;;
  create*)
    cat > "$SAID/job.yaml"
    [ -z "$REFUSED" ] || exit 1
    printf 'belvedere-annotate-x 1-2-3' ;;
  *"--patch"*) for last; do :; done; echo "$last" > "$SAID/patch.yaml" ;;
  "get jobs,pods "*) printf '%b' "$UNDER_WAY" ;;
  get*)
    echo >> "$SAID/asked"
    [ "$(wc -l < "$SAID/asked")" -gt "${AWAY:-0}" ] && printf '%s' "$STATE" ;;
esac
"""
PATHS = ("gs://b/in", "gs://b/models", "gs://b/out")


@pytest.fixture
def submit(tmp_path):
    for name, text in {"kubectl": KUBECTL, "sleep": "#!/bin/sh\n"}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)

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


@pytest.mark.parametrize(
    ("launchers", "code"),
    [
        ("Job/first  FailureTarget Failed\nJob/a  SuccessCriteriaMet Complete\n", 0),
        ("Pod/first Succeeded Initialized\nPod/b Failed PodScheduled\n", 0),
        ("Job/done  Complete\nJob/first  \nPod/c Pending \n", 1),
        ("Pod/first Running Initialized Ready PodScheduled\n", 1),
    ],
)
def test_nothing_is_started_beside_another_run(submit, tmp_path, launchers, code):
    """Two jobs on one session cluster would stop each other's workers."""
    assert submit(*PATHS, UNDER_WAY=launchers) == code
    assert (tmp_path / "maps").exists() == (code == 0)


def test_every_launcher_can_be_seen():
    label = {"app.kubernetes.io/name": "belvedere-launcher"}
    for file in ("flink/job.yaml", "flink/laptop-job.yaml", "schedule/cronjob.yaml"):
        *_, job = yaml.safe_load_all((FLINK.parent / file).read_text())
        job = job["spec"].get("jobTemplate", job)
        assert job["metadata"]["labels"] == label, file
        assert job["spec"]["template"]["metadata"]["labels"] == label, file
    said = "=app.kubernetes.io/name=belvedere-launcher "
    assert said in (FLINK / "submit.sh").read_text()


@pytest.mark.parametrize(("away", "code"), [(29, 0), (30, 1)])
def test_a_server_that_is_away_for_a_while_is_asked_again(submit, away, code):
    assert submit(*PATHS, AWAY=str(away)) == code


def test_without_a_job_its_paths_do_not_stay(submit, tmp_path):
    assert submit(*PATHS, REFUSED="yes") == 1
    assert (tmp_path / "deleted").read_text() == (tmp_path / "maps").read_text()
