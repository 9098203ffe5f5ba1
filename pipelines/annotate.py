"""`belvedere annotate`: a box on every image, with the model of its class."""

import dataclasses
from collections.abc import Sequence

import apache_beam as beam

from belvedere.core import configuration
from belvedere.core.configuration import Configuration
from belvedere.pipelines import launching
from belvedere.transforms import box_sources, model_store, sources
from belvedere.transforms.annotate import KIND, AnnotateSlices, Job, Wanted
from belvedere.transforms.commit import CommitEntries
from belvedere.transforms.inputs import Slice
from belvedere.transforms.manifests import Run
from belvedere.transforms.training_images import ListSlices, WithoutBoxed


@dataclasses.dataclass(frozen=True)
class Options:
    """What the command was told."""

    images: tuple[str, ...]
    models: str
    output: str
    configuration: Configuration
    images_format: str | None = None
    boxes: str | None = None  # images with these boxes are left alone
    boxes_format: str | None = None
    workers: int = 1
    beam_options: Sequence[str] = ()


def main(options: Options) -> launching.Counts:
    """Annotates what is new; repeating it is all that a scheduler needs to do."""
    found = tuple(sources.detect(uri, options.images_format) for uri in options.images)
    boxes = (
        box_sources.detect(options.boxes, options.boxes_format)
        if options.boxes
        else None
    )
    index = model_store.index(options.models)
    if not index.ids:
        raise ValueError(
            f"{options.models} holds no models: run `belvedere train` first"
        )
    config_id = configuration.digest(options.configuration)
    run = Run(
        launching.run_id(),
        KIND,
        launching.code_version(),
        config_id,
        configuration.flat(options.configuration),
        tuple(sorted(set(index.ids.values()))),
    )
    job = Job(
        options.output,
        options.models,
        index.number,
        config_id,
        options.configuration.accept,
        run.run_id,
        run.code_version,
    )

    def build(pipeline: beam.Pipeline) -> None:
        slices = pipeline | "List" >> ListSlices(found)
        wanted = (
            slices | "WithoutBoxed" >> WithoutBoxed(boxes)
            if boxes
            else slices | "All" >> beam.Map(_all)
        )
        entries = wanted | "Annotate" >> AnnotateSlices(job)
        entries | "Commit" >> CommitEntries(options.output, run)

    return launching.launch(build, options.beam_options, options.workers)


def _all(piece: Slice) -> Wanted:
    return Wanted(piece)
