"""One side of a comparison: an output, and its tasks as few bytes.

A task is known by a digest of image and class. OLD is held in memory, 50 bytes a task,
three times that while they are sorted; NEW is read file by file.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Bool, Float, Int, Shaped, UInt8

from belvedere.pipelines.failures import Mistake, opening
from belvedere.transforms import commits, committed, model_store, stores
from belvedere.transforms.schemas import ANNOTATIONS, DEAD_LETTERS, TASK
from belvedere.transforms.verification import ANNOTATE

STATES = ("absent", "dead", "refused", "boxed", "accepted")
ABSENT, DEAD, REFUSED, BOXED, ACCEPTED = range(len(STATES))
_COLUMNS = (*TASK, "bbox", "accepted", "expected_iou")


class Side(NamedTuple):
    """An output, and the models whose boxes count, None for the newest."""

    log: commits.Log
    models: frozenset[str] | None

    @classmethod
    def opened(cls, output: str, models: str | None) -> "Side":
        with opening():
            log = commits.Log(stores.store_for(output))
        first = next(iter(log.manifests()), None)
        if first is None or first.run.kind != ANNOTATE:
            raise Mistake(f"{output} holds no annotations: name an output folder")
        return cls(log, _model_ids(models) if models else None)

    def parts(self) -> Iterator["Part"]:
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


class Part(NamedTuple):
    """Some tasks; `keys` are digests, `boxes` (x, y, width, height) or NaN."""

    uris: list[str]
    labels: list[str]
    keys: Shaped[np.ndarray, "rows"]
    boxes: Float[np.ndarray, "rows 4"]
    states: UInt8[np.ndarray, "rows"]
    expected: list[float | None]


def _part(table: pa.Table) -> Part:
    uris = table["image_uri"].to_pylist()
    told = table["label"].to_pylist()
    keys = np.frombuffer(b"".join(map(committed.key, uris, told)), "S16")
    labels = [label or "" for label in told]
    boxes = np.full((len(uris), 4), np.nan)
    if "bbox" not in table.column_names:
        dead = np.full(len(uris), DEAD, np.uint8)
        return Part(uris, labels, keys, boxes, dead, [None] * len(uris))
    boxed = pc.is_valid(table["bbox"]).to_numpy()
    boxes[boxed] = pc.list_flatten(table["bbox"]).to_numpy().reshape(-1, 4)
    accepted = table["accepted"].to_numpy() & boxed
    states = np.select([accepted, boxed], [ACCEPTED, BOXED], REFUSED)
    expected = table["expected_iou"].to_pylist()
    return Part(uris, labels, keys, boxes, states.astype(np.uint8), expected)


class Known:
    """The tasks of OLD in order of their keys, and which were found in NEW."""

    def __init__(self, parts: Iterator[Part]) -> None:
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
