"""A picture file as upright RGB pixels, or an error with a code.

What is read: JPEG, PNG, WebP, GIF, TIFF and BMP, known by content (`containers`).
Everything that has pixels becomes RGB uint8 by one of these rules:

- Of several frames or pages the first; of a PNG with animation its still picture.
- Grey, 1 bit, palette: the three channels by the palette, or equal.
- 16 bits per channel: the upper 8, v >> 8.
- Transparency: composited on white, as a browser shows it,
  round((c * a + 255 * (255 - a)) / 255).
- CMYK: r = (255 - c)(255 - k) / 255, no colour profile; a JPEG is taken as stored
  inverted where it has the Adobe marker, and as it is where it has none.
- Colour profiles and gamma are not applied.
- Signed, 12-bit, 32-bit and floating-point pixels and CIELAB are refused: they have no
  agreed white.
- EXIF orientation is applied and kept; where it cannot be read it counts as 1, with the
  note "exif_unreadable".

Size is checked on the header, before any pixel is decoded. Pillow's own warning about
large pictures is therefore silenced, and its hard limit is the most one may ask for.
The same bytes give the same pixels in every process with the same Pillow.
"""

import contextlib
import dataclasses
import io
import struct
import warnings
from collections.abc import Iterator

from PIL import (
    BmpImagePlugin,
    GifImagePlugin,
    ImageFile,
    JpegImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)
from PIL import Image as PillowImage

from belvedere.core.formats import containers, exif, pixels, png
from belvedere.core.formats.faults import PictureCode, PictureError
from belvedere.core.types import Image

MAX_PIXELS = 100_000_000
_PILLOW_LIMIT = 178_956_970

_PLUGINS = {
    "JPEG": JpegImagePlugin.JpegImageFile,
    "PNG": PngImagePlugin.PngImageFile,
    "WEBP": WebPImagePlugin.WebPImageFile,
    "GIF": GifImagePlugin.GifImageFile,
    "TIFF": TiffImagePlugin.TiffImageFile,
    "BMP": BmpImagePlugin.BmpImageFile,
}
_TIFF_ORIENTATION, _TIFF_BITS, _TIFF_PHOTOMETRIC = 274, 258, 262


@dataclasses.dataclass(frozen=True)
class Header:
    """What a file says of itself; size and mode as stored, before turning."""

    format: str
    mode: str
    width: int
    height: int
    exif_orientation: int
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class Picture:
    """An upright image and the header it came with."""

    image: Image
    header: Header

    def __post_init__(self) -> None:
        h = self.header
        wanted = exif.upright_size(h.width, h.height, h.exif_orientation)
        if (self.image.width, self.image.height) != wanted:
            got = f"{self.image.width} x {self.image.height}"
            raise ValueError(f"a picture of {got} pixels, its header says {wanted}")


def decode(data: bytes, max_pixels: int = MAX_PIXELS) -> Picture:
    """The upright RGB pixels of a picture file. Raises PictureError.

    Args:
      data: the content of the file.
      max_pixels: width times height allowed; what the header says decides.
    """
    with _guarded(max_pixels):
        opened, header = _opened(data, max_pixels)
        opened.load()
        _check_last_row(opened, data)
        turn = 1 if header.format == "TIFF" else header.exif_orientation
        upright = pixels.upright(pixels.rgb(opened, header.format), turn)
        del opened
        return Picture(Image(pixels.array(upright)), header)


@contextlib.contextmanager
def _guarded(max_pixels: int) -> Iterator[None]:
    """Turns whatever Pillow raises on hostile bytes into a PictureError."""
    if not 1 <= max_pixels <= _PILLOW_LIMIT:
        raise ValueError(f"max_pixels is {max_pixels}, wanted 1 to {_PILLOW_LIMIT}")
    if ImageFile.LOAD_TRUNCATED_IMAGES:
        raise ValueError("PIL.ImageFile.LOAD_TRUNCATED_IMAGES is set; it must not be")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except PictureError:
        raise
    except MemoryError as error:
        raise PictureError(PictureCode.DECODER_MEMORY, "out of memory") from error
    except PillowImage.DecompressionBombError as error:
        raise PictureError(PictureCode.TOO_LARGE, str(error)) from error
    except Exception as error:
        said = f"{type(error).__name__}: {error}"[:300]
        cut = "truncated" in said.lower()
        code = PictureCode.TRUNCATED if cut else PictureCode.UNREADABLE
        raise PictureError(code, said) from error


def _opened(data: bytes, max_pixels: int) -> tuple[ImageFile.ImageFile, Header]:
    kind, chunk = _allowed_format(data), b""
    if kind == "PNG":
        data, chunk = png.essence(data)
    elif kind == "JPEG":
        data = containers.jpeg_essence(data)
    elif kind == "WEBP":
        _check_size(containers.webp_size(data), max_pixels)
    opened = _open(kind, data, max_pixels)
    return opened, _header(opened, kind, chunk)


def _allowed_format(data: bytes) -> str:
    if not data:
        raise PictureError(PictureCode.TRUNCATED, "an empty file")
    kind = containers.format_of(data)
    if kind is None:
        allowed = ", ".join(containers.FORMATS)
        message = f"begins with {data[:8].hex(' ')}, wanted one of {allowed}"
        raise PictureError(PictureCode.FORMAT_NOT_ALLOWED, message)
    return kind


def _open(kind: str, data: bytes, max_pixels: int) -> ImageFile.ImageFile:
    try:
        opened = _PLUGINS[kind](io.BytesIO(data))
    except SyntaxError as error:
        raise PictureError(_open_fault(error), f"{kind}: {error}") from error
    _check_size(opened.size, max_pixels)
    _check_mode(opened, kind)
    return opened


def _open_fault(error: SyntaxError) -> PictureCode:
    """Pillow says the same of all broken headers; the reasons differ."""
    if isinstance(error.__cause__, (IndexError, EOFError, struct.error)):
        return PictureCode.TRUNCATED
    no_size = "not identified by this driver" in str(error)
    return PictureCode.ZERO_SIZE if no_size else PictureCode.UNREADABLE


def _check_size(size: tuple[int, int], max_pixels: int) -> None:
    width, height = size
    if width < 1 or height < 1:
        raise PictureError(PictureCode.ZERO_SIZE, f"{width} x {height} pixels")
    if width * height > max_pixels:
        message = f"{width} x {height} pixels, at most {max_pixels} are allowed"
        raise PictureError(PictureCode.TOO_LARGE, message)


def _check_mode(opened: ImageFile.ImageFile, kind: str) -> None:
    mode = opened.mode
    allowed = mode in pixels.ALLOWED
    if isinstance(opened, TiffImagePlugin.TiffImageFile) and mode in pixels.DEEP:
        tags = opened.tag_v2
        allowed = (tags.get(_TIFF_BITS), tags.get(_TIFF_PHOTOMETRIC)) == ((16,), 1)
    if not allowed:
        raise PictureError(PictureCode.MODE_NOT_ALLOWED, f"{kind} with pixels {mode}")


def _check_last_row(loaded: ImageFile.ImageFile, data: bytes) -> None:
    """Refuses a PNG whose pixels stop early; counts them where it looks like that."""
    if not isinstance(loaded, PngImagePlugin.PngImageFile):
        return
    width, height = loaded.size
    row = loaded.crop((0, height - 1, width, height))
    suspect = loaded.info.get("interlace") or row.getbbox(alpha_only=False) is None
    if suspect and not png.is_complete(data):
        raise PictureError(PictureCode.TRUNCATED, "a PNG with too few pixels")


def _header(opened: ImageFile.ImageFile, kind: str, chunk: bytes) -> Header:
    orientation = _orientation(opened, chunk)
    width, height = opened.size
    if kind == "TIFF":  # the size it will have when Pillow has turned it
        width, height = exif.upright_size(width, height, orientation or 1)
    notes = () if orientation else ("exif_unreadable",)
    return Header(kind, opened.mode, width, height, orientation or 1, notes)


def _orientation(opened: ImageFile.ImageFile, chunk: bytes) -> int | None:
    if not isinstance(opened, TiffImagePlugin.TiffImageFile):
        return exif.orientation(chunk or opened.info.get("exif", b""))
    # Pillow turns a TIFF while it loads it; only the tag may tell it to.
    opened.info.pop("xmp", None)
    tag = opened.tag_v2.get(_TIFF_ORIENTATION, 1)
    return tag if tag in range(1, 9) else None
