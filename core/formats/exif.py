"""The orientation of a camera picture, and what it does to points and boxes.

EXIF orientation says how the stored pixels must be turned to stand upright:
1 not at all, 2 mirrored, 3 by 180 degrees, 4 upside-down mirrored, 5 transposed,
6 by 90 degrees clockwise, 7 transversed, 8 by 90 degrees counter-clockwise.
Only the tag in the first directory counts, as in browsers; XMP is not asked.
"""

import struct

import numpy as np
from jaxtyping import Float

_ORIENTATION = 0x0112
_SHORT = 3


def orientation(exif: bytes) -> int | None:
    """1..8 from the content of an EXIF segment, 1 if it has none, None if corrupt."""
    tiff = exif.removeprefix(b"Exif\0\0")
    if not tiff:
        return 1
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if order is None:
        return None
    try:
        magic, directory = struct.unpack_from(f"{order}HI", tiff, 2)
        (entries,) = struct.unpack_from(f"{order}H", tiff, directory)
        return _find(tiff, order, directory + 2, entries) if magic == 42 else None
    except struct.error:
        return None


def _find(tiff: bytes, order: str, start: int, entries: int) -> int | None:
    for entry in range(start, start + 12 * entries, 12):
        tag, kind, count, value = struct.unpack_from(f"{order}HHIH", tiff, entry)
        if tag == _ORIENTATION:
            valid = kind == _SHORT and count == 1 and 1 <= value <= 8
            return value if valid else None
    return 1


def upright_size(width: int, height: int, orientation: int) -> tuple[int, int]:
    """Width and height after turning a stored picture upright."""
    return (height, width) if orientation >= 5 else (width, height)


def turned(
    box: Float[np.ndarray, "4"], width: int, height: int, orientation: int
) -> Float[np.ndarray, "4"]:
    """A box of the stored `width` x `height` picture, in the upright one."""
    x = box[[0, 2]]
    y = box[[1, 3]]
    if orientation in (2, 3, 7, 8):
        x = (width - x)[::-1]
    if orientation in (3, 4, 6, 7):
        y = (height - y)[::-1]
    if orientation >= 5:
        x, y = y, x
    return np.array([x[0], y[0], x[1], y[1]])
