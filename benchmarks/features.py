"""One picture from bytes to box, stage by stage, on one thread.

  python benchmarks/features.py --output out/bench-features.json [--photos DIR]

Pictures are 500 x 375: of DIR (`images/<class>/*.jpg`), or drawn. The class is learned
on toy pictures with the preset `classic`; what it is does not matter for the time. The
yardstick, in the same run, is one call of scikit-image's `felzenszwalb` on the same
picture; every time is the fastest of a few, in processor time of the thread.
"""

import argparse
import dataclasses
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import cv2
import numpy as np
import windows as windows_benchmark
from PIL import Image as PillowImage
from rich.console import Console
from rich.table import Table
from skimage.segmentation import felzenszwalb

from belvedere.core import localization, sight
from belvedere.core.appearance import bag_of_words, registry, vocabulary
from belvedere.core.appearance.views import Views
from belvedere.core.assessment import comparison
from belvedere.core.class_model import ClassModel, Settings
from belvedere.core.configuration import Sight
from belvedere.core.context import inference
from belvedere.core.synthetic import scenes
from belvedere.core.types import Context, Image
from belvedere.core.windows.randomized_prim import PrimSettings
from belvedere.transforms import model_store, stores

ROUNDS = 3
WIDTH, HEIGHT = 500, 375
LABELS = ("car", "zebra")
WANTED = {"segmentation": 1.0, "windows": 0.9, "whole picture": 2.2}


def main() -> None:
    if sys.argv[1:2] == ["--peak-of"]:
        return _peak_of(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--photos", type=pathlib.Path)
    parser.add_argument("--pictures", type=int, default=20)
    options = parser.parse_args()
    cv2.setNumThreads(1)
    eyes, model, books = _learn()
    pictures = _pictures(options.photos, options.pictures)
    rows = [_stages(data, eyes, model) for data in pictures]
    mean = {stage: float(np.mean([row[stage] for row in rows])) for stage in rows[0]}
    ratios = {stage: mean[stage] / mean["yardstick"] for stage in mean}
    result = {
        "milliseconds": mean,
        "ratios": ratios,
        "wanted": WANTED,
        "pictures": len(rows),
        "annotating_worker_mb": _worker_megabytes(model, books),
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(result, indent=1) + "\n")
    _show(result)


def _learn() -> tuple[sight.Eyes, ClassModel, dict]:
    """Eyes of the default sizes, a model of one toy class, the codebooks."""
    world = {f"{c}/{s}": scenes.draw(c, s) for c in LABELS for s in range(18)}
    words = [vocabulary.sample(scene.image, name) for name, scene in world.items()]
    books = vocabulary.learn(words)
    eyes = sight.Eyes(registry.feature_types(books))
    own, others = (
        comparison.Pictures(
            {n: sight.look(s.image, eyes) for n, s in world.items() if s.label == c},
            {n: s.boxes for n, s in world.items() if s.label == c},
        )
        for c in LABELS
    )
    settings = Settings(kind="classic")
    negatives = comparison.negatives_of(others, 60, eyes, settings.sampling)
    model = localization.fit(own.views, own.truths, negatives, eyes, settings)
    return eyes, model, books


def _pictures(photos: pathlib.Path | None, count: int) -> list[bytes]:
    """Encoded pictures of the wanted size."""
    if photos is None:
        return [_encoded(seed) for seed in range(count)]
    found = []
    for file in sorted(photos.glob("images/*/*.jpg"), key=lambda f: f.stem[::-1]):
        with PillowImage.open(file) as picture:
            if picture.size == (WIDTH, HEIGHT):
                found.append(file.read_bytes())
        if len(found) == count:
            break
    return found


def _encoded(seed: int) -> bytes:
    scene = scenes.draw(scenes.CLASSES[seed % len(scenes.CLASSES)], 500 + seed)
    picture = PillowImage.fromarray(scene.image.pixels).resize((WIDTH, HEIGHT))
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=92)
    return buffer.getvalue()


def _decoded(data: bytes) -> Image:
    with PillowImage.open(io.BytesIO(data)) as picture:
        return Image(np.asarray(picture.convert("RGB")))


def _stages(data: bytes, eyes: sight.Eyes, model: ClassModel) -> dict[str, float]:
    """Milliseconds of each stage, the fastest of a few rounds."""
    rounds = [_round(data, eyes, model) for _ in range(ROUNDS + 1)][1:]
    return {stage: min(r[stage] for r in rounds) for stage in rounds[0]}


def _round(data: bytes, eyes: sight.Eyes, model: ClassModel) -> dict[str, float]:
    times = _Times()
    image = times.of("decode", lambda: _decoded(data))
    prim = windows_benchmark._stages(image, PrimSettings())
    times.milliseconds |= {
        "colour": prim["colour"],
        "segmentation": sum(prim[s] for s in windows_benchmark.SEGMENTATION),
        "graph": prim["graph"],
        "sampling": prim["sampling"],
    }
    view = times.of("windows", lambda: sight.look(image, _blind(eyes)))
    boxes = view.windows.boxes
    views, seen = Views(image), {}
    for name, kind in eyes.features.items():
        if isinstance(kind, bag_of_words.BagOfWords):
            local = kind.recipe.local
            found = times.of("descriptors", lambda local=local: local.describe(views))
            times.of("words", lambda k=kind, f=found: k.codebook.words(f))
        seen[name] = kind.describe(views)
    view = dataclasses.replace(view, descriptions=seen)
    x = times.of("embedding", lambda: sight.embed(view, model.maps, eyes))
    said = times.of("gp", lambda: model.gp.predict(x))
    similarity = times.of("kernel", lambda: model.gp.similarity(x))
    context = Context(boxes, similarity, said.mean, said.std)
    weights, _ = model.scaling.fold(model.alpha)
    times.of("inference", lambda: inference.search(context, weights))
    whole = times.of(
        "whole picture",
        lambda: localization.localize(sight.look(_decoded(data), eyes), model, eyes),
    )
    assert np.array_equal(whole.box, view.to_picture(boxes[whole.found.window]))
    times.of(
        "yardstick",
        lambda: felzenszwalb(image.pixels, scale=100, sigma=0.8, min_size=100),
    )
    times.milliseconds["candidates"] = len(boxes)
    return times.milliseconds


def _blind(eyes: sight.Eyes) -> sight.Eyes:
    """Eyes that propose windows and see nothing in them."""
    return dataclasses.replace(eyes, features={})


class _Times:
    """Processor time of the thread, summed by stage."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}

    def of(self, stage, call):
        begin = time.thread_time()
        result = call()
        spent = 1e3 * (time.thread_time() - begin)
        self.milliseconds[stage] = self.milliseconds.get(stage, 0.0) + spent
        return result


def _worker_megabytes(model: ClassModel, books: dict) -> float:
    """Peak memory of a process of its own that reads the model and localizes."""
    with tempfile.TemporaryDirectory() as folder:
        store = stores.store_for(folder)
        model_store.freeze_eyes(store, Sight(), books)
        _, eyes_id = model_store.read_eyes(store, model_store.eyes_name(Sight()))
        card = {"eyes": model_store.eyes_name(Sight()), "eyes_id": eyes_id}
        file, _ = model_store.write_model(store, LABELS[0], model, card)
        identity = file.name.split("/")[1]
        command = [sys.executable, __file__, "--peak-of", folder, identity]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def _peak_of(folder: str, identity: str) -> None:
    """Prints the peak memory in megabytes of localizing a few pictures; no torch."""
    import apache_beam

    cv2.setNumThreads(1)
    store = stores.store_for(folder)
    model, eyes = model_store.read_model(store, LABELS[0], identity)
    for seed in range(8):
        localization.localize(sight.look(_decoded(_encoded(seed)), eyes), model, eyes)
    assert "torch" not in sys.modules and apache_beam
    status = pathlib.Path("/proc/self/status").read_text()  # rusage has the parent's
    print(int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024)


def _show(result: dict) -> None:
    table = Table(
        "stage",
        title=f"{result['pictures']} pictures of {WIDTH} x {HEIGHT}, one thread",
    )
    for column in ("milliseconds", "of the yardstick", "wanted at most"):
        table.add_column(column, justify="right")
    for stage, spent in result["milliseconds"].items():
        if stage == "candidates":
            continue
        wanted = result["wanted"].get(stage)
        table.add_row(
            stage,
            f"{spent:.1f}",
            f"{result['ratios'][stage]:.3f}",
            f"{wanted:.1f}" if wanted else "",
        )
    Console().print(table)
    print(f"candidate windows: {result['milliseconds']['candidates']:.0f}")
    print(f"peak memory of a worker: {result['annotating_worker_mb']:.0f} MB")


if __name__ == "__main__":
    main()
