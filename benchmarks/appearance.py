"""Where the time of the features goes, for 1000 windows of pictures of 500 x 375.

Processor time of one thread, by stage: colour planes, then descriptors, words and the
projection of all windows to ten numbers for each feature type; and the whole as a share
of one call of scikit-image's felzenszwalb on the same pictures, the yardstick of speed.

  python benchmarks/appearance.py --output out/bench-appearance.json
  python benchmarks/appearance.py --photos DIR --output out/bench-appearance.json
"""

import argparse
import json
import pathlib
import time

import cv2
import numpy as np
from PIL import Image as Pillow
from rich.console import Console
from rich.table import Table
from skimage.segmentation import felzenszwalb

from belvedere.core.appearance import bag_of_words, codebooks, registry
from belvedere.core.appearance.views import OPPONENT, RGB, Views
from belvedere.core.types import Image
from belvedere.core.windows import randomized_prim

WIDTH, HEIGHT = 500, 375
EMBEDDING = 10
SAMPLES = 20_000  # descriptors a codebook is learned from
STAGES = ("descriptors", "words", "windows")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--photos", type=pathlib.Path, help="has images/<class>/*.jpg")
    parser.add_argument("--pictures", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=7, help="the fastest one counts")
    parser.add_argument("--paper", action="store_true", help="the paper's sizes")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    settings = registry.PAPER if options.paper else registry.DEFAULT
    pictures = _pictures(options.photos, options.pictures)
    types = registry.feature_types(_codebooks(pictures, settings), settings)
    matrices = {name: _matrix(kind.length) for name, kind in types.items()}
    measured = [_measure(p, types, matrices, options.rounds) for p in pictures]
    times = {k: float(np.mean([m[k] for m in measured])) for k in measured[0]}
    summary = _summary(times, types)
    _show(summary)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(summary, indent=1) + "\n")
    print(f"wrote {options.output}")


def _pictures(photos: pathlib.Path | None, count: int) -> list[Image]:
    """Photographs of the wanted size, or textured pictures made here."""
    if photos is None:
        return [_made(seed) for seed in range(count)]
    found = []
    for file in sorted(photos.glob("images/*/*.jpg")):
        with Pillow.open(file) as picture:
            if picture.size == (WIDTH, HEIGHT):
                found.append(Image(np.asarray(picture.convert("RGB"))))
    if not found:
        raise SystemExit(f"no pictures of {WIDTH} x {HEIGHT} under {photos}/images")
    return found[:: max(1, len(found) // count)][:count]


def _made(seed: int) -> Image:
    """Patches of colour and of texture, like nothing in particular."""
    rng = np.random.default_rng(seed)
    pixels = np.full((HEIGHT, WIDTH, 3), 128.0)
    for cell in (2, 8, 40, 120):
        small = rng.normal(0, 28, (HEIGHT // cell + 2, WIDTH // cell + 2, 3))
        large = cv2.resize(small, (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC)
        strength = cv2.resize(rng.uniform(0, 1.5, (4, 5)), (WIDTH, HEIGHT))
        pixels += large * strength[:, :, None]
    return Image(np.clip(pixels, 0, 255).astype(np.uint8))


def _codebooks(pictures, settings) -> dict[str, codebooks.Codebook]:
    made = {}
    for name, recipe in registry.recipes(settings).items():
        rng = np.random.default_rng(0)
        each = max(SAMPLES, 3 * recipe.words) // len(pictures)
        samples = [
            codebooks.sample(recipe.local.describe(Views(picture)), each, rng)
            for picture in pictures
        ]
        made[name] = codebooks.learn(name, np.concatenate(samples), recipe.words, rng)
    return made


def _matrix(length: int) -> np.ndarray:
    rng = np.random.default_rng(length)
    return rng.normal(size=(length, EMBEDDING)).astype(np.float32)


def _measure(picture, types, matrices, rounds: int) -> dict[str, float]:
    """Fastest of some rounds, in milliseconds, for each stage."""
    rng = np.random.default_rng(0)
    prim = randomized_prim.PrimSettings()
    boxes = randomized_prim.propose(picture, prim, rng).boxes
    runs = [_run(picture, types, matrices, boxes) for _ in range(rounds + 1)][1:]
    fastest = {stage: min(run[stage] for run in runs) for stage in runs[0]}
    return {**fastest, "number": float(len(boxes)), "yardstick": _yardstick(picture)}


def _run(picture, types, matrices, boxes) -> dict[str, float]:
    """One pass over a picture; what the types share is in the first that needs it."""
    times: dict[str, float] = {}
    views, offset = Views(picture), np.zeros(EMBEDDING)
    begin = time.thread_time()
    for plane in dict.fromkeys((*RGB, *OPPONENT)):
        _timed(times, "planes", lambda p=plane: views.plane(p, 1.2))
    for name, kind in types.items():
        seen = _describe(times, kind, views)
        _timed(
            times,
            f"{name} windows",
            lambda k=kind, d=seen, m=matrices[name]: k.project(d, boxes, m, offset),
        )
    times["total"] = 1e3 * (time.thread_time() - begin)
    return times


def _describe(times, kind, views):
    if not isinstance(kind, bag_of_words.BagOfWords):
        return _timed(times, f"{kind.name} descriptors", lambda: kind.describe(views))
    local, book = kind.recipe.local, kind.codebook
    grid = local.layout.grid(views.image)
    found = _timed(times, f"{kind.name} descriptors", lambda: local.describe(views))
    words = _timed(times, f"{kind.name} words", lambda: book.words(found))
    return bag_of_words.WordMap(words.reshape(grid.rows, grid.columns), grid)


def _timed(times, stage, call):
    begin = time.thread_time()
    result = call()
    times[stage] = times.get(stage, 0.0) + 1e3 * (time.thread_time() - begin)
    return result


def _yardstick(picture, rounds: int = 3) -> float:
    times = []
    for _ in range(rounds):
        begin = time.thread_time()
        felzenszwalb(picture.pixels, scale=100, sigma=0.8, min_size=100)
        times.append(1e3 * (time.thread_time() - begin))
    return min(times)


def _summary(times, types) -> dict:
    return {
        "milliseconds": times,
        "lengths": {name: kind.length for name, kind in types.items()},
        "share_of_yardstick": times["total"] / times["yardstick"],
    }


def _show(summary) -> None:
    times = summary["milliseconds"]
    table = Table(title=f"milliseconds a picture, {times['number']:.0f} windows")
    for column in ("", "numbers", *STAGES):
        table.add_column(column, justify="left" if not column else "right")
    table.add_row("colour planes", "", f"{times['planes']:.1f}")
    for name, length in summary["lengths"].items():
        cells = (times.get(f"{name} {stage}") for stage in STAGES)
        shown = ("" if t is None else f"{t:.1f}" for t in cells)
        table.add_row(name, str(length), *shown)
    console = Console()
    console.print(table)
    console.print(
        f"in all {times['total']:.0f} ms, {summary['share_of_yardstick']:.2f} of one "
        f"call of felzenszwalb ({times['yardstick']:.0f} ms)"
    )


if __name__ == "__main__":
    main()
