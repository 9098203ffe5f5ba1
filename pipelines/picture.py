"""`belvedere annotate PICTURE`: the object of one picture, and why it is there.

The numbers are those that the picture would get in a batch: the same code makes them.
"""

import dataclasses
import pathlib
from typing import Any

from PIL import Image as PillowImage
from PIL import ImageDraw

from belvedere.core import configuration
from belvedere.core.configuration import Annotating
from belvedere.core.types import HYPERFEATURES
from belvedere.pipelines import annotate, classes, launching, voice
from belvedere.pipelines.failures import Mistake, opening
from belvedere.pipelines.voice import Voice
from belvedere.transforms import input_files, sources
from belvedere.transforms.inputs import ImageRef, InputError
from belvedere.transforms.localizing import Job, Localizer

_RED = (230, 25, 75)


@dataclasses.dataclass(frozen=True)
class Options:
    """What the command was told."""

    picture: str
    label: str
    models: str
    configuration: Annotating
    draw: pathlib.Path | None = None


def main(options: Options, speaker: Voice) -> dict[str, Any]:
    """Prints the row of the picture, and returns it."""
    with opening():
        uri = input_files.normal(options.picture)
        data = read(uri)
    localizer = Localizer(_job(options))
    try:
        row = localizer.row(
            (ImageRef(pathlib.Path(uri).name, uri, options.label), data)
        )
        _check(row, options)
        if options.draw:
            _draw(localizer, data, row["bbox"], options.draw)
    finally:
        localizer.close()
    speaker.say(row, *_shown(row))
    return row


def read(uri: str) -> bytes:
    """The content of a picture file."""
    try:
        return input_files.read(uri, sources.MAX_BYTES)
    except InputError as error:
        raise ValueError(f"{uri} cannot be read: {error.message}") from error


def _job(options: Options) -> Job:
    index = annotate.indexed(options.models)
    chosen = options.configuration
    return Job(
        "",
        options.models,
        index.number,
        configuration.digest(chosen),
        chosen.accept,
        launching.run_id(),
        launching.code_version(),
    )


def _check(row: dict[str, Any], options: Options) -> None:
    if "stage" in row:
        raise Mistake(f"{row['image_uri']}: {row['code']}, {row['message']}")
    if row["status"] == "refused":
        raise no_model(options.models, options.label)


def no_model(models: str, label: str) -> Mistake:
    """That a class was not learned, and which were."""
    known = [c.label for c in classes.read(models) if not c.reason]
    some = ", ".join(known[:20])
    return Mistake(f"{models} has no model of {label!r}, but {some}")


def _draw(
    localizer: Localizer, data: bytes, box: list[float], file: pathlib.Path
) -> None:
    """The upright picture with its box."""
    picture = PillowImage.fromarray(localizer.decoder.decode(data).image.pixels)
    x, y, width, height = box
    line = max(2, round(max(picture.size) / 200))
    corners = (x, y, x + width - 1, y + height - 1)
    ImageDraw.Draw(picture).rectangle(corners, outline=_RED, width=line)
    with opening():
        picture.save(file)


def _shown(row: dict[str, Any]) -> list[Any]:
    x, y, width, height = row["bbox"]
    verdict = "accepted" if row["accepted"] else "not accepted"
    parts = sorted(
        zip(HYPERFEATURES, row["contributions"], strict=True), key=lambda one: -one[1]
    )
    return [
        f"{row['image_uri']} ({row['width']} x {row['height']} pixels), {row['label']}",
        f"box: x {x:.1f}, y {y:.1f}, width {width:.1f}, height {height:.1f}",
        f"expected IoU: {row['expected_iou']:.3f}, {verdict} ({row['accept_rule']})",
        f"score: {row['score']:.4f}, the sum of",
        voice.table(
            "", ("hyper-feature", "share"), [(n, f"{c:+.4f}") for n, c in parts]
        ),
        f"of {row['candidates']} windows {row['windows_evaluated']} were looked at; "
        f"model {row['model_id']}",
    ]
