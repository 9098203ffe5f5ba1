"""Files that are only read: local paths, `gs://` and `s3://`, under one set of verbs.

Local files go by the operating system, those on `s3://` by the client that also writes
there, those on `gs://` by Beam's file system; libraries are imported when needed.
Nothing is ever unpacked on the way, whatever a name ends in. A name from a listing is a
value; only here is it joined to its folder.
"""

import fnmatch
import glob
import os
import posixpath
import re
import stat
from collections.abc import Iterator
from typing import IO, Any, NamedTuple, cast

from belvedere.transforms import cloud_listings, s3_files
from belvedere.transforms.input_faults import ExplainedFile, explained
from belvedere.transforms.inputs import InputCode, InputError

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://")
_LONGEST_LINE = 1 << 20
_WILD = re.compile(r"[*?[]")


class Entry(NamedTuple):
    """A file as a listing shows it; `stamp` changes when it does."""

    name: str
    size: int
    stamp: str


def is_remote(uri: str) -> bool:
    return bool(_SCHEME.match(uri))


def is_pattern(uri: str) -> bool:
    """Whether it means several files; one that exists under this very name does not."""
    return bool(_WILD.search(uri)) and (is_remote(uri) or not os.path.exists(uri))


def normal(uri: str) -> str:
    """The one spelling of a source: an absolute path, or an address without end slash.

    >>> normal("gs://bucket/folder/")
    'gs://bucket/folder'
    """
    if "\0" in uri or not uri:
        raise ValueError(f"{uri!r} is no path")
    uri = uri.removeprefix("file://")
    found = _SCHEME.match(uri)
    if found and found.group(1) not in ("gs", "s3"):
        raise ValueError(f"{uri!r} is neither a path nor gs:// nor s3://")
    return uri.rstrip("/") if found else os.path.abspath(uri)


def resolve(folder: str, path: str) -> str:
    """`path` as a list in `folder` means it: relative to it, or complete.

    >>> resolve("gs://bucket/lists", "../images/a.jpg")
    'gs://bucket/images/a.jpg'
    """
    if is_remote(path):
        return normal(path)
    if not is_remote(folder):
        return os.path.normpath(os.path.join(folder, path))
    scheme, rest = folder.split("://", 1)
    bucket, _, inside = rest.partition("/")
    joined = posixpath.normpath(posixpath.join("/", inside, path))
    return f"{scheme}://{bucket}{joined}"


def split(uri: str) -> tuple[str, str]:
    """Folder and last part."""
    folder, _, name = uri.rpartition("/")
    return folder or "/", name


def relative(uri: str, root: str) -> str:
    """`uri` without its root, or all of it where it lies elsewhere."""
    return uri.removeprefix(root.rstrip("/") + "/")


def files(folder: str) -> Iterator[Entry]:
    """The files directly in a folder, sorted by name; pipes and devices are none."""
    return iter(sorted(_remote(folder) if is_remote(folder) else _local(folder)))


def _local(folder: str) -> Iterator[Entry]:
    with explained(folder), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file():
                status = entry.stat()
                yield Entry(entry.name, status.st_size, str(status.st_mtime_ns))


def _remote(folder: str) -> Iterator[Entry]:
    for file in _level(folder).files:
        yield _entry(file)


def folders(root: str) -> list[str]:
    """Names of the folders directly in `root`, sorted."""
    if is_remote(root):
        return sorted(_level(root).folders)
    with explained(root), os.scandir(root) as entries:
        return sorted(entry.name for entry in entries if entry.is_dir())


def _level(folder: str) -> cloud_listings.Level:
    with explained(folder):
        if _is_on_s3(folder):
            return cloud_listings.level(folder, s3_files.client())
        from apache_beam.io.filesystems import FileSystems

        google = FileSystems.get_filesystem(folder)._gcsIO().client
        return cloud_listings.level(folder, google)


def matching(pattern: str) -> list[tuple[str, Entry]]:
    """(uri, entry) of the files that match a pattern, sorted."""
    if not is_remote(pattern):
        found = [f for f in glob.glob(pattern) if os.path.isfile(f)]
        return sorted((f, describe(f)) for f in found)
    with explained(pattern):
        if _is_on_s3(pattern):
            return sorted((uri, _entry(f)) for uri, f in s3_files.matching(pattern))
        from apache_beam.io.filesystems import FileSystems

        metadata = FileSystems.match([pattern])[0].metadata_list
    files = [m for m in metadata if not m.path.endswith("/")]
    return sorted((m.path, _entry(_as_listed(m))) for m in files)


def first_matching(pattern: str) -> str | None:
    """One file that matches a pattern, the same each time; the rest is let be."""
    if not is_remote(pattern):
        found = (file for file in glob.iglob(pattern) if os.path.isfile(file))
        return min(found, default=None)
    with explained(pattern):
        if _is_on_s3(pattern):
            return next((uri for uri, _ in s3_files.matching(pattern)), None)
        from apache_beam.io.filesystems import FileSystems

        listed = [m.path for m in FileSystems.match([pattern], [2])[0].metadata_list]
    files = [path for path in listed if not path.endswith("/")]
    if listed and not files:  # objects that stand for folders, and perhaps more
        files = [path for path, _ in matching(pattern)]
    return min(files, default=None)


def matching_folders(pattern: str) -> list[str]:
    """The folders that match a pattern, sorted; remote ones hold at least a file."""
    if not is_pattern(pattern):
        return [pattern]
    if not is_remote(pattern):
        return sorted(folder for folder in glob.glob(pattern) if os.path.isdir(folder))
    found = [fixed_part(pattern)]
    for part in relative(pattern, found[0]).split("/"):
        found = [
            f"{folder}/{name}"
            for folder in found
            for name in folders(folder)
            if fnmatch.fnmatchcase(name, part)
        ]
    return sorted(found)


def fixed_part(pattern: str) -> str:
    """The folder below which a pattern varies.

    >>> fixed_part("/data/train-*/x.tar")
    '/data'
    """
    return split(_WILD.split(pattern, maxsplit=1)[0])[0]


def is_file(uri: str) -> bool:
    """Whether there is a file of this name; ValueError if there is nothing at all."""
    try:
        describe(uri)
        return True
    except InputError as error:
        if is_remote(uri) or os.path.isdir(uri):
            return False
        raise ValueError(f"{uri} cannot be read: {error.message}") from error


def describe(uri: str) -> Entry:
    """Size and stamp of one file; InputError if there is none."""
    with explained(uri):
        if _is_on_s3(uri):
            return _entry(s3_files.describe(uri))
        if is_remote(uri):
            from apache_beam.io.filesystems import FileSystems

            metadata = FileSystems.get_filesystem(uri).metadata(uri)
            return _entry(_as_listed(metadata))
        status = os.stat(uri)
    if not stat.S_ISREG(status.st_mode):
        raise InputError(InputCode.NOT_A_FILE, "neither a file nor a link to one")
    return Entry(split(uri)[1], status.st_size, str(status.st_mtime_ns))


def open_read(uri: str) -> IO[bytes]:
    """The file as it is, to be read and sought in; InputError if it cannot be.

    On s3:// this shows when it is first read: to look before would be a request more.
    """
    with explained(uri):
        if not is_remote(uri):
            describe(uri)  # to open a pipe would be to wait for ever
            return cast(IO[bytes], ExplainedFile(open(uri, "rb"), uri))
        if _is_on_s3(uri):
            return cast(IO[bytes], ExplainedFile(s3_files.open_read(uri), uri))
        from apache_beam.io.filesystem import CompressionTypes
        from apache_beam.io.filesystems import FileSystems

        plain = CompressionTypes.UNCOMPRESSED
        file = FileSystems.open(uri, compression_type=plain)
        return cast(IO[bytes], ExplainedFile(file, uri))


def read(uri: str, max_bytes: int) -> bytes:
    """The content of a file of at most `max_bytes`; InputError otherwise."""
    with open_read(uri) as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        said = f"more than the {max_bytes} bytes that are allowed"
        raise InputError(InputCode.TOO_MANY_BYTES, said)
    return data


def lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a file; one that is longer than any sane line comes in pieces."""
    yield from iter(lambda: file.readline(_LONGEST_LINE), b"")


def _is_on_s3(uri: str) -> bool:
    return uri.startswith("s3://")


def _as_listed(metadata: Any) -> cloud_listings.File:
    """What Beam tells of a file."""
    changed = float(metadata.last_updated_in_seconds)
    return cloud_listings.File(split(metadata.path)[1], metadata.size_in_bytes, changed)


def _entry(file: cloud_listings.File) -> Entry:
    return Entry(file.name, file.size, repr(file.seconds))
