"""The whole method on photographs: two thirds of each class learned, the rest judged.

  python benchmarks/photos.py --photos DIR --output out/bench-photos.json

DIR holds `annotations.csv` (image,class,xmin,ymin,xmax,ymax,...; half-open pixels,
paths relative to it). Classes with fewer than --least pictures lend negatives only.
Codebooks are learned from a fixed sample of training pictures; every split is by a hash
of the picture's name. Scores are pooled over classes as expected IoU.
"""

import argparse
import collections
import concurrent.futures
import csv
import functools
import json
import multiprocessing
import pathlib
import time

import cv2
import numpy as np
from PIL import Image as PillowImage
from rich.console import Console
from rich.table import Table

from belvedere.core import sight, types
from belvedere.core.appearance import registry, vocabulary
from belvedere.core.assessment import comparison, contact_sheet, summary
from belvedere.core.assessment.comparison import Pictures, Placed
from belvedere.core.assessment.evaluation import Outcome
from belvedere.core.class_model import Settings
from belvedere.core.embedding import sampling

PRESETS = ("paper", "classic")
METHODS = (
    "whole_image",
    "constant_box",
    "location",
    "ae_gp",
    "full",
    "ceiling",
)
COLOURS = {"true box": (255, 255, 255), "ae_gp": (60, 180, 75), "full": (230, 25, 75)}
_WORDS_FROM = 16  # training pictures of each class that the codebooks see
_NEGATIVES_FROM = 16  # training pictures of each class that lend negatives
_NEGATIVES = 10  # windows from each of them


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--least", type=int, default=80)
    parser.add_argument("--limit", type=int, default=10**9, help="pictures per class")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    start = time.perf_counter()
    photos = Photos(options.photos, options.limit)
    judged = [c for c in photos.classes if len(photos.names(c)) >= options.least]
    eyes = _eyes(photos)
    job = functools.partial(_judge, photos, eyes)
    placed: dict[str, list[Placed]] = {preset: [] for preset in PRESETS}
    notes = {}
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(options.workers, context) as pool:
        for label, found, note in pool.map(job, judged):
            for preset in PRESETS:
                placed[preset] += found[preset]
            notes[label] = note
            print(f"{label}: {note}", flush=True)
    results = {
        "presets": {
            preset: summary.compare(_outcomes(of), np.random.default_rng(0))
            for preset, of in placed.items()
        },
        "classic-paper": _presets(placed),
        "seconds": time.perf_counter() - start,
        "notes": notes,
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(results, indent=1) + "\n")
    _sheet(photos, placed["classic"], options.output.with_suffix(".png"))
    _show(results)


class Photos:
    """Pictures of a folder with their true boxes; each is decoded when asked for."""

    def __init__(self, folder: pathlib.Path, limit: int) -> None:
        self.folder = folder
        self.truths: dict[str, np.ndarray] = {}
        by_class = collections.defaultdict(set)
        rows = collections.defaultdict(list)
        with (folder / "annotations.csv").open() as file:
            for row in csv.DictReader(file):
                by_class[row["class"]].add(row["image"])
                box = [float(row[k]) for k in ("xmin", "ymin", "xmax", "ymax")]
                rows[row["image"]].append(box)
        self.truths = {name: np.array(found) for name, found in rows.items()}
        self.classes = sorted(by_class)
        self._names = {c: sorted(names)[:limit] for c, names in by_class.items()}

    def names(self, label: str) -> list[str]:
        return self._names[label]

    def split(self, label: str) -> tuple[list[str], list[str]]:
        """Training and test pictures: one of three balanced folds is tested."""
        names = self.names(label)
        folds = sampling.balanced_folds(names, 3, seed=1)
        train = [n for n, fold in zip(names, folds, strict=True) if fold]
        return train, [n for n, fold in zip(names, folds, strict=True) if not fold]

    def image(self, name: str) -> types.Image:
        with PillowImage.open(self.folder / name) as picture:
            return types.Image(np.asarray(picture.convert("RGB")))

    def pictures(self, names: list[str], eyes: sight.Eyes) -> Pictures:
        views = {name: sight.look(self.image(name), eyes) for name in names}
        return Pictures(views, {name: self.truths[name] for name in names})


def _eyes(photos: Photos) -> sight.Eyes:
    cv2.setNumThreads(1)
    names = [n for c in photos.classes for n in photos.split(c)[0][:_WORDS_FROM]]
    words = [vocabulary.sample(photos.image(name), name) for name in names]
    return sight.Eyes(registry.feature_types(vocabulary.learn(words)))


def _judge(photos: Photos, eyes: sight.Eyes, label: str):
    """The boxes of every method on the test pictures of a class, for both presets."""
    cv2.setNumThreads(1)
    _one_torch_thread()
    start = time.perf_counter()
    lenders = [
        name
        for other in photos.classes
        if other != label
        for name in photos.split(other)[0][:_NEGATIVES_FROM]
    ]
    negatives = comparison.negatives_of(
        photos.pictures(lenders, eyes), _NEGATIVES, eyes, Settings().sampling
    )
    train, test = (photos.pictures(names, eyes) for names in photos.split(label))
    looked = time.perf_counter()
    placed, note = {}, {"train": len(train.views), "test": len(test.views)}
    for preset in PRESETS:
        trained = comparison.train(train, negatives, eyes, Settings(kind=preset))
        placed[preset] = comparison.place(trained, test, eyes)
        ious = [p.iou for p in placed[preset] if p.method == "full"]
        note[preset] = round(float(np.mean(ious)), 3)
        note[f"{preset}_alpha"] = trained.learned.alpha.round(3).tolist()
    note["seconds"] = [
        round(looked - start, 1),
        round(time.perf_counter() - looked, 1),
    ]
    return label, placed, note


def _one_torch_thread() -> None:
    import torch

    torch.set_num_threads(1)


def _outcomes(placed: list[Placed]) -> dict[str, Outcome]:
    return {
        method: Outcome(
            np.array([p.iou for p in placed if p.method == method]),
            np.array([p.score for p in placed if p.method == method]),
            np.array([p.image_id.split("/")[1] for p in placed if p.method == method]),
        )
        for method in METHODS
    }


def _presets(placed: dict[str, list[Placed]]) -> dict:
    """Classic against paper, the full method of both, on the same pictures."""
    pair = {
        "full": _outcomes(placed["classic"])["full"],
        "paper": _outcomes(placed["paper"])["full"],
    }
    compared = summary.compare(pair, np.random.default_rng(0))
    return compared["paired"]["full-paper"]


def _sheet(photos: Photos, placed: list[Placed], path: pathlib.Path) -> None:
    """The first pictures of each class, with the true, AE-GP's and the full box."""
    by_name: dict[str, dict[str, Placed]] = {}
    for p in placed:
        by_name.setdefault(p.image_id, {})[p.method] = p
    shown: dict[str, list[str]] = collections.defaultdict(list)
    for name in by_name:
        shown[name.split("/")[1]].append(name)
    tiles = [
        contact_sheet.Tile(
            photos.image(name),
            {
                "true box": photos.truths[name],
                **{m: p.box[None] for m, p in by_name[name].items() if m in COLOURS},
            },
            f"IoU {by_name[name]['full'].iou:.2f}, "
            f"expected {by_name[name]['full'].score:.2f}",
        )
        for names in shown.values()
        for name in names[:6]
    ]
    PillowImage.fromarray(contact_sheet.draw(tiles, COLOURS)).save(path)


def _show(results: dict) -> None:
    console = Console(width=120)
    for preset, compared in results["presets"].items():
        table = Table(title=f"preset {preset}")
        for column in (
            "method",
            "mean IoU",
            "macro",
            "IoU >= .5",
            "at .70",
            "at .75",
            "at .80",
            "AUC",
            "full minus it, mean IoU",
        ):
            table.add_column(column, justify="left" if column == "method" else "right")
        for method, m in compared["methods"].items():
            pair = compared["paired"].get(f"full-{method}")
            table.add_row(
                method,
                *(f"{m[k]:.3f}" for k in ("mean_iou", "macro_iou", "corloc")),
                *(f"{m[f'returned_at_{t}']:.2f}" for t in ("0.70", "0.75", "0.80")),
                f"{m['auc']:.3f}",
                "{1:+.3f} [{0:+.3f}, {2:+.3f}]".format(*pair["mean_iou"])
                if pair
                else "",
            )
        console.print(table)
    low, mid, high = results["classic-paper"]["mean_iou"]
    print(f"classic minus paper, mean IoU: {mid:+.3f} [{low:+.3f}, {high:+.3f}]")
    print(f"{results['seconds']:.0f} s")


if __name__ == "__main__":
    main()
