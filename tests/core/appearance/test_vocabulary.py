import numpy as np
import pytest
import toys

from belvedere.core.appearance import vocabulary


@pytest.fixture(scope="module")
def samples():
    return [
        vocabulary.sample(scene.image, name, 30, toys.FEW_WORDS)
        for name, scene in list(toys.world().items())[:6]
    ]


def test_the_vocabulary_does_not_depend_on_the_order_of_pictures(samples):
    one = vocabulary.learn(samples, toys.FEW_WORDS)
    two = vocabulary.learn(samples[::-1], toys.FEW_WORDS)
    assert {n: b.id for n, b in one.items()} == {n: b.id for n, b in two.items()}


def test_a_picture_gives_the_same_descriptors_wherever_it_is_sampled(samples):
    name, scene = next(iter(toys.world().items()))
    again = vocabulary.sample(scene.image, name, 30, toys.FEW_WORDS)
    for kind, descriptors in again.items():
        np.testing.assert_array_equal(descriptors, samples[0][kind])
        assert len(descriptors) == 30


def test_no_pictures_is_an_error():
    with pytest.raises(ValueError, match="at least one picture"):
        vocabulary.learn([])
