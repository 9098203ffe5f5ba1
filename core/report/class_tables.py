"""Tables with a row for each class."""

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup

from belvedere.core.report import svg, tables, wording
from belvedere.core.report.contents import Annotated
from belvedere.core.report.tables import Cell, Column, Table

_NOTE = "Differences of single classes have no interval: small ones say nothing."


def of_classes(metrics: Mapping) -> Table:
    """Mean IoU of each class by each method, the full method first."""
    methods = metrics.get("methods", {})
    figures = {
        m: methods[m].get("per_class", {}) for m in wording.ordered(list(methods))
    }
    labels = sorted({label for of in figures.values() for label in of})
    rivals = [m for m in figures if m != "full"]
    columns = (
        Column("Class", numeric=False),
        Column("Pictures"),
        Column("Full", hint="mean IoU of the full method; the tick is AE-GP"),
        Column(
            f"Full {wording.MINUS} AE\N{NON-BREAKING HYPHEN}GP",
            hint="difference of mean IoU",
        ),
        Column("IoU ≥ 0.5", hint="share of pictures, full method"),
        *(Column(_capital(wording.method(m).view), hint="mean IoU") for m in rivals),
    )
    rows = [_class_row(label, figures, rivals) for label in labels[: tables.MOST_ROWS]]
    note = " ".join([_NOTE, tables.left_out(len(labels))]).strip()
    return Table("classes", "Mean IoU by class", columns, tuple(rows), True, note)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _class_row(
    label: str, figures: Mapping[str, Mapping], rivals: Sequence[str]
) -> tuple[Cell, ...]:
    found = {m: of.get(label, {}) for m, of in figures.items()}
    images = next((f["images"] for f in found.values() if "images" in f), None)
    full = wording.known(found.get("full", {}).get("mean_iou"))
    ae_gp = wording.known(found.get("ae_gp", {}).get("mean_iou"))
    gain = None if full is None or ae_gp is None else full - ae_gp
    return (
        tables.words(label),
        tables.figure(images, 0),
        tables.figure(full, mark=_bar(full, ae_gp)),
        tables.signed(gain),
        tables.share(found.get("full", {}).get("corloc")),
        *(tables.figure(found[m].get("mean_iou")) for m in rivals),
    )


def _bar(value: float | None, tick: float | None = None) -> Markup:
    """A bar from 0 to 1 with a tick across it."""
    if value is None:
        return tables.NOTHING
    length = 60 * min(max(value, 0.0), 1.0)
    parts = [
        svg.element("rect", x=0, y=2, width=60, height=8, class_="track"),
        svg.element("rect", x=0, y=2, width=length, height=8, class_="fill"),
    ]
    if tick is not None:
        x = 60 * tick
        parts.append(svg.line(x, 0, x, 12, "tick"))
    return svg.element(
        "svg", *parts, class_="mini bar", viewBox="0 0 60 12", aria_hidden="true"
    )


def of_annotated(annotated: Annotated) -> Table:
    """Boxes of each class of an annotation run, with what is expected of them."""
    columns = (
        Column("Class", numeric=False),
        Column("Boxes"),
        Column("Expected IoU", hint="mean over its boxes"),
        Column("Lower IoU", hint="mean of what nine boxes of ten keep"),
        Column("Accepted", hint="share of boxes"),
    )
    labels = np.unique(annotated.labels)
    listed = labels[: tables.MOST_ROWS]
    rows = [_annotated_row(annotated, str(label)) for label in listed]
    note = tables.left_out(len(labels))
    return Table("classes", "Boxes by class", columns, tuple(rows), True, note)


def _annotated_row(annotated: Annotated, label: str) -> tuple[Cell, ...]:
    own = annotated.labels == label
    expected = float(annotated.expected_iou[own].mean())
    return (
        tables.words(label),
        tables.figure(int(own.sum()), 0),
        tables.figure(expected, mark=_bar(expected)),
        tables.figure(float(annotated.iou_lower[own].mean())),
        tables.share(float(annotated.accepted[own].mean())),
    )
