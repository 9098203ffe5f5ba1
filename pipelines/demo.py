"""`belvedere demo`: from drawing a toy world to a contact sheet and a summary.

Two thirds of the pictures of each class have boxes and are learned from; the others are
annotated and judged. The boxes in the output are compared with those of simpler ways on
the same pictures: one constant box, location and scale alone, appearance alone (AE-GP,
the paper's predecessor). A repeat finds everything done.
"""

import csv
import dataclasses
import json
import pathlib
import time
from collections.abc import Mapping, Sequence

import numpy as np
from PIL import Image as PillowImage
from rich.table import Table

from belvedere.core import configuration
from belvedere.core.assessment import contact_sheet, summary
from belvedere.core.assessment.comparison import Placed
from belvedere.core.assessment.evaluation import Outcome
from belvedere.core.configuration import Configuration
from belvedere.core.synthetic import scenes
from belvedere.core.types import Image
from belvedere.core.windows import boxes
from belvedere.pipelines import (
    annotate,
    baselines,
    commands,
    launching,
    options,
    toy_data,
    train,
    voice,
)
from belvedere.pipelines.failures import Mistake
from belvedere.pipelines.voice import Voice
from belvedere.transforms import commits, committed, documents, stores

COLOURS = {"true box": (255, 255, 255), "ae_gp": (60, 180, 75), "full": (230, 25, 75)}
_SETTINGS = ("method.exemplars=400", "method.gp.inducing=200", "least_images=6")


@dataclasses.dataclass(frozen=True)
class Options:
    """What the command was told."""

    output: pathlib.Path
    classes: int = 3
    images: int = 36
    settings: tuple[str, ...] = ()
    workers: int = 1


@dataclasses.dataclass(frozen=True)
class _Places:
    """Where things are; another world, other settings or code have other places."""

    world: pathlib.Path
    output: pathlib.Path
    configuration: Configuration

    @property
    def models(self) -> pathlib.Path:
        code = launching.code_version()
        said = [self.world.name, configuration.digest(self.configuration), code]
        return self.output / f"models-{documents.digest(said)[:12]}"

    @property
    def work(self) -> pathlib.Path:
        return self.output / f"{self.models.name}-work"


def main(told: Options, speaker: Voice) -> None:
    """Runs the demo; everything is written into its output folder."""
    start = time.perf_counter()
    chosen = options.configured(settings=[*_SETTINGS, *told.settings])
    world = told.output / f"toys-{told.classes}x{told.images}"
    places = _Places(world, told.output, chosen)
    labels = scenes.CLASSES[: told.classes]
    _draw(world, labels, told.images, speaker)
    _learn_and_annotate(places, told.workers, speaker)
    truths = _truths(world)
    placed = _full(places, truths)
    if not placed:
        raise Mistake("no picture was annotated: give the demo more --images")
    speaker.say({}, "comparing with simpler methods")
    placed += _others(places, placed)
    metrics = summary.compare(_outcomes(placed), np.random.default_rng(0))
    _write(told.output, placed, world / "images", truths, metrics)
    seconds = time.perf_counter() - start
    speaker.say(
        metrics,
        _table(metrics, len([one for one in placed if one.method == "full"])),
        f"{seconds:.0f} s in all. Look at {told.output / 'sheet.png'}",
    )


def _draw(
    world: pathlib.Path, labels: Sequence[str], images: int, speaker: Voice
) -> None:
    if (world / toy_data.TRUTH).exists():  # written last
        return
    speaker.say({}, f"drawing {len(labels) * images} pictures into {world}")
    toy_data.write(world, labels, 2 * images // 3, images - 2 * images // 3)


def _learn_and_annotate(places: _Places, workers: int, speaker: Voice) -> None:
    images, boxed = (str(places.world / "images"),), str(places.world / toy_data.BOXES)
    models, work = str(places.models), str(places.work)
    chosen, watch = places.configuration, speaker.watch
    learning = train.Options(
        images, boxed, models, work, chosen, workers=workers, watch=watch
    )
    if commands.train(learning, speaker, 0.0):
        raise Mistake("the toy classes could not be learned: give them more --images")
    annotating = annotate.Options(
        images,
        models,
        str(places.output),
        chosen,
        boxes=boxed,
        workers=workers,
        watch=watch,
    )
    commands.annotate(annotating, speaker, 0.0)


def _truths(world: pathlib.Path) -> dict[str, np.ndarray]:
    """The true boxes of every picture, by its id."""
    found: dict[str, list[list[float]]] = {}
    with (world / toy_data.TRUTH).open(newline="") as file:
        for name, _, *box in list(csv.reader(file))[1:]:
            found.setdefault(name.removeprefix("images/"), []).append(
                [float(side) for side in box]
            )
    return {name: np.array(rows) for name, rows in found.items()}


def _full(places: _Places, truths: Mapping[str, np.ndarray]) -> list[Placed]:
    """The boxes of the output, as the models of this demo placed them."""
    log = commits.Log(stores.store_for(str(places.output)))
    index = annotate.indexed(str(places.models))
    uri = f"{(places.world / 'images').absolute()}/"
    placed = []
    for table in committed.rows(log, models=index.ids.values()):
        for row in table.to_pylist():
            if row["status"] == "annotated" and row["image_uri"].startswith(uri):
                x, y, width, height = row["bbox"]
                box = np.array([x, y, x + width, y + height])
                iou = float(boxes.ious(box[None], truths[row["image_id"]]).max())
                score = row["expected_iou"]
                placed.append(Placed("full", row["image_id"], box, score, iou))
    return sorted(placed, key=lambda one: one.image_id)


def _others(places: _Places, full: Sequence[Placed]) -> list[Placed]:
    """The boxes of the simpler methods; kept beside the models they were made with."""
    kept = places.output / f"{places.models.name}-baselines.json"
    if not kept.exists():
        found = _placed(places, full)
        rows = [[p.method, p.image_id, p.box.tolist(), p.score, p.iou] for p in found]
        kept.write_text(json.dumps(rows))
    rows = json.loads(kept.read_text())
    return [Placed(m, i, np.array(box), score, iou) for m, i, box, score, iou in rows]


def _placed(places: _Places, full: Sequence[Placed]) -> list[Placed]:
    truths = _truths(places.world)
    where = baselines.Place(
        places.world / "images",
        str(places.models),
        str(places.work),
        places.configuration,
    )
    found: list[Placed] = []
    for label in sorted({_label(one.image_id) for one in full}):
        names = [one.image_id for one in full if _label(one.image_id) == label]
        found += baselines.place(where, label, {name: truths[name] for name in names})
    return found


def _label(image_id: str) -> str:
    return image_id.split("/")[0]


def _outcomes(placed: Sequence[Placed]) -> dict[str, Outcome]:
    result = {}
    for method in (*baselines.METHODS, "full", "ceiling"):
        own = sorted(
            (p for p in placed if p.method == method), key=lambda p: p.image_id
        )
        result[method] = Outcome(
            np.array([p.iou for p in own]),
            np.array([p.score for p in own]),
            np.array([_label(p.image_id) for p in own]),
        )
    return result


def _write(
    output: pathlib.Path,
    placed: Sequence[Placed],
    images: pathlib.Path,
    truths: Mapping[str, np.ndarray],
    metrics: Mapping,
) -> None:
    (output / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n")
    by_name: dict[str, dict[str, Placed]] = {}
    for one in placed:
        by_name.setdefault(one.image_id, {})[one.method] = one
    tiles = [
        contact_sheet.Tile(
            Image(np.asarray(PillowImage.open(images / name).convert("RGB"))),
            {
                "true box": truths[name],
                **{m: p.box[None] for m, p in methods.items() if m in COLOURS},
            },
            f"{_label(name)}  IoU {methods['full'].iou:.2f}, "
            f"expected {methods['full'].score:.2f}",
        )
        for name, methods in by_name.items()
    ]
    PillowImage.fromarray(contact_sheet.draw(tiles, COLOURS)).save(output / "sheet.png")


def _table(metrics: Mapping, images: int) -> Table:
    rows = []
    for method, figures in metrics["methods"].items():
        pair = metrics["paired"].get(f"full-{method}")
        low, mid, high = pair["mean_iou"] if pair else (0, 0, 0)
        rows.append(
            (
                method,
                f"{figures['mean_iou']:.3f}",
                f"{figures['corloc']:.2f}",
                f"{mid:+.3f} [{low:+.3f}, {high:+.3f}]" if pair else "",
            )
        )
    columns = ("method", "mean IoU", "IoU >= .5", "full minus it [95% interval]")
    return voice.table(f"{images} pictures that were not learned from", columns, rows)
