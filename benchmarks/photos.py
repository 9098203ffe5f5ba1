"""All methods on photographs, in five folds by image, for both presets.

  python benchmarks/photos.py --photos DIR --output out/bench-photos

DIR holds `annotations.csv` (image,class,xmin,ymin,xmax,ymax,...; half-open pixels,
paths relative to it). This is `belvedere evaluate --folds 5 --baselines`, once for each
preset; what both need is described and learned once. Stopped, it goes on where it was.
A third run tells on a few classes what predicting training images out of fold adds.
Visual words and negatives come from a fixed sample of the pictures of all folds. Of a
class at most --most pictures are learned from. Scores are pooled over classes as
expected IoU. Classes are shown in two groups, see photo_classes.toml.
"""

import argparse
import itertools
import json
import pathlib
import resource
import time
import tomllib
from collections.abc import Sequence
from typing import Any

import numpy as np

from belvedere.core import configuration
from belvedere.core.assessment import ablations, evaluation, intervals, verdicts
from belvedere.core.assessment.verdicts import Verdict
from belvedere.pipelines import evaluate
from belvedere.pipelines.progress import Watch
from belvedere.transforms.roles import Protocol

PRESETS = ("classic", "paper")
PARTS = (*ablations.FAMILIES, "context", "voting")  # of classic, left out in turn
CROSS = ablations.CROSS_PREDICTION
CROSS_CLASSES = frozenset({"cat", "gull", "pizza"})
RANKED_BY = {
    "expected IoU": None,
    "the score, centred and scaled": "own_scores",
    "the score, not centred": "uncentred",
}
CLASSES = pathlib.Path(__file__).with_name("photo_classes.toml")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--most", type=int, default=100, help="learned from, per class")
    parser.add_argument("--limit", type=int, help="pictures per class")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--set", action="append", default=[], help="a setting")
    options = parser.parse_args()
    start = time.perf_counter()
    found: dict[str, list[Verdict]] = {}
    for preset in PRESETS:
        parts = PARTS if preset == "classic" else ()
        found[preset] = _evaluated(preset, preset, parts, options)
        _write(found, time.perf_counter() - start, options)
    found[CROSS] = _evaluated(CROSS, "classic", (CROSS,), options, CROSS_CLASSES)
    _write(found, time.perf_counter() - start, options)


def _write(
    found: dict[str, list[Verdict]], seconds: float, options: argparse.Namespace
) -> None:
    """The figures of the presets that have been judged so far."""
    groups = tomllib.loads(CLASSES.read_text())
    results = {
        "seconds": seconds,
        "core_seconds": _core_seconds(),
        "folds": options.folds,
        "most": options.most,
        "groups": {
            name: _group(found, frozenset(labels)) for name, labels in groups.items()
        },
        "all": _group(found, frozenset(itertools.chain(*groups.values()))),
        "ranking": _ranking(verdicts.judged_only(found["classic"])),
        CROSS: _cross_prediction(found.get(CROSS, [])),
    }
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    text = _document(results)
    (options.output / "results.md").write_text(text)
    print(text)


def _core_seconds() -> float:
    """Of this process and of the workers that have ended."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, who))


def _evaluated(
    name: str,
    preset: str,
    parts: tuple[str, ...],
    options: argparse.Namespace,
    classes: frozenset[str] = frozenset(),
) -> list[Verdict]:
    annotations = str(options.photos / "annotations.csv")
    settings = [f"most_images={options.most}", "least_images=10", *options.set]
    return evaluate.main(
        evaluate.Options(
            (annotations,),
            annotations,
            str(options.output / name),
            str(options.output / "work"),
            Protocol(folds=options.folds, with_baselines=not classes, parts=parts),
            configuration.resolve(preset, None, settings),
            classes=classes,
            limit=options.limit,
            workers=options.workers,
            watch=Watch(),
        )
    ).verdicts


def _group(found: dict[str, list[Verdict]], labels: frozenset[str]) -> dict[str, Any]:
    """The figures of some classes, for each preset and between them."""
    kept = {
        preset: verdicts.judged_only([v for v in of if v.label in labels])
        for preset, of in found.items()
        if preset in PRESETS
    }
    kept = {preset: of for preset, of in kept.items() if of}
    if not kept:
        return {}
    rng = np.random.default_rng
    group: dict[str, Any] = {
        preset: verdicts.metrics(of, rng(0)) for preset, of in kept.items()
    }
    if len(kept) == len(PRESETS):
        full = [verdicts.outcomes(kept[preset])["full"] for preset in PRESETS]
        group["classic-paper"] = intervals.paired(*full, rng(0))
    return group


def _ranking(judged: list[Verdict]) -> dict[str, Any]:
    """The full method's curve, by what the images are ranked by."""
    return {
        said: evaluation.figures(
            verdicts.ranked_by(judged, field)
            if field
            else verdicts.outcomes(judged)["full"]
        )
        for said, field in RANKED_BY.items()
    }


def _cross_prediction(found: list[Verdict]) -> dict[str, Any]:
    judged = verdicts.judged_only(found)
    return verdicts.metrics(judged, np.random.default_rng(0)) if judged else {}


def _document(results: dict[str, Any]) -> str:
    """The tables of docs/results.md."""
    lines = [
        f"{results['folds']} folds, at most {results['most']} pictures of a class "
        f"learned from; {results['seconds'] / 60:.0f} minutes, "
        f"{results['core_seconds'] / 60:.0f} of a core (less, if resumed)."
    ]
    for name, group in [("all classes", results["all"]), *results["groups"].items()]:
        if not group:
            continue
        for preset in (preset for preset in PRESETS if preset in group):
            lines += ["", f"### {name.capitalize()}, preset `{preset}`", ""]
            lines += _methods(group[preset])
        if pair := group.get("classic-paper"):
            mean, auc = (_said(pair[k]) for k in ("mean_iou", "auc"))
            lines += ["", f"classic minus paper: mean IoU {mean}, AUC {auc}."]
    lines += ["", "### What images are ranked by, all classes, preset `classic`", ""]
    lines += _ranked(results["ranking"])
    if metrics := results[CROSS]:
        names = ", ".join(sorted(CROSS_CLASSES))
        lines += ["", f"### Without prediction out of fold, {names}", ""]
        lines += _methods(metrics, ("full", f"without_{CROSS}"))
    for preset in (preset for preset in PRESETS if preset in results["all"]):
        lines += ["", f"### Mean IoU by class, preset `{preset}`", ""]
        lines += _by_class(results["all"][preset])
    return "\n".join(lines) + "\n"


def _ranked(ranking: dict[str, Any]) -> list[str]:
    shown = ("auc", *(f"returned_at_{t:.2f}" for t in evaluation.RETURNED_AT))
    rows = ["| ranked by | AUC | at .70 | at .75 | at .80 |", "|---|---|---|---|---|"]
    for said, of in ranking.items():
        rows.append(f"| {said} | {' | '.join(f'{of[k]:.3f}' for k in shown)} |")
    return rows


def _methods(metrics: dict[str, Any], only: Sequence[str] = ()) -> list[str]:
    counts = metrics["counts"]
    rows = [
        "| method | mean IoU | CorLoc | at .75 | AUC | full minus it: mean IoU | AUC |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, of in metrics["methods"].items():
        if only and name not in only:
            continue
        pair = metrics["paired"].get(f"full-{name}")
        behind = [_said(pair[k]) for k in ("mean_iou", "auc")] if pair else ["", ""]
        figures = [of[k] for k in ("mean_iou", "corloc", "returned_at_0.75", "auc")]
        rows.append(
            f"| {name} | {' | '.join(f'{f:.3f}' for f in figures)} | "
            f"{' | '.join(behind)} |"
        )
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
        said = " | ".join(f"{iou:.3f}" for iou in each)
        rows.append(f"| {label} | {of['images']} | {said} |")
    return rows


if __name__ == "__main__":
    main()
