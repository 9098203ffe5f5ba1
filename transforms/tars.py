"""Tar archives, read from front to back and never unpacked to a disk.

Reads what tar, GNU tar and Python write: ustar, GNU and pax headers. Only plain files
are handed out; links, devices and sparse files are named with a code, folders passed
over. Written here rather than taken from `tarfile`, because a hostile archive must cost
bounded memory and time (`tarfile` reads extended headers of any length, keeps all
members, and has had endless loops), and because a slice must be read from where it
starts: an offset of a member is a place to begin at.

Departures: global pax headers are passed over; a zero block ends the archive, and one
that ends without it is truncated.
"""

from collections.abc import Iterator
from typing import IO, NamedTuple

from belvedere.transforms import tar_headers
from belvedere.transforms.inputs import InputCode, InputError
from belvedere.transforms.tar_headers import Extension, Header

BLOCK = 512
MAX_MEMBERS = 1_000_000


class Member(NamedTuple):
    """A file of an archive, or why an entry is not one.

    Attributes:
      name: as stored, "./" removed; undecodable bytes are kept as surrogates.
      start: where its first header begins.
      size: of the content, in bytes.
      fault: None for a plain file with a usable name.
    """

    name: str
    start: int
    size: int
    fault: tuple[InputCode, str] | None


class Archive:
    """A tar behind a readable, seekable file.

    `reached` is where the next member begins, or where the archive broke off.
    """

    def __init__(self, file: IO[bytes], start: int = 0) -> None:
        self._file = file
        self._position = self.reached = start
        self._content = 0  # bytes of the current member that were not read yet
        self._padding = 0
        if start:
            file.seek(start)

    def members(self, stop: int | None = None) -> Iterator[Member]:
        """The members that begin before `stop`, folders left out.

        Raises InputError where the archive cannot be followed further.
        """
        for _ in range(MAX_MEMBERS):
            self._skip_rest()
            if stop is not None and self.reached >= stop:
                return
            member = self._next()
            if member is None:
                return
            if member.name or member.fault:
                yield member
        self._skip_rest()
        said = f"more than {MAX_MEMBERS} members"
        raise InputError(InputCode.TAR_TOO_MANY_MEMBERS, said)

    def read(self, max_bytes: int) -> bytes:
        """The content of the member that was handed out last."""
        if self._content > max_bytes:
            said = f"{self._content} bytes, at most {max_bytes} are allowed"
            raise InputError(InputCode.TOO_MANY_BYTES, said)
        data = self._take(self._content)
        self._content = 0
        return data

    def _next(self) -> Member | None:
        """The next member; one without name and fault for a folder."""
        start, extension = self._position, tar_headers.Extension()
        while header := tar_headers.parse(self._take(BLOCK)):
            if header.kind not in tar_headers.EXTENSIONS:
                return self._member(start, header, extension)
            wanted = extension.wants(header)
            content = self._take(header.size) if wanted else b""
            self._skip(-header.size % BLOCK + (0 if wanted else header.size))
            extension.take(header, content)
        return None

    def _member(self, start: int, header: Header, extension: Extension) -> Member:
        more = header.extended
        while more:
            more = self._take(BLOCK)[504] != 0
        size = header.size if extension.size is None else extension.size
        self._content = 0 if header.kind in tar_headers.WITHOUT_CONTENT else size
        self._padding = -self._content % BLOCK
        raw = extension.name or header.name
        name = raw.decode("utf-8", "surrogateescape")
        if tar_headers.is_folder(header.kind, name):
            return Member("", start, 0, None)
        while name.startswith("./"):
            name = name[2:]
        return Member(name, start, size, tar_headers.fault(header, extension, name))

    def _skip_rest(self) -> None:
        self._skip(self._content + self._padding)
        self._content = self._padding = 0
        self.reached = self._position

    def _take(self, size: int) -> bytes:
        data = self._file.read(size)
        if len(data) < size:
            said = f"ends at byte {self._position + len(data)}, without its end mark"
            raise InputError(InputCode.TAR_TRUNCATED, said)
        self._position += size
        return data

    def _skip(self, size: int) -> None:
        if size:
            self._position += size
            self._file.seek(self._position)
