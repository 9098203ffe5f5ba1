"""Pictures with their boxes drawn over them as lines that stay crisp at any size.

Paper: section 5, the figure of qualitative results. A picture that occurs twice on a
page is held once and referred to.
"""

import base64
import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup

from belvedere.core.report import charts, svg, wording
from belvedere.core.report.charts import Key
from belvedere.core.report.contents import Section, Shown
from belvedere.core.report.wording import Name

DRAWN = ("full", "ae_gp")  # the methods whose boxes are drawn
_LOOKS = {"truth": "b-truth", "full": "b-full", "ae_gp": "b-ae_gp"}
_WORDS = {"truth": "true box", "full": "ours (full method)", "ae_gp": "AE-GP"}


@dataclasses.dataclass(frozen=True)
class Tile:
    """A picture of the gallery as the template sets it."""

    drawing: Markup
    label: Name
    image_id: Name
    figures: tuple[tuple[str, str], ...]
    why: str  # key of its explanation, or empty


@dataclasses.dataclass(frozen=True)
class Wall:
    """A section of the gallery; `left_out` pictures had no room."""

    name: Name
    note: Name
    tiles: tuple[Tile, ...]
    legend: tuple[Key, ...]
    left_out: int


@dataclasses.dataclass(eq=False)
class Page:
    """What is on the page already: a picture and a reason are held once."""

    photographs: dict[bytes, str] = dataclasses.field(default_factory=dict)
    explained: dict[str, Shown] = dataclasses.field(default_factory=dict)
    tiles: int = 0

    def reason_of(self, shown: Shown) -> str:
        """Key of the explanation of a picture, empty if it has none."""
        if shown.explanation is None:
            return ""
        for key, other in self.explained.items():
            if other.explanation is shown.explanation:
                return key
        key = f"why-{len(self.explained)}"
        self.explained[key] = shown
        return key


def wall(section: Section, kept: int, page: Page) -> Wall:
    """The first `kept` pictures of a section."""
    pictures = section.pictures[:kept]
    tiles = [tile(shown, page) for shown in pictures]
    return Wall(
        wording.name(section.name),
        wording.name(section.note, 400),
        tuple(tiles),
        legend(pictures),
        len(section.pictures) - kept,
    )


def tile(shown: Shown, page: Page) -> Tile:
    """A picture of the gallery."""
    page.tiles += 1
    drawn = [("truth", truth) for truth in shown.truths]
    drawn += [(m, shown.boxes[m]) for m in reversed(DRAWN) if m in shown.boxes]
    drawing = svg.drawing(
        f"picture-{page.tiles}",
        f"Picture of class {wording.name(shown.label).view}",
        in_words(shown),
        shown.width,
        shown.height,
        photograph(shown, page),
        *(svg.box(box, f"box {_LOOKS[m]}") for m, box in drawn),
        class_="photo",
    )
    return Tile(
        drawing,
        wording.name(shown.label),
        wording.name(shown.image_id, 40),
        figures(shown),
        page.reason_of(shown),
    )


def photograph(shown: Shown, page: Page) -> Markup:
    """The picture itself, or a reference to where it stands already."""
    known = page.photographs
    if shown.jpeg in known:
        return svg.element("use", href=f"#{known[shown.jpeg]}")
    known[shown.jpeg] = f"photograph-{len(known)}"
    return svg.element(
        "image",
        id=known[shown.jpeg],
        href="data:image/jpeg;base64," + base64.b64encode(shown.jpeg).decode("ascii"),
        width=shown.width,
        height=shown.height,
        preserveAspectRatio="none",
    )


def figures(shown: Shown) -> tuple[tuple[str, str], ...]:
    """IoU of each drawn box, and what was expected of ours."""
    words = {"full": "ours", "ae_gp": "AE-GP"}
    found = [
        (words[m], wording.number(shown.ious[m])) for m in DRAWN if m in shown.ious
    ]
    if shown.expected_iou is not None:
        found.append(("expected", wording.number(shown.expected_iou)))
    if shown.iou_lower is not None:
        found.append(("at least", wording.number(shown.iou_lower)))
    return tuple(found)


def in_words(shown: Shown) -> str:
    """Where the boxes are and how good they are, for those who do not see them."""
    parts = [
        f"{_WORDS[m]} at {_corners(shown.boxes[m])}" for m in DRAWN if m in shown.boxes
    ]
    parts += [f"true box at {_corners(truth)}" for truth in shown.truths]
    parts += [f"{name} {value}" for name, value in figures(shown)]
    return f"{shown.width} by {shown.height} pixels; " + "; ".join(parts)


def _corners(box: np.ndarray) -> str:
    return ", ".join(svg.decimal(v, 0) for v in box)


def legend(pictures: Sequence[Shown]) -> tuple[Key, ...]:
    """What the lines on these pictures stand for."""
    present = {m for shown in pictures for m in shown.boxes}
    if any(len(shown.truths) for shown in pictures):
        present.add("truth")
    return keys({m: (_LOOKS[m], _WORDS[m]) for m in _LOOKS if m in present})


def keys(looks: Mapping[str, tuple[str, str]]) -> tuple[Key, ...]:
    """Keys of boxes, by anything: (class, words)."""
    return tuple(
        Key(charts.swatch(svg.box((4, 2, 30, 12), f"box {class_}")), Name(words, ""))
        for class_, words in looks.values()
    )
