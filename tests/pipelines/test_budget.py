"""What reaches a class, in bytes: stated here, measured at the default sizes and at
those of the paper.

A shuffle carries names and boxes, less than 2 kB per image and step. What a class is
learned from is read from the work folder, slice by slice:

                          default    paper (4000 words)
  a view                  0.7 MB     0.7 MB       kept
  samples of an image     1.5 MB     2.0 MB       in memory, for one class at a time
  the table of an image   0.11 MB    0.11 MB      kept

A class has at most `most_images` = 500 images: 350 MB of views pass through, 0.75 GB
(paper 1 GB) of samples and then 55 MB of tables are held. Toy pictures and photographs
come to about two thirds of that.
"""

import pickle

import numpy as np
import pytest
import runs

from belvedere.core import archive, configuration, sight
from belvedere.core.appearance import registry, vocabulary
from belvedere.core.embedding import sampling
from belvedere.core.synthetic import scenes
from belvedere.core.types import Competition, P
from belvedere.pipelines import annotate, train
from belvedere.transforms import units

SHUFFLED = 2_000  # bytes per image and step
VIEW, TABLE = 700_000, 110_000
SAMPLES = {"default": 1_500_000, "paper": 2_000_000}
CLASS = {"default": 750_000_000, "paper": 1_000_000_000}
SIZES = {"default": registry.DEFAULT, "paper": registry.PAPER}


@pytest.fixture(scope="module", params=["default", "paper"])
def seen(request) -> tuple[str, sight.Eyes, list]:
    """Eyes of full size with words from few toy pictures, and what they see."""
    sizes = SIZES[request.param]
    drawn = [scenes.draw(label, 3) for label in ("zebra", "car", "bird")]
    words = [
        vocabulary.sample(scene.image, str(n), 2000, sizes)
        for n, scene in enumerate(drawn)
    ]
    eyes = sight.Eyes(registry.feature_types(vocabulary.learn(words, sizes), sizes))
    return request.param, eyes, [(s, sight.look(s.image, eyes)) for s in drawn]


def test_samples_and_views_keep_within_their_budget(seen):
    size, eyes, views = seen
    settings = sampling.SamplingSettings()
    samples = [sight.sample(v, s.boxes, s.label, eyes, settings) for s, v in views]
    weights = [len(archive.dump(one)) for one in samples]
    assert max(weights) <= SAMPLES[size]
    assert max(weights) > 0.2 * SAMPLES[size], "the budget is far from the truth"
    most = configuration.Configuration().most_images
    assert most * np.mean(weights) <= CLASS[size]
    assert max(len(archive.dump(view)) for _, view in views) <= VIEW
    for one in samples:
        for features in one.features.values():
            assert features.dtype == np.float32
            assert getattr(features, "indices", np.int32(0)).dtype == np.int32


def test_a_table_keeps_within_its_budget():
    n = configuration.Configuration().sight.windows
    table = Competition(np.zeros((n, P)), np.zeros(n), np.zeros(n), 0)
    assert len(archive.dump(table)) <= TABLE


def test_training_shuffles_names_and_no_arrays(tmp_path):
    told = runs.training(tmp_path / "models")
    sent = runs.Child(runs.weighing(train.main), told).finish()["counters"]
    images = len(runs.LABELS) * runs.BOXED
    assert set(sent) >= {
        "_PlanDoFn",
        "_DescribeDoFn",
        "_AppearanceDoFn",
        "_ContextDoFn",
    }
    for step, weight in sent.items():
        assert weight <= SHUFFLED * images, step


def test_annotating_sends_on_a_record_per_unit(tmp_path):
    told = runs.annotation(tmp_path / "output")
    sent = runs.Child(runs.weighing(annotate.main), told, per_slice=6).finish()
    written = len(list((tmp_path / "output" / "records").iterdir()))
    assert sent["counters"]["_LocalizeDoFn"] <= 1000 * written


def test_the_listing_of_an_image_is_small():
    slices = [s.piece for s in runs.training_slices()]
    images = sum(piece.images for piece in slices)
    assert len(pickle.dumps(slices)) <= 500 * images
    assert units.IMAGES <= 64
