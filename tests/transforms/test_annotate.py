"""Rows, refusals and dead letters of work units; what a unit depends on."""

import dataclasses
import io
import pathlib
import shutil

import hostile
import numpy as np
import pytest
import runs
from PIL import Image

from belvedere.core import localization, sight
from belvedere.pipelines import annotate as command
from belvedere.transforms import (
    annotate,
    localizing,
    model_store,
    records,
    sources,
    stores,
    units,
)
from belvedere.transforms.annotate import Wanted
from belvedere.transforms.schemas import DEAD_LETTERS
from belvedere.transforms.stores import OutputConflict

JPEG = hostile.encoded(hostile.gradient(90, 130), "JPEG")
PNG = hostile.encoded(hostile.gradient(90, 130))


def _job(output: pathlib.Path, models: str | None = None) -> localizing.Job:
    models = models or runs.models()
    number = model_store.index(models).number
    return localizing.Job(str(output), models, number, "config", 0.5, "run", "0.1")


def _wanted(source: pathlib.Path | str, per_slice: int = 3) -> list[Wanted]:
    return [
        Wanted(units.stamped(piece))
        for partition in sources.partitions(sources.detect(str(source)))
        for piece in units.slices(partition, per_slice)
    ]


def _pictures(folder: pathlib.Path, label: str, count: int) -> pathlib.Path:
    (folder / label).mkdir(parents=True)
    for file in sorted((runs.world() / "images" / "zebra").iterdir())[:count]:
        shutil.copy(file, folder / label)
    return folder


def _entries(job: localizing.Job, wanted: list[Wanted]) -> list:
    dofn = annotate._LocalizeDoFn(job)
    dofn.setup()
    made = [entry for one in wanted for entry in dofn.process(one)]
    dofn.teardown()
    return made


def _rows(job: localizing.Job, entries: list) -> dict[str, list[dict]]:
    """The rows of both tables of these entries."""
    import pyarrow.parquet as pq

    found: dict[str, list[dict]] = {"annotations": [], "dead_letters": []}
    for entry in entries:
        for file in entry.files:
            data = stores.store_for(job.output).read(file.name)
            table = pq.read_table(io.BytesIO(data))
            found[file.name.partition("/")[0]] += table.to_pylist()
    return found


def test_two_elements_through_a_pipeline_and_once_more(tmp_path):
    folder = _pictures(_pictures(tmp_path / "in", "zebra", 2), "unknown", 1)
    job, wanted = _job(tmp_path / "out"), _wanted(folder)
    first, second = [], []
    for found in (first, second):
        with runs.pipeline() as p:
            made = p | annotate.beam.Create(wanted) | annotate.AnnotateSlices(job)
            runs.collected(made, found)
        before = runs.files(job.output) if found is first else before
    assert sorted(e.unit for e in first) == sorted(e.unit for e in second)
    assert runs.files(job.output) == before
    rows = _rows(job, first)
    assert rows["dead_letters"] == []
    by_label: dict[str, list] = {}
    for row in rows["annotations"]:
        by_label.setdefault(row["label"], []).append(row)
    assert [row["status"] for row in by_label["zebra"]] == ["annotated"] * 2
    (refused,) = by_label["unknown"]
    assert (refused["status"], refused["bbox"]) == ("refused", None)
    assert (refused["accepted"], refused["model_id"]) == (False, None)
    assert refused["width"] and refused["image_sha256"]


HOSTILE = {
    "cut.jpg": hostile.jpeg_cut(JPEG, 0.3),
    "empty.jpg": b"",
    "text.jpg": b"this is no picture",
    "half.png": PNG[: len(PNG) // 2],
    "huge.jpg": hostile.jpeg_claiming(JPEG, 60000, 60000),
    "canvas.webp": hostile.webp_claiming(16000, 16000),
}
STRANGE = {
    "text-bomb.png": hostile.text_bomb(PNG),
    "wrong-name.jpg": PNG,
    "cmyk.jpg": hostile.encoded(hostile.gradient(60, 80), "JPEG", "CMYK"),
    "grey.png": hostile.encoded(hostile.gradient(60, 80), "PNG", "L"),
    "palette.png": hostile.encoded(hostile.gradient(60, 80), "PNG", "P"),
    "turned.jpg": hostile.encoded(
        hostile.gradient(60, 80), "JPEG", exif=hostile.exif(6)
    ),
    "pixel.png": hostile.encoded(hostile.gradient(1, 1)),
    "line.png": hostile.encoded(hostile.gradient(1, 90)),
    "flat.png": hostile.encoded(np.full((70, 90, 3), 128, np.uint8)),
}


def test_hostile_pictures_cost_a_dead_letter_each_and_not_the_run(tmp_path):
    folder, output = _pictures(tmp_path / "in", "zebra", 3), tmp_path / "out"
    for name, data in (HOSTILE | STRANGE).items():
        (folder / "zebra" / name).write_bytes(data)
    told = runs.annotation(output, images=(str(folder),))
    counts = runs.Child(command.main, told, per_slice=4).finish()
    dead = runs.rows(output, DEAD_LETTERS)
    names = {pathlib.Path(row["image_uri"]).name: row for row in dead}
    assert set(names) == set(HOSTILE)
    for row in dead:
        assert row["stage"] == "decode" and row["code"] and row["message"]
        assert (row["label"], row["attempts"]) == ("zebra", 1)
    good = len(HOSTILE | STRANGE) + 3 - len(dead)
    assert (counts["annotated"], counts["dead"]) == (good, len(dead))
    runs.assert_sound(output, good + len(dead))
    rows = {pathlib.Path(r["image_uri"]).name: r for r in runs.rows(output)}
    assert (rows["turned.jpg"]["width"], rows["turned.jpg"]["height"]) == (60, 80)
    assert rows["turned.jpg"]["exif_orientation"] == 6
    assert rows["pixel.png"]["bbox"] == [0.0, 0.0, 1.0, 1.0]
    assert rows["pixel.png"]["runner_up_bbox"] is None


def test_a_file_that_goes_between_listing_and_reading_is_a_dead_letter(tmp_path):
    folder = _pictures(tmp_path / "in", "zebra", 2)
    job, wanted = _job(tmp_path / "out"), _wanted(folder)
    gone = sorted((folder / "zebra").iterdir())[0]
    gone.unlink()
    rows = _rows(job, _entries(job, wanted))
    (dead,) = rows["dead_letters"]
    assert (dead["stage"], dead["code"]) == ("read", "not_found")
    assert dead["image_uri"] == str(gone)
    assert len(rows["annotations"]) == 1


@pytest.mark.parametrize("error", [ValueError("NaN"), IndexError("a bug")])
def test_an_unlucky_image_costs_itself_alone(tmp_path, monkeypatch, error):
    folder = _pictures(tmp_path / "in", "zebra", 3)
    localize, calls = localization.localize, []

    def unlucky(view, model, eyes):
        calls.append(1)
        if len(calls) == 2:
            raise error
        return localize(view, model, eyes)

    monkeypatch.setattr(localization, "localize", unlucky)
    job = _job(tmp_path / "out")
    rows = _rows(job, _entries(job, _wanted(folder)))
    (dead,) = rows["dead_letters"]
    assert (dead["stage"], dead["code"]) == ("localize", "method_failed")
    assert dead["message"] == f"{type(error).__name__}: {error}"
    assert len(rows["annotations"]) == 2


def test_lack_of_memory_is_no_fault_of_the_image(tmp_path, monkeypatch):
    def full(view, model, eyes):
        raise MemoryError("too small")

    monkeypatch.setattr(localization, "localize", full)
    job = _job(tmp_path / "out")
    with pytest.raises(MemoryError):
        _entries(job, _wanted(_pictures(tmp_path / "in", "zebra", 1)))
    assert not list(stores.store_for(job.output).list(records.FOLDER))


def test_rows_without_runner_up_or_bound_hold_null_and_no_nan(tmp_path):
    (tmp_path / "in" / "zebra").mkdir(parents=True)
    flat = Image.fromarray(np.full((40, 40, 3), 90, np.uint8))
    flat.save(tmp_path / "in" / "zebra" / "flat.png")
    job = _job(tmp_path / "out")
    (row,) = _rows(job, _entries(job, _wanted(tmp_path / "in")))["annotations"]
    assert row["candidates"] == 1
    assert row["runner_up_bbox"] is row["runner_up_score"] is None
    numbers = [v for v in row.values() if isinstance(v, float)]
    assert np.isfinite([*numbers, *row["bbox"], *row["contributions"]]).all()


@pytest.mark.parametrize("file", ["model.npz", "card.json", "eyes"])
def test_a_damaged_model_ends_the_run_and_kills_no_image(tmp_path, file):
    models = tmp_path / "models"
    shutil.copytree(runs.models(), models)
    pattern = "eyes/*.npz" if file == "eyes" else f"*/*/{file}"
    for damaged in models.glob(pattern):
        data = damaged.read_bytes()
        damaged.write_bytes(data[: len(data) // 2])
    job = _job(tmp_path / "out", str(models))
    folder = _pictures(tmp_path / "in", "zebra", 2)
    with pytest.raises(OutputConflict, match="damaged"):
        _entries(job, _wanted(folder))
    assert not list(stores.store_for(job.output).list(records.FOLDER))


def _units(models: str, wanted: list[Wanted]) -> list[str]:
    job, index = _job(pathlib.Path("unused"), models), model_store.index(models)
    return [annotate.unit_of(one, job, index).digest for one in wanted]


def test_a_unit_depends_on_the_models_of_its_own_classes(tmp_path):
    """In folders and in lists, which say the classes of their images."""
    both = _pictures(_pictures(tmp_path / "in", "zebra", 1), "car", 1)
    uri = next((both / "zebra").iterdir())
    (tmp_path / "list.csv").write_text(f"image,class\n{uri},zebra\n")
    wanted = [*_wanted(both), *_wanted(tmp_path / "list.csv")]
    labels = [one.piece.inputs[0].label for one in wanted]
    assert sorted(labels) == ["car", "zebra", "zebra"]
    before = _units(runs.models(), wanted)
    models = tmp_path / "models"
    shutil.copytree(runs.models(), models)
    _new_model(str(models), "car")
    after = _units(str(models), wanted)
    changed = {l for l, a, b in zip(labels, before, after, strict=True) if a != b}
    assert changed == {"car"}


def _new_model(models: str, label: str) -> None:
    """Commits a model of the class that differs a little."""
    from belvedere.transforms import commits, manifests
    from belvedere.transforms.records import Counts, Record, WorkUnit

    store, index = stores.store_for(models), model_store.index(models)
    model, _ = model_store.read_model(store, label, index.of(label))
    changed = dataclasses.replace(model, alpha=model.alpha * 1.01)
    eyes = model_store.eyes_name(runs.TINY.sight)
    _, eyes_id = model_store.read_eyes(store, eyes)
    card = {"eyes": eyes, "eyes_id": eyes_id}
    files = model_store.write_model(store, label, changed, card)
    unit = WorkUnit("train", (records.Input("x", 1, "y", label),), ("e", "n"), "c")
    made = Record(unit, files, Counts(annotated=1), "run", "0.1", "now")
    entry = manifests.Entry.of(records.publish(store, made))
    run = manifests.Run("run", "train", "0.1", "c", {})
    commits.commit(commits.Log(store), run, [entry])


def test_a_row_says_the_configuration_of_the_run_whatever_is_left_out(tmp_path):
    (wanted,) = _wanted(_pictures(tmp_path / "in", "zebra", 2), 9)
    refs = list(sources.references(wanted.piece))
    some = dataclasses.replace(wanted, skip=frozenset({(refs[0].uri, "zebra")}))
    job = _job(tmp_path / "out")
    every, fewer = _entries(job, [wanted]), _entries(job, [some])
    assert every[0].unit != fewer[0].unit
    (row,) = _rows(job, fewer)["annotations"]
    assert row == _rows(job, every)["annotations"][1]


def test_eyes_are_shared_and_models_bounded(monkeypatch):
    from belvedere.transforms import model_cache

    monkeypatch.setattr(model_cache, "MODELS", 1)
    reads = []
    read = model_store.read_model
    monkeypatch.setattr(
        model_store, "read_model", lambda *a: reads.append(a[1]) or read(*a)
    )
    index = model_store.index(runs.models())
    cache = model_cache.ModelCache(runs.models(), 1)
    cache.models.kept.clear()
    found = [cache.get(label, index.of(label)) for label in ("zebra", "car", "car")]
    assert reads == ["zebra", "car"]
    assert len(cache.models.kept) == 1
    assert found[0][1] is found[1][1]
    assert isinstance(found[0][1], sight.Eyes)
