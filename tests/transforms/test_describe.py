"""Training images: each one is a picture or a fault; views are the same when kept."""

import dataclasses
import pathlib
import shutil

import hostile
import numpy as np
import pytest
import runs
from decoders import InProcessDecoder

from belvedere.core import archive, sight
from belvedere.core.formats.box_rows import BoxRow
from belvedere.transforms import (
    describe,
    input_files,
    sources,
    stores,
    units,
)
from belvedere.transforms.describe import Described, Picture
from belvedere.transforms.inputs import InputCode, InputError, InputFault
from belvedere.transforms.training_slices import Chosen, TrainingSlice, slice_digest
from belvedere.transforms.workshop import Workshop

GOOD = hostile.encoded(hostile.gradient(80, 120))
BOX = (10.0, 10.0, 60.0, 50.0)


def _training(source: str, boxes: dict[str, tuple]) -> TrainingSlice:
    """The images of a one-slice source, with these boxes by last part of the name."""
    (partition,) = sources.partitions(sources.detect(source))
    (piece,) = units.slices(partition)
    chosen = [
        Chosen(
            "0",
            ref.label,
            ref.image_id,
            dataclasses.replace(piece.inputs[0], uri=ref.uri),
            slice_digest(piece),
            tuple(
                BoxRow(ref.uri, ref.label, box)
                for box in boxes[pathlib.Path(ref.uri).name]
            ),
        )
        for ref in sources.references(piece)
        if not isinstance(ref, InputFault) and pathlib.Path(ref.uri).name in boxes
    ]
    return TrainingSlice(piece, tuple(chosen))


def _found(training: TrainingSlice, **options) -> dict[str, list]:
    found: dict[str, list] = {}
    decoder = InProcessDecoder()
    for one in describe.pictures(training, decoder, **options):
        uri = one.uri if isinstance(one, InputFault) else one.chosen.uri
        found.setdefault(pathlib.Path(uri).name, []).append(one)
    return found


def test_every_chosen_image_is_a_picture_or_a_fault(tmp_path):
    files = {
        "good.png": GOOD,
        "cut.png": GOOD[:200],
        "text.jpg": b"no picture",
        "gone.png": GOOD,
        "mixed.png": GOOD,
        "unchosen.png": GOOD,
    }
    (tmp_path / "in" / "cat").mkdir(parents=True)
    for name, data in files.items():
        (tmp_path / "in" / "cat" / name).write_bytes(data)
    boxes = {name: (BOX,) for name in files if name != "unchosen.png"}
    boxes["mixed.png"] = (BOX, (500.0, 500.0, 600.0, 600.0))
    training = _training(str(tmp_path / "in"), boxes)
    (tmp_path / "in" / "cat" / "gone.png").unlink()
    found = _found(training)
    assert set(found) == set(boxes)
    (good,) = found["good.png"]
    np.testing.assert_array_equal(good.truth, [BOX])
    np.testing.assert_array_equal(good.image.pixels, hostile.gradient(80, 120))
    assert [type(one) for one in found["mixed.png"]] == [InputFault, Picture]
    assert found["mixed.png"][0].code == "box_outside"
    (gone,) = found["gone.png"]
    assert gone.code == "not_found"
    for name in ("cut.png", "text.jpg"):
        (fault,) = found[name]
        assert isinstance(fault, InputFault) and fault.message
    assert set(_found(training, wanted=frozenset({"cat/good.png"}))) == {"good.png"}


def test_images_behind_the_break_of_a_tar_are_faults(tmp_path):
    names = [f"{n}.png" for n in range(4)]
    whole = hostile.tar([(name, GOOD) for name in names])
    tar = tmp_path / "n01234567.tar"
    tar.write_bytes(whole)
    training = _training(str(tar), {name: (BOX,) for name in names})
    second = whole.index(b"2.png")
    tar.write_bytes(whole[: second + 700])
    found = _found(training)
    assert [type(found[name][0]) for name in names] == [
        *(Picture, Picture),
        *(InputFault, InputFault),
    ]
    assert {found[name][0].code for name in names[2:]} == {"tar_truncated"}


@pytest.fixture
def shop(tmp_path):
    """A workshop with the eyes of the toy world."""
    shutil.copytree(pathlib.Path(runs.models()) / "eyes", tmp_path / "models" / "eyes")
    opened = Workshop(runs.job(tmp_path))
    yield opened
    opened.close()


def _same(one: Described, other: Described) -> bool:
    return (one.image_id, archive.dump(one.view), one.truth.tolist()) == (
        other.image_id,
        archive.dump(other.view),
        other.truth.tolist(),
    )


def test_views_are_the_same_made_kept_lost_and_damaged(shop, tmp_path):
    training = runs.training_slices()[0]
    made, _ = shop.views(training)
    assert len(made) == runs.BOXED
    (file,) = (tmp_path / "work" / "views").iterdir()
    begun = file.stat().st_mtime_ns
    kept, _ = shop.views(training)
    assert file.stat().st_mtime_ns == begun
    file.write_bytes(file.read_bytes()[:1000])
    damaged, _ = shop.views(training)
    shutil.rmtree(tmp_path / "work")
    lost, _ = shop.views(training)
    for others in (kept, damaged, lost):
        assert all(map(_same, made, others))


def test_an_image_that_the_method_cannot_see_is_a_fault_made_and_kept(
    shop, monkeypatch
):
    training = runs.training_slices()[0]
    look, calls = sight.look, []

    def unlucky(image, eyes):
        calls.append(1)
        if len(calls) == 2:
            raise IndexError("an unlucky picture")
        return look(image, eyes)

    monkeypatch.setattr(sight, "look", unlucky)
    for _ in range(2):
        seen, faults = shop.views(training)
        assert len(seen) == runs.BOXED - 1
        (fault,) = faults
        assert fault.code == "method_failed"
        assert "IndexError: an unlucky picture" in fault.message
    assert len(calls) == runs.BOXED


def test_lack_of_memory_is_no_fault_of_the_image(shop, monkeypatch, tmp_path):
    def full(image, eyes):
        raise MemoryError

    monkeypatch.setattr(sight, "look", full)
    with pytest.raises(MemoryError):
        shop.views(runs.training_slices()[0])
    assert not list(stores.store_for(str(tmp_path / "work")).list("views"))


def test_nothing_is_learned_without_a_file_that_cannot_be_read_now(
    shop, monkeypatch, tmp_path
):
    training = runs.training_slices()[0]
    read, failing = input_files.read, [one.uri for one in training.chosen[1:8]]

    def broken_line(uri, max_bytes):
        if uri in failing:
            raise InputError(InputCode.NOT_READ, "the line is dead")
        return read(uri, max_bytes)

    monkeypatch.setattr(input_files, "read", broken_line)
    with pytest.raises(stores.StoreError, match="and 2 more to learn from") as told:
        shop.views(training)
    assert str(told.value).count("the line is dead") == 5
    with pytest.raises(stores.StoreError, match="to learn from"):
        shop.descriptors(training, frozenset({training.chosen[0].image_id}))
    work = stores.store_for(str(tmp_path / "work"))
    assert not [*work.list("views"), *work.list("words")]
    failing.clear()
    seen, faults = shop.views(training)
    assert (len(seen), faults) == (8, [])
