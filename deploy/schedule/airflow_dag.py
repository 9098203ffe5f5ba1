"""Two nightly DAGs for Airflow 3: on Dataflow by its template, and on Flink.

Each has one task, which repeats one command; there is nothing to keep between nights.
Airflow runs one at a time (`max_active_runs`) and does not make up for missed nights
(`catchup`): the next run finds all that is new anyway.

Variables of Airflow: belvedere_images, belvedere_models, belvedere_output,
belvedere_image (with its digest; of `--target flex` on Dataflow); on Dataflow
belvedere_project, belvedere_region, belvedere_bucket; on Flink belvedere_namespace,
that of the session cluster, whose network policy lets launchers in from there alone.
"""

import datetime

from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.providers.google.cloud.operators.dataflow import (
    DataflowStartFlexTemplateOperator,
)
from airflow.sdk import DAG
from kubernetes.client import models as k8s

IMAGES = "{{ var.value.belvedere_images }}"
MODELS = "{{ var.value.belvedere_models }}"
OUTPUT = "{{ var.value.belvedere_output }}"
IMAGE = "{{ var.value.belvedere_image }}"
BUCKET = "{{ var.value.belvedere_bucket }}"
PROJECT = "{{ var.value.belvedere_project }}"

NIGHTLY = {
    "schedule": "0 2 * * *",
    "start_date": datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
    "catchup": False,
    "max_active_runs": 1,
    # All tries together: over before the next night starts. What runs then is stopped,
    # and with it its pod or its job on Dataflow.
    "dagrun_timeout": datetime.timedelta(hours=20),
    "default_args": {
        # For a lost machine: what is finished is found, the rest is done. A mistake in
        # the options is tried again, too, and fails within seconds.
        "retries": 2,
        "retry_delay": datetime.timedelta(minutes=5),
    },
}

ANNOTATE = [
    "belvedere",
    "annotate",
    f"--images={IMAGES}",
    f"--models={MODELS}",
    f"--output={OUTPUT}",
    "--log-format=json",
    "--",
    "--runner=FlinkRunner",
    "--flink_master=http://belvedere-rest:8081",
    "--flink_version=1.19",
    "--flink_submit_uber_jar",
    "--environment_type=EXTERNAL",
    "--environment_config=localhost:50000",
    "--parallelism=16",
    "--sdk_worker_parallelism=4",
]

with DAG("belvedere_nightly_dataflow", **NIGHTLY):
    DataflowStartFlexTemplateOperator(
        task_id="annotate",
        project_id=PROJECT,
        location="{{ var.value.belvedere_region }}",
        body={
            "launchParameter": {
                # One name, always: Dataflow refuses a second job of it.
                "jobName": "belvedere-annotate",
                "containerSpecGcsPath": (
                    f"gs://{BUCKET}/templates/belvedere-annotate.json"
                ),
                "parameters": {
                    "images": IMAGES,
                    "models": MODELS,
                    "output": OUTPUT,
                    "sdk_container_image": IMAGE,
                },
                "environment": {
                    "serviceAccountEmail": (
                        f"belvedere-worker@{PROJECT}.iam.gserviceaccount.com"
                    ),
                    "stagingLocation": f"gs://{BUCKET}/staging",
                    "tempLocation": f"gs://{BUCKET}/temp",
                    "machineType": "n2-standard-4",
                    "maxWorkers": 20,
                    "ipConfiguration": "WORKER_IP_PRIVATE",
                },
            }
        },
        append_job_name=False,
        wait_until_finished=True,
    )

with DAG("belvedere_nightly_flink", **NIGHTLY):
    KubernetesPodOperator(
        task_id="annotate",
        name="belvedere-annotate",
        namespace="{{ var.value.belvedere_namespace }}",
        image=IMAGE,
        arguments=ANNOTATE,
        labels={"app.kubernetes.io/name": "belvedere-launcher"},
        service_account_name="belvedere",
        automount_service_account_token=False,
        container_resources=k8s.V1ResourceRequirements(
            requests={"cpu": "500m", "memory": "1Gi"}, limits={"memory": "2Gi"}
        ),
        container_security_context=k8s.V1SecurityContext(
            allow_privilege_escalation=False,
            capabilities=k8s.V1Capabilities(drop=["ALL"]),
            read_only_root_filesystem=True,
            run_as_non_root=True,
            run_as_user=10001,
            seccomp_profile=k8s.V1SeccompProfile(type="RuntimeDefault"),
        ),
        volumes=[
            k8s.V1Volume(
                name="scratch",
                empty_dir=k8s.V1EmptyDirVolumeSource(size_limit="2Gi"),
            ),
        ],
        volume_mounts=[k8s.V1VolumeMount(name="scratch", mount_path="/tmp")],
        # A node without a copy of the image needs longer than the default, 2 minutes.
        startup_timeout_seconds=900,
        on_finish_action="delete_succeeded_pod",
    )
