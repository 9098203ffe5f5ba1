"""The paper's figure: mean overlap against the fraction of pictures returned.

Paper: section 5, the figure of mean overlap curves. Methods that do not look at the
picture return class by class, by what they expect of a class; the ceiling, which knows
the truth, has no order of its own and is a level line.
"""

import math
from collections.abc import Mapping

import numpy as np
from markupsafe import Markup

from belvedere.core.assessment import evaluation
from belvedere.core.assessment.evaluation import Curve
from belvedere.core.report import charts, svg, tables, wording
from belvedere.core.report.charts import Figure
from belvedere.core.report.contents import Judged
from belvedere.core.report.tables import Column, Table

_MOST_POINTS = 300
_MARKED = 0.75  # the mean IoU at which the paper counts what is returned
_CAPTION = (
    "Pictures of all classes are returned in the order of their expected IoU, the"
    " surest first; the higher the curve, the better. Those of equal expected IoU have"
    " no order of their own: the mean over all their orders is drawn. The ceiling is"
    " level, at its mean over all pictures: where only the surest are returned, a"
    " curve can lie above it. The dotted line marks mean IoU 0.75; a dot shows how far"
    " a method stays above it."
)


def curve(judged: Judged) -> Figure:
    """Mean overlap against the fraction returned, by method."""
    shapes = {m: evaluation.curve(judged.outcomes[m]) for m in _methods(judged)}
    low = min(_lowest(shape) for shape in shapes.values())
    low = max(0.0, min(math.floor(low * 10) / 10, 0.6))
    height = 420.0
    x = svg.Axis(0, 1, charts.LEFT, charts.WIDTH - charts.RIGHT)
    y = svg.Axis(low, 1, height - charts.BOTTOM, charts.TOP)
    looks = wording.classes(list(shapes))
    drawing = svg.drawing(
        "curve",
        "Mean overlap against the fraction of pictures returned",
        _in_words(shapes),
        charts.WIDTH,
        height,
        _clip("curve-clip", x, y),
        charts.frame(
            x,
            y,
            charts.percents(),
            charts.tenths(low, 1),
            "pictures returned",
            "mean IoU",
        ),
        svg.line(x.start, y(_MARKED), x.end, y(_MARKED), "marked"),
        svg.element(
            "g",
            *(
                svg.element("path", d=_way(s, x, y), class_=f"line {looks[m]}")
                for m, s in reversed(shapes.items())
            ),
            clip_path="url(#curve-clip)",
        ),
        svg.join(_crossing(m, s, x, y, looks[m]) for m, s in shapes.items()),
        class_="chart wide",
    )
    return Figure(
        "Mean overlap against the fraction returned",
        drawing,
        tuple(charts.line_key(looks[m], wording.method(m)) for m in shapes),
        _CAPTION,
        _curve_table(shapes),
    )


def _methods(judged: Judged) -> list[str]:
    return wording.ordered(list(judged.outcomes))


def _lowest(shape: Curve) -> float:
    """Of the curve where it is no longer a matter of a few pictures."""
    return float(shape.means[shape.fractions >= 0.1].min())


def _in_words(shapes: Mapping[str, Curve]) -> str:
    return ". ".join(
        f"{wording.method(m).view}: mean IoU {wording.number(float(s.means[-1]))} when"
        f" all are returned, {wording.percent(s.returned_at(_MARKED))} returned at 0.75"
        for m, s in shapes.items()
    )


def _clip(key: str, x: svg.Axis, y: svg.Axis) -> Markup:
    area = svg.element(
        "rect",
        x=x.start,
        y=y.end,
        width=x.end - x.start + 2,
        height=y.start - y.end,
    )
    return svg.element("clipPath", area, id=key)


def _way(shape: Curve, x: svg.Axis, y: svg.Axis) -> str:
    """Level up to the first picture; through the place of the dot."""
    n = len(shape.means)
    evenly = np.linspace(0, n - 1, min(n, _MOST_POINTS)).round().astype(int)
    picked = np.union1d(evenly, _last_above(shape))
    fractions = [0.0, *shape.fractions[picked].tolist()]
    means = [float(shape.means[0]), *shape.means[picked].tolist()]
    return svg.path([(x(f), y(m)) for f, m in zip(fractions, means, strict=True)])


def _last_above(shape: Curve) -> int:
    """Number of the last picture up to which the mean stays above the mark, or 0."""
    return max(round(shape.returned_at(_MARKED) * len(shape.means)) - 1, 0)


def _crossing(method: str, shape: Curve, x: svg.Axis, y: svg.Axis, look: str) -> Markup:
    """A dot on the curve, where it is above the mark for the last time."""
    returned = shape.returned_at(_MARKED)
    if not 0 < returned < 1:
        return Markup("")
    words = f"{wording.method(method).view}: {wording.percent(returned)} returned"
    mean = float(shape.means[_last_above(shape)])
    place = {"cx": x(returned), "cy": y(mean), "r": 5}
    return svg.element(
        "circle", svg.element("title", words), class_=f"dot {look}", **place
    )


def _curve_table(shapes: Mapping[str, Curve]) -> Table:
    fractions = np.arange(1, 11) / 10
    columns = [Column("Returned")]
    columns += [Column(wording.method(m).view) for m in shapes]
    rows = [
        (
            tables.words(wording.percent(float(f)), float(f)),
            *(tables.figure(_at(shape, float(f))) for shape in shapes.values()),
        )
        for f in fractions
    ]
    caption = "Mean IoU by fraction returned"
    return Table("curve-numbers", caption, tuple(columns), tuple(rows))


def _at(shape: Curve, fraction: float) -> float:
    """The mean where at least this fraction is first returned."""
    return float(shape.means[np.searchsorted(shape.fractions, fraction - 1e-12)])
