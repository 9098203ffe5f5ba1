"""An exam: a class is learned from some of its images and judged on others."""

import dataclasses
from collections.abc import Iterator

from belvedere.transforms import documents
from belvedere.transforms.describe import Described
from belvedere.transforms.training_slices import Chosen, TrainingSlice
from belvedere.transforms.workshop import Workshop


@dataclasses.dataclass(frozen=True)
class Exam:
    """What is judged, and on what.

    Attributes:
      label: the class.
      fold: number of the fold.
      slices: all images of the class that take part.
      learned_from: ids of the images to learn from; none if there is a model.
      judged_on: ids of the test images.
      with_baselines: also the methods that take long to learn.
      parts: of the method to do without, for a table of what each adds.
      models: store of models that are judged in place of learning,
      models_number: as it was after this manifest.
    """

    label: str
    fold: int
    slices: tuple[TrainingSlice, ...]
    learned_from: frozenset[str]
    judged_on: frozenset[str]
    with_baselines: bool = False
    parts: tuple[str, ...] = ()
    models: str | None = None
    models_number: int | None = None

    def chosen(self, ids: frozenset[str]) -> tuple[Chosen, ...]:
        found = [c for part in self.slices for c in part.chosen if c.image_id in ids]
        return tuple(sorted(found, key=lambda c: (c.image_id, c.uri)))

    def fault(self) -> str:
        """Why nothing can be judged, before anything is learned; empty if it can."""
        if self.judged_on:
            return ""
        if self.models is None:
            return "no picture is left to judge on"
        known = sum(len(part.chosen) for part in self.slices)
        return f"its model was learned from all {known} pictures, or copies of them"

    def identity(self, ids: frozenset[str]) -> str:
        """Stands for images and their boxes."""
        return documents.digest(
            [list(dataclasses.astuple(c.identity)) for c in self.chosen(ids)]
        )

    def views(self, workshop: Workshop, ids: frozenset[str]) -> Iterator[Described]:
        """The images as the method sees them."""
        for training in self.slices:
            for one in workshop.views(training)[0]:
                if one.image_id in ids:
                    yield one
