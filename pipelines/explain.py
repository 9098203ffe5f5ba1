"""`belvedere explain PICTURE`: why its box is where it is, in a table and on a page.

The box and its score are those of `belvedere annotate`.
"""

import dataclasses
import pathlib
from typing import Any

import numpy as np
from rich.table import Table

from belvedere.core import explanation, sight
from belvedere.core.explanation import Explanation
from belvedere.core.formats import thumbnails
from belvedere.core.formats.faults import PictureError
from belvedere.core.localization import Localization
from belvedere.core.report import page
from belvedere.core.report.contents import Shown
from belvedere.core.types import HYPERFEATURES, RELATIONS, Image
from belvedere.core.windows import boxes
from belvedere.pipelines import annotate, picture, voice
from belvedere.pipelines.failures import Mistake, opening
from belvedere.pipelines.voice import Voice
from belvedere.transforms import decoding, input_files
from belvedere.transforms.model_cache import ModelCache
from belvedere.transforms.workers import prepare_worker

_SIDE = 1000  # of the copy of the picture on the page


@dataclasses.dataclass(frozen=True)
class Options:
    """What the command was told; without `output` no page is written."""

    picture: str
    label: str
    models: str
    output: pathlib.Path | None = None


def main(options: Options, speaker: Voice) -> dict[str, Any]:
    """Prints what the score is made of, writes the page, returns what it knows."""
    prepare_worker()
    with opening():
        uri = input_files.normal(options.picture)
        data = picture.read(uri)
    identity = annotate.indexed(options.models).of(options.label)
    if identity is None:
        raise picture.no_model(options.models, options.label)
    model, eyes = ModelCache(options.models).get(options.label, identity)
    image = _decoded(uri, data)
    located, why = explanation.explain(sight.look(image, eyes), model, eyes)
    if options.output:
        _write(_shown(options, uri, image, located, why), options.output)
    told = {"image_uri": uri, "label": options.label, "model_id": identity}
    document = {**told, **_document(located, why, options.output)}
    speaker.say(document, *_said(document, why))
    return document


def _decoded(uri: str, data: bytes) -> Image:
    decoder = decoding.Decoder()
    try:
        return decoder.decode(data).image
    except PictureError as error:
        raise Mistake(f"{uri}: {error.code}, {error.message}") from error
    finally:
        decoder.close()


def _shown(
    options: Options, uri: str, image: Image, located: Localization, why: Explanation
) -> Shown:
    return Shown(
        pathlib.Path(uri).name,
        options.label,
        thumbnails.jpeg(image, _SIDE),
        image.width,
        image.height,
        np.zeros((0, 4)),
        {"full": located.box},
        expected_iou=located.expected_iou,
        iou_lower=located.iou_lower,
        explanation=why,
    )


def _write(shown: Shown, file: pathlib.Path) -> None:
    content = page.render_explanation(shown)
    try:
        file.write_text(content, encoding="utf-8")
    except OSError as error:
        raise Mistake(f"{file} cannot be written: {error.strerror}") from error


def _document(
    located: Localization, why: Explanation, output: pathlib.Path | None
) -> dict[str, Any]:
    return {
        "bbox": boxes.xywh(located.box),
        "score": located.score,
        "expected_iou": located.expected_iou,
        "iou_lower": located.iou_lower,
        "candidates": len(why.boxes),
        "contributions": _named(why.contributions),
        "runner_up": _runner_up(why),
        "supporters": {
            relation: boxes.xywh(why.boxes[window])
            for relation, window in zip(RELATIONS, why.supporters, strict=True)
        },
        "page": str(output) if output else None,
    }


def _runner_up(why: Explanation) -> dict[str, Any] | None:
    if why.runner_up < 0:
        return None
    return {
        "bbox": boxes.xywh(why.boxes[why.runner_up]),
        "score": float(why.runner_up_contributions.sum()),
        "contributions": _named(why.runner_up_contributions),
    }


def _named(contributions: np.ndarray) -> dict[str, float]:
    return dict(zip(HYPERFEATURES, contributions.tolist(), strict=True))


def _said(document: dict[str, Any], why: Explanation) -> list[Any]:
    second = document["runner_up"]
    places = [f"box: {_place(document['bbox'])}"]
    if second:
        places.append(f"runner-up: {_place(second['bbox'])}")
    for relation, box in document["supporters"].items():
        places.append(f"consistency of {relation} comes from: {_place(box)}")
    page_is = [f"page: {document['page']}"] if document["page"] else []
    return [
        f"{document['image_uri']}, {document['label']}",
        *places,
        f"expected IoU: {document['expected_iou']:.3f}, "
        f"in nine of ten at least {document['iou_lower']:.3f}",
        _table(why),
        f"of {document['candidates']} windows; model {document['model_id']}",
        *page_is,
    ]


def _table(why: Explanation) -> Table:
    """What each hyper-feature adds to the two scores, the largest first."""
    columns = {"chosen": why.contributions}
    if why.runner_up >= 0:
        columns["runner-up"] = why.runner_up_contributions
        columns["lead"] = why.contributions - why.runner_up_contributions
    numbers = np.stack(list(columns.values()), axis=1)
    order = np.argsort(-why.contributions, kind="stable")
    rows = [(HYPERFEATURES[p], numbers[p]) for p in order]
    rows.append(("score", numbers.sum(axis=0)))
    texts = [(name, *(f"{value:+.4f}" for value in row)) for name, row in rows]
    return voice.table("", ("hyper-feature", *columns), texts)


def _place(box: list[float]) -> str:
    x, y, width, height = box
    return f"x {x:.1f}, y {y:.1f}, width {width:.1f}, height {height:.1f}"
