"""Learns the classes: appearance from samples, then context from competitions.

What meets at a class: the raw features of its sampled windows (sparse, float32), later
a table of 11 hyper-features per window and image, about 0.1 MB an image. Both are
sorted by image before anything is learned from them.
"""

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
import numpy as np

from belvedere.core import archive, configuration, localization, sight
from belvedere.core.class_model import Appearance
from belvedere.core.configuration import Configuration
from belvedere.core.context import learning
from belvedere.core.formats import names
from belvedere.core.sight import Samples
from belvedere.core.types import RELATIONS, Competition
from belvedere.transforms import (
    decoding,
    describe,
    documents,
    model_store,
    records,
    stores,
)
from belvedere.transforms.inputs import InputFault
from belvedere.transforms.manifests import Entry
from belvedere.transforms.records import Counts, Input, Record, WorkUnit
from belvedere.transforms.training_images import FAULTS, TrainingSlice
from belvedere.transforms.workers import prepare_trainer, prepare_worker

KIND = "train"
REFUSED, FINISHED = "refused", "finished"


@dataclasses.dataclass(frozen=True)
class Job:
    """All that the models of a run depend on besides the images.

    Attributes:
      models: where models go.
      work: where views and appearances are kept for the time of the run.
      configuration: of the run.
      run_id, code_version: for the records.
    """

    models: str
    work: str
    configuration: Configuration
    run_id: str
    code_version: str

    @property
    def config_id(self) -> str:
        return configuration.digest(self.configuration)


@dataclasses.dataclass(frozen=True)
class Learnable:
    """A class whose appearance is learned: where it is, and the unit of work."""

    appearance: str
    unit: WorkUnit


@dataclasses.dataclass(eq=False)
class LearnClasses(beam.PTransform):
    """Training slices to entries of the manifest, one per class; faults, refusals."""

    job: Job
    eyes: beam.PCollection
    negatives: beam.PCollection

    def expand(self, slices: beam.PCollection) -> dict[str, beam.PCollection]:
        ready = [beam.pvalue.AsSingleton(p) for p in (self.eyes, self.negatives)]
        sampled = slices | "Sample" >> beam.ParDo(
            _SampleDoFn(self.job), *ready
        ).with_outputs(FAULTS, main="samples")
        learned = (
            sampled.samples
            | "SamplesOfClass" >> beam.GroupByKey()
            | "Appearance"
            >> beam.ParDo(_AppearanceDoFn(self.job)).with_outputs(
                REFUSED, FINISHED, main="learnable"
            )
        )
        by_class = slices | "SlicesOfClass" >> beam.FlatMap(
            lambda s: [(label, s) for label in sorted({c.label for c in s.chosen})]
        )
        tables = (
            {"slices": by_class, "learnable": learned.learnable}
            | "Pair" >> beam.CoGroupByKey()
            | "Pairs" >> beam.FlatMapTuple(_pairs)
            | "SpreadPairs" >> beam.Reshuffle()
            | "Compete" >> beam.ParDo(_CompeteDoFn(self.job))
        )
        models = (
            {"tables": tables, "learnable": learned.learnable}
            | "TablesOfClass" >> beam.CoGroupByKey()
            | "Context"
            >> beam.ParDo(_ContextDoFn(self.job)).with_outputs(REFUSED, main="entries")
        )
        return {
            "entries": (models.entries, learned[FINISHED]) | "Done" >> beam.Flatten(),
            REFUSED: (models[REFUSED], learned[REFUSED]) | "Refused" >> beam.Flatten(),
            FAULTS: sampled[FAULTS],
        }


def _pairs(
    label: str, joined: dict[str, Iterable]
) -> Iterator[tuple[str, TrainingSlice, Learnable]]:
    for learnable in joined["learnable"]:
        for piece in joined["slices"]:
            yield label, piece, learnable


class _SampleDoFn(beam.DoFn):
    """Sampled windows of each training image with their raw features."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def setup(self) -> None:
        prepare_worker()
        self.decoder = decoding.Decoder()

    def teardown(self) -> None:
        self.decoder.close()

    def process(self, training: TrainingSlice, eyes_name: str, _ready: str) -> Iterator:
        eyes, eyes_id = model_store.read_eyes(
            stores.store_for(self.job.models), eyes_name
        )
        settings = self.job.configuration.method.sampling
        for one in describe.views(training, eyes, eyes_id, self.decoder, self.job.work):
            if isinstance(one, InputFault):
                yield beam.pvalue.TaggedOutput(FAULTS, one)
                continue
            samples = sight.sample(one.view, one.truth, one.image_id, eyes, settings)
            best = _ceiling(one)
            yield one.label, (one.image_id, best, archive.dump(samples))


def _ceiling(one: describe.Described) -> float:
    """IoU of the best candidate: whether the windows can find the object at all."""
    from belvedere.core.windows import boxes

    windows = one.view.windows.boxes * one.view.scale
    return float(boxes.ious(windows, one.truth).max())


class _AppearanceDoFn(beam.DoFn):
    """Embedding and Gaussian process of a class, unless its model is there already."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def setup(self) -> None:
        prepare_trainer()

    def process(
        self, keyed: tuple[str, Iterable[tuple[str, float, bytes]]]
    ) -> Iterator:
        label, arrived = keyed[0], sorted(keyed[1])
        chosen = self.job.configuration
        store = stores.store_for(self.job.models)
        _, eyes_id = model_store.read_eyes(store, model_store.eyes_name(chosen.sight))
        negatives, pool_id = model_store.read_negatives(store, chosen.sight, label)
        unit = self._unit(label, arrived, (eyes_id, pool_id))
        if record := records.find(store, unit.digest):
            yield beam.pvalue.TaggedOutput(FINISHED, Entry.of(record))
            return
        if reason := self._refusal(arrived, negatives):
            yield from _refuse(self.job, label, unit, reason)
            return
        samples = [archive.load(data, Samples) for _, _, data in arrived]
        try:
            appearance = localization.learn_appearance(
                samples, negatives, chosen.method
            )
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            yield from _refuse(self.job, label, unit, f"appearance: {error}")
            return
        name = f"appearance/{unit.digest[:32]}.npz"
        stores.store_for(self.job.work).create(name, archive.dump(appearance))
        yield label, Learnable(name, unit)

    def _unit(self, label: str, arrived: list, shared: tuple[str, str]) -> WorkUnit:
        inputs = tuple(
            Input(image_id, len(data), hashlib.sha256(data).hexdigest()[:32], label)
            for image_id, _, data in arrived
        )
        return WorkUnit(KIND, inputs, shared, self.job.config_id)

    def _refusal(self, arrived: list, negatives: list[Samples]) -> str | None:
        least = self.job.configuration.least_images
        if len(arrived) < least:
            return f"{len(arrived)} images with boxes, at least {least} are needed"
        if not negatives:
            return "no images of other classes to stand out from: train two classes"
        ceiling = float(np.mean([best for _, best, _ in arrived]))
        if ceiling < self.job.configuration.least_ceiling:
            return f"the windows miss the object: mean IoU of the best is {ceiling:.2f}"
        return None


class _CompeteDoFn(beam.DoFn):
    """The table of hyper-features and losses of each training image of a slice."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def setup(self) -> None:
        prepare_worker()
        self.decoder = decoding.Decoder()

    def teardown(self) -> None:
        self.decoder.close()

    def process(
        self, paired: tuple[str, TrainingSlice, Learnable]
    ) -> Iterator[tuple[str, tuple[str, bytes]]]:
        label, training, learnable = paired
        chosen = self.job.configuration
        eyes, eyes_id = model_store.read_eyes(
            stores.store_for(self.job.models), model_store.eyes_name(chosen.sight)
        )
        work = stores.store_for(self.job.work)
        appearance = archive.load(work.read(learnable.appearance), Appearance)
        for one in describe.views(training, eyes, eyes_id, self.decoder, self.job.work):
            if isinstance(one, InputFault) or one.label != label:
                continue
            table = localization.compete(
                one.view, one.truth, one.image_id, appearance, eyes, chosen.method
            )
            yield label, (one.image_id, archive.dump(table))


class _ContextDoFn(beam.DoFn):
    """alpha and the calibration of a class; writes model, card and record."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def setup(self) -> None:
        prepare_trainer()

    def process(self, keyed: tuple[str, dict[str, Iterable]]) -> Iterator:
        label, joined = keyed
        for learnable in joined["learnable"]:
            yield from self._learned(label, learnable, sorted(joined["tables"]))

    def _learned(
        self, label: str, learnable: Learnable, arrived: list[tuple[str, bytes]]
    ) -> Iterator:
        work = stores.store_for(self.job.work)
        appearance = archive.load(work.read(learnable.appearance), Appearance)
        tables = {i: archive.load(data, Competition) for i, data in arrived}
        method = self.job.configuration.method
        try:
            model, learned = localization.learn_context(tables, appearance, method)
        except (ValueError, ArithmeticError) as error:
            yield from _refuse(self.job, label, learnable.unit, f"context: {error}")
            return
        card = {
            "eyes": model_store.eyes_name(self.job.configuration.sight),
            "eyes_id": learnable.unit.models[0],
            "negatives_id": learnable.unit.models[1],
            "images": len(tables),
            "relations": RELATIONS,
            "diagnostics": dict(appearance.diagnostics),
            **_learning_card(learned),
        }
        store = stores.store_for(self.job.models)
        files = model_store.write_model(store, label, model, card)
        yield _entry(self.job, learnable.unit, files, Counts(annotated=1))


def _learning_card(learned: learning.Learned) -> dict[str, Any]:
    held_out = learned.out_of_fold
    return {
        "alpha": learned.alpha.tolist(),
        "gamma": learned.gamma,
        "gammas": [list(pair) for pair in learned.table],
        "converged": learned.converged,
        "duality_gap": learned.solution.gap,
        "mean_iou_out_of_fold": float(held_out.ious.mean()),
        "calibration_images": len(held_out.ious),
    }


def _refuse(job: Job, label: str, unit: WorkUnit, reason: str) -> Iterator:
    """A class that cannot be learned: a record with a card that says why."""
    import json

    text = json.dumps({"label": label, "refused": reason}, indent=1, sort_keys=True)
    name = f"{names.slug(label)}/refused-{unit.digest[:16]}/{model_store.CARD}"
    store = stores.store_for(job.models)
    store.create(name, text.encode())
    data = text.encode()
    file = records.DataFile(name, 1, len(data), hashlib.sha256(data).hexdigest())
    yield beam.pvalue.TaggedOutput(
        REFUSED, (label, reason, _entry(job, unit, (file,), Counts(refused=1)))
    )


def _entry(
    job: Job, unit: WorkUnit, files: tuple[records.DataFile, ...], counts: Counts
) -> Entry:
    record = Record(unit, files, counts, job.run_id, job.code_version, documents.now())
    return Entry.of(records.publish(stores.store_for(job.models), record))
