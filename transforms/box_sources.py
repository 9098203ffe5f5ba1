"""Where human boxes come from, and which image each belongs to.

A CSV file, a folder of XML files (or of folders of them), or a tar of XML files. A box
finds its image by a key of two strings, the class and a name:

- CSV: the image's address, relative paths taken from the folder of the CSV file.
- XML: the image's file name without extension, since neither VOC nor ImageNet says
  where the picture is. Where two images of a class have that name, the box is nobody's:
  whoever joins must make that a fault.
"""

from collections.abc import Iterator
from typing import NamedTuple

from belvedere.core.formats import box_csv, csv_rows, names, voc_xml
from belvedere.core.formats.box_rows import BoxRow
from belvedere.core.formats.faults import RowFault
from belvedere.transforms import input_files, inputs
from belvedere.transforms.inputs import ImageRef, InputError, InputFault
from belvedere.transforms.sources import Source
from belvedere.transforms.tars import Archive

FORMATS = ("csv", "voc")
Key = tuple[str, str]


class BoxPartition(NamedTuple):
    """A part of a source of boxes: kind "csv", "folder" or "tar" (of XML files)."""

    kind: str
    uri: str


def image_key(image: ImageRef, source_format: str) -> Key:
    """What the boxes of an image go by, for boxes of this format."""
    by_address = source_format == "csv"
    return image.label, image.uri if by_address else names.stem(image.uri)


def detect(uri: str, forced: str | None = None) -> Source:
    """Looks at a source of boxes; ValueError, fit for a user, if it is none."""
    if forced is not None and forced not in FORMATS:
        raise ValueError(f"{forced!r} is no format of boxes, wanted one of {FORMATS}")
    uri = input_files.normal(uri)
    try:
        found = forced or _format(uri)
        if found == "csv":
            _check_header(uri)
    except InputError as error:
        raise ValueError(f"{uri} cannot be read: {error.message}") from error
    return Source(found, uri)


def _format(uri: str) -> str:
    if not input_files.is_file(uri):
        return "voc"
    with input_files.open_read(uri) as file:
        head = file.read(1 << 12)
    if head[257:262] == b"ustar" or uri.lower().endswith(".tar"):
        return "voc"
    if b"xmin" in head.split(b"\n", 1)[0].lower():
        return "csv"
    raise ValueError(f"{uri} is neither a CSV of boxes nor a tar of XML files")


def _check_header(uri: str) -> None:
    with input_files.open_read(uri) as file:
        try:
            box_csv.parse(csv_rows.decoded(input_files.lines(file)))
        except ValueError as error:
            raise ValueError(f"{uri}: {error}") from error


def partitions(source: Source) -> Iterator[BoxPartition]:
    """What the workers read: the CSV file, the tar, or the folders of XML files."""
    if source.format == "csv":
        yield BoxPartition("csv", source.uri)
    elif input_files.is_file(source.uri):
        yield BoxPartition("tar", source.uri)
    else:
        yield BoxPartition("folder", source.uri)
        for name in input_files.folders(source.uri):
            yield BoxPartition("folder", f"{source.uri}/{name}")


def read(partition: BoxPartition) -> Iterator[tuple[Key, BoxRow] | InputFault]:
    """The boxes of a partition with their keys, or a fault in place of each bad one."""
    readers = {"csv": _csv, "folder": _folder, "tar": _tar}
    try:
        yield from readers[partition.kind](partition.uri)
    except InputError as error:
        yield inputs.fault(partition.uri, "", error.code, error.message)


def _csv(uri: str) -> Iterator[tuple[Key, BoxRow] | InputFault]:
    folder = input_files.split(uri)[0]
    with input_files.open_read(uri) as file:
        for row in box_csv.parse(csv_rows.decoded(input_files.lines(file))):
            if isinstance(row, RowFault):
                yield _fault(f"{uri}#{row.where}", row)
            else:
                yield (row.label, input_files.resolve(folder, row.image)), row


def _folder(uri: str) -> Iterator[tuple[Key, BoxRow] | InputFault]:
    for entry in input_files.files(uri):
        if entry.name.lower().endswith(".xml"):
            file = f"{uri}/{entry.name}"
            try:
                data = input_files.read(file, voc_xml.MAX_BYTES)
            except InputError as error:
                yield inputs.fault(file, "", error.code, error.message)
            else:
                yield from _xml(data, file)


def _tar(uri: str) -> Iterator[tuple[Key, BoxRow] | InputFault]:
    with input_files.open_read(uri) as file:
        archive = Archive(file)
        for member in archive.members():
            if not member.name.lower().endswith(".xml"):
                continue
            where = f"{uri}/{member.name}"
            try:
                if member.fault:
                    raise InputError(*member.fault)
                data = archive.read(voc_xml.MAX_BYTES)
            except InputError as error:
                yield inputs.fault(where, "", error.code, error.message)
            else:
                yield from _xml(data, where)


def _xml(data: bytes, uri: str) -> Iterator[tuple[Key, BoxRow] | InputFault]:
    for row in voc_xml.parse(data, uri):
        if isinstance(row, RowFault):
            yield _fault(f"{uri}#{row.where}", row)
        else:
            yield (row.label, names.stem(row.image)), row


def _fault(uri: str, row: RowFault) -> InputFault:
    return inputs.fault(uri, row.label, row.code, row.message)
