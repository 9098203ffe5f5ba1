"""Boxes as CSV: `image,class,xmin,ymin,xmax,ymax[,width,height,...]`.

Half-open pixels, 0-based; paths are relative to the CSV file. `width` and `height` of
the picture are optional, also row by row; they decide the frame (`box_rows`).
"""

from collections.abc import Iterable, Iterator

from belvedere.core.formats import box_rows, csv_rows, names
from belvedere.core.formats.box_rows import BoxRow
from belvedere.core.formats.faults import RowCode, RowFault

CORNERS = ("xmin", "ymin", "xmax", "ymax")
SIZES = ("width", "height")
COLUMNS = ("image", "class", *CORNERS)


def parse(lines: Iterable[str]) -> Iterator[BoxRow | RowFault]:
    """A box or a fault per row; ValueError if the header is not that of boxes.

    >>> list(parse(["image,class,xmin,ymin,xmax,ymax", "a.jpg,cat,1,2,3,4"]))[0].box
    (1.0, 2.0, 3.0, 4.0)
    """
    found = csv_rows.rows(lines, COLUMNS, SIZES)
    return (row if isinstance(row, RowFault) else _box(*row) for row in found)


def _box(line: int, fields: dict[str, str]) -> BoxRow | RowFault:
    where, image, label = f"line {line}", fields["image"], fields["class"]
    if fault := csv_rows.name_fault(where, image, label):
        return fault
    try:
        x0, y0, x1, y1 = (number(fields[name]) for name in CORNERS)
        width, height = stated_size(fields.get("width"), fields.get("height"))
    except ValueError as error:
        return RowFault(where, RowCode.BAD_NUMBER, str(error), image, label)
    row = BoxRow(image, label, (x0, y0, x1, y1), width, height, where)
    return box_rows.checked(row)


def number(text: str) -> float:
    """A plain decimal number; ValueError for anything else, NaN comes later.

    >>> number("12.5")
    12.5
    """
    try:
        if not text.isascii() or "_" in text:
            raise ValueError
        return float(text)
    except ValueError:
        said = names.printable(text)
        raise ValueError(f"{said} is not a number") from None


def stated_size(width: str | None, height: str | None) -> tuple[int | None, int | None]:
    """Size of the picture; nothing or 0, as some tools write, is "not stated"."""
    pair = [number(text or "0") for text in (width, height)]
    if not all(value.is_integer() and value >= 0 for value in pair):
        raise ValueError(f"size {width} x {height} is not one of a picture")
    wide, high = (int(value) for value in pair)
    if bool(wide) != bool(high):
        raise ValueError(f"size {width} x {height} is only half stated")
    return (wide, high) if wide else (None, None)
