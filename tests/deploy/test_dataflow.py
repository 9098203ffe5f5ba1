"""The Flex Template: its parameters are the command's, its cost is the measured one."""

import ast
import importlib.util
import json
import pathlib
import re

import pytest
import typer

from belvedere.pipelines.__main__ import app

ROOT = pathlib.Path(__file__).parent.parent.parent
FOLDER = ROOT / "deploy" / "dataflow"
METADATA = json.loads((FOLDER / "metadata.json").read_text())
PARAMETERS = {one["name"]: one for one in METADATA["parameters"]}
BODY = json.loads((ROOT / "deploy" / "schedule" / "launch-body.json").read_text())
KEYS = {"name", "label", "helpText", "isOptional", "regexes"}


def _flex_launch():
    spec = importlib.util.spec_from_file_location("flex", FOLDER / "flex_launch.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _parameters(command: str) -> list:
    return typer.main.get_command(app).commands[command].params


def _options(command: str) -> set[str]:
    return {name for option in _parameters(command) for name in option.opts}


def test_metadata_is_of_the_form_that_dataflow_reads():
    assert set(METADATA) == {"name", "description", "streaming", "parameters"}
    for one in METADATA["parameters"]:
        assert {"name", "label", "helpText"} <= set(one) <= KEYS
        for pattern in one.get("regexes", []):
            re.compile(pattern)


def test_parameters_are_options_of_the_commands():
    launch = _flex_launch()
    known = set().union(*map(_options, launch.COMMANDS))
    for name in set(PARAMETERS) - {"command", "sdk_container_image"}:
        assert f"--{name.replace('_', '-')}" in known, name
    pattern = PARAMETERS["command"]["regexes"][0]
    assert all(re.match(pattern, command) for command in launch.COMMANDS)


def test_every_required_option_can_be_given():
    launch = _flex_launch()
    for command in launch.COMMANDS:
        found = typer.main.get_command(app).commands[command].params
        wanted = {name for o in found if o.required for name in o.opts}
        assert {n.strip("-").replace("-", "_") for n in wanted} <= set(PARAMETERS)


def test_flat_flags_become_a_command_that_parses():
    flags = ["--runner=DataflowRunner", "--project=p", "--template_location=gs://b/t"]
    values = {"images": "gs://b/in", "models": "gs://b/m", "output": "gs://b/out"}
    flags[1:1] = [f"--{k}={v}" for k, v in values.items()]
    made = _flex_launch().arranged([*flags, "--max_dead=0.5", "--classes="])
    cut = made.index("--")
    context = (
        typer.main.get_command(app)
        .commands["annotate"]
        .make_context("annotate", made[1:cut], obj=())
    )
    assert made[0] == "annotate" and context.params["output"] == "gs://b/out"
    assert context.params["max_dead"] == 0.5 and context.params["classes"] is None
    behind = made[cut + 1 :]
    assert {"--runner=DataflowRunner", "--project=p"} <= set(behind)
    assert {"--sdk_location=container", "--no_save_main_session"} <= set(behind)


def test_a_template_runs_as_the_command_of_the_readme(commands):
    (told,) = [c.beams for c in commands if "--runner=DataflowRunner" in c.beams]
    launch = _flex_launch()
    assert {*launch.DEFAULTS, *launch.ALWAYS} <= set(told)
    made = launch.arranged(["--images=gs://b/in", "--disk_size_gb=100"])
    from apache_beam.options.pipeline_options import PipelineOptions, WorkerOptions

    said = PipelineOptions(made[made.index("--") + 1 :]).view_as(WorkerOptions)
    assert said.disk_size_gb == 100  # what is given counts, not the default


def test_a_longest_time_that_is_given_is_the_only_one():
    """Service options add up: with two the service would choose."""
    name, start = "max_workflow_runtime_walltime_seconds", "--dataflow_service_options"
    given = [f"{start}=enable_prime", f"{start}=worker_accelerator=x,{name}=3600"]
    made = _flex_launch().arranged(["--images=gs://b/in", *given])
    assert [flag for flag in made if flag.startswith(start)] == given
    made = _flex_launch().arranged(["--images=gs://b/in", given[0]])
    assert f"{start}={name}=72000" in made and given[0] in made


def test_paths_are_those_that_workers_of_google_can_reach():
    paths = {"images", "models", "output", "boxes", "work"}
    for name in paths:
        (pattern,) = PARAMETERS[name]["regexes"]
        assert re.match(pattern, "gs://b/x") and not re.match(pattern, "s3://b/x")
    assert "s3" not in (FOLDER / "metadata.json").read_text()


def test_only_commands_that_end_with_their_graph_are_templates():
    assert set(_flex_launch().COMMANDS) == {"annotate", "train"}
    for command in ("evaluate", "retry"):
        assert not re.match(PARAMETERS["command"]["regexes"][0], command)
        with pytest.raises(SystemExit, match="none of"):
            _flex_launch().arranged([f"--command={command}"])


def test_another_command_has_its_own_options():
    made = _flex_launch().arranged(["--command=train", "--work=gs://b/w", "--draw=x"])
    assert made[:2] == ["train", "--work=gs://b/w"] and "--draw=x" in made[3:]
    with pytest.raises(SystemExit, match="none of"):
        _flex_launch().arranged(["--command=demo"])


def _check(parameters: dict[str, str], strict: bool = True) -> None:
    required = {n for n, one in PARAMETERS.items() if not one.get("isOptional")}
    assert required <= set(parameters) <= set(PARAMETERS)
    for name, value in parameters.items() if strict else ():
        for pattern in PARAMETERS[name].get("regexes", []):
            assert re.match(pattern, value), (name, value)


def test_all_launches_give_known_parameters():
    _check(BODY["launchParameter"]["parameters"])
    script = (FOLDER / "launch.sh").read_text()
    assert '--parameters="^;^$given;sdk_container_image=$IMAGE"' in script
    for given in re.findall(r'given="([^"]*)"', script):
        told = dict(one.split("=") for one in given.split(";"))
        _check(told | {"sdk_container_image": ""}, strict=False)
        command = told.pop("command", "annotate")
        wanted = {o.name for o in _parameters(command) if o.required}
        assert wanted <= set(told) <= {o.name for o in _parameters(command)}
    dag = ast.parse((ROOT / "deploy" / "schedule" / "airflow_dag.py").read_text())
    bodies = [
        dict(zip((k.value for k in node.keys), node.values, strict=True))
        for node in ast.walk(dag)
        if isinstance(node, ast.Dict)
        and all(isinstance(k, ast.Constant) for k in node.keys)
    ]
    launch = next(b["launchParameter"] for b in bodies if "launchParameter" in b)
    given = dict(zip((k.value for k in launch.keys), launch.values, strict=True))
    _check({k.value: "" for k in given["parameters"].keys}, strict=False)
    assert {k.value for k in given["environment"].keys} == set(
        BODY["launchParameter"]["environment"]
    )


def test_all_launches_use_one_name_and_machine():
    texts = [
        (ROOT / "deploy" / place).read_text()
        for place in (
            "dataflow/launch.sh",
            "schedule/airflow_dag.py",
            "schedule/launch-body.json",
        )
    ]
    for said in ("belvedere-annotate", "n2-standard-4", "belvedere-worker@"):
        assert all(said in text for text in texts), said


def test_cost_is_reckoned_from_the_measured_time():
    measured = re.search(
        r"\*\*whole picture\*\* \| \*\*(\d+)\*\*",
        (ROOT / "docs/results.md").read_text(),
    )
    text = (FOLDER / "README.md").read_text()
    seconds = int(measured.group(1)) / 1000
    assert f"| {seconds:.3f} | docs/results.md" in text
    share, cores, minutes, cpu, memory = 0.6, 80, 5, 0.056, 0.0036
    rows = re.findall(
        r"^\| ([\d,]{6,}) \| ([\d.]+) \| ([\d.]+) \| \$(\d+) \|", text, re.M
    )
    assert len(rows) == 2
    for pictures, core_hours, hours, price in rows:
        work = int(pictures.replace(",", "")) * seconds / 3600
        all_hours = work / share + cores * minutes / 60
        assert work == pytest.approx(float(core_hours), abs=0.1)
        assert all_hours == pytest.approx(float(hours), abs=1)
        assert all_hours * (cpu + 4 * memory) == pytest.approx(float(price), abs=1)
