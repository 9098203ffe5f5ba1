"""A picture that breaks its decoder costs that picture; all others come as ever."""

import os
import resource
import subprocess
import sys
import threading
import time

import hostile
import numpy as np
import pytest
from decoders import InProcessDecoder

from belvedere.core.formats import containers
from belvedere.core.formats.faults import PictureCode, PictureError
from belvedere.transforms import decoding_process
from belvedere.transforms.decoding import Decoder, Limits

GOOD = hostile.encoded(hostile.gradient())
QUICK = Limits(cpu_seconds=1, wall_seconds=20, memory_bytes=700 << 20)
MISBEHAVING = (sys.executable, "-P", hostile.__file__, "misbehave")
LYING = (sys.executable, "-P", hostile.__file__, "lie")


@pytest.fixture(scope="module")
def decoder():
    with Decoder() as decoder:
        yield decoder


@pytest.fixture(scope="module")
def broken():
    with Decoder(QUICK, MISBEHAVING) as decoder:
        yield decoder


def outcome(decoder, data):
    try:
        picture = decoder.decode(data)
    except PictureError as error:
        return error.code, error.message
    return picture.header, picture.image.pixels.tobytes()


def code_of(decoder, data):
    with pytest.raises(PictureError) as caught:
        decoder.decode(data)
    return caught.value.code


def zoo():
    """Everything that a folder of pictures from the wild may hold."""
    pixels = hostile.gradient(150, 200)
    jpeg = hostile.encoded(pixels, "JPEG")
    yield from (hostile.encoded(pixels, kind) for kind in containers.FORMATS)
    yield from (
        hostile.encoded(pixels, kind, mode)
        for kind, mode in [("PNG", "P"), ("PNG", "1"), ("PNG", "LA"), ("TIFF", "CMYK")]
    )
    yield from (hostile.encoded(pixels, "JPEG", exif=hostile.exif(o)) for o in range(9))
    yield from (hostile.text_bomb(GOOD), hostile.profile_bomb(GOOD))
    yield from (jpeg[:3000], hostile.jpeg_cut(jpeg, 0.5), b"", b"garbage", GOOD[:-20])
    yield hostile.jpeg_claiming(jpeg, 60000, 60000)
    yield hostile.webp_claiming(1 << 24, 200)
    yield hostile.png(0, 4, 8, 2, b"")
    yield hostile.encoded(pixels, "TIFF", "F")
    yield hostile.encoded(np.zeros((1, 1, 3), np.uint8), "JPEG")


def test_the_same_pictures_and_errors_as_in_process(decoder):
    here = InProcessDecoder()
    for data in zoo():
        assert outcome(decoder, data) == outcome(here, data)
    assert decoder._child.asked > 30, "one process serves them all"


def test_a_file_that_is_too_large_is_not_sent():
    decoder = Decoder(Limits(max_bytes=len(GOOD) - 1))
    assert code_of(decoder, GOOD) == PictureCode.TOO_MANY_BYTES


@pytest.mark.parametrize("order", [b"ABORT", b"EXIT"])
def test_a_crash_costs_one_picture(broken, order):
    for _ in range(2):
        assert outcome(broken, GOOD) == outcome(InProcessDecoder(), GOOD)
        assert code_of(broken, order) == PictureCode.DECODER_CRASHED
    assert outcome(broken, GOOD) == outcome(InProcessDecoder(), GOOD)


def test_a_crash_is_named(broken):
    with pytest.raises(PictureError, match="SIGABRT"):
        broken.decode(b"ABORT")
    with pytest.raises(PictureError, match="exit code 3"):
        broken.decode(b"EXIT")


def test_a_decoder_that_spins_is_stopped(broken):
    begun = time.monotonic()
    with pytest.raises(PictureError, match="processor time") as caught:
        broken.decode(b"SPIN")
    assert caught.value.code == PictureCode.DECODER_TIMEOUT
    assert time.monotonic() - begun < QUICK.wall_seconds
    assert broken.decode(GOOD)


def test_a_decoder_that_sleeps_is_stopped():
    with Decoder(Limits(wall_seconds=1.5), MISBEHAVING) as decoder:
        with pytest.raises(PictureError, match="no answer within") as caught:
            decoder.decode(b"SLEEP")
        assert caught.value.code == PictureCode.DECODER_TIMEOUT


def test_processor_time_is_counted_per_picture(broken):
    """Many honest pictures together may take longer than one may."""
    broken.decode(GOOD)
    process = broken._child._process.pid
    big = hostile.encoded(hostile.gradient(700, 700), "PNG", compress_level=1)
    used, begun = 0.0, time.monotonic()
    while used < 1.6 * QUICK.cpu_seconds + 1 and time.monotonic() - begun < 60:
        broken.decode(big)
        with open(f"/proc/{process}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    assert broken._child._process.pid == process


def test_a_decoder_that_swells_is_stopped(broken):
    assert code_of(broken, b"SWELL") == PictureCode.DECODER_MEMORY
    assert broken.decode(GOOD)


def test_a_real_decoder_meets_its_limit():
    """Nine megapixels with alpha do not fit beside Python in 160 MB."""
    rows = b"".join(b"\0" + bytes(4 * 3000) for _ in range(3000))
    data = hostile.png(3000, 3000, 8, 6, rows)
    with Decoder(Limits(memory_bytes=200 << 20)) as decoder:
        assert code_of(decoder, data) == PictureCode.DECODER_MEMORY
        assert decoder.decode(GOOD)
    with Decoder() as decoder:
        assert (decoder.decode(data).image.pixels == 255).all()


def test_the_verdict_does_not_depend_on_the_pictures_before(broken):
    """Leaks of others are not held against a picture: it gets a fresh process."""
    for _ in range(5):
        assert outcome(broken, b"LEAK") == outcome(InProcessDecoder(), GOOD)


def test_what_decoders_print_does_not_reach_the_answers(broken):
    assert outcome(broken, b"PRINT") == outcome(InProcessDecoder(), GOOD)


def test_a_bug_in_the_decoder_is_a_dead_letter_too(broken):
    with pytest.raises(PictureError, match="KeyError") as caught:
        broken.decode(b"BUG")
    assert caught.value.code == PictureCode.DECODER_CRASHED


@pytest.mark.parametrize("answer", [b"not JSON", b" " * 20_000, b'{"header": 7}'])
def test_an_answer_is_not_believed(answer):
    with Decoder(QUICK, LYING) as decoder:
        assert code_of(decoder, answer) == PictureCode.DECODER_CRASHED


HONEST = {"format": "PNG", "mode": "RGB", "width": 4, "height": 3} | {
    "exif_orientation": 6,
    "notes": ["exif_unreadable"],
}


def test_a_header_that_makes_sense_is_taken():
    header = decoding_process.checked_header(HONEST, 12)
    assert (header.width, header.notes) == (4, ("exif_unreadable",))


@pytest.mark.parametrize(
    "change",
    [
        {"width": 5},
        {"width": -4, "height": -3},
        {"width": 4.0},
        {"width": True},
        {"width": "4"},
        {"exif_orientation": 9},
        {"format": "EXE"},
        {"mode": None},
        {"notes": 7},
        {"unknown": 1},
    ],
)
def test_a_header_that_makes_no_sense_is_not(change):
    with pytest.raises(decoding_process.Lost):
        decoding_process.checked_header(HONEST | change, 12)


@pytest.mark.parametrize("document", [{}, {"code": "unheard of"}, {"code": ["x"]}])
def test_a_code_that_is_none_is_not_believed(document):
    with pytest.raises(decoding_process.Lost):
        raise decoding_process.told_error(document)


def test_a_decoder_that_cannot_start_is_no_picture_s_fault():
    dying = (sys.executable, "-P", hostile.__file__, "die")
    with pytest.raises(RuntimeError, match="does not start"):
        Decoder(QUICK, dying).decode(GOOD)


def test_threads_take_turns(decoder):
    wanted = outcome(InProcessDecoder(), GOOD)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(outcome(decoder, GOOD)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted] * 8


def test_closing_ends_the_process_and_it_may_begin_again():
    decoder = Decoder()
    decoder.close()
    decoder.decode(GOOD)
    process = decoder._child._process
    decoder.close()
    decoder.close()
    assert process.poll() is not None
    assert decoder.decode(GOOD)
    decoder.close()


def test_a_child_ends_with_its_parent():
    code = (
        "import hostile, os, signal;"
        "from belvedere.transforms.decoding import Decoder;"
        "d = Decoder(); d.decode(hostile.encoded(hostile.gradient()));"
        "print(d._child._process.pid, flush=True);"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    support = os.path.dirname(hostile.__file__)
    out = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": support},
        capture_output=True,
        text=True,
    )
    child = int(out.stdout)
    for _ in range(100):
        if not os.path.exists(f"/proc/{child}"):
            return
        time.sleep(0.1)
    raise AssertionError("the decoder outlived its parent")


def test_the_memory_of_the_worker_stays_flat(decoder):
    pictures = [
        hostile.encoded(hostile.gradient(400, 500), kind) for kind in ("JPEG", "PNG")
    ]
    for data in pictures * 10:
        decoder.decode(data)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for data in pictures * 100:
        decoder.decode(data)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 8 * 1024, f"{grown} KB more after 200 pictures"
