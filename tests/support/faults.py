"""Crashes at named points of a write, in this process or as a real kill -9.

The points are those of a file on a local store:

- before_write: nothing of the file exists;
- half_written: a temporary file holds half of it;
- before_link: the temporary file is whole, the final name does not exist;
- after_link: the file stands, the temporary name is still there.

`armed` raises `Crash`, for a test that looks at what the caller does; `kill` in a child
process leaves behind what a killed process leaves. To kill a whole command:

    faults.arm("after_link", folder="manifests", act=faults.kill); main()
"""

import contextlib
import os
import pathlib
import signal
from collections.abc import Callable, Iterator

from belvedere.transforms import stores

POINTS = ("before_write", "half_written", "before_link", "after_link")
_WRITE, _LINK = stores._write, stores._link


class Crash(BaseException):
    """Not an Exception: no handler of errors may survive it."""


def crash() -> None:
    raise Crash


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def arm(
    point: str, folder: str = "", nth: int = 1, act: Callable[[], None] = crash
) -> None:
    """From now on, the nth write (into `folder`) ends by `act` at this point."""
    if point not in POINTS:
        raise ValueError(f"{point!r} is none of {POINTS}")
    left = [nth]

    def reached(here: str, path: str) -> bool:
        if here != point or folder not in ("", pathlib.Path(path).parent.name):
            return False
        left[0] -= 1
        return left[0] == 0

    def write(path: str, data: bytes) -> None:
        if reached("before_write", path):
            act()
        if reached("half_written", path):
            _WRITE(path, data[: len(data) // 2])
            act()
        _WRITE(path, data)

    def link(temporary: str, path: str) -> bool:
        if reached("before_link", path):
            act()
        made = _LINK(temporary, path)
        if reached("after_link", path):
            act()
        return made

    stores._write, stores._link = write, link


def disarm() -> None:
    stores._write, stores._link = _WRITE, _LINK


@contextlib.contextmanager
def armed(
    point: str, folder: str = "", nth: int = 1, act: Callable[[], None] = crash
) -> Iterator[None]:
    arm(point, folder, nth, act)
    try:
        yield
    finally:
        disarm()


def in_child(work: Callable[[], None]) -> int:
    """Runs `work` in a forked process; its exit code, -9 if it was killed."""
    return in_children([work])[0]


def in_children(works: list[Callable[[], None]]) -> list[int]:
    """Runs each in a process of its own, all at once; their exit codes."""
    children = [_fork(work) for work in works]
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def _fork(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return child
