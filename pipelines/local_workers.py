"""Worker processes on this machine, and what to do when one of them dies.

Beam's runner waits for ever for a worker that was killed, and, when it is stopped
itself, for one that was just starting. Here workers are told to stop and the command
ends; what is finished is on disk, and a repeat goes on from there.
"""

import contextlib
import pathlib
import shlex
import signal
import sys
import threading
from collections.abc import Iterator
from typing import NoReturn

from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.transforms import environments

from belvedere.pipelines import worker
from belvedere.pipelines.failures import WorkerLost

_STARTER = "run_worker"  # Beam's name for the thread that waits for a worker


def runner() -> FnApiRunner:
    """A runner whose workers are processes; `--direct_num_workers` says how many."""
    command = f"exec {shlex.quote(sys.executable)} -m {worker.__name__}"
    return FnApiRunner(
        environments.SubprocessSDKEnvironment.from_command_string(command)
    )


@contextlib.contextmanager
def watched(board: str) -> Iterator[None]:
    """Raises WorkerLost where Beam would wait for a worker that has died.

    A signal wakes the main thread up, which waits deep inside of Beam. Ctrl-C, and what
    counts as it, stops the workers first: Beam then waits for their end.
    """
    main = threading.main_thread()
    if threading.current_thread() is not main:
        yield
        return
    over = threading.Event()
    tell = threading.excepthook

    def end() -> None:
        over.set()
        pathlib.Path(board, worker.STOP).touch()

    def hook(told: threading.ExceptHookArgs) -> None:
        if told.thread is not None and told.thread.name == _STARTER:
            if not over.is_set():
                end()
                signal.pthread_kill(main.ident or 0, signal.SIGUSR1)
        elif not told.exc_type.__module__.startswith("grpc"):  # the line is cut
            tell(told)

    def stop(*_: object) -> NoReturn:
        end()
        raise KeyboardInterrupt

    before = {signal.SIGUSR1: signal.signal(signal.SIGUSR1, _raise)}
    for key in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(key) is signal.default_int_handler:
            before[key] = signal.signal(key, stop)
    threading.excepthook = hook
    try:
        yield
    finally:
        threading.excepthook = tell
        for number, handler in before.items():
            signal.signal(number, handler)


def _raise(*_: object) -> NoReturn:
    raise WorkerLost(
        "a worker process has died, perhaps for want of memory; what is finished is "
        "kept: run the same command again, with fewer --workers"
    )
