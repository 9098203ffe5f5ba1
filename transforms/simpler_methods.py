"""The boxes of the methods that no preset changes, kept in the work folder."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from belvedere.core import configuration
from belvedere.core.assessment import comparison
from belvedere.core.assessment.comparison import Pictures, Placed
from belvedere.core.sight import Samples
from belvedere.transforms import tally
from belvedere.transforms.exams import Exam
from belvedere.transforms.lessons import Lesson, Unlearnable, learning_of
from belvedere.transforms.sitting import Failure, costs_one_image
from belvedere.transforms.workshop import Workshop

CHEAP = ("constant_box", "centre_prior", "whole_image")
COSTLY = ("mkl_svm", "uva", "location")
_FORMAT = 2  # of the boxes that are kept
_Material: TypeAlias = tuple[Pictures, list[Samples], list[Samples]]


class Simpler(NamedTuple):
    """Boxes by method, why a method has none, and single images that failed."""

    placed: dict[str, list[Placed]]
    missing: dict[str, str]
    failed: list[Failure]


def boxes(workshop: Workshop, exam: Exam, lesson: Lesson) -> Simpler:
    """What the simpler methods of an exam have to say."""
    names = (*CHEAP, *(COSTLY if exam.with_baselines else ()))
    plain = configuration.changed(
        workshop.job.configuration, configuration.PRESETS["paper"]
    )
    identities = [exam.identity(ids) for ids in (exam.learned_from, exam.judged_on)]
    models, settings = lesson.unit.models, configuration.digest(plain)
    depends_on = (*identities, *models, settings, _FORMAT)
    found = Simpler({}, {}, [])
    material = functools.cache(lambda: _material(workshop, exam, lesson))
    for name in names:
        key = workshop.work.name("simpler", name, *depends_on)
        make = functools.partial(_one, workshop, exam, name, material)
        kept = workshop.work.kept(key, dict, make)
        if kept["missing"]:
            found.missing[name] = kept["missing"]
        else:
            found.placed[name] = [Placed(name, *row) for row in kept["placed"]]
            found.failed.extend(kept["failed"])
    return found


def _material(workshop: Workshop, exam: Exam, lesson: Lesson) -> _Material:
    """Pictures, their sampled windows and the negatives to learn from."""
    views = {one.image_id: one for one in exam.views(workshop, exam.learned_from)}
    samples = workshop.lesson_samples(lesson)
    usable = sorted(one.image_id for one in samples)
    pictures = Pictures(
        {i: views[i].view for i in usable}, {i: views[i].truth for i in usable}
    )
    return pictures, samples, workshop.others(exam.label)


def _one(
    workshop: Workshop, exam: Exam, name: str, material: Callable[[], _Material]
) -> dict[str, Any]:
    """The boxes of one method, or why there are none."""
    eyes, method = workshop.eyes[0], workshop.job.configuration.method
    try:
        with tally.timed(f"learn {name}"), learning_of(name):
            methods = comparison.simpler((name,), *material(), eyes, method)
    except Unlearnable as error:
        return {"placed": (), "missing": str(error), "failed": ()}
    rows: list[tuple] = []
    failed: list[Failure] = []
    for one in exam.views(workshop, exam.judged_on):
        with costs_one_image(failed, one.image_id, name):
            found = comparison.place(methods, one.view, one.truth, one.image_id, eyes)
            mine = next(p for p in found if p.method == name)
            rows.append((mine.image_id, mine.box, mine.score, mine.iou))
    return {"placed": tuple(rows), "missing": "", "failed": tuple(failed)}
