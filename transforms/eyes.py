"""Learns what all classes share, once: the visual words, then the pool of negatives.

The pictures are chosen by lot, so that about `word_images` of them are read, whatever
their number; only their descriptors, and later some of their windows, are shuffled.
"""

import dataclasses
from collections.abc import Iterable, Iterator

import apache_beam as beam

from belvedere.core import archive, sight
from belvedere.core.appearance import vocabulary
from belvedere.core.configuration import Configuration
from belvedere.core.sight import Samples
from belvedere.transforms import decoding, describe, model_store, stores
from belvedere.transforms.inputs import InputFault
from belvedere.transforms.training_images import TrainingSlice, lot, share
from belvedere.transforms.workers import prepare_worker


@dataclasses.dataclass(eq=False)
class FreezeEyes(beam.PTransform):
    """Training slices to the name of the frozen eyes: one element, a signal."""

    models: str
    configuration: Configuration

    def expand(self, slices: beam.PCollection) -> beam.PCollection:
        total = (
            slices
            | "Images" >> beam.Map(lambda s: len(s.chosen))
            | "Total" >> beam.CombineGlobally(sum)
        )
        return (
            slices
            | "Descriptors"
            >> beam.ParDo(
                _DescriptorsDoFn(self.configuration), beam.pvalue.AsSingleton(total)
            )
            | "AllDescriptors" >> beam.GroupByKey()
            | "Words" >> beam.ParDo(_WordsDoFn(self.models, self.configuration))
        )


@dataclasses.dataclass(eq=False)
class FreezeNegatives(beam.PTransform):
    """Training slices to the name of the frozen negatives, once the eyes are there."""

    models: str
    configuration: Configuration
    eyes: beam.PCollection

    def expand(self, slices: beam.PCollection) -> beam.PCollection:
        total = (
            slices
            | "Images" >> beam.Map(lambda s: len(s.chosen))
            | "Total" >> beam.CombineGlobally(sum)
        )
        return (
            slices
            | "Windows"
            >> beam.ParDo(
                _NegativesDoFn(self.models, self.configuration),
                beam.pvalue.AsSingleton(total),
                beam.pvalue.AsSingleton(self.eyes),
            )
            | "AllWindows" >> beam.GroupByKey()
            | "Pool" >> beam.ParDo(_PoolDoFn(self.models, self.configuration))
        )


def _drawn(training: TrainingSlice, purpose: str, wanted: int, total: int) -> set[str]:
    """Ids of the images of a slice whose lot is among about `wanted` of `total`."""
    return {
        c.image_id
        for c in training.chosen
        if share(lot(purpose, c.label, c.image_id)) * total < wanted
    }


class _DescriptorsDoFn(beam.DoFn):
    """Descriptors of the pictures that are drawn."""

    def __init__(self, configuration: Configuration) -> None:
        self.sight = configuration.sight

    def setup(self) -> None:
        prepare_worker()
        self.decoder = decoding.Decoder()

    def teardown(self) -> None:
        self.decoder.close()

    def process(
        self, training: TrainingSlice, total: int
    ) -> Iterator[tuple[int, tuple[str, bytes]]]:
        wanted = _drawn(training, "words", self.sight.word_images, total)
        if not wanted:
            return
        for found in describe.pictures(training, self.decoder, wanted):
            if not isinstance(found, InputFault):
                name = f"{found.chosen.label}\0{found.chosen.image_id}"
                image = sight.in_frame(found.image, self.sight.side)
                sampled = vocabulary.sample(
                    image, name, self.sight.words_per_image, self.sight.features
                )
                yield 0, (name, archive.dump(dict(sampled)))


class _WordsDoFn(beam.DoFn):
    """Learns the codebooks and freezes them."""

    def __init__(self, models: str, configuration: Configuration) -> None:
        self.models = models
        self.sight = configuration.sight

    def setup(self) -> None:
        prepare_worker()

    def process(self, keyed: tuple[int, Iterable[tuple[str, bytes]]]) -> Iterator[str]:
        ordered = sorted(keyed[1])
        samples = [archive.load(data, dict) for _, data in ordered]
        books = vocabulary.learn(samples, self.sight.features)
        model_store.freeze_eyes(stores.store_for(self.models), self.sight, books)
        yield model_store.eyes_name(self.sight)


class _NegativesDoFn(beam.DoFn):
    """Windows of the pictures that are drawn, with their raw features."""

    def __init__(self, models: str, configuration: Configuration) -> None:
        self.models = models
        self.configuration = configuration

    def setup(self) -> None:
        prepare_worker()
        self.decoder = decoding.Decoder()

    def teardown(self) -> None:
        self.decoder.close()

    def process(
        self, training: TrainingSlice, total: int, eyes_name: str
    ) -> Iterator[tuple[int, tuple[str, str, bytes]]]:
        settings = self.configuration.sight
        wanted = _drawn(training, "negatives", settings.negative_images, total)
        if not wanted:
            return
        eyes, _ = model_store.read_eyes(stores.store_for(self.models), eyes_name)
        for found in describe.pictures(training, self.decoder, wanted):
            if isinstance(found, InputFault):
                continue
            samples = sight.sample_negatives(
                sight.look(found.image, eyes),
                found.chosen.image_id,
                settings.negatives_per_image,
                eyes,
                self.configuration.method.sampling,
            )
            one = found.chosen
            yield 0, (one.image_id, one.label, archive.dump(samples))


class _PoolDoFn(beam.DoFn):
    """Freezes the pool of negatives."""

    def __init__(self, models: str, configuration: Configuration) -> None:
        self.models = models
        self.sight = configuration.sight

    def process(
        self, keyed: tuple[int, Iterable[tuple[str, str, bytes]]]
    ) -> Iterator[str]:
        pool = [
            (label, archive.load(data, Samples)) for _, label, data in sorted(keyed[1])
        ]
        model_store.freeze_negatives(stores.store_for(self.models), self.sight, pool)
        yield model_store.negatives_name(self.sight)
