"""A human box as it comes in, and its way into the upright frame of the picture.

Boxes are taken to be in the upright frame. Where the annotation states a size that fits
only the stored (unrotated) frame, the box is turned with the picture; where it fits
neither, the row is a fault. A row that allows to `rescale` may state a size that is the
picture's times one factor, to the pixel: the box is scaled by the ratio of the sizes.
"""

import dataclasses

import numpy as np
from jaxtyping import Float

from belvedere.core.formats import exif
from belvedere.core.formats.faults import RowCode, RowFault
from belvedere.core.formats.pictures import Header
from belvedere.core.windows import boxes


@dataclasses.dataclass(frozen=True)
class BoxRow:
    """A box on an image: (x0, y0, x1, y1), 0-based, half-open.

    Attributes:
      image: the name of the image as the source gives it.
      label: the class of the object.
      box: in pixels, finite and with an area; may still leave the picture.
      width: of the picture, as the source states it, or None.
      height: likewise.
      where: the line or object, for messages.
      zero_based: how many sides said 0 in a 1-based source and were read as 0-based.
      rescale: whether the picture may be a uniformly scaled copy.
    """

    image: str
    label: str
    box: tuple[float, float, float, float]
    width: int | None = None
    height: int | None = None
    where: str = ""
    zero_based: int = 0
    rescale: bool = False

    def fault(self, code: RowCode, message: str) -> RowFault:
        return RowFault(self.where, code, message, self.image, self.label)


def checked(row: BoxRow) -> BoxRow | RowFault:
    """The row, or what is wrong with it whatever picture it belongs to."""
    if not np.isfinite(row.box).all():
        said = f"box {row.box} holds NaN or infinite values"
        return row.fault(RowCode.BAD_NUMBER, said)
    x0, y0, x1, y1 = row.box
    if x0 >= x1 or y0 >= y1:
        said = f"box {row.box} has no area or swapped corners"
        return row.fault(RowCode.BAD_BOX, said)
    return row


def upright(row: BoxRow, picture: Header) -> Float[np.ndarray, "4"] | RowFault:
    """The box of `row` in the upright frame of `picture`, or a fault.

    Args:
      row: a checked row.
      picture: the header of its picture.
    """
    stored = (picture.width, picture.height)
    turn = picture.exif_orientation
    size = exif.upright_size(*stored, turn)
    box = np.array(row.box, np.float64)
    frame = _frame(row, size, stored)
    if frame is None:
        said = f"for {row.width} x {row.height} pixels, the picture is "
        return row.fault(RowCode.FRAME_MISMATCH, said + _say(size, stored))
    if row.width and row.height:
        box = box * np.tile(frame, 2) / np.tile((row.width, row.height), 2)
    if frame != size:
        box = exif.turned(box, *stored, turn)
    try:
        return boxes.checked(box[None], *size)[0]
    except ValueError as error:
        return row.fault(RowCode.BOX_OUTSIDE, str(error))


def _frame(
    row: BoxRow, size: tuple[int, int], stored: tuple[int, int]
) -> tuple[int, int] | None:
    """The frame the stated size belongs to: upright first, exact before scaled."""
    if not (row.width and row.height):
        return size
    stated = (row.width, row.height)
    for frame in (size, stored):
        if frame == stated:
            return frame
    for frame in (size, stored):
        if row.rescale and _is_scaled(stated, frame):
            return frame
    return None


def _is_scaled(stated: tuple[int, int], frame: tuple[int, int]) -> bool:
    """Whether one is the other times a factor, each side rounded up or down.

    |W - s w| <= 1 and |H - s h| <= 1 give |h W - w H| <= h + w.
    """
    (w, h), (wide, high) = stated, frame
    return abs(h * wide - w * high) <= max(w + h, wide + high)


def _say(size: tuple[int, int], stored: tuple[int, int]) -> str:
    text = f"{size[0]} x {size[1]}"
    return text if size == stored else f"{text} ({stored[0]} x {stored[1]} as stored)"
