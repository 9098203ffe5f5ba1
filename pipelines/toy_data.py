"""Writes the toy world to disk as a user would have it: class folders and a CSV."""

import csv
import pathlib
from collections.abc import Sequence
from typing import Any

from PIL import Image as PillowImage

from belvedere.core.synthetic import scenes

BOXES, TRUTH = "boxes.csv", "truth.csv"

# Settings by which a few toy pictures are learned in seconds, to poor models.
QUICK: dict[str, Any] = {
    "sight": {
        "windows": 80,
        "side": 240,
        "features": {"step": 8, "sift_words": 32, "surf_words": 16},
        "words_per_image": 40,
    },
    "method": {
        "exemplars": 40,
        "embedding": {"dimensions": 5, "folds": 3},
        "gp": {"inducing": 24, "evaluations": 6},
    },
    "least_images": 5,
    "least_ceiling": 0.3,
}


def write(
    folder: pathlib.Path,
    labels: Sequence[str],
    boxed: int,
    unboxed: int,
    first_seed: int = 0,
) -> None:
    """Draws pictures of each class, the first `boxed` of them with boxes.

    Args:
      folder: gets `images/<class>/<number>.jpg`, `boxes.csv` for the boxed ones and
        `truth.csv` for all.
      labels: classes to draw.
      boxed: pictures of each class whose boxes are told.
      unboxed: pictures of each class without.
      first_seed: of the first picture.
    """
    told, truth = [], []
    for label in labels:
        (folder / "images" / label).mkdir(parents=True, exist_ok=True)
        for number in range(boxed + unboxed):
            scene = scenes.draw(label, first_seed + number)
            name = f"images/{label}/{first_seed + number:05d}.jpg"
            picture = PillowImage.fromarray(scene.image.pixels)
            picture.save(folder / name, quality=92)
            rows = [[name, label, *box.astype(int).tolist()] for box in scene.boxes]
            truth += rows
            told += rows if number < boxed else []
    for name, rows in ((BOXES, told), (TRUTH, truth)):
        with (folder / name).open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["image", "class", "xmin", "ymin", "xmax", "ymax"])
            writer.writerows(rows)
