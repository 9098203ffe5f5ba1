import dataclasses

import numpy as np
import pytest
from scipy import sparse

from belvedere.core.embedding import presets, sampling
from belvedere.core.embedding.presets import EmbeddingSettings, TrainingWindows

SETTINGS = EmbeddingSettings()
KINDS = ("paper", "classic")


def problem(images=12, per_image=15, negatives=80, length=300, seed=0):
    """Sparse histograms: the more object words, the more overlap."""
    rng = np.random.default_rng(seed)
    n = images * per_image
    overlap = rng.random(n)
    image = np.repeat(np.arange(images), per_image)
    features = _histograms(overlap, length, rng)
    rest = _histograms(np.zeros(negatives), length, rng)
    relations = np.stack([overlap, np.sqrt(overlap), overlap**2])
    windows = TrainingWindows(
        relations=relations,
        images=image,
        folds=sampling.balanced_folds([f"image {i}" for i in image]),
        exemplars=np.arange(0, n, 3),
        negative_images=rng.integers(0, images, negatives),
    )
    return features, rest, windows


def _histograms(overlap, length, rng):
    words = rng.random((len(overlap), length)) < 0.07
    words[:, :40] = rng.random((len(overlap), 40)) < 0.05 + 0.5 * overlap[:, None]
    values = np.sqrt(words * rng.random(words.shape)).astype(np.float32)
    values /= np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-6)
    return sparse.csr_array(values)


@pytest.mark.parametrize("kind", KINDS)
def test_one_interface(kind):
    features, negatives, windows = problem()
    fitted = presets.fit_embedding(kind, features, negatives, windows, SETTINGS)
    assert len(fitted.fold_maps) == 5
    for mapping in (fitted.map, *fitted.fold_maps):
        assert mapping.matrix.shape == (300, 10)
        assert mapping.matrix.dtype == np.float32
    assert 0 < fitted.diagnostics["variance_share"] < 1
    assert 0 < fitted.diagnostics["support_at_bound"] <= 1
    assert 0 <= fitted.diagnostics["worst_duality_gap"] < 1e-3
    assert all(np.isfinite(v) for v in fitted.diagnostics.values())


@pytest.mark.parametrize("kind", KINDS)
def test_the_map_of_a_fold_knows_nothing_of_its_windows(kind):
    """But for the coordinates and the lambdas, which are chosen on all windows."""
    features, negatives, windows = problem()
    own = windows.folds == 3
    changed = features.toarray()
    changed[own] = changed[own][:, ::-1]
    only = dataclasses.replace(
        SETTINGS, ridge=dataclasses.replace(SETTINGS.ridge, lambdas=(1e-3,))
    )
    spaces = []
    for some in (features, sparse.csr_array(changed)):
        fitted = presets.fit_embedding(kind, some, negatives, windows, only)
        matrix = fitted.fold_maps[3].matrix.astype(float)
        spaces.append(np.linalg.qr(matrix - matrix.mean(axis=0))[0])
    cosines = np.linalg.svd(spaces[0].T @ spaces[1])[1]
    assert cosines.min() > 1 - 1e-4


def test_classic_replaces_the_last_three_dimensions():
    features, negatives, windows = problem()
    paper = presets.fit_embedding("paper", features, negatives, windows, SETTINGS)
    classic = presets.fit_embedding("classic", features, negatives, windows, SETTINGS)
    np.testing.assert_allclose(
        classic.map.matrix[:, :7], paper.map.matrix[:, :7], atol=1e-4
    )
    for fold_map in classic.fold_maps:
        assert np.abs(fold_map.matrix[:, :7] - classic.map.matrix[:, :7]).max() > 1e-3
        assert np.abs(fold_map.matrix[:, 7:] - classic.map.matrix[:, 7:]).max() > 1e-2
    fresh, _, truth = problem(seed=1)
    predicted = classic.map.apply(fresh)[:, 7:]
    for r in range(3):
        assert np.corrcoef(predicted[:, r], truth.relations[r])[0, 1] > 0.5
    assert 0 < classic.diagnostics["explained_overlap"] < 1
    assert classic.diagnostics["lambda_part"] in SETTINGS.ridge.lambdas


@pytest.mark.parametrize("kind", KINDS)
def test_same_inputs_same_bytes(kind):
    features, negatives, windows = problem()
    a = presets.fit_embedding(kind, features, negatives, windows, SETTINGS)
    b = presets.fit_embedding(kind, features, negatives, windows, SETTINGS)
    for one, other in zip((a.map, *a.fold_maps), (b.map, *b.fold_maps), strict=True):
        assert one.matrix.tobytes() == other.matrix.tobytes()
        assert one.offset.tobytes() == other.offset.tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_and_dense_features_agree(kind):
    features, negatives, windows = problem()
    thin = presets.fit_embedding(kind, features, negatives, windows, SETTINGS)
    dense = presets.fit_embedding(
        kind, features.toarray(), negatives.toarray(), windows, SETTINGS
    )
    np.testing.assert_allclose(
        thin.map.apply(features), dense.map.apply(features.toarray()), atol=2e-3
    )


def test_negatives_of_the_own_image_are_not_allowed():
    _, _, windows = problem()
    for e, exemplar in enumerate(windows.exemplars):
        for m, image in enumerate(windows.negative_images):
            assert windows.allowed[e, m] == (windows.images[exemplar] != image)


def test_a_class_of_two_images_is_embedded():
    features, negatives, windows = problem(images=2, per_image=2)
    apart = dataclasses.replace(windows, negative_images=np.full(80, -1))
    fitted = presets.fit_embedding("classic", features, negatives, apart, SETTINGS)
    assert np.isfinite(fitted.map.apply(features)).all()


def test_inputs_that_do_not_fit_are_refused():
    features, negatives, windows = problem()
    with pytest.raises(ValueError, match="179 windows and 80"):
        presets.fit_embedding("paper", features[1:], negatives, windows, SETTINGS)
    with pytest.raises(ValueError, match="length 299, wanted 300"):
        presets.fit_embedding("paper", features, negatives[:, 1:], windows, SETTINGS)
    with pytest.raises(ValueError, match="fold is not one of 0 to 3"):
        presets.fit_embedding(
            "paper", features, negatives, windows, EmbeddingSettings(folds=4)
        )
    with pytest.raises(ValueError, match="different folds"):
        dataclasses.replace(windows, folds=np.arange(180) % 5)
    with pytest.raises(ValueError, match="exemplars and negatives"):
        dataclasses.replace(windows, exemplars=windows.exemplars[:0])
    with pytest.raises(ValueError, match="3 dimensions"):
        presets.fit_embedding(
            "classic", features, negatives, windows, EmbeddingSettings(dimensions=3)
        )
