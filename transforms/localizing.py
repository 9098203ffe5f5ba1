"""One image to one row: the same code for a picture alone and for a work unit."""

import dataclasses
import hashlib
from typing import Any

import numpy as np

from belvedere.core import localization, sight
from belvedere.core.class_model import ClassModel
from belvedere.core.formats.faults import PictureError
from belvedere.core.formats.pictures import Picture
from belvedere.core.windows import boxes
from belvedere.transforms import decoding, model_store, tally
from belvedere.transforms.inputs import ImageRef, InputFault
from belvedere.transforms.model_cache import ModelCache
from belvedere.transforms.workers import prepare_worker

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


class Localizer:
    """Models and a decoder at hand; close it when done."""

    def __init__(self, job: Job) -> None:
        prepare_worker()
        self.job = job
        self.index = model_store.index(job.models, job.models_number)
        self.models = ModelCache(job.models)
        self.decoder = decoding.Decoder()

    def close(self) -> None:
        self.decoder.close()

    def row(self, found: tuple[ImageRef, bytes] | InputFault) -> dict[str, Any]:
        """A row of annotations, or of dead letters, which has a `stage`."""
        if isinstance(found, InputFault):
            return self._dead(found, "read", found.code, found.message)
        ref, data = found
        try:
            with tally.timed("decode"):
                picture = self.decoder.decode(data)
        except PictureError as error:
            return self._dead(ref, "decode", error.code, error.message)
        known = {**_known(ref, data, picture), "config_id": self.job.config_id}
        identity = self.index.of(ref.label)
        if identity is None:
            return {**known, "status": "refused", "accepted": False}
        model, eyes = self.models.get(ref.label, identity)
        try:
            located = self._localized(picture, model, eyes)
        except MemoryError:  # the machine is too small, not the image bad
            raise
        except Exception as error:  # whatever it is, it costs this image alone
            said = f"{type(error).__name__}: {error}"
            return self._dead(ref, "localize", "method_failed", said)
        return {**known, **located, "model_id": identity}

    def _localized(
        self, picture: Picture, model: ClassModel, eyes: sight.Eyes
    ) -> dict[str, Any]:
        with tally.timed("look"):
            view = sight.look(picture.image, eyes)
        with tally.timed("localize"):
            found = localization.localize(view, model, eyes)
        certificate = found.found.certificate
        second = found.found.runner_up
        windows = view.to_picture(view.windows.boxes)
        left = certificate.bound_left
        offset = found.score - found.found.score
        return {
            "bbox": boxes.xywh(found.box),
            "score": found.score,
            "expected_iou": found.expected_iou,
            "iou_lower": found.iou_lower,
            "gp_mean": found.mean,
            "gp_std": found.std,
            "accepted": found.expected_iou >= self.job.accept,
            "accept_rule": RULE.format(self.job.accept),
            "status": "annotated",
            "candidates": len(view.windows),
            "windows_evaluated": certificate.evaluated,
            "bound_left": left + offset if np.isfinite(left) else None,
            "contributions": found.contributions.tolist(),
            "window_bbox": boxes.xywh(windows[found.found.window]),
            "runner_up_bbox": boxes.xywh(windows[second]) if second >= 0 else None,
            "runner_up_score": (
                found.found.runner_up_score + offset if second >= 0 else None
            ),
        }

    def _dead(
        self, task: ImageRef | InputFault, stage: str, code: str, message: str
    ) -> dict[str, Any]:
        return {
            "image_uri": task.uri,
            "label": task.label,
            "stage": stage,
            "code": str(code),
            "message": message[:500],
            "attempts": self.job.attempt + 1,
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
