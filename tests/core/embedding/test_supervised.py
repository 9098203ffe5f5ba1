import numpy as np
import pytest
from oracles import embedding as oracle

from belvedere.core.embedding import matrices, supervised
from belvedere.core.embedding.supervised import RidgeSettings

LAMBDAS = (1e-3, 1e-2, 1e-1, 1.0)
FOLDS = 5


def problem(images=30, per_image=6, length=20, seed=0):
    """Windows whose relations are linear in the features, plus noise."""
    slopes = np.random.default_rng(99).standard_normal((length, 3)) / np.sqrt(length)
    rng = np.random.default_rng(seed)
    n = images * per_image
    features = rng.standard_normal((n, length)).astype(np.float32)
    relations = (0.5 + 0.1 * (features @ slopes + rng.standard_normal((n, 3)))).T
    folds = np.repeat(np.arange(images) % FOLDS, per_image)
    return features, relations, folds


def learn(features, relations, folds, lambdas=LAMBDAS):
    settings = RidgeSettings(lambdas, tolerance=1e-6)
    gram = matrices.gram(features)
    return supervised.fit(features, gram, relations, folds, FOLDS, settings)


def out_of_fold(fitted, features, folds):
    values = np.empty((len(folds), 3))
    for f, fold_map in enumerate(fitted.fold_maps):
        values[folds == f] = fold_map.apply(features[folds == f])
    return values


def oracle_out_of_fold(features, targets, folds, strength):
    predictions = np.empty(len(folds))
    for f in range(FOLDS):
        seen = folds != f
        penalty = strength * seen.sum() * oracle.variance(features)
        predictions[~seen] = oracle.ridge(features, targets, seen, penalty)[~seen]
    return predictions


def test_maps_and_choice_of_lambda_are_those_of_the_oracle():
    features, relations, folds = problem()
    fitted = learn(features, relations, folds)
    values, full = out_of_fold(fitted, features, folds), fitted.map.apply(features)
    for r, targets in enumerate(relations):
        tried = [oracle_out_of_fold(features, targets, folds, s) for s in LAMBDAS]
        errors = [((t - targets) ** 2).mean() for t in tried]
        best = int(np.argmin(errors))
        assert fitted.lambdas[r] == LAMBDAS[best]
        assert fitted.explained[r] == pytest.approx(
            1 - errors[best] / targets.var(), abs=1e-3
        )
        mean, spread = tried[best].mean(), tried[best].std()
        np.testing.assert_allclose(
            values[:, r], (tried[best] - mean) / spread, atol=5e-3
        )
        penalty = LAMBDAS[best] * len(folds) * oracle.variance(features)
        all_seen = oracle.ridge(features, targets, folds >= 0, penalty)
        np.testing.assert_allclose(full[:, r], (all_seen - mean) / spread, atol=5e-3)


def test_a_folds_map_does_not_see_its_targets():
    features, relations, folds = problem()
    changed = relations.copy()
    changed[:, folds == 2] = np.random.default_rng(5).random((3, (folds == 2).sum()))
    gram = matrices.gram(features)
    settings = RidgeSettings(LAMBDAS)
    a = supervised._fits(gram, relations, folds, FOLDS, settings)
    b = supervised._fits(gram, changed, folds, FOLDS, settings)
    # other problems in the same product of matrices may change the last bits of a sum
    np.testing.assert_allclose(a.alpha[:, :, 2], b.alpha[:, :, 2], atol=1e-9)
    np.testing.assert_allclose(a.intercepts[:, 2], b.intercepts[:, 2], atol=1e-9)
    for f in (0, 1, 3, 4, 5):
        assert np.abs(a.alpha[:, :, f] - b.alpha[:, :, f]).max() > 1e-3


def test_a_folds_map_keeps_its_direction_when_its_targets_change():
    features, relations, folds = problem()
    changed = relations.copy()
    changed[:, folds == 2] = np.random.default_rng(5).random((3, (folds == 2).sum()))
    a = learn(features, relations, folds, (0.01,)).fold_maps[2].matrix
    b = learn(features, changed, folds, (0.01,)).fold_maps[2].matrix
    a, b = a / np.linalg.norm(a, axis=0), b / np.linalg.norm(b, axis=0)
    np.testing.assert_allclose(a, b, atol=1e-6)


def test_out_of_fold_values_promise_no_more_than_new_images_keep():
    features, relations, folds = problem(images=100, length=150)
    fresh, wanted, _ = problem(images=400, length=150, seed=1)
    fitted = learn(features, relations, folds)
    held_out = out_of_fold(fitted, features, folds)
    seen, new = fitted.map.apply(features), fitted.map.apply(fresh)
    for r in range(3):
        in_sample = np.corrcoef(seen[:, r], relations[r])[0, 1]
        promised = np.corrcoef(held_out[:, r], relations[r])[0, 1]
        kept = np.corrcoef(new[:, r], wanted[r])[0, 1]
        noise = 3 * (1 - kept**2) / np.sqrt(len(folds))  # of a correlation
        assert promised < kept + noise < in_sample
        assert abs(new[:, r].std() - 1) < 0.15


def test_out_of_fold_values_are_standard():
    features, relations, folds = problem()
    values = out_of_fold(learn(features, relations, folds), features, folds)
    np.testing.assert_allclose(values.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(values.std(axis=0), 1, atol=1e-4)


def test_scale_of_the_features_does_not_matter():
    features, relations, folds = problem()
    a = learn(features, relations, folds)
    b = learn(features * np.float32(64), relations, folds)
    np.testing.assert_array_equal(a.lambdas, b.lambdas)
    np.testing.assert_allclose(
        a.map.apply(features), b.map.apply(features * np.float32(64)), atol=1e-3
    )


def test_a_fold_without_windows_gets_the_full_fit():
    features, relations, folds = problem()
    fitted = learn(features, relations, np.minimum(folds, 3))
    np.testing.assert_allclose(
        fitted.fold_maps[4].apply(features), fitted.map.apply(features), atol=1e-5
    )


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_windows_and_equal_relations_give_zeros(value):
    features, relations, folds = problem()
    same = np.full_like(features, value)
    np.testing.assert_array_equal(learn(same, relations, folds).map.apply(same), 0)
    flat = learn(features, np.full_like(relations, 0.3), folds)
    np.testing.assert_array_equal(flat.map.apply(features), 0)


def test_one_fold_is_refused():
    features, relations, folds = problem()
    with pytest.raises(ValueError, match="one fold"):
        learn(features, relations, 0 * folds)
