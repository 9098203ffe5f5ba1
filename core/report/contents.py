"""What goes into a report: the values that `page.render` turns into a page.

Values are checked here, where they enter; figures that are missing or NaN are allowed
in `metrics` and shown as a dash.
"""

import dataclasses
import enum
from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool, Float, Int64, Shaped

from belvedere.core.assessment.evaluation import Outcome
from belvedere.core.explanation import Explanation
from belvedere.core.types import P, R, require_shape

_JPEG = b"\xff\xd8\xff"


class Kind(enum.Enum):
    """What is reported: boxes compared with true ones, or a run without those."""

    EVALUATION = "evaluation"
    ANNOTATION = "annotation run"


@dataclasses.dataclass(frozen=True, eq=False)
class Judged:
    """The test images of an evaluation, and what each method gave for them.

    Attributes:
      image_ids: of the images.
      labels: their classes.
      outcomes: by name of the method, of these images in this order.
      object_share: area of the object by that of the picture.
      objects: how many true boxes an image has.
    """

    image_ids: Shaped[np.ndarray, " n"]
    labels: Shaped[np.ndarray, " n"]
    outcomes: Mapping[str, Outcome]
    object_share: Float[np.ndarray, " n"]
    objects: Int64[np.ndarray, " n"]

    def __post_init__(self) -> None:
        n = len(self.image_ids)
        require_shape("object_share", self.object_share, n)
        require_shape("objects", self.objects, n)
        if self.labels.shape != (n,):
            raise ValueError(f"labels have shape {self.labels.shape}, wanted {(n,)}")
        if not self.outcomes:
            raise ValueError("no method was judged")
        for method, outcome in self.outcomes.items():
            if len(outcome.ious) != n:
                raise ValueError(
                    f"{method} gave {len(outcome.ious)} boxes for {n} images"
                )


@dataclasses.dataclass(frozen=True, eq=False)
class Annotated:
    """The boxes of an annotation run: what is expected of each, nothing is measured.

    `rule` says what a box had to fulfil to be accepted.
    """

    expected_iou: Float[np.ndarray, " n"]
    iou_lower: Float[np.ndarray, " n"]
    labels: Shaped[np.ndarray, " n"]
    accepted: Bool[np.ndarray, " n"]
    rule: str

    def __post_init__(self) -> None:
        n = len(self.expected_iou)
        require_shape("expected_iou", self.expected_iou, n)
        require_shape("iou_lower", self.iou_lower, n)
        if self.labels.shape != (n,) or self.accepted.shape != (n,):
            raise ValueError(
                f"labels {self.labels.shape} and accepted {self.accepted.shape}"
                f" must be of the {n} boxes"
            )


@dataclasses.dataclass(frozen=True, eq=False)
class Shown:
    """A picture with its boxes.

    Attributes:
      image_id: name of the image.
      label: its class.
      jpeg: a small copy of it; boxes stay in the frame of the original.
      width: of the original, in pixels.
      height: of the original, in pixels.
      truths: true boxes, none if they are not known.
      boxes: by name of the method.
      ious: by name of the method; empty if there is no true box.
      expected_iou: of the full method's box, as promised before the truth was seen.
      iou_lower: what nine boxes of ten keep.
      explanation: why the full method chose its box.
    """

    image_id: str
    label: str
    jpeg: bytes
    width: int
    height: int
    truths: Float[np.ndarray, "T 4"]
    boxes: Mapping[str, Float[np.ndarray, "4"]]
    ious: Mapping[str, float] = dataclasses.field(default_factory=dict)
    expected_iou: float | None = None
    iou_lower: float | None = None
    explanation: Explanation | None = None

    def __post_init__(self) -> None:
        if not self.jpeg.startswith(_JPEG):
            raise ValueError(f"the picture of {self.image_id!r} is not a JPEG")
        if self.width < 1 or self.height < 1:
            raise ValueError(f"a picture of {self.width} x {self.height} has no pixels")
        require_shape("truths", self.truths, None, 4)
        for method, box in self.boxes.items():
            require_shape(f"the box of {method}", box, 4)
        if self.explanation is not None:
            _check(self.explanation)


def _check(explanation: Explanation) -> None:
    n = len(explanation.boxes)
    require_shape("boxes", explanation.boxes, n, 4)
    require_shape("overlap", explanation.overlap, n)
    require_shape("map", explanation.map, n, 2)
    require_shape("supporters", explanation.supporters, R)
    require_shape("contributions", explanation.contributions, P)
    require_shape("contributions", explanation.runner_up_contributions, P)
    marked = (explanation.chosen, explanation.runner_up, *explanation.supporters)
    if explanation.chosen < 0 or not all(-1 <= number < n for number in marked):
        raise ValueError(f"windows {marked} are not all among {n}")


@dataclasses.dataclass(frozen=True, eq=False)
class Section:
    """Pictures of the gallery that belong together, the most telling first."""

    name: str
    pictures: tuple[Shown, ...]
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Refused:
    """A class that was not learned, and why."""

    label: str
    reason: str


@dataclasses.dataclass(frozen=True)
class NotCompared:
    """A method that an evaluation drops, the class that lacks it, and why."""

    method: str
    label: str
    reason: str


@dataclasses.dataclass(frozen=True)
class DeadLetter:
    """A task that failed."""

    uri: str
    message: str
    label: str = ""


@dataclasses.dataclass(frozen=True)
class DeadLetters:
    """Tasks that failed for the same reason, with some of them as examples."""

    code: str
    count: int
    examples: tuple[DeadLetter, ...] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class Contents:
    """All that a report says.

    Attributes:
      title: of the page.
      kind: evaluation or annotation run.
      metrics: as in `metrics.json`. Besides, a method may have `box_accuracy`, from
        the IoU wanted ("0.3") to the share of boxes that reach it, and all together
        `iou_lower_kept`, the share whose IoU is not below `iou_lower`.
      judged: the test images of an evaluation; None if none could be judged.
      annotated: the boxes of an annotation run; None for an evaluation.
      gallery: sections of pictures.
      refused: classes that were not learned.
      not_compared: methods that an evaluation drops.
      dead: tasks that failed, by their code.
      near_duplicates: groups of pictures that an evaluation kept together.
      configuration: by flat key.
      ids: of the models, the configuration, the run, by what they are of.
    """

    title: str
    kind: Kind
    metrics: Mapping
    judged: Judged | None = None
    annotated: Annotated | None = None
    gallery: tuple[Section, ...] = ()
    refused: tuple[Refused, ...] = ()
    not_compared: tuple[NotCompared, ...] = ()
    dead: tuple[DeadLetters, ...] = ()
    near_duplicates: tuple[tuple[str, ...], ...] = ()
    configuration: Mapping[str, object] = dataclasses.field(default_factory=dict)
    ids: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind is Kind.EVALUATION and self.annotated is not None:
            raise ValueError("an evaluation has no annotated images, only judged ones")
        if self.kind is Kind.ANNOTATION and self.judged is not None:
            raise ValueError("an annotation run has no judged images")
