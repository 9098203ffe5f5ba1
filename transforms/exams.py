"""A class examined: learned from some of its images, judged on others.

Everything costly is kept: views, appearances and tables by `Workshop`, as in training;
the boxes of the simpler methods, which do not depend on the preset, in the work folder;
the verdict in the output.
"""

import contextlib
import dataclasses
import functools
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from belvedere.core import archive, configuration, explanation, localization
from belvedere.core.assessment import ablations, baselines, comparison
from belvedere.core.assessment.comparison import Pictures, Placed
from belvedere.core.assessment.verdicts import Verdict
from belvedere.core.class_model import Appearance, ClassModel
from belvedere.core.formats import thumbnails
from belvedere.core.report.contents import Shown
from belvedere.core.sight import Eyes, Samples
from belvedere.core.types import Competition
from belvedere.core.windows import boxes
from belvedere.transforms import describe, documents, model_store, stores, tally
from belvedere.transforms.describe import Described
from belvedere.transforms.lessons import Lesson, Unlearnable, learning_of
from belvedere.transforms.records import WorkUnit
from belvedere.transforms.training_slices import Chosen, TrainingSlice
from belvedere.transforms.workshop import Workshop

FOLDER = "judged"
_log = logging.getLogger(__name__)
CHEAP = ("constant_box", "centre_prior", "whole_image")
COSTLY = ("mkl_svm", "uva", "location")
_SHOWN_OF_EACH = 2


@dataclasses.dataclass(frozen=True)
class Exam:
    """What is judged, and on what.

    Attributes:
      label: the class.
      fold: number of the fold.
      slices: all images of the class that take part.
      learned_from: ids of the images to learn from; none if there is a model.
      judged_on: ids of the test images.
      with_baselines: also the methods that take long to learn.
      parts: of the method to do without, for a table of what each adds.
      models: store of models that are judged in place of learning.
    """

    label: str
    fold: int
    slices: tuple[TrainingSlice, ...]
    learned_from: frozenset[str]
    judged_on: frozenset[str]
    with_baselines: bool = False
    parts: tuple[str, ...] = ()
    models: str | None = None

    def chosen(self, ids: frozenset[str]) -> tuple[Chosen, ...]:
        found = [c for part in self.slices for c in part.chosen if c.image_id in ids]
        return tuple(sorted(found, key=lambda c: (c.image_id, c.uri)))


class Examiner:
    """Examines classes with what a workshop has."""

    def __init__(self, workshop: Workshop, output: str) -> None:
        self.workshop = workshop
        self.job = workshop.job
        self.output = stores.store_for(output)

    def judge(self, exam: Exam) -> str:
        """The name of the file that holds verdict and pictures; made if need be."""
        name = f"{FOLDER}/{self._digest(exam)[:32]}.npz"
        if not self.output.exists(name):
            self.output.create(name, archive.dump(self._judged(exam)))
        return name

    def _digest(self, exam: Exam) -> str:
        return documents.digest(
            [
                exam.label,
                exam.fold,
                [_identity(exam, ids) for ids in (exam.learned_from, exam.judged_on)],
                [exam.with_baselines, list(exam.parts), self._models(exam)],
                [*self._artefacts(), self.job.config_id, self.job.code_version],
            ]
        )

    def _models(self, exam: Exam) -> str:
        """Stands for the models that are judged, if they are given."""
        if exam.models is None:
            return ""
        return model_store.index(exam.models).of(exam.label) or "none"

    def _artefacts(self) -> tuple[str, str]:
        """Ids of eyes and negatives; of the latter there may be none."""
        name = model_store.negatives_name(self.job.configuration.sight)
        store = self.workshop.store
        if not store.exists(name):
            return self.workshop.eyes[1], "none"
        return self.workshop.eyes[1], model_store.artefact_id(store.read(name))

    def _judged(self, exam: Exam) -> dict[str, Any]:
        ids = tuple(sorted(exam.judged_on))
        nothing = Verdict(exam.label, exam.fold, len(exam.learned_from), ids)
        try:
            model, methods = self._learned(exam)
        except Unlearnable as error:
            refused = dataclasses.replace(nothing, refused=str(error))
            return {"verdict": refused, "shown": ()}
        eyes, seen = self.workshop.eyes[0], _Seen()
        with tally.timed("judge", len(ids)):
            for one in self._views(exam, exam.judged_on):
                with _costs_one_image():
                    seen.add(one, model, methods, eyes)
        simpler, missing = self._simpler(exam)
        placed = _common(seen.placed | simpler)
        shown = tuple(self._shown(exam, model, placed, seen))
        nothing = dataclasses.replace(nothing, missing=missing)
        return {"verdict": seen.verdict(nothing, placed), "shown": shown}

    def _views(self, exam: Exam, ids: frozenset[str]) -> Iterator[Described]:
        for training in exam.slices:
            for one in self.workshop.views(training)[0]:
                if one.image_id in ids:
                    yield one

    def _learned(
        self, exam: Exam
    ) -> tuple[ClassModel, Mapping[str, baselines.Baseline]]:
        """The full method, and those that are learned from its tables."""
        if exam.models is not None:
            identity = model_store.index(exam.models).of(exam.label)
            if identity is None:
                raise Unlearnable("there is no model of this class")
            store = stores.store_for(exam.models)
            return model_store.read_model(store, exam.label, identity)[0], {}
        lesson, method = self._lesson(exam), self.job.configuration.method
        with tally.timed("learn"):
            learnt = self.workshop.learn(lesson)
        tables, _ = self.workshop.tables(lesson, learnt.appearance)
        methods = comparison.appearance_alone(tables, learnt.appearance, method)
        for part in exam.parts:
            with tally.timed(f"learn without {part}"):
                methods[f"without_{part}"] = ablations.without(
                    part,
                    tables,
                    learnt.appearance,
                    method,
                    lambda: self._seen_tables(exam, learnt.appearance),
                )
        return learnt.model, methods

    def _seen_tables(
        self, exam: Exam, appearance: Appearance
    ) -> dict[str, Competition]:
        """The tables of the training images by what has seen them."""
        seen, method = ablations.blind_to_nothing(appearance), self.job.configuration
        return {
            one.image_id: localization.compete(
                one.view,
                one.truth,
                one.image_id,
                seen,
                self.workshop.eyes[0],
                method.method,
            )
            for one in self._views(exam, frozenset(appearance.folds))
        }

    def _lesson(self, exam: Exam) -> Lesson:
        chosen, least = exam.chosen(exam.learned_from), self.job.configuration
        if len(chosen) < least.least_images:
            raise Unlearnable(
                f"{len(chosen)} images with boxes, at least {least.least_images} are "
                "needed"
            )
        unit = WorkUnit(
            "train",
            tuple(one.identity for one in chosen),
            self._artefacts(),
            self.job.config_id,
        )
        return Lesson(exam.label, unit, exam.slices, exam.learned_from)

    def _simpler(self, exam: Exam) -> tuple[dict[str, list[Placed]], dict[str, str]]:
        """The boxes of the methods that no preset changes; why one has none."""
        if exam.models is not None:
            return {}, {}
        names = (*CHEAP, *(COSTLY if exam.with_baselines else ()))
        chosen = self.job.configuration
        plain = configuration.changed(chosen, configuration.PRESETS["paper"])
        identities = [
            _identity(exam, ids) for ids in (exam.learned_from, exam.judged_on)
        ]
        depends_on = (*identities, *self._artefacts(), configuration.digest(plain))
        found, missing = {}, {}
        lesson = functools.cache(lambda: self._simple_lesson(exam))
        for name in names:
            key = self.workshop.work.name("simpler", name, *depends_on)
            make = functools.partial(self._one, exam, name, lesson)
            kept = self.workshop.work.kept(key, dict, make)
            if kept["missing"]:
                missing[name] = kept["missing"]
            else:
                found[name] = [Placed(name, *row) for row in kept["placed"]]
        return found, missing

    def _simple_lesson(
        self, exam: Exam
    ) -> tuple[Pictures, list[Samples], list[Samples]]:
        """Pictures, their sampled windows and the negatives to learn from."""
        views = {one.image_id: one for one in self._views(exam, exam.learned_from)}
        samples = self.workshop.lesson_samples(self._lesson(exam))
        usable = sorted(one.image_id for one in samples)
        negatives = self.workshop.others(exam.label)
        pictures = Pictures(
            {i: views[i].view for i in usable}, {i: views[i].truth for i in usable}
        )
        return pictures, samples, negatives

    def _one(
        self,
        exam: Exam,
        name: str,
        lesson: Callable[[], tuple[Pictures, list[Samples], list[Samples]]],
    ) -> dict[str, Any]:
        """The boxes of one method, or why there are none."""
        eyes, method = self.workshop.eyes[0], self.job.configuration.method
        try:
            with tally.timed(f"learn {name}"), learning_of(name):
                methods = comparison.simpler((name,), *lesson(), eyes, method)
        except Unlearnable as error:
            return {"placed": (), "missing": str(error)}
        rows: list[tuple] = []
        for one in self._views(exam, exam.judged_on):
            with _costs_one_image():
                found = comparison.place(
                    methods, one.view, one.truth, one.image_id, eyes
                )
                mine = next(p for p in found if p.method == name)
                rows.append((mine.image_id, mine.box, mine.score, mine.iou))
        return {"placed": tuple(rows), "missing": ""}

    def _shown(
        self,
        exam: Exam,
        model: ClassModel,
        placed: Mapping[str, Sequence[Placed]],
        seen: "_Seen",
    ) -> Iterator[Shown]:
        """Telling pictures for a report: good, bad, doubtful, better and worse."""
        wanted = _telling(placed)
        by_name = {
            name: {one.image_id: one for one in found} for name, found in placed.items()
        }
        for training in exam.slices:
            mine = wanted & {c.image_id for c in training.chosen}
            if not mine:
                continue
            views = {one.image_id: one for one in self.workshop.views(training)[0]}
            for found in describe.pictures(training, self.workshop.decoder, mine):
                if not isinstance(found, describe.Picture):
                    continue
                image_id = found.chosen.image_id
                view = views[image_id].view
                of = {n: every[image_id] for n, every in by_name.items()}
                why = explanation.explain(view, model, self.workshop.eyes[0])[1]
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
                    seen.located[image_id].iou_lower,
                    why,
                )


@dataclasses.dataclass(eq=False)
class _Seen:
    """What comes of the test images, one after the other."""

    placed: dict[str, list[Placed]] = dataclasses.field(default_factory=dict)
    located: dict[str, localization.Localization] = dataclasses.field(
        default_factory=dict
    )
    about: dict[str, tuple[int, float, int]] = dataclasses.field(default_factory=dict)

    def add(
        self,
        one: Described,
        model: ClassModel,
        methods: Mapping[str, baselines.Baseline],
        eyes: Eyes,
    ) -> None:
        view, truth, image_id = one.view, one.truth, one.image_id
        context = localization.context_of(view, model.maps, model.gp, eyes)
        found = localization.localize(view, model, eyes, context)
        iou = float(boxes.ious(found.box[None], truth).max())
        full = Placed("full", image_id, found.box, found.expected_iou, iou)
        known = model.gp, context
        others = comparison.place(methods, view, truth, image_id, eyes, known)
        for placed in (full, *others):
            self.placed.setdefault(placed.method, []).append(placed)
        self.located[image_id] = found
        sides = np.array([view.windows.width, view.windows.height]) * view.scale[:2]
        areas = (truth[:, 2:] - truth[:, :2]).prod(axis=1) / sides.prod()
        self.about[image_id] = (len(view.windows), float(areas.max()), len(truth))

    def verdict(
        self, nothing: Verdict, placed: Mapping[str, Sequence[Placed]]
    ) -> Verdict:
        ids = tuple(sorted(p.image_id for p in placed.get("full", ())))
        of = {n: {p.image_id: p for p in found} for n, found in placed.items()}
        located = [self.located[i] for i in ids]
        about = [self.about[i] for i in ids]
        return dataclasses.replace(
            nothing,
            image_ids=ids,
            boxes={n: np.array([of[n][i].box for i in ids]).reshape(-1, 4) for n in of},
            scores={n: np.array([of[n][i].score for i in ids]) for n in of},
            ious={n: np.array([of[n][i].iou for i in ids]) for n in of},
            own_scores=np.array([one.score for one in located]),
            uncentred=np.array([one.found.score for one in located]),
            iou_lower=np.array([one.iou_lower for one in located]),
            windows=np.array([a[0] for a in about], np.int64),
            evaluated=np.array(
                [one.found.certificate.evaluated for one in located], np.int64
            ),
            object_share=np.array([a[1] for a in about]),
            objects=np.array([a[2] for a in about], np.int64),
        )


@contextlib.contextmanager
def _costs_one_image() -> Iterator[None]:
    """An image that the method cannot deal with is not judged, by any method."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        _log.warning("an image is not judged: %s: %s", type(error).__name__, error)


def _common(placed: Mapping[str, Sequence[Placed]]) -> dict[str, list[Placed]]:
    """What is placed in the images that every method has a box for."""
    every = [{p.image_id for p in found} for found in placed.values()]
    common = set.intersection(*every) if every else set()
    return {
        name: [p for p in found if p.image_id in common]
        for name, found in placed.items()
    }


def _identity(exam: Exam, ids: frozenset[str]) -> str:
    """Stands for images and their boxes."""
    return documents.digest(
        [list(dataclasses.astuple(c.identity)) for c in exam.chosen(ids)]
    )


def _telling(placed: Mapping[str, Sequence[Placed]]) -> frozenset[str]:
    """Ids of the pictures of a class that are worth looking at."""
    full = sorted(placed.get("full", ()), key=lambda p: (p.iou, p.image_id))
    if not full:
        return frozenset()
    few = _SHOWN_OF_EACH
    doubtful = sorted(full, key=lambda p: (abs(p.score - 0.5), p.image_id))
    chosen = [*full[:few], *full[-few:], *doubtful[:few]]
    if "ae_gp" in placed:
        before = {p.image_id: p.iou for p in placed["ae_gp"]}
        moved = sorted(full, key=lambda p: (p.iou - before[p.image_id], p.image_id))
        chosen += [*moved[:few], *moved[-few:]]
    return frozenset(p.image_id for p in chosen)
