"""All methods on photographs, in five folds by image, for both presets.

  python benchmarks/photos.py --photos DIR --output out/bench-photos

DIR holds `annotations.csv` (image,class,xmin,ymin,xmax,ymax,...; half-open pixels,
paths relative to it). This is `belvedere evaluate --folds 5 --baselines`, once for each
preset; what both need is described and learned once. Stopped, it goes on where it was.
Visual words and negatives come from a fixed sample of the pictures of all folds. Of a
class at most --most pictures are learned from. Scores are pooled over classes as
expected IoU. Classes are shown in two groups, see photo_classes.toml.
"""

import argparse
import itertools
import json
import pathlib
import time
import tomllib
from collections.abc import Sequence
from typing import Any

import numpy as np

from belvedere.core import configuration
from belvedere.core.assessment import evaluation, intervals, verdicts
from belvedere.core.assessment.verdicts import Verdict
from belvedere.pipelines import evaluate
from belvedere.pipelines.progress import Watch
from belvedere.transforms.evaluate import Protocol

PRESETS = ("classic", "paper")
FAMILIES = ("global", "local", "consistency")
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
        found[preset] = _evaluated(preset, options)
        _write(found, time.perf_counter() - start, options)


def _write(
    found: dict[str, list[Verdict]], seconds: float, options: argparse.Namespace
) -> None:
    """The figures of the presets that have been judged so far."""
    groups = tomllib.loads(CLASSES.read_text())
    results = {
        "seconds": seconds,
        "folds": options.folds,
        "most": options.most,
        "groups": {
            name: _group(found, frozenset(labels)) for name, labels in groups.items()
        },
        "all": _group(found, frozenset(itertools.chain(*groups.values()))),
    }
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    text = _document(results)
    (options.output / "results.md").write_text(text)
    print(text)


def _evaluated(preset: str, options: argparse.Namespace) -> list[Verdict]:
    annotations = str(options.photos / "annotations.csv")
    settings = [f"most_images={options.most}", "least_images=10", *options.set]
    families = FAMILIES if preset == "classic" else ()
    return evaluate.main(
        evaluate.Options(
            (annotations,),
            annotations,
            str(options.output / preset),
            str(options.output / "work"),
            Protocol(folds=options.folds, with_baselines=True, families=families),
            configuration.resolve(preset, None, settings),
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
    }
    kept = {preset: of for preset, of in kept.items() if of}
    if not kept:
        return {}
    rng = np.random.default_rng
    group: dict[str, Any] = {
        preset: verdicts.metrics(of, rng(0)) for preset, of in kept.items()
    }
    raw = verdicts.pooled_raw(kept["classic"])
    group["uncalibrated"] = evaluation.figures(raw)
    if len(kept) == len(PRESETS):
        full = [verdicts.outcomes(kept[preset])["full"] for preset in PRESETS]
        group["classic-paper"] = intervals.paired(*full, rng(0))
    return group


def _document(results: dict[str, Any]) -> str:
    """The tables of docs/results.md."""
    lines = [
        f"{results['folds']} folds, at most {results['most']} pictures of a class "
        f"learned from; {results['seconds'] / 60:.0f} minutes (less, if resumed)."
    ]
    for name, group in [("all classes", results["all"]), *results["groups"].items()]:
        if not group:
            continue
        for preset in (preset for preset in PRESETS if preset in group):
            lines += ["", f"### {name.capitalize()}, preset `{preset}`", ""]
            lines += _methods(group[preset])
        uncalibrated = group["uncalibrated"]["auc"]
        lines += [
            "",
            f"AUC of classic with scores pooled as they are: {uncalibrated:.3f}.",
        ]
        if pair := group.get("classic-paper"):
            mean, auc = (_said(pair[k]) for k in ("mean_iou", "auc"))
            lines += [f"classic minus paper: mean IoU {mean}, AUC {auc}."]
    lines += ["", "### Mean IoU by class, preset `classic`", ""]
    lines += _by_class(results["all"]["classic"])
    return "\n".join(lines) + "\n"


def _methods(metrics: dict[str, Any]) -> list[str]:
    counts = metrics["counts"]
    rows = [
        "| method | mean IoU | CorLoc | at .75 | AUC | full minus it: mean IoU | AUC |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, of in metrics["methods"].items():
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
        f"expected IoU against found, by tenth: {_calibration(metrics)}.",
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
