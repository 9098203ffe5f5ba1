"""`belvedere diff`: which boxes another run, or another model, put elsewhere.

OLD and NEW are outputs, or one output under two sets of models. Of a task in both:

- moved: both have a box, and these overlap by less than a threshold;
- gained: accepted now and not before; withdrew: the other way round.

A task of one side alone is new or gone. A dead letter is a task that is not accepted.

Costs 50 bytes of memory per task of OLD, three times that while they are sorted, beside
what reading an output costs; NEW is read file by file.
"""

import collections
import dataclasses
import hashlib
import heapq
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Bool, Float, Int, Shaped, UInt8
from rich.table import Table

from belvedere.pipelines import voice
from belvedere.pipelines.failures import Mistake, opening
from belvedere.pipelines.voice import Voice
from belvedere.transforms import commits, committed, model_store, stores
from belvedere.transforms.schemas import ANNOTATIONS, DEAD_LETTERS, TASK
from belvedere.transforms.verification import ANNOTATE

KINDS = ("moved", "gained", "withdrew", "new", "gone")
IN_BOTH = KINDS[:3]
STATES = ("absent", "dead", "refused", "boxed", "accepted")
_ABSENT, _DEAD, _REFUSED, _BOXED, _ACCEPTED = range(len(STATES))
_COLUMNS = (*TASK, "bbox", "accepted", "expected_iou")


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


def main(options: Options, speaker: Voice) -> dict[str, Any]:
    """Compares, tells, and returns what `--log-format json` prints."""
    if not 0 <= options.iou <= 1:
        raise Mistake(f"--iou is {options.iou}: wanted a number from 0 to 1")
    if (options.old, options.models_old) == (options.new, options.models_new):
        raise Mistake(
            f"OLD and NEW are both {options.old}: name two outputs, or one and "
            "--models-old or --models-new"
        )
    old = _Side.opened(options.old, options.models_old)
    new = _Side.opened(options.new, options.models_new)
    found = _compared(old, new, options)
    document = found.document(options)
    speaker.say(document, *_shown(found, options))
    return document


class _Side(NamedTuple):
    """An output, and the models whose boxes count, None for the newest."""

    log: commits.Log
    models: frozenset[str] | None

    @classmethod
    def opened(cls, output: str, models: str | None) -> "_Side":
        with opening():
            log = commits.Log(stores.store_for(output))
        first = next(iter(log.manifests()), None)
        if first is None or first.run.kind != ANNOTATE:
            raise Mistake(f"{output} holds no annotations: name an output folder")
        return cls(log, _model_ids(models) if models else None)

    def parts(self) -> Iterator["_Part"]:
        log, models = self
        yield from map(_part, committed.rows(log, ANNOTATIONS, _COLUMNS, models))
        if models is None and any(committed.files(log, DEAD_LETTERS)):
            yield from map(_part, committed.rows(log, DEAD_LETTERS, TASK))


def _model_ids(models: str) -> frozenset[str]:
    """The models of a folder, or of what it was up to a manifest."""
    folder, at, number = models.rpartition("@")
    numbered = bool(at) and number.isdecimal()
    with opening():
        index = model_store.index(
            folder if numbered else models, int(number) if numbered else None
        )
    if not index.ids:
        raise Mistake(f"{models} holds no models: check --models-old, --models-new")
    return frozenset(index.ids.values())


class _Part(NamedTuple):
    """Some tasks; `keys` are digests, `boxes` (x, y, width, height) or NaN."""

    uris: list[str]
    labels: list[str]
    keys: Shaped[np.ndarray, "rows"]
    boxes: Float[np.ndarray, "rows 4"]
    states: UInt8[np.ndarray, "rows"]
    expected: list[float | None]


def _part(table: pa.Table) -> _Part:
    uris = table["image_uri"].to_pylist()
    labels = [label or "" for label in table["label"].to_pylist()]
    digests = [
        hashlib.blake2b(repr(task).encode(), digest_size=16).digest()
        for task in zip(uris, labels, strict=True)
    ]
    keys = np.frombuffer(b"".join(digests), "S16")
    boxes = np.full((len(uris), 4), np.nan)
    if "bbox" not in table.column_names:
        dead = np.full(len(uris), _DEAD, np.uint8)
        return _Part(uris, labels, keys, boxes, dead, [None] * len(uris))
    boxed = pc.is_valid(table["bbox"]).to_numpy()
    boxes[boxed] = pc.list_flatten(table["bbox"]).to_numpy().reshape(-1, 4)
    accepted = table["accepted"].to_numpy() & boxed
    states = np.select([accepted, boxed], [_ACCEPTED, _BOXED], _REFUSED)
    expected = table["expected_iou"].to_pylist()
    return _Part(uris, labels, keys, boxes, states.astype(np.uint8), expected)


class _Known:
    """The tasks of OLD in order of their keys, and which were found in NEW."""

    def __init__(self, parts: Iterator[_Part]) -> None:
        held = [(np.empty(0, "S16"), np.empty((0, 4)), np.empty(0, np.uint8))]
        held += [(part.keys, part.boxes, part.states) for part in parts]
        keys, boxes, states = map(np.concatenate, zip(*held, strict=True))
        order = np.argsort(keys)
        self._keys = keys[order]
        self.boxes, self.states = boxes[order], states[order]
        self.met = np.zeros(len(keys), bool)

    def places(
        self, keys: Shaped[np.ndarray, "rows"]
    ) -> tuple[Int[np.ndarray, "rows"], Bool[np.ndarray, "rows"]]:
        """Where each key is, and whether it is there at all."""
        if not len(self._keys):
            return np.zeros(len(keys), int), np.zeros(len(keys), bool)
        places = np.searchsorted(self._keys, keys).clip(max=len(self._keys) - 1)
        return places, self._keys[places] == keys


class _Found:
    """What the comparison has come to so far."""

    def __init__(self, shown: int) -> None:
        self._shown = shown
        self.tasks: collections.Counter[str] = collections.Counter()
        self.counts = {kind: collections.Counter[str]() for kind in KINDS}
        self.changes: dict[str, list[Change]] = {kind: [] for kind in KINDS}
        self.unchanged = 0

    def add(
        self, kind: str, part: _Part, mask: Any, ious: Any, before: Any, after: Any
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

    def document(self, options: Options) -> dict[str, Any]:
        return {
            "command": "diff",
            **dataclasses.asdict(options),
            "tasks": self.tasks.total(),
            "unchanged": self.unchanged,
            **{kind: self.counts[kind].total() for kind in KINDS},
            "per_class": self.classes(),
            "changes": {
                kind: [change._asdict() for change in self.changes[kind]]
                for kind in KINDS
            },
        }


def _compared(old: _Side, new: _Side, options: Options) -> _Found:
    found = _Found(options.shown)
    known = _Known(old.parts())
    for part in new.parts():
        _compare(part, known, options.iou, found)
    if not known.met.all():
        for part in old.parts():
            _miss(part, known, found)
    return found


def _compare(part: _Part, known: _Known, least: float, found: _Found) -> None:
    """Puts a part of NEW beside what OLD says of the same tasks."""
    places, there = known.places(part.keys)
    known.met[places[there]] = True
    before = np.full(len(there), _ABSENT, np.uint8)
    before[there] = known.states[places[there]]
    ious = np.zeros(len(there))
    ious[there] = overlaps(known.boxes[places[there]], part.boxes[there])
    after = part.states
    masks = {
        "moved": (before >= _BOXED) & (after >= _BOXED) & (ious < least),
        "gained": there & (before != _ACCEPTED) & (after == _ACCEPTED),
        "withdrew": there & (before == _ACCEPTED) & (after != _ACCEPTED),
        "new": ~there,
    }
    for kind, mask in masks.items():
        found.add(kind, part, mask, ious, before, after)
    found.tasks.update(itertools.compress(part.labels, there))
    found.unchanged += int((~np.any(list(masks.values()), axis=0)).sum())


def _miss(part: _Part, known: _Known, found: _Found) -> None:
    """Counts the tasks of a part of OLD that NEW has not."""
    places, _ = known.places(part.keys)
    absent = np.full(len(places), _ABSENT, np.uint8)
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


def _shown(found: _Found, options: Options) -> list[str | Table]:
    counts = {kind: found.counts[kind].total() for kind in KINDS}
    shown: list[str | Table] = []
    if any(counts.values()):
        rows = [
            (label or "(no class)", *map(str, told.values()))
            for label, told in found.classes().items()
        ]
        shown.append(voice.table("By class", ("class", "in both", *KINDS), rows))
    for kind in IN_BOTH:
        if found.changes[kind]:
            shown.append(_changes(kind, counts[kind], found.changes[kind]))
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


def _changes(kind: str, count: int, changes: Sequence[Change]) -> Table:
    """A table in which the folder that all images share is told once."""
    folder = _folder([change.image_uri for change in changes])
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
            for change in changes
        ],
    )
