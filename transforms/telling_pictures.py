"""The pictures of an exam that are worth looking at, with what each method says."""

from collections.abc import Iterator, Mapping, Sequence

from belvedere.core import explanation, localization
from belvedere.core.assessment.comparison import Placed
from belvedere.core.class_model import ClassModel
from belvedere.core.formats import thumbnails
from belvedere.core.report.contents import Shown
from belvedere.transforms import describe
from belvedere.transforms.exams import Exam
from belvedere.transforms.workshop import Workshop

_OF_EACH = 2


def shown(
    workshop: Workshop,
    exam: Exam,
    model: ClassModel,
    placed: Mapping[str, Sequence[Placed]],
    located: Mapping[str, localization.Localization],
) -> Iterator[Shown]:
    """Telling pictures for a report: good, bad, doubtful, better and worse."""
    wanted = _telling(placed, workshop.job.configuration.accept)
    by_name = {
        name: {one.image_id: one for one in found} for name, found in placed.items()
    }
    for training in exam.slices:
        mine = wanted & {c.image_id for c in training.chosen}
        if not mine:
            continue
        views = {one.image_id: one for one in workshop.views(training)[0]}
        for found in describe.pictures(training, workshop.decoder, mine):
            if not isinstance(found, describe.Picture):
                continue
            image_id = found.chosen.image_id
            view = views[image_id].view
            of = {n: every[image_id] for n, every in by_name.items()}
            why = explanation.explain(view, model, workshop.eyes[0])[1]
            yield Shown(
                image_id,
                exam.label,
                thumbnails.jpeg(found.image),
                found.image.width,
                found.image.height,
                found.truth,
                {n: one.box for n, one in of.items()},
                {n: one.iou for n, one in of.items()},
                of["full"].score,
                located[image_id].iou_lower,
                why,
            )


def _telling(placed: Mapping[str, Sequence[Placed]], accept: float) -> frozenset[str]:
    """Ids of the pictures of a class that are worth looking at."""
    full = sorted(placed.get("full", ()), key=lambda p: (p.iou, p.image_id))
    if not full:
        return frozenset()
    few = _OF_EACH
    doubtful = sorted(full, key=lambda p: (abs(p.score - accept), p.image_id))
    chosen = [*full[:few], *full[-few:], *doubtful[:few]]
    if "ae_gp" in placed:
        before = {p.image_id: p.iou for p in placed["ae_gp"]}
        moved = sorted(full, key=lambda p: (p.iou - before[p.image_id], p.image_id))
        chosen += [*moved[:few], *moved[-few:]]
    return frozenset(p.image_id for p in chosen)
