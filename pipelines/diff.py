"""`belvedere diff`: which boxes another run, or another model, put elsewhere.

OLD and NEW are outputs, or one output under two sets of models; `changes` says what
counts as a change.
"""

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from belvedere.pipelines import changes, voice
from belvedere.pipelines.changes import KINDS, Change, Found
from belvedere.pipelines.failures import Mistake
from belvedere.pipelines.sides import Side
from belvedere.pipelines.voice import Voice

_IN_BOTH = KINDS[:3]


@dataclasses.dataclass(frozen=True)
class Options:
    """What the command was told.

    Attributes:
      old: an output.
      new: another, or the same.
      models_old: count only boxes by these models: a folder of models, as it is or, as
        `DIR@3`, as it was after its third manifest.
      models_new: likewise.
      iou: boxes that overlap by less have moved.
      shown: how many tasks of each kind to list.
    """

    old: str
    new: str
    models_old: str | None = None
    models_new: str | None = None
    iou: float = 0.9
    shown: int = 20


def main(options: Options, speaker: Voice) -> dict[str, Any]:
    """Compares, tells, and returns what `--log-format json` prints."""
    if not 0 <= options.iou <= 1:
        raise Mistake(f"--iou is {options.iou}: wanted a number from 0 to 1")
    if (options.old, options.models_old) == (options.new, options.models_new):
        raise Mistake(
            f"OLD and NEW are both {options.old}: name two outputs, or one and "
            "--models-old or --models-new"
        )
    old = Side.opened(options.old, options.models_old)
    new = Side.opened(options.new, options.models_new)
    found = changes.compared(old, new, options.iou, options.shown)
    document = {
        "command": "diff",
        **dataclasses.asdict(options),
        **found.document(),
    }
    speaker.say(document, *_shown(found, options))
    return document


def _shown(found: Found, options: Options) -> list[str | Table]:
    counts = {kind: found.counts[kind].total() for kind in KINDS}
    shown: list[str | Table] = []
    if any(counts.values()):
        rows = [
            (label or "(no class)", *map(str, told.values()))
            for label, told in found.classes().items()
        ]
        shown.append(voice.table("By class", ("class", "in both", *KINDS), rows))
    for kind in _IN_BOTH:
        if found.changes[kind]:
            shown.append(_table(kind, counts[kind], found.changes[kind]))
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    shown.append(
        f"{found.tasks.total()} tasks in both, {found.unchanged} of them unchanged: "
        f"{told} (moved: IoU below {options.iou:g})"
    )
    return shown


def _folder(uris: Sequence[str]) -> str:
    """The longest folder that all of them are in.

    >>> _folder(["gs://b/in/1.tar/a.jpg", "gs://b/in/2.tar/a.jpg"])
    'gs://b/in/'
    """
    first, last = min(uris).split("/"), max(uris).split("/")
    shared = itertools.takewhile(
        lambda pair: pair[0] == pair[1], zip(first, last, strict=False)
    )
    parts = [part for part, _ in shared][: len(first) - 1]
    return "".join(f"{part}/" for part in parts)


def _table(kind: str, count: int, some: Sequence[Change]) -> Table:
    """A table in which the folder that all images share is told once."""
    folder = _folder([change.image_uri for change in some])
    title = f"{kind.capitalize()}: {count}, the most moved first"
    return voice.table(
        f"{title}, in {folder}" if folder else title,
        ("image", "class", "IoU", "before", "after", "expected IoU"),
        [
            (
                change.image_uri.removeprefix(folder),
                change.label,
                f"{change.iou:.2f}",
                change.before,
                change.after,
                "" if change.expected_iou is None else f"{change.expected_iou:.2f}",
            )
            for change in some
        ],
    )
