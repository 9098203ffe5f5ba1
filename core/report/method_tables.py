"""Tables that compare the methods."""

from collections.abc import Iterable, Mapping

from belvedere.core.report import svg, tables, wording
from belvedere.core.report.tables import Cell, Column, Table
from belvedere.core.report.wording import Name

ACCURACY = (0.3, 0.5, 0.7)
COMPARED = ("mean_iou", "auc", "returned_at_0.75")
RETURNED = ("0.70", "0.75", "0.80")
_STATISTICS = {
    "mean_iou": "Mean IoU",
    "auc": "AUC",
    "returned_at_0.75": "Returned at 0.75",
}


def accuracy(figures: Mapping, wanted: float) -> object:
    """Share of boxes whose IoU is at least `wanted`; at 0.5 it is `corloc`."""
    stated = {float(t): x for t, x in figures.get("box_accuracy", {}).items()}
    return stated.get(wanted, figures.get("corloc") if wanted == 0.5 else None)


def of_methods(metrics: Mapping) -> Table:
    """All figures of all methods."""
    methods = metrics.get("methods", {})
    columns = (
        Column("Method", numeric=False),
        Column("Mean IoU", hint="over pictures"),
        Column("Macro IoU", hint="mean over classes of their mean IoU"),
        *(Column(f"IoU ≥ {t}", hint="share of pictures") for t in ACCURACY),
        *(Column(f"At {t}", hint=f"share returned at mean IoU {t}") for t in RETURNED),
        Column("AUC", hint="mean of the curve over the fraction returned"),
    )
    return Table(
        "methods",
        "Figures of each method",
        columns,
        tuple(_method_row(m, methods[m]) for m in wording.ordered(list(methods))),
        is_sortable=True,
    )


def _method_row(method: str, figures: Mapping) -> tuple[Cell, ...]:
    return (
        tables.words(wording.method(method).view, class_="strong" * (method == "full")),
        tables.figure(figures.get("mean_iou")),
        tables.figure(figures.get("macro_iou")),
        *(tables.share(accuracy(figures, t)) for t in ACCURACY),
        *(tables.share(figures.get(f"returned_at_{t}")) for t in RETURNED),
        tables.figure(figures.get("auc")),
    )


def of_differences(metrics: Mapping) -> Table:
    """The full method minus each other one, with what the interval says."""
    paired = metrics.get("paired", {})
    others = {pair.partition("-")[2]: found for pair, found in paired.items()}
    others.pop("ceiling", None)
    reach = {s: _reach(others.values(), s) for s in COMPARED}
    rows = tuple(
        (
            tables.words(wording.method(other).view),
            *(_difference(others[other].get(s), reach[s]) for s in COMPARED),
        )
        for other in wording.ordered(list(others))
    )
    columns = (
        Column("Full method minus", numeric=False),
        *(Column(_STATISTICS[s], numeric=False) for s in COMPARED),
    )
    return Table("differences", "Paired differences, 95% intervals", columns, rows)


def _reach(found: Iterable[Mapping], statistic: str) -> svg.Number:
    """The farthest end of all intervals of a statistic from zero, or 1."""
    intervals = [wording.ends(of.get(statistic)) for of in found]
    return max((abs(end) for three in intervals for end in three or ()), default=0) or 1


def _difference(interval: object, reach: svg.Number) -> Cell:
    ends = wording.ends(interval)
    if ends is None:
        return Cell(Name(wording.DASH, ""))
    low, mid, high = ends
    axis = svg.Axis(-reach, reach, 4, 116)
    mark = svg.element(
        "svg",
        svg.line(axis(0), 1, axis(0), 15, "zero"),
        svg.line(axis(low), 8, axis(high), 8, "whisker"),
        svg.dots([(axis(mid), 8)], "point"),
        class_="mini",
        viewBox="0 0 120 16",
        aria_hidden="true",
    )
    verdict = wording.verdict(interval)
    said = [wording.signed(end) for end in ends]
    unbroken = verdict.replace(" ", "\N{NO-BREAK SPACE}")
    text = f"{said[1]} ({said[0]} to {said[2]}): {unbroken}"
    class_ = {"better": "gain", "worse": "loss"}.get(verdict, "even")
    return Cell(Name(text, ""), mid, mark, class_)
