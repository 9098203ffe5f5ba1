"""The parent's end of a decoder process: start it, ask it, know how it died.

Every wait has an end, and every number that comes back is checked before it is used.
"""

import contextlib
import dataclasses
import fcntl
import json
import logging
import os
import select
import signal
import subprocess
import time
from typing import Any

import numpy as np

from belvedere.core.formats import containers, exif, pictures
from belvedere.core.formats.faults import PictureCode, PictureError
from belvedere.core.formats.pictures import Header, Picture
from belvedere.core.types import Image
from belvedere.transforms.decoding_child import ANSWER, REQUEST

_START_SECONDS = 120
_LONGEST_ANSWER = 1 << 14
_PIPE_BYTES = 1 << 20
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclasses.dataclass(frozen=True)
class Limits:
    """What one picture may cost.

    Attributes:
      max_pixels: by its header.
      max_bytes: of the file.
      cpu_seconds: of processor time, a second more or less.
      wall_seconds: by the clock.
      memory_bytes: of the child, all in all; 100 megapixels need 1.3 to 2.1 GB.
    """

    max_pixels: int = pictures.MAX_PIXELS
    max_bytes: int = 1 << 28
    cpu_seconds: int = 30
    wall_seconds: float = 180.0
    memory_bytes: int = 3 << 30

    def check_bytes(self, size: int) -> None:
        if size > self.max_bytes:
            message = f"{size} bytes, at most {self.max_bytes} are allowed"
            raise PictureError(PictureCode.TOO_MANY_BYTES, message)


class Lost(Exception):
    """The child cannot be asked again."""

    def __init__(self, code: PictureCode, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


class Child:
    """A decoder process and the two pipes to it."""

    def __init__(self, command: tuple[str, ...], limits: Limits) -> None:
        self.limits = limits
        self.asked = 0
        numbers = (limits.max_pixels, limits.cpu_seconds, limits.memory_bytes)
        self._process = subprocess.Popen(
            [*command, *map(str, numbers)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | _ONE_THREAD,
            bufsize=0,
        )
        assert self._process.stdin and self._process.stdout
        self._requests = self._process.stdin.fileno()
        self._answers = self._process.stdout.fileno()
        for pipe in (self._requests, self._answers):
            os.set_blocking(pipe, False)
            _widen(pipe)
        self._greet()

    def _greet(self) -> None:
        """A decoder that cannot start is no picture's fault."""
        try:
            ready = self._document(time.monotonic() + _START_SECONDS)
        except Lost as lost:
            self.stop()
            said = f"the decoder process does not start: {lost.message}"
            raise RuntimeError(said) from lost
        if not ready.get("memory_limited"):
            logging.warning("this system does not limit the memory of decoders")

    def ask(self, data: bytes) -> Picture:
        self.asked += 1
        deadline = time.monotonic() + self.limits.wall_seconds
        self._send(REQUEST.pack(len(data)), deadline)
        self._send(data, deadline)
        document = self._document(deadline)
        if "header" not in document:
            raise told_error(document)
        header = checked_header(document["header"], self.limits.max_pixels)
        size = (header.width, header.height, header.exif_orientation)
        wide, high = exif.upright_size(*size)
        pixels = np.empty((high, wide, 3), np.uint8)
        self._receive(pixels.data.cast("B"), deadline)
        return Picture(Image(pixels), header)

    def stop(self) -> None:
        self._process.kill()
        with self._process:  # closes the pipes and waits
            pass

    def _document(self, deadline: float) -> dict[str, Any]:
        (length,) = ANSWER.unpack(self._receive(bytearray(ANSWER.size), deadline))
        if length > _LONGEST_ANSWER:
            raise Lost(PictureCode.DECODER_CRASHED, "an answer of absurd length")
        text = bytes(self._receive(bytearray(length), deadline))
        with contextlib.suppress(ValueError, RecursionError):
            document = json.loads(text)
            if isinstance(document, dict):
                return document
        raise Lost(PictureCode.DECODER_CRASHED, "an answer that is no document")

    def _send(self, data: bytes, deadline: float) -> None:
        rest = memoryview(data)
        while rest:
            self._wait(self._requests, select.POLLOUT, deadline)
            try:
                rest = rest[os.write(self._requests, rest) :]
            except BrokenPipeError:
                raise self._death() from None

    def _receive(self, buffer: Any, deadline: float) -> Any:
        rest = memoryview(buffer)
        while rest:
            self._wait(self._answers, select.POLLIN, deadline)
            got = os.readv(self._answers, [rest])
            if got == 0:
                raise self._death()
            rest = rest[got:]
        return buffer

    def _wait(self, descriptor: int, event: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(descriptor, event)
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            said = f"no answer within {self.limits.wall_seconds:g} seconds"
            raise Lost(PictureCode.DECODER_TIMEOUT, said)

    def _death(self) -> Lost:
        status = self._process.wait()
        if status == -signal.SIGXCPU:
            said = f"more than {self.limits.cpu_seconds} seconds of processor time"
            return Lost(PictureCode.DECODER_TIMEOUT, said)
        name = signal.Signals(-status).name if status < 0 else f"exit code {status}"
        return Lost(PictureCode.DECODER_CRASHED, f"the decoder ended with {name}")


def _widen(pipe: int) -> None:
    """Room for a whole picture: fewer turns between the two processes."""
    with contextlib.suppress(OSError, AttributeError):  # a wish, Linux only
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def told_error(document: dict[str, Any]) -> Exception:
    """The error an answer tells of, if its code is one of ours."""
    try:
        code = PictureCode(document.get("code", ""))
    except ValueError:
        return Lost(PictureCode.DECODER_CRASHED, "an answer without a known code")
    return PictureError(code, str(document.get("message", ""))[:400])


def checked_header(fields: Any, max_pixels: int) -> Header:
    """The header of an answer, which is as trustworthy as the picture was."""
    with contextlib.suppress(TypeError, KeyError, ValueError):
        header = Header(**{**fields, "notes": tuple(map(str, fields["notes"]))})
        numbers = (header.width, header.height, header.exif_orientation)
        if (
            all(type(n) is int and n > 0 for n in numbers)
            and header.exif_orientation <= 8
            and header.width * header.height <= max_pixels
            and header.format in containers.FORMATS
            and isinstance(header.mode, str)
        ):
            return header
    raise Lost(PictureCode.DECODER_CRASHED, "an answer that makes no sense")
