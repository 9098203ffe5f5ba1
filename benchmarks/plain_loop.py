"""The two commands as a loop over core in one process: no Beam, no files but pictures.

What a pipeline is measured against; everything is held in memory.
"""

import csv
import pathlib
from collections.abc import Sequence

import numpy as np

from belvedere.core import localization, sight
from belvedere.core.appearance import registry, vocabulary
from belvedere.core.class_model import ClassModel
from belvedere.core.configuration import Configuration
from belvedere.core.formats import pictures
from belvedere.core.types import Image


class Loop:
    """A toy world, as `toy_data` writes it, or every so-manieth picture of it."""

    def __init__(
        self, world: pathlib.Path, chosen: Configuration, every: int = 1
    ) -> None:
        self.folder = world / "images"
        self.chosen = chosen
        files = sorted(self.folder.rglob("*.jpg"))
        self.names = [str(f.relative_to(self.folder)) for f in files[::every]]
        truths: dict[str, list] = {}
        with (world / "boxes.csv").open() as file:
            for name, _, *box in list(csv.reader(file))[1:]:
                sides = [float(side) for side in box]
                truths.setdefault(name.removeprefix("images/"), []).append(sides)
        self.truths = {name: np.array(boxes) for name, boxes in truths.items()}
        self.boxed = sorted(self.truths)[::every]
        self.models: dict[str, ClassModel] = {}

    def image(self, name: str) -> Image:
        return pictures.decode((self.folder / name).read_bytes()).image

    def see(self, names: Sequence[str]) -> dict[str, sight.View]:
        """Views, once the eyes are learned from the boxed pictures."""
        if not hasattr(self, "eyes"):
            self.eyes = self._eyes()
        return {name: sight.look(self.image(name), self.eyes) for name in names}

    def _eyes(self) -> sight.Eyes:
        settings = self.chosen.sight
        words = [
            vocabulary.sample(
                sight.in_frame(self.image(name), settings.side),
                name,
                settings.words_per_image,
                settings.features,
            )
            for name in self.boxed[:: max(1, len(self.boxed) // settings.word_images)]
        ]
        books = vocabulary.learn(words, settings.features)
        types = registry.feature_types(books, settings.features)
        return sight.Eyes(types, settings.prim(), settings.side)

    def train(self) -> None:
        """Everything from pictures to models."""
        self.__dict__.pop("eyes", None)
        views = self.see(self.boxed)
        settings, method = self.chosen.sight, self.chosen.method
        lenders = self.boxed[:: max(1, len(self.boxed) // settings.negative_images)]
        each = settings.negatives_per_image
        pool = {
            name: sight.sample_negatives(
                views[name], name, each, self.eyes, method.sampling
            )
            for name in lenders
        }
        for label in sorted({name.split("/")[0] for name in self.boxed}):
            own = [name for name in self.boxed if name.startswith(f"{label}/")]
            self.models[label] = localization.fit(
                {name: views[name] for name in own},
                {name: self.truths[name] for name in own},
                [s for name, s in pool.items() if not name.startswith(f"{label}/")],
                self.eyes,
                method,
            )

    def annotate(self) -> None:
        for name in self.names:
            view = sight.look(self.image(name), self.eyes)
            localization.localize(view, self.models[name.split("/")[0]], self.eyes)
