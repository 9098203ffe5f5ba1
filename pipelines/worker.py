"""A worker process of `--workers N`: Beam's own, without its chatter and its ghosts.

Errors reach the launcher, which tells them. A worker whose launcher is gone, or has
given up, ends at once; Beam's would work on for nobody.
"""

import logging
import os
import pathlib
import sys
import threading
import time

STOP = "stop"  # a file of this name on the board: give up


def main() -> None:
    launcher = os.getppid()
    logging.getLogger().addHandler(logging.NullHandler())
    from apache_beam.runners.worker import sdk_worker_main

    from belvedere.transforms import tally

    board = os.environ.get(tally.BOARD, os.devnull)
    threading.Thread(target=_watch, args=(launcher, board), daemon=True).start()
    sys.stderr = open(os.devnull, "w")  # Beam prints the traceback of every error
    try:
        sdk_worker_main.main(sys.argv)
    except BaseException:
        sys.stderr = sys.__stderr__
        raise


def _watch(launcher: int, board: str) -> None:
    stop = pathlib.Path(board, STOP)
    while os.getppid() == launcher and not stop.exists():
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    main()
