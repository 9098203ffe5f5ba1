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
from typing import Any

import numpy as np
import photo_tables

from belvedere.core import configuration
from belvedere.core.assessment import ablations, evaluation, intervals, verdicts
from belvedere.core.assessment.intervals import Interval
from belvedere.core.assessment.verdicts import Verdict
from belvedere.pipelines import evaluate
from belvedere.pipelines.progress import Watch
from belvedere.transforms.roles import Protocol

PRESETS = photo_tables.PRESETS
PARTS = (*ablations.FAMILIES, "context", "voting")  # of classic, left out in turn
CROSS = ablations.CROSS_PREDICTION
CROSS_CLASSES = frozenset({"cat", "gull", "pizza"})
RANKED_BY = {
    "expected IoU": None,
    "the score, centred and scaled": "own_scores",
    "the score, not centred": "uncentred",
}
PROTOTYPE = (  # what the prototype of the method was judged on
    "kangaroo",
    "pedestrian",
    "pug",
    "gull",
    "raccoon",
    "cat",
    "dog",
    "pizza",
    "convertible",
)
RESAMPLES = 2000  # of a bootstrap
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
        "prototype": {
            "classes": PROTOTYPE,
            **{p: _prototype(of) for p, of in found.items() if p in PRESETS},
        },
        CROSS: _cross_prediction(found.get(CROSS, [])),
        "cross_classes": sorted(CROSS_CLASSES),
    }
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    text = photo_tables.document(results)
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
        preset: verdicts.metrics(of, rng(0), resamples=RESAMPLES)
        for preset, of in kept.items()
    }
    for preset, of in kept.items():
        both = verdicts.outcomes(of)
        group[preset]["times_ae_gp"] = intervals.ratios(
            both["full"], both["ae_gp"], rng(0), RESAMPLES
        )
    if len(kept) == len(PRESETS):
        full = [verdicts.outcomes(kept[preset])["full"] for preset in PRESETS]
        group["classic-paper"] = intervals.paired(*full, rng(0), RESAMPLES)
    return group


def _ranking(judged: list[Verdict]) -> dict[str, Any]:
    """The full method's curve, by what the images are ranked by."""
    full = verdicts.outcomes(judged)["full"]
    orders = {
        said: verdicts.ranked_by(judged, field) if field else full
        for said, field in RANKED_BY.items()
    }
    return {
        said: {
            **evaluation.figures(one),
            "behind": intervals.paired(full, one, np.random.default_rng(0), RESAMPLES),
        }
        for said, one in orders.items()
    }


def _prototype(found: list[Verdict]) -> Interval | None:
    """Mean over the classes of the prototype of the full method's mean IoU.

    The interval is that of the mean of a stratified sample; None without all classes.
    """
    full = verdicts.outcomes(verdicts.judged_only(found))["full"]
    own = [full.ious[full.labels == label] for label in PROTOTYPE]
    if min(map(len, own)) < 2:
        return None
    mid = float(np.mean([ious.mean() for ious in own]))
    variance = sum(ious.var(ddof=1) / len(ious) for ious in own) / len(own) ** 2
    half = 1.96 * float(variance) ** 0.5
    return Interval(mid - half, mid, mid + half)


def _cross_prediction(found: list[Verdict]) -> dict[str, Any]:
    judged = verdicts.judged_only(found)
    rng = np.random.default_rng(0)
    return verdicts.metrics(judged, rng, resamples=RESAMPLES) if judged else {}


if __name__ == "__main__":
    main()
