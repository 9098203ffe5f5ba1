"""`belvedere train`: learns every class from its images with boxes."""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import apache_beam as beam

from belvedere.core import configuration
from belvedere.core.configuration import Configuration
from belvedere.pipelines import launching
from belvedere.transforms import box_sources, model_store, sources, stores
from belvedere.transforms.commit import CommitEntries
from belvedere.transforms.eyes import FreezeEyes, FreezeNegatives
from belvedere.transforms.manifests import Run
from belvedere.transforms.train import KIND, REFUSED, Job, LearnClasses
from belvedere.transforms.training_images import (
    FAULTS,
    ChooseTrainingImages,
    ListSlices,
)

_LISTED_FAULTS = 1000


@dataclasses.dataclass(frozen=True)
class Options:
    """What the command was told."""

    images: tuple[str, ...]
    boxes: str
    models: str
    work: str
    configuration: Configuration
    images_format: str | None = None
    boxes_format: str | None = None
    workers: int = 1
    beam_options: Sequence[str] = ()


def main(options: Options) -> launching.Counts:
    """Learns what is new: a class known with these images and settings is kept."""
    found = tuple(sources.detect(uri, options.images_format) for uri in options.images)
    boxes = box_sources.detect(options.boxes, options.boxes_format)
    chosen, store = options.configuration, stores.store_for(options.models)
    run = Run(
        launching.run_id(),
        KIND,
        launching.code_version(),
        configuration.digest(chosen),
        configuration.flat(chosen),
    )
    job = Job(options.models, options.work, chosen, run.run_id, run.code_version)
    eyes_name = model_store.eyes_name(chosen.sight)
    negatives_name = model_store.negatives_name(chosen.sight)

    def build(pipeline: beam.Pipeline) -> None:
        slices = pipeline | "List" >> ListSlices(found)
        training = slices | "Choose" >> ChooseTrainingImages(boxes, chosen.most_images)
        images = training["slices"] | "SpreadTraining" >> beam.Reshuffle()
        if store.exists(eyes_name):
            eyes = pipeline | "Eyes" >> beam.Create([eyes_name])
        else:
            eyes = images | "Eyes" >> FreezeEyes(options.models, chosen)
        if store.exists(negatives_name):
            negatives = pipeline | "Negatives" >> beam.Create([negatives_name])
        else:
            negatives = images | "Negatives" >> FreezeNegatives(
                options.models, chosen, eyes
            )
        learned = images | "Learn" >> LearnClasses(job, eyes, negatives)
        faults = (training[FAULTS], learned[FAULTS]) | "AllFaults" >> beam.Flatten()
        refused = learned[REFUSED]
        details = {
            "faults": faults | "ListFaults" >> beam.combiners.ToList(),
            "refused": refused | "ListRefused" >> beam.combiners.ToList(),
        }
        told = (
            pipeline
            | "Details" >> beam.Create([None])
            | "Tell"
            >> beam.Map(
                _details,
                beam.pvalue.AsSingleton(details["faults"]),
                beam.pvalue.AsSingleton(details["refused"]),
            )
        )
        entries = (
            learned["entries"],
            refused | "RefusedEntries" >> beam.Map(lambda one: one[2]),
        ) | "Entries" >> beam.Flatten()
        entries | "Commit" >> CommitEntries(options.models, run, told)

    return launching.launch(build, options.beam_options, options.workers)


def _details(_: None, faults: Iterable, refused: Iterable) -> dict[str, Any]:
    """What a manifest says besides its entries: refusals and inputs not used."""
    ordered = sorted(faults)
    return {
        "refused": {
            label: reason
            for label, reason, _entry in sorted(refused, key=lambda r: r[0])
        },
        "unusable_inputs": len(ordered),
        "first_unusable_inputs": [list(one) for one in ordered[:_LISTED_FAULTS]],
    }
