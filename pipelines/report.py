"""`belvedere report`: an output of annotations as one HTML page."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from belvedere.core.report import page
from belvedere.core.report.contents import (
    Annotated,
    Contents,
    DeadLetter,
    DeadLetters,
    Kind,
    Refused,
    Section,
    Shown,
)
from belvedere.pipelines import classes, shown_pictures
from belvedere.pipelines.failures import Mistake
from belvedere.pipelines.voice import Voice
from belvedere.transforms import committed, stores
from belvedere.transforms.commits import Log, kind_of
from belvedere.transforms.manifests import Run
from belvedere.transforms.schemas import ANNOTATIONS, DEAD_LETTERS
from belvedere.transforms.sources import Source

REPORT = "report.html"
_log = logging.getLogger(__name__)
_PICTURES, _EXAMPLES = 12, 5  # in each section, of each code
_FAULTS = 1000
_COLUMNS = (
    *("image_id", "image_uri", "label", "width", "height", "status", "bbox"),
    *("expected_iou", "iou_lower", "accepted", "accept_rule"),
)
_DEAD_COLUMNS = ("image_uri", "label", "code", "message")


def main(output: str, speaker: Voice) -> str:
    """Writes the page of an annotation run into its output; returns where it is."""
    store = stores.store_for(output)
    log = Log(store)
    kind = kind_of(log)
    if not kind:
        raise Mistake(f"{store.uri} holds no annotations: run `belvedere annotate`")
    if kind != "annotate":
        raise Mistake(
            f"{store.uri} holds what `belvedere {kind}` wrote: a report is made of "
            "annotations, and `belvedere evaluate` writes its own"
        )
    run = next(log.manifests(log.number)).run
    data = page.render(_of_annotations(log, run)).encode()
    if not store.exists(REPORT) or store.read(REPORT) != data:
        store.replace(REPORT, data)
    where = store.path(REPORT)
    speaker.say({"command": "report", "report": where}, f"report: {where}")
    return where


def _of_annotations(log: Log, run: Run) -> Contents:
    rows = _table(log, ANNOTATIONS, _COLUMNS)
    boxed = rows.filter(pc.equal(rows["status"], "annotated"))
    dead = _table(log, DEAD_LETTERS, _DEAD_COLUMNS)
    refused = {card.label: card.reason for card in _cards(run) if card.reason}
    without = rows.filter(pc.equal(rows["status"], "refused"))
    for label in without["label"].unique().to_pylist():
        refused.setdefault(label, "there is no model of this class")
    counts = {
        "images": len(rows) + len(dead),
        "annotated": len(boxed),
        "refused": len(without),
        "dead": len(dead),
    }
    faults = [tuple(row.values()) for row in dead.slice(0, _FAULTS).to_pylist()]
    return Contents(
        "What was annotated",
        Kind.ANNOTATION,
        {"counts": counts},
        annotated=_annotated(boxed) if len(boxed) else None,
        gallery=tuple(_annotated_sections(boxed, run)),
        refused=tuple(Refused(*one) for one in sorted(refused.items())),
        dead=dead_letters(faults, len(dead)),
        configuration=run.config,
        ids={
            "run": run.run_id,
            "configuration": run.config_id,
            "code": run.code_version,
            "models": ", ".join(run.models[:20]),
        },
    )


def _table(log: Log, name: str, columns: Sequence[str]) -> pa.Table:
    found = list(committed.rows(log, name, columns))
    if not found:
        return pa.table({column: pa.array([], pa.string()) for column in columns})
    return pa.concat_tables(found).select(list(columns))


def _annotated(boxed: pa.Table) -> Annotated:
    return Annotated(
        boxed["expected_iou"].to_numpy(),
        boxed["iou_lower"].to_numpy(),
        np.array(boxed["label"].to_pylist(), dtype=str),
        boxed["accepted"].to_numpy(),
        _rule(boxed["accept_rule"].unique().to_pylist()),
    )


def _rule(stated: Sequence[str]) -> str:
    """Rules of acceptance as the page calls them: a log may hold several."""
    rules = [rule.replace("expected_iou >=", "expected IoU ≥") for rule in stated]
    return " or ".join(sorted(rules))


def _cards(run: Run) -> list[classes.ClassCard]:
    try:
        return classes.read(run.details["models"])
    except stores.StoreError as error:
        _log.warning("the models cannot be read, refusals are not told: %s", error)
        return []


def _annotated_sections(boxed: pa.Table, run: Run) -> Iterator[Section]:
    if not len(boxed):
        return
    expected = boxed["expected_iou"].to_numpy()
    told = _telling(expected, run.config["accept"])
    rows = {name: boxed.take(some).to_pylist() for name, some in told.items()}
    wanted = {row["image_uri"] for some in rows.values() for row in some}
    images = [Source(*one) for one in run.details["images"]]
    found = dict(shown_pictures.small_copies(wanted, images))
    for name, some in rows.items():
        pictures = tuple(
            _shown(row, found[row["image_uri"]])
            for row in some
            if row["image_uri"] in found
        )
        if pictures:
            yield Section(name, pictures)


def _telling(expected: np.ndarray, accept: float) -> dict[str, np.ndarray]:
    """The rows to look at, by section, from the expected IoU of all."""
    order = {
        "Surest": -expected,
        "Least sure": expected,
        "Borderline": abs(expected - accept),
    }
    return {
        name: np.argsort(by, kind="stable")[:_PICTURES] for name, by in order.items()
    }


def _shown(row: Mapping[str, Any], jpeg: bytes) -> Shown:
    x, y, width, height = row["bbox"]
    return Shown(
        row["image_id"],
        row["label"],
        jpeg,
        row["width"],
        row["height"],
        np.zeros((0, 4)),
        {"full": np.array([x, y, x + width, y + height], float)},
        expected_iou=row["expected_iou"],
        iou_lower=row["iou_lower"],
    )


def dead_letters(
    faults: Sequence[Sequence[str]], count: int
) -> tuple[DeadLetters, ...]:
    """Faults (uri, label, code, message), of which there are `count` in all."""
    by_code: dict[str, list[DeadLetter]] = {}
    for uri, label, code, message in faults:
        by_code.setdefault(code, []).append(DeadLetter(uri, message, label))
    result = [
        DeadLetters(code, len(some), tuple(some[:_EXAMPLES]))
        for code, some in sorted(by_code.items())
    ]
    if count > len(faults):
        result.append(DeadLetters("and others", count - len(faults)))
    return tuple(result)
