"""Elements of a drawing, as text: what every chart and every picture is made of.

Colours and line styles are classes of the style sheet, so that a drawing follows light,
dark and print, and no style attribute is needed, which the content policy forbids.
"""

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np
from markupsafe import Markup, escape

Number = int | float


def decimal(value: Number | np.number, digits: int = 1) -> str:
    """A coordinate without superfluous zeros."""
    text = f"{float(value):.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def element(name: str, *children: str, **attributes: object) -> Markup:
    """<name attributes>children</name>; all but Markup is escaped.

    `class_` stands for class and `_` for `-`; numbers become coordinates; attributes
    that are None are left out.
    """
    stated = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _text(value))
        for key, value in attributes.items()
        if value is not None
    )
    inner = Markup("").join(escape(child) for child in children)
    if not inner:
        return Markup("<{}{}/>").format(Markup(name), stated)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), stated, inner)


def _text(value: object) -> str:
    if isinstance(value, (int, float, np.number)):
        return decimal(value)
    return str(value)


def join(parts: Iterable[str]) -> Markup:
    return Markup("").join(parts)


@dataclasses.dataclass(frozen=True)
class Axis:
    """Places values from `low` to `high` between two coordinates."""

    low: Number
    high: Number
    start: Number
    end: Number

    def __call__(self, value: Number) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def drawing(
    key: str,
    title: str,
    description: str,
    width: Number,
    height: Number,
    *body: str,
    class_: str = "chart",
) -> Markup:
    """A picture with its text alternative; `key` is unique on the page."""
    return element(
        "svg",
        element("title", title, id=f"{key}-title"),
        element("desc", description, id=f"{key}-desc"),
        *body,
        class_=class_,
        viewBox=f"0 0 {decimal(width)} {decimal(height)}",
        role="img",
        aria_labelledby=f"{key}-title {key}-desc",
    )


def text(x: Number, y: Number, words: str, class_: str = "") -> Markup:
    """Words at a place; classes `mid` and `end` align them there."""
    return element("text", words, x=x, y=y, class_=class_ or None)


def line(x1: Number, y1: Number, x2: Number, y2: Number, class_: str) -> Markup:
    return element("path", d=path([(x1, y1), (x2, y2)]), class_=class_)


def path(points: Sequence[tuple[Number, Number]]) -> str:
    """The way through the points."""
    steps = [f"{decimal(x)} {decimal(y)}" for x, y in points]
    return "M" + "L".join(steps)


def dots(points: Iterable[tuple[Number, Number]], class_: str) -> Markup:
    """Many round dots in one short path: lines of no length with round ends."""
    d = "".join(f"M{decimal(x)} {decimal(y)}h.01" for x, y in points)
    return element("path", d=d, class_=f"dots {class_}") if d else Markup("")


def box(values: Sequence[Number] | np.ndarray, class_: str) -> Markup:
    """A box (x0, y0, x1, y1) as a line with a dark edge, seen on any picture."""
    x0, y0, x1, y1 = (decimal(v) for v in values)
    d = f"M{x0} {y0}H{x1}V{y1}H{x0}Z"
    return element("path", d=d, class_="casing") + element("path", d=d, class_=class_)
