"""Images in tar shards: which members belong together, and what class they are.

- A synset tar (ImageNet's `nXXXXXXXX.tar`) holds pictures of one class, the tar's name.
- A WebDataset tar holds samples: neighbours whose names are equal up to the first dot
  of the last part. One is the picture, another says the class: `key.cls` or `key.txt`
  (the text is the label), or `key.json` (its "class", "label" or "cls"). The first
  picture of a sample counts; samples with neither picture nor class are passed over.
"""

import json
from collections.abc import Iterator
from typing import NamedTuple

from belvedere.core.formats import names
from belvedere.transforms import input_files, inputs
from belvedere.transforms.inputs import ImageRef, InputCode, InputError, InputFault
from belvedere.transforms.tars import Archive, Member

PICTURES = ("jpg", "jpeg", "jpe", "jfif", "png", "webp", "gif", "bmp", "tif", "tiff")
LABELS = ("cls", "json", "txt")
_LABEL_BYTES = 1 << 20
_LABEL_KEYS = ("class", "label", "cls")
_COMPANIONS = (
    *(".xml", ".txt", ".json", ".jsonl", ".csv", ".tsv", ".md", ".html", ".log"),
    *(".db", ".ini", ".yaml", ".yml", ".toml", ".npy", ".npz", ".pdf", ".py"),
)

Found = tuple[ImageRef, bytes] | InputFault


class Wants(NamedTuple):
    """What is asked of a picture: at most so many bytes, and whether to read them."""

    max_bytes: int
    contents: bool = True

    def content(self, archive: Archive, member: Member) -> bytes:
        """The member's bytes, or nothing where only references are wanted."""
        if self.contents or member.size > self.max_bytes:
            return archive.read(self.max_bytes)
        return b""


def is_picture_name(name: str) -> bool:
    """Whether a file may be a picture: not hidden, and not a well-known companion.

    All others are tried, whatever they are called; content decides.
    """
    last = input_files.split(name)[1]
    return not last.startswith((".", "__")) and not last.lower().endswith(_COMPANIONS)


def key_of(name: str) -> tuple[str, str]:
    """The key of a member and its extension in lower case.

    >>> key_of("train/0001.seg.png")
    ('train/0001', 'seg.png')
    """
    folder, slash, last = name.rpartition("/")
    stem, _, extension = last.partition(".")
    return f"{folder}{slash}{stem}", extension.lower()


def holds_labels(archive: Archive, look_at: int = 200) -> bool:
    """Whether the first members of a tar look like WebDataset samples."""
    for number, member in enumerate(archive.members()):
        if key_of(member.name)[1] in LABELS:
            return True
        if number >= look_at:
            break
    return False


def spans(archive: Archive, kind: str, images: int) -> Iterator[tuple[int, int, int]]:
    """(first byte, byte behind, number of images) of slices of whole samples.

    Raises InputError where the archive breaks off, behind the last whole slice.

    Args:
      archive: from its beginning.
      kind: "synset" or "webdataset".
      images: wanted in a slice.
    """
    start, count, last_key = 0, 0, None
    broken: InputError | None = None
    try:
        for member in archive.members():
            key, _ = key_of(member.name)
            fresh = kind == "synset" or key != last_key
            if fresh and count >= images:
                yield start, member.start, count
                start, count = member.start, 0
            last_key = key
            count += _is_image(member, kind)
    except InputError as error:
        broken = error
    if count:
        yield start, archive.reached, count
    if broken:
        raise broken


def _is_image(member: Member, kind: str) -> bool:
    if kind == "synset":
        return bool(member.fault) or is_picture_name(member.name)
    return key_of(member.name)[1] in PICTURES


def read_synset(
    archive: Archive, stop: int, tar: ImageRef, wants: Wants
) -> Iterator[Found]:
    """The pictures of a tar of one class; `tar` is the reference of the tar itself."""
    for member in archive.members(stop):
        if _is_image(member, "synset"):
            yield _picture(archive, member, tar, wants)


def _picture(archive: Archive, member: Member, tar: ImageRef, wants: Wants) -> Found:
    ref = _inside(tar, member.name, tar.label)
    try:
        if member.fault:
            raise InputError(*member.fault)
        if member.name.endswith(".tar"):
            raise InputError(InputCode.TAR_NESTED, "a tar inside: unpack the outer one")
        return ref, wants.content(archive, member)
    except InputError as error:
        return inputs.fault(ref.uri, ref.label, error.code, error.message)


def read_webdataset(
    archive: Archive, stop: int, tar: ImageRef, wants: Wants
) -> Iterator[Found]:
    """The pictures of WebDataset samples with their classes."""
    sample = _Sample("", tar)
    for member in archive.members(stop):
        key, extension = key_of(member.name)
        if key != sample.key:
            yield from sample.finished()
            sample = _Sample(key, tar)
        sample.take(archive, member, extension, wants)
    yield from sample.finished()


class _Sample:
    """The members of one key, as far as they have come by."""

    def __init__(self, key: str, tar: ImageRef) -> None:
        self.key = key
        self._tar = tar
        self._picture: tuple[ImageRef, bytes] | None = None
        self._labels: dict[str, bytes] = {}
        self._fault: InputFault | None = None

    def take(
        self, archive: Archive, member: Member, extension: str, wants: Wants
    ) -> None:
        wanted = extension in PICTURES and self._picture is None
        if wanted or member.fault:
            found = _picture(archive, member, self._tar, wants)
            if isinstance(found, InputFault):
                self._fault = self._fault or found
            else:
                self._picture = found
        elif extension in LABELS and member.size <= _LABEL_BYTES:
            self._labels[extension] = archive.read(_LABEL_BYTES)

    def finished(self) -> Iterator[Found]:
        if self._fault:
            yield self._fault
        elif self._picture:
            yield self._labelled(*self._picture)
        elif self._labels:
            said = f"no picture among {', '.join(sorted(self._labels))}"
            uri = _inside(self._tar, self.key, "").uri
            yield inputs.fault(uri, "", InputCode.PICTURE_MISSING, said)

    def _labelled(self, ref: ImageRef, data: bytes) -> Found:
        label = _label(self._labels)
        if label is None:
            said = "no class in key.cls, key.json or key.txt beside it"
            return inputs.fault(ref.uri, "", InputCode.LABEL_MISSING, said)
        if fault := names.label_fault(label):
            return inputs.fault(ref.uri, label, InputCode.BAD_LABEL, fault)
        return ref._replace(label=label), data


def _label(found: dict[str, bytes]) -> str | None:
    try:
        for extension in (e for e in LABELS if e in found):
            text = found[extension].decode().strip()
            label = _json_label(text) if extension == "json" else text
            if label:
                return label
    except (ValueError, RecursionError):
        pass  # not UTF-8, not JSON: no label
    return None


def _json_label(text: str) -> str | None:
    document = json.loads(text)
    values = (
        [document.get(k) for k in _LABEL_KEYS] if isinstance(document, dict) else []
    )
    return next((str(v) for v in values if type(v) in (str, int)), None)


def _inside(tar: ImageRef, name: str, label: str) -> ImageRef:
    return ImageRef(f"{tar.image_id}/{name}", f"{tar.uri}/{name}", label)
