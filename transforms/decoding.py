"""Decoding that survives its pictures.

A `Decoder` keeps one child process (`decoding_child`) and sends it one picture after
the other: bytes through a pipe, pixels back through another. A picture that crashes its
decoder, spins, sleeps or asks for too much memory costs this picture and a restart of
the child (a few tenths of a second), never the worker. What comes back is checked like
any input: lengths, types and sizes before memory is reserved, and nothing is unpickled.

The verdict is the picture's own: where a child that has served others before crashes or
runs out of memory, the picture is tried once more in a fresh one.

The limit of time is on the processor time of the child, so that a busy machine does not
kill honest pictures; one on the clock, much longer, catches what sleeps.
"""

import sys
import threading

from belvedere.core.formats.faults import PictureCode, PictureError
from belvedere.core.formats.pictures import Picture
from belvedere.transforms.decoding_process import Child, Limits, Lost

_CHILD = (sys.executable, "-P", "-m", "belvedere.transforms.decoding_child")


class Decoder:
    """Decodes in a child process of its own, which starts with the first picture.

    Threads may share it; they take turns. Open it in `DoFn.setup`, or share one per
    process, and close it in `teardown`; a child whose parent is gone ends by itself.
    """

    def __init__(
        self, limits: Limits | None = None, command: tuple[str, ...] = _CHILD
    ) -> None:
        self.limits = limits or Limits()
        self._command = command
        self._child: Child | None = None
        self._turn = threading.Lock()

    def __enter__(self) -> "Decoder":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def decode(self, data: bytes) -> Picture:
        """The picture, or PictureError."""
        self.limits.check_bytes(len(data))
        with self._turn:
            used = self._child is not None and self._child.asked > 0
            try:
                return self._ask(data)
            except PictureError as error:
                doubtful = (PictureCode.DECODER_CRASHED, PictureCode.DECODER_MEMORY)
                if not used or error.code not in doubtful:
                    raise
            self._stop()
            return self._ask(data)

    def close(self) -> None:
        with self._turn:
            self._stop()

    def _ask(self, data: bytes) -> Picture:
        if self._child is None:
            self._child = Child(self._command, self.limits)
        try:
            return self._child.ask(data)
        except Lost as lost:
            self._stop()
            raise PictureError(lost.code, lost.message) from lost

    def _stop(self) -> None:
        if self._child is not None:
            self._child.stop()
        self._child = None
