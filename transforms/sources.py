"""Where images come from: what a source is, its partitions, and how a slice is read.

A source is a folder of class folders, a CSV list, or tar shards (a folder of them, one,
or a pattern); pictures may also be given by a pattern, and their class is the folder
they are in. What it is, is seen from its content; a format can be forced.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from belvedere.core.formats import containers, csv_rows, image_csv, names
from belvedere.transforms import input_files, inputs, samples, stores
from belvedere.transforms.inputs import (
    FAULTY,
    ImageRef,
    InputCode,
    InputError,
    InputFault,
    Partition,
    Slice,
)
from belvedere.transforms.records import Input
from belvedere.transforms.samples import Found, Wants
from belvedere.transforms.tars import Archive

FORMATS = ("folders", "csv", "webdataset", "imagenet")
MAX_BYTES = 1 << 28
_TOLD = 5  # of the pictures that cannot be read
_SYNSET = re.compile(r"n\d{8}\.tar")
_KINDS = {"webdataset": "webdataset", "imagenet": "synset"}


class Source(NamedTuple):
    """A source whose format is known."""

    format: str
    uri: str


def detect(uri: str, forced: str | None = None) -> Source:
    """Looks at a source; ValueError, fit for a user, if it is none that we read.

    Args:
      uri: a folder, a file or a pattern; local, gs:// or s3://.
      forced: the format, if it is not to be guessed.
    """
    if forced is not None and forced not in FORMATS:
        raise ValueError(f"{forced!r} is no format of images, wanted one of {FORMATS}")
    uri = input_files.normal(uri)
    try:
        found = forced or _format(uri)
        if found == "csv":
            _check_list(uri)
    except InputError as error:
        raise ValueError(f"{uri} cannot be read: {error.message}") from error
    return Source(found, uri)


def _format(uri: str) -> str:
    first = _first_file(uri)
    if first is None:
        return "folders"
    with input_files.open_read(first) as file:
        head = file.read(1 << 12)
    if head[257:262] == b"ustar" or first.lower().endswith(".tar"):
        return _tar_format(first)
    if input_files.is_pattern(uri):
        return "folders"
    if containers.format_of(head):
        raise ValueError(f"{uri} is a picture: its class is not known from it")
    if b"image" in head.split(b"\n", 1)[0].lower():
        return "csv"
    raise ValueError(f"{first} is neither a tar nor a CSV list")


def _first_file(uri: str) -> str | None:
    """The file whose content decides; None for a folder of folders."""
    if input_files.is_pattern(uri):
        first = input_files.first_matching(uri)
        if first is None:
            raise ValueError(f"nothing matches {uri}")
        return first
    if input_files.is_file(uri):
        return uri
    tars = _tars(uri)
    has_folders = bool(input_files.folders(uri))
    if tars and has_folders:
        raise ValueError(f"{uri} holds tars and folders: say which by --images-format")
    if not tars and not has_folders:
        raise ValueError(f"{uri} holds neither class folders nor tars")
    return tars[0][0] if tars else None


def _tars(folder: str) -> list[tuple[str, input_files.Entry]]:
    entries = input_files.files(folder)
    return [
        (f"{folder}/{e.name}", e) for e in entries if e.name.lower().endswith(".tar")
    ]


def _tar_format(tar: str) -> str:
    if _SYNSET.fullmatch(input_files.split(tar)[1]):
        return "imagenet"
    with input_files.open_read(tar) as file:
        if samples.holds_labels(Archive(file)):
            return "webdataset"
    raise ValueError(
        f"{tar} holds no key.cls, key.json or key.txt and is not called nXXXXXXXX.tar: "
        "if its name is the class, say --images-format imagenet"
    )


def _check_list(uri: str) -> None:
    with input_files.open_read(uri) as file:
        try:
            image_csv.parse(csv_rows.decoded(input_files.lines(file)))
        except ValueError as error:
            raise ValueError(f"{uri}: {error}") from error


def partitions(source: Source) -> Iterator[Partition]:
    """What the workers list: class folders, tars, or the one list."""
    uri = source.uri
    if source.format == "csv":
        yield Partition("list", input_files.split(uri)[0], uri)
    elif source.format == "folders":
        yield from _class_folders(uri)
    else:
        yield from _shards(uri, _KINDS[source.format])


def _class_folders(uri: str) -> Iterator[Partition]:
    if not input_files.is_pattern(uri):
        for name in input_files.folders(uri):
            if not name.startswith("."):
                yield Partition("folder", uri, f"{uri}/{name}", name)
        return
    folder, pattern = input_files.split(uri)
    root = input_files.fixed_part(uri)
    for match in input_files.matching_folders(folder):
        label = input_files.split(match)[1]
        yield Partition("folder", root, match, label, pattern)


def _shards(uri: str, kind: str) -> Iterator[Partition]:
    if input_files.is_pattern(uri):
        root = input_files.fixed_part(uri)
        tars = input_files.matching(uri)
    elif input_files.is_file(uri):
        root, tars = input_files.split(uri)[0], [(uri, input_files.describe(uri))]
    else:
        root, tars = uri, _tars(uri)
    for tar, entry in tars:
        label = names.stem(tar) if kind == "synset" else ""
        yield Partition(kind, root, tar, label, size=entry.size, stamp=entry.stamp)


def read(piece: Slice, max_bytes: int = MAX_BYTES) -> Iterator[Found]:
    """The images of a slice with their bytes, or a fault in place of each that failed.

    Args:
      piece: as `units.slices` made it.
      max_bytes: the largest file that is taken into memory.
    """
    return _found(piece, Wants(max_bytes))


def demanded(piece: Slice) -> Iterator[Found]:
    """As `read`, for what is learned and kept: StoreError where something is unread.

    A picture that is broken stays so, and to learn without it is right for ever. One
    that may not be read today may tomorrow, and nothing that is kept would know of it.
    """
    unread = []
    for found in read(piece):
        if isinstance(found, InputFault) and found.code == InputCode.NOT_READ:
            unread.append(found)
        else:
            yield found
    if unread:
        said = ", ".join(f"{one.uri} ({one.message})" for one in unread[:_TOLD])
        more = f" and {len(unread) - _TOLD} more" if len(unread) > _TOLD else ""
        raise stores.StoreError(
            f"cannot read {said}{more} to learn from: see to it that this can be "
            "read, or take it out of the input, and run the same command again"
        )


def references(
    piece: Slice, max_bytes: int = MAX_BYTES
) -> Iterator[ImageRef | InputFault]:
    """The images of a slice, no picture read; of a tar, only headers and classes."""
    for found in _found(piece, Wants(max_bytes, contents=False)):
        yield found if isinstance(found, InputFault) else found[0]


def _found(piece: Slice, wants: Wants) -> Iterator[Found]:
    if piece.span is None:
        for file in piece.inputs:
            yield _file(piece.partition, file, wants)
        return
    (tar,) = piece.inputs
    try:
        yield from _members(piece, tar, wants)
    except InputError as error:
        yield inputs.fault(tar.uri, tar.label, error.code, error.message)


def _file(partition: Partition, file: Input, wants: Wants) -> Found:
    if file.size == FAULTY:
        code, _, said = file.stamp.partition(": ")
        return inputs.fault(file.uri, file.label, InputCode(code), said)
    image_id = input_files.relative(file.uri, partition.root)
    ref = ImageRef(image_id, file.uri, file.label)
    if fault := names.name_fault(image_id):
        return inputs.fault(*ref[1:], InputCode.BAD_NAME, fault)
    if fault := names.label_fault(ref.label):
        return inputs.fault(*ref[1:], InputCode.BAD_LABEL, fault)
    try:
        wanted = wants.contents
        return ref, input_files.read(file.uri, wants.max_bytes) if wanted else b""
    except InputError as error:
        return inputs.fault(*ref[1:], error.code, error.message)


def _members(piece: Slice, tar: Input, wants: Wants) -> Iterator[Found]:
    assert piece.span is not None
    start, stop = piece.span
    tar_id = input_files.relative(tar.uri, piece.partition.root)
    ref = ImageRef(tar_id, tar.uri, tar.label)
    webdataset = piece.partition.kind == "webdataset"
    reader = samples.read_webdataset if webdataset else samples.read_synset
    with input_files.open_read(tar.uri) as file:
        yield from reader(Archive(file, start), stop, ref, wants)
