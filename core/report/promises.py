"""What the method expects of its boxes, and whether they keep it."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from markupsafe import Markup

from belvedere.core.report import charts, svg, tables, wording
from belvedere.core.report.charts import Figure, Key
from belvedere.core.report.contents import Annotated
from belvedere.core.report.tables import Column, Table
from belvedere.core.report.wording import Name


def calibration(bins: Sequence[Mapping], kept: object = None) -> Figure | None:
    """Promised against measured IoU; None if there is nothing to draw.

    Args:
      bins: mean predicted and observed IoU of groups of images.
      kept: share of images whose IoU is not below the lower one, if it is known.
    """
    known = [
        b
        for b in bins
        if None not in (wording.known(b.get(k)) for k in ("predicted", "observed"))
    ]
    if not known:
        return None
    telling = [b for b in known if b.get("images", 1) >= charts.TELLING]
    height, most = 420.0, max(max(b.get("images", 1) for b in known), 1)
    x = svg.Axis(0, 1, charts.LEFT, charts.WIDTH - charts.RIGHT)
    y = svg.Axis(0, 1, height - charts.BOTTOM, charts.TOP)
    ticks = charts.tenths(0, 1, 2)
    drawing = svg.drawing(
        "calibration",
        "Promised against measured IoU",
        "; ".join(
            f"promised {wording.number(b['predicted'])}, measured"
            f" {wording.number(b['observed'])} on {wording.count(b.get('images'))}"
            for b in known
        ),
        charts.WIDTH,
        height,
        charts.frame(x, y, ticks, ticks, "expected IoU", "measured IoU"),
        svg.line(x(0), y(0), x(1), y(1), "diagonal"),
        _line([(x(b["predicted"]), y(b["observed"])) for b in telling]),
        svg.join(_bubble(b, x, y, most) for b in known),
    )
    return Figure(
        "Is the expected IoU kept?",
        drawing,
        (),
        _calibration_words(known)
        + _kept_words(kept)
        + " Each dot is a tenth of the pictures, by expected IoU (more, and larger,"
        " where many are equal); on the dashed line the promise is kept exactly."
        + _line_words(len(telling)),
        _calibration_table(known),
    )


def _line(points: Sequence[tuple[float, float]]) -> Markup:
    if len(points) < 2:
        return Markup()
    return svg.element("path", d=svg.path(points), class_="line m-full thin")


def _line_words(telling: int) -> str:
    if telling < 2:
        return f" Dots of fewer than {charts.TELLING} pictures say little."
    return (
        f" The solid line joins dots of {charts.TELLING} pictures or more: fewer say"
        " little."
    )


def _bubble(b: Mapping, x: svg.Axis, y: svg.Axis, most: int) -> Markup:
    words = f"{wording.count(b.get('images'))} pictures"
    return svg.element(
        "circle",
        svg.element("title", words),
        cx=x(b["predicted"]),
        cy=y(b["observed"]),
        r=4 + 9 * math.sqrt(b.get("images", 1) / most),
        class_="bubble m-full",
    )


def _calibration_words(bins: Sequence[Mapping]) -> str:
    weights = np.array([b.get("images", 1) for b in bins], np.float64)
    missed = np.array([b["observed"] - b["predicted"] for b in bins])
    off = float(weights @ np.abs(missed) / weights.sum())
    mean = float(weights @ missed / weights.sum())
    side = "above" if mean >= 0 else "below"
    return (
        f"The measured IoU lies {wording.number(abs(mean), 3)} {side} the expected one"
        f" on average; group by group they differ by {wording.number(off, 3)}."
    )


def _kept_words(kept: object) -> str:
    if wording.known(kept) is None:
        return ""
    return (
        f" {wording.percent(kept, 1)} of the boxes keep their lower IoU, which nine of"
        " ten should."
    )


def _calibration_table(bins: Sequence[Mapping]) -> Table:
    rows = tuple(
        (
            tables.figure(b["predicted"]),
            tables.figure(b["observed"]),
            tables.figure(b.get("images"), 0),
        )
        for b in bins
    )
    columns = (Column("Expected"), Column("Measured"), Column("Pictures"))
    return Table("calibration-numbers", "Expected and measured IoU", columns, rows)


def histogram(annotated: Annotated) -> Figure | None:
    """Boxes by expected IoU, the accepted ones apart; None without boxes."""
    if len(annotated.expected_iou) == 0:
        return None
    median = float(np.median(annotated.expected_iou))
    edges = np.arange(21) / 20
    accepted = _counts(annotated.expected_iou[annotated.accepted], edges)
    others = _counts(annotated.expected_iou[~annotated.accepted], edges)
    height = 380.0
    top = nice_ceiling(float((accepted + others).max()))
    x = svg.Axis(0, 1, charts.LEFT, charts.WIDTH - charts.RIGHT)
    y = svg.Axis(0, top, height - charts.BOTTOM, charts.TOP)
    bars = [
        _bar(x, y, edges[k], edges[k + 1], low, high, class_)
        for k in range(20)
        for low, high, class_ in (
            (0.0, accepted[k], "accepted"),
            (accepted[k], accepted[k] + others[k], "others"),
        )
        if high > low
    ]
    counts = {v: wording.count(v) for v in np.linspace(0, top, 5).tolist()}
    drawing = svg.drawing(
        "histogram",
        "Boxes by expected IoU",
        f"{int(accepted.sum())} accepted and {int(others.sum())} not accepted boxes;"
        f" median expected IoU {wording.number(median)}",
        charts.WIDTH,
        height,
        charts.frame(x, y, charts.tenths(0, 1, 2), counts, "expected IoU", "boxes"),
        *bars,
        class_="chart wide",
    )
    keys = (("accepted", "accepted"), ("others", "not accepted"))
    return Figure(
        "Boxes by expected IoU",
        drawing,
        tuple(Key(_square(c), Name(words, "")) for c, words in keys),
        "What the method expects of its boxes; there are no true ones to compare with.",
        _histogram_table(edges, accepted, others),
    )


def _counts(
    values: Float[np.ndarray, " n"], edges: Float[np.ndarray, " e"]
) -> Float[np.ndarray, " b"]:
    inside = np.clip(values, edges[0], edges[-1])
    return np.histogram(inside, edges)[0].astype(np.float64)


def nice_ceiling(value: float) -> float:
    """The least 4, 8, 12, 20, 40 ... times a power of ten that is not below `value`.

    >>> nice_ceiling(37.0), nice_ceiling(41.0), nice_ceiling(1.0)
    (40.0, 80.0, 4.0)
    """
    power = 10.0 ** max(math.floor(math.log10(max(value, 1))) - 1, 0)
    steps = (4, 8, 12, 20, 40, 80, 120)
    return next(s * power for s in steps if s * power >= value)


def _bar(
    x: svg.Axis,
    y: svg.Axis,
    start: float,
    end: float,
    low: float,
    high: float,
    class_: str,
) -> Markup:
    return svg.element(
        "rect",
        x=x(start) + 1,
        y=y(high),
        width=x(end) - x(start) - 2,
        height=y(low) - y(high),
        class_=class_,
    )


def _square(class_: str) -> Markup:
    return charts.swatch(
        svg.element("rect", x=10, y=1, width=14, height=12, class_=class_)
    )


def _histogram_table(
    edges: np.ndarray, accepted: np.ndarray, others: np.ndarray
) -> Table:
    rows = tuple(
        (
            tables.words(f"{edges[k]:.2f} to {edges[k + 1]:.2f}"),
            tables.figure(float(accepted[k]), 0),
            tables.figure(float(others[k]), 0),
        )
        for k in range(len(accepted))
        if accepted[k] + others[k] > 0
    )
    columns = (
        Column("Expected IoU", numeric=False),
        Column("Accepted"),
        Column("Not accepted"),
    )
    return Table("histogram-numbers", "Boxes by expected IoU", columns, rows)
