"""Which images are learned from, and which are left for annotation."""

import csv
import dataclasses
import pathlib
import random

import pytest
import runs

from belvedere.core.formats.box_rows import BoxRow
from belvedere.transforms import (
    box_sources,
    sources,
    tally,
    training_images,
    training_slices,
    units,
)
from belvedere.transforms.inputs import Partition, Slice
from belvedere.transforms.records import Input
from belvedere.transforms.training_images import FAULTS, BottomK
from belvedere.transforms.training_slices import Chosen

BOX = ["1", "2", "30", "40"]


def _write(file: pathlib.Path, head: list[str], rows: list) -> str:
    with file.open("w", newline="") as opened:
        csv.writer(opened).writerows([head, *rows])
    return str(file)


def _boxes(file: pathlib.Path, rows: list) -> str:
    return _write(file, ["image", "class", "xmin", "ymin", "xmax", "ymax"], rows)


@pytest.fixture
def world(tmp_path):
    """Two sources with files that nobody opens; some have the same relative names."""
    for name in ("a/cat/1.jpg", "a/cat/2.jpg", "a/dog/1.jpg", "b/cat/1.jpg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    return tmp_path


def _chosen(images: list, boxes: str, most: int = 9) -> tuple[dict, list]:
    classes: list = []
    faults: list = []
    found = tuple(sources.detect(str(one)) for one in images)
    with runs.pipeline() as p:
        slices = p | training_images.ListSlices(found)
        choose = training_images.ChooseTrainingImages(box_sources.detect(boxes), most)
        said = slices | choose
        runs.collected(said["classes"], classes)
        runs.collected(said[FAULTS], faults)
    return dict(classes), faults


def test_images_meet_their_boxes_and_the_rest_is_told(world):
    rows = [
        ["a/cat/1.jpg", "cat", *BOX],
        ["a/cat/1.jpg", "cat", "5", "5", "9", "9"],
        ["a/cat/9.jpg", "cat", *BOX],
        ["a/dog/1.jpg", "cat", *BOX],
        ["a/dog/1.jpg", "dog", "1", "1", "x", "9"],
    ]
    classes, faults = _chosen([world / "a"], _boxes(world / "boxes.csv", rows))
    (one,) = classes.pop("cat")
    assert one.image_id == "cat/1.jpg"
    assert [row.box for row in one.rows] == [(1, 2, 30, 40), (5, 5, 9, 9)]
    assert not classes
    assert sorted(fault.code for fault in faults) == [
        "bad_number",
        "image_missing",
        "image_missing",
    ]


def test_two_sources_with_the_same_names_lose_no_image(world):
    rows = [["a/cat/1.jpg", "cat", *BOX], ["b/cat/1.jpg", "cat", *BOX]]
    boxes = _boxes(world / "boxes.csv", rows)
    classes, faults = _chosen([world / "a", world / "b"], boxes)
    assert not faults
    assert [one.image_id for one in classes["cat"]] == [
        "cat/1.jpg",
        str(world / "b/cat/1.jpg"),
    ]


def test_an_image_in_two_sources_counts_once(world):
    listed = _write(world / "list.csv", ["image", "class"], [["a/cat/1.jpg", "cat"]])
    boxes = _boxes(world / "boxes.csv", [["a/cat/1.jpg", "cat", *BOX]])
    classes, faults = _chosen([world / "a", listed], boxes)
    assert not faults
    assert len(classes["cat"]) == 1


def test_of_many_images_the_same_few_are_chosen(world):
    rows = [["a/cat/1.jpg", "cat", *BOX], ["a/cat/2.jpg", "cat", *BOX]]
    boxes = _boxes(world / "boxes.csv", rows)
    both, _ = _chosen([world / "a"], boxes)
    first, _ = _chosen([world / "a"], boxes, most=1)
    assert first["cat"] == (min(both["cat"], key=lambda one: one.lot),)


def test_only_the_boxed_task_of_an_image_is_left_out(world):
    """One picture, two classes, a box for one of them: the other is annotated."""
    rows = [["a/cat/1.jpg", "cat"], ["a/cat/1.jpg", "animal"], ["a/cat/2.jpg", "cat"]]
    listed = _write(world / "list.csv", ["image", "class"], rows)
    boxes = _boxes(world / "boxes.csv", [["a/cat/1.jpg", "cat", *BOX]])
    found: list = []
    with runs.pipeline() as p:
        slices = p | training_images.ListSlices((sources.detect(listed),))
        without = training_images.WithoutBoxed(box_sources.detect(boxes))
        runs.collected(slices | without, found)
    (wanted,) = found
    left = [r for r in sources.references(wanted.piece) if r in wanted]
    assert sorted((r.image_id, r.label) for r in left) == [
        ("a/cat/1.jpg", "animal"),
        ("a/cat/2.jpg", "cat"),
    ]


def _made(number: int, label: str = "cat") -> Chosen:
    file = Input(f"/in/{label}/{number:03d}.jpg", 10, "then", label)
    image_id = f"{label}/{number:03d}.jpg"
    lot = training_slices.lot("train", label, image_id)
    row = BoxRow(file.uri, label, (1.0, 2.0, 3.0, 4.0))
    return Chosen(lot, label, image_id, file, "slice", (row,))


@pytest.mark.parametrize("seed", range(5))
def test_bottom_k_does_not_depend_on_how_it_is_split(seed):
    rng, combine = random.Random(seed), BottomK(7)
    elements = [_made(number) for number in range(60)]
    wanted = sorted(elements, key=lambda c: c.lot)[:7]
    rng.shuffle(elements)
    parts = [combine.create_accumulator() for _ in range(4)]
    for element in elements:
        which = rng.randrange(4)
        parts[which] = combine.add_input(parts[which], element)
    merged = combine.merge_accumulators(parts)
    assert combine.extract_output(merged) == wanted


def test_training_slices_are_small_and_of_one_class():
    chosen = [_made(n, label) for label in ("cat", "dog") for n in range(20)]
    piece = Slice(
        Partition("list", "/in", "/in/l.csv"), tuple(c.file for c in chosen), None, 40
    )
    cut = list(training_slices.cut(piece, reversed(chosen)))
    assert [len(part.chosen) for part in cut] == [16, 4, 16, 4]
    assert [part.label for part in cut] == ["cat", "cat", "dog", "dog"]
    for part in cut:
        assert [f.uri for f in part.piece.inputs] == [c.uri for c in part.chosen]
    assert {c for part in cut for c in part.chosen} == set(chosen)


def test_what_a_slice_stands_for():
    """Other boxes, other files or another name are another slice; a line is not."""
    one = _made(1)
    row = one.rows[0]
    others = [
        dataclasses.replace(
            one, rows=(dataclasses.replace(row, box=(1.0, 2.0, 3.0, 5.0)),)
        ),
        dataclasses.replace(one, rows=(dataclasses.replace(row, width=9, height=9),)),
        dataclasses.replace(one, file=dataclasses.replace(one.file, stamp="now")),
        dataclasses.replace(one, image_id="other"),
    ]
    digests = {training_slices.identity([c]) for c in (one, *others)}
    assert len(digests) == 5
    moved = dataclasses.replace(one, rows=(dataclasses.replace(row, where="line 9"),))
    assert training_slices.identity([moved]) == training_slices.identity([one])


def _in_order(folder: pathlib.Path, alone: bool, monkeypatch) -> list:
    """Listings, counts of images, and the labels of slices as they come."""
    told: list = []
    slices = units.slices

    def watched(partition, *how):
        told.append("list")
        return slices(partition, *how)

    monkeypatch.setattr(units, "slices", watched)
    monkeypatch.setattr(tally, "add", lambda stage, items: told.append(items))
    found = (sources.detect(str(folder)),)
    with runs.pipeline() as p:
        runs.collected(p | training_images.ListSlices(found, alone=alone), told)
    monkeypatch.undo()
    return [s.partition.label if isinstance(s, Slice) else s for s in told]


def test_no_slice_waits_for_another_where_one_process_works_alone(
    tmp_path, monkeypatch
):
    for label in "abc":
        (tmp_path / label).mkdir()
        (tmp_path / label / "1.jpg").touch()
    counted = ["list", 1] * 3
    told = _in_order(tmp_path, True, monkeypatch)
    assert told == [*counted, "list", "a", "list", "b", "list", "c"]
    told = _in_order(tmp_path, False, monkeypatch)
    assert told[:6] == counted and sorted(told[6:]) == ["a", "b", "c"]
