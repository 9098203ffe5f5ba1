import dataclasses
import subprocess
import sys

import numpy as np
import pytest

from belvedere.core.prediction import conditioning, kernel
from belvedere.core.prediction.conditioning import SparsePrior


@pytest.fixture
def gp():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 4))
    targets = np.abs(np.stack([np.sin(x[:, 0]), np.cos(x[:, 1]), np.tanh(x[:, 2])]))
    prior = SparsePrior(x[:12], np.full(4, 1.5), 0.4, 0.02, "variational")
    return conditioning.condition(prior, x, targets)


def test_one_deviation_serves_the_three_relations(gp):
    prediction = gp.predict(np.random.default_rng(1).normal(size=(9, 4)))
    assert prediction.mean.shape == (3, 9)
    assert prediction.std.shape == (9,)


def test_far_from_the_data_the_prior_returns(gp):
    prediction = gp.predict(np.full((2, 4), 1e3))
    np.testing.assert_array_equal(prediction.mean, 0)
    np.testing.assert_allclose(prediction.std, np.sqrt(0.4 + 0.02), rtol=1e-12)


def test_latent_leaves_out_the_noise(gp):
    x = np.random.default_rng(2).normal(size=(20, 4))
    observed, latent = gp.predict(x), gp.predict(x, latent=True)
    np.testing.assert_array_equal(observed.mean, latent.mean)
    np.testing.assert_allclose(observed.std**2 - latent.std**2, 0.02, rtol=1e-9)


def test_a_window_alone_is_predicted_as_in_a_batch(gp):
    x = np.random.default_rng(3).normal(size=(40, 4))
    batch = gp.predict(x)
    for i in range(0, len(x), 7):
        alone = gp.predict(x[i : i + 1])
        np.testing.assert_allclose(alone.mean[:, 0], batch.mean[:, i], atol=1e-12)
        np.testing.assert_allclose(alone.std[0], batch.std[i], atol=1e-12)


def test_no_windows_no_predictions(gp):
    prediction = gp.predict(np.empty((0, 4)))
    assert prediction.mean.shape == (3, 0) and prediction.std.shape == (0,)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_features_must_be_finite(gp, bad):
    x = np.zeros((5, 4))
    x[3, 2] = bad
    with pytest.raises(ValueError, match="features"):
        gp.predict(x)


def test_features_must_be_of_the_right_length(gp):
    with pytest.raises(ValueError, match="features"):
        gp.predict(np.zeros((5, 3)))


def test_similarity_is_that_of_the_learned_lengthscales(gp):
    x = np.random.default_rng(4).normal(size=(6, 4))
    expected = kernel.similarity(x, gp.lengthscales)
    np.testing.assert_array_equal(gp.similarity(x), expected)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"weights": np.full((3, 12), np.nan)}, "weights"),
        ({"whitener": np.full((12, 12), np.inf)}, "whitener"),
        ({"lengthscales": np.zeros(4)}, "lengthscales"),
        ({"noise_variance": 0.0}, "noise variance"),
    ],
)
def test_stored_arrays_are_checked(gp, change, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(gp, **change)


def test_prediction_does_not_load_torch():
    code = (
        "import sys; import belvedere.core.prediction.relation_gp, "
        "belvedere.core.prediction.fitting; "
        "sys.exit(any(m in sys.modules for m in ('torch', 'gpytorch', 'sklearn')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
