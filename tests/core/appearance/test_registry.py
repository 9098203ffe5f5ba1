import numpy as np
import pytest
import scipy.sparse

from belvedere.core.appearance import registry, views
from belvedere.core.types import Image

SMALL = registry.Settings(sift_words=40, surf_words=30)
NAMES = ("sift_intensity", "sift_opponent", "sift_rgb", "surf", "hog", "location")
SHAPES = [(1, 1), (1, 40), (40, 1), (3, 3), (10, 7), (61, 83)]


@pytest.fixture
def types(codebook):
    def make(settings=SMALL, branches=4):
        books = {
            name: codebook(name, recipe.local.length, recipe.words, branches)
            for name, recipe in registry.recipes(settings).items()
        }
        return registry.feature_types(books, settings)

    return make


def affine(kind, columns=10):
    rng = np.random.default_rng(kind.length)
    matrix = rng.normal(size=(kind.length, columns)).astype(np.float32)
    return matrix, rng.normal(size=columns)


def dense(read):
    return read.toarray() if scipy.sparse.issparse(read) else read


def test_the_six_types_follow_the_protocol(types):
    made = types()
    assert tuple(made) == registry.names() == NAMES
    assert all(isinstance(kind, registry.FeatureType) for kind in made.values())
    assert all(kind.name == name for name, kind in made.items())


@pytest.mark.parametrize("name", NAMES)
def test_a_window_alone_is_what_it_is_in_a_batch(picture, windows, types, name):
    kind, boxes = types()[name], windows(60, 83, 61)
    seen = kind.describe(views.Views(picture(61, 83)))
    matrix, offset = affine(kind)
    batch = kind.project(seen, boxes, matrix, offset)
    read = dense(kind.read(seen, boxes))
    for n in range(0, 60, 7):
        one = boxes[n : n + 1].copy()
        alone = kind.project(seen, one, matrix, offset)
        np.testing.assert_array_equal(alone[0], batch[n])
        np.testing.assert_array_equal(dense(kind.read(seen, one))[0], read[n])
    backwards = kind.project(seen, boxes[::-1], matrix, offset)
    np.testing.assert_array_equal(backwards[::-1], batch)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("uniform", [False, True])
def test_every_picture_has_finite_features(picture, types, name, shape, uniform):
    height, width = shape
    image = Image(np.full((*shape, 3), 9, np.uint8)) if uniform else picture(*shape)
    kind = types()[name]
    seen = kind.describe(views.Views(image))
    whole = np.array([[0.0, 0, width, height], [0, 0, width / 2, height / 3]])
    read = dense(kind.read(seen, whole))
    assert read.shape == (2, kind.length) and read.dtype == np.float32
    assert np.isfinite(read).all()
    if name != "location":
        assert (np.linalg.norm(read, axis=1) < 1 + 1e-5).all()
    matrix, offset = affine(kind)
    found = kind.project(seen, whole, matrix, offset)
    np.testing.assert_allclose(found, read @ matrix + offset, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_no_windows_give_no_rows(picture, types, name):
    kind = types()[name]
    seen = kind.describe(views.Views(picture(20, 20)))
    none, (matrix, offset) = np.empty((0, 4)), affine(kind)
    assert kind.read(seen, none).shape == (0, kind.length)
    assert kind.project(seen, none, matrix, offset).shape == (0, 10)


def test_the_same_pixels_give_the_same_numbers(picture, windows, types):
    boxes = windows(20, 83, 61)
    for name, kind in types().items():
        reads = [
            dense(kind.read(kind.describe(views.Views(picture(61, 83))), boxes))
            for _ in range(2)
        ]
        np.testing.assert_array_equal(*reads)
        other = kind.read(kind.describe(views.Views(picture(61, 83, seed=1))), boxes)
        assert (name == "location") == np.array_equal(reads[0], dense(other))


def test_shared_views_change_nothing(picture, types):
    made, image = types(), picture(61, 83)
    together = registry.describe(made, views.Views(image))
    for name, kind in made.items():
        alone = kind.describe(views.Views(image))
        for field in vars(alone):
            np.testing.assert_array_equal(
                getattr(alone, field), getattr(together[name], field)
            )


def test_the_sizes_of_the_paper(picture, windows, types):
    made = types(registry.PAPER, branches=63)
    lengths = {name: kind.length for name, kind in made.items()}
    assert lengths == dict(zip(NAMES, [36000] * 3 + [17000, 2048, 4], strict=True))
    seen = registry.describe(made, views.Views(picture(61, 83)))
    boxes = windows(5, 83, 61)
    for name, kind in made.items():
        matrix, offset = affine(kind)
        read = dense(kind.read(seen[name], boxes))
        np.testing.assert_allclose(
            kind.project(seen[name], boxes, matrix, offset),
            read.astype(np.float64) @ matrix + offset,
            rtol=1e-5,
            atol=1e-5,
        )


def test_location_is_centre_and_sides(types):
    kind = types()["location"]
    seen = kind.describe(views.Views(Image(np.zeros((50, 200, 3), np.uint8))))
    read = kind.read(seen, np.array([[20.0, 10, 60, 40]]))
    np.testing.assert_allclose(read, [[0.2, 0.5, 0.2, 0.6]], rtol=1e-6)


def test_the_step_reaches_the_descriptors(picture, types):
    seen = views.Views(picture(40, 40))
    for step, side in ((2, 20), (5, 8)):
        made = types(registry.Settings(step=step, sift_words=40, surf_words=30))
        for name in NAMES[:4]:
            assert made[name].describe(seen).words.shape == (side, side)


def test_a_lacking_codebook_is_named(codebook):
    with pytest.raises(ValueError, match="sift_opponent"):
        registry.feature_types({"surf": codebook("surf", 64, 30)}, SMALL)
