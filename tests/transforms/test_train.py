"""Classes are learned, or refused with a reason; the others go on."""

import dataclasses
import json
import pathlib
import shutil

import pytest
import runs

from belvedere.core import localization
from belvedere.pipelines import toy_data, train
from belvedere.transforms import (
    class_records,
    commits,
    lessons,
    model_store,
    records,
    stores,
    verification,
)
from belvedere.transforms import train as transforms
from belvedere.transforms.class_records import Refusal
from belvedere.transforms.eyes import Frozen
from belvedere.transforms.workshop import Workshop


def _manifests(models: pathlib.Path) -> list:
    return list(commits.Log(stores.store_for(str(models))).manifests())


def _cards(models: pathlib.Path) -> dict[str, str]:
    """The refusals that cards tell, by class."""
    told = [json.loads(card.read_text()) for card in models.glob("*/*/card.json")]
    return {card["label"]: card["refused"] for card in told if "refused" in card}


def _rewritten(boxes: pathlib.Path, change) -> None:
    head, *lines = boxes.read_text().splitlines()
    kept = [change(line.split(",")) for line in lines]
    boxes.write_text("\n".join([head, *(",".join(c) for c in kept if c)]) + "\n")


def _flawed(folder: pathlib.Path) -> pathlib.Path:
    """Two good classes; few boxes; boxes no window fits; pictures that are broken."""
    toy_data.write(folder, (*runs.LABELS, "bird", "ball", "fish"), runs.BOXED, 0)

    def change(cells: list[str]) -> list[str] | None:
        number = int(pathlib.Path(cells[0]).stem)
        if cells[1] == "bird" and number >= 3:
            return None
        return [*cells[:2], "0", "0", "3", "3"] if cells[1] == "ball" else cells

    _rewritten(folder / "boxes.csv", change)
    for number in range(4):
        (folder / f"images/fish/{number:05d}.jpg").write_bytes(b"broken")
    with (folder / "boxes.csv").open("a") as file:
        file.write("images/zebra/missing.jpg,zebra,1,1,9,9\n")
        file.write("images/zebra/00000.jpg,zebra,1,1,9999,9999\n")
    return folder


def test_classes_that_cannot_be_learned_are_refused_and_the_others_go_on(tmp_path):
    of, models = _flawed(tmp_path / "world"), tmp_path / "models"
    counts = runs.Child(train.main, runs.training(models, of=of)).finish()
    assert (counts["annotated"], counts["refused"]) == (2, 3)
    (manifest,) = _manifests(models)
    refused = manifest.run.details["refused"]
    assert refused == _cards(models)
    assert refused["bird"] == "3 images with boxes, at least 5 are needed"
    assert refused["fish"].startswith("4 images with boxes can be used, at least 5")
    assert refused["ball"].startswith("the windows miss the object")
    told = manifest.run.details["first_unusable_inputs"]
    assert manifest.run.details["unusable_inputs"] == len(told) == 4 + 1 + 1
    codes = sorted((fault[1], fault[2]) for fault in told)
    assert codes[-2:] == [("zebra", "box_outside"), ("zebra", "image_missing")]
    assert [label for label, _ in codes[:4]] == ["fish"] * 4
    assert set(model_store.index(str(models)).ids) == set(
        model_store.index(runs.models()).ids
    )
    assert verification.verify(stores.store_for(str(models))).sound
    before = runs.files(models)
    again = runs.Child(train.main, runs.training(models, of=of)).finish()
    assert again["already_done"] == 5
    assert runs.files(models) == before


def test_a_refusal_that_was_not_committed_is_told_by_the_next_run(tmp_path):
    of, models = tmp_path / "world", tmp_path / "models"
    toy_data.write(of, runs.LABELS, 4, 0)
    kill = runs.Kill("before_write", "manifests")
    assert runs.Child(train.main, runs.training(models, of=of), kill).wait() == -9
    assert len(list(models.glob("records/*.json"))) == 2
    counts = runs.Child(train.main, runs.training(models, of=of)).finish()
    assert counts["refused"] == 2
    (manifest,) = _manifests(models)
    assert set(manifest.run.details["refused"]) == set(runs.LABELS)


def test_a_class_alone_is_refused_until_a_second_comes(tmp_path):
    of, models = tmp_path / "world", tmp_path / "models"
    shutil.copytree(runs.world(), of)
    shutil.move(of / "images" / "car", tmp_path / "car")
    alone = runs.Child(train.main, runs.training(models, of=of)).finish()
    assert (alone["annotated"], alone["refused"]) == (0, 1)
    assert "train two classes" in _cards(models)["zebra"]
    shutil.move(tmp_path / "car", of / "images" / "car")
    both = runs.Child(train.main, runs.training(models, of=of)).finish()
    assert (both["annotated"], both["refused"]) == (2, 0)


def test_no_usable_picture_at_all_is_no_crash(tmp_path):
    of, models = tmp_path / "world", tmp_path / "models"
    shutil.copytree(runs.world(), of)
    for picture in of.glob("images/*/*.jpg"):
        picture.write_bytes(b"broken")
    counts = runs.Child(train.main, runs.training(models, of=of)).finish()
    assert (counts["annotated"], counts["refused"]) == (0, 2)
    (manifest,) = _manifests(models)
    told = manifest.run.details["first_unusable_inputs"]
    pictures = len(runs.LABELS) * runs.BOXED
    assert manifest.run.details["unusable_inputs"] == len(told) == pictures
    for reason in _cards(models).values():
        assert reason.startswith("no visual words")
        assert f"; {pictures} faults, the first: {told[0][0]}: {told[0][3]}" in reason


@pytest.fixture
def job(tmp_path):
    for kind in ("eyes", "negatives"):
        shutil.copytree(pathlib.Path(runs.models(), kind), tmp_path / "models" / kind)
    return runs.job(tmp_path)


def _planned(job, chosen) -> list:
    sight = runs.TINY.sight
    frozen = (
        Frozen(model_store.eyes_name(sight)),
        Frozen(model_store.negatives_name(sight)),
    )
    plan = transforms._PlanDoFn(job)
    plan.setup()
    return list(plan.process(("zebra", chosen), *frozen))


def _lesson(job) -> lessons.Lesson:
    slices = tuple(s for s in runs.training_slices() if s.label == "zebra")
    chosen = tuple(c for s in slices for c in s.chosen)
    (_, unit), *images = _planned(job, chosen)
    assert [image.value for image in images] == list(chosen)
    return lessons.Lesson("zebra", unit, slices)


def _opened(dofn):
    dofn.setup()
    return dofn


@pytest.mark.parametrize(
    "error", [RuntimeError("no convergence"), ArithmeticError("singular")]
)
@pytest.mark.parametrize("step", ["learn_appearance", "learn_context"])
def test_a_fit_that_fails_refuses_the_class(job, monkeypatch, step, error):
    lesson = _lesson(job)

    def fails(*_):
        raise error

    if step == "learn_context":
        shop = Workshop(job)
        shop.appearance(lesson)
        shop.close()
    monkeypatch.setattr(localization, step, fails)
    made = list(_learned(job, lesson))
    (refused,) = [one.value for one in made]
    assert isinstance(refused, Refusal)
    assert str(error) in refused.reason
    (again,) = _planned(job, tuple(c for s in lesson.slices for c in s.chosen))
    assert again.value == refused


def _learned(job, lesson):
    """Through the DoFns that learn, as a pipeline would call them."""
    appearance = _opened(transforms._AppearanceDoFn(job))
    context = _opened(transforms._ContextDoFn(job))
    sketches = [appearance.workshop.sketch(part)[0] for part in lesson.slices]
    joined = {"unit": [lesson.unit], "sketches": sketches}
    for one in appearance.process(("zebra", joined)):
        if isinstance(one, tuple):
            yield from context.process((one[0], {"lesson": [one[1]], "competed": []}))
        else:
            yield one
    appearance.teardown()
    context.teardown()


def test_lack_of_memory_is_no_refusal(job, monkeypatch):
    lesson = _lesson(job)
    for error in (MemoryError(), RuntimeError("can't allocate memory: you tried")):
        monkeypatch.setattr(localization, "learn_appearance", _raising(error))
        with pytest.raises(MemoryError):
            list(_learned(job, lesson))
    store = stores.store_for(job.models)
    assert records.find(store, lesson.unit.digest) is None


def _raising(error):
    def fails(*_):
        raise error

    return fails


def test_an_image_that_cannot_compete_is_left_out_and_told(job, monkeypatch):
    lesson = _lesson(job)
    compete = localization.compete

    def unlucky(view, truth, image_id, *rest):
        if image_id == "zebra/00003.jpg":
            raise KeyError("an unlucky picture")
        return compete(view, truth, image_id, *rest)

    monkeypatch.setattr(localization, "compete", unlucky)
    entry, fault = _learned(job, lesson)
    assert entry.counts.annotated == 1
    assert fault.value.uri.endswith("zebra/00003.jpg")
    assert "unlucky" in fault.value.message
    card = json.loads(pathlib.Path(job.models, entry.files[1].name).read_text())
    assert (card["images"], card["images_chosen"]) == (runs.BOXED - 1, runs.BOXED)


def test_learning_twice_makes_one_record(job):
    lesson = _lesson(job)
    (first,), (second,) = list(_learned(job, lesson)), list(_learned(job, lesson))
    assert first == second
    assert len(list(stores.store_for(job.models).list(records.FOLDER))) == 1
    known = class_records.known(job, "zebra", lesson.unit)
    assert known == first


def test_a_unit_depends_on_boxes_words_and_settings_alone(job):
    lesson = _lesson(job)
    chosen = tuple(c for s in lesson.slices for c in s.chosen)
    (_, fewer), *_ = _planned(job, chosen[1:])
    otherwise = _planned_with(job, chosen, least_ceiling=0.25)
    digests = {u.digest for u in (lesson.unit, fewer, otherwise)}
    assert len(digests) == 3
    (_, shuffled), *_ = _planned(job, chosen[::-1])
    assert shuffled.digest == lesson.unit.digest
    strict = _planned_with(job, chosen, accept=0.9)  # of boxes, later
    assert strict.digest == lesson.unit.digest


def _planned_with(job, chosen, **changes):
    """The unit under another configuration."""
    changed = dataclasses.replace(runs.TINY, **changes)
    planned = _planned(dataclasses.replace(job, configuration=changed), chosen)
    return planned[0][1]
