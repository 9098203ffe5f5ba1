"""What all methods say of the test images of an exam, one image after the other."""

import contextlib
import dataclasses
import logging
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from belvedere.core import localization
from belvedere.core.assessment import baselines, comparison
from belvedere.core.assessment.comparison import Placed
from belvedere.core.assessment.verdicts import Verdict
from belvedere.core.class_model import ClassModel
from belvedere.core.sight import Eyes
from belvedere.core.windows import boxes
from belvedere.transforms.describe import Described

_log = logging.getLogger(__name__)


@dataclasses.dataclass(eq=False)
class Sitting:
    """What comes of the test images, one after the other."""

    placed: dict[str, list[Placed]] = dataclasses.field(default_factory=dict)
    located: dict[str, localization.Localization] = dataclasses.field(
        default_factory=dict
    )
    about: dict[str, tuple[int, float, int]] = dataclasses.field(default_factory=dict)

    def add(
        self,
        one: Described,
        model: ClassModel,
        methods: Mapping[str, baselines.Baseline],
        eyes: Eyes,
    ) -> None:
        view, truth, image_id = one.view, one.truth, one.image_id
        context = localization.context_of(view, model.maps, model.gp, eyes)
        found = localization.localize(view, model, eyes, context)
        iou = float(boxes.ious(found.box[None], truth).max())
        full = Placed("full", image_id, found.box, found.expected_iou, iou)
        known = model.gp, context
        others = comparison.place(methods, view, truth, image_id, eyes, known)
        for placed in (full, *others):
            self.placed.setdefault(placed.method, []).append(placed)
        self.located[image_id] = found
        areas = (truth[:, 2:] - truth[:, :2]).prod(axis=1) / (view.width * view.height)
        self.about[image_id] = (len(view.windows), float(areas.max()), len(truth))

    def verdict(
        self, nothing: Verdict, placed: Mapping[str, Sequence[Placed]]
    ) -> Verdict:
        ids = tuple(sorted(p.image_id for p in placed.get("full", ())))
        of = {n: {p.image_id: p for p in found} for n, found in placed.items()}
        located = [self.located[i] for i in ids]
        about = [self.about[i] for i in ids]
        return dataclasses.replace(
            nothing,
            image_ids=ids,
            boxes={n: np.array([of[n][i].box for i in ids]).reshape(-1, 4) for n in of},
            scores={n: np.array([of[n][i].score for i in ids]) for n in of},
            ious={n: np.array([of[n][i].iou for i in ids]) for n in of},
            own_scores=np.array([one.score for one in located]),
            uncentred=np.array([one.found.score for one in located]),
            iou_lower=np.array([one.iou_lower for one in located]),
            windows=np.array([a[0] for a in about], np.int64),
            evaluated=np.array(
                [one.found.certificate.evaluated for one in located], np.int64
            ),
            object_share=np.array([a[1] for a in about]),
            objects=np.array([a[2] for a in about], np.int64),
        )


@contextlib.contextmanager
def costs_one_image() -> Iterator[None]:
    """An image that the method cannot deal with is not judged, by any method."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        _log.warning("an image is not judged: %s: %s", type(error).__name__, error)


def common(placed: Mapping[str, Sequence[Placed]]) -> dict[str, list[Placed]]:
    """What is placed in the images that every method has a box for."""
    every = [{p.image_id for p in found} for found in placed.values()]
    common = set.intersection(*every) if every else set()
    return {
        name: [p for p in found if p.image_id in common]
        for name, found in placed.items()
    }
