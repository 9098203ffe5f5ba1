"""Small copies of pictures, for people to look at."""

import io

from PIL import Image as PillowImage

from belvedere.core.types import Image

_SIDE, _QUALITY = 480, 80


def jpeg(image: Image, side: int = _SIDE) -> bytes:
    """The picture as a JPEG of at most `side` pixels a side."""
    picture = PillowImage.fromarray(image.pixels)
    picture.thumbnail((side, side))
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=_QUALITY)
    return buffer.getvalue()
