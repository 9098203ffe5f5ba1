"""What becomes of a failure to read: a fault of one file, or the end of the run.

One file that is forbidden, gone or broken must not stop a run: it is an `InputError`,
and ends as a dead letter. A store that does not answer, or an account that is not
signed in (any more), is no property of a file: told as one, a moment's outage would be
thousands of dead letters. It is a `StoreError`, which leaves no record behind, and the
same command goes on from there.
"""

import contextlib
from collections.abc import Iterator
from typing import IO, Any

from belvedere.transforms import store_faults, stores
from belvedere.transforms.inputs import InputCode, InputError

_OF_THE_RUN = (store_faults.LOST, store_faults.UNSIGNED, store_faults.EXPIRED)


@contextlib.contextmanager
def explained(uri: str) -> Iterator[None]:
    """Any failure to read becomes an InputError, or a StoreError if all would fail."""
    try:
        yield
    except (InputError, stores.StoreError, MemoryError):
        raise
    except Exception as error:
        cause = store_faults.cause(error)
        advice = store_faults.advice(cause)
        if advice in _OF_THE_RUN:
            raise stores.told("read", uri, advice, cause) from error
        missing = store_faults.is_missing(cause)
        code = InputCode.NOT_FOUND if missing else InputCode.NOT_READ
        said = f"{type(cause).__name__}: {cause}"[:300]
        raise InputError(code, said) from error


class ExplainedFile:
    """A file to be read and sought in; what fails on the way is explained, too."""

    def __init__(self, file: IO[bytes], uri: str) -> None:
        self._file, self._uri = file, uri

    def read(self, size: int = -1) -> bytes:
        with explained(self._uri):
            return self._file.read(size)

    def readline(self, size: int = -1) -> bytes:
        with explained(self._uri):
            return self._file.readline(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        with explained(self._uri):
            return self._file.seek(offset, whence)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> "ExplainedFile":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
