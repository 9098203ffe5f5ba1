"""What every chart is made of: frame, ticks, legend, and the numbers behind it."""

import dataclasses
from collections.abc import Mapping

from markupsafe import Markup

from belvedere.core.report import svg, wording
from belvedere.core.report.tables import Table
from belvedere.core.report.wording import Name

WIDTH = 640.0
LEFT, RIGHT, TOP, BOTTOM = 92.0, 18.0, 16.0, 72.0  # room around the frame
TELLING = 10  # pictures: of fewer a group says nothing


@dataclasses.dataclass(frozen=True)
class Key:
    """A line of a legend: a swatch and what it stands for."""

    swatch: Markup
    name: Name


@dataclasses.dataclass(frozen=True)
class Figure:
    """A chart with what belongs to it."""

    heading: str
    drawing: Markup
    legend: tuple[Key, ...]
    caption: str
    table: Table | None = None


def swatch(*parts: str) -> Markup:
    return svg.element(
        "svg", *parts, class_="swatch", viewBox="0 0 34 14", aria_hidden="true"
    )


def line_key(class_: str, name: Name) -> Key:
    return Key(swatch(svg.line(2, 7, 32, 7, f"line {class_}")), name)


def frame(
    x: svg.Axis,
    y: svg.Axis,
    x_ticks: Mapping[float, str],
    y_ticks: Mapping[float, str],
    x_title: str = "",
    y_title: str = "",
) -> Markup:
    """Grid lines, ticks and titles of the axes."""
    rows = [
        svg.line(x.start, y(v), x.end, y(v), "grid")
        + svg.text(x.start - 9, y(v) + 5, words, "end")
        for v, words in y_ticks.items()
    ]
    columns = [
        svg.text(x(v), y.start + 30, words, "mid") for v, words in x_ticks.items()
    ]
    titles = []
    if x_title:
        middle = (x.start + x.end) / 2
        titles.append(svg.text(middle, y.start + 62, x_title, "mid title"))
    if y_title:
        titles.append(
            svg.element(
                "text",
                y_title,
                transform=f"translate(20 {svg.decimal((y.start + y.end) / 2)})"
                " rotate(-90)",
                class_="mid title",
            )
        )
    return svg.join([*rows, *columns, *titles])


def tenths(low: svg.Number, high: svg.Number, step: int = 1) -> dict[float, str]:
    """Ticks at every `step` tenths."""
    first, last = round(low * 10), round(high * 10)
    return {t / 10: wording.number(t / 10, 1) for t in range(first, last + 1, step)}


def percents() -> dict[float, str]:
    return {t / 5: f"{20 * t}%" for t in range(6)}
