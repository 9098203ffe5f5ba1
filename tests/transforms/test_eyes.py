"""What all classes share is learned once, from a few pictures, and then frozen."""

import dataclasses
import pathlib

import pytest
import runs

from belvedere.core import archive, configuration
from belvedere.transforms import eyes, model_store, stores
from belvedere.transforms.eyes import Frozen
from belvedere.transforms.training_slices import TrainingSlice
from belvedere.transforms.workshop import Workshop

NAMES = (
    model_store.eyes_name(runs.TINY.sight),
    model_store.negatives_name(runs.TINY.sight),
)


def _frozen(job, slices) -> list[Frozen]:
    """Runs both steps; what they say of eyes and negatives."""
    said: tuple[list, list] = [], []
    with runs.pipeline() as p:
        training = p | eyes.beam.Create(list(slices), reshuffle=False)
        first = training | "Eyes" >> eyes.FreezeEyes(job)
        second = training | "Negatives" >> eyes.FreezeNegatives(job, first["eyes"])
        runs.collected(first["eyes"], said[0])
        runs.collected(second, said[1])
    assert [len(one) for one in said] == [1, 1]
    return [one[0] for one in said]


def _read(job) -> dict[str, bytes]:
    store = stores.store_for(job.models)
    return {name: store.read(name) for name in NAMES}


def test_order_does_not_matter_and_later_images_change_nothing(tmp_path):
    first, second, *_ = runs.training_slices()
    job, other = runs.job(tmp_path / "a"), runs.job(tmp_path / "b")
    assert _frozen(job, [first, second]) == [Frozen(name) for name in NAMES]
    assert _frozen(other, [second, first]) == [Frozen(name) for name in NAMES]
    assert _read(job) == _read(other)
    assert _frozen(job, [_some(first, 4), second]) == [Frozen(n) for n in NAMES]
    assert _read(job) == _read(other)


def _some(training: TrainingSlice, count: int) -> TrainingSlice:
    return dataclasses.replace(training, chosen=training.chosen[:count])


def test_the_pool_does_not_depend_on_how_a_class_is_learned(tmp_path):
    """Its name says nothing of that: another seed finds the pool of the first."""
    first, second, *_ = runs.training_slices()
    chosen = configuration.changed(runs.TINY, {"method.sampling.seed": 1})
    job, other = runs.job(tmp_path / "a"), runs.job(tmp_path / "b")
    other = dataclasses.replace(other, configuration=chosen)
    assert _frozen(job, [first, second]) == _frozen(other, [first, second])
    assert _read(job) == _read(other)


def test_negatives_of_a_class_are_those_of_the_others(tmp_path):
    job = runs.job(tmp_path)
    _frozen(job, runs.training_slices())
    store, sight = stores.store_for(job.models), runs.TINY.sight
    _, eyes_id = model_store.read_eyes(store, NAMES[0])
    pool = model_store.read_negatives(store, sight, eyes_id)
    assert [label for label, s in pool] == [s.image_id.split("/")[0] for _, s in pool]
    workshop = Workshop(job)
    for label in runs.LABELS:
        others = workshop.others(label)
        assert len(others) == runs.BOXED
        assert not any(s.image_id.startswith(f"{label}/") for s in others)
    everybody = workshop.others("a new class")
    assert len(everybody) == len(pool) == len(runs.LABELS) * runs.BOXED
    workshop.close()


def test_about_as_many_images_are_drawn_as_wanted(tmp_path):
    sight = dataclasses.replace(runs.TINY.sight, negative_images=6)
    chosen = dataclasses.replace(runs.TINY, sight=sight)
    job = dataclasses.replace(runs.job(tmp_path), configuration=chosen)
    _frozen(job, runs.training_slices())
    store = stores.store_for(job.models)
    pool = archive.load(store.read(model_store.negatives_name(sight)), dict)
    assert 1 <= len(pool["samples"]) <= 12


def test_one_class_alone_freezes_no_negatives(tmp_path):
    """They would be no use to it, and would stay when a second class comes."""
    job = runs.job(tmp_path)
    first, second, *_ = runs.training_slices()
    seen, pool = _frozen(job, [first])
    assert not seen.fault and "train two classes" in pool.fault
    assert not stores.store_for(job.models).exists(NAMES[1])
    before = stores.store_for(job.models).read(NAMES[0])
    assert [said.fault for said in _frozen(job, [first, second])] == ["", ""]
    assert stores.store_for(job.models).read(NAMES[0]) == before


@pytest.mark.parametrize("slices", ["none", "unreadable", "few"])
def test_pictures_that_teach_no_words_are_told(tmp_path, slices):
    job = runs.job(tmp_path)
    first = runs.training_slices()[0]
    given = {
        "none": [],
        "unreadable": [_moved(first, tmp_path / "nowhere")],
        "few": [_some(first, 1)],
    }
    if slices == "few":
        features = dataclasses.replace(runs.TINY.sight.features, sift_words=500)
        sight = dataclasses.replace(runs.TINY.sight, features=features)
        chosen = dataclasses.replace(runs.TINY, sight=sight)
        job = dataclasses.replace(job, configuration=chosen)
    seen, pool = _frozen(job, given[slices])
    assert seen.fault.startswith("no visual words from ")
    assert pool.fault == seen.fault
    assert not list(stores.store_for(job.models).list("eyes"))


def _moved(training: TrainingSlice, folder: pathlib.Path) -> TrainingSlice:
    files = tuple(
        dataclasses.replace(f, uri=str(folder / pathlib.Path(f.uri).name))
        for f in training.piece.inputs
    )
    piece = dataclasses.replace(training.piece, inputs=files)
    return dataclasses.replace(training, piece=piece)
