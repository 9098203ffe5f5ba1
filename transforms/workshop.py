"""What learning is made of, from pictures to the model of a class, step by step.

Each step finds its result in the work folder or makes it there, from the results of the
steps before, which it asks for in the same way. So `learn` alone is the whole training
of a class; a pipeline calls the earlier steps for many slices at once, and only names
and small numbers have to travel between its workers.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from belvedere.core import configuration, localization, sight
from belvedere.core.appearance import vocabulary
from belvedere.core.appearance.codebooks import Codebook
from belvedere.core.class_model import Appearance
from belvedere.core.embedding.sampling import SamplingSettings
from belvedere.core.sight import Samples
from belvedere.core.types import Competition
from belvedere.core.windows import boxes
from belvedere.transforms import decoding, describe, model_store, stores, tally
from belvedere.transforms.describe import Described
from belvedere.transforms.inputs import InputFault
from belvedere.transforms.lessons import Job, Learnt, Lesson, Sketch, learning_of
from belvedere.transforms.marks import Mark
from belvedere.transforms.training_slices import TrainingSlice

_FORMAT = 2  # of the tables that are kept
# The pool is shared by all classes and methods, and its name tells how pictures are
# looked at: it must not depend on how a class is learned.
_OF_THE_POOL = SamplingSettings()


class Competed(NamedTuple):
    """By image: its table, what it is known by; and images that gave none."""

    tables: dict[str, Competition]
    marks: dict[str, Mark]
    faults: list[InputFault]


class Workshop:
    """Makes and keeps what learning needs; to be opened in `DoFn.setup`."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.store = stores.store_for(job.models)
        self.work = job.work_folder
        self.decoder = decoding.Decoder()
        self._last_samples: tuple[Lesson, list[Samples]] | None = None

    def close(self) -> None:
        self.decoder.close()

    @functools.cached_property
    def eyes(self) -> tuple[sight.Eyes, str]:
        """The frozen eyes and their id."""
        name = model_store.eyes_name(self.job.configuration.sight)
        return model_store.read_eyes(self.store, name)

    def descriptors(
        self, training: TrainingSlice, wanted: frozenset[str]
    ) -> list[vocabulary.Descriptors]:
        """Descriptors of the wanted pictures, by id, to learn visual words from."""
        settings = self.job.configuration.sight

        def make() -> dict:
            found = describe.pictures(training, self.decoder, wanted)
            return {
                one.chosen.image_id: sampled
                for one in found
                if isinstance(one, describe.Picture)
                and (sampled := _descriptors(one, settings))
            }

        depends_on = (training.digest, sorted(wanted), configuration.digest(settings))
        kept = self.work.kept(self.work.name("words", *depends_on), dict, make)
        return [kept[image_id] for image_id in sorted(kept)]

    def faults(
        self, training: TrainingSlice, wanted: frozenset[str]
    ) -> list[InputFault]:
        """Why some of the wanted pictures, or boxes, cannot be used."""
        found = describe.pictures(training, self.decoder, wanted)
        return [one for one in found if isinstance(one, InputFault)]

    def codebooks(
        self, drawn: Sequence[tuple[TrainingSlice, frozenset[str]]]
    ) -> dict[str, Codebook]:
        """Visual words learned from the wanted pictures of slices."""
        settings = self.job.configuration.sight

        def make() -> dict[str, Codebook]:
            samples = [one for some in drawn for one in self.descriptors(*some)]
            with tally.timed("vocabulary"):
                return vocabulary.learn(samples, settings.features)

        from_ = [[training.digest, sorted(wanted)] for training, wanted in drawn]
        name = self.work.name("codebooks", from_, configuration.digest(settings))
        return self.work.kept(name, dict, make)

    def views(
        self, training: TrainingSlice
    ) -> tuple[list[Described], list[InputFault]]:
        return describe.views(training, *self.eyes, self.decoder, self.work)

    def negatives(
        self, training: TrainingSlice, wanted: frozenset[str]
    ) -> list[Samples]:
        """Some windows of the wanted pictures for other classes to stand out from."""
        each = self.job.configuration.sight.negatives_per_image

        def make() -> tuple:
            return tuple(
                sight.sample_negatives(
                    one.view, one.image_id, each, self.eyes[0], _OF_THE_POOL
                )
                for one in self.views(training)[0]
                if one.image_id in wanted
            )

        depends_on = (training.digest, sorted(wanted), self.eyes[1])
        name = self.work.name("negatives", *depends_on)
        return list(self.work.kept(name, tuple, make))

    def sketch(self, training: TrainingSlice) -> tuple[Sketch, list[InputFault]]:
        seen, faults = self.views(training)
        return Sketch(training, tuple(map(ceiling, seen))), faults

    def samples(self, training: TrainingSlice) -> Iterator[Samples]:
        """Sampled windows with their raw features: quicker made than kept."""
        for one in self.views(training)[0]:
            try:
                samples = self._sampled(one)
            except MemoryError:
                raise
            except Exception:  # `tables` tells of images without samples
                continue
            yield samples

    def _sampled(self, one: Described) -> Samples:
        settings = self.job.configuration.method.sampling
        return sight.sample(one.view, one.truth, one.image_id, self.eyes[0], settings)

    def lesson_samples(self, lesson: Lesson) -> list[Samples]:
        """The samples of a lesson; those of the last one asked for are at hand."""
        if self._last_samples is None or self._last_samples[0] != lesson:
            self._last_samples = None
            found = (one for part in lesson.slices for one in self.samples(part))
            mine = [one for one in found if one.image_id in lesson]
            self._last_samples = lesson, mine
        return self._last_samples[1]

    @functools.cached_property
    def _pool(self) -> list[tuple[str, Samples]]:
        settings = self.job.configuration.sight
        return model_store.read_negatives(self.store, settings, self.eyes[1])

    def others(self, label: str) -> list[Samples]:
        """The frozen windows of other classes than `label`."""
        return [samples for other, samples in self._pool if other != label]

    def appearance(self, lesson: Lesson) -> Appearance:
        """The embedding and the Gaussian process of a class."""

        def make() -> Appearance:
            chosen = self.job.configuration
            samples = self.lesson_samples(lesson)
            pool = self.others(lesson.label)
            with learning_of("appearance"):
                return localization.learn_appearance(samples, pool, chosen.method)

        return self.work.kept(
            self._appearance_name(lesson.unit.digest), Appearance, make
        )

    def _appearance_name(self, unit: str) -> str:
        return self.work.name("appearances", unit)

    def compete_ahead(self, training: TrainingSlice, unit: str) -> None:
        """Keeps the tables of a slice, if the appearance of its class is there."""
        name = self._appearance_name(unit)
        if appearance := self.work.find(name, Appearance):
            self._tables(training, unit, appearance)

    def tables(self, lesson: Lesson, appearance: Appearance) -> Competed:
        """The tables of all images of a lesson."""
        every = Competed({}, {}, [])
        for training in lesson.slices:
            unit, among = lesson.unit.digest, lesson.among
            more = self._tables(training, unit, appearance, among)
            every.tables.update(more.tables)
            every.marks.update(more.marks)
            every.faults.extend(more.faults)
        return every

    def _tables(
        self,
        training: TrainingSlice,
        unit: str,
        appearance: Appearance,
        among: frozenset[str] | None = None,
    ) -> Competed:
        """The table of hyper-features and losses of each image of a slice."""

        def make() -> dict:
            tables, marks, faults = {}, {}, []
            chosen = {c.image_id: c for c in training.chosen}
            for one in self.views(training)[0]:
                if among is not None and one.image_id not in among:
                    continue
                try:
                    tables[one.image_id] = self._competition(one, appearance)
                    marks[one.image_id] = tuple(one.mark)
                except Exception as error:
                    fault = describe.method_fault(chosen[one.image_id], error)
                    faults.append(tuple(fault))
            return {"tables": tables, "marks": marks, "faults": tuple(faults)}

        name = self.work.name("tables", training.digest, unit, _FORMAT)
        kept = self.work.kept(name, dict, make)
        return Competed(
            kept["tables"],
            {image_id: Mark(*mark) for image_id, mark in kept["marks"].items()},
            [InputFault(*fault) for fault in kept["faults"]],
        )

    def _competition(self, one: Described, appearance: Appearance) -> Competition:
        if one.image_id not in appearance.folds:
            self._sampled(one)  # raises what it raised before
        method, eyes = self.job.configuration.method, self.eyes[0]
        return localization.compete(
            one.view, one.truth, one.image_id, appearance, eyes, method
        )

    def learn(self, lesson: Lesson) -> Learnt:
        """The model of a class."""
        appearance = self.appearance(lesson)
        competed = self.tables(lesson, appearance)
        method = self.job.configuration.method
        with learning_of("context"):
            model, learned = localization.learn_context(
                competed.tables, appearance, method
            )
        marks = list(competed.marks.values())
        return Learnt(model, learned, appearance, marks, competed.faults)


def _descriptors(one: describe.Picture, settings: configuration.Sight) -> dict:
    """Nothing for an image that the method cannot describe; `views` tells of it."""
    name = f"{one.chosen.label}\0{one.chosen.image_id}"
    each, sizes = settings.words_per_image, settings.features
    try:
        image = sight.in_frame(one.image, settings.side)
        return dict(vocabulary.sample(image, name, each, sizes))
    except MemoryError:
        raise
    except Exception:
        return {}


def ceiling(one: Described) -> float:
    """IoU of the best candidate: whether the windows can find the object at all."""
    windows = one.view.to_picture(one.view.windows.boxes)
    return float(boxes.ious(windows, one.truth).max(initial=0.0))
