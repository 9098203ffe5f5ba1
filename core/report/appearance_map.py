"""The windows of a picture as points in appearance space.

Paper: section 1, the first figure, which shows them next to the picture.

Departures: two dimensions, not three; points are coloured by the overlap that is
predicted for them, from the least to the greatest in the picture.
"""

import math

import numpy as np
from jaxtyping import Float, Int64
from markupsafe import Markup

from belvedere.core.explanation import Explanation
from belvedere.core.report import charts, svg, wording
from belvedere.core.report.charts import Key
from belvedere.core.report.wording import Name
from belvedere.core.types import RELATIONS

STEPS = 7  # colours
_WIDTH, _HEIGHT = 640.0, 480.0


def steps(overlap: Float[np.ndarray, " n"]) -> Int64[np.ndarray, " n"]:
    """Colour of each window: its predicted overlap from the least to the greatest."""
    low, high = overlap.min(), overlap.max()
    if high == low:
        return np.zeros(len(overlap), np.int64)
    share = (overlap - low) / (high - low)
    return np.minimum((share * STEPS).astype(np.int64), STEPS - 1)


def supporters(found: Explanation) -> dict[int, str]:
    """The relations that each supporting window decides, by number of the window."""
    result: dict[int, str] = {}
    for relation, k in zip(RELATIONS, found.supporters.tolist(), strict=True):
        if k >= 0:
            result[k] = f"{result[k]}, {relation}" if k in result else relation
    return result


def drawing(key: str, found: Explanation) -> Markup:
    places = _places(found.map)
    colours = steps(found.overlap)
    clouds = [
        svg.dots([places[k] for k in np.flatnonzero(colours == s)], f"s{s}")
        for s in range(STEPS)
    ]
    marks = [
        _mark("b-support", places[k], f"{relations}: window {k}")
        for k, relations in supporters(found).items()
    ]
    if found.runner_up >= 0:
        marks.append(_mark("b-second", places[found.runner_up], "runner-up"))
    marks.append(_mark("b-full", places[found.chosen], "chosen window"))
    return svg.drawing(
        f"{key}-map",
        "Windows in appearance space",
        f"{len(found.boxes)} windows as points, windows that look alike close together;"
        f" predicted overlap from {wording.number(float(found.overlap.min()))} to"
        f" {wording.number(float(found.overlap.max()))},"
        f" {wording.number(float(found.overlap[found.chosen]))} for the chosen window.",
        _WIDTH,
        _HEIGHT,
        svg.element(
            "rect", x=1, y=1, width=_WIDTH - 2, height=_HEIGHT - 2, class_="field"
        ),
        *clouds,
        *marks,
        class_="chart map",
    )


def _places(where: Float[np.ndarray, "n 2"]) -> list[tuple[float, float]]:
    """The map scaled to the drawing, alike in both directions."""
    low, high = where.min(axis=0), where.max(axis=0)
    room = np.array([_WIDTH - 56, _HEIGHT - 56])
    spread = np.maximum(high - low, 1e-12)
    scale = float((room / spread).min())
    centred = (where - (low + high) / 2) * scale
    return [(_WIDTH / 2 + x, _HEIGHT / 2 - y) for x, y in centred.tolist()]


def _mark(class_: str, place: tuple[float, float], words: str) -> Markup:
    corners = {"b-full": _star(15), "b-second": _even(4, 13), "b-support": _even(3, 12)}
    points = [(place[0] + x, place[1] + y) for x, y in corners[class_]]
    return svg.element(
        "path",
        svg.element("title", words),
        d=svg.path(points) + "Z",
        class_=f"mark {class_}",
    )


def _even(corners: int, radius: svg.Number) -> list[tuple[float, float]]:
    """A triangle or a diamond that stands on its tip or its base."""
    turns = [2 * math.pi * k / corners for k in range(corners)]
    return [(radius * math.sin(t), -radius * math.cos(t)) for t in turns]


def _star(radius: svg.Number) -> list[tuple[float, float]]:
    outer, inner = _even(10, radius), _even(10, radius * 0.45)
    return [(outer if k % 2 == 0 else inner)[k] for k in range(10)]


def legend(found: Explanation) -> tuple[Key, ...]:
    shown = [("b-full", _star(8), "chosen")]
    if found.runner_up >= 0:
        shown.append(("b-second", _even(4, 7), "runner-up"))
    if found.supporters.max() >= 0:
        shown.append(("b-support", _even(3, 7), "consistency comes from"))
    return tuple(
        Key(
            charts.swatch(
                svg.element(
                    "path",
                    d=svg.path([(17 + x, 8 + y) for x, y in corners]) + "Z",
                    class_=f"mark {class_}",
                )
            ),
            Name(words, ""),
        )
        for class_, corners, words in shown
    )


def ramp() -> Markup:
    squares = [
        svg.element("rect", x=14 * s, y=0, width=14, height=12, class_=f"s{s}")
        for s in range(STEPS)
    ]
    return svg.element(
        "svg",
        *squares,
        class_="ramp",
        viewBox=f"0 0 {14 * STEPS} 12",
        aria_hidden="true",
    )
