import contexts
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import context as oracle

from belvedere.core.context import hyperfeatures
from belvedere.core.context.hyperfeatures import Consistency
from belvedere.core.types import HYPERFEATURES, Context


@pytest.mark.parametrize("kind", contexts.KERNELS)
@pytest.mark.parametrize("n", [1, 2, 3, 17, 40])
def test_equal_the_definition(n, kind):
    image = contexts.context(np.random.default_rng(n), n, kind)
    expected = [oracle.hyperfeatures(image, l) for l in range(n)]
    np.testing.assert_allclose(hyperfeatures.of_all(image), expected, atol=1e-12)


def test_mean_consistency_equals_the_definition():
    image = contexts.context(np.random.default_rng(5), 20)
    got = hyperfeatures.of_all(image, Consistency.MEAN)
    expected = [oracle.hyperfeatures(image, l, True) for l in range(20)]
    np.testing.assert_allclose(got, expected, atol=1e-12)


def test_a_window_alone_has_the_bits_it_has_among_all():
    image = contexts.context(np.random.default_rng(1), 130)
    together = hyperfeatures.of_all(image)
    for l in (0, 64, 129):
        np.testing.assert_array_equal(
            hyperfeatures.of_window(image, l), together[l], strict=True
        )


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 30))
def test_permuting_windows_permutes_hyperfeatures(seed, n):
    rng = np.random.default_rng(seed)
    image = contexts.context(rng, n)
    order = rng.permutation(n)
    shuffled = Context(
        image.boxes[order],
        np.ascontiguousarray(image.kernel[np.ix_(order, order)]),
        np.ascontiguousarray(image.mean[:, order]),
        image.std[order],
    )
    np.testing.assert_allclose(
        hyperfeatures.of_all(shuffled),
        hyperfeatures.of_all(image)[order],
        atol=1e-12,
    )


def test_a_single_window_has_no_global_term():
    image = contexts.context(np.random.default_rng(2), 1)
    phi = hyperfeatures.of_window(image, 0)
    assert (phi[:6] == 0).all()
    assert len(phi) == len(HYPERFEATURES)


def test_the_window_must_exist():
    image = contexts.context(np.random.default_rng(2), 3)
    with pytest.raises(ValueError, match="window 3 is not one of 3"):
        hyperfeatures.of_window(image, 3)


@pytest.mark.parametrize("fault", [np.nan, np.inf])
@pytest.mark.parametrize("field", ["kernel", "mean", "std", "boxes"])
def test_a_context_with_nan_or_infinity_is_refused(field, fault):
    image = contexts.context(np.random.default_rng(3), 4)
    values = {k: getattr(image, k).copy() for k in ("boxes", "kernel", "mean", "std")}
    values[field].flat[1] = fault
    with pytest.raises(ValueError, match=field):
        Context(**values)


def test_no_windows_is_an_error():
    with pytest.raises(ValueError, match="without windows"):
        Context(
            np.zeros((0, 4)),
            np.zeros((0, 0), np.float32),
            np.zeros((3, 0)),
            np.zeros(0),
        )
