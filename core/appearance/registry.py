"""The feature types by name: how to describe a picture, how to read a window from it.

Paper: section 5: three colour SIFT bags of words, SURF, HOG, location and scale.
A new feature type is one file and one line here, in `recipes` if it needs a codebook,
in `plain` if it does not.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse
from jaxtyping import Float, Float32

from belvedere.core.appearance import bag_of_words, hog, location, patches, sift, surf
from belvedere.core.appearance.codebooks import Codebook
from belvedere.core.appearance.views import OPPONENT, RGB, Views
from belvedere.core.types import require_range


@runtime_checkable
class FeatureType(Protocol):
    """A way to see windows. Descriptions are small frozen values, one per picture."""

    @property
    def name(self) -> str: ...

    @property
    def length(self) -> int:
        """D, numbers of a window's raw feature."""

    def describe(self, views: Views) -> Any:
        """The maps of a picture that windows are read from."""

    def read(
        self, description: Any, boxes: Float[np.ndarray, "N 4"]
    ) -> Float32[np.ndarray, "N D"] | scipy.sparse.csr_matrix:
        """Raw features, float32, normalised; for the sampled windows of training."""

    def project(
        self,
        description: Any,
        boxes: Float[np.ndarray, "N 4"],
        matrix: Float32[np.ndarray, "D E"],
        offset: Float[np.ndarray, "E"],
    ) -> Float[np.ndarray, "N E"]:
        """read(...) @ matrix + offset, each window as if it were alone."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """Sizes of the features; `PAPER` has those that the paper states.

    Attributes:
      step: from one patch to the next, in pixels.
      sift_words, surf_words: of a codebook.
      sift_levels, surf_levels: cells a side, for each level of the pyramid.
    """

    step: int = 4
    sift_words: int = 1024
    surf_words: int = 512
    sift_levels: tuple[int, ...] = (3,)
    surf_levels: tuple[int, ...] = (1, 4)

    def __post_init__(self) -> None:
        require_range(self, ("step", "sift_words", "surf_words"), 1)
        require_range(self, ("sift_levels", "surf_levels"), 1)


DEFAULT = Settings()
PAPER = Settings(sift_words=4000, surf_words=1000)


def recipes(settings: Settings = DEFAULT) -> dict[str, bag_of_words.Recipe]:
    """The feature types that need a codebook, without it."""
    small, large = (
        dataclasses.replace(layout, step=settings.step)
        for layout in (patches.SMALL, patches.LARGE)
    )
    planes = {
        "sift_intensity": ("intensity",),
        "sift_opponent": OPPONENT,
        "sift_rgb": RGB,
    }
    made = [
        bag_of_words.Recipe(
            name, sift.Sift(of, small), settings.sift_levels, settings.sift_words
        )
        for name, of in planes.items()
    ]
    rough = surf.Surf(layout=large)
    made.append(
        bag_of_words.Recipe("surf", rough, settings.surf_levels, settings.surf_words)
    )
    return {recipe.name: recipe for recipe in made}


def plain() -> dict[str, FeatureType]:
    """The feature types that need no codebook."""
    return {kind.name: kind for kind in (hog.Hog(), location.Location())}


def names(settings: Settings = DEFAULT) -> tuple[str, ...]:
    """All feature types, in the order in which their embeddings are put together."""
    return (*recipes(settings), *plain())


def feature_types(
    codebooks: Mapping[str, Codebook], settings: Settings = DEFAULT
) -> dict[str, FeatureType]:
    """All feature types, in the order of `names`; ValueError if a codebook lacks."""
    wanted = recipes(settings)
    if lacking := set(wanted) - set(codebooks):
        raise ValueError(f"no codebook for {sorted(lacking)}")
    bags = {
        name: bag_of_words.BagOfWords(recipe, codebooks[name])
        for name, recipe in wanted.items()
    }
    return {**bags, **plain()}


def describe(types: Mapping[str, FeatureType], views: Views) -> dict[str, Any]:
    """The descriptions of a picture; what the types share is computed once."""
    return {name: kind.describe(views) for name, kind in types.items()}
