"""The visual words of all feature types, learned once from training pictures.

Each picture gives a fixed number of descriptors, drawn by a hash of its name, so that
the vocabulary depends on the set of pictures and not on their order.
"""

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Int16

from belvedere.core.appearance import codebooks, registry
from belvedere.core.appearance.views import Views
from belvedere.core.types import Image

Descriptors = Mapping[str, Int16[np.ndarray, "n D"]]


def sample(
    image: Image,
    image_id: str,
    count: int = 300,
    settings: registry.Settings = registry.DEFAULT,
    seed: int = 0,
) -> Descriptors:
    """Up to `count` descriptors of a picture for each feature type that has words."""
    views = Views(image)
    return {
        name: codebooks.sample(
            recipe.local.describe(views), count, _rng(f"{name}\0{image_id}", seed)
        )
        for name, recipe in registry.recipes(settings).items()
    }


def learn(
    samples: Sequence[Descriptors],
    settings: registry.Settings = registry.DEFAULT,
    seed: int = 0,
) -> dict[str, codebooks.Codebook]:
    """A codebook for each feature type that has words."""
    if not samples:
        raise ValueError("a vocabulary needs at least one picture")
    return {
        name: codebooks.learn(
            name,
            np.concatenate([s[name] for s in samples]),
            recipe.words,
            _rng(name, seed),
        )
        for name, recipe in registry.recipes(settings).items()
    }


def _rng(text: str, seed: int) -> np.random.Generator:
    digest = hashlib.sha256(f"{seed}\0{text}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "little"))
