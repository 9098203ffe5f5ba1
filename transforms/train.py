"""Learns the classes: appearance from samples, then context from competitions.

Between workers travel the names of images with their boxes, some hundred bytes each.
What is large, views and tables, lies in the work folder, where `Workshop` makes it or
finds it; what a class is learned from is sorted by image first.

Classes that are known are told from the listing, before any picture is opened: a unit
of work is a class with the addresses, sizes, times and boxes of its images.
"""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam

from belvedere.transforms import class_records, lessons, model_store, stores, tally
from belvedere.transforms.class_records import Refusal
from belvedere.transforms.eyes import Frozen
from belvedere.transforms.lessons import Job, Lesson, Unlearnable
from belvedere.transforms.records import WorkUnit
from belvedere.transforms.training_images import FAULTS, CutTraining
from belvedere.transforms.training_slices import Chosen, TrainingSlice
from belvedere.transforms.workers import prepare_trainer
from belvedere.transforms.workshop_dofn import WorkshopDoFn

KIND = "train"
REFUSED, FINISHED, IMAGES = "refused", "finished", "images"
# Stages of `tally` that count what is to be done.
CLASSES_PLANNED, IMAGES_PLANNED = "classes_planned", "images_planned"


@dataclasses.dataclass(eq=False)
class LearnClasses(beam.PTransform):
    """Chosen images of each class to entries of the manifest; faults, refusals."""

    job: Job
    slices: beam.PCollection
    eyes: beam.PCollection
    negatives: beam.PCollection

    def expand(self, classes: beam.PCollection) -> Any:
        ready = [beam.pvalue.AsSingleton(p) for p in (self.eyes, self.negatives)]
        planned = classes | "Plan" >> beam.ParDo(
            _PlanDoFn(self.job), *ready
        ).with_outputs(REFUSED, FINISHED, IMAGES, main="units")
        described = (
            planned[IMAGES]
            | "Cut" >> CutTraining(self.slices)
            | "Describe"
            >> beam.ParDo(_DescribeDoFn(self.job)).with_outputs(FAULTS, main="sketches")
        )
        seen = (
            {"unit": planned.units, "sketches": described.sketches}
            | "SketchesOfClass" >> beam.CoGroupByKey()
            | "Appearance"
            >> beam.ParDo(_AppearanceDoFn(self.job)).with_outputs(
                REFUSED, main="lessons"
            )
        )
        competed = (
            seen.lessons
            | "Slices" >> beam.FlatMapTuple(_slices)
            | "SpreadSlices" >> beam.Reshuffle()
            | "Compete" >> beam.ParDo(_CompeteDoFn(self.job))
        )
        models = (
            {"lesson": seen.lessons, "competed": competed}
            | "TablesOfClass" >> beam.CoGroupByKey()
            | "Context"
            >> beam.ParDo(_ContextDoFn(self.job)).with_outputs(
                REFUSED, FAULTS, main="entries"
            )
        )
        refused = (planned[REFUSED], seen[REFUSED], models[REFUSED])
        return {
            "entries": (models.entries, planned[FINISHED]) | "Done" >> beam.Flatten(),
            REFUSED: refused | "Refused" >> beam.Flatten(),
            FAULTS: (described[FAULTS], models[FAULTS]) | "Faults" >> beam.Flatten(),
        }


def _slices(label: str, lesson: Lesson) -> Iterator[tuple[str, TrainingSlice, str]]:
    for training in lesson.slices:
        yield label, training, lesson.unit.digest


class _PlanDoFn(beam.DoFn):
    """Classes that are known or hopeless end here; of the others, unit and images."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def setup(self) -> None:
        self.ids: dict[Frozen, str] = {}

    def process(
        self, keyed: tuple[str, tuple[Chosen, ...]], eyes: Frozen, negatives: Frozen
    ) -> Iterator:
        label, chosen = keyed
        unit = WorkUnit(
            KIND,
            tuple(one.identity for one in chosen),
            (self._id(eyes), self._id(negatives)),
            self.job.config_id,
        )
        ended = class_records.known(self.job, label, unit)
        if not ended and (reason := self._refusal(chosen, eyes, negatives)):
            ended = class_records.refused(self.job, label, unit, reason)
        if ended:
            tag = REFUSED if isinstance(ended, Refusal) else FINISHED
            yield beam.pvalue.TaggedOutput(tag, ended)
            return
        tally.add(CLASSES_PLANNED)
        tally.add(IMAGES_PLANNED, len(chosen))
        yield label, unit
        for one in chosen:
            yield beam.pvalue.TaggedOutput(IMAGES, one)

    def _id(self, artefact: Frozen) -> str:
        if artefact not in self.ids:
            store = stores.store_for(self.job.models)
            self.ids[artefact] = (
                "none"
                if artefact.fault
                else model_store.artefact_id(store.read(artefact.name))
            )
        return self.ids[artefact]

    def _refusal(
        self, chosen: tuple[Chosen, ...], eyes: Frozen, negatives: Frozen
    ) -> str:
        least = self.job.configuration.least_images
        if len(chosen) < least:
            return f"{len(chosen)} images with boxes, at least {least} are needed"
        return eyes.fault or negatives.fault


class _DescribeDoFn(WorkshopDoFn):
    """Makes the views of a slice, and says how well their windows fit."""

    def process(self, training: TrainingSlice) -> Iterator:
        with tally.timed("describe", len(training.chosen)):
            sketch, faults = self.workshop.sketch(training)
        yield training.label, sketch
        for fault in faults:
            yield beam.pvalue.TaggedOutput(FAULTS, fault)


class _AppearanceDoFn(WorkshopDoFn):
    """Embedding and Gaussian process of a class."""

    def process(self, keyed: tuple[str, dict[str, Iterable]]) -> Iterator:
        # not in `setup`: torch, where it is wanted, is slow to load if nothing comes
        prepare_trainer(self.job.configuration.method.gp.needs_torch)
        label, joined = keyed
        sketches = sorted(joined["sketches"], key=lambda s: s.training.digest)
        (unit,) = joined["unit"]
        lesson = Lesson(label, unit, tuple(s.training for s in sketches))
        ceilings = [best for sketch in sketches for best in sketch.ceilings]
        reason = lessons.refusal(ceilings, self.job.configuration)
        reason = reason or self._learned(lesson)
        if reason:
            refusal = class_records.refused(self.job, label, unit, reason)
            yield beam.pvalue.TaggedOutput(REFUSED, refusal)
        else:
            yield label, lesson

    def _learned(self, lesson: Lesson) -> str:
        try:
            with tally.timed("appearance"):
                self.workshop.appearance(lesson)
        except Unlearnable as error:
            return str(error)
        return ""


class _CompeteDoFn(WorkshopDoFn):
    """Makes the tables of hyper-features and losses of a slice."""

    def process(self, paired: tuple[str, TrainingSlice, str]) -> Iterator:
        label, training, unit = paired
        with tally.timed("compete", len(training.chosen)):
            self.workshop.compete_ahead(training, unit)
        yield label, len(training.chosen)


class _ContextDoFn(WorkshopDoFn):
    """alpha and the calibration of a class; writes model, card and record."""

    def process(self, keyed: tuple[str, dict[str, Iterable]]) -> Iterator:
        prepare_trainer(self.job.configuration.method.gp.needs_torch)
        label, joined = keyed
        for lesson in joined["lesson"]:
            try:
                with tally.timed("context"):
                    learnt = self.workshop.learn(lesson)
            except Unlearnable as error:
                refusal = class_records.refused(
                    self.job, label, lesson.unit, str(error)
                )
                yield beam.pvalue.TaggedOutput(REFUSED, refusal)
                continue
            yield class_records.learned(self.job, label, lesson.unit, learnt)
            for fault in learnt.faults:
                yield beam.pvalue.TaggedOutput(FAULTS, fault)
