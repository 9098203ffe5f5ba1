"""Both pipelines, and judging, on a Flink inside of its job server: `make test-flink`.

LOOPBACK: the workers are threads of this process.
"""

import json
import pathlib
import shutil
import subprocess
import sys

import pytest
import runs

from belvedere.pipelines import annotate, evaluate, failures, train
from belvedere.transforms.roles import Protocol

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def trained(embedded, tmp_path_factory) -> pathlib.Path:
    to = tmp_path_factory.mktemp("trained") / "models"
    with runs.images_per_slice(3):
        counts = train.main(runs.training(to, beam_options=embedded))
    assert (counts.annotated, counts.tasks) == (len(runs.LABELS), len(runs.LABELS))
    assert counts.stages["describe"].items == len(runs.LABELS) * runs.BOXED
    return to


@pytest.fixture(scope="module")
def annotated(embedded, tmp_path_factory) -> pathlib.Path:
    to = tmp_path_factory.mktemp("annotated") / "output"
    with runs.images_per_slice(3):
        counts = annotate.main(runs.annotation(to, beam_options=embedded))
    assert (counts.annotated, counts.tasks) == (runs.TASKS, runs.TASKS)
    assert counts.stages["localize"].items == runs.TASKS
    return to


def test_models_are_the_same_to_the_byte(trained):
    assert runs.model_bytes(trained) == runs.model_bytes(runs.models())
    runs.assert_sound(trained, len(runs.LABELS))


def test_rows_are_the_same(annotated):
    assert runs.rows(annotated) == runs.rows(runs.output())
    runs.assert_sound(annotated, runs.TASKS)


def test_a_repeat_finds_everything_and_writes_nothing(trained, annotated, embedded):
    before = runs.files(trained), runs.files(annotated)
    with runs.images_per_slice(3):
        learned = train.main(runs.training(trained, beam_options=embedded))
        boxed = annotate.main(runs.annotation(annotated, beam_options=embedded))
    assert (learned.annotated, learned.already_done) == (0, len(runs.LABELS))
    assert (boxed.annotated, boxed.already_done) == (0, runs.TASKS)
    assert not {"describe", "appearance", "localize"} & {
        name for told in (learned, boxed) for name in told.stages
    }
    assert (runs.files(trained), runs.files(annotated)) == before


def test_the_command_tells_the_counts_and_nothing_else(embedded, tmp_path):
    told = ("--images", runs.world() / "images", "--models", runs.models())
    command = [
        *(sys.executable, "-m", "belvedere.pipelines", "annotate", *told),
        *("--output", tmp_path / "out", "--limit", "3", "--", *embedded),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == failures.DONE, done.stderr
    assert f"{3 * len(runs.LABELS)} images in: 6 annotated, 0 refused" in done.stdout
    assert "localize" in done.stdout  # the seconds by stage
    lines = done.stderr.splitlines()
    assert [line for line in lines if not line.startswith("Annotating: ")] == []


def test_judging_comes_to_the_same(embedded, tmp_path):
    found = {}
    for name, options in (("here", ()), ("flink", embedded)):
        told = evaluate.Options(
            images=(str(runs.world() / "images"),),
            boxes=str(runs.world() / "boxes.csv"),
            output=str(tmp_path / name),
            work=str(tmp_path / f"{name}-work"),
            protocol=Protocol(holdout=0.35),
            configuration=runs.TINY,
            beam_options=options,
        )
        found[name] = evaluate.main(told).metrics | {"seconds": {}}
    assert found["flink"]["methods"]["full"]["mean_iou"] > 0
    assert json.dumps(found["flink"]) == json.dumps(found["here"])


def test_what_went_wrong_on_a_worker_is_said_in_a_line(embedded, tmp_path):
    models = tmp_path / "models"
    shutil.copytree(runs.models(), models)
    for file in models.glob("*/*/model.npz"):
        file.unlink()
    told = runs.annotation(
        tmp_path / "output", models=str(models), beam_options=embedded
    )
    with pytest.raises(RuntimeError) as raised:
        annotate.main(told)
    code, said = failures.verdict(raised.value)
    assert code == failures.USAGE
    assert str(models) in said and "\n" not in said


def test_a_job_server_that_is_not_there_is_a_mistake(tmp_path):
    nobody = (
        *("--runner=PortableRunner", "--job_endpoint=127.0.0.1:1"),
        *("--environment_type=LOOPBACK", "--job_server_timeout=1"),
    )
    with pytest.raises(failures.Mistake, match="--job_endpoint"):
        annotate.main(runs.annotation(tmp_path / "output", beam_options=nobody))
