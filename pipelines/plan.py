"""`belvedere plan`: what a run would meet, from listings and boxes alone.

No picture is opened; of a tar the headers are read. Holds the names of boxed images,
not those of the others.
"""

import collections
import dataclasses
from collections.abc import Iterator
from typing import Any

from belvedere.core.configuration import Configuration
from belvedere.pipelines import voice
from belvedere.pipelines.failures import opening
from belvedere.pipelines.voice import Voice
from belvedere.transforms import box_sources, sources, units
from belvedere.transforms.box_sources import Key
from belvedere.transforms.inputs import ImageRef, InputFault
from belvedere.transforms.sources import Source

# Seconds on one core of an ordinary machine, of 1000 windows and the usual words.
_WORD_IMAGE, _DESCRIBE, _COMPETE, _ANNOTATE = 0.05, 0.15, 0.15, 0.2
_CLASS, _CLASS_IMAGE = 10.0, 0.15


@dataclasses.dataclass(frozen=True)
class Options:
    """What the command was told."""

    images: tuple[str, ...]
    boxes: str
    configuration: Configuration
    images_format: str | None = None
    boxes_format: str | None = None


@dataclasses.dataclass
class ClassPlan:
    """A class: its images, those with boxes, and why it would be refused."""

    images: int = 0
    boxed: int = 0
    refused: str = ""


@dataclasses.dataclass
class Plan:
    """What was found.

    Attributes:
      classes: by name.
      unreadable: images that cannot be listed or named.
      bad_boxes: rows that are no boxes.
      homeless: images with boxes that are not there.
      ambiguous: images with boxes whose name is that of several.
      zero_based: sides of boxes that say 0 where counting begins at 1.
    """

    classes: dict[str, ClassPlan] = dataclasses.field(default_factory=dict)
    unreadable: int = 0
    bad_boxes: int = 0
    homeless: int = 0
    ambiguous: int = 0
    zero_based: int = 0

    def seconds(self, chosen: Configuration) -> tuple[float, float]:
        """About how long training and annotating take, on one core."""
        size = chosen.sight.windows / 1000
        used = [
            min(one.boxed, chosen.most_images)
            for one in self.classes.values()
            if not one.refused
        ]
        unboxed = sum(one.images - one.boxed for one in self.classes.values())
        images = sum(used)
        words = _WORD_IMAGE * min(images, chosen.sight.word_images)
        each = (_DESCRIBE + _COMPETE) * size + _CLASS_IMAGE
        return words + each * images + _CLASS * len(used), _ANNOTATE * size * unboxed


def main(options: Options, speaker: Voice) -> Plan:
    """Prints the plan."""
    with opening():
        found = [sources.detect(uri, options.images_format) for uri in options.images]
        boxes = box_sources.detect(options.boxes, options.boxes_format)
    plan = made(found, boxes, options.configuration)
    training, annotating = plan.seconds(options.configuration)
    document = {
        **dataclasses.asdict(plan),
        "training_seconds": round(training),
        "annotating_seconds": round(annotating),
    }
    speaker.say(document, *_shown(plan, training, annotating))
    return plan


def made(images: list[Source], boxes: Source, chosen: Configuration) -> Plan:
    """Lists the images and the boxes, and puts them together."""
    plan = Plan()
    hits: dict[Key, int] = {}
    for partition in box_sources.partitions(boxes):
        for row in box_sources.read(partition):
            if isinstance(row, InputFault):
                plan.bad_boxes += 1
            else:
                hits[row[0]] = 0
                plan.zero_based += row[1].zero_based
    classes: dict[str, ClassPlan] = collections.defaultdict(ClassPlan)
    for ref in _references(images):
        if isinstance(ref, InputFault):
            plan.unreadable += 1
            continue
        classes[ref.label].images += 1
        key = box_sources.image_key(ref, boxes.format)
        if key in hits:
            hits[key] += 1
    for (label, _), times in hits.items():
        plan.homeless += times == 0
        plan.ambiguous += times > 1
        classes[label].boxed += times == 1
    plan.classes = {label: classes[label] for label in sorted(classes)}
    _refuse(plan, chosen)
    return plan


def _references(images: list[Source]) -> Iterator[ImageRef | InputFault]:
    for source in images:
        for partition in sources.partitions(source):
            for piece in units.slices(partition):
                yield from sources.references(piece)


def _refuse(plan: Plan, chosen: Configuration) -> None:
    boxed = sum(one.boxed > 0 for one in plan.classes.values())
    for one in plan.classes.values():
        if one.boxed < chosen.least_images:
            one.refused = f"{one.boxed} with boxes, {chosen.least_images} are needed"
        elif boxed < 2:
            one.refused = "a second class with boxes is needed, to stand out from"


def _shown(plan: Plan, training: float, annotating: float) -> list[Any]:
    rows = [
        (
            label,
            str(one.images),
            str(one.boxed),
            f"refused: {one.refused}" if one.refused else "can be learned",
        )
        for label, one in plan.classes.items()
    ]
    odd = {
        "images cannot be used": plan.unreadable,
        "rows are no boxes": plan.bad_boxes,
        "boxed images are not there": plan.homeless,
        "boxed images have the name of others": plan.ambiguous,
    }
    return [
        voice.table("", ("class", "images", "with boxes", ""), rows),
        *(f"{count} {what}" for what, count in odd.items() if count),
        *voice.zero_based(plan.zero_based),
        f"training: about {voice.duration(training)}, annotating the images without "
        f"boxes: about {voice.duration(annotating)}, on one core",
    ]
