"""Pictures side by side with their boxes drawn in, for looking at results."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, UInt8
from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont

from belvedere.core.types import Image

_PAPER, _INK = (250, 250, 247), (30, 30, 30)
_CAPTION = 18  # pixels below each picture
_LEGEND = 26  # pixels above all

Colour = tuple[int, int, int]


@dataclasses.dataclass(frozen=True, eq=False)
class Tile:
    """A picture, boxes by the name of their method, and a line of text below."""

    image: Image
    boxes: Mapping[str, Float[np.ndarray, "_ 4"]]
    caption: str


def draw(
    tiles: Sequence[Tile],
    colours: Mapping[str, Colour],
    columns: int = 6,
    side: int = 220,
) -> UInt8[np.ndarray, "H W 3"]:
    """A sheet of tiles, `columns` in a row, with a legend of the colours on top.

    Args:
      tiles: row by row.
      colours: of each method; boxes are drawn in this order, later ones on top.
      columns: tiles in a row.
      side: of a tile in pixels; pictures keep their shape.
    """
    if not tiles:
        raise ValueError("a contact sheet needs at least one picture")
    rows = -(-len(tiles) // columns)
    size = (columns * side, _LEGEND + rows * (side + _CAPTION))
    sheet = PillowImage.new("RGB", size, _PAPER)
    _legend(ImageDraw.Draw(sheet), colours)
    for number, tile in enumerate(tiles):
        row, column = divmod(number, columns)
        place = (column * side, _LEGEND + row * (side + _CAPTION))
        sheet.paste(_tile(tile, colours, side), place)
    return np.asarray(sheet)


def _legend(pen: ImageDraw.ImageDraw, colours: Mapping[str, Colour]) -> None:
    x = 8
    for name, colour in colours.items():
        pen.rectangle((x, 8, x + 14, 18), fill=colour, outline=_INK)
        pen.text((x + 20, 7), name, fill=_INK, font=ImageFont.load_default())
        x += 34 + 7 * len(name)


def _tile(tile: Tile, colours: Mapping[str, Colour], side: int) -> PillowImage.Image:
    factor = min((side - 8) / tile.image.width, (side - 8) / tile.image.height)
    size = (
        max(1, round(tile.image.width * factor)),
        max(1, round(tile.image.height * factor)),
    )
    picture = PillowImage.fromarray(tile.image.pixels).resize(size)
    pen = ImageDraw.Draw(picture)
    for name, colour in colours.items():
        for box in tile.boxes.get(name, np.zeros((0, 4))):
            x0, y0, x1, y1 = (box * factor).tolist()
            corner = (max(x1 - 1, x0), max(y1 - 1, y0))
            pen.rectangle((x0, y0, *corner), outline=colour, width=2)
    result = PillowImage.new("RGB", (side, side + _CAPTION), _PAPER)
    result.paste(picture, ((side - size[0]) // 2, (side - size[1]) // 2))
    text = ImageDraw.Draw(result)
    text.text((6, side), tile.caption, fill=_INK, font=ImageFont.load_default())
    return result
