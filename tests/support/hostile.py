"""Files that break readers, made in memory; as a program, a decoder that misbehaves.

Every picture is drawn here: a gradient in three channels, never a photograph.
"""

import io
import os
import struct
import sys
import tarfile
import time
import zlib

import numpy as np
from PIL import Image

PNG = b"\x89PNG\r\n\x1a\n"


def gradient(height: int = 40, width: int = 60, channels: int = 3) -> np.ndarray:
    """Pixels whose neighbours, rows, columns and channels all differ."""
    y, x, c = np.ogrid[:height, :width, :channels]
    return ((3 * x + 5 * y + 70 * c) % 256).astype(np.uint8)


def encoded(pixels: np.ndarray, kind: str = "PNG", mode: str = "", **options) -> bytes:
    picture = Image.fromarray(pixels)
    picture = picture.convert(mode) if mode else picture
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def exif(orientation: int, order: str = "<", kind: int = 3) -> bytes:
    """An EXIF segment with nothing but an orientation."""
    mark = b"II" if order == "<" else b"MM"
    head = mark + struct.pack(f"{order}HI", 42, 8)
    entry = struct.pack(f"{order}HHIHH", 0x0112, kind, 1, orientation, 0)
    return b"Exif\0\0" + head + struct.pack(f"{order}H", 1) + entry + bytes(4)


def chunk(kind: bytes, content: bytes) -> bytes:
    """A PNG chunk with its check sum."""
    body = kind + content
    return struct.pack("!I", len(content)) + body + struct.pack("!I", zlib.crc32(body))


def png(
    width: int,
    height: int,
    bits: int,
    colour: int,
    raw: bytes,
    *extra: bytes,
    interlaced: bool = False,
) -> bytes:
    """A PNG from unfiltered scan lines; `extra` chunks go before the pixels."""
    fields = (width, height, bits, colour, 0, 0, interlaced)
    head = chunk(b"IHDR", struct.pack("!IIBBBBB", *fields))
    pixels = chunk(b"IDAT", zlib.compress(raw))
    return PNG + head + b"".join(extra) + pixels + chunk(b"IEND", b"")


def with_chunks(data: bytes, *extra: bytes) -> bytes:
    """A PNG with more chunks behind its header."""
    return data[:33] + b"".join(extra) + data[33:]


def bomb(size: int = 1 << 26) -> bytes:
    """Many zeros, in few bytes."""
    return zlib.compress(bytes(size), 9)


def text_bomb(data: bytes) -> bytes:
    return with_chunks(data, *(chunk(b"zTXt", b"Comment\0\0" + bomb()) for _ in "ab"))


def profile_bomb(data: bytes) -> bytes:
    return with_chunks(data, chunk(b"iCCP", b"profile\0\0" + bomb()))


def jpeg_claiming(data: bytes, width: int, height: int) -> bytes:
    """A JPEG whose header says another size."""
    at = data.index(b"\xff\xc0") + 5
    return data[:at] + struct.pack("!HH", height, width) + data[at + 4 :]


def jpeg_cut(data: bytes, share: float) -> bytes:
    """A JPEG of which a share of the scan is kept, *with* an end marker."""
    scan = data.index(b"\xff\xda")
    kept = data[: scan + int((len(data) - scan) * share)]
    return kept.rstrip(b"\xff") + b"\xff\xd9"


def without_segment(data: bytes, marker: int) -> bytes:
    """A JPEG without its segments of this marker."""
    at = data.find(bytes([0xFF, marker]))
    if at < 0:
        return data
    (length,) = struct.unpack_from("!H", data, at + 2)
    return data[:at] + data[at + 2 + length :]


def webp_claiming(width: int, height: int) -> bytes:
    """The header of a WebP canvas, and nothing that could be drawn on it."""
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    content = b"VP8X" + struct.pack("<I", 10) + bytes(4) + size
    return b"RIFF" + struct.pack("<I", len(content) + 4) + b"WEBP" + content


def tar(members: list[tuple[str, bytes]], format: int = tarfile.PAX_FORMAT) -> bytes:
    """An archive of plain files."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=format) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def tar_header(name: bytes, size: int, kind: bytes = b"0", extra: bytes = b"") -> bytes:
    """One ustar header; `extra` overwrites from byte 345 on."""
    block = bytearray(512)
    block[: len(name)] = name[:100]
    block[100:108] = b"0000644\0"
    block[124:136] = b"%011o\0" % size
    block[148:156] = b" " * 8
    block[156:157] = kind
    block[257:265] = b"ustar\0" + b"00"
    block[345 : 345 + len(extra)] = extra
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 512)


_HELD = []


def misbehave(data: bytes, max_pixels: int) -> object:
    """What a broken decoder does when told to."""
    if data == b"ABORT":
        os.abort()
    if data == b"EXIT":
        os._exit(3)
    if data == b"SPIN":
        while True:
            pass
    if data == b"SLEEP":
        time.sleep(3600)
    if data == b"SWELL":
        while True:
            _HELD.append(bytearray(1 << 24))
    if data == b"LEAK":
        _HELD.append(bytearray(300 << 20))
        data = encoded(gradient())
    if data == b"PRINT":
        os.write(1, b"to standard output")
        os.write(2, b"to standard error")
        data = encoded(gradient())
    if data == b"BUG":
        raise KeyError("a bug in the decoder")
    return honest(data, max_pixels)


def lie(answers: object, data: bytes, max_pixels: int) -> None:
    """What a decoder might say that an attacker has taken over."""
    from belvedere.transforms import decoding_child

    answers.write(decoding_child.ANSWER.pack(len(data)) + data)
    answers.flush()


if __name__ == "__main__":
    from belvedere.core.formats import pictures
    from belvedere.transforms import decoding_child

    honest = pictures.decode
    if sys.argv[1] == "lie":
        decoding_child._decode = lie
    elif sys.argv[1] == "die":
        sys.exit(7)
    else:
        pictures.decode = misbehave
    decoding_child.main(sys.argv[2:])
