import numpy as np
import pytest
from oracles import embedding as oracle
from scipy import sparse

from belvedere.core.embedding import associative, exemplar_svms, matrices


def windows(count, length=40, seed=0):
    """Histograms that are mixtures of few prototypes, with noise."""
    rng = np.random.default_rng(seed)
    prototypes = np.random.default_rng(99).random((6, length)) ** 4
    x = rng.dirichlet(np.ones(6) / 2, count) @ prototypes
    x = np.sqrt(x * rng.random(x.shape)).astype(np.float32)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def learn(exemplars, negatives, probes, dimensions):
    allowed = np.ones((exemplars.shape[0], negatives.shape[0]), bool)
    svms = exemplar_svms.fit(
        matrices.gram(negatives),
        matrices.cross_gram(exemplars, negatives),
        np.diag(matrices.gram(exemplars)),
        allowed,
        exemplar_svms.SvmSettings(),
    )
    association = associative.responses(
        svms,
        matrices.cross_gram(probes, exemplars),
        matrices.cross_gram(probes, negatives),
    )
    fitted = associative.fit(exemplars, negatives, svms, association, dimensions)
    return svms, association, fitted


def test_responses_are_those_of_the_machines():
    exemplars, negatives, probes = windows(20), windows(90, seed=1), windows(30, seed=2)
    svms, association, _ = learn(exemplars, negatives, probes, 5)
    w = oracle.weights(svms, exemplars, negatives)
    np.testing.assert_allclose(association, probes @ w.T + svms.biases, atol=1e-6)


def test_embedding_is_that_of_the_steps_written_out():
    exemplars, negatives, probes = windows(40), windows(90, seed=1), windows(60, seed=2)
    svms, _, fitted = learn(exemplars, negatives, probes, 4)
    w = oracle.weights(svms, exemplars, negatives)
    embed, share = oracle.associative(w, svms.biases, probes, 4)
    fresh = windows(25, seed=3)
    wanted = np.array([embed(x) for x in fresh])
    ours = fitted.map.apply(fresh)
    signs = np.sign((ours * wanted).sum(axis=0))
    np.testing.assert_allclose(ours, wanted * signs, atol=2e-3)
    assert fitted.variance_share == pytest.approx(share, abs=1e-5)


def test_dimensions_are_standard_and_uncorrelated_over_the_probes():
    exemplars, negatives, probes = windows(40), windows(90, seed=1), windows(60, seed=2)
    _, _, fitted = learn(exemplars, negatives, probes, 5)
    z = fitted.map.apply(probes)
    np.testing.assert_allclose(z.mean(axis=0), 0, atol=1e-3)
    np.testing.assert_allclose(z.T @ z / len(z), np.eye(5), atol=1e-3)


def test_signs_are_fixed():
    standard = np.random.default_rng(0).standard_normal((50, 20))
    for flipped in (standard, -standard, standard[::-1]):
        directions, _, _ = associative._factorised(flipped, 6)
        largest = np.abs(directions).argmax(axis=0)
        assert (directions[largest, np.arange(6)] > 0).all()


def test_more_dimensions_keep_more_variance():
    exemplars, negatives, probes = windows(30), windows(90, seed=1), windows(60, seed=2)
    shares = [
        learn(exemplars, negatives, probes, k)[2].variance_share for k in (1, 3, 10, 30)
    ]
    assert 0 < shares[0] < shares[1] < shares[2] < shares[3] <= 1
    assert shares[3] == pytest.approx(1)


def test_sparse_and_dense_features_agree():
    dense = [windows(40), windows(90, seed=1), windows(60, seed=2)]
    dense = [x * (x > 0.15) for x in dense]
    thin = [sparse.csr_array(x) for x in dense]
    a, b = learn(*dense, 4)[2], learn(*thin, 4)[2]
    np.testing.assert_allclose(a.map.apply(dense[2]), b.map.apply(thin[2]), atol=1e-3)


def test_missing_dimensions_are_zero():
    exemplars, negatives = windows(4), windows(90, seed=1)
    _, _, fitted = learn(exemplars, negatives, exemplars, 10)
    z = fitted.map.apply(windows(9, seed=3))
    assert z.shape == (9, 10)
    assert (z[:, 4:] == 0).all()
    np.testing.assert_allclose(
        fitted.map.apply(exemplars)[:, :3].std(axis=0), 1, atol=1e-2
    )


def test_equal_windows_are_embedded_at_the_origin():
    same = np.ones((60, 7), np.float32)
    _, _, fitted = learn(same[:12], same, same[:12], 10)
    np.testing.assert_array_equal(fitted.map.apply(same), 0)
    assert fitted.variance_share == 1


def _without(left_out, exemplars, negatives, dimensions=4):
    svms, association, whole = learn(exemplars, negatives, exemplars, dimensions)
    return associative.fit_without(
        left_out, exemplars, negatives, svms, association, whole.map
    )


def test_exemplars_left_out_have_no_part_in_the_map():
    exemplars, negatives = windows(40), windows(90, seed=1)
    left_out = np.arange(40) % 5 == 2
    changed = np.where(left_out[:, None], windows(40, seed=7), exemplars)
    fresh = windows(25, seed=3)
    one, other = (
        _without(left_out, e, negatives).apply(fresh) for e in (exemplars, changed)
    )
    # the same space; only the rotation onto the factors of all may differ
    u, _, vt = np.linalg.svd(one.T @ other)
    np.testing.assert_allclose(one @ (u @ vt), other, atol=2e-3)


def test_a_map_without_some_exemplars_is_that_of_the_others_alone():
    exemplars, negatives = windows(40), windows(90, seed=1)
    left_out = np.arange(40) >= 30
    _, _, alone = learn(exemplars[:30], negatives, exemplars[:30], 4)
    fresh = windows(25, seed=3)
    ours, wanted = (
        m.apply(fresh) for m in (_without(left_out, exemplars, negatives), alone.map)
    )
    np.testing.assert_allclose(ours @ ours.T, wanted @ wanted.T, atol=5e-3)


def test_a_map_without_some_exemplars_keeps_the_coordinates_of_all():
    exemplars, negatives = windows(60), windows(90, seed=1)
    _, _, whole = learn(exemplars, negatives, exemplars, 3)
    part = _without(np.arange(60) % 6 == 0, exemplars, negatives, 3)
    fresh = windows(200, seed=3)
    for d in range(3):
        a, b = part.apply(fresh)[:, d], whole.map.apply(fresh)[:, d]
        assert np.corrcoef(a, b)[0, 1] > 0.9


def test_something_must_be_left_to_embed_by():
    exemplars, negatives = windows(10), windows(30, seed=1)
    with pytest.raises(ValueError, match="nothing"):
        _without(np.ones(10, bool), exemplars, negatives)
