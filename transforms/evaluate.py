"""Judges the method and simpler ones on boxed images they have not seen.

Boxed images are told apart into those to learn from and those to judge on (`roles`).
Then each class (and fold) is one exam, taken by itself (`examiner`). Between workers
travel names and boxes.
"""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam

from belvedere.transforms import model_store, split_list, stores, tally
from belvedere.transforms.examiner import Examiner
from belvedere.transforms.exams import Exam
from belvedere.transforms.eyes import FreezeEyes, FreezeNegatives, Frozen
from belvedere.transforms.lessons import Job
from belvedere.transforms.roles import LEARN, Protocol, TellApart
from belvedere.transforms.training_images import FAULTS, CutTraining
from belvedere.transforms.training_slices import Chosen, TrainingSlice
from belvedere.transforms.workers import prepare_trainer
from belvedere.transforms.workshop_dofn import WorkshopDoFn

EXAMS_PLANNED, IMAGES_PLANNED = "exams_planned", "images_planned"


@dataclasses.dataclass(eq=False)
class Evaluate(beam.PTransform):
    """Boxed images by class to "judged", the names of verdicts, FAULTS, and "about".

    The latter are single values to be told; see `conclude`.

    Attributes:
      job: the store of eyes and negatives, work folder, configuration.
      protocol: who is judged on what.
      output: where verdicts go.
      slices: of the input.
      wanted: the classes to judge, all if there are none.
    """

    job: Job
    protocol: Protocol
    output: str
    slices: beam.PCollection
    wanted: frozenset[str] = frozenset()

    def expand(self, classes: beam.PCollection) -> Any:
        every = (
            classes
            | "Each" >> beam.FlatMapTuple(lambda _, images: images)
            | "CutAll" >> CutTraining(self.slices)
        )
        roles = classes | "TellApart" >> TellApart(self.job, self.protocol, every)
        learned_from = (
            {"chosen": classes, "roles": roles["roles"]}
            | "WithRoles" >> beam.CoGroupByKey()
            | "LearnedFrom" >> beam.FlatMap(_learned_from, self.protocol)
            | "CutLearned" >> CutTraining(self.slices)
        )
        eyes, negatives, without_eyes = self._artefacts(learned_from)
        ready = [beam.pvalue.AsSingleton(one) for one in (eyes, negatives)]
        wanted = every | "Wanted" >> beam.Filter(
            lambda training: is_of(training.label, self.wanted)
        )
        described = wanted | "Describe" >> beam.ParDo(
            _DescribeDoFn(self.job), *ready
        ).with_outputs(FAULTS, main="slices")
        judged = (
            {"slices": described.slices, "roles": roles["roles"]}
            | "Gather" >> beam.CoGroupByKey()
            | "Exams" >> beam.FlatMap(_exams, self.protocol, self.job)
            | "Spread" >> beam.Reshuffle()
            | "Judge" >> beam.ParDo(_JudgeDoFn(self.job, self.output), *ready)
        )
        return {
            "judged": judged,
            FAULTS: (described[FAULTS], *without_eyes) | "Faults" >> beam.Flatten(),
            "about": {
                "near_duplicates": roles["duplicates"],
                "images": wanted
                | "Images" >> beam.Map(lambda training: len(training.chosen))
                | "AllImages" >> beam.CombineGlobally(sum),
                "seen": roles["roles"]
                | "AllRoles" >> beam.combiners.ToList()
                | "List"
                >> beam.Map(split_list.write, self.protocol, self.output, self.wanted),
            },
        }

    def _artefacts(
        self, learned_from: beam.PCollection
    ) -> tuple[beam.PCollection, beam.PCollection, list[beam.PCollection]]:
        """Eyes, negatives, and the faults of images that gave no eyes."""
        store, settings = stores.store_for(self.job.models), self.job.configuration
        eyes_name = model_store.eyes_name(settings.sight)
        pool_name = model_store.negatives_name(settings.sight)
        begin, faults = learned_from.pipeline, []
        if store.exists(eyes_name):
            eyes = begin | "Eyes" >> beam.Create([Frozen(eyes_name)])
        else:
            frozen = learned_from | "Eyes" >> FreezeEyes(self.job)
            eyes, faults = frozen["eyes"], [frozen[FAULTS]]
        if store.exists(pool_name) or self.protocol.models:
            negatives = begin | "Negatives" >> beam.Create([Frozen(pool_name)])
        else:
            negatives = learned_from | "Negatives" >> FreezeNegatives(self.job, eyes)
        return eyes, negatives, faults


def _learned_from(
    keyed: tuple[str, dict[str, Iterable]], protocol: Protocol
) -> Iterator[Chosen]:
    """Images that eyes and negatives may come from: with folds, all of them."""
    _, joined = keyed
    for roles in joined["roles"]:
        for chosen in joined["chosen"]:
            for one in chosen:
                fold = roles.get(one.image_id)
                if fold == LEARN or (fold is not None and protocol.folds is not None):
                    yield one


class _DescribeDoFn(WorkshopDoFn):
    """Makes the views of a slice."""

    def process(
        self, training: TrainingSlice, eyes: Frozen, negatives: Frozen
    ) -> Iterator:
        if eyes.fault or negatives.fault:  # its exam is refused
            yield training.label, training
            return
        tally.add(IMAGES_PLANNED, len(training.chosen))
        with tally.timed("describe", len(training.chosen)):
            _, faults = self.workshop.views(training)
        yield training.label, training
        for fault in faults:
            yield beam.pvalue.TaggedOutput(FAULTS, fault)


def is_of(label: str, classes: frozenset[str]) -> bool:
    """Whether a class is wanted."""
    return not classes or label in classes


def _exams(
    keyed: tuple[str, dict[str, Iterable]], protocol: Protocol, job: Job
) -> Iterator[Exam]:
    """The exams of a class: at least one, be it without test images."""
    label, joined = keyed
    slices = tuple(sorted(joined["slices"], key=lambda s: s.digest))
    known = {c.image_id: c for part in slices for c in part.chosen}
    if not known:  # not wanted
        return
    roles = {i: f for of in joined["roles"] for i, f in of.items() if i in known}
    for fold in sorted({f for f in roles.values() if f != LEARN}) or [0]:
        others = [known[i] for i, f in roles.items() if f != fold]
        others.sort(key=lambda c: (c.lot, c.image_id))
        train = others[: job.configuration.most_images]
        tally.add(EXAMS_PLANNED)
        yield Exam(
            label,
            fold,
            slices,
            frozenset(c.image_id for c in train),
            frozenset(i for i, f in roles.items() if f == fold),
            protocol.with_baselines,
            protocol.parts,
            protocol.models,
            protocol.models_number,
        )


class _JudgeDoFn(WorkshopDoFn):
    """Takes an exam; the name of its verdict."""

    def __init__(self, job: Job, output: str) -> None:
        super().__init__(job)
        self.output = output

    def process(self, exam: Exam, eyes: Frozen, negatives: Frozen) -> Iterator[str]:
        if not exam.models:
            prepare_trainer(self.job.configuration.method.gp.needs_torch)
        with tally.timed("exam"):
            fault = eyes.fault or negatives.fault
            name = Examiner(self.workshop, self.output).judge(exam, fault)
        yield name
