"""The headers of a tar archive: blocks of 512 bytes in, checked values out."""

from collections.abc import Iterator
from typing import NamedTuple

from belvedere.core.formats import names
from belvedere.transforms.inputs import InputCode, InputError

LONGEST_EXTENSION = 1 << 20
_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd")
FILES = (b"0", b"\0", b"7")
EXTENSIONS = (b"L", b"K", b"x", b"g")
WITHOUT_CONTENT = (b"1", b"2", b"3", b"4", b"5", b"6")
_FAULTS = {
    b"1": (InputCode.TAR_LINK, "a hard link"),
    b"2": (InputCode.TAR_LINK, "a symbolic link"),
    b"3": (InputCode.TAR_SPECIAL, "a character device"),
    b"4": (InputCode.TAR_SPECIAL, "a block device"),
    b"6": (InputCode.TAR_SPECIAL, "a named pipe"),
    b"S": (InputCode.TAR_SPARSE, "a sparse file"),
}


class Header(NamedTuple):
    """A header block; `size` is that of the content behind it."""

    name: bytes
    size: int
    kind: bytes
    extended: bool  # old GNU sparse: more headers follow


class Extension:
    """What extended headers say of the member behind them."""

    def __init__(self) -> None:
        self.name = b""
        self.size: int | None = None
        self.sparse = False
        self.too_long = False

    def wants(self, header: Header) -> bool:
        """Whether to read what is behind this header; notes what is too long for it."""
        if header.kind not in (b"L", b"x"):
            return False
        self.too_long |= header.size > LONGEST_EXTENSION
        return not self.too_long

    def take(self, header: Header, content: bytes) -> None:
        if header.kind == b"L":
            self.name = content.split(b"\0", 1)[0]
        elif header.kind == b"x":
            for key, value in _pax_records(content):
                self._take_record(key, value)

    def _take_record(self, key: bytes, value: bytes) -> None:
        if key == b"path":
            self.name = value
        elif key == b"size":
            self.size = _decimal(value)
        elif key.startswith(b"GNU.sparse."):
            self.sparse = True


def _pax_records(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """(key, value) of records "length key=value\\n"."""
    position = 0
    while position < len(content) and content[position]:
        length, space, _ = content[position : position + 20].partition(b" ")
        end = position + _decimal(length)
        key, equals, value = content[position + len(length) + 1 : end].partition(b"=")
        if not space or not equals or end > len(content) or value[-1:] != b"\n":
            raise InputError(InputCode.TAR_CORRUPT, "a pax header that makes no sense")
        yield key, value[:-1]
        position = end


def _decimal(text: bytes) -> int:
    if not text.isdigit() or len(text) > 18:
        raise InputError(InputCode.TAR_CORRUPT, f"{text[:20]!r} is no decimal number")
    return int(text)


def parse(block: bytes) -> Header | None:
    """A header of 512 bytes; None for the block of zeros that ends an archive."""
    if not block.strip(b"\0"):
        return None
    _check_sum(block)
    name = block[:100].split(b"\0", 1)[0]
    prefix = block[345:500].split(b"\0", 1)[0]
    if prefix and block[257:263] == b"ustar\0":
        name = prefix + b"/" + name
    kind = block[156:157]
    return Header(name, _number(block[124:136]), kind, kind == b"S" and block[482] != 0)


def _check_sum(block: bytes) -> None:
    if any(block.startswith(magic) for magic in _COMPRESSED):
        raise InputError(InputCode.TAR_COMPRESSED, "compressed: unpack it first")
    blank = block[:148] + b" " * 8 + block[156:]
    difference = sum(blank) - _number(block[148:156])
    # Some old programs add the bytes as signed numbers.
    if difference and difference != 256 * sum(byte > 127 for byte in blank):
        raise InputError(InputCode.TAR_CORRUPT, "a header with a wrong check sum")


def _number(field: bytes) -> int:
    """Octal digits, or base 256 where the first bit is set; never negative."""
    if field[0] == 0x80:
        value = int.from_bytes(field[1:], "big")
    else:
        digits = field.strip(b" \0")
        octal = all(byte in b"01234567" for byte in digits)
        value = int(digits or b"0", 8) if octal else -1
    if not 0 <= value < 1 << 60:
        raise InputError(InputCode.TAR_CORRUPT, f"{field!r} is no size")
    return value


def is_folder(kind: bytes, name: str) -> bool:
    return kind == b"5" or (kind in FILES and name.endswith("/"))


def fault(
    header: Header, extension: Extension, name: str
) -> tuple[InputCode, str] | None:
    """Why an entry is not handed out, or None."""
    if extension.too_long:
        return InputCode.BAD_NAME, f"headers of more than {LONGEST_EXTENSION} bytes"
    if extension.sparse:
        return _FAULTS[b"S"]
    if header.kind not in FILES:
        unknown = (InputCode.TAR_SPECIAL, f"an entry of kind {header.kind!r}")
        return _FAULTS.get(header.kind, unknown)
    said = names.name_fault(name)
    if said is None and (name.startswith("/") or ".." in name.split("/")):
        said = f"the name {names.printable(name)} leads outside the archive"
    return (InputCode.BAD_NAME, said) if said else None
