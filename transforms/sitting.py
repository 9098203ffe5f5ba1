"""What all methods say of the test images of an exam, one image after the other.

An image that a method cannot deal with is judged by no method: they are compared on the
same images. Which, by what method and why is kept, to be told.
"""

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from belvedere.core import localization
from belvedere.core.assessment import baselines, comparison
from belvedere.core.assessment.comparison import Placed
from belvedere.core.assessment.verdicts import Verdict
from belvedere.core.class_model import ClassModel
from belvedere.core.sight import Eyes
from belvedere.core.windows import boxes
from belvedere.transforms.describe import Described

FULL = "full"
Failure: TypeAlias = tuple[str, str, str]  # image, method, error


@dataclasses.dataclass(eq=False)
class Sitting:
    """What comes of the test images, one after the other."""

    placed: dict[str, list[Placed]] = dataclasses.field(default_factory=dict)
    located: dict[str, localization.Localization] = dataclasses.field(
        default_factory=dict
    )
    about: dict[str, tuple[int, float, int]] = dataclasses.field(default_factory=dict)
    failed: list[Failure] = dataclasses.field(default_factory=list)

    def add(
        self,
        one: Described,
        model: ClassModel,
        methods: Mapping[str, baselines.Baseline],
        eyes: Eyes,
    ) -> None:
        """Has an image judged; a failure costs this image."""
        view, truth, image_id = one.view, one.truth, one.image_id
        with costs_one_image(self.failed, image_id, FULL):
            context = localization.context_of(view, model.maps, model.gp, eyes)
            found = localization.localize(view, model, eyes, context)
            self._take(one, found)
            known = model.gp, context
            others = ", ".join((*methods, "ceiling"))
            with costs_one_image(self.failed, image_id, others):
                for placed in comparison.place(
                    methods, view, truth, image_id, eyes, known
                ):
                    self.placed.setdefault(placed.method, []).append(placed)

    def _take(self, one: Described, found: localization.Localization) -> None:
        view, truth, image_id = one.view, one.truth, one.image_id
        iou = float(boxes.ious(found.box[None], truth).max())
        full = Placed(FULL, image_id, found.box, found.expected_iou, iou)
        self.placed.setdefault(FULL, []).append(full)
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
def costs_one_image(
    failed: list[Failure], image_id: str, method: str
) -> Iterator[None]:
    """An image that a method cannot deal with is noted in `failed`."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}"[:500]
        failed.append((image_id, method, said))


def common(placed: Mapping[str, Sequence[Placed]]) -> dict[str, list[Placed]]:
    """What is placed in the images that every method has a box for."""
    every = [{p.image_id for p in found} for found in placed.values()]
    common = set.intersection(*every) if every else set()
    return {
        name: [p for p in found if p.image_id in common]
        for name, found in placed.items()
    }
