"""A small toy world and eyes with few words, for tests of the whole method."""

import dataclasses
import functools

from belvedere.core import sight
from belvedere.core.appearance import registry, vocabulary
from belvedere.core.assessment import comparison
from belvedere.core.assessment.comparison import Pictures
from belvedere.core.class_model import Settings
from belvedere.core.context import voting
from belvedere.core.embedding.presets import EmbeddingSettings
from belvedere.core.prediction.fitting import GPSettings
from belvedere.core.synthetic import scenes
from belvedere.core.windows.randomized_prim import PrimSettings

FEW_WORDS = registry.Settings(step=8, sift_words=48, surf_words=24)
SETTINGS = Settings(
    exemplars=60,
    embedding=EmbeddingSettings(dimensions=5, folds=3),
    gp=GPSettings(inducing=40, evaluations=8),
)
LABELS = ("zebra", "car")


@functools.cache
def world(count: int = 10) -> dict[str, scenes.Scene]:
    return {
        f"{label}/{seed}": scenes.draw(label, seed)
        for label in LABELS
        for seed in range(count)
    }


@functools.cache
def eyes(windows: int = 120) -> sight.Eyes:
    words = [vocabulary.sample(s.image, n, 60, FEW_WORDS) for n, s in world().items()]
    features = registry.feature_types(vocabulary.learn(words, FEW_WORDS), FEW_WORDS)
    return sight.Eyes(features, PrimSettings(windows=windows), side=300)


@functools.cache
def view(name: str) -> sight.View:
    return sight.look(world()[name].image, eyes())


def pictures(label: str, first: int = 0, last: int = 10) -> Pictures:
    names = [f"{label}/{seed}" for seed in range(first, last)]
    return Pictures(
        {name: view(name) for name in names},
        {name: world()[name].boxes for name in names},
    )


def negatives(label: str) -> list[sight.Samples]:
    other = next(one for one in LABELS if one != label)
    return comparison.negatives_of(pictures(other), 8, eyes(), SETTINGS.sampling)


def settings(kind: str) -> Settings:
    voted = voting.NONE if kind == "paper" else voting.Voting()
    return dataclasses.replace(SETTINGS, kind=kind, voting=voted)
