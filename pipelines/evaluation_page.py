"""The page of an evaluation."""

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from belvedere.core.assessment import verdicts
from belvedere.core.assessment.verdicts import Verdict
from belvedere.core.report import page
from belvedere.core.report.contents import (
    Contents,
    DeadLetters,
    Judged,
    Kind,
    NotCompared,
    Refused,
    Section,
    Shown,
)
from belvedere.pipelines import report
from belvedere.transforms import describe, sitting

_PICTURES, _EXPLAINED = 12, 2  # in each section
_NOT_DRAWN = ("gp_mean", "gp_sure")  # near AE-GP: in the tables, not among the curves


def render(
    metrics: Mapping[str, Any],
    judged: Sequence[Verdict],
    shown: Sequence[Shown],
    document: Mapping[str, Any],
) -> str:
    """The page of an evaluation."""
    kept = verdicts.judged_only(judged)
    refused = {v.label: v.refused for v in judged if v.refused}
    return page.render(
        Contents(
            "How good the boxes are",
            Kind.EVALUATION,
            metrics,
            judged=_judged(kept) if kept else None,
            gallery=_sections(shown, document["configuration"]["accept"]),
            refused=tuple(Refused(*one) for one in sorted(refused.items())),
            not_compared=_not_compared(judged),
            dead=_dead_letters(judged, document),
            near_duplicates=tuple(map(tuple, document["near_duplicates"])),
            configuration=document["configuration"],
            ids={
                "run": document["run_id"],
                "configuration": document["config_id"],
                "code": document["code_version"],
                "protocol": json.dumps(document["protocol"]),
            },
        )
    )


def _dead_letters(
    judged: Sequence[Verdict], document: Mapping[str, Any]
) -> tuple[DeadLetters, ...]:
    """Inputs that failed, and images that cost a failure."""
    failed = [
        (image_id, v.label, *_told(method, error))
        for v in judged
        for image_id, method, error in v.failed
    ]
    return report.dead_letters(
        [*document["first_faults"], *failed], document["faults"] + len(failed)
    )


def _not_compared(judged: Sequence[Verdict]) -> tuple[NotCompared, ...]:
    """Each method and class once, however many folds lack it for one reason."""
    found = [
        NotCompared(method, v.label, why)
        for v in judged
        for method, why in v.missing.items()
    ]
    return tuple(dict.fromkeys(found))


def _told(method: str, error: str) -> tuple[str, str]:
    """Code and message of the failure of a method on one image."""
    if method == sitting.FULL:
        return describe.METHOD_FAILED, error
    return "image_left_out", f"{method}: {error}"


def _judged(kept: Sequence[Verdict]) -> Judged:
    outcomes = verdicts.outcomes(kept)
    labels = next(iter(outcomes.values())).labels
    drawn = {n: o for n, o in outcomes.items() if n not in _NOT_DRAWN}
    return Judged(
        np.array([i for v in kept for i in v.image_ids]),
        labels,
        drawn,
        np.concatenate([v.object_share for v in kept]),
        np.concatenate([v.objects for v in kept]),
    )


def _sections(shown: Sequence[Shown], accept: float) -> tuple[Section, ...]:
    """Telling pictures by what they tell; reasons are given for the first ones."""

    def gain(one: Shown) -> float:
        return one.ious["full"] - one.ious.get("ae_gp", one.ious["full"])

    def doubt(one: Shown) -> float:
        return abs((one.expected_iou or 0.0) - accept)

    told: list[tuple[str, str, Callable[[Shown], float], Callable[[Shown], bool]]] = [
        (
            "Context helps",
            "Where the full method is furthest above AE-GP.",
            lambda one: -gain(one),
            lambda one: gain(one) > 0.05,
        ),
        (
            "Context hurts",
            "Where it is furthest below.",
            gain,
            lambda one: gain(one) < -0.05,
        ),
        ("Best", "", lambda one: -one.ious["full"], lambda one: True),
        ("Worst", "", lambda one: one.ious["full"], lambda one: True),
        (
            "Borderline",
            f"Expected IoU near {accept:g}, where boxes begin to be accepted.",
            doubt,
            lambda one: True,
        ),
    ]
    sections = []
    for name, note, order, fits in told:
        ranked = sorted(filter(fits, shown), key=lambda o: (order(o), o.image_id))
        some = _varied(ranked)[: max(len(shown) // 3, 1)]
        if some:
            sections.append(Section(name, _few_explained(some), note))
    return tuple(sections)


def _varied(ranked: Sequence[Shown]) -> list[Shown]:
    """The first ones, no class a second time before each has been."""
    seen: dict[str, int] = {}
    turns = []
    for place, one in enumerate(ranked):
        seen[one.label] = seen.get(one.label, 0) + 1
        turns.append((seen[one.label], place, one))
    turns.sort(key=lambda turn: turn[:2])
    return [one for _, _, one in turns[:_PICTURES]]


def _few_explained(some: Sequence[Shown]) -> tuple[Shown, ...]:
    return tuple(
        one if k < _EXPLAINED else dataclasses.replace(one, explanation=None)
        for k, one in enumerate(some)
    )
