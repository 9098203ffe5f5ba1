"""What a command says at its end: text for people, or one JSON document."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Table

from belvedere.pipelines import logs

if TYPE_CHECKING:  # commands that run no pipeline need not wait for Beam
    from belvedere.pipelines.launching import Counts
    from belvedere.pipelines.progress import Watch


@dataclasses.dataclass(frozen=True)
class Voice:
    """How the user wants to be spoken to; on standard output."""

    as_json: bool = False
    quiet: bool = False

    def __post_init__(self) -> None:
        logs.configure(self.as_json)

    @property
    def watch(self) -> "Watch":
        """Shows how far a run is."""
        from belvedere.pipelines.progress import Watch

        return Watch(self.quiet, self.as_json)

    def say(self, document: Mapping[str, Any], *shown: RenderableType) -> None:
        """Prints the document, or what is shown in its place."""
        if self.as_json:
            print(json.dumps(document), flush=True)
        elif not self.quiet:
            console = Console(highlight=False, soft_wrap=True)
            for one in shown:
                console.print(escape(one) if isinstance(one, str) else one)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table whose first column is text and whose others are numbers."""
    result = Table(title=escape(title), title_justify="left")
    for number, name in enumerate(columns):
        result.add_column(name, justify="right" if number else "left")
    for row in rows:
        result.add_row(*map(escape, row))
    return result


def zero_based(sides: int) -> list[str]:
    """A line about corners that say 0 where counting begins at 1, if there are any."""
    said = f"{sides} sides of boxes say 0 in XML that counts from 1: read as 0-based"
    return [said] if sides else []


def figures(counts: "Counts", seconds: float) -> dict[str, Any]:
    """What is counted in every run, as a document."""
    return {
        "tasks_in": counts.tasks,
        "already_done": counts.already_done,
        "annotated": counts.annotated,
        "refused": counts.refused,
        "dead": counts.dead,
        "seconds": round(seconds, 3),
        "seconds_by_stage": {
            name: round(stage.seconds, 3)
            for name, stage in counts.stages.items()
            if stage.seconds
        },
    }


def timing(counts: "Counts", seconds: float) -> str:
    """The seconds of a run as a line, the longest stages first."""
    stages = sorted(counts.stages.items(), key=lambda one: -one[1].seconds)
    told = [f"{name} {s.seconds:.1f} s" for name, s in stages if s.seconds >= 0.05]
    by_stage = f" (all workers: {', '.join(told)})" if told else ""
    return f"{seconds:.1f} s{by_stage}"


def duration(seconds: float) -> str:
    """Seconds as people say them.

    >>> duration(75), duration(7300)
    ('1 min 15 s', '2 h 1 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
