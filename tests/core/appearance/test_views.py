import numpy as np
import pytest
from oracles import appearance as oracle

from belvedere.core.appearance import views


@pytest.mark.parametrize("shape", [(40, 53), (1, 1), (1, 30), (3, 2)])
@pytest.mark.parametrize("sigma", [0.0, 1.2])
def test_planes_are_reflected_and_smoothed(picture, shape, sigma):
    image = picture(*shape)
    seen = views.Views(image)
    for channel, name in enumerate(views.RGB):
        wanted = oracle.smoothed(image.pixels[:, :, channel], views.MARGIN, sigma)
        np.testing.assert_allclose(seen.plane(name, sigma), wanted, atol=2e-3)


def test_mixtures_mix_the_smooth_planes(picture):
    seen = views.Views(picture(20, 30))
    red, green, blue = (seen.plane(name, 1.2) for name in views.RGB)
    np.testing.assert_allclose(
        seen.plane("intensity", 1.2), (red + green + blue) / 3, atol=1e-3
    )
    np.testing.assert_allclose(
        seen.plane("opponent1", 1.2), (red - green) / np.sqrt(2), atol=1e-3
    )
    np.testing.assert_allclose(
        seen.plane("opponent2", 1.2), (red + green - 2 * blue) / np.sqrt(6), atol=1e-3
    )


def test_what_is_shared_is_made_once(picture):
    seen = views.Views(picture(10, 10))
    assert seen.plane("intensity", 1.2) is seen.plane("intensity", 1.2)
    assert seen.plane("intensity", 1.2) is not seen.plane("intensity", 0.0)
    made = [seen.once("key", object) for _ in range(2)]
    assert made[0] is made[1]


def test_an_unknown_plane_is_refused(picture):
    with pytest.raises(ValueError, match="mauve"):
        views.Views(picture(5, 5)).plane("mauve", 0.0)
