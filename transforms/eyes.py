"""Learns what all classes share, once: the visual words, then the pool of negatives.

The pictures are chosen by lot, so that about `word_images` of them are read, whatever
their number. Their descriptors, and later some of their windows, are files of the work
folder; only names are shuffled.
"""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam

from belvedere.transforms import model_store, tally
from belvedere.transforms.inputs import InputFault
from belvedere.transforms.lessons import Job
from belvedere.transforms.training_images import FAULTS
from belvedere.transforms.training_slices import TrainingSlice, lot, share
from belvedere.transforms.workshop_dofn import WorkshopDoFn


class Frozen(NamedTuple):
    """Says that an artefact is there, or why it cannot be."""

    name: str
    fault: str = ""


Drawn = tuple[TrainingSlice, frozenset[str]]  # a slice, and which of its images


@dataclasses.dataclass(eq=False)
class FreezeEyes(beam.PTransform):
    """Training slices to one `Frozen`, of the eyes ("eyes"), and FAULTS.

    Faults are told if there are no eyes: else the images are looked at once more, and
    told of then.
    """

    job: Job

    def expand(self, slices: beam.PCollection) -> Any:
        wanted = self.job.configuration.sight.word_images
        made = (
            slices
            | "Draw" >> _Draw("words", wanted)
            | "Descriptors" >> beam.ParDo(_DescriptorsDoFn(self.job))
            | "Together" >> _Together()
            | "Words"
            >> beam.ParDo(_WordsDoFn(self.job)).with_outputs(FAULTS, main="eyes")
        )
        return {"eyes": made.eyes, FAULTS: made[FAULTS]}


@dataclasses.dataclass(eq=False)
class FreezeNegatives(beam.PTransform):
    """Training slices to one `Frozen`, of the negatives, once the eyes are there."""

    job: Job
    eyes: beam.PCollection

    def expand(self, slices: beam.PCollection) -> beam.PCollection:
        wanted = self.job.configuration.sight.negative_images
        ready = beam.pvalue.AsSingleton(self.eyes)
        return (
            slices
            | "Draw" >> _Draw("negatives", wanted)
            | "Windows" >> beam.ParDo(_NegativesDoFn(self.job), ready)
            | "Together" >> _Together()
            | "Pool" >> beam.ParDo(_PoolDoFn(self.job), ready)
        )


@dataclasses.dataclass(eq=False)
class _Draw(beam.PTransform):
    """Slices to those with images whose lot is among about `wanted` of them all."""

    purpose: str
    wanted: int

    def expand(self, slices: beam.PCollection) -> beam.PCollection:
        total = (
            slices
            | "Images" >> beam.Map(lambda s: len(s.chosen))
            | "Total" >> beam.CombineGlobally(sum)
        )
        return slices | "Lots" >> beam.FlatMap(
            _drawn, self.purpose, self.wanted, beam.pvalue.AsSingleton(total)
        )


def _drawn(
    training: TrainingSlice, purpose: str, wanted: int, total: int
) -> Iterator[Drawn]:
    ids = frozenset(
        c.image_id
        for c in training.chosen
        if share(lot(purpose, c.label, c.image_id)) * total < wanted
    )
    if ids:
        yield training, ids


@dataclasses.dataclass(eq=False)
class _Together(beam.PTransform):
    """All elements as one list, which may be empty."""

    def expand(self, elements: beam.PCollection) -> beam.PCollection:
        gathered = elements | "Gather" >> beam.combiners.ToList()
        begun = elements.pipeline | "Once" >> beam.Create([None])
        return begun | "All" >> beam.Map(
            lambda _, every: every, beam.pvalue.AsSingleton(gathered)
        )


def _ordered(every: Iterable[Drawn]) -> list[Drawn]:
    return sorted(every, key=lambda drawn: drawn[0].digest)


class _DescriptorsDoFn(WorkshopDoFn):
    """Makes the descriptors of the pictures that are drawn."""

    def process(self, drawn: Drawn) -> Iterator[Drawn]:
        with tally.timed("words", len(drawn[1])):
            self.workshop.descriptors(*drawn)
        yield drawn


class _WordsDoFn(WorkshopDoFn):
    """Learns the codebooks and freezes them."""

    def process(self, every: list[Drawn]) -> Iterator:
        settings = self.job.configuration.sight
        name = model_store.eyes_name(settings)
        try:
            books = self.workshop.codebooks(_ordered(every))
        except ValueError as error:
            drawn = _ordered(every)
            faults = [one for some in drawn for one in self.workshop.faults(*some)]
            images = sum(len(ids) for _, ids in drawn)
            said = f"no visual words from {images} images: {error}"
            yield Frozen(name, said + _first(faults))
            for fault in faults:
                yield beam.pvalue.TaggedOutput(FAULTS, fault)
            return
        model_store.freeze_eyes(self.workshop.store, settings, books)
        yield Frozen(name)


def _first(faults: list[InputFault]) -> str:
    if not faults:
        return ""
    one = min(faults)
    return f"; {len(faults)} faults, the first: {one.uri}: {one.message}"


class _NegativesDoFn(WorkshopDoFn):
    """Makes the negatives of the pictures that are drawn."""

    def process(self, drawn: Drawn, eyes: Frozen) -> Iterator[Drawn]:
        if not eyes.fault:
            with tally.timed("negatives", len(drawn[1])):
                self.workshop.negatives(*drawn)
            yield drawn


class _PoolDoFn(WorkshopDoFn):
    """Freezes the pool of negatives; a pool of one class is no use to it, and waits."""

    def process(self, every: list[Drawn], eyes: Frozen) -> Iterator[Frozen]:
        settings = self.job.configuration.sight
        name = model_store.negatives_name(settings)
        if eyes.fault:
            yield Frozen(name, eyes.fault)
            return
        pool = [
            (drawn[0].label, samples)
            for drawn in _ordered(every)
            for samples in self.workshop.negatives(*drawn)
        ]
        if len({label for label, _ in pool}) < 2:
            yield Frozen(
                name, "no images of other classes to stand out from: train two classes"
            )
            return
        store, eyes_id = self.workshop.store, self.workshop.eyes[1]
        model_store.freeze_negatives(store, settings, eyes_id, pool)
        yield Frozen(name)
