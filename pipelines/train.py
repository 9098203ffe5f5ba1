"""`belvedere train`: learns every class from its images with boxes."""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.metrics import Metrics

from belvedere.core import configuration
from belvedere.core.configuration import Configuration
from belvedere.pipelines import launching
from belvedere.pipelines.failures import opening
from belvedere.pipelines.progress import Stage, Watch
from belvedere.transforms import box_sources, model_store, selection, sources, stores
from belvedere.transforms.commit import CommitEntries
from belvedere.transforms.eyes import FreezeEyes, FreezeNegatives, Frozen
from belvedere.transforms.lessons import Job
from belvedere.transforms.manifests import Run
from belvedere.transforms.train import (
    CLASSES_PLANNED,
    IMAGES_PLANNED,
    KIND,
    REFUSED,
    LearnClasses,
)
from belvedere.transforms.training_images import (
    FAULTS,
    ChooseTrainingImages,
    CutTraining,
    ListSlices,
)

STAGES = (
    Stage("Visual words", "words", None),
    Stage("Negatives", "negatives", None),
    Stage("Describing", "describe", IMAGES_PLANNED),
    Stage("Learning appearance", "appearance", CLASSES_PLANNED, "classes"),
    Stage("Comparing windows", "compete", IMAGES_PLANNED),
    Stage("Learning context", "context", CLASSES_PLANNED, "classes"),
)
UNUSABLE = "unusable_inputs"
_LISTED_FAULTS = 1000


@dataclasses.dataclass(frozen=True)
class Options:
    """What the command was told.

    Attributes:
      classes: only these are learned, if any are given; words and negatives come from
        all.
      boxes_rescale: whether boxes may be of a uniformly scaled copy of the picture.
    """

    images: tuple[str, ...]
    boxes: str
    models: str
    work: str
    configuration: Configuration
    images_format: str | None = None
    boxes_format: str | None = None
    classes: frozenset[str] = frozenset()
    workers: int = 1
    beam_options: Sequence[str] = ()
    watch: Watch = dataclasses.field(default_factory=Watch)
    boxes_rescale: bool = False


def main(options: Options) -> launching.Counts:
    """Learns what is new: a class known with these images and settings is kept."""
    launching.require_torch(options.configuration)
    with opening():
        found = tuple(
            sources.detect(uri, options.images_format) for uri in options.images
        )
        boxes = box_sources.detect(options.boxes, options.boxes_format)
    since = launching.check_output(options.models, KIND)
    chosen, store = options.configuration, stores.store_for(options.models)
    run = Run(
        launching.run_id(),
        KIND,
        launching.code_version(),
        configuration.digest(configuration.learning(chosen)),
        configuration.learning(chosen),
    )
    job = Job(options.models, options.work, chosen, run.run_id, run.code_version)
    eyes_name = model_store.eyes_name(chosen.sight)
    negatives_name = model_store.negatives_name(chosen.sight)

    def build(pipeline: beam.Pipeline) -> None:
        slices = pipeline | "List" >> ListSlices(found)
        training = slices | "Choose" >> ChooseTrainingImages(
            boxes, chosen.most_images, options.boxes_rescale
        )
        classes = training["classes"]
        if options.classes:
            classes |= "Classes" >> selection.RequireClasses(options.classes)
        images = (
            classes
            | "Images" >> beam.FlatMapTuple(lambda _, images: images)
            | "Cut" >> CutTraining(slices)
        )
        unusable = [training[FAULTS]]
        if store.exists(eyes_name):
            eyes = pipeline | "Eyes" >> beam.Create([Frozen(eyes_name)])
        else:
            frozen = images | "Eyes" >> FreezeEyes(job)
            eyes, unusable = frozen["eyes"], [*unusable, frozen[FAULTS]]
        if store.exists(negatives_name):
            negatives = pipeline | "Negatives" >> beam.Create([Frozen(negatives_name)])
        else:
            negatives = images | "Negatives" >> FreezeNegatives(job, eyes)
        if options.classes:
            classes |= "Wanted" >> beam.Filter(_is_of, options.classes)
        learned = classes | "Learn" >> LearnClasses(job, slices, eyes, negatives)
        faults = (*unusable, learned[FAULTS]) | "AllFaults" >> beam.Flatten()
        details = pipeline | "Details" >> _Details(faults, learned[REFUSED])
        refused = learned[REFUSED] | "RefusedEntries" >> beam.Map(lambda r: r.entry)
        entries = (learned["entries"], refused) | "Entries" >> beam.Flatten()
        entries | "Commit" >> CommitEntries(options.models, run, since, details)

    counts = launching.launch(
        build, options.beam_options, options.workers, STAGES, options.watch
    )
    return launching.as_committed(counts, options.models, run.run_id, since)


def _is_of(keyed: tuple[str, Any], classes: frozenset[str]) -> bool:
    return keyed[0] in classes


@dataclasses.dataclass(eq=False)
class _Details(beam.PTransform):
    """What a manifest says besides its entries: refusals and inputs not used."""

    faults: beam.PCollection
    refused: beam.PCollection

    def expand(self, pipeline: beam.Pipeline) -> beam.PCollection:
        first = beam.combiners.Top.Smallest(_LISTED_FAULTS)
        told = (
            self.faults | "Count" >> beam.combiners.Count.Globally(),
            self.faults | "First" >> first,
            self.refused | "List" >> beam.combiners.ToList(),
        )
        return (
            pipeline
            | "Once" >> beam.Create([None])
            | "Tell" >> beam.Map(_told, *map(beam.pvalue.AsSingleton, told))
        )


def _told(_: None, count: int, first: Iterable, refused: Iterable) -> dict[str, Any]:
    Metrics.counter(KIND, UNUSABLE).inc(count)
    return {
        "refused": {one.label: one.reason for one in sorted(refused)},
        UNUSABLE: count,
        "first_unusable_inputs": [list(fault) for fault in sorted(first)],
    }
