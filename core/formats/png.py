"""The chunks of a PNG file: those that make pixels, and whether they make all of them.

Why this is done is said in `containers`.
"""

import struct
import zlib
from collections.abc import Iterator

from belvedere.core.formats.faults import PictureCode, PictureError

_KEPT = (b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND")
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
# Column and row where each pass of an interlaced picture begins, and its steps.
_PASSES = (
    *((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4)),
    *((0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)),
)
_STEP = 1 << 20


def essence(data: bytes) -> tuple[bytes, bytes]:
    """A PNG of pixels only, and the content of its eXIf chunk (empty if none).

    A colour that means "transparent" is dropped at 16 bits per channel, where the
    decoder keeps only the upper 8 and could no longer tell it from others.
    """
    kept, exif, deep = [data[:8]], b"", False
    for kind, start, end in _chunks(data):
        if kind == b"IHDR":
            deep = data[start + 16 : start + 17] == b"\x10"
        if kind == b"eXIf":
            exif = exif or data[start + 8 : end - 4]
        if kind in _KEPT and not (deep and kind == b"tRNS"):
            _verify_checksum(data, kind, start, end)
            kept.append(data[start:end])
    return b"".join(kept), exif


def _chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """(kind, start, end) of each chunk: length 4, kind 4, content, check sum 4."""
    start, kind = 8, b""
    while kind != b"IEND":
        head = data[start : start + 8]
        length = int.from_bytes(head[:4], "big")
        end = start + 12 + length
        if len(head) < 8 or end > len(data):
            raise PictureError(PictureCode.TRUNCATED, "a PNG without its end")
        kind = head[4:]
        yield kind, start, end
        start = end


def _verify_checksum(data: bytes, kind: bytes, start: int, end: int) -> None:
    stored = int.from_bytes(data[end - 4 : end], "big")
    if zlib.crc32(memoryview(data)[start + 4 : end - 4]) != stored:
        chunk = kind.decode()
        raise PictureError(PictureCode.UNREADABLE, f"{chunk} has a wrong check sum")


def is_complete(data: bytes) -> bool:
    """Whether the compressed pixels of a PNG are as many as its header says.

    Decompresses all of them, a little at a time, and keeps none.
    """
    wanted, inflater = _raw_length(data), zlib.decompressobj()
    for kind, start, end in _chunks(data):
        if kind == b"IDAT":
            rest = data[start + 8 : end - 4]
            while rest and wanted > 0:
                wanted -= len(inflater.decompress(rest, _STEP))
                rest = inflater.unconsumed_tail
    return wanted - len(inflater.flush(_STEP)) <= 0


def _raw_length(data: bytes) -> int:
    """Bytes of all scan lines, each with the one that names its filter."""
    wide, high, bits, colour, *_, laced = struct.unpack_from("!IIBBBBB", data, 16)
    total = 0
    for x, y, step_x, step_y in _PASSES if laced else ((0, 0, 1, 1),):
        columns, rows = -(-(wide - x) // step_x), -(-(high - y) // step_y)
        if columns > 0 and rows > 0:
            total += rows * (1 + -(-columns * bits * _CHANNELS[colour] // 8))
    return total
