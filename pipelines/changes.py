"""What changed between two outputs, or under two sets of models.

Of a task in both:

- moved: both have a box, and these overlap by less than a threshold;
- gained: accepted now and not before; withdrew: the other way round.

A task of one side alone is new or gone. A dead letter is a task that is not accepted.
"""

import collections
import heapq
import itertools
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from belvedere.pipelines.sides import ABSENT, ACCEPTED, BOXED, STATES, Known, Part, Side

KINDS = ("moved", "gained", "withdrew", "new", "gone")


class Change(NamedTuple):
    """A task that is not what it was; the most moved comes first.

    `iou` is that of the two boxes, 0 where a side has none.
    """

    iou: float
    image_uri: str
    label: str
    before: str
    after: str
    expected_iou: float | None


class Found:
    """What the comparison has come to so far."""

    def __init__(self, shown: int) -> None:
        self._shown = shown
        self.tasks: collections.Counter[str] = collections.Counter()
        self.counts = {kind: collections.Counter[str]() for kind in KINDS}
        self.changes: dict[str, list[Change]] = {kind: [] for kind in KINDS}
        self.unchanged = 0

    def add(
        self, kind: str, part: Part, mask: Any, ious: Any, before: Any, after: Any
    ) -> None:
        """The tasks of a part that changed in this way."""
        self.counts[kind].update(itertools.compress(part.labels, mask))
        changes = (
            Change(
                round(float(ious[n]), 4),
                part.uris[n],
                part.labels[n],
                STATES[before[n]],
                STATES[after[n]],
                part.expected[n],
            )
            for n in np.flatnonzero(mask)
        )
        kept = itertools.chain(self.changes[kind], changes)
        self.changes[kind] = heapq.nsmallest(self._shown, kept)

    def classes(self) -> dict[str, dict[str, int]]:
        """Of each class the tasks in both outputs, and the changes of each kind."""
        labels = set(self.tasks).union(*self.counts.values())
        return {
            label: {"tasks": self.tasks[label]}
            | {kind: self.counts[kind][label] for kind in KINDS}
            for label in sorted(labels)
        }

    def document(self) -> dict[str, Any]:
        return {
            "tasks": self.tasks.total(),
            "unchanged": self.unchanged,
            **{kind: self.counts[kind].total() for kind in KINDS},
            "per_class": self.classes(),
            "changes": {
                kind: [change._asdict() for change in self.changes[kind]]
                for kind in KINDS
            },
        }


def compared(old: Side, new: Side, least: float, shown: int) -> Found:
    """Puts two sides beside each other.

    Args:
      old: the one,
      new: and the other.
      least: boxes that overlap by less have moved.
      shown: how many changes of each kind to keep.
    """
    found = Found(shown)
    known = Known(old.parts())
    for part in new.parts():
        _compare(part, known, least, found)
    if not known.met.all():
        for part in old.parts():
            _miss(part, known, found)
    return found


def _compare(part: Part, known: Known, least: float, found: Found) -> None:
    """Puts a part of NEW beside what OLD says of the same tasks."""
    places, there = known.places(part.keys)
    known.met[places[there]] = True
    before = np.full(len(there), ABSENT, np.uint8)
    before[there] = known.states[places[there]]
    ious = np.zeros(len(there))
    ious[there] = overlaps(known.boxes[places[there]], part.boxes[there])
    after = part.states
    masks = {
        "moved": (before >= BOXED) & (after >= BOXED) & (ious < least),
        "gained": there & (before != ACCEPTED) & (after == ACCEPTED),
        "withdrew": there & (before == ACCEPTED) & (after != ACCEPTED),
        "new": ~there,
    }
    for kind, mask in masks.items():
        found.add(kind, part, mask, ious, before, after)
    found.tasks.update(itertools.compress(part.labels, there))
    found.unchanged += int((~np.any(list(masks.values()), axis=0)).sum())


def _miss(part: Part, known: Known, found: Found) -> None:
    """Counts the tasks of a part of OLD that NEW has not."""
    places, _ = known.places(part.keys)
    absent = np.full(len(places), ABSENT, np.uint8)
    gone = ~known.met[places]
    found.add("gone", part, gone, np.zeros(len(places)), part.states, absent)


def overlaps(
    a: Float[np.ndarray, "rows 4"], b: Float[np.ndarray, "rows 4"]
) -> Float[np.ndarray, "rows"]:
    """Intersection over union of boxes (x, y, width, height), 0 where one is NaN."""
    low = np.maximum(a[:, :2], b[:, :2])
    high = np.minimum(a[:, :2] + a[:, 2:], b[:, :2] + b[:, 2:])
    shared = np.maximum(high - low, 0).prod(axis=1)
    union = a[:, 2:].prod(axis=1) + b[:, 2:].prod(axis=1) - shared
    ious = np.divide(shared, union, out=np.zeros(len(a)), where=union > 0)
    return np.where((a == b).all(axis=1), 1.0, ious)  # rounding moves nothing
