"""`belvedere demo`: from drawing a toy world to a report and a contact sheet.

Two thirds of the pictures of each class have boxes and are learned from; the others are
annotated, and judged beside simpler ways to place a box, learned from the same
pictures. A repeat finds everything done.
"""

import csv
import dataclasses
import pathlib
import time
from collections.abc import Sequence

import numpy as np
from PIL import Image as PillowImage

from belvedere.core import configuration
from belvedere.core.assessment import contact_sheet, verdicts
from belvedere.core.configuration import Configuration
from belvedere.core.synthetic import scenes
from belvedere.core.types import Image
from belvedere.pipelines import (
    annotate,
    commands,
    evaluate,
    evaluation_words,
    launching,
    options,
    toy_data,
    train,
)
from belvedere.pipelines.evaluation_results import REPORT, Evaluation
from belvedere.pipelines.failures import Mistake
from belvedere.pipelines.voice import Voice
from belvedere.transforms import documents
from belvedere.transforms.roles import Protocol

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
    def evaluation(self) -> pathlib.Path:
        return self.output / "evaluation"

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
    speaker.say({}, "judging, beside simpler methods")
    found = _judge(places, told.workers, speaker)
    if not found.metrics["methods"]:
        raise Mistake("no picture was judged: give the demo more --images")
    sheet = told.output / "sheet.png"
    _draw_sheet(sheet, found, world)
    seconds = time.perf_counter() - start
    speaker.say(
        found.metrics,
        evaluation_words.table(found.metrics),
        f"{seconds:.0f} s in all. Look at {places.evaluation / REPORT} and {sheet}",
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
        chosen.annotating,
        boxes=boxed,
        workers=workers,
        watch=watch,
    )
    commands.annotate(annotating, speaker, 0.0)


def _judge(places: _Places, workers: int, speaker: Voice) -> Evaluation:
    """The method and simpler ones on the pictures without boxes."""
    truth = str(places.world / toy_data.TRUTH)
    learned_from = frozenset(_truths(places.world, toy_data.BOXES))
    return evaluate.main(
        evaluate.Options(
            (str(places.world / "images"),),
            truth,
            str(places.evaluation),
            str(places.work),
            Protocol(train=learned_from),
            places.configuration,
            artefacts=str(places.models),
            workers=workers,
            watch=speaker.watch,
        )
    )


def _truths(world: pathlib.Path, boxes: str) -> dict[str, np.ndarray]:
    """True boxes of pictures, by their id."""
    found: dict[str, list[list[float]]] = {}
    with (world / boxes).open(newline="") as file:
        for name, _, *box in list(csv.reader(file))[1:]:
            found.setdefault(name.removeprefix("images/"), []).append(
                [float(side) for side in box]
            )
    return {name: np.array(rows) for name, rows in found.items()}


def _draw_sheet(sheet: pathlib.Path, found: Evaluation, world: pathlib.Path) -> None:
    truths = _truths(world, toy_data.TRUTH)
    tiles = []
    for verdict in verdicts.judged_only(found.verdicts):
        for k, name in enumerate(verdict.image_ids):
            picture = PillowImage.open(world / "images" / name).convert("RGB")
            placed = {m: b[k][None] for m, b in verdict.boxes.items() if m in COLOURS}
            said = (
                f"{verdict.label}  IoU {verdict.ious['full'][k]:.2f}, "
                f"expected {verdict.scores['full'][k]:.2f}"
            )
            boxed = {"true box": truths[name], **placed}
            tiles.append(contact_sheet.Tile(Image(np.asarray(picture)), boxed, said))
    PillowImage.fromarray(contact_sheet.draw(tiles, COLOURS)).save(sheet)
