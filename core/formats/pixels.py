"""Decoded pixels of any kind as an upright RGB array: the rules of `pictures`."""

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageChops

DEEP = ("I;16", "I;16B")
WITH_ALPHA = ("LA", "PA", "RGBA")
ALLOWED = ("1", "L", "P", "RGB", "RGBX", "YCbCr", "CMYK", *DEEP, *WITH_ALPHA)

_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_STRIP = 1 << 21  # pixels that are copied at a time


def rgb(picture: Image.Image, kind: str) -> Image.Image:
    """A decoded picture of an allowed mode as RGB; `kind` is its format."""
    mode = picture.mode
    if mode in WITH_ALPHA or "transparency" in picture.info:
        return _on_white(picture.convert("RGBA"))
    if mode in DEEP:
        grey = (np.asarray(picture) >> 8).astype(np.uint8)
        return Image.fromarray(grey).convert("RGB")
    if mode == "CMYK" and kind == "JPEG" and "adobe" not in picture.info:
        return ImageChops.invert(picture).convert("RGB")
    return picture.convert("RGB")


def _on_white(picture: Image.Image) -> Image.Image:
    canvas = Image.new("RGB", picture.size, "white")
    canvas.paste(picture, (0, 0), picture)
    return canvas


def upright(picture: Image.Image, orientation: int) -> Image.Image:
    """Turned as its EXIF orientation says."""
    turn = _TURNS.get(orientation)
    return picture if turn is None else picture.transpose(turn)


def array(picture: Image.Image) -> UInt8[np.ndarray, "H W 3"]:
    """Copies strip by strip: a picture in one go costs three times its memory."""
    width, height = picture.size
    pixels = np.empty((height, width, 3), np.uint8)
    rows = max(1, _STRIP // width)
    for top in range(0, height, rows):
        bottom = min(top + rows, height)
        pixels[top:bottom] = np.asarray(picture.crop((0, top, width, bottom)))
    return pixels
