"""Any bytes become upright RGB pixels by a known rule, or an error with its code."""

import io
import pickle

import hostile
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import formats as oracle
from PIL import Image, ImageFile

from belvedere.core.formats import containers, pictures, png
from belvedere.core.formats.faults import PictureCode, PictureError

GRADIENT = hostile.gradient()
LOSSLESS = [
    ("PNG", {}),
    ("BMP", {}),
    ("TIFF", {}),
    ("TIFF", {"compression": "tiff_lzw"}),
    ("TIFF", {"compression": "tiff_deflate"}),
    ("WEBP", {"lossless": True, "exact": True}),
]


def code_of(data, **limits):
    with pytest.raises(PictureError) as caught:
        pictures.decode(data, **limits)
    assert caught.value.message
    return caught.value.code


@pytest.mark.parametrize(("kind", "options"), LOSSLESS)
def test_lossless_formats_give_the_pixels_back(kind, options):
    picture = pictures.decode(hostile.encoded(GRADIENT, kind, **options))
    assert np.array_equal(picture.image.pixels, GRADIENT)
    assert picture.header == pictures.Header(kind, "RGB", 60, 40, 1)


@pytest.mark.parametrize("progressive", [False, True])
def test_jpeg_gives_what_a_plain_decoder_gives(progressive):
    data = hostile.encoded(GRADIENT, "JPEG", quality=90, progressive=progressive)
    plain = np.asarray(Image.open(io.BytesIO(data)))
    assert np.array_equal(pictures.decode(data).image.pixels, plain)


def test_gif_gives_its_first_frame():
    frames = [Image.fromarray(GRADIENT // 64 * 64), Image.new("RGB", (60, 40), "red")]
    file = io.BytesIO()
    first = frames[0].quantize(64, dither=Image.Dither.NONE)
    first.save(file, "GIF", save_all=True, append_images=frames[1:])
    wanted = np.asarray(first.convert("RGB"))
    assert np.array_equal(pictures.decode(file.getvalue()).image.pixels, wanted)


def test_tiff_gives_its_first_page():
    file = io.BytesIO()
    pages = [Image.new("RGB", (9, 9), "red")]
    first = Image.fromarray(GRADIENT)
    first.save(file, "TIFF", save_all=True, append_images=pages)
    assert np.array_equal(pictures.decode(file.getvalue()).image.pixels, GRADIENT)


def test_animated_png_gives_its_still_picture():
    file = io.BytesIO()
    still, frame = Image.fromarray(GRADIENT), Image.new("RGB", (60, 40), "red")
    still.save(file, "PNG", save_all=True, append_images=[frame], default_image=True)
    assert np.array_equal(pictures.decode(file.getvalue()).image.pixels, GRADIENT)


def test_content_decides_not_the_name():
    """ImageNet has a PNG called .JPEG; nobody here even asks for the name."""
    for kind in containers.FORMATS:
        assert pictures.decode(hostile.encoded(GRADIENT, kind)).header.format == kind


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "WEBP", "JPEG"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_is_applied_and_kept(kind, orientation):
    options = {"lossless": True} if kind == "WEBP" else {}
    tags = Image.Exif()
    tags[0x0112] = orientation
    exif = tags if kind == "TIFF" else hostile.exif(orientation)
    data = hostile.encoded(GRADIENT, kind, exif=exif, **options)
    plain = hostile.encoded(GRADIENT, kind, **options)
    stored = pictures.decode(plain).image.pixels
    picture = pictures.decode(data)
    assert np.array_equal(picture.image.pixels, oracle.turned(stored, orientation))
    header = picture.header
    assert (header.width, header.height) == (60, 40)
    assert header.exif_orientation == orientation
    assert header.notes == ()


def test_png_orientation_behind_the_pixels_counts():
    data = hostile.encoded(GRADIENT)
    chunk = hostile.chunk(b"eXIf", hostile.exif(6).removeprefix(b"Exif\0\0"))
    moved = data[:-12] + chunk + data[-12:]
    assert pictures.decode(moved).header.exif_orientation == 6


@pytest.mark.parametrize(
    "exif",
    [
        b"Exif\0\0garbage",
        b"Exif\0\0II",
        hostile.exif(0),
        hostile.exif(9),
        hostile.exif(6, kind=7),
        hostile.exif(6)[:-8],
        hostile.exif(6).replace(b"II*\0", b"II+\0"),
        hostile.exif(6).replace(b"\x08\0\0\0", b"\xff\xff\xff\xff"),
    ],
)
def test_corrupt_exif_counts_as_upright_and_is_noted(exif):
    picture = pictures.decode(hostile.encoded(GRADIENT, "JPEG", exif=exif))
    assert picture.header.exif_orientation == 1
    assert picture.header.notes == ("exif_unreadable",)


def test_xmp_is_not_asked_for_the_orientation():
    xmp = b'<x tiff:Orientation="6"/>'
    for kind in ("JPEG", "TIFF"):
        tags = {700: xmp} if kind == "TIFF" else {}
        options = {"tiffinfo": tags} if tags else {"xmp": xmp}
        picture = pictures.decode(hostile.encoded(GRADIENT, kind, **options))
        assert picture.image.width == 60


def test_alpha_is_composited_on_white():
    rgba = hostile.gradient(channels=4)
    rgba[..., 3] = hostile.gradient()[..., 0][::-1]
    wanted = oracle.on_white(rgba)
    for kind in ("PNG", "TIFF"):
        picture = pictures.decode(hostile.encoded(rgba, kind))
        assert np.array_equal(picture.image.pixels, wanted)


def test_grey_with_alpha_is_composited_on_white():
    data = hostile.encoded(hostile.gradient(channels=4), mode="LA")
    grey = np.asarray(Image.open(io.BytesIO(data)))
    rgba = grey[..., [0, 0, 0, 1]]
    assert np.array_equal(pictures.decode(data).image.pixels, oracle.on_white(rgba))


def test_a_transparent_colour_is_white():
    row = b"\0" + bytes([10, 20, 30])
    grey = hostile.png(3, 1, 8, 0, row, hostile.chunk(b"tRNS", b"\0\x14"))
    assert pictures.decode(grey).image.pixels[0, :, 0].tolist() == [10, 255, 30]
    palette = hostile.chunk(b"PLTE", bytes(range(9)))
    keyed = hostile.chunk(b"tRNS", b"\xff\0\xff")
    data = hostile.png(3, 1, 8, 3, b"\0\0\1\2", palette, keyed)
    wanted = [[0, 1, 2], [255, 255, 255], [6, 7, 8]]
    assert pictures.decode(data).image.pixels[0].tolist() == wanted


@pytest.mark.parametrize(("colour", "channels"), [(0, 1), (2, 3)])
def test_sixteen_bits_keep_the_upper_eight(colour, channels):
    deep = np.linspace(0, 65535, 5 * 7 * channels).astype(">u2").reshape(5, 7, channels)
    rows = b"".join(b"\0" + row.tobytes() for row in deep)
    key = hostile.chunk(b"tRNS", b"\x12\x34" * channels)
    for data in (
        hostile.png(7, 5, 16, colour, rows),
        hostile.png(7, 5, 16, colour, rows, key),
    ):
        pixels = pictures.decode(data).image.pixels
        wanted = np.broadcast_to(deep >> 8, (5, 7, 3))
        assert np.array_equal(pixels, wanted)


def test_sixteen_bit_tiff_keeps_the_upper_eight():
    deep = (hostile.gradient()[..., 0].astype(np.uint16) << 8) + 77
    pixels = pictures.decode(hostile.encoded(deep, "TIFF")).image.pixels
    assert np.array_equal(pixels, hostile.gradient()[..., [0, 0, 0]])


def test_one_bit_and_palette():
    grey = hostile.gradient()[..., 0] > 127
    ones = pictures.decode(hostile.encoded(grey)).image.pixels
    assert np.array_equal(ones, np.repeat(grey[..., None] * np.uint8(255), 3, 2))
    data = hostile.encoded(GRADIENT, mode="P")
    wanted = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    assert np.array_equal(pictures.decode(data).image.pixels, wanted)


def test_cmyk_with_and_without_the_adobe_marker():
    inks = hostile.gradient(channels=4)
    file = io.BytesIO()
    Image.fromarray(inks, "CMYK").save(file, "JPEG", quality=100, subsampling=0)
    adobe = file.getvalue()
    assert b"Adobe" in adobe
    pixels = pictures.decode(adobe).image.pixels
    assert np.abs(pixels - oracle.from_cmyk(inks)).mean() < 3
    bare = hostile.without_segment(adobe, 0xEE)
    pixels = pictures.decode(bare).image.pixels
    assert np.abs(pixels - oracle.from_cmyk(255 - inks)).mean() < 3


def test_cmyk_tiff_is_exact():
    inks = hostile.gradient(channels=4)
    file = io.BytesIO()
    Image.fromarray(inks, "CMYK").save(file, "TIFF")
    pixels = pictures.decode(file.getvalue()).image.pixels
    assert np.abs(pixels - oracle.from_cmyk(inks)).max() <= 1


@pytest.mark.parametrize("mode", ["I", "F", "LAB"])
def test_pixels_without_a_white_are_refused(mode):
    assert code_of(hostile.encoded(GRADIENT, "TIFF", mode)) == "mode_not_allowed"


@pytest.mark.parametrize("size", [(1, 1), (1, 700), (700, 1)])
def test_thin_pictures_are_pictures(size):
    pixels = np.full((*size, 3), 7, np.uint8)
    for kind in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP"):
        picture = pictures.decode(hostile.encoded(pixels, kind))
        assert picture.image.pixels.shape == (*size, 3)


@pytest.mark.parametrize("kind", containers.FORMATS)
@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.6, 0.9])
def test_a_cut_file_is_refused(kind, share):
    data = hostile.encoded(GRADIENT, kind)
    cut = data[: int(len(data) * share)]
    assert code_of(cut) in ("truncated", "format_not_allowed", "unreadable")


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("subsampling", [0, 2])
def test_a_cut_jpeg_with_an_end_marker_is_not_filled_with_grey(share, subsampling):
    pixels = hostile.gradient(200, 300)
    data = hostile.encoded(pixels, "JPEG", subsampling=subsampling)
    cut = hostile.jpeg_cut(data, share)
    Image.open(io.BytesIO(cut)).load()  # a plain decoder does not mind
    assert code_of(cut) == "truncated"


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 70),
    st.integers(1, 70),
    st.sampled_from([1, 40, 90, 100]),
    st.sampled_from([0, 1, 2]),
    st.integers(0, 4),
    st.integers(0, 2**32 - 1),
)
def test_complete_jpegs_are_never_refused(high, wide, quality, sub, restart, seed):
    noise = np.random.default_rng(seed).integers(0, 256, (high, wide, 3), np.uint8)
    options = {"quality": quality, "subsampling": sub, "restart_marker_blocks": restart}
    data = hostile.encoded(noise, "JPEG", **options)
    wanted = np.asarray(Image.open(io.BytesIO(data)))
    trailing = data + b"more behind the end, \xff\xd8\xff and the like"
    for version in (data, trailing):
        assert np.array_equal(pictures.decode(version).image.pixels, wanted)


def test_a_damaged_png_is_refused_by_its_check_sum():
    data = bytearray(hostile.encoded(hostile.gradient(60, 60)))
    data[data.index(b"IDAT") + 30] ^= 1
    assert code_of(bytes(data)) == "unreadable"


@pytest.mark.parametrize(("bits", "colour"), [(1, 0), (8, 2), (16, 0), (16, 6), (4, 3)])
def test_a_png_with_too_few_rows_is_truncated(bits, colour):
    channels = {0: 1, 2: 3, 3: 1, 6: 4}[colour]
    row = b"\0" + bytes(-(-5 * bits * channels // 8))
    palette = hostile.chunk(b"PLTE", bytes(48))
    assert pictures.decode(hostile.png(5, 4, bits, colour, 4 * row, palette))
    assert code_of(hostile.png(5, 4, bits, colour, 3 * row, palette)) == "truncated"


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 3))
def test_interlaced_pngs_are_counted_pass_by_pass(wide, high, missing):
    """Rows of each pass by going through all pixels, not by the closed form."""
    starts = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4))
    starts += ((0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
    raw = b""
    for x, y, by_x, by_y in starts:
        columns = len(range(x, wide, by_x))
        for _ in range(y, high, by_y):
            raw += b"\0" + b"\x07" * columns if columns else b""
    data = hostile.png(wide, high, 8, 0, raw[: len(raw) - missing], interlaced=True)
    if missing:
        assert code_of(data) == "truncated"
    else:
        assert (pictures.decode(data).image.pixels == 7).all()


@pytest.mark.parametrize(
    "data",
    [
        hostile.png(60000, 60000, 8, 2, bytes(100)),
        hostile.jpeg_claiming(hostile.encoded(GRADIENT, "JPEG"), 60000, 60000),
        hostile.webp_claiming(1 << 24, 200),
        hostile.webp_claiming(16000, 16000),
        b"GIF89a" + b"\xff\xff\xff\xff" + bytes(3) + b"," + b"\xff" * 8 + bytes(9),
    ],
)
def test_a_header_that_says_too_much_is_refused_unread(data):
    assert code_of(data) == "too_large"


@pytest.mark.parametrize("kind", containers.FORMATS)
def test_the_limit_is_exact(kind):
    data = hostile.encoded(GRADIENT, kind)
    assert pictures.decode(data, 2400).image.width == 60
    assert code_of(data, max_pixels=2399) == "too_large"


def test_more_than_pillow_allows_cannot_be_asked_for():
    with pytest.raises(ValueError, match="max_pixels"):
        pictures.decode(hostile.encoded(GRADIENT), 10**9)


def test_nothing_is_decoded_where_half_pictures_are_wanted(monkeypatch):
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    with pytest.raises(ValueError, match="LOAD_TRUNCATED_IMAGES"):
        pictures.decode(hostile.encoded(GRADIENT))


def test_pictures_of_no_size():
    assert code_of(hostile.png(0, 5, 8, 2, b"")) == "zero_size"
    flat = hostile.jpeg_claiming(hostile.encoded(GRADIENT, "JPEG"), 60, 0)
    assert code_of(flat) == "zero_size"


@pytest.mark.parametrize("make", [hostile.text_bomb, hostile.profile_bomb])
def test_metadata_bombs_are_not_opened(make):
    """The picture is read, and what would swell is never decompressed."""
    data = make(hostile.encoded(GRADIENT))
    essence, _ = png.essence(data)
    assert len(essence) < 2000
    assert np.array_equal(pictures.decode(data).image.pixels, GRADIENT)


@pytest.mark.parametrize(
    "data",
    [b"", b"hello", b"<svg/>", b"%PDF-1.4", b"8BPS" + bytes(40), b"\0" * 100],
)
def test_what_is_no_picture(data):
    wanted = "format_not_allowed" if data else "truncated"
    assert code_of(data) == wanted


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_damage_ends_in_a_picture_or_a_code(data):
    kind = data.draw(st.sampled_from(containers.FORMATS))
    file = bytearray(hostile.encoded(hostile.gradient(9, 11), kind))
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(file) - 1))
        file[place] = data.draw(st.integers(0, 255))
    try:
        picture = pictures.decode(bytes(file), 10**6)
    except PictureError as error:
        assert error.code in PictureCode
    else:
        assert picture.image.pixels.dtype == np.uint8


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(
        [b"\xff\xd8\xff", hostile.PNG, b"GIF89a", b"II*\0", b"MM\0+", b"BM"]
    ),
    st.binary(max_size=300),
)
def test_garbage_behind_a_signature_ends_in_a_code(signature, garbage):
    assert code_of(signature + garbage) in PictureCode


def test_large_pictures_are_copied_in_strips():
    pixels = np.tile(hostile.gradient(1000, 100), (1, 30, 1))
    assert np.array_equal(pictures.decode(hostile.encoded(pixels)).image.pixels, pixels)


def test_errors_travel():
    error = PictureError(PictureCode.TRUNCATED, "half of it")
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.code, copy.message) == (error.code, error.message)
    assert str(copy) == "truncated: half of it"
