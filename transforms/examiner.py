"""A class examined: learned from some of its images, judged on others.

Everything costly is kept: views, appearances and tables by `Workshop`, as in training;
the boxes of simpler methods in the work folder; the verdict in the output.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from belvedere.core import archive, localization
from belvedere.core.assessment import ablations, baselines, comparison
from belvedere.core.assessment.verdicts import Verdict
from belvedere.core.class_model import Appearance, ClassModel
from belvedere.core.types import Competition
from belvedere.transforms import (
    documents,
    model_store,
    simpler_methods,
    sitting,
    stores,
    tally,
    telling_pictures,
)
from belvedere.transforms.exams import Exam
from belvedere.transforms.lessons import Lesson, Unlearnable
from belvedere.transforms.records import WorkUnit
from belvedere.transforms.workshop import Workshop

FOLDER = "judged"


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
                [exam.identity(ids) for ids in (exam.learned_from, exam.judged_on)],
                [exam.with_baselines, list(exam.parts), self._models(exam)],
                [*self._artefacts(), self.job.config_id, self.job.code_version],
                self.job.configuration.accept,  # which pictures are shown
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
        eyes, seen = self.workshop.eyes[0], sitting.Sitting()
        with tally.timed("judge", len(ids)):
            for one in exam.views(self.workshop, exam.judged_on):
                with sitting.costs_one_image():
                    seen.add(one, model, methods, eyes)
        simpler, missing = self._simpler(exam)
        placed = sitting.common(seen.placed | simpler)
        shown = tuple(
            telling_pictures.shown(self.workshop, exam, model, placed, seen.located)
        )
        nothing = dataclasses.replace(nothing, missing=missing)
        return {"verdict": seen.verdict(nothing, placed), "shown": shown}

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
        tables = self.workshop.tables(lesson, learnt.appearance).tables
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
            for one in exam.views(self.workshop, frozenset(appearance.folds))
        }

    def _simpler(
        self, exam: Exam
    ) -> tuple[dict[str, list[comparison.Placed]], dict[str, str]]:
        if exam.models is not None:
            return {}, {}
        return simpler_methods.boxes(self.workshop, exam, self._lesson(exam))

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
