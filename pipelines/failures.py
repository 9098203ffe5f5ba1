"""What went wrong, said so that a person can act on it, and the exit codes.

A mistake of the user's, or of the machine (a full disk), is told in a line: what, which
file, what to do. Anything else is a bug and shows its traceback.
"""

import contextlib
import functools
import logging
import re
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import typer

DONE, BUG, USAGE, TOO_MANY_DEAD, REFUSED, CONFLICT, STOPPED = 0, 1, 2, 3, 4, 5, 130

_OF_WORKERS = {
    "stores.OutputConflict": CONFLICT,
    "stores.StoreError": USAGE,
    "stores.MissingFile": USAGE,
    "stores.StoreLost": BUG,  # nobody's mistake: a scheduler is to try again
    "selection.UnknownClassError": USAGE,
}
# How the error of a worker process arrives: as the text of its traceback, in which the
# last error counts.
_IN_TEXT = re.compile(
    r"^([A-Za-z_][\w.]*(?:Error|Exception|Conflict|File|Lost)): (.*)", re.M
)
_OURS = "belvedere.transforms."
_WHERE = re.compile(r" \[while running '.*'\]$")
# "NotADirectoryError: [Errno 20] Not a directory: 'x'" is no way to speak.
_SYSTEM = re.compile(r"(?:\w+Error: )?\[Errno \d+\] ([^:]*): '.*'")
_log = logging.getLogger("belvedere")


class Mistake(ValueError):
    """Something that the user can put right: what, which file, what to do."""


class WorkerLost(RuntimeError):
    """A worker process died: killed, or for want of memory."""


class ClusterLost(RuntimeError):
    """A cluster stopped answering: the same command may do better later."""


@contextlib.contextmanager
def opening() -> Iterator[None]:
    """What cannot be opened or understood in here was given by the user."""
    from belvedere.transforms.inputs import InputError

    try:
        yield
    except (InputError, ValueError, OSError) as error:
        said = error.message if isinstance(error, InputError) else str(error)
        raise Mistake(_SYSTEM.sub(r"\1", said)) from error


def guarded(command: Callable[..., int | None]) -> Callable[..., None]:
    """A command whose number becomes the exit code, and whose errors are explained."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        raise typer.Exit(_status(lambda: command(*arguments, **options)))

    return run


def _status(command: Callable[[], int | None]) -> int:
    try:
        with _stopped_as_by_a_key():
            return command() or DONE
    except KeyboardInterrupt:
        _log.error("stopped; what is finished is kept, run the same command again")
        return STOPPED
    except Exception as error:
        if isinstance(error, typer.Exit | typer.Abort | typer.BadParameter):
            raise
        code, said = verdict(error)
        _log.error(said)
        return code


@contextlib.contextmanager
def _stopped_as_by_a_key() -> Iterator[None]:
    """Schedulers stop by SIGTERM: a job that runs elsewhere is to end with us, too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def enough(dead: int, tasks: int, max_dead: float) -> int:
    """The exit code of a run, by the share of its inputs that failed."""
    if dead <= max_dead * tasks:
        return DONE
    _log.error(
        "%d of %d inputs failed, more than the share of %g that --max-dead allows; all "
        "that is done is kept",
        dead,
        tasks,
        max_dead,
    )
    return TOO_MANY_DEAD


def verdict(error: BaseException) -> tuple[int, str]:
    """Exit code and text for an error."""
    if isinstance(error, Mistake):
        return USAGE, str(error)
    if isinstance(error, WorkerLost | ClusterLost):
        return BUG, str(error)
    whole = f"{type(error).__module__}.{type(error).__qualname__}: {error}"
    name, said = _IN_TEXT.findall(whole)[-1] if _IN_TEXT.search(whole) else ("", "")
    if name.startswith(_OURS) and name.removeprefix(_OURS) in _OF_WORKERS:
        return _OF_WORKERS[name.removeprefix(_OURS)], _WHERE.sub("", said)
    told = "".join(traceback.format_exception(error))
    return BUG, f"{told}This is a bug in belvedere: please report the lines above."
