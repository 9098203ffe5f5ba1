"""Which images are learned from and which are judged on.

Images are held out, cut into folds, or told apart by what given models have seen. Near-
duplicates stay on one side. Between workers travel names and fingerprints.

Paper: section 5, 60K images to learn from and 32K to judge on.
"""

import csv
import dataclasses
import hashlib
import io
from collections.abc import Iterator
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np

from belvedere.core.assessment import near_duplicates, splits
from belvedere.core.formats import names
from belvedere.core.formats.faults import PictureError
from belvedere.transforms import commits, model_store, records, sources, stores, tally
from belvedere.transforms.inputs import InputFault
from belvedere.transforms.lessons import Job
from belvedere.transforms.training_slices import Chosen, TrainingSlice
from belvedere.transforms.workshop_dofn import WorkshopDoFn

SPLIT = "split.csv"
LEARN = -1  # in place of a fold: an image that is only learned from
_LISTED = 1000  # groups of near-duplicates that are told


@dataclasses.dataclass(frozen=True)
class Protocol:
    """How images are told apart, and what is judged.

    Attributes:
      holdout: the share of each class that is judged on, or
      folds: how many parts each class is cut into, each judged on once, or
      models: a store of models, judged on all images they were not learned from, or
      train: the ids of the images to learn from; all others are judged on.
      seed: of the split.
      with_baselines: also judge the methods that take long to learn.
      parts: of the method to do without, for a table of what each adds.
    """

    holdout: float | None = None
    folds: int | None = None
    models: str | None = None
    train: frozenset[str] | None = None
    seed: int = 0
    with_baselines: bool = False
    parts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        ways = (self.holdout, self.folds, self.models, self.train)
        if sum(way is not None for way in ways) != 1:
            raise ValueError("give one of --models, --holdout and --folds")
        if self.holdout is not None and not 0 < self.holdout < 1:
            raise ValueError(f"--holdout {self.holdout}, wanted between 0 and 1")
        if self.folds is not None and self.folds < 2:
            raise ValueError(f"--folds {self.folds}, wanted 2 or more")

    @property
    def draws(self) -> bool:
        """Whether images are told apart by lot."""
        return self.holdout is not None or self.folds is not None

    def document(self) -> dict[str, Any]:
        told = dataclasses.asdict(self)
        return {key: value for key, value in told.items() if key != "train"}


class Mark(NamedTuple):
    """What near-duplicates are known by."""

    label: str
    image_id: str
    content: str
    fingerprint: tuple[int, ...]


Roles = dict[str, int]  # image id -> fold it is judged in, or LEARN


@dataclasses.dataclass(eq=False)
class TellApart(beam.PTransform):
    """Boxed images by class to their roles by class, and near-duplicates.

    Attributes:
      job: the work folder, in which fingerprints are kept.
      protocol: how images are told apart.
      output: where the list of images goes.
      every: slices of all boxed images.
    """

    job: Job
    protocol: Protocol
    output: str
    every: beam.PCollection

    def expand(self, classes: beam.PCollection) -> Any:
        if not self.protocol.draws:
            given = classes | "Given" >> beam.Map(_given, self.protocol)
            nothing = classes.pipeline | "NoDuplicates" >> beam.Create([[]])
            return {"roles": given, "duplicates": nothing}
        marks = self.every | "Mark" >> beam.ParDo(_MarkDoFn(self.job))
        split = (
            marks
            | "AllMarks" >> beam.combiners.ToList()
            | "Split"
            >> beam.FlatMap(_split, self.protocol, self.output).with_outputs(
                "duplicates", main="roles"
            )
        )
        return {"roles": split.roles, "duplicates": split.duplicates}


class _MarkDoFn(WorkshopDoFn):
    """Content hash and fingerprint of each picture of a slice."""

    def process(self, training: TrainingSlice) -> Iterator[Mark]:
        def make() -> dict:
            return {"marks": tuple(self._marks(training))}

        work = self.workshop.work
        with tally.timed("fingerprint", len(training.chosen)):
            kept = work.kept(work.name("marks", training.digest), dict, make)
        for image_id, content, *prints in kept["marks"]:
            fingerprint = tuple(int(part, 16) for part in prints)
            yield Mark(training.label, image_id, content, fingerprint)

    def _marks(self, training: TrainingSlice) -> Iterator[tuple[str, ...]]:
        wanted = {c.uri: c for c in training.chosen}
        for found in sources.read(training.piece):
            if isinstance(found, InputFault) or found[0].uri not in wanted:
                continue
            content = hashlib.sha256(found[1]).hexdigest()
            try:
                image = self.workshop.decoder.decode(found[1]).image
            except PictureError:  # is told of when it is described
                continue
            prints = near_duplicates.fingerprint(image)
            parts = [f"{int(part):016x}" for part in prints]
            yield (wanted[found[0].uri].image_id, content, *parts)


def _split(marks: list[Mark], protocol: Protocol, output: str) -> Iterator:
    """Roles of the images of each class; writes the list of images."""
    marks = sorted(marks)
    if not marks:
        yield beam.pvalue.TaggedOutput("duplicates", [])
        return
    ids, labels = [m.image_id for m in marks], [m.label for m in marks]
    prints = np.array([m.fingerprint for m in marks], np.uint64)
    groups = near_duplicates.groups(ids, [m.content for m in marks], prints)
    if protocol.folds is not None:
        part = splits.folds(ids, groups, protocol.folds, protocol.seed, labels)
    else:
        share = protocol.holdout or 0.0
        kept = splits.holdout(ids, groups, share, protocol.seed, labels)
        part = np.where(kept, 0, LEARN)
    roles: dict[str, Roles] = {}
    for mark, fold in zip(marks, part.tolist(), strict=True):
        roles.setdefault(mark.label, {})[mark.image_id] = fold
    _write_split(roles, protocol, output)
    yield from roles.items()
    yield beam.pvalue.TaggedOutput("duplicates", _alike(marks, groups))


def _alike(marks: list[Mark], groups: np.ndarray) -> list[list[str]]:
    """Groups of near-duplicates, by class and id."""
    members: dict[int, list[str]] = {}
    for mark, group in zip(marks, groups.tolist(), strict=True):
        members.setdefault(group, []).append(f"{mark.label}: {mark.image_id}")
    return [sorted(some) for some in members.values() if len(some) > 1][:_LISTED]


def _write_split(roles: dict[str, Roles], protocol: Protocol, output: str) -> None:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["image", "class", "part"])
    for label, of in sorted(roles.items()):
        for image_id, fold in sorted(of.items()):
            learn = "train" if fold == LEARN else "test"
            part = learn if protocol.folds is None else f"fold {fold}"
            writer.writerow([image_id, label, part])
    data = file.getvalue().encode("utf-8", "backslashreplace")
    stores.store_for(output).replace(SPLIT, data)


def _given(
    keyed: tuple[str, tuple[Chosen, ...]], protocol: Protocol
) -> tuple[str, Roles]:
    """Roles where they are not drawn."""
    label, chosen = keyed
    if protocol.train is not None:
        learn = {c.image_id for c in chosen} & protocol.train
    else:
        seen = _trained_on(protocol.models or "", label)
        learn = {c.image_id for c in chosen if c.uri in seen}
    return label, {c.image_id: LEARN if c.image_id in learn else 0 for c in chosen}


def _trained_on(models: str, label: str) -> set[str]:
    """Addresses of the images that the model of a class was learned from."""
    store = stores.store_for(models)
    mine = f"{names.slug(label)}/{model_store.index(models).of(label)}/"
    for manifest in commits.Log(store).manifests():
        for entry in manifest.entries:
            if any(file.name.startswith(mine) for file in entry.files):
                record = records.find(store, entry.unit)
                return {one.uri for one in record.unit.inputs} if record else set()
    return set()
