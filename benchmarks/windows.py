"""Candidate windows: how fast they are found, and how well they fit the objects.

  python benchmarks/windows.py --output out/bench-windows.json [--photos DIR]

DIR holds `annotations.csv` (image,class,xmin,ymin,xmax,ymax,...; half-open pixels,
paths relative to it); without it, toy pictures are drawn. Speed is stated against one
call of scikit-image's felzenszwalb on the same picture, in turn, on one thread: only
the ratios within a run mean anything.
"""

import argparse
import collections
import csv
import functools
import hashlib
import itertools
import json
import pathlib
import time
from collections.abc import Callable, Iterator

import numpy as np
from PIL import Image as PillowImage
from rich.console import Console
from rich.table import Table
from skimage.segmentation import felzenszwalb

from belvedere.core.synthetic import scenes
from belvedere.core.types import Image
from belvedere.core.windows import (
    boxes,
    colours,
    randomized_prim,
    superpixel_graph,
    superpixels,
)
from belvedere.core.windows.randomized_prim import PrimSettings

RECALLS = (0.5, 0.7, 0.8)
REFERENCE = "one call of felzenszwalb"
SEGMENTATION = ("colour", "smooth", "edges and sort", "union")
_REPEATS = 3
Picture = tuple[str, Image, np.ndarray]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--photos", type=pathlib.Path)
    parser.add_argument("--limit", type=int, default=10**9, help="pictures per class")
    parser.add_argument("--timed", type=int, default=20, help="pictures of 500 pixels")
    parser.add_argument("--windows", type=int, default=1000)
    parser.add_argument("--k", type=float, nargs="+", default=[100.0])
    parser.add_argument("--max-side", type=int, default=PrimSettings().max_side)
    options = parser.parse_args()
    pictures = functools.partial(_pictures, options.photos, options.limit)
    settings = PrimSettings(
        windows=options.windows, k=tuple(options.k), max_side=options.max_side
    )
    native = PrimSettings(windows=options.windows, k=tuple(options.k), max_side=500)
    timed = _of_500_pixels(pictures(), options.timed)
    results = {
        "speed": {
            f"shrunk to {settings.max_side}": _speed(timed, settings),
            "at 500 pixels": _speed(timed, native),
        },
        "quality": _quality(pictures(), settings),
    }
    _show_speed(results["speed"])
    _show_quality(results["quality"])
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(results, indent=1) + "\n")
    print(f"wrote {options.output}")


def _pictures(folder: pathlib.Path | None, limit: int) -> Iterator[Picture]:
    """Label, picture and true boxes, of at most `limit` pictures of a class."""
    if folder is None:
        for scene in scenes.data_set(scenes.CLASSES, min(limit, 30), seed=0):
            yield scene.label, scene.image, scene.boxes
        return
    found: dict[tuple[str, str], list[list[float]]] = collections.defaultdict(list)
    with (folder / "annotations.csv").open(newline="") as rows:
        for row in csv.DictReader(rows):
            box = [float(row[side]) for side in ("xmin", "ymin", "xmax", "ymax")]
            found[row["class"], row["image"]].append(box)
    taken: collections.Counter[str] = collections.Counter()
    for (label, name), truth in found.items():
        taken[label] += 1
        if taken[label] <= limit:
            with PillowImage.open(folder / name) as opened:
                pixels = np.asarray(opened.convert("RGB"))
            yield label, Image(pixels), np.array(truth)


def _of_500_pixels(pictures: Iterator[Picture], count: int) -> list[Image]:
    """Pictures of 500 by 375 pixels, the same number of each class if there are."""
    groups = collections.defaultdict(list)
    for label, image, _ in pictures:
        if sorted((image.width, image.height)) == [375, 500]:
            groups[label].append(image)
    turns = sorted(
        (turn, label) for label, group in groups.items() for turn in range(len(group))
    )
    return [groups[label][turn] for turn, label in turns[:count]]


def _rng(image: Image) -> np.random.Generator:
    digest = hashlib.sha256(np.ascontiguousarray(image.pixels).data).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "little"))


def _speed(images: list[Image], settings: PrimSettings) -> dict[str, float]:
    """Milliseconds of each stage, mean over pictures of the best of some runs."""
    _stages(images[0], settings)  # compiles
    times = [_stages(image, settings) for image in images]
    return {name: float(np.mean([t[name] for t in times])) for name in times[0]}


def _stages(image: Image, settings: PrimSettings) -> dict[str, float]:
    times: dict[str, float] = collections.defaultdict(float)

    def timed(name: str, work: Callable, *arguments: object) -> object:
        best = float("inf")
        for _ in range(_REPEATS):
            start = time.perf_counter()
            result = work(*arguments)
            best = min(best, time.perf_counter() - start)
        times[name] += 1000 * best
        return result

    small = timed("shrink", randomized_prim.shrunk, image, settings.max_side)
    rgb = timed("colour", colours.planes, small.pixels)
    lab = colours.convert(rgb, "lab")
    bins = timed("graph", superpixel_graph.colour_bins, lab)
    graphs = []
    for space in settings.spaces:
        channels = timed("colour", colours.convert, rgb, space)
        smoothed = timed("smooth", superpixels.smooth, channels, settings.sigma)
        weights = timed("edges and sort", superpixels.weigh_edges, smoothed)
        for k in settings.k:
            before = times["edges and sort"]
            timed("edges and sort", superpixels.sort_edges, weights)
            sorting = times["edges and sort"] - before
            labels = timed("union", superpixels.join, weights, k, settings.min_size)
            times["union"] -= sorting
            graphs.append(timed("graph", superpixel_graph.build, labels, bins))
    graph = timed("graph", superpixel_graph.side_by_side, graphs)
    size = (small.width, small.height)
    timed("sampling", randomized_prim.sample, graph, *size, settings, _rng(image))
    timed("all windows", randomized_prim.propose, image, settings, _rng(image))
    timed(REFERENCE, lambda: felzenszwalb(image.pixels, 100, 0.8, 100))
    times["four segmentations"] = sum(times[name] for name in SEGMENTATION)
    return times


def _quality(pictures: Iterator[Picture], settings: PrimSettings) -> dict[str, dict]:
    """How well the best window fits, for each class and for all."""
    best, images = collections.defaultdict(list), collections.defaultdict(list)
    for label, image, truth in pictures:
        start = time.perf_counter()
        windows = randomized_prim.propose(image, settings, _rng(image))
        elapsed = 1000 * (time.perf_counter() - start)
        fits = boxes.ious(windows.boxes, truth).max(axis=0)
        best[label] += fits.tolist()
        full = float(len(windows) == settings.windows)
        images[label].append((fits.max(), len(windows), full, elapsed))
    rows = {label: _row(images[label], best[label]) for label in sorted(best)}
    everything = _row(_joined(images), _joined(best))
    everything["mean best IoU"] = float(
        np.mean([row["mean best IoU"] for row in rows.values()])
    )
    return {**rows, "all": everything}


def _joined(lists: dict[str, list]) -> list:
    return list(itertools.chain.from_iterable(lists.values()))


def _row(images: list[tuple], best: list[float]) -> dict[str, float]:
    ceiling, windows, full, elapsed = np.mean(images, axis=0)
    return {
        "images": len(images),
        "boxes": len(best),
        "ceiling": float(ceiling),
        "mean best IoU": float(np.mean(best)),
        **{f"IoU {t}": float(np.mean(np.array(best) >= t)) for t in RECALLS},
        "windows": float(windows),
        "full": float(full),
        "ms": float(elapsed),
    }


def _show_speed(speed: dict[str, dict[str, float]]) -> None:
    table = Table("stage", title="Milliseconds, and shares of the reference")
    for name in speed:
        table.add_column(name, justify="right")
        table.add_column("ratio", justify="right")
    for stage in next(iter(speed.values())):
        cells = []
        for times in speed.values():
            cells += [f"{times[stage]:.1f}", f"{times[stage] / times[REFERENCE]:.3f}"]
        table.add_row(stage, *cells)
    Console(width=110).print(table)


def _show_quality(quality: dict[str, dict]) -> None:
    names = list(quality["all"])
    title = "Best window of each object; of all: ceiling by image, MABO by class"
    table = Table("class", title=title)
    for name in names:
        table.add_column(name, justify="right")
    for label, row in quality.items():
        whole = ("images", "boxes", "windows")
        cells = [f"{row[n]:.0f}" if n in whole else f"{row[n]:.3f}" for n in names]
        table.add_row(label, *cells)
    Console(width=130).print(table)


if __name__ == "__main__":
    main()
