"""Schedules: one machine's units; the DAGs in a real Airflow (`make test-airflow`)."""

import configparser
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
import yaml

from belvedere.pipelines import failures

SCHEDULE = pathlib.Path(__file__).parent.parent.parent / "deploy" / "schedule"
UNITS = ("belvedere-annotate.service", "belvedere-annotate.timer")
HOUR = 3600
AIRFLOW = os.environ.get("AIRFLOW_PYTHON")
LOAD = """
import json, sys
from airflow.dag_processing.dagbag import DagBag
from kubernetes.client import ApiClient
bag = DagBag(sys.argv[1])
plain = ApiClient().sanitize_for_serialization
pod = bag.dags["belvedere_nightly_flink"].tasks[0]
print(json.dumps({"errors": bag.import_errors, "dags": {
    name: [dag.max_active_runs, dag.catchup, dag.dagrun_timeout.total_seconds(), [
        [t.task_id, t.task_type] for t in dag.tasks]]
    for name, dag in bag.dags.items()}, "namespace": pod.namespace, "pod": plain({
        "serviceAccountName": pod.service_account_name,
        "automountServiceAccountToken": pod.automount_service_account_token,
        "volumes": pod.volumes}), "launcher": plain({
        "resources": pod.container_resources,
        "securityContext": pod.container_security_context,
        "volumeMounts": pod.volume_mounts})}))
"""


def _unit(name: str) -> configparser.ConfigParser:
    parsed = configparser.ConfigParser(strict=False, interpolation=None)
    parsed.optionxform = str
    parsed.read_string((SCHEDULE / name).read_text())
    return parsed


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd here")
def test_units_pass_systemds_own_check(tmp_path):
    for name in UNITS:  # the program is not on this machine
        text = re.sub(r"=/opt/\S+", "=/bin/true", (SCHEDULE / name).read_text())
        (tmp_path / name).write_text(text)
    files = [tmp_path / name for name in UNITS]
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *files],
        capture_output=True,
        text=True,
    )
    assert not done.returncode and not done.stderr, done.stderr


def test_timer_starts_the_service():
    timer, service = _unit(UNITS[1]), _unit(UNITS[0])
    assert timer["Timer"]["OnCalendar"] and timer["Timer"]["Persistent"] == "yes"
    assert service["Service"]["Type"] == "oneshot"
    assert {pathlib.Path(name).stem for name in UNITS} == {"belvedere-annotate"}


def test_only_what_may_pass_is_tried_again():
    final = _unit(UNITS[0])["Service"]["RestartPreventExitStatus"]
    wanted = {
        failures.USAGE,
        failures.TOO_MANY_DEAD,
        failures.REFUSED,
        failures.CONFLICT,
    }
    assert {int(code) for code in final.split()} == wanted
    job = (SCHEDULE / "cronjob.yaml").read_text()
    codes = re.search(r"values: \[([\d, ]+)\]", job).group(1)
    assert {int(code) for code in codes.split(",")} == wanted


def test_service_has_no_rights_beyond_its_folders():
    service = _unit(UNITS[0])["Service"]
    assert service["ProtectSystem"] == "strict" and service["NoNewPrivileges"] == "yes"
    assert service["User"] != "root" and service["CapabilityBoundingSet"] == ""


def test_all_tries_of_a_night_are_over_before_the_next():
    unit = _unit(UNITS[0])
    told = {**unit["Unit"], **unit["Service"]}
    starts = int(told["StartLimitBurst"])
    parts = ("TimeoutStartSec", "TimeoutStopSec", "RestartSec")
    a_try, window = sum(_seconds(told[p]) for p in parts), told["StartLimitIntervalSec"]
    # The limit still counts the first start when one too many would come; then no more.
    delay = _seconds(_unit(UNITS[1])["Timer"]["RandomizedDelaySec"])
    assert starts * a_try < _seconds(window) < 24 * HOUR - delay
    for file in ("schedule/cronjob.yaml", "flink/job.yaml", "flink/laptop-job.yaml"):
        text = (SCHEDULE.parent / file).read_text()
        assert re.search(r"activeDeadlineSeconds: (\d+)", text).group(1) == "72000"
    # Of a DAG; `execution_timeout` would be that of a try.
    dag = (SCHEDULE / "airflow_dag.py").read_text()
    assert '    "dagrun_timeout": datetime.timedelta(hours=20),' in dag


def _seconds(said: str) -> int:
    units = {"h": HOUR, "min": 60, "s": 1, "": 1}
    number, unit = re.fullmatch(r"(\d+)(\D*)", said).groups()
    return int(number) * units[unit]


@pytest.mark.skipif(not AIRFLOW, reason="make test-airflow says which python has it")
def test_dags_load_in_airflow(tmp_path):
    done = subprocess.run(
        [AIRFLOW, "-c", LOAD, SCHEDULE / "airflow_dag.py"],
        env=os.environ
        | {"AIRFLOW_HOME": str(tmp_path), "AIRFLOW__CORE__LOAD_EXAMPLES": "False"},
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert not found["errors"]
    operators = {
        "belvedere_nightly_dataflow": "DataflowStartFlexTemplateOperator",
        "belvedere_nightly_flink": "KubernetesPodOperator",
    }
    assert set(found["dags"]) == set(operators)
    for name, (active, catchup, seconds, tasks) in found["dags"].items():
        assert active == 1 and not catchup and seconds == 20 * HOUR
        assert tasks == [["annotate", operators[name]]]
    job = yaml.safe_load((SCHEDULE.parent / "flink" / "job.yaml").read_text())
    pod = job["spec"]["template"]["spec"]
    for told, wanted in (
        (found["pod"], pod),
        (found["launcher"], pod["containers"][0]),
    ):
        assert told == {name: wanted[name] for name in told}
    assert "belvedere_namespace" in found["namespace"]
