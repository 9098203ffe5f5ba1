"""The tables of docs/results.md, from the figures of photos.py."""

from collections.abc import Sequence
from typing import Any

from belvedere.core.assessment import evaluation

PRESETS = ("classic", "paper")
_CROSS = "cross_prediction"
_RETURNED = "returned_at_0.75"
_PAIRED = ("mean_iou", _RETURNED, "auc")
_BEHIND = "mean IoU | at .75 | AUC"  # the columns of _PAIRED
_GOALS = (  # what is compared, with what
    ("mean_iou", "ae_gp"),
    ("auc", "ae_gp"),
    ("mean_iou", "uva"),
    ("mean_iou", "mkl_svm"),
    ("mean_iou", "location"),
    ("mean_iou", "constant_box"),
)
_NAMES = {"mean_iou": "mean IoU", "auc": "AUC", _RETURNED: "at .75"}


def document(results: dict[str, Any]) -> str:
    """What stands between the marks of docs/results.md."""
    lines = [
        f"{results['folds']} folds, at most {results['most']} pictures of a class "
        f"learned from; {results['seconds'] / 60:.0f} minutes, "
        f"{results['core_seconds'] / 60:.0f} of a core (less, if resumed).",
        *_section("Goals", [*_goals(results), "", *_prototype(results["prototype"])]),
    ]
    for name, group in [("all classes", results["all"]), *results["groups"].items()]:
        for preset in (preset for preset in PRESETS if preset in group):
            heading = f"{name.capitalize()}, preset `{preset}`"
            lines += _section(heading, _methods(group[preset]))
        if pair := group.get("classic-paper"):
            said = ", ".join(f"{_NAMES[k]} {_said(pair[k])}" for k in _PAIRED)
            lines += ["", f"classic minus paper: {said}."]
    heading = "What images are ranked by, all classes, preset `classic`"
    lines += _section(heading, _ranked(results["ranking"]))
    if metrics := results[_CROSS]:
        names = ", ".join(results["cross_classes"])
        heading = f"Without prediction out of fold, {names}"
        lines += _section(heading, _methods(metrics, ("full", f"without_{_CROSS}")))
    for preset in (preset for preset in PRESETS if preset in results["all"]):
        heading = f"Mean IoU by class, preset `{preset}`"
        lines += _section(heading, _by_class(results["all"][preset]))
    return "\n".join(lines) + "\n"


def _section(heading: str, lines: Sequence[str]) -> list[str]:
    return ["", f"### {heading}", "", *lines]


def _goals(results: dict[str, Any]) -> list[str]:
    """A row for each goal, a column for each group and preset."""
    groups = {"all": results["all"], **results["groups"]}
    columns = {
        f"{name}, `{preset}`": group[preset]
        for name, group in groups.items()
        for preset in PRESETS
        if preset in group
    }
    rows = [f"| | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    for statistic, other in _GOALS:
        cells = [_difference(of, statistic, other) for of in columns.values()]
        rows.append(_row(f"full minus {other}, {_NAMES[statistic]}", cells))
    times = [_times(of["times_ae_gp"][_RETURNED]) for of in columns.values()]
    return [*rows, _row("returned at .75, full by ae_gp", times)]


def _row(name: str, cells: Sequence[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"


def _difference(metrics: dict[str, Any], statistic: str, other: str) -> str:
    pair = metrics["paired"].get(f"full-{other}")
    return _said(pair[statistic]) if pair else ""


def _prototype(found: dict[str, Any]) -> list[str]:
    means = [
        f"`{preset}` {_plain(found[preset])}" for preset in PRESETS if found.get(preset)
    ]
    if not means:
        return ["Not all classes of the prototype were judged."]
    return [
        f"Mean over the {len(found['classes'])} classes of the prototype "
        f"({', '.join(found['classes'])}) of the mean IoU of `full`: "
        f"{', '.join(means)}. The prototype had .69 with supervised dimensions, as in "
        "`classic`, and .66 without, as in `paper`, by another protocol: 80 to 120 "
        "pictures of a class learned from, about 60 others judged, one split."
    ]


def _ranked(ranking: dict[str, Any]) -> list[str]:
    shown = ("auc", *(f"returned_at_{t:.2f}" for t in evaluation.RETURNED_AT))
    rows = [
        "| ranked by | AUC | at .70 | at .75 | at .80 | expected IoU minus it: AUC | "
        "at .75 |",
        "|---|---|---|---|---|---|---|",
    ]
    for number, (said, of) in enumerate(ranking.items()):
        behind = [_said(of["behind"][k]) if number else "" for k in ("auc", _RETURNED)]
        rows.append(_row(said, [*(f"{of[k]:.3f}" for k in shown), *behind]))
    return rows


def _methods(metrics: dict[str, Any], only: Sequence[str] = ()) -> list[str]:
    counts = metrics["counts"]
    rows = [
        f"| method | mean IoU | CorLoc | at .75 | AUC | full minus it: {_BEHIND} |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, of in metrics["methods"].items():
        if only and name not in only:
            continue
        pair = metrics["paired"].get(f"full-{name}")
        behind = [_said(pair[k]) if pair else "" for k in _PAIRED]
        figures = [of[k] for k in ("mean_iou", "corloc", _RETURNED, "auc")]
        rows.append(_row(name, [*(f"{f:.3f}" for f in figures), *behind]))
    return [
        *rows,
        "",
        f"{counts['test_images']} pictures of {counts['classes']} classes judged; "
        f"{metrics['iou_lower_kept']:.1%} of boxes keep `iou_lower` (90% meant); mean "
        f"expected IoU against found, by decile: {_calibration(metrics)}.",
    ]


def _said(interval: Sequence[float]) -> str:
    low, mid, high = interval
    return f"{mid:+.3f} [{low:+.3f}, {high:+.3f}]"


def _plain(interval: Sequence[float]) -> str:
    low, mid, high = interval
    return f"{mid:.3f} [{low:.3f}, {high:.3f}]"


def _times(interval: Sequence[float]) -> str:
    low, mid, high = interval
    return f"{mid:.2f} times [{low:.2f}, {high:.2f}]"


def _calibration(metrics: dict[str, Any]) -> str:
    return ", ".join(
        f"{one['predicted']:.2f}/{one['observed']:.2f} ({one['images']})"
        for one in metrics["calibration"]
    )


def _by_class(metrics: dict[str, Any]) -> list[str]:
    shown = ("full", "ae_gp", "mkl_svm", "uva", "location", "constant_box", "ceiling")
    methods = [name for name in shown if name in metrics["methods"]]
    rows = [
        f"| class | images | {' | '.join(methods)} |",
        f"|---|---|{'---|' * len(methods)}",
    ]
    for label, of in metrics["methods"]["full"]["per_class"].items():
        each = [metrics["methods"][m]["per_class"][label]["mean_iou"] for m in methods]
        rows.append(_row(label, [str(of["images"]), *(f"{iou:.3f}" for iou in each)]))
    return rows
