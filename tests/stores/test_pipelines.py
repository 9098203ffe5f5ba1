"""Both pipelines with everything in a bucket: the rows and models of a local run."""

import pathlib

import pytest
import runs

from belvedere.pipelines import annotate, train, verify, voice
from belvedere.transforms import commits, stores


def _upload(folder: pathlib.Path, to: str) -> None:
    """Copies a folder into a bucket, whatever its files are called."""
    store = stores.store_for(to)
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            store._replace(f"{to}/{file.relative_to(folder)}", file.read_bytes())


@pytest.fixture(scope="module")
def local() -> tuple[list[dict], dict[str, bytes]]:
    return runs.rows(runs.output()), runs.model_bytes(runs.models())


def _placed(rows: list[dict], root: str) -> list[dict]:
    """The rows without the beginning of their addresses."""
    return [
        row | {"image_uri": row["image_uri"].removeprefix(f"{root}/")} for row in rows
    ]


def _annotated(told: annotate.Options, images: str, rows: list[dict]) -> None:
    """Annotates, finds the rows of the local run, and then nothing more to do."""
    assert annotate.main(told).annotated == runs.TASKS
    found = runs.rows(told.output)
    assert _placed(found, images) == _placed(rows, str(runs.world()))
    runs.assert_sound(told.output, runs.TASKS)
    for folder in (told.output, told.models):
        assert verify.main(folder, voice.Voice(quiet=True)) == 0
    again = annotate.main(told)
    assert (again.annotated, again.already_done) == (0, runs.TASKS)
    assert commits.Log(stores.store_for(told.output)).number == 1


@pytest.mark.parametrize(
    "name",
    [
        "gcp-storage-emulator",
        pytest.param("fake-gcs-server", marks=pytest.mark.slow),
        pytest.param("moto", marks=pytest.mark.slow),
    ],
)
def test_everything_in_a_bucket(name, running, visit, local):
    root = visit(running(name))
    _upload(runs.world(), root)
    images, models, boxes = f"{root}/images", f"{root}/models", f"{root}/boxes.csv"
    learning = train.Options((images,), boxes, models, f"{root}/work", runs.TINY)
    assert train.main(learning).annotated == len(runs.LABELS)
    rows, learned = local
    assert runs.model_bytes(models) == learned
    told = annotate.Options((images,), models, f"{root}/output", runs.TINY.annotating)
    _annotated(told, root, rows)


@pytest.mark.parametrize("name", ["moto", "fake-gcs-server"])
def test_models_and_output_in_a_bucket(name, running, visit, local):
    root = visit(running(name))
    _upload(pathlib.Path(runs.models()), f"{root}/models")
    images = (str(runs.world() / "images"),)
    told = annotate.Options(
        images, f"{root}/models", f"{root}/output", runs.TINY.annotating
    )
    _annotated(told, str(runs.world()), local[0])
