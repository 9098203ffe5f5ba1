"""Localizes the object in each image of a work unit, and writes the unit at once.

No shuffle stands between a picture and its file: a slice of the input is read,
localized image by image and written with its record; only the record goes on.
"""

import dataclasses
import hashlib
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.metrics import Metrics

from belvedere.core import localization, sight
from belvedere.core.formats.faults import PictureError
from belvedere.core.formats.pictures import Picture
from belvedere.transforms import (
    decoding,
    documents,
    model_store,
    records,
    sources,
    stores,
    tables,
)
from belvedere.transforms.inputs import ImageRef, InputFault, Slice
from belvedere.transforms.manifests import Entry
from belvedere.transforms.model_cache import ModelCache
from belvedere.transforms.workers import prepare_worker

KIND = "annotate"
RULE = "expected_iou >= {:g}"


@dataclasses.dataclass(frozen=True)
class Job:
    """All that the rows of a run depend on besides the images.

    Attributes:
      output: where the rows go.
      models: the model store.
      models_number: the manifest of the model store that is in force.
      config_id: of the configuration.
      accept: expected IoU from which on a box is accepted.
      run_id: of the run.
      code_version: of the program.
      attempt: 0, or how often these tasks were tried before.
    """

    output: str
    models: str
    models_number: int
    config_id: str
    accept: float
    run_id: str
    code_version: str
    attempt: int = 0


@dataclasses.dataclass(frozen=True)
class Wanted:
    """A slice of the input and what of it is to be annotated.

    Attributes:
      piece: the slice.
      skip: ids of images that are left alone, because they have boxes.
      only: the tasks (uri, label) that are tried again; None for all.
    """

    piece: Slice
    skip: frozenset[str] = frozenset()
    only: frozenset[tuple[str, str]] | None = None

    def __contains__(self, ref: ImageRef | InputFault) -> bool:
        if isinstance(ref, ImageRef) and ref.image_id in self.skip:
            return False
        return self.only is None or (ref.uri, ref.label) in self.only

    def config(self, config_id: str) -> str:
        """The configuration of a unit: that of the run, and which tasks it is about."""
        if not self.skip and self.only is None:
            return config_id
        chosen = [sorted(self.skip), sorted(self.only or ())]
        return f"{config_id}-{documents.digest(chosen)[:16]}"


@dataclasses.dataclass(eq=False)
class AnnotateSlices(beam.PTransform):
    """Wanted slices of the input to entries of the manifest, one per work unit."""

    job: Job

    def expand(self, slices: beam.PCollection) -> beam.PCollection:
        return slices | "Localize" >> beam.ParDo(_LocalizeDoFn(self.job))


class _LocalizeDoFn(beam.DoFn):
    """Finds the finished record of a unit, or computes the unit."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def setup(self) -> None:
        prepare_worker()
        self.store = stores.store_for(self.job.output)
        self.index = model_store.index(self.job.models, self.job.models_number)
        self.models = ModelCache(self.job.models)
        self.decoder = decoding.Decoder()

    def teardown(self) -> None:
        self.decoder.close()

    def process(self, wanted: Wanted) -> Iterator[Entry]:
        unit = self._unit(wanted)
        record = records.find(self.store, unit.digest) or self._computed(unit, wanted)
        yield Entry.of(record)

    def _unit(self, wanted: Wanted) -> records.WorkUnit:
        piece, config = wanted.piece, wanted.config(self.job.config_id)
        label = piece.partition.label
        used = (self.index.of(label) or "none") if label else self.index.digest
        return records.WorkUnit(
            KIND, piece.inputs, (used,), config, piece.span, self.job.attempt
        )

    def _computed(self, unit: records.WorkUnit, wanted: Wanted) -> records.Record:
        rows: list[dict[str, Any]] = []
        dead: list[dict[str, Any]] = []
        seen: set[tuple[str, str]] = set()
        for found in sources.read(wanted.piece):
            ref = found if isinstance(found, InputFault) else found[0]
            if ref not in wanted:
                continue
            if (ref.uri, ref.label) in seen:
                Metrics.counter(KIND, "named_twice").inc()
                continue
            seen.add((ref.uri, ref.label))
            row = self._row(found)
            (dead if "stage" in row else rows).append(row)
        job = self.job
        return tables.finish(self.store, unit, rows, dead, job.run_id, job.code_version)

    def _row(self, found: tuple[ImageRef, bytes] | InputFault) -> dict[str, Any]:
        """A row of annotations, or of dead letters."""
        if isinstance(found, InputFault):
            return _dead(
                found.uri, found.label, "read", found.code, found.message, self.job
            )
        ref, data = found
        try:
            picture = self.decoder.decode(data)
        except PictureError as error:
            return _dead(
                ref.uri, ref.label, "decode", error.code, error.message, self.job
            )
        known = _known(ref, data, picture)
        identity = self.index.of(ref.label)
        if identity is None:
            return {**known, "status": "refused", "accepted": False}
        try:
            return {**known, **self._localized(picture, ref.label, identity)}
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            return _dead(
                ref.uri, ref.label, "localize", "method_failed", str(error), self.job
            )

    def _localized(self, picture: Picture, label: str, identity: str) -> dict[str, Any]:
        model, eyes = self.models.get(label, identity)
        view = sight.look(picture.image, eyes)
        found = localization.localize(view, model, eyes)
        certificate = found.found.certificate
        second = found.found.runner_up
        windows = view.windows.boxes * view.scale
        left = certificate.bound_left
        offset = found.score - found.found.score
        return {
            "bbox": _xywh(found.box),
            "score": found.score,
            "expected_iou": found.expected_iou,
            "gp_mean": found.mean,
            "gp_std": found.std,
            "accepted": found.expected_iou >= self.job.accept,
            "accept_rule": RULE.format(self.job.accept),
            "status": "annotated",
            "candidates": len(view.windows),
            "windows_evaluated": certificate.evaluated,
            "bound_left": left + offset if np.isfinite(left) else None,
            "contributions": found.contributions.tolist(),
            "window_bbox": _xywh(windows[found.found.window]),
            "runner_up_bbox": _xywh(windows[second]) if second >= 0 else None,
            "runner_up_score": (
                found.found.runner_up_score + offset if second >= 0 else None
            ),
            "model_id": identity,
        }


def _known(ref: ImageRef, data: bytes, picture: Picture) -> dict[str, Any]:
    return {
        "image_id": ref.image_id,
        "image_uri": ref.uri,
        "image_sha256": hashlib.sha256(data).hexdigest(),
        "width": picture.image.width,
        "height": picture.image.height,
        "exif_orientation": picture.header.exif_orientation,
        "label": ref.label,
    }


def _dead(
    uri: str, label: str, stage: str, code: str, message: str, job: Job
) -> dict[str, Any]:
    return {
        "image_uri": uri,
        "label": label,
        "stage": stage,
        "code": str(code),
        "message": message[:500],
        "attempts": job.attempt + 1,
    }


def _xywh(box: np.ndarray) -> list[float]:
    x0, y0, x1, y1 = box.tolist()
    return [x0, y0, x1 - x0, y1 - y0]
