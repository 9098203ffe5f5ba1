"""The process in which pictures are decoded: it may crash, spin or swell, and only it.

Started by `decoding` as `python -m`, it answers one request after the other:

    request:  length (8 bytes), the content of a picture file
    answer:   length (4 bytes), a JSON document; pixels [H, W, 3] if it has a "header"

The first answer is unasked for and says that it is ready. Numbers are big-endian. When
the other end is closed, it ends. It has a limit on its memory, one on the processor
time of each picture, leaves no core files and writes to no file.
"""

import json
import os
import resource
import signal
import struct
import sys
from typing import IO, Any

from belvedere.core.formats import pictures
from belvedere.core.formats.faults import PictureCode, PictureError

REQUEST = struct.Struct("!Q")
ANSWER = struct.Struct("!I")


def main(arguments: list[str]) -> None:
    """Serves until the requests end; arguments: max_pixels, cpu_seconds, memory."""
    max_pixels, cpu_seconds, memory_bytes = (int(a) for a in arguments)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to end
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    _silence()
    limited = _limit(memory_bytes)
    _answer(answers, {"ready": True, "memory_limited": limited})
    while head := requests.read(REQUEST.size):
        data = requests.read(REQUEST.unpack(head)[0])
        _allow_time(cpu_seconds)
        _decode(answers, data, max_pixels)


def _silence() -> None:
    """Decoders print as they please; nothing of that may get into the answers."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)


def _limit(memory_bytes: int) -> bool:
    """False where the system does not limit the memory of a process (macOS)."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    try:
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    except (ValueError, OSError):
        return False
    return True


def _allow_time(seconds: int) -> None:
    """SIGXCPU ends the process when this picture has used its processor time."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = int(usage.ru_utime + usage.ru_stime) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    unlimited = hard == resource.RLIM_INFINITY
    soft = used + seconds if unlimited else min(hard, used + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _decode(answers: IO[bytes], data: bytes, max_pixels: int) -> None:
    try:
        picture = pictures.decode(data, max_pixels)
    except PictureError as error:
        _answer(answers, {"code": error.code, "message": error.message})
    except MemoryError:
        code = PictureCode.DECODER_MEMORY
        _answer(answers, {"code": code, "message": "out of memory"})
    except Exception as error:
        said = f"{type(error).__name__}: {error}"[:300]
        _answer(answers, {"code": PictureCode.DECODER_CRASHED, "message": said})
    else:
        header = vars(picture.header)
        _answer(answers, {"header": header}, picture.image.pixels.data)


def _answer(answers: IO[bytes], document: dict[str, Any], pixels: Any = b"") -> None:
    text = json.dumps(document).encode()
    answers.write(ANSWER.pack(len(text)) + text)
    answers.write(pixels)
    answers.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
