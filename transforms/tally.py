"""How far the work is: items and seconds by stage, told while it runs and at its end.

At the end by Beam's counters, which every runner gathers. Meanwhile by a board: a
folder on this machine in which each worker process keeps one small file with its counts
so far, for the launcher to add up. Where there is no board nothing is written.

A bundle that is tried again counts twice: these numbers are for people to look at.
"""

import collections
import contextlib
import dataclasses
import json
import os
import pathlib
import threading
import time
from collections.abc import Iterator, Mapping

from apache_beam.metrics import Metrics

BOARD = "BELVEDERE_BOARD"  # in the environment: where the board is
NAMESPACE = "stages"
ITEMS, MICROSECONDS = "items", "microseconds"


@dataclasses.dataclass(frozen=True)
class Stage:
    """What was done of a stage, by all workers together."""

    items: int = 0
    seconds: float = 0.0

    def __add__(self, other: "Stage") -> "Stage":
        return Stage(self.items + other.items, self.seconds + other.seconds)


_turn = threading.Lock()
_boards: dict[str, dict[str, Stage]] = collections.defaultdict(dict)


def add(stage: str, items: int = 1, seconds: float = 0.0) -> None:
    """Counts items of a stage as done."""
    Metrics.counter(NAMESPACE, f"{stage}/{ITEMS}").inc(items)
    Metrics.counter(NAMESPACE, f"{stage}/{MICROSECONDS}").inc(round(seconds * 1e6))
    if board := os.environ.get(BOARD):
        with _turn:
            mine = _boards[board]
            mine[stage] = mine.get(stage, Stage()) + Stage(items, seconds)
            _write(board, mine)


@contextlib.contextmanager
def timed(stage: str, items: int = 1) -> Iterator[None]:
    """Counts items as done, and the seconds that the block took, if it succeeds."""
    start = time.perf_counter()
    yield
    add(stage, items, time.perf_counter() - start)


def _write(board: str, stages: Mapping[str, Stage]) -> None:
    text = json.dumps({name: dataclasses.astuple(s) for name, s in stages.items()})
    with contextlib.suppress(OSError):  # the launcher has gone, or the disk is full
        name = os.path.join(board, str(os.getpid()))
        with open(f"{name}.new", "w") as file:
            file.write(text)
        os.replace(f"{name}.new", f"{name}.json")


def read(board: str) -> dict[str, Stage]:
    """The sums over all processes that write on a board."""
    found: dict[str, Stage] = {}
    for file in pathlib.Path(board).glob("*.json"):
        with contextlib.suppress(OSError, ValueError):  # a worker died in between
            for name, (items, seconds) in json.loads(file.read_text()).items():
                found[name] = found.get(name, Stage()) + Stage(items, seconds)
    return found


def gathered(counters: Mapping[str, int]) -> dict[str, Stage]:
    """The stages in Beam's counters of this namespace, by name."""
    names = sorted({name.rpartition("/")[0] for name in counters})
    return {
        name: Stage(
            counters.get(f"{name}/{ITEMS}", 0),
            counters.get(f"{name}/{MICROSECONDS}", 0) / 1e6,
        )
        for name in names
    }
