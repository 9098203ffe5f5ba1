"""What is said of a box is true of it."""

import dataclasses

import numpy as np
import pytest
import toys
from oracles import explanation as oracle

from belvedere.core import explanation, localization, sight
from belvedere.core.context.hyperfeatures import Consistency
from belvedere.core.types import Context, Image

NAME = "zebra/8"


@pytest.fixture(scope="module", params=list(Consistency), ids=lambda c: c.value)
def model(request):
    own = toys.pictures("zebra", 0, 8)
    settings = dataclasses.replace(toys.settings("classic"), consistency=request.param)
    negatives = toys.negatives("zebra")
    return localization.fit(own.views, own.truths, negatives, toys.eyes(), settings)


@pytest.fixture(scope="module")
def explained(model):
    return explanation.explain(toys.view(NAME), model, toys.eyes())


@pytest.fixture(scope="module")
def context(model):
    view = toys.view(NAME)
    x = sight.embed(view, model.maps, toys.eyes())
    said = model.gp.predict(x)
    return Context(view.windows.boxes, model.gp.similarity(x), said.mean, said.std)


def test_the_box_is_that_of_localize(model, explained):
    located, why = explained
    plain = localization.localize(toys.view(NAME), model, toys.eyes())
    assert located.score == plain.score
    np.testing.assert_array_equal(located.box, plain.box)
    assert why.chosen == plain.found.window
    np.testing.assert_array_equal(why.contributions, plain.contributions)


def test_windows_are_embedded_once(model, monkeypatch):
    embed, seen = sight.embed, []
    monkeypatch.setattr(sight, "embed", lambda *a: seen.append(a) or embed(*a))
    explanation.explain(toys.view(NAME), model, toys.eyes())
    assert len(seen) == 1


def test_boxes_and_overlaps_are_those_of_all_windows(explained, context):
    view, (_, why) = toys.view(NAME), explained
    assert len(why.boxes) == len(why.map) == len(view.windows)
    np.testing.assert_array_equal(why.boxes, view.to_picture(context.boxes))
    np.testing.assert_array_equal(why.overlap, context.mean[0])


def test_contributions_are_those_of_the_definition(model, explained, context):
    located, why = explained
    by_mean = model.consistency is Consistency.MEAN
    for window, said in (
        (why.chosen, why.contributions),
        (why.runner_up, why.runner_up_contributions),
    ):
        wanted = oracle.contributions(context, window, model, by_mean)
        np.testing.assert_allclose(said, wanted, rtol=1e-5, atol=1e-7)
    behind = located.found.runner_up_score - located.found.score
    total = why.runner_up_contributions.sum()
    assert total == pytest.approx(located.score + behind, abs=1e-9)
    assert total <= located.score
    assert why.chosen != why.runner_up


def test_supporters_make_phi_c(model, explained, context):
    located, why = explained
    gaps = oracle.gaps(context, why.chosen)
    for r, supporter in enumerate(why.supporters):
        assert gaps[r][supporter] == pytest.approx(max(gaps[r]), abs=1e-12)
    if model.consistency is Consistency.MAX:
        said = [gaps[r][i] for r, i in enumerate(why.supporters)]
        np.testing.assert_allclose(said, located.found.hyperfeatures[6:9], atol=1e-12)


def test_the_map_shows_windows_as_the_kernel_sees_them(model, explained):
    x = sight.embed(toys.view(NAME), model.maps, toys.eyes())
    wanted = oracle.flattened(x / model.gp.lengthscales)
    found = explained[1].map
    np.testing.assert_allclose(found, wanted, atol=1e-5 * abs(wanted).max())


def test_a_flat_cloud_keeps_its_distances_on_the_map():
    rng = np.random.default_rng(3)
    flat = rng.normal(size=(30, 2)) * [5, 1]
    turned = flat @ np.linalg.qr(rng.normal(size=(6, 6)))[0][:2] + rng.normal(size=6)
    found = explanation.flattened(turned)

    def distances(points):
        return np.linalg.norm(points[:, None] - points[None], axis=2)

    np.testing.assert_allclose(distances(found), distances(flat), atol=1e-9)
    assert found[:, 0].std() > found[:, 1].std()


def test_the_map_does_not_turn_with_the_order_of_windows():
    x = np.random.default_rng(5).normal(size=(40, 6)) * [9, 5, 1, 1, 1, 1]
    order = np.random.default_rng(6).permutation(40)
    found = explanation.flattened(x[order])
    np.testing.assert_allclose(found, explanation.flattened(x)[order], atol=1e-9)


@pytest.mark.parametrize("shape", [(1, 5), (3, 1), (1, 1), (4, 2)])
def test_few_points_lie_on_a_map_too(shape):
    x = np.arange(np.prod(shape), dtype=float).reshape(shape)
    found = explanation.flattened(x)
    assert found.shape == (shape[0], 2)
    np.testing.assert_allclose(found[:, 1], 0, atol=1e-9)


def test_a_picture_of_one_window_has_no_runner_up(model):
    view = sight.look(Image(np.full((1, 1, 3), 90, np.uint8)), toys.eyes())
    assert len(view.windows) == 1
    located, why = explanation.explain(view, model, toys.eyes())
    assert (why.chosen, why.runner_up) == (0, -1)
    assert not why.runner_up_contributions.any()
    assert not why.map.any()
    assert why.supporters.tolist() == [0, 0, 0]
    assert why.contributions.sum() == pytest.approx(located.score, abs=1e-9)
