"""What is done to the bytes of a picture before a decoder sees them.

A decoder is asked to read one picture and nothing else:

- The format is known by its first bytes, never by a file name.
- PNG: only the chunks that make pixels are kept. Text, colour profiles and further
  frames are dropped unread, so that a few bytes that swell to gigabytes stay a few
  bytes. Check sums are verified; a file without its end is truncated, and so is one
  whose pixels stop early, which decoders fill with black.
- JPEG: a decoder fills with grey what is missing before the end marker. For a picture
  of one scan the end marker (and all behind it) is therefore replaced by a few bits
  that are no valid code: a complete picture does not need them, an incomplete one runs
  out of data and is refused. Pictures of several scans (progressive) lack this check:
  if cut *and* given an end marker, they come out coarse, as their format means them to.
- WebP: the decoder reserves its canvas as it opens the file, so the size is read here.
"""

import re
import struct
from collections.abc import Iterator

from belvedere.core.formats.faults import PictureCode, PictureError

_SIGNATURES = (
    ("JPEG", re.compile(rb"\xff\xd8\xff")),
    ("PNG", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ("WEBP", re.compile(rb"RIFF.{4}WEBP", re.DOTALL)),
    ("GIF", re.compile(rb"GIF8[79]a")),
    ("TIFF", re.compile(rb"II[*+]\0|MM\0[*+]")),
    ("BMP", re.compile(rb"BM")),
)
FORMATS = tuple(name for name, _ in _SIGNATURES)

_END_OF_SCAN = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
# The all-ones code is reserved in JPEG; decoders look up to 8 bytes ahead.
_NO_MORE_CODES = b"\xff\x00" * 8


def format_of(data: bytes) -> str | None:
    """The name of the format by the first bytes, None if it is not one of `FORMATS`."""
    for name, signature in _SIGNATURES:
        if signature.match(data):
            return name
    return None


def jpeg_essence(data: bytes) -> bytes:
    """The first picture of a JPEG file, ended so that missing pixels are an error."""
    channels = 0
    for marker, start in _jpeg_segments(data):
        if marker in (0xC0, 0xC1) and len(data) > start + 7:  # sequential, Huffman
            channels = data[start + 7]
        if marker == 0xDA and len(data) > start + 2 and data[start + 2] == channels:
            found = _END_OF_SCAN.search(data, start + _length(data, start))
            return data[: found.start() if found else len(data)] + _NO_MORE_CODES
    return data


def _jpeg_segments(data: bytes) -> Iterator[tuple[int, int]]:
    """(marker, position of its length) of the segments up to the first scan."""
    position, marker = 2, 0
    while marker != 0xDA:
        position = data.find(b"\xff", position)
        while position >= 0 and data[position : position + 1] == b"\xff":
            position += 1
        if not 0 <= position < len(data):
            return
        marker, position = data[position], position + 1
        if marker in (0x00, 0x01) or 0xD0 <= marker <= 0xD8:  # these have no content
            continue
        yield marker, position
        position += _length(data, position)


def _length(data: bytes, position: int) -> int:
    return int.from_bytes(data[position : position + 2], "big")


def webp_size(data: bytes) -> tuple[int, int]:
    """Width and height of the canvas of a WebP file, by its header."""
    riff = struct.unpack_from("<I", data, 4)[0]
    if riff + 8 > len(data) or len(data) < 30:
        raise PictureError(PictureCode.TRUNCATED, "a WebP without its end")
    kind = data[12:16]
    if kind == b"VP8X":
        wide = int.from_bytes(data[24:27], "little")
        return wide + 1, int.from_bytes(data[27:30], "little") + 1
    if kind == b"VP8L":
        bits = struct.unpack_from("<I", data, 21)[0]
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        wide, high = struct.unpack_from("<HH", data, 26)
        return wide & 0x3FFF, high & 0x3FFF
    raise PictureError(PictureCode.UNREADABLE, f"WebP of the unknown kind {kind!r}")
