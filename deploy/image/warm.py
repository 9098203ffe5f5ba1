"""Compiles all that a worker needs, so that it finds it in numba's cache.

Runs once, when the image is built: learns a toy world by each preset, annotates it.
"""

import dataclasses
import itertools
import pathlib
import tempfile

from belvedere.core import configuration
from belvedere.core.context.hyperfeatures import Consistency
from belvedere.core.synthetic import scenes
from belvedere.pipelines import annotate, toy_data, train

LABELS = scenes.CLASSES[:2]
BOXED, UNBOXED = 8, 1


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        toy_data.write(folder, LABELS, BOXED, UNBOXED)
        for number, (preset, consistency) in enumerate(
            itertools.product(configuration.PRESETS, Consistency)
        ):
            chosen = configuration.resolve(preset, toy_data.QUICK)
            method = dataclasses.replace(chosen.method, consistency=consistency)
            _run(folder, str(number), dataclasses.replace(chosen, method=method))


def _run(folder: pathlib.Path, name: str, chosen: configuration.Configuration) -> None:
    images = (str(folder / "images"),)
    boxes, to = str(folder / "boxes.csv"), str(folder / name)
    work = str(folder / "work")
    learned = train.main(train.Options(images, boxes, f"{to}-models", work, chosen))
    if learned.annotated != len(LABELS):
        raise RuntimeError(f"{learned.annotated} of {len(LABELS)} toy classes learned")
    told = annotate.Options(images, f"{to}-models", f"{to}-out", chosen.annotating)
    found = annotate.main(told).annotated
    if found != len(LABELS) * (BOXED + UNBOXED):
        raise RuntimeError(f"{found} boxes on {len(LABELS)} toy classes")


if __name__ == "__main__":
    main()
