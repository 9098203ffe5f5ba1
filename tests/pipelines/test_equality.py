"""The pipelines against a plain loop over core, and run otherwise."""

import csv
import dataclasses
import pathlib
import random
import shutil
import sys

import numpy as np
import pytest
import runs

from belvedere.core import archive, localization, sight
from belvedere.core.appearance import registry, vocabulary
from belvedere.core.formats import pictures
from belvedere.pipelines import annotate, launching, train
from belvedere.transforms import model_store, stores

CHOSEN = runs.TINY


@dataclasses.dataclass(frozen=True)
class Plain:
    """The toy world as a plain loop sees it, by image id."""

    images: dict
    truths: dict
    eyes: sight.Eyes
    views: dict

    def of(self, label: str) -> list[str]:
        return [name for name in self.truths if name.startswith(f"{label}/")]


@pytest.fixture(scope="module")
def plain() -> Plain:
    folder = runs.world() / "images"
    images = {
        str(file.relative_to(folder)): pictures.decode(file.read_bytes()).image
        for file in sorted(folder.rglob("*.jpg"))
    }
    truths: dict[str, list] = {}
    with (runs.world() / "boxes.csv").open() as file:
        for name, _, *box in list(csv.reader(file))[1:]:
            truths.setdefault(name.removeprefix("images/"), []).append(
                [float(side) for side in box]
            )
    chosen = CHOSEN.sight
    words = [
        vocabulary.sample(
            sight.in_frame(images[name], chosen.side),
            f"{name.split('/')[0]}\0{name}",
            chosen.words_per_image,
            chosen.features,
        )
        for name in truths
    ]
    books = vocabulary.learn(words, chosen.features)
    types = registry.feature_types(books, chosen.features)
    eyes = sight.Eyes(types, chosen.prim(), chosen.side)
    views = {name: sight.look(image, eyes) for name, image in images.items()}
    boxes = {name: np.array(sorted(told)) for name, told in truths.items()}
    return Plain(images, boxes, eyes, views)


def _negatives(plain: Plain, label: str) -> list:
    return [
        sight.sample_negatives(
            plain.views[name],
            name,
            CHOSEN.sight.negatives_per_image,
            plain.eyes,
            CHOSEN.method.sampling,
        )
        for name in plain.truths
        if not name.startswith(f"{label}/")
    ]


@pytest.fixture(scope="module")
def models(plain) -> dict:
    return {
        label: localization.fit(
            {name: plain.views[name] for name in plain.of(label)},
            {name: plain.truths[name] for name in plain.of(label)},
            _negatives(plain, label),
            plain.eyes,
            CHOSEN.method,
        )
        for label in runs.LABELS
    }


def test_training_is_the_plain_loop_to_the_byte(models):
    store, index = stores.store_for(runs.models()), model_store.index(runs.models())
    for label, model in models.items():
        identity = index.of(label)
        slug = next(slug for slug in index.ids if index.ids[slug] == identity)
        assert store.read(f"{slug}/{identity}/model.npz") == archive.dump(model)


def test_rows_are_those_of_the_plain_loop(plain, models):
    rows = {row["image_id"]: row for row in runs.rows(runs.output())}
    assert set(rows) == set(plain.images)
    for name, view in plain.views.items():
        row, label = rows[name], name.split("/")[0]
        found = localization.localize(view, models[label], plain.eyes)
        x, y, width, height = row["bbox"]
        np.testing.assert_array_equal([x, y, x + width, y + height], found.box)
        assert row["score"] == found.score
        assert row["expected_iou"] == found.expected_iou
        assert row["iou_lower"] == found.iou_lower
        assert (row["gp_mean"], row["gp_std"]) == (found.mean, found.std)
        assert row["contributions"] == found.contributions.tolist()
        assert row["windows_evaluated"] == found.found.certificate.evaluated
        assert row["candidates"] == len(view.windows)
        assert row["accepted"] == (found.expected_iou >= CHOSEN.accept)
        assert (row["width"], row["height"]) == (
            plain.images[name].width,
            plain.images[name].height,
        )


@pytest.mark.parametrize("per_slice", [1, 5])
def test_other_work_units_give_the_same_rows(tmp_path, per_slice):
    told = runs.annotation(tmp_path / "output")
    runs.Child(annotate.main, told, per_slice=per_slice).finish()
    assert runs.rows(tmp_path / "output") == runs.rows(runs.output())
    runs.assert_sound(tmp_path / "output", runs.TASKS)


def test_a_shuffled_list_gives_the_same_rows(tmp_path):
    listed = [[r["image_uri"], r["label"]] for r in runs.rows(runs.output())]
    random.Random(3).shuffle(listed)
    with (tmp_path / "list.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["image", "class"], *listed])
    told = runs.annotation(tmp_path / "output", images=(str(tmp_path / "list.csv"),))
    runs.Child(annotate.main, told, per_slice=7).finish()
    assert _without_id(tmp_path / "output") == _without_id(runs.output())


def _without_id(output: str | pathlib.Path) -> list[dict]:
    """Image ids are relative to the source, and the sources differ."""
    return [{**row, "image_id": None} for row in runs.rows(output)]


def test_shuffled_boxes_and_other_slices_give_the_same_models(tmp_path):
    head, *lines = (runs.world() / "boxes.csv").read_text().splitlines()
    random.Random(4).shuffle(lines)
    here = [line.replace("images/", f"{runs.world()}/images/", 1) for line in lines]
    (tmp_path / "boxes.csv").write_text("\n".join([head, *here]) + "\n")
    told = runs.training(tmp_path / "models", boxes=str(tmp_path / "boxes.csv"))
    runs.Child(train.main, told, per_slice=2).finish()
    assert runs.model_bytes(tmp_path / "models") == runs.model_bytes(runs.models())


def test_an_image_alone_has_the_row_it_has_among_others(tmp_path):
    among = runs.rows(runs.output())[5]
    folder = tmp_path / "alone" / among["label"]
    folder.mkdir(parents=True)
    shutil.copy(among["image_uri"], folder)
    told = runs.annotation(tmp_path / "output", images=(str(tmp_path / "alone"),))
    runs.Child(annotate.main, told).finish()
    (alone,) = runs.rows(tmp_path / "output")
    assert {**alone, "image_uri": among["image_uri"]} == among


def test_two_processes_give_the_same_models(tmp_path):
    with runs.images_per_slice(3):
        train.main(runs.training(tmp_path / "models", workers=2))
    assert runs.model_bytes(tmp_path / "models") == runs.model_bytes(runs.models())


@pytest.mark.slow
def test_two_processes_give_the_same_rows(tmp_path):
    with runs.images_per_slice(3):
        annotate.main(runs.annotation(tmp_path / "output", workers=2))
    assert runs.rows(tmp_path / "output") == runs.rows(runs.output())
    runs.assert_sound(tmp_path / "output", runs.TASKS)


def test_every_bundle_done_twice_changes_nothing(tmp_path):
    twice = ("--direct_runner_bundle_repeat=1",)
    told = runs.training(tmp_path / "models", beam_options=twice)
    runs.Child(train.main, told).finish()
    assert runs.model_bytes(tmp_path / "models") == runs.model_bytes(runs.models())
    runs.assert_sound(tmp_path / "models", len(runs.LABELS))
    told = runs.annotation(tmp_path / "output", beam_options=twice)
    runs.Child(annotate.main, told).finish()
    assert runs.rows(tmp_path / "output") == runs.rows(runs.output())
    runs.assert_sound(tmp_path / "output", runs.TASKS)


def test_every_unit_failing_once_changes_nothing(tmp_path):
    told = runs.annotation(tmp_path / "output")
    counts = runs.Child(runs.failing_once(annotate.main), told, per_slice=6).finish()
    assert counts["already_done"] == runs.TASKS  # the commit has failed once, too
    assert runs.rows(tmp_path / "output") == runs.rows(runs.output())
    runs.assert_sound(tmp_path / "output", runs.TASKS)


@pytest.mark.slow
def test_every_step_of_training_failing_once_changes_nothing(tmp_path):
    told = runs.training(tmp_path / "models")
    child = runs.Child(runs.failing_once(train.main), told)
    assert child.wait(600) == 0
    assert runs.model_bytes(tmp_path / "models") == runs.model_bytes(runs.models())
    runs.assert_sound(tmp_path / "models", len(runs.LABELS))


def test_no_number_in_a_row_is_missing_without_reason():
    for row in runs.rows(runs.output()):
        missing = {name for name, value in row.items() if value is None}
        assert missing <= {"bound_left", "runner_up_bbox", "runner_up_score"}
        assert (row["runner_up_bbox"] is None) == (row["runner_up_score"] is None)
        if row["runner_up_score"] is not None:
            assert row["runner_up_score"] <= row["score"]
        if row["bound_left"] is not None:
            assert row["bound_left"] <= row["score"] + 1e-9
        assert sum(row["contributions"]) == pytest.approx(row["score"], abs=1e-9)


def _without_torch(options: train.Options) -> launching.Counts:
    sys.modules.update(torch=None, gpytorch=None)  # to import them is an error
    return train.main(options)


def test_learning_needs_no_torch(tmp_path):
    told = runs.training(tmp_path / "models")
    runs.Child(_without_torch, told).finish()
    assert runs.model_bytes(tmp_path / "models") == runs.model_bytes(runs.models())
