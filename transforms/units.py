"""Planning: a source becomes slices of some tens of images, each a unit of work.

Planning is done by workers, one partition (class folder, tar, list) at a time, and
yields slice after slice; nothing is held but the listing of the one folder, or the
digests of the lines of the one list.

Where to cut, so that new images disturb as little as possible:

- A tar is cut by members, in order. A tar that changes in any way is all new; a new tar
  among ten leaves the ten as they are. Where it was cut can be kept (`cuts`).
- A folder is cut at names that say so themselves: behind those whose hash is divisible
  by a number. One more image changes the slice it falls into, rarely the next, and all
  others stay what they were, with their records. Fixed slices of the sorted names would
  all shift; buckets by hash would each get some of the new images, and would all be new
  when their number grows. New images whose names come last, as dates and numbers do,
  make new slices and touch one old one. What is done over in a touched slice, up to
  twice `images`, gives the same rows, and a reader counts each task once.
- A list is cut likewise, in its own order; what it names twice counts once.

The number of images per slice is part of what a slice is: change it, and all is cut
anew.
"""

import dataclasses
import fnmatch
import hashlib
from collections.abc import Iterable, Iterator

from belvedere.core.formats import csv_rows, image_csv
from belvedere.core.formats.faults import RowFault
from belvedere.transforms import cuts, input_files, samples, stores
from belvedere.transforms.inputs import (
    FAULTY,
    UNKNOWN_SIZE,
    Handful,
    InputCode,
    InputError,
    Partition,
    Slice,
)
from belvedere.transforms.records import Input
from belvedere.transforms.tars import Archive

IMAGES = 64
_HANDFULS, _HANDFUL = 1000, 16


def handfuls(partitions: Iterable[Partition]) -> Iterator[Handful]:
    """Partitions as they travel to workers: one by one, or several if there are many.

    A runner holds what waits for a worker, and of something small mostly its wrapping.
    """
    every = list(partitions)
    size = min(max(len(every) // _HANDFULS, 1), _HANDFUL)
    return (Handful(every[at : at + size]) for at in range(0, len(every), size))


def slices(
    partition: Partition, images: int = IMAGES, store: stores.Store | None = None
) -> Iterator[Slice]:
    """The slices of a partition; what cannot be listed is one whose reading says so.

    Args:
      partition: a class folder, a tar or a list.
      images: wanted in a slice; a slice of a folder holds half to twice as many.
      store: where to keep how a tar was cut, if anywhere.
    """
    try:
        yield from _slices(partition, images, store)
    except InputError as error:
        said = f"{error.code}: {error.message}"
        yield _of_files(
            partition, [Input(partition.uri, FAULTY, said, partition.label)]
        )


def _slices(
    partition: Partition, images: int, store: stores.Store | None
) -> Iterator[Slice]:
    if partition.kind == "folder":
        for part in cut(_folder(partition), images):
            yield _of_files(partition, part)
    elif partition.kind == "list":
        for part in cut(_list(partition), images):
            yield _of_files(partition, part)
    else:
        yield from _tar(partition, images, store)


def _of_files(partition: Partition, files: list[Input]) -> Slice:
    return Slice(partition, tuple(files), None, len(files))


def cut(items: Iterable[Input], average: int) -> Iterator[list[Input]]:
    """Runs of items that end where an item's own name says so.

    At least `average` / 2 items, at most twice `average`; about `average` on the whole.
    """
    if average < 1:
        raise ValueError(f"{average} images per slice, wanted at least 1")
    least = max(1, average // 2)
    run: list[Input] = []
    for item in items:
        run.append(item)
        ends = _hash(item) % max(1, average - least) == 0
        if len(run) >= 2 * average or (len(run) >= least and ends):
            yield run
            run = []
    if run:
        yield run


def _hash(item: Input) -> int:
    text = f"{input_files.split(item.uri)[1]}\0{item.label}"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big")


def _folder(partition: Partition) -> Iterator[Input]:
    for entry in input_files.files(partition.uri):
        wanted = fnmatch.fnmatchcase(entry.name, partition.pattern)
        if wanted and samples.is_picture_name(entry.name):
            uri = f"{partition.uri}/{entry.name}"
            yield Input(uri, entry.size, entry.stamp, partition.label)


def _list(partition: Partition) -> Iterator[Input]:
    """The files a list names, each once; size and stamp are still unknown."""
    folder = input_files.split(partition.uri)[0]
    seen: set[bytes] = set()
    with input_files.open_read(partition.uri) as file:
        for row in _rows(input_files.lines(file)):
            if isinstance(row, RowFault):
                where = f"{partition.uri}#{row.where}"
                said = f"{InputCode.BAD_ROW}: {row.code}, {row.message}"
                yield Input(where, FAULTY, said)
                continue
            uri = input_files.resolve(folder, row.image)
            digest = hashlib.sha256(f"{uri}\0{row.label}".encode()).digest()[:16]
            if digest not in seen:
                seen.add(digest)
                yield Input(uri, UNKNOWN_SIZE, "", row.label)


def _rows(lines: Iterable[bytes]) -> Iterator[image_csv.ListedImage | RowFault]:
    try:
        return image_csv.parse(csv_rows.decoded(lines))
    except ValueError as error:
        raise InputError(InputCode.BAD_ROW, str(error)) from error


def _tar(
    partition: Partition, images: int, store: stores.Store | None
) -> Iterator[Slice]:
    tar = tar_of(partition)
    found = _walked(partition, images)
    if store:
        found = cuts.kept(store, tar, partition.kind, images, found)
    for start, stop, count in found:
        yield Slice(partition, (tar,), (start, stop), count)


def tar_of(partition: Partition) -> Input:
    """The tar as the listing showed it, else as it is found now."""
    size, stamp = partition.size, partition.stamp
    if size == UNKNOWN_SIZE:
        _, size, stamp = input_files.describe(partition.uri)
    return Input(partition.uri, size, stamp, partition.label)


def _walked(partition: Partition, images: int) -> Iterator[cuts.Cut]:
    with input_files.open_read(partition.uri) as file:
        yield from samples.spans(Archive(file), partition.kind, images)


def stamped(piece: Slice) -> Slice:
    """The slice with size and stamp of each file looked up, where a list left them out.

    To be called on workers, where the slices of a list are spread: one look per file.
    """
    looked_up = tuple(_stamped(file) for file in piece.inputs)
    return dataclasses.replace(piece, inputs=looked_up)


def _stamped(file: Input) -> Input:
    if file.size != UNKNOWN_SIZE:
        return file
    try:
        entry = input_files.describe(file.uri)
    except InputError as error:
        said = f"{error.code}: {error.message}"
        return dataclasses.replace(file, size=FAULTY, stamp=said)
    return dataclasses.replace(file, size=entry.size, stamp=entry.stamp)
