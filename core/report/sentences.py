"""The summary at the head of the report, in plain words.

A difference is called one only where its 95% interval leaves out zero.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from belvedere.core.report import wording
from belvedere.core.report.contents import Annotated, Contents, Kind

_TOLD = {
    "mean_iou": ("mean IoU", 1.0, 3, ""),
    "returned_at_0.75": ("pictures returned at mean IoU 0.75", 100.0, 1, " points"),
    "auc": ("area under the curve", 1.0, 3, ""),
}


@dataclasses.dataclass(frozen=True)
class Headline:
    """A figure that stands large at the head of the page."""

    value: str
    name: str
    beside: str


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What an interval says: the verdict stands out, the words give the numbers."""

    statistic: str
    words: str
    verdict: str


@dataclasses.dataclass(frozen=True)
class Summary:
    """The head of the page."""

    headlines: tuple[Headline, ...]
    paragraphs: tuple[str, ...]
    comparisons: tuple[Comparison, ...]


def summary(contents: Contents) -> Summary:
    if contents.kind is Kind.EVALUATION:
        return _of_evaluation(contents)
    return _of_annotation(contents)


def _of_evaluation(contents: Contents) -> Summary:
    metrics = contents.metrics
    methods = metrics.get("methods", {})
    if not methods:
        words = ("No picture could be judged.", *_losses(contents))
        return Summary((), words, ())
    full, ae_gp = methods.get("full", {}), methods.get("ae_gp", {})
    paragraphs = (
        _ours(full, metrics.get("counts", {})),
        *_others(ae_gp, methods.get("ceiling", {})),
        *_losses(contents),
    )
    differences = metrics.get("paired", {}).get("full-ae_gp", {})
    return Summary(_headlines(full, ae_gp), paragraphs, comparisons(differences))


def _ours(full: Mapping, counts: Mapping) -> str:
    pictures = wording.count(counts.get("test_images"), "test picture")
    classes = wording.count(counts.get("classes"), "class")
    return (
        f"On {pictures} of {classes} that it had not seen, the full method places boxes"
        f" with mean IoU {wording.number(full.get('mean_iou'))};"
        f" {wording.percent(full.get('corloc'))} of them overlap the object by half or"
        " more. Taken in the order of its own score,"
        f" {wording.percent(full.get('returned_at_0.75'))} of the pictures can be"
        " returned at mean IoU 0.75."
    )


def _others(ae_gp: Mapping, ceiling: Mapping) -> list[str]:
    words = []
    if ae_gp:
        words.append(
            "AE-GP, which looks at each window alone, reaches mean IoU"
            f" {wording.number(ae_gp.get('mean_iou'))} and returns"
            f" {wording.percent(ae_gp.get('returned_at_0.75'))}."
        )
    if ceiling:
        words.append(
            "The best candidate window of each picture, which only the truth can tell,"
            f" has mean IoU {wording.number(ceiling.get('mean_iou'))}: no choice of"
            " window can do better."
        )
    return [" ".join(words)] if words else []


def _losses(contents: Contents) -> list[str]:
    dead = sum(letters.count for letters in contents.dead)
    words = []
    if contents.refused:
        words.append(f"{wording.count(len(contents.refused), 'class')} refused")
    if dead:
        words.append(f"{wording.count(dead, 'task')} failed")
    if not words:
        return []
    return [f"Not done: {' and '.join(words)}; the reasons are listed below."]


def _headlines(full: Mapping, ae_gp: Mapping) -> tuple[Headline, ...]:
    chosen = (
        ("mean_iou", "mean IoU", wording.number),
        ("returned_at_0.75", "returned at mean IoU 0.75", wording.percent),
        ("corloc", "boxes with IoU of 0.5 or more", wording.percent),
        ("auc", "area under the curve", wording.number),
    )
    return tuple(
        Headline(
            say(full.get(key)), name, f"AE-GP {say(ae_gp.get(key))}" if ae_gp else ""
        )
        for key, name, say in chosen
    )


def comparisons(differences: Mapping) -> tuple[Comparison, ...]:
    """Full method against AE-GP, statistic by statistic."""
    return tuple(
        _comparison(differences[key], *told)
        for key, told in _TOLD.items()
        if wording.verdict(differences.get(key)) != "not known"
    )


def _comparison(
    interval: Sequence[float], statistic: str, scale: float, digits: int, unit: str
) -> Comparison:
    low, mid, high = (wording.signed(end * scale, digits) for end in interval)
    words = f"{mid}{unit}, 95% interval {low} to {high}"
    return Comparison(statistic, words, wording.verdict(interval))


def _of_annotation(contents: Contents) -> Summary:
    annotated = contents.annotated
    if annotated is None or len(annotated.expected_iou) == 0:
        return Summary((), ("No picture got a box.", *_losses(contents)), ())
    n = len(annotated.expected_iou)
    classes = wording.count(len(set(annotated.labels.tolist())), "class")
    words = (
        f"{wording.count(n, 'box')} of {classes}, with a mean expected IoU of"
        f" {wording.number(float(annotated.expected_iou.mean()))}."
        f" {_accepted(annotated)}",
        "These are expectations from the pictures that had boxes; nothing is measured"
        " here.",
        *_losses(contents),
    )
    return Summary(_expected(annotated), words, ())


def _expected(annotated: Annotated) -> tuple[Headline, ...]:
    return (
        Headline(wording.count(len(annotated.expected_iou)), "boxes", ""),
        Headline(wording.percent(float(annotated.accepted.mean())), "accepted", ""),
        Headline(
            wording.number(float(annotated.expected_iou.mean())), "expected IoU", "all"
        ),
        Headline(
            wording.number(_mean_of_accepted(annotated)),
            "expected IoU",
            "of the accepted",
        ),
    )


def _accepted(annotated: Annotated) -> str:
    rule = wording.plain(annotated.rule)
    mean = _mean_of_accepted(annotated)
    if mean is None:
        return f"None is accepted ({rule})."
    return (
        f"{wording.percent(float(annotated.accepted.mean()))} are accepted ({rule});"
        f" their mean expected IoU is {wording.number(mean)}."
    )


def _mean_of_accepted(annotated: Annotated) -> float | None:
    mine = annotated.expected_iou[annotated.accepted]
    return float(mine.mean()) if len(mine) else None
