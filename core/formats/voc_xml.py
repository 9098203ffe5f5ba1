"""Boxes as the XML of VOC and ImageNet: one file per image, several objects.

Corners are 1-based and inclusive; (xmin - 1, ymin - 1, xmax, ymax) is the half-open
box. A file that says 0 (or less than 1) for a low corner is read as 0-based on that
side, and these sides are counted. Only the objects' own boxes count, not their parts'.

The image is what `filename` says, or the name of the XML file where that is missing or
the "%s" that some ImageNet files hold. A document type or entities are refused before
the parser sees them: an annotation needs neither, and they can swell without bound.
"""

from collections.abc import Iterator
from xml.etree import ElementTree

from belvedere.core.formats import box_csv, box_rows, csv_rows, names
from belvedere.core.formats.box_rows import BoxRow
from belvedere.core.formats.faults import RowCode, RowFault

MAX_BYTES = 4_000_000
_CORNERS = ("xmin", "ymin", "xmax", "ymax")


def parse(data: bytes, name: str) -> Iterator[BoxRow | RowFault]:
    """A box or a fault per object; one fault for a file that cannot be read.

    Args:
      data: the content of the file.
      name: of the file, for images that are not named inside.
    """
    tree = _tree(data)
    if isinstance(tree, RowFault):
        yield tree
        return
    image = _text(tree, "filename")
    if not image or image == "%s":
        image = names.stem(name)
    for index, element in enumerate(tree.findall("object"), start=1):
        yield _box(tree, element, image, f"object {index}")


def _tree(data: bytes) -> ElementTree.Element | RowFault:
    if len(data) > MAX_BYTES:
        said = f"{len(data)} bytes, at most {MAX_BYTES} are allowed"
        return RowFault("file", RowCode.XML_TOO_LARGE, said)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return RowFault("file", RowCode.BAD_ENCODING, f"not UTF-8: {error}")
    folded = text.upper()
    if "<!DOCTYPE" in folded or "<!ENTITY" in folded:
        said = "a document type or entities"
        return RowFault("file", RowCode.XML_ENTITIES, said)
    try:
        tree = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        return RowFault("file", RowCode.XML_MALFORMED, str(error))
    if tree.tag != "annotation":
        said = f"the root is {names.printable(tree.tag)}, wanted annotation"
        return RowFault("file", RowCode.XML_MALFORMED, said)
    return tree


def _box(
    tree: ElementTree.Element, element: ElementTree.Element, image: str, where: str
) -> BoxRow | RowFault:
    label = _text(element, "name")
    if fault := csv_rows.name_fault(where, image, label):
        return fault
    try:
        corners = [box_csv.number(_text(element, f"bndbox/{c}")) for c in _CORNERS]
        size = (_text(tree, f"size/{side}") for side in box_csv.SIZES)
        width, height = box_csv.stated_size(*size)
    except ValueError as error:
        return RowFault(where, RowCode.BAD_NUMBER, str(error), image, label)
    xmin, ymin, xmax, ymax = corners
    box = (_from_zero(xmin), _from_zero(ymin), xmax, ymax)
    zero_based = (xmin < 1) + (ymin < 1)
    row = BoxRow(image, label, box, width, height, where, zero_based)
    return box_rows.checked(row)


def _from_zero(corner: float) -> float:
    return corner if corner < 1 else corner - 1


def _text(element: ElementTree.Element, path: str) -> str:
    return (element.findtext(path) or "").strip()
