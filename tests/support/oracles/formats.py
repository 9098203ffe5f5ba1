"""Pictures and archives the slow way: pixel by pixel, and by the standard library."""

import io
import tarfile

import numpy as np


def on_white(rgba: np.ndarray) -> np.ndarray:
    """Each channel (c a + 255 (255 - a)) / 255, rounded."""
    out = np.empty((*rgba.shape[:2], 3), np.uint8)
    for y, x in np.ndindex(rgba.shape[:2]):
        *channels, alpha = (int(v) for v in rgba[y, x])
        out[y, x] = [round((c * alpha + 255 * (255 - alpha)) / 255) for c in channels]
    return out


def from_cmyk(cmyk: np.ndarray) -> np.ndarray:
    """(255 - c)(255 - k) / 255, unrounded."""
    inks = 255.0 - cmyk.astype(float)
    return inks[..., :3] * inks[..., 3:] / 255


def turned(pixels: np.ndarray, orientation: int) -> np.ndarray:
    """Stored pixels made upright, by the words of the EXIF standard.

    The standard says where row 0 and column 0 of the stored picture are seen.
    """
    top_first = orientation in (1, 2, 5, 6)
    left_first = orientation in (1, 4, 5, 8)
    if orientation < 5:  # row 0 is seen at the top or bottom, column 0 left or right
        out = pixels if top_first else pixels[::-1]
        return out if left_first else out[:, ::-1]
    # row 0 is seen at the left (5, 8) or right, column 0 at the top (5, 6) or bottom
    out = np.swapaxes(pixels, 0, 1)
    out = out if left_first else out[:, ::-1]
    return out if top_first else out[::-1]


def bounds(mask: np.ndarray) -> list[int]:
    """The half-open box around what is set."""
    ys, xs = np.nonzero(mask)
    return [xs.min(), ys.min(), xs.max() + 1, ys.max() + 1]


def tar_files(data: bytes) -> list[tuple[str, bytes]]:
    """Name and content of the plain files of an archive."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return [
            (member.name.removeprefix("./"), archive.extractfile(member).read())
            for member in archive
            if member.isreg()
        ]
