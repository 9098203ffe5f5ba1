"""The page: learn a class, find its object, explain the score."""

import dataclasses

import numpy as np
import pytest
import toys
from oracles import context as oracle

from belvedere.core import localization, sight
from belvedere.core.context import certificate, inference
from belvedere.core.types import Context, Image
from belvedere.core.windows import boxes


@pytest.fixture(scope="module", params=["paper", "classic"])
def model(request):
    own = toys.pictures("zebra", 0, 8)
    settings = toys.settings(request.param)
    negatives = toys.negatives("zebra")
    return localization.fit(own.views, own.truths, negatives, toys.eyes(), settings)


def test_contributions_sum_to_the_score(model):
    for name in ("zebra/8", "zebra/9", "zebra/0"):
        found = localization.localize(toys.view(name), model, toys.eyes())
        assert found.contributions.sum() == pytest.approx(found.score, abs=1e-9)
        assert len(found.contributions) == 11


def test_the_box_is_the_best_by_brute_force_and_proven(model):
    view = toys.view("zebra/8")
    found = localization.localize(view, model, toys.eyes())
    x = sight.embed(view, model.maps, toys.eyes())
    said = model.gp.predict(x)
    context = Context(view.windows.boxes, model.gp.similarity(x), said.mean, said.std)
    weights, offset = model.scaling.fold(model.alpha)
    scores = inference.brute_force(context, weights) + offset
    assert found.score == scores.max()
    voted = oracle.voted(view.windows.boxes, scores, model.voting)
    np.testing.assert_allclose(found.box, view.to_picture(voted), rtol=1e-12)
    certificate.check(context, weights, found.found.certificate)


def test_learning_does_not_depend_on_the_order_of_images(model):
    own = toys.pictures("zebra", 0, 8)
    kind = "classic" if _supervised(model) else "paper"
    backwards = dict(reversed(own.views.items()))
    again = localization.fit(
        backwards,
        own.truths,
        list(reversed(toys.negatives("zebra"))),
        toys.eyes(),
        toys.settings(kind),
    )
    np.testing.assert_array_equal(again.alpha, model.alpha)
    np.testing.assert_array_equal(again.gp.weights, model.gp.weights)
    for name, part in model.maps.items():
        np.testing.assert_array_equal(again.maps[name].matrix, part.matrix)


def _supervised(model):
    own = toys.pictures("zebra", 0, 8)
    settings = toys.settings("paper")
    samples = [
        sight.sample(own.views[n], own.truths[n], n, toys.eyes(), settings.sampling)
        for n in own.views
    ]
    plain = localization.learn_appearance(samples, toys.negatives("zebra"), settings)
    return not np.array_equal(plain.maps["hog"].matrix, model.maps["hog"].matrix)


def test_a_learned_class_beats_a_random_window(model):
    rng = np.random.default_rng(0)
    gain = []
    for seed in range(10):
        name = f"zebra/{seed}"
        view, truth = toys.view(name), toys.world()[name].boxes
        found = localization.localize(view, model, toys.eyes())
        window = view.windows.boxes[[rng.integers(len(view.windows))]]
        window = view.to_picture(window)
        gain.append(
            boxes.ious(found.box[None], truth).max() - boxes.ious(window, truth).max()
        )
    assert np.mean(gain) > 0.2


def test_training_images_are_seen_by_what_has_not_seen_them():
    own = toys.pictures("zebra", 0, 8)
    settings, name = toys.settings("classic"), "zebra/3"
    samples = [
        sight.sample(own.views[n], own.truths[n], n, toys.eyes(), settings.sampling)
        for n in own.views
    ]
    good = localization.learn_appearance(samples, toys.negatives("zebra"), settings)
    fold = good.folds[name]

    def table(appearance):
        view, truth = own.views[name], own.truths[name]
        return localization.compete(
            view, truth, name, appearance, toys.eyes(), settings
        ).hyperfeatures

    other = (fold + 1) % settings.embedding.folds
    swapped = dataclasses.replace(good, gp=good.fold_gps[other], maps={})
    np.testing.assert_array_equal(table(swapped), table(good))
    gps = list(good.fold_gps)
    gps[fold] = good.gp
    seen = dataclasses.replace(good, fold_gps=tuple(gps))
    assert not np.allclose(table(seen), table(good))


def test_a_large_picture_is_searched_in_a_small_frame_and_boxed_in_its_own(model):
    scene = toys.world()["zebra/8"]
    large = Image(np.repeat(np.repeat(scene.image.pixels, 3, axis=0), 3, axis=1))
    view = sight.look(large, toys.eyes())
    assert max(view.windows.width, view.windows.height) <= toys.eyes().side
    found = localization.localize(view, model, toys.eyes())
    assert (found.box >= 0).all()
    assert found.box[2] <= large.width
    assert found.box[3] <= large.height


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (2, 2), (64, 64)])
def test_tiny_and_uniform_pictures_get_a_box(model, shape):
    view = sight.look(Image(np.full((*shape, 3), 128, np.uint8)), toys.eyes())
    found = localization.localize(view, model, toys.eyes())
    assert found.box[0] < found.box[2] <= shape[1]
    assert found.box[1] < found.box[3] <= shape[0]


def test_the_same_picture_is_seen_alike_twice():
    image = toys.world()["car/1"].image
    copy = Image(image.pixels.copy(order="F"))
    one, two = sight.look(image, toys.eyes()), sight.look(copy, toys.eyes())
    np.testing.assert_array_equal(one.windows.boxes, two.windows.boxes)
