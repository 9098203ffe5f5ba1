"""Parts of the input: some classes, or some images of each class.

A part that is all of a slice is the slice itself, and so the same work unit as without
a selection. Only names are shuffled.
"""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam

from belvedere.core.configuration import nearest
from belvedere.transforms import sources
from belvedere.transforms.annotate import Wanted
from belvedere.transforms.inputs import ImageRef
from belvedere.transforms.training_slices import lot, slice_digest

Task = tuple[str, str]  # (uri, label)


class UnknownClassError(ValueError):
    """Classes that were asked for and are not there; fit for a user."""


@dataclasses.dataclass(eq=False)
class RequireClasses(beam.PTransform):
    """Values by class as they are, once all classes that are wanted are among them."""

    wanted: frozenset[str]

    def expand(self, keyed: beam.PCollection) -> beam.PCollection:
        names = beam.pvalue.AsList(keyed | "Names" >> beam.Keys())
        return keyed | "Known" >> beam.Map(_if_known, self.wanted, names)


def _if_known(
    keyed: tuple[str, Any], wanted: frozenset[str], known: list[str]
) -> tuple[str, Any]:
    for name in sorted(wanted.difference(known)):
        raise UnknownClassError(f"no class {name!r} with boxes{nearest(name, known)}")
    return keyed


@dataclasses.dataclass(eq=False)
class OfClasses(beam.PTransform):
    """Wanted slices to what of them is of these classes.

    What cannot be read, and so is of no class, stays: it might have been one of them.
    """

    classes: frozenset[str]

    def expand(self, wanted: beam.PCollection) -> beam.PCollection:
        return wanted | "Some" >> beam.FlatMap(_of_classes, self.classes)


def _of_classes(wanted: Wanted, classes: frozenset[str]) -> Iterator[Wanted]:
    label = wanted.piece.partition.label
    if label:
        yield from [wanted] if label in classes else []
        return
    tasks = tasks_of(wanted)
    yield from narrowed(wanted, {t for t in tasks if t[1] in classes or not t[1]})


@dataclasses.dataclass(eq=False)
class SomeOfEach(beam.PTransform):
    """Wanted slices to at most `most` tasks of each class, drawn by lot.

    The same ones each time; more of them hold the fewer.
    """

    most: int

    def expand(self, wanted: beam.PCollection) -> beam.PCollection:
        keyed = wanted | "ByDigest" >> beam.Map(lambda w: (slice_digest(w.piece), w))
        drawn = (
            keyed
            | "Draw" >> beam.FlatMapTuple(_draw)
            | "Smallest" >> beam.combiners.Top.SmallestPerKey(self.most)
            | "Each" >> beam.FlatMapTuple(lambda _, lots: lots)
            | "Home" >> beam.Map(lambda one: (one.slice_digest, one.task))
        )
        return (
            {"wanted": keyed, "tasks": drawn}
            | "Regroup" >> beam.CoGroupByKey()
            | "Narrow" >> beam.FlatMapTuple(_some)
        )


class Lot(NamedTuple):
    """A task, its lot, and the slice it is in."""

    number: str
    task: Task
    slice_digest: str


def _draw(digest: str, wanted: Wanted) -> Iterator[tuple[str, Lot]]:
    for ref in sources.references(wanted.piece):
        if ref in wanted:
            name = ref.image_id if isinstance(ref, ImageRef) else ref.uri
            number = lot("limit", ref.label, name)
            yield ref.label, Lot(number, (ref.uri, ref.label), digest)


def _some(_digest: str, joined: dict[str, Iterable]) -> Iterator[Wanted]:
    tasks = set(joined["tasks"])
    for wanted in joined["wanted"]:
        yield from narrowed(wanted, tasks)


def narrowed(wanted: Wanted, tasks: set[Task]) -> Iterator[Wanted]:
    """What of a wanted slice is among these tasks, if anything is."""
    before = tasks_of(wanted)
    after = before & tasks
    if after == before:
        yield wanted
    elif after:
        yield dataclasses.replace(wanted, only=frozenset(after))


def tasks_of(wanted: Wanted) -> set[Task]:
    """The tasks of a wanted slice; no picture is read."""
    refs = sources.references(wanted.piece)
    return {(ref.uri, ref.label) for ref in refs if ref in wanted}
