"""A list of images with their classes: a CSV file with the columns `image,class`.

A list of boxes is also a list of its images; an image is then named once per box.
Paths are relative to the CSV file.
"""

import dataclasses
from collections.abc import Iterable, Iterator

from belvedere.core.formats import csv_rows
from belvedere.core.formats.faults import RowFault

COLUMNS = ("image", "class")


@dataclasses.dataclass(frozen=True)
class ListedImage:
    """An image as a list names it."""

    image: str
    label: str


def parse(lines: Iterable[str]) -> Iterator[ListedImage | RowFault]:
    """An image or a fault per row; ValueError if the header is not that of a list."""
    found = csv_rows.rows(lines, COLUMNS)
    return (_listed(row) for row in found)


def _listed(row: tuple[int, dict[str, str]] | RowFault) -> ListedImage | RowFault:
    if isinstance(row, RowFault):
        return row
    line, fields = row
    image, label = fields["image"], fields["class"]
    return csv_rows.name_fault(f"line {line}", image, label) or ListedImage(
        image, label
    )
