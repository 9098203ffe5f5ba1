"""How far a run is: a bar on a terminal, a line now and then elsewhere, never both.

The workers write on a board (`transforms.tally`); a thread of the launcher reads it. On
a runner that is elsewhere the board stays empty, and the runner's own pages tell.
"""

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from belvedere.pipelines import voice
from belvedere.transforms import tally

_REFRESH, _LINE = 0.3, 10.0  # seconds
_WINDOW = 6  # lines over which a rate is taken
_log = logging.getLogger("belvedere.progress")


class Stage(NamedTuple):
    """A part of a run that is shown.

    Attributes:
      title: for people.
      key: of `tally`.
      total: likewise; None where it is not known beforehand.
      unit: what is counted.
    """

    title: str
    key: str
    total: str | None
    unit: str = "images"


class Done(NamedTuple):
    """A stage as it stands."""

    stage: Stage
    items: int
    total: int | None


class Display(Protocol):
    """Shows the stages that have begun, in their order, again and again."""

    period: float

    def show(self, stages: Sequence[Done]) -> None: ...

    def close(self) -> None: ...


class Watch:
    """What the user wants to see of a run; made once for a command."""

    def __init__(self, quiet: bool = True, as_json: bool = False) -> None:
        self.quiet = quiet
        self.as_json = as_json

    @contextlib.contextmanager
    def over(self, board: str, stages: Sequence[Stage]) -> Iterator[None]:
        """Shows the stages as the board tells them, until the block ends."""
        if self.quiet:
            yield
            return
        bar = not self.as_json and sys.stderr.isatty()
        display: Display = Bars() if bar else Lines(self.as_json)
        over = threading.Event()
        thread = threading.Thread(
            target=_keep_showing, args=(display, board, stages, over), daemon=True
        )
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            display.close()


def _keep_showing(
    display: Display, board: str, stages: Sequence[Stage], over: threading.Event
) -> None:
    while not over.wait(display.period):
        display.show(begun(stages, tally.read(board)))
    if isinstance(display, Bars):  # its last state stays to be seen
        display.show(begun(stages, tally.read(board)))


def begun(stages: Sequence[Stage], told: Mapping[str, tally.Stage]) -> list[Done]:
    """The stages that have begun, in their order."""
    result = []
    for stage in stages:
        items = told.get(stage.key, tally.Stage()).items
        total = told.get(stage.total, tally.Stage()).items if stage.total else None
        if items:
            result.append(Done(stage, items, total and max(total, items)))
    return result


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.1f}/s" if task.speed else "")


class Bars:
    """A bar for each stage on standard error."""

    period = _REFRESH

    def __init__(self) -> None:
        self._tasks: dict[str, TaskID] = {}
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}"),
            _Rate(),
            TimeRemainingColumn(compact=True),
            console=Console(stderr=True),
        )
        self._bars.start()

    def show(self, stages: Sequence[Done]) -> None:
        for stage, items, total in stages:
            if stage.key not in self._tasks:
                self._tasks[stage.key] = self._bars.add_task(
                    stage.title, total=total, unit=stage.unit
                )
            self._bars.update(self._tasks[stage.key], completed=items, total=total)

    def close(self) -> None:
        self._bars.stop()


class Lines:
    """A line for the stage that is under way, if anything has changed."""

    period = _LINE

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._seen: list[tuple[float, Done]] = []

    def show(self, stages: Sequence[Done]) -> None:
        if not stages or (self._seen and self._seen[-1][1] == stages[-1]):
            return
        now, done = time.monotonic(), stages[-1]
        same = [one for one in self._seen if one[1].stage == done.stage]
        self._seen = [*same[1 - _WINDOW :], (now, done)]
        past, first = self._seen[0]
        seconds = now - past
        rate = (done.items - first.items) / seconds if seconds else 0.0
        self._tell(done, rate)

    def _tell(self, done: Done, rate: float) -> None:
        stage, items, total = done
        if self._as_json:
            fields = {"stage": stage.key, "done": items, "total": total, "rate": rate}
            _log.info("progress", extra={"fields": fields})
            return
        left = (
            f", {voice.duration((total - items) / rate)} left" if total and rate else ""
        )
        speed = f", {rate:.1f}/s" if rate else ""
        of = f" of {total}" if total else ""
        text = f"{stage.title}: {items}{of} {stage.unit}{speed}{left}"
        print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        pass
