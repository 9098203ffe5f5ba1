"""`belvedere demo`: from drawing a toy world to a contact sheet and a summary.

Two thirds of the pictures of each class are learned from, the others are judged. Four
ways to place the box are compared on the same pictures: one constant box, location and
scale alone, appearance alone (AE-GP, the paper's predecessor), and the full method.
"""

import json
import pathlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

import cv2
import numpy as np
from PIL import Image as PillowImage
from rich.console import Console
from rich.progress import track
from rich.table import Table

from belvedere.core import sight
from belvedere.core.appearance import registry, vocabulary
from belvedere.core.assessment import comparison, contact_sheet, summary
from belvedere.core.assessment.comparison import Pictures, Placed
from belvedere.core.assessment.evaluation import Outcome
from belvedere.core.class_model import Settings
from belvedere.core.prediction.fitting import GPSettings
from belvedere.core.synthetic import scenes

COLOURS = {"true box": (255, 255, 255), "ae_gp": (60, 180, 75), "full": (230, 25, 75)}
_METHODS = ("constant_box", "location", "ae_gp", "full", "ceiling")
_SETTINGS = Settings(exemplars=400, gp=GPSettings(inducing=200))
_NEGATIVES = 12  # windows that a picture of another class gives


def main(output: pathlib.Path, classes: int, images: int) -> None:
    """Runs the demo and writes `sheet.png` and `metrics.json` into `output`."""
    cv2.setNumThreads(1)
    console = Console()
    start = time.perf_counter()
    world = {
        f"{label}/{seed:03d}": scenes.draw(label, seed)
        for label in scenes.CLASSES[:classes]
        for seed in range(images)
    }
    train = [name for name in world if _number(name) < 2 * images // 3]
    words = [
        vocabulary.sample(world[name].image, name)
        for name in _progress(console, "Describing pictures", train)
    ]
    console.print("Learning visual words")
    eyes = sight.Eyes(registry.feature_types(vocabulary.learn(words)))
    views = {
        name: sight.look(world[name].image, eyes)
        for name in _progress(console, "Looking for windows", list(world))
    }
    placed: list[Placed] = []
    for label in _progress(console, "Learning classes", scenes.CLASSES[:classes]):
        placed += _judge(label, world, views, train, eyes)
    metrics = summary.compare(_outcomes(placed), np.random.default_rng(0))
    _write(output, placed, world, metrics)
    _show(console, metrics, len(world) - len(train))
    console.print(
        f"{time.perf_counter() - start:.0f} s. Look at {output / 'sheet.png'}"
    )


def _number(name: str) -> int:
    return int(name.split("/")[1])


def _progress(
    console: Console, what: str, items: Sequence[str]
) -> Iterable[str] | Iterator[str]:
    """A bar on a terminal, one plain line elsewhere."""
    if console.is_terminal:
        return track(items, what, console=console)
    console.print(f"{what}: {len(items)}")
    return items


def _judge(
    label: str,
    world: Mapping[str, scenes.Scene],
    views: Mapping[str, sight.View],
    train: Sequence[str],
    eyes: sight.Eyes,
) -> list[Placed]:
    """Learns a class from its training pictures and judges it on the others."""

    def pictures(names: Iterable[str]) -> Pictures:
        names = list(names)
        return Pictures(
            {n: views[n] for n in names}, {n: world[n].boxes for n in names}
        )

    own = [name for name in world if world[name].label == label]
    others = pictures(name for name in train if world[name].label != label)
    negatives = comparison.negatives_of(others, _NEGATIVES, eyes, _SETTINGS.sampling)
    learned_from = pictures(name for name in own if name in set(train))
    judged_on = pictures(name for name in own if name not in set(train))
    trained = comparison.train(learned_from, negatives, eyes, _SETTINGS)
    return comparison.place(trained, judged_on, eyes)


def _outcomes(placed: Sequence[Placed]) -> dict[str, Outcome]:
    result = {}
    for method in _METHODS:
        own = [p for p in placed if p.method == method]
        result[method] = Outcome(
            np.array([p.iou for p in own]),
            np.array([p.score for p in own]),
            np.array([p.image_id.split("/")[0] for p in own]),
        )
    return result


def _write(
    output: pathlib.Path,
    placed: Sequence[Placed],
    world: Mapping[str, scenes.Scene],
    metrics: Mapping,
) -> None:
    output.mkdir(parents=True, exist_ok=True)
    (output / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n")
    by_name: dict[str, dict[str, Placed]] = {}
    for p in placed:
        by_name.setdefault(p.image_id, {})[p.method] = p
    tiles = [
        contact_sheet.Tile(
            world[name].image,
            {
                "true box": world[name].boxes,
                **{m: p.box[None] for m, p in methods.items() if m in COLOURS},
            },
            f"{world[name].label}  IoU {methods['full'].iou:.2f}, "
            f"expected {methods['full'].score:.2f}",
        )
        for name, methods in by_name.items()
    ]
    PillowImage.fromarray(contact_sheet.draw(tiles, COLOURS)).save(output / "sheet.png")


def _show(console: Console, metrics: Mapping, images: int) -> None:
    table = Table(title=f"{images} pictures that were not learned from")
    for column in ("method", "mean IoU", "IoU >= .5", "full minus it [95% interval]"):
        table.add_column(column, justify="left" if column == "method" else "right")
    for method, figures in metrics["methods"].items():
        pair = metrics["paired"].get(f"full-{method}")
        low, mid, high = pair["mean_iou"] if pair else (0, 0, 0)
        table.add_row(
            method,
            f"{figures['mean_iou']:.3f}",
            f"{figures['corloc']:.2f}",
            f"{mid:+.3f} [{low:+.3f}, {high:+.3f}]" if pair else "",
        )
    console.print(table)
