import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from oracles import context as oracle

from belvedere.core.windows import relations

_CLOSE = {"rtol": 1e-12, "atol": 1e-15}


@given(a=strategies.boxes(), b=strategies.boxes())
def test_equal_the_definition(a, b):
    expected = np.array([[oracle.relation(w, v) for v in b] for w in a])
    np.testing.assert_allclose(
        relations.pairwise(a, b), expected.transpose(2, 0, 1), **_CLOSE
    )


@given(a=strategies.boxes(), b=strategies.boxes())
def test_lie_between_nothing_and_all(a, b):
    rho = relations.pairwise(a, b)
    assert (rho >= 0).all()
    assert (rho <= 1).all()
    assert (rho[0] <= np.minimum(rho[1], rho[2]) + 1e-15).all()


@given(a=strategies.boxes(), b=strategies.boxes())
def test_part_of_one_is_container_of_the_other(a, b):
    there, back = relations.pairwise(a, b), relations.pairwise(b, a)
    np.testing.assert_allclose(there[0], back[0].T, **_CLOSE)
    np.testing.assert_allclose(there[1], back[2].T, **_CLOSE)


@given(a=strategies.boxes())
def test_a_window_is_all_of_itself(a):
    rho = relations.pairwise(a, a)
    np.testing.assert_array_equal(np.diagonal(rho, axis1=1, axis2=2), 1)


@given(
    a=strategies.boxes(),
    b=strategies.boxes(),
    shift=st.tuples(st.integers(-500, 500), st.integers(-500, 500)),
    scale=st.sampled_from([0.25, 0.5, 2.0, 3.0]),
)
def test_shift_scale_and_mirror_change_nothing(a, b, shift, scale):
    def moved(boxes):
        return boxes * scale + np.array([*shift, *shift])

    def mirrored(boxes):
        return np.stack([-boxes[:, 2], boxes[:, 1], -boxes[:, 0], boxes[:, 3]], axis=1)

    rho = relations.pairwise(a, b)
    np.testing.assert_allclose(relations.pairwise(moved(a), moved(b)), rho, **_CLOSE)
    np.testing.assert_allclose(
        relations.pairwise(mirrored(a), mirrored(b)), rho, **_CLOSE
    )


def test_targets_are_relations_to_the_box_overlapped_most():
    truth = np.array([[0.0, 0, 10, 10], [100, 100, 110, 120]])
    windows = np.array([[0.0, 0, 10, 5], [100, 100, 110, 110], [50, 50, 60, 60]])
    got = relations.to_object(windows, truth)
    np.testing.assert_allclose(got, [[0.5, 0.5, 0], [1, 1, 0], [0.5, 0.5, 0]])


def test_targets_need_a_true_box():
    with pytest.raises(ValueError, match="without a true box"):
        relations.to_object(np.array([[0.0, 0, 1, 1]]), np.zeros((0, 4)))
