"""`belvedere report`: an output as one HTML page; and the page of an evaluation."""

import dataclasses
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from belvedere.core.assessment import verdicts
from belvedere.core.assessment.verdicts import Verdict
from belvedere.core.formats import thumbnails
from belvedere.core.formats.faults import PictureError
from belvedere.core.report import page
from belvedere.core.report.contents import (
    Annotated,
    Contents,
    DeadLetter,
    DeadLetters,
    Judged,
    Kind,
    Refused,
    Section,
    Shown,
)
from belvedere.pipelines import classes
from belvedere.pipelines.failures import Mistake
from belvedere.pipelines.voice import Voice
from belvedere.transforms import committed, decoding, sources, stores, units
from belvedere.transforms.commits import Log
from belvedere.transforms.inputs import InputFault
from belvedere.transforms.manifests import Run
from belvedere.transforms.schemas import ANNOTATIONS, DEAD_LETTERS
from belvedere.transforms.sources import Source

REPORT = "report.html"
_log = logging.getLogger(__name__)
_PICTURES, _EXPLAINED, _EXAMPLES = 12, 2, 5  # in each section, of each code
_FAULTS = 1000
_NOT_DRAWN = ("gp_mean", "gp_sure")  # near AE-GP: in the tables, not among the curves
_COLUMNS = (
    *("image_id", "image_uri", "label", "width", "height", "status", "bbox"),
    *("expected_iou", "iou_lower", "accepted"),
)
_DEAD_COLUMNS = ("image_uri", "label", "code", "message")


def of_evaluation(
    metrics: Mapping[str, Any],
    judged: Sequence[Verdict],
    shown: Sequence[Shown],
    document: Mapping[str, Any],
) -> str:
    """The page of an evaluation."""
    kept = verdicts.judged_only(judged)
    refused = {v.label: v.refused for v in judged if v.refused}
    return page.render(
        Contents(
            "How good the boxes are",
            Kind.EVALUATION,
            metrics,
            judged=_judged(kept) if kept else None,
            gallery=_sections(shown),
            refused=tuple(Refused(*one) for one in sorted(refused.items())),
            dead=_dead(document["first_faults"], document["faults"]),
            configuration=document["configuration"],
            ids={
                "run": document["run_id"],
                "configuration": document["config_id"],
                "code": document["code_version"],
                "protocol": json.dumps(document["protocol"]),
            },
        )
    )


def _judged(kept: Sequence[Verdict]) -> Judged:
    outcomes = verdicts.outcomes(kept)
    labels = next(iter(outcomes.values())).labels
    drawn = {n: o for n, o in outcomes.items() if n not in _NOT_DRAWN}
    return Judged(
        np.array([i for v in kept for i in v.image_ids]),
        labels,
        drawn,
        np.concatenate([v.object_share for v in kept]),
        np.concatenate([v.objects for v in kept]),
    )


def _sections(shown: Sequence[Shown]) -> tuple[Section, ...]:
    """Telling pictures by what they tell; reasons are given for the first ones."""

    def gain(one: Shown) -> float:
        return one.ious["full"] - one.ious.get("ae_gp", one.ious["full"])

    def doubt(one: Shown) -> float:
        return abs((one.expected_iou or 0.0) - 0.5)

    told: list[tuple[str, str, Callable[[Shown], float], Callable[[Shown], bool]]] = [
        (
            "Context helps",
            "Where the full method is furthest above AE-GP.",
            lambda one: -gain(one),
            lambda one: gain(one) > 0.05,
        ),
        (
            "Context hurts",
            "Where it is furthest below.",
            gain,
            lambda one: gain(one) < -0.05,
        ),
        ("Best", "", lambda one: -one.ious["full"], lambda one: True),
        ("Worst", "", lambda one: one.ious["full"], lambda one: True),
        (
            "Borderline",
            "Expected IoU near one half: where a look is worth most.",
            doubt,
            lambda one: True,
        ),
    ]
    sections = []
    for name, note, order, fits in told:
        ranked = sorted(filter(fits, shown), key=lambda o: (order(o), o.image_id))
        some = _varied(ranked)[: max(len(shown) // 3, 1)]
        if some:
            sections.append(Section(name, _few_explained(some), note))
    return tuple(sections)


def _varied(ranked: Sequence[Shown]) -> list[Shown]:
    """The first ones, no class a second time before each has been."""
    seen: dict[str, int] = {}
    turns = []
    for place, one in enumerate(ranked):
        seen[one.label] = seen.get(one.label, 0) + 1
        turns.append((seen[one.label], place, one))
    turns.sort(key=lambda turn: turn[:2])
    return [one for _, _, one in turns[:_PICTURES]]


def _few_explained(some: Sequence[Shown]) -> tuple[Shown, ...]:
    return tuple(
        one if k < _EXPLAINED else dataclasses.replace(one, explanation=None)
        for k, one in enumerate(some)
    )


def _dead(faults: Sequence[Sequence[str]], count: int) -> tuple[DeadLetters, ...]:
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


def main(output: str, speaker: Voice) -> str:
    """Writes the page of an annotation run into its output; returns where it is."""
    store = stores.store_for(output)
    log = Log(store)
    if not log.number:
        raise Mistake(f"{store.uri} holds no annotations: run `belvedere annotate`")
    run = next(log.manifests(log.number)).run
    if run.kind != "annotate":
        raise Mistake(
            f"{store.uri} holds what `belvedere {run.kind}` wrote: a report is made of "
            "annotations, and `belvedere evaluate` writes its own"
        )
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
        dead=_dead(faults, len(dead)),
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
    )


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
    told = {
        "Surest": np.argsort(-expected, kind="stable")[:_PICTURES],
        "Least sure": np.argsort(expected, kind="stable")[:_PICTURES],
        "Borderline": np.argsort(abs(expected - 0.5), kind="stable")[:_PICTURES],
    }
    rows = {name: boxed.take(some).to_pylist() for name, some in told.items()}
    wanted = {row["image_uri"] for some in rows.values() for row in some}
    found = dict(_pictures(wanted, [Source(*one) for one in run.details["images"]]))
    for name, some in rows.items():
        pictures = tuple(
            _shown(row, found[row["image_uri"]])
            for row in some
            if row["image_uri"] in found
        )
        if pictures:
            yield Section(name, pictures)


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


def _pictures(
    wanted: set[str], images: Sequence[Source]
) -> Iterator[tuple[str, bytes]]:
    """Small copies of these pictures, read again from where they came from."""
    missing = set(wanted)
    with decoding.Decoder() as decoder:
        for data, uri in _contents(missing, images):
            try:
                image = decoder.decode(data).image
            except PictureError as error:
                _log.warning("%s cannot be shown: %s", uri, error)
                continue
            yield uri, thumbnails.jpeg(image)


def _contents(
    missing: set[str], images: Sequence[Source]
) -> Iterator[tuple[bytes, str]]:
    for source in images:
        for partition in sources.partitions(source):
            here = any(uri.startswith(partition.uri) for uri in missing)
            if partition.kind != "list" and not here:
                continue
            for piece in units.slices(partition):
                files = {file.uri for file in piece.inputs}
                if piece.span is None and not files & missing:
                    continue
                for found in sources.read(piece):
                    if not isinstance(found, InputFault) and found[0].uri in missing:
                        missing.discard(found[0].uri)
                        yield found[1], found[0].uri
                if not missing:
                    return
