import io

import numpy as np
from PIL import Image as PillowImage

from belvedere.core.formats import thumbnails
from belvedere.core.types import Image


def test_a_small_copy_keeps_shape_and_colour():
    pixels = np.zeros((300, 900, 3), np.uint8)
    pixels[:, :450] = (200, 30, 30)
    copy = PillowImage.open(io.BytesIO(thumbnails.jpeg(Image(pixels), 90)))
    assert (copy.format, copy.size) == ("JPEG", (90, 30))
    assert np.abs(np.array(copy.getpixel((10, 15)), int) - (200, 30, 30)).max() < 20


def test_a_picture_is_never_made_larger():
    pixels = np.zeros((5, 7, 3), np.uint8)
    assert PillowImage.open(io.BytesIO(thumbnails.jpeg(Image(pixels)))).size == (7, 5)
