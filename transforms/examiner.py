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
    lessons,
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
from belvedere.transforms.simpler_methods import Simpler
from belvedere.transforms.workshop import Workshop, ceiling

FOLDER = "judged"
FOUND = "exams_found"  # the stage of `tally` that counts verdicts of earlier runs
_FORMAT = 2  # of verdicts


class Examiner:
    """Examines classes with what a workshop has."""

    def __init__(self, workshop: Workshop, output: str) -> None:
        self.workshop = workshop
        self.job = workshop.job
        self.output = stores.store_for(output)

    def judge(self, exam: Exam, fault: str = "") -> str:
        """The name of the file that holds verdict and pictures; made if need be.

        Args:
          exam: what is judged.
          fault: why there are no eyes or negatives, and so no class can be learned.
        """
        name = f"{FOLDER}/{self._digest(exam, fault)[:32]}.npz"
        if self.output.exists(name):
            tally.add(FOUND)
        else:
            self.output.create(name, archive.dump(self._judged(exam, fault)))
        return name

    def _digest(self, exam: Exam, fault: str) -> str:
        artefacts = [fault] if fault else self._artefacts()
        return documents.digest(
            [
                exam.label,
                exam.fold,
                [exam.identity(ids) for ids in (exam.learned_from, exam.judged_on)],
                [exam.with_baselines, list(exam.parts), self._models(exam)],
                [*artefacts, self.job.config_id, self.job.code_version, _FORMAT],
                self.job.configuration.accept,  # which pictures are shown
            ]
        )

    def _models(self, exam: Exam) -> str:
        """Stands for the models that are judged, if they are given."""
        if exam.models is None:
            return ""
        index = model_store.index(exam.models, exam.models_number)
        return index.of(exam.label) or "none"

    def _artefacts(self) -> tuple[str, str]:
        """Ids of eyes and negatives; of the latter there may be none."""
        name = model_store.negatives_name(self.job.configuration.sight)
        store = self.workshop.store
        if not store.exists(name):
            return self.workshop.eyes[1], "none"
        return self.workshop.eyes[1], model_store.artefact_id(store.read(name))

    def _judged(self, exam: Exam, fault: str) -> dict[str, Any]:
        ids = tuple(sorted(exam.judged_on))
        nothing = Verdict(exam.label, exam.fold, len(exam.learned_from), ids)
        if fault := exam.fault() or fault:
            return _refused(nothing, fault)
        try:
            model, methods = self._learned(exam)
        except Unlearnable as error:
            return _refused(nothing, str(error))
        eyes, seen = self.workshop.eyes[0], sitting.Sitting()
        with tally.timed("judge", len(ids)):
            for one in exam.views(self.workshop, exam.judged_on):
                seen.add(one, model, methods, eyes)
        simpler = self._simpler(exam)
        placed = sitting.common(seen.placed | simpler.placed)
        failed = tuple(seen.failed + simpler.failed)
        nothing = dataclasses.replace(nothing, missing=simpler.missing, failed=failed)
        if not placed.get(sitting.FULL):
            said = f"none of its {len(ids)} test images can be judged"
            return _refused(dataclasses.replace(nothing, image_ids=()), said)
        shown = tuple(
            telling_pictures.shown(self.workshop, exam, model, placed, seen.located)
        )
        return {"verdict": seen.verdict(nothing, placed), "shown": shown}

    def _learned(
        self, exam: Exam
    ) -> tuple[ClassModel, Mapping[str, baselines.Baseline]]:
        """The full method, and those that are learned from its tables."""
        if exam.models is not None:
            index = model_store.index(exam.models, exam.models_number)
            identity = index.of(exam.label)
            if identity is None:
                raise Unlearnable("there is no model of this class")
            store = stores.store_for(exam.models)
            return model_store.read_model(store, exam.label, identity)[0], {}
        seen = exam.views(self.workshop, exam.learned_from)
        ceilings = [ceiling(one) for one in seen]
        if reason := lessons.refusal(ceilings, self.job.configuration):
            raise Unlearnable(reason)
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

    def _simpler(self, exam: Exam) -> Simpler:
        if exam.models is not None:
            return Simpler({}, {}, [])
        return simpler_methods.boxes(self.workshop, exam, self._lesson(exam))

    def _lesson(self, exam: Exam) -> Lesson:
        unit = WorkUnit(
            "train",
            tuple(one.identity for one in exam.chosen(exam.learned_from)),
            self._artefacts(),
            self.job.config_id,
        )
        return Lesson(exam.label, unit, exam.slices, exam.learned_from)


def _refused(verdict: Verdict, why: str) -> dict[str, Any]:
    return {"verdict": dataclasses.replace(verdict, refused=why), "shown": ()}
