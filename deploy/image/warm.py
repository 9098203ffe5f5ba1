"""Compiles all that a worker needs, so that it finds it in numba's cache.

Runs once, when the image is built. For annotating the model is drawn by lot: it finds
no object, but goes through the same code with the same types as a learned one, and
needs no torch. Where torch is installed a toy world is learned, too, by each preset.
"""

import importlib.util
import pathlib
import tempfile

import numpy as np

from belvedere.core import configuration, localization, sight
from belvedere.core.appearance import registry, vocabulary
from belvedere.core.assessment.calibration import Calibration
from belvedere.core.class_model import ClassModel
from belvedere.core.context.hyperfeatures import Consistency
from belvedere.core.context.scaling import Scaling
from belvedere.core.embedding.affine import AffineMap
from belvedere.core.prediction.relation_gp import RelationGP
from belvedere.core.synthetic import scenes
from belvedere.core.types import P, R
from belvedere.core.windows.randomized_prim import PrimSettings
from belvedere.pipelines import toy_data, train
from belvedere.transforms import workers

FEW = registry.Settings(step=8, sift_words=32, surf_words=16)
DIMENSIONS, INDUCING, SIDE = 5, 24, 240
PRESETS = ("paper", "classic")
SMALL = {
    "sight": {
        "windows": 80,
        "side": SIDE,
        "features": {"step": 8, "sift_words": 32, "surf_words": 16},
        "words_per_image": 40,
    },
    "method": {
        "exemplars": 40,
        "embedding": {"dimensions": DIMENSIONS, "folds": 3},
        "gp": {"inducing": INDUCING, "evaluations": 6},
    },
    "least_images": 5,
    "least_ceiling": 0.3,
}


def main() -> None:
    workers.prepare_worker()
    images = [scenes.draw(label, 0).image for label in scenes.CLASSES[:2]]
    eyes = _eyes(images)
    views = [sight.look(image, eyes) for image in images]
    for consistency in Consistency:
        model = _model(eyes, consistency, np.random.default_rng(0))
        for view in views:
            localization.localize(view, model, eyes)
    if importlib.util.find_spec("torch"):
        with tempfile.TemporaryDirectory() as made:
            _learn(pathlib.Path(made))


def _learn(folder: pathlib.Path) -> None:
    toy_data.write(folder, scenes.CLASSES[:2], boxed=8, unboxed=0)
    world = (str(folder / "images"),), str(folder / "boxes.csv")
    for preset in PRESETS:
        to = str(folder / preset), str(folder / f"{preset}-work")
        chosen = configuration.resolve(preset, SMALL)
        learned = train.main(train.Options(*world, *to, chosen)).annotated
        if learned != 2:
            raise RuntimeError(f"{learned} of 2 toy classes learned with {preset}")


def _eyes(images: list) -> sight.Eyes:
    small = [sight.in_frame(image, SIDE) for image in images]
    words = [vocabulary.sample(s, str(n), 60, FEW) for n, s in enumerate(small)]
    types = registry.feature_types(vocabulary.learn(words, FEW), FEW)
    return sight.Eyes(types, PrimSettings(windows=120), SIDE)


def _model(
    eyes: sight.Eyes, consistency: Consistency, rng: np.random.Generator
) -> ClassModel:
    maps = {
        name: AffineMap(
            rng.normal(size=(kind.length, DIMENSIONS)).astype(np.float32),
            rng.normal(size=DIMENSIONS),
        )
        for name, kind in eyes.features.items()
    }
    inputs = DIMENSIONS * len(maps)
    gp = RelationGP(
        inducing=rng.normal(size=(INDUCING, inputs)),
        lengthscales=np.full(inputs, 10.0),
        signal_variance=0.1,
        noise_variance=0.01,
        weights=rng.normal(size=(R, INDUCING)) / INDUCING,
        whitener=np.eye(INDUCING),
    )
    scaling = Scaling(np.zeros(P), np.ones(P))
    promise = Calibration(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    return ClassModel(maps, gp, rng.normal(size=P), scaling, promise, 0.1, consistency)


if __name__ == "__main__":
    main()
