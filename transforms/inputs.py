"""What reading deals in: references to images, parts of a source, slices, faults."""

import dataclasses
import enum
import json
import zlib
from typing import Any, NamedTuple

from belvedere.core.formats import names
from belvedere.transforms.records import Input

# In place of a size in `Input`:
UNKNOWN_SIZE = -1  # a list names the file, nobody has looked it up
FAULTY = -2  # it cannot be read; the stamp is "code: message"


class InputCode(enum.StrEnum):
    """Why a file or a member of an archive did not become an image."""

    NOT_FOUND = "not_found"
    NOT_A_FILE = "not_a_file"  # a folder, a device, a pipe
    NOT_READ = "not_read"  # permission, network
    TOO_MANY_BYTES = "too_many_bytes"
    BAD_NAME = "bad_name"  # not UTF-8, control characters, too long, leads outside
    BAD_LABEL = "bad_label"
    BAD_ROW = "bad_row"  # of a list
    LABEL_MISSING = "label_missing"
    PICTURE_MISSING = "picture_missing"
    TAR_LINK = "tar_link"
    TAR_SPECIAL = "tar_special"  # a device, a pipe, or a kind we do not know
    TAR_SPARSE = "tar_sparse"
    TAR_NESTED = "tar_nested"
    TAR_COMPRESSED = "tar_compressed"
    TAR_TRUNCATED = "tar_truncated"
    TAR_CORRUPT = "tar_corrupt"
    TAR_TOO_MANY_MEMBERS = "tar_too_many_members"


class InputError(Exception):
    """A file or an archive that cannot be read (on), with its code."""

    def __init__(self, code: InputCode, message: str) -> None:
        super().__init__(code, message)
        self.code = InputCode(code)
        self.message = message


class ImageRef(NamedTuple):
    """An image and its class: what a task is about.

    Attributes:
      image_id: its path relative to the root of the source, or that of the tar and the
        name of the member; the same wherever the source is read from.
      uri: where it is; for a member of a tar, the tar, a slash and the member.
      label: the class.
    """

    image_id: str
    uri: str
    label: str


class InputFault(NamedTuple):
    """An image, or a whole file, that cannot be used; all fields can be printed."""

    uri: str
    label: str
    code: str
    message: str


class Partition(NamedTuple):
    """A part of a source that one worker lists: a class folder, a tar, a CSV list.

    Attributes:
      kind: "folder", "list", "synset" (a tar of one class) or "webdataset".
      root: what image ids are relative to.
      uri: of the folder or file.
      label: the class of all its images, empty where they say so themselves.
      pattern: which files of a folder count.
      size, stamp: of a tar, as the listing shows them.
    """

    kind: str
    root: str
    uri: str
    label: str = ""
    pattern: str = "*"
    size: int = UNKNOWN_SIZE
    stamp: str = ""


@dataclasses.dataclass(frozen=True)
class Slice:
    """Images of one partition that make a work unit.

    `WorkUnit(kind, slice.inputs, models, config, slice.span)` names the work.

    Attributes:
      partition: where they come from.
      inputs: the image files, or the one tar; in the order in which they are read.
      span: of a tar, the bytes from the first member to behind the last.
      images: how many there are; members that turn out unusable are counted.
    """

    partition: Partition
    inputs: tuple[Input, ...]
    span: tuple[int, int] | None
    images: int

    def __reduce__(self) -> tuple:
        """Travels small: a runner in this process holds all slices of an input."""
        files = [[file.uri, file.size, file.stamp, file.label] for file in self.inputs]
        told = [self.partition, files, self.span, self.images]
        return _slice, (_packed(told),)


def _slice(packed: bytes) -> Slice:
    partition, files, span, images = json.loads(zlib.decompress(packed))
    inputs = tuple(Input(*file) for file in files)
    return Slice(Partition(*partition), inputs, tuple(span) if span else None, images)


class Handful(tuple[Partition, ...]):
    """Partitions that travel together, small like a slice."""

    def __reduce__(self) -> tuple:
        return _handful, (_packed(self),)


def _handful(packed: bytes) -> Handful:
    return Handful(Partition(*one) for one in json.loads(zlib.decompress(packed)))


def _packed(told: Any) -> bytes:
    return zlib.compress(json.dumps(told).encode(), 1)


def fault(uri: str, label: str, code: enum.StrEnum, message: str) -> InputFault:
    """A fault whose names, however hostile, can be stored and printed."""
    return InputFault(_shown(uri, 2000), _shown(label, 300), str(code), message[:500])


def _shown(text: str, length: int) -> str:
    shortened = text if len(text) <= length else text[:length] + "..."
    quoted = names.printable(shortened, length + 3)
    unharmed = not names.text_fault("text", shortened)
    return shortened if unharmed else quoted
