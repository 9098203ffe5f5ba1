"""Where the full method gains and loses: by size of the object and by their number."""

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
import scipy.special
from jaxtyping import Bool, Float
from markupsafe import Markup

from belvedere.core.report import charts, svg, tables, wording
from belvedere.core.report.charts import Figure
from belvedere.core.report.contents import Judged
from belvedere.core.report.tables import Column, Table

EDGES = (0.05, 0.15, 0.3, 0.5, 0.75)  # of the object's share of the picture
_MOST_OBJECTS = 4
_OURS, _THEIRS = "full", "ae_gp"
_LEVELS = (_OURS, _THEIRS, "ceiling")
_CONFIDENCE = 0.95


@dataclasses.dataclass(frozen=True)
class Group:
    """Images of a kind: mean IoU by method, and full minus AE-GP with its interval."""

    name: str
    images: int
    means: dict[str, float]
    difference: float | None
    half_width: float | None


def by_size(judged: Judged) -> list[Group]:
    number = np.searchsorted(EDGES, judged.object_share, side="right")
    ends = [0, *(round(100 * e) for e in EDGES), 100]
    names = [f"{a}–{b}" for a, b in itertools.pairwise(ends)]  # noqa: RUF001
    return _groups(judged, [(n, number == k) for k, n in enumerate(names)])


def by_objects(judged: Judged) -> list[Group]:
    number = np.minimum(judged.objects, _MOST_OBJECTS)
    names = {k: str(k) for k in range(1, _MOST_OBJECTS)}
    names[_MOST_OBJECTS] = f"{_MOST_OBJECTS} or more"
    return _groups(judged, [(name, number == k) for k, name in names.items()])


def _groups(
    judged: Judged, members: Sequence[tuple[str, Bool[np.ndarray, " n"]]]
) -> list[Group]:
    return [_group(judged, name, own) for name, own in members if own.any()]


def _group(judged: Judged, name: str, own: Bool[np.ndarray, " n"]) -> Group:
    ious = {m: o.ious[own] for m, o in judged.outcomes.items()}
    means = {m: float(values.mean()) for m, values in ious.items()}
    if _OURS not in ious or _THEIRS not in ious:
        return Group(name, int(own.sum()), means, None, None)
    differences = ious[_OURS] - ious[_THEIRS]
    return Group(
        name,
        int(own.sum()),
        means,
        float(differences.mean()),
        half_width(differences),
    )


def half_width(values: Float[np.ndarray, " n"]) -> float | None:
    """Of the 95% interval of the mean, by Student's t; None for a single value."""
    n = len(values)
    if n < 2:
        return None
    quantile = float(scipy.special.stdtrit(n - 1, (1 + _CONFIDENCE) / 2))
    return quantile * float(values.std(ddof=1)) / n**0.5


def figure(key: str, heading: str, x_title: str, groups: Sequence[Group]) -> Figure:
    """Mean IoU of each group above, the difference to AE-GP with intervals below."""
    methods = [m for m in _LEVELS if all(m in g.means for g in groups)]
    looks = wording.classes(methods)
    x = svg.Axis(-0.5, len(groups) - 0.5, charts.LEFT, charts.WIDTH - charts.RIGHT)
    compared = any(g.difference is not None for g in groups)
    height = 548.0 if compared else 350.0
    body = [_levels(groups, methods, x, svg.Axis(0, 1, 240, 16))]
    if compared:
        body.append(_differences(groups, x, 458, 290))
    drawing = svg.drawing(
        key,
        heading,
        "; ".join(_in_words(g, methods) for g in groups),
        charts.WIDTH,
        height,
        *body,
        svg.join(_foot(groups, x, height - 90)),
        svg.text((x.start + x.end) / 2, height - 8, x_title, "mid title"),
    )
    caption = "Mean IoU of each group (small numbers: its pictures)"
    if compared:
        caption += _difference_words(groups)
    keys = tuple(charts.line_key(looks[m], wording.method(m)) for m in methods)
    return Figure(heading, drawing, keys, caption, _table(key, groups, methods))


def _difference_words(groups: Sequence[Group]) -> str:
    words = (
        ", and below it full method minus AE-GP with the 95% interval of the mean"
        " (paired t). An interval that crosses zero shows no difference."
    )
    if any(g.half_width is None for g in groups):
        words += " A single picture has none."
    if any(max(map(abs, _ends(g))) > _reach(groups) for g in groups):
        words += f" Those of fewer than {charts.TELLING} pictures may leave the chart."
    return words


def _reach(groups: Sequence[Group]) -> float:
    """Up to where differences are drawn: all of them, and every telling interval."""
    telling = [g for g in groups if g.images >= charts.TELLING]
    ends = [abs(end) for g in telling for end in _ends(g)]
    reach = max(*(abs(g.difference or 0.0) for g in groups), *ends, 0.05)
    return float(min(np.ceil(reach * 20 - 1e-9) / 20, 1.0))


def _levels(
    groups: Sequence[Group], methods: Sequence[str], x: svg.Axis, y: svg.Axis
) -> Markup:
    looks = wording.classes(methods)
    parts = [charts.frame(x, y, {}, charts.tenths(0, 1, 2), "", "mean IoU")]
    for m in reversed(wording.ordered(methods)):
        points = [(x(k), y(g.means[m])) for k, g in enumerate(groups)]
        parts.append(
            svg.element("path", d=svg.path(points), class_=f"line thin {looks[m]}")
        )
        parts += [
            svg.element("circle", cx=a, cy=b, r=5, class_=f"dot {looks[m]}")
            for a, b in points
        ]
    return svg.join(parts)


def _differences(
    groups: Sequence[Group], x: svg.Axis, bottom: svg.Number, top: svg.Number
) -> Markup:
    reach = _reach(groups)
    y = svg.Axis(-reach, reach, bottom - 12, top)
    ticks = {v: wording.signed(v, 2) for v in (-reach, 0.0, reach)}
    parts = [charts.frame(x, y, {}, ticks, "", "difference")]
    parts.append(svg.line(x.start, y(0), x.end, y(0), "zero"))
    for k, g in enumerate(groups):
        if g.difference is None:
            continue
        if g.half_width is not None:
            low, high = np.clip(_ends(g), -reach, reach).tolist()
            parts.append(svg.line(x(k), y(low), x(k), y(high), "whisker"))
        parts.append(
            svg.element("circle", cx=x(k), cy=y(g.difference), r=5, class_="dot m-full")
        )
    return svg.join(parts)


def _ends(group: Group) -> tuple[float, float]:
    """Of the interval; no difference of two IoUs lies beyond -1 and 1."""
    mid, half = group.difference or 0.0, group.half_width or 0.0
    return max(mid - half, -1.0), min(mid + half, 1.0)


def _foot(groups: Sequence[Group], x: svg.Axis, y: svg.Number) -> list[Markup]:
    names = [svg.text(x(k), y + 20, g.name, "mid") for k, g in enumerate(groups)]
    counts = [
        svg.text(x(k), y + 45, wording.count(g.images), "mid small")
        for k, g in enumerate(groups)
    ]
    return names + counts


def _in_words(group: Group, methods: Sequence[str]) -> str:
    means = ", ".join(
        f"{wording.method(m).view} {wording.number(group.means[m])}" for m in methods
    )
    words = f"{group.name}, {group.images} pictures: {means}"
    if group.difference is None:
        return words
    return f"{words}, difference {wording.signed(group.difference)}"


def _table(key: str, groups: Sequence[Group], methods: Sequence[str]) -> Table:
    columns = (
        Column("Group", numeric=False),
        Column("Pictures"),
        *(Column(wording.method(m).view) for m in methods),
        Column(f"Full {wording.MINUS} AE-GP"),
        Column("95% interval", numeric=False),
    )
    rows = tuple(
        (
            tables.words(g.name),
            tables.figure(g.images, 0),
            *(tables.figure(g.means[m]) for m in methods),
            tables.signed(g.difference, _is_shown(g)),
            tables.words(_interval(g)),
        )
        for g in groups
    )
    return Table(f"{key}-numbers", "Mean IoU by group", columns, rows)


def _is_shown(group: Group) -> bool:
    low, high = _ends(group)
    return group.half_width is not None and (low > 0 or high < 0)


def _interval(group: Group) -> str:
    if group.half_width is None:
        return wording.DASH
    low, high = _ends(group)
    return f"{wording.signed(low)} to {wording.signed(high)}"
