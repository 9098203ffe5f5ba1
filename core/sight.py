"""What is seen in a picture: its candidate windows and their features.

Paper: sections 2 (windows) and 5 (features). Everything happens in a frame of at most
`Eyes.side` pixels a side, so that cost and scale of features do not depend on the
camera; true boxes go in and boxes come out in the picture's own frame.
"""

import dataclasses
import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from belvedere.core.appearance import registry
from belvedere.core.appearance.views import Views
from belvedere.core.embedding import matrices, sampling
from belvedere.core.embedding.affine import AffineMap
from belvedere.core.types import Image, Windows
from belvedere.core.windows import randomized_prim, relations
from belvedere.core.windows.randomized_prim import PrimSettings


@dataclasses.dataclass(frozen=True, eq=False)
class Eyes:
    """How every picture is looked at, whatever its class.

    The feature types hold the codebooks; they are learned once and then frozen.
    """

    features: Mapping[str, registry.FeatureType]
    prim: PrimSettings = dataclasses.field(default_factory=PrimSettings)
    side: int = 500


@dataclasses.dataclass(frozen=True, eq=False)
class View:
    """A picture as the method sees it.

    Attributes:
      windows: the candidates, in a frame of at most `Eyes.side` pixels a side.
      descriptions: by feature type, what features of windows are read from.
      width: of the picture itself, in its own pixels.
      height: of the picture itself.
    """

    windows: Windows
    descriptions: Mapping[str, Any]
    width: int
    height: int

    def to_picture(
        self, boxes: Float[np.ndarray, "... 4"]
    ) -> Float[np.ndarray, "... 4"]:
        """Boxes of the frame in the picture itself; what ends at its border stays so.

        Multiplied before divided, hence exact at the border and never beyond it.
        """
        return boxes * self._sides / self._frame

    def to_frame(self, boxes: Float[np.ndarray, "... 4"]) -> Float[np.ndarray, "... 4"]:
        """Boxes of the picture itself in the frame, likewise."""
        return boxes * self._frame / self._sides

    @property
    def _sides(self) -> Float[np.ndarray, "4"]:
        return np.array([self.width, self.height] * 2, np.float64)

    @property
    def _frame(self) -> Float[np.ndarray, "4"]:
        return np.array([self.windows.width, self.windows.height] * 2, np.float64)


@dataclasses.dataclass(frozen=True, eq=False)
class Samples:
    """Windows drawn from one image, their relations to its object, raw features."""

    image_id: str
    drawn: sampling.Sample
    relations: Float[np.ndarray, "3 n"]
    features: Mapping[str, matrices.Matrix]


def look(image: Image, eyes: Eyes) -> View:
    """Candidate windows of a picture, and the maps that features are read from.

    The windows are drawn at random from a digest of the pixels: the same picture has
    the same windows anywhere.
    """
    digest = hashlib.sha256(repr(image.pixels.shape).encode())
    digest.update(np.ascontiguousarray(image.pixels).data)
    rng = np.random.default_rng(int.from_bytes(digest.digest()[:8], "little"))
    small = in_frame(image, eyes.side)
    windows = randomized_prim.propose(small, eyes.prim, rng)
    descriptions = registry.describe(eyes.features, Views(small))
    return View(windows, descriptions, image.width, image.height)


def in_frame(image: Image, side: int) -> Image:
    """The picture, shrunk if a side is longer than `side` pixels."""
    return randomized_prim.shrunk(image, side)


def sample(
    view: View,
    truth: Float[np.ndarray, "T 4"],
    image_id: str,
    eyes: Eyes,
    settings: sampling.SamplingSettings,
) -> Samples:
    """Windows of a training image from true to far off, and rho(w, w*) of each."""
    truth = view.to_frame(truth)
    drawn = sampling.sample(view.windows.boxes, truth, image_id, settings)
    rho = relations.to_object(drawn.boxes, truth)
    return Samples(image_id, drawn, rho, _read(view, drawn, eyes))


def sample_negatives(
    view: View,
    image_id: str,
    count: int,
    eyes: Eyes,
    settings: sampling.SamplingSettings,
) -> Samples:
    """Windows of an image of another class, for exemplars to stand out from."""
    drawn = sampling.negatives(view.windows.boxes, image_id, count, settings)
    nothing = np.zeros((3, len(drawn)))
    return Samples(image_id, drawn, nothing, _read(view, drawn, eyes))


def embed(
    view: View, maps: Mapping[str, AffineMap], eyes: Eyes
) -> Float[np.ndarray, "N Q"]:
    """The inputs of the Gaussian process for all windows of a picture."""
    parts = [
        eyes.features[name].project(
            view.descriptions[name], view.windows.boxes, part.matrix, part.offset
        )
        for name, part in maps.items()
    ]
    return np.concatenate(parts, axis=1)


def _read(view: View, drawn: sampling.Sample, eyes: Eyes) -> dict[str, matrices.Matrix]:
    return {
        name: kind.read(view.descriptions[name], drawn.boxes)
        for name, kind in eyes.features.items()
    }
