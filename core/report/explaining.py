"""Why a box was chosen: the picture, its windows in appearance space, the 11 terms.

Paper: section 1, the first figure, and section 4 for the hyper-features.
"""

import dataclasses

import numpy as np
from markupsafe import Markup

from belvedere.core.explanation import Explanation
from belvedere.core.report import appearance_map, charts, pictures, svg, tables, wording
from belvedere.core.report.charts import Key
from belvedere.core.report.contents import Shown
from belvedere.core.report.pictures import Page
from belvedere.core.report.tables import Cell, Column, Table
from belvedere.core.report.wording import Name
from belvedere.core.types import HYPERFEATURES

_OUTLINED = 12  # windows of highest predicted overlap drawn on the picture
_FAMILIES = {
    "global": "Global",
    "local": "Local",
    "consistency": "Consistency",
    "mean": "Own",
    "std": "Own",
}
_OWN = {"mean_overlap": "Own: predicted overlap", "std": "Own: its uncertainty"}


@dataclasses.dataclass(frozen=True)
class Reason:
    """An explanation as the template sets it."""

    key: str
    label: Name
    image_id: Name
    figures: tuple[tuple[str, str], ...]
    sentences: tuple[str, ...]
    picture: Markup
    picture_legend: tuple[Key, ...]
    map: Markup
    map_legend: tuple[Key, ...]
    range: tuple[str, str, Markup]
    contributions: Table


def reason(shown: Shown, key: str, page: Page) -> Reason:
    """The explanation of a picture; `key` is unique on the page."""
    found = shown.explanation
    if found is None:
        raise ValueError(f"{shown.image_id!r} has no explanation")
    low, high = float(found.overlap.min()), float(found.overlap.max())
    return Reason(
        key,
        wording.name(shown.label),
        wording.name(shown.image_id, 40),
        pictures.figures(shown),
        sentences(found),
        _picture(key, shown, found, page),
        _picture_legend(shown, found),
        appearance_map.drawing(key, found),
        appearance_map.legend(found),
        (wording.number(low), wording.number(high), appearance_map.ramp()),
        _contributions(key, found),
    )


def sentences(found: Explanation) -> tuple[str, ...]:
    """The decision in plain words."""
    score = float(found.contributions.sum())
    n = wording.count(len(found.boxes))
    if found.runner_up < 0:
        return (f"The window was chosen of {n} with score {wording.number(score)}.",)
    differences = found.contributions - found.runner_up_contributions
    other = score - float(differences.sum())
    order = np.argsort(-np.abs(differences), kind="stable")[:2]
    terms = " and ".join(
        f"{_term(HYPERFEATURES[k]).lower()} ({wording.signed(float(differences[k]))})"
        for k in order
    )
    lead = wording.number(score - other, 3)
    return (
        f"Of {n} windows the chosen one scores {wording.number(score, 3)}, the"
        f" runner-up {wording.number(other, 3)}: a lead of {lead}.",
        f"They differ most in {terms}.",
    )


def _picture(key: str, shown: Shown, found: Explanation, page: Page) -> Markup:
    colours = appearance_map.steps(found.overlap)
    best = np.argsort(-found.overlap, kind="stable")[:_OUTLINED]
    body = [pictures.photograph(shown, page)]
    body += [
        svg.element("path", d=_way(found.boxes[k]), class_=f"faint-box s{colours[k]}")
        for k in reversed(best.tolist())
    ]
    body += [svg.box(truth, "box b-truth") for truth in shown.truths]
    body += [
        svg.box(found.boxes[k], "box b-support")
        for k in appearance_map.supporters(found)
    ]
    if found.runner_up >= 0:
        body.append(svg.box(found.boxes[found.runner_up], "box b-second"))
    if _voted(shown, found):
        body.append(svg.box(found.boxes[found.chosen], "box b-chosen"))
    body.append(svg.box(shown.boxes["full"], "box b-full"))
    return svg.drawing(
        f"{key}-picture",
        "The picture with the windows that matter",
        pictures.in_words(shown),
        shown.width,
        shown.height,
        *body,
        class_="photo large",
    )


def _voted(shown: Shown, found: Explanation) -> bool:
    """Whether the box is another than the chosen window."""
    window = found.boxes[found.chosen]
    return not np.allclose(shown.boxes["full"], window, rtol=0, atol=0.5)


def _way(box: np.ndarray) -> str:
    x0, y0, x1, y1 = (svg.decimal(v) for v in box)
    return f"M{x0} {y0}H{x1}V{y1}H{x0}Z"


def _picture_legend(shown: Shown, found: Explanation) -> tuple[Key, ...]:
    looks = {"full": ("b-full", "chosen window")}
    if _voted(shown, found):
        looks["full"] = ("b-full", "box: what the windows around the chosen vote for")
        looks["chosen"] = ("b-chosen", "chosen window")
    if found.runner_up >= 0:
        looks["second"] = ("b-second", "runner-up")
    if found.supporters.max() >= 0:
        looks["support"] = ("b-support", "windows that consistency comes from")
    if len(shown.truths):
        looks["truth"] = ("b-truth", "true box")
    many = svg.element(
        "path", d="M4 2H30V12H4Z", class_=f"faint-box s{appearance_map.STEPS - 1}"
    )
    highest = Key(charts.swatch(many), Name("highest predicted overlap", ""))
    return (*pictures.keys(looks), highest)


def _term(name: str) -> str:
    if name in _OWN:
        return _OWN[name]
    family, _, relation = name.partition("_")
    return f"{_FAMILIES[family]}: {relation}"


def _contributions(key: str, found: Explanation) -> Table:
    both = np.concatenate([found.contributions, found.runner_up_contributions])
    reach = float(np.abs(both).max()) or 1.0
    second = found.runner_up >= 0
    columns = [
        Column("Hyper-feature", numeric=False),
        Column("Adds", numeric=False),
        Column("Chosen"),
        *([Column("Runner-up")] if second else []),
    ]
    rows = [
        (
            tables.words(_term(name)),
            Cell(Name("", ""), mark=_bars(float(a), float(b), reach, second)),
            tables.signed(float(a)),
            *([tables.signed(float(b))] if second else []),
        )
        for name, a, b in zip(
            HYPERFEATURES,
            found.contributions,
            found.runner_up_contributions,
            strict=True,
        )
    ]
    total = [tables.words("Score", class_="strong"), Cell(Name("", ""))]
    total.append(tables.figure(float(found.contributions.sum())))
    if second:
        total.append(tables.figure(float(found.runner_up_contributions.sum())))
    caption = "The 11 contributions to the score"
    return Table(f"{key}-contributions", caption, tuple(columns), (*rows, tuple(total)))


def _bars(chosen: float, other: float, reach: float, second: bool) -> Markup:
    axis = svg.Axis(-reach, reach, 2, 158)
    pairs = [(chosen, 2, "b-full")] + [(other, 11, "b-second")] * second
    parts = [
        svg.element(
            "rect",
            x=min(axis(0), axis(value)),
            y=y,
            width=abs(axis(value) - axis(0)),
            height=7,
            class_=f"term {class_}",
        )
        for value, y, class_ in pairs
    ]
    parts.append(svg.line(axis(0), 0, axis(0), 20, "zero"))
    return svg.element(
        "svg",
        *parts,
        class_="mini terms",
        viewBox="0 0 160 20",
        aria_hidden="true",
        preserveAspectRatio="none",
    )
