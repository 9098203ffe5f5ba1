"""Kubernetes files: right by the schemas, locked up, of one mind with each other."""

import copy
import json
import pathlib

import jsonschema
import kubernetes_validate
import pytest
import yaml

HERE = pathlib.Path(__file__).parent
DEPLOY = HERE.parent.parent / "deploy"
SCHEMA = json.loads((HERE / "flink_deployment.schema.json").read_text())
FILES = sorted(DEPLOY.rglob("*.yaml"))
KUBERNETES = "1.31"
ALL = [
    (file, document)
    for file in FILES
    for document in yaml.safe_load_all(file.read_text())
]
BUILT_IN = [(f, d) for f, d in ALL if d["kind"] != "FlinkDeployment"]
FLINK = [(f, d) for f, d in ALL if d["kind"] == "FlinkDeployment"]


def _id(value):
    return value.name if isinstance(value, pathlib.Path) else value["kind"]


def _validate(document: dict) -> None:
    kubernetes_validate.validate(document, KUBERNETES, strict=True)


def _pod(deployment: dict, manager: str) -> dict:
    return deployment["spec"][manager]["podTemplate"]["spec"]


def _task_manager(deployment: dict) -> dict:
    return _pod(deployment, "taskManager")


def _pod_specs() -> list[tuple[str, dict]]:
    found = [(f.name, _task_manager(d)) for f, d in FLINK]
    for file, document in BUILT_IN:
        spec = document.get("spec", {})
        spec = spec.get("jobTemplate", {}).get("spec", spec)
        if "template" in spec:
            found.append((file.name, spec["template"]["spec"]))
    return found


OURS = [
    (place, spec, container)
    for place, spec in _pod_specs()
    for container in spec["containers"]
    if "belvedere" in container.get("image", "")
]


@pytest.mark.parametrize(("file", "document"), BUILT_IN, ids=_id)
def test_built_in_kinds_fit_kubernetes_schemas(file, document):
    _validate(document)
    wrong = copy.deepcopy(document)
    wrong["spce"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        _validate(wrong)


@pytest.mark.parametrize(("file", "document"), FLINK, ids=_id)
def test_flink_deployments_fit_our_schema(file, document):
    jsonschema.validate(document, SCHEMA)
    wrong = copy.deepcopy(document)
    wrong["spec"]["taskManager"]["podTemplates"] = {}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, SCHEMA)


@pytest.mark.parametrize("manager", ["jobManager", "taskManager"])
@pytest.mark.parametrize(("file", "document"), FLINK, ids=_id)
def test_pod_template_is_a_pod(file, document, manager):
    spec = _pod(document, manager)
    _validate(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": spec}
    )
    (flink,) = (c for c in spec["containers"] if c["name"] == "flink-main-container")
    locked = flink["securityContext"]
    assert locked["runAsNonRoot"] and locked["runAsUser"] == 9999  # of Flink's image
    assert not locked["allowPrivilegeEscalation"]
    assert locked["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize(("file", "document"), FLINK, ids=_id)
def test_workers_have_no_rights_in_kubernetes(file, document):
    """They open pictures from anywhere; the JobManager's account may create pods."""
    settings = document["spec"]["flinkConfiguration"]
    name = settings["kubernetes.taskmanager.service-account"]
    assert name != document["spec"]["serviceAccount"]
    (account,) = (d for f, d in ALL if f == file and d["kind"] == "ServiceAccount")
    assert account["metadata"]["name"] == name
    assert account["automountServiceAccountToken"] is False
    launchers = {
        s["serviceAccountName"] for _, s in _pod_specs() if "restartPolicy" in s
    }
    assert launchers == {name}


def test_there_is_something_to_check():
    assert {d["kind"] for _, d in ALL} == {
        "FlinkDeployment",
        "NetworkPolicy",
        "ServiceAccount",
        "Job",
        "CronJob",
        "ConfigMap",
    }
    assert len(OURS) == 5


@pytest.mark.parametrize(("place", "spec", "container"), OURS)
def test_our_containers_are_locked_up(place, spec, container):
    locked = container["securityContext"]
    assert locked["readOnlyRootFilesystem"] and locked["runAsNonRoot"]
    assert locked["runAsUser"] == 10001 and not locked["allowPrivilegeEscalation"]
    assert locked["capabilities"] == {"drop": ["ALL"]}
    mounts = {m["mountPath"]: m["name"] for m in container["volumeMounts"]}
    volumes = {v["name"]: v for v in spec["volumes"]}
    assert "emptyDir" in volumes[mounts["/tmp"]], (
        "the entry point needs a writable /tmp"
    )
    assert container["resources"]["limits"]["memory"]


@pytest.mark.parametrize(("file", "document"), FLINK, ids=_id)
def test_every_slot_may_decode_the_largest_picture_at_once(file, document):
    slots = int(document["spec"]["flinkConfiguration"]["taskmanager.numberOfTaskSlots"])
    (pool,) = (c for p, _, c in OURS if p == file.name and c["name"] == "worker-pool")
    limit = int(pool["resources"]["limits"]["memory"].removesuffix("Gi")) * 2**30
    assert limit > slots * (0.362e9 + 2.1e9)


@pytest.mark.parametrize(("place", "spec", "container"), OURS)
def test_all_containers_are_of_one_image_with_a_version(place, spec, container):
    assert {one["image"] for _, _, one in OURS} == {container["image"]}
    assert not container["image"].endswith(":latest") and ":" in container["image"]


@pytest.mark.parametrize(("file", "document"), FLINK, ids=_id)
def test_worker_pool_is_where_the_launcher_looks(file, document, commands):
    pool = next(
        c for c in _task_manager(document)["containers"] if c["name"] == "worker-pool"
    )
    port = pool["ports"][0]["containerPort"]
    assert pool["args"] == ["--worker_pool"]
    for command in commands:
        if "--runner=FlinkRunner" in command.beams:
            assert "--environment_type=EXTERNAL" in command.beams
            assert f"--environment_config=localhost:{port}" in command.beams


def test_workers_are_as_many_as_slots(commands):
    cluster = next(d for f, d in FLINK if f.name == "session-cluster.yaml")
    settings = cluster["spec"]["flinkConfiguration"]
    slots = settings["taskmanager.numberOfTaskSlots"]
    on_kubernetes = [c for c in commands if c.place in ("job.yaml", "cronjob.yaml")]
    for command in on_kubernetes:
        assert f"--sdk_worker_parallelism={slots}" in command.beams
        rest = f"--flink_master=http://{cluster['metadata']['name']}-rest:8081"
        assert rest in command.beams
        version = cluster["spec"]["flinkVersion"].removeprefix("v").replace("_", ".")
        assert f"--flink_version={version}" in command.beams
        assert cluster["spec"]["image"].startswith(f"flink:{version}.")


@pytest.mark.parametrize(("file", "document"), FLINK, ids=_id)
def test_a_lost_taskmanager_is_made_up_for_by_the_cluster(file, document):
    """As in standalone.sh, with which it is tried."""
    settings = document["spec"]["flinkConfiguration"]
    script = (DEPLOY / "flink" / "standalone.sh").read_text()
    names = [name for name in settings if name.startswith("restart-strategy.")]
    assert len(names) == 3
    for name in (*names, *(f"taskmanager.memory.network.{n}" for n in ("min", "max"))):
        value = settings[name].replace(" ", "")
        assert f"-D {name}={value}" in script, name


def test_flink_is_not_exposed():
    for _, document in FLINK:
        settings = document["spec"]["flinkConfiguration"]
        assert settings["kubernetes.rest-service.exposed.type"] == "ClusterIP"
    policy = next(d for _, d in ALL if d["kind"] == "NetworkPolicy")
    assert policy["spec"]["policyTypes"] == ["Ingress"]
    for rule in policy["spec"]["ingress"]:
        assert rule["from"], "an empty list would let everybody in"
        for port in rule["ports"]:
            span = range(port["port"], port.get("endPort", port["port"]) + 1)
            assert 50000 not in span, "the worker pool is for its own pod"


def test_policy_names_the_fixed_ports_of_flink():
    cluster = next(d for f, d in FLINK if f.name == "session-cluster.yaml")
    policy = next(d for _, d in ALL if d["kind"] == "NetworkPolicy")
    settings = cluster["spec"]["flinkConfiguration"]
    fixed = {int(v) for k, v in settings.items() if k.endswith(".port")}
    assert len(fixed) == 4
    ports = policy["spec"]["ingress"][0]["ports"]
    let_in = {
        n for p in ports for n in range(p["port"], p.get("endPort", p["port"]) + 1)
    }
    assert fixed | {6123, 8081} <= let_in


def test_the_cron_job_is_the_job_repeated():
    job = next(d for f, d in ALL if f.name == "job.yaml")
    cron = next(d for _, d in ALL if d["kind"] == "CronJob")
    assert cron["spec"]["jobTemplate"]["spec"] == job["spec"]
    assert cron["spec"]["concurrencyPolicy"] == "Forbid"
    assert job["spec"]["activeDeadlineSeconds"] < 24 * 3600


def test_the_laptops_job_differs_by_its_folder_and_slots():
    job = next(d for f, d in ALL if f.name == "job.yaml")
    laptop = copy.deepcopy(next(d for f, d in ALL if f.name == "laptop-job.yaml"))
    pod = laptop["spec"]["template"]["spec"]
    assert pod["volumes"].pop() == next(
        _task_manager(d)["volumes"][-1] for f, d in FLINK if f.name == "laptop.yaml"
    )
    launcher = pod["containers"][0]
    assert launcher["volumeMounts"].pop()["mountPath"] == "/data"
    given = launcher["args"].index("--sdk_worker_parallelism=2")
    launcher["args"][given] = "--sdk_worker_parallelism=4"
    assert laptop == job


def test_paths_come_from_the_config_map(commands):
    given = next(d for _, d in ALL if d["kind"] == "ConfigMap")["data"]
    for command in commands:
        if command.place in ("job.yaml", "cronjob.yaml"):
            used = {w.partition("$(")[2][:-1] for w in command.words if "$(" in w}
            assert used == set(given)
