"""The toy world as a whole: repeatable, varied, with boxes that are right."""

import collections
import dataclasses
import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from oracles import synthetic as oracle

from belvedere.core.synthetic import framing, scenes
from belvedere.core.windows import boxes

SEEDS = range(40)


@dataclasses.dataclass
class Drawn:
    """What the tests need of a scene, without its pixels."""

    label: str
    digest: str
    size: tuple[int, int]
    boxes: np.ndarray
    around_masks: np.ndarray
    visible: np.ndarray
    alike: float  # share of the background that has about the objects' colour

    @property
    def relative(self) -> np.ndarray:
        return self.boxes / np.array(self.size * 2)

    @property
    def shares(self) -> np.ndarray:
        return boxes.areas(self.relative)


def digest(scene: scenes.Scene) -> str:
    content = hashlib.sha256(scene.image.pixels.tobytes())
    content.update(scene.boxes.tobytes() + scene.masks.tobytes())
    return content.hexdigest()


def drawn(label: str, seed: int) -> Drawn:
    scene = scenes.draw(label, seed)
    pixels, mask = scene.image.pixels, scene.masks.any(axis=0)
    tone, rest = pixels[mask].mean(axis=0), pixels[~mask][::20]
    return Drawn(
        label=scene.label,
        digest=digest(scene),
        size=(scene.image.width, scene.image.height),
        boxes=boxes.checked(scene.boxes, scene.image.width, scene.image.height),
        around_masks=np.array([oracle.box_around(mask) for mask in scene.masks]),
        visible=scene.masks.sum(axis=(1, 2)),
        alike=float((np.abs(rest - tone).max(axis=1) < 40).mean()),
    )


@pytest.fixture(scope="module")
def world() -> dict[tuple[str, int], Drawn]:
    return {(c, seed): drawn(c, seed) for c in scenes.CLASSES for seed in SEEDS}


def test_eight_classes_are_drawn_from_forty_seeds_each(world):
    assert len(scenes.CLASSES) == len(set(scenes.CLASSES)) == 8
    assert all(scene.label == label for (label, _), scene in world.items())


def test_same_label_and_seed_give_the_same_bytes_in_any_order(world):
    for seed in (3, 1, 2):
        for label in reversed(scenes.CLASSES):
            assert digest(scenes.draw(label, seed)) == world[label, seed].digest


def test_another_process_with_another_hash_seed_draws_the_same(world):
    code = (
        "import hashlib; from belvedere.core.synthetic import scenes; "
        "s = scenes.draw('zebra', 5); h = hashlib.sha256(s.image.pixels.tobytes()); "
        "h.update(s.boxes.tobytes() + s.masks.tobytes()); print(h.hexdigest())"
    )
    other = {**os.environ, "PYTHONHASHSEED": "1234"}
    printed = subprocess.check_output([sys.executable, "-c", code], env=other)
    assert printed.decode().strip() == world["zebra", 5].digest


def test_all_scenes_differ(world):
    assert len({scene.digest for scene in world.values()}) == len(world)


def test_boxes_are_tight_around_the_visible_pixels(world):
    for scene in world.values():
        np.testing.assert_array_equal(scene.boxes, scene.around_masks)


def test_every_object_is_large_enough_to_be_found(world):
    for scene in world.values():
        assert (scene.boxes[:, 2:] - scene.boxes[:, :2]).min() >= 12
        assert scene.shares.min() >= 0.01
        assert scene.visible.min() > 0


def test_mostly_one_object_at_times_two_or_three(world):
    counts = collections.Counter(len(scene.boxes) for scene in world.values())
    assert set(counts) == {1, 2, 3}
    assert counts[1] > 0.6 * len(world) and counts[1] > counts[2] > counts[3]


def test_objects_of_a_scene_are_hardly_ever_on_top_of_each_other(world):
    for scene in world.values():
        overlap = boxes.ious(scene.boxes, scene.boxes) - np.eye(len(scene.boxes))
        assert overlap.max() < 0.4


def test_all_picture_sizes_occur(world):
    assert {scene.size for scene in world.values()} == set(framing.SIZES)


def test_sizes_vary_from_small_to_large(world):
    shares = np.concatenate([scene.shares for scene in world.values()])
    assert 0.2 < shares.mean() < 0.35
    assert (shares < 0.04).sum() > 10 and (shares > 0.6).sum() > 10


def test_places_vary_around_the_middle(world):
    found = np.concatenate([scene.relative for scene in world.values()])
    middles = (found[:, :2] + found[:, 2:]) / 2
    assert (np.abs(middles.mean(axis=0) - 0.5) < 0.05).all()
    assert (middles.std(axis=0) > 0.1).all()


def test_some_objects_are_cut_by_the_border(world):
    found = np.concatenate([scene.relative for scene in world.values()])
    touching = ((found == 0) | (found == 1)).any(axis=1)
    assert 0.03 < touching.mean() < 0.3


def test_aspects_vary(world):
    found = np.concatenate([scene.boxes for scene in world.values()])
    wide, tall = (found[:, 2:] - found[:, :2]).T
    assert (wide > 2 * tall).sum() > 10 and (tall > 2 * wide).sum() > 10


@pytest.mark.parametrize("label", scenes.CLASSES)
def test_no_constant_box_solves_a_class(world, label):
    """Even the best of a grid of boxes, chosen with the truth in sight."""
    ticks = np.linspace(0, 1, 9)
    pairs = [(a, b) for a in ticks for b in ticks if a < b]
    grid = np.array([(x0, y0, x1, y1) for x0, x1 in pairs for y0, y1 in pairs])
    truths = [scene.relative for scene in world.values() if scene.label == label]
    scores = np.stack([boxes.ious(grid, truth).max(axis=1) for truth in truths])
    assert scores.mean(axis=0).max() < 0.65
    assert (scores >= 0.7).mean(axis=0).max() < 0.5


def test_colour_alone_does_not_tell_the_object(world):
    alike = np.array([scene.alike for scene in world.values()])
    assert (alike > 0.02).mean() > 0.8


def test_balls_are_small(world):
    shares = [scene.shares for scene in world.values() if scene.label == "ball"]
    assert np.median(np.concatenate(shares)) < 0.1


def test_a_scene_that_shows_too_little_is_drawn_anew(world, monkeypatch):
    verdicts = iter([False, False, True])
    monkeypatch.setattr(scenes, "_well_visible", lambda *_: next(verdicts))
    again = scenes.draw("fish", 0)
    assert next(verdicts, None) is None
    assert digest(again) != world["fish", 0].digest


def test_a_data_set_has_each_class_in_turn_and_depends_on_its_seed():
    labels = ("fish", "bottle")
    first = list(scenes.data_set(labels, 2, seed=1))
    again = list(scenes.data_set(labels, 2, seed=1))
    other = list(scenes.data_set(labels, 2, seed=2))
    assert [scene.label for scene in first] == ["fish", "fish", "bottle", "bottle"]
    assert [digest(s) for s in first] == [digest(s) for s in again]
    assert not {digest(s) for s in first} & {digest(s) for s in other}


def test_unknown_label_is_refused():
    with pytest.raises(ValueError, match="unicorn"):
        scenes.draw("unicorn", 0)
