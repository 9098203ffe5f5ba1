"""`belvedere annotate`: a box on every image, with the model of its class."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam

from belvedere.core import configuration
from belvedere.core.configuration import Annotating
from belvedere.pipelines import classes, launching
from belvedere.pipelines.failures import Mistake, opening
from belvedere.pipelines.progress import Stage, Watch
from belvedere.transforms import (
    box_sources,
    committed,
    model_store,
    selection,
    sources,
    stores,
)
from belvedere.transforms.annotate import IMAGES, KIND, AnnotateSlices, Wanted
from belvedere.transforms.commit import CommitEntries
from belvedere.transforms.inputs import Slice
from belvedere.transforms.localizing import Job
from belvedere.transforms.manifests import Run
from belvedere.transforms.model_store import ModelIndex
from belvedere.transforms.new_slices import DONE, ListNewSlices
from belvedere.transforms.sources import Source
from belvedere.transforms.training_images import LISTED, ListSlices, WithoutBoxed

STAGES = (Stage("Annotating", IMAGES, LISTED),)


@dataclasses.dataclass(frozen=True)
class Options:
    """What the command was told.

    Attributes:
      boxes: images with these boxes are left alone.
      classes: only these, if any are given.
      limit: of the images of each class, drawn by lot.
      models_number: the manifest of the models in force, by default the last.
      tasks: only those with these keys, which were tried `attempt` times before,
      unread: and all in the tars with these keys, which could not be read.
    """

    images: tuple[str | Source, ...]
    models: str
    output: str
    configuration: Annotating
    images_format: str | None = None
    boxes: str | None = None
    boxes_format: str | None = None
    classes: frozenset[str] = frozenset()
    limit: int | None = None
    models_number: int | None = None
    tasks: frozenset[bytes] | None = None
    unread: frozenset[bytes] = frozenset()
    attempt: int = 0
    workers: int = 1
    beam_options: Sequence[str] = ()
    watch: Watch = dataclasses.field(default_factory=Watch)

    @property
    def narrowed(self) -> bool:
        """Whether only some of the images of a slice may be meant."""
        chosen = (self.boxes, self.classes or None, self.limit, self.tasks)
        return any(choice is not None for choice in chosen)


def main(options: Options) -> launching.Counts:
    """Annotates what is new; repeating it is all that a scheduler needs to do."""
    with opening():
        found = tuple(
            sources.detect(one, options.images_format) if isinstance(one, str) else one
            for one in options.images
        )
        boxes = (
            box_sources.detect(options.boxes, options.boxes_format)
            if options.boxes
            else None
        )
    since = launching.check_output(options.output, KIND)
    index = indexed(options.models, options.models_number)
    _require_classes(options, index)
    run = _run(options, found, index)
    job = Job(
        options.output,
        options.models,
        index.number,
        run.config_id,
        options.configuration.accept,
        run.run_id,
        run.code_version,
        options.attempt,
    )

    alone = launching.works_alone(options.beam_options, options.workers)

    def build(pipeline: beam.Pipeline) -> None:
        if options.narrowed:
            listing = ListSlices(found, cuts=options.output, alone=alone)
            slices = pipeline | "List" >> listing
            done: tuple[beam.PCollection, ...] = ()
        else:
            listed = pipeline | "List" >> ListNewSlices(found, job, alone=alone)
            slices, done = listed["slices"], (listed[DONE],)
        wanted = (
            slices | "WithoutBoxed" >> WithoutBoxed(boxes)
            if boxes
            else slices | "All" >> beam.Map(_all)
        )
        if options.classes:
            wanted |= "Classes" >> selection.OfClasses(options.classes)
        if options.limit is not None:
            wanted |= "Limit" >> selection.SomeOfEach(options.limit)
        if options.tasks is not None:
            wanted |= "Tasks" >> beam.FlatMap(_among, options.tasks, options.unread)
        entries = wanted | "Annotate" >> AnnotateSlices(job)
        entries | "Commit" >> CommitEntries(options.output, run, since, done=done)

    counts = launching.launch(
        build, options.beam_options, options.workers, STAGES, options.watch
    )
    return launching.as_committed(counts, options.output, run.run_id, since)


def indexed(models: str, number: int | None = None) -> ModelIndex:
    """The models of a store, of which there must be some."""
    index = model_store.index(models, number)
    if not index.ids:
        raise Mistake(f"{models} holds no models: run `belvedere train` first")
    return index


def _require_classes(options: Options, index: ModelIndex) -> None:
    """Mistake if a class was asked for that was never tried to be learned."""
    lacking = sorted(name for name in options.classes if index.of(name) is None)
    known = [card.label for card in classes.read(options.models)] if lacking else []
    for name in lacking:
        if name not in known:
            raise Mistake(
                f"{options.models} has no class {name!r}"
                f"{configuration.nearest(name, known)}"
            )


def _run(options: Options, found: tuple[Source, ...], index: ModelIndex) -> Run:
    """The run, and all that `retry` needs to know to go through its tasks again."""
    details: dict[str, Any] = {
        "images": [list(source) for source in found],
        "models": stores.store_for(options.models).uri,
        "models_number": index.number,
    }
    return Run(
        launching.run_id(),
        KIND,
        launching.code_version(),
        configuration.digest(options.configuration),
        configuration.flat(options.configuration),
        tuple(sorted(set(index.ids.values()))),
        details,
    )


def _all(piece: Slice) -> Wanted:
    return Wanted(piece)


def _among(
    wanted: Wanted, keys: frozenset[bytes], unread: frozenset[bytes]
) -> Iterator[Wanted]:
    """What of a slice has one of these keys; all, if it is of an unread tar.

    Such a tar is one dead letter, which stands for pictures that nobody has seen.
    """
    partition = wanted.piece.partition
    if wanted.piece.span and _key(partition.uri, partition.label) in unread:
        yield wanted
        return
    found = {task for task in selection.tasks_of(wanted) if _key(*task) in keys}
    yield from selection.narrowed(wanted, found)


def _key(*task: str) -> bytes:
    """As of a row: the tables have another spelling for what is not Unicode."""
    uri, label = (text.encode("utf-8", "backslashreplace").decode() for text in task)
    return committed.key(uri, label)
