"""Which images are learned from and which are judged on.

Images are held out, cut into folds, or told apart by what given models have seen. Near-
duplicates stay on one side. Between workers travel names and fingerprints.

Paper: section 5, 60K images to learn from and 32K to judge on.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
from jaxtyping import Int64

from belvedere.core.assessment import splits
from belvedere.core.formats.faults import PictureError
from belvedere.transforms import marks, model_store, sources, stores, tally
from belvedere.transforms.inputs import InputFault
from belvedere.transforms.lessons import Job
from belvedere.transforms.marks import Mark
from belvedere.transforms.training_slices import Chosen, TrainingSlice
from belvedere.transforms.workshop_dofn import WorkshopDoFn

LEARN = -1  # in place of a fold: an image that is only learned from
_LISTED = 1000  # groups of near-duplicates that are told
_FORMAT = 2  # of the marks that are kept


@dataclasses.dataclass(frozen=True)
class Protocol:
    """How images are told apart, and what is judged.

    Attributes:
      holdout: the share of each class that is judged on, or
      folds: how many parts each class is cut into, each judged on once, or
      models: a store of models, judged on all images they were not learned from (as it
        was after manifest `models_number`), or
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
    models_number: int | None = None

    def __post_init__(self) -> None:
        ways = (self.holdout, self.folds, self.models, self.train)
        if sum(way is not None for way in ways) != 1:
            raise ValueError("give one of --models, --holdout and --folds")
        if self.models is not None and self.with_baselines:
            raise ValueError(
                "--baselines needs --holdout or --folds: baselines are learned from "
                "the images that the full method is learned from"
            )
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


class Marked(NamedTuple):
    """A picture and what it is known by."""

    label: str
    image_id: str
    mark: Mark


Roles = dict[str, int]  # image id -> fold it is judged in, or LEARN


@dataclasses.dataclass(eq=False)
class TellApart(beam.PTransform):
    """Boxed images by class to their roles by class, and near-duplicates.

    Attributes:
      job: the work folder, in which fingerprints are kept.
      protocol: how images are told apart.
      every: slices of all boxed images.
    """

    job: Job
    protocol: Protocol
    every: beam.PCollection

    def expand(self, classes: beam.PCollection) -> Any:
        if self.protocol.train is not None:
            given = classes | "Given" >> beam.Map(_given, self.protocol.train)
            nothing = classes.pipeline | "NoDuplicates" >> beam.Create([[]])
            return {"roles": given, "duplicates": nothing}
        marked = self.every | "Mark" >> beam.ParDo(_MarkDoFn(self.job))
        if self.protocol.models is not None:
            return self._unseen(classes, marked)
        split = (
            marked
            | "AllMarks" >> beam.combiners.ToList()
            | "Split"
            >> beam.FlatMap(_split, self.protocol).with_outputs(
                "duplicates", main="roles"
            )
        )
        return {"roles": split.roles, "duplicates": split.duplicates}

    def _unseen(self, classes: beam.PCollection, marked: beam.PCollection) -> Any:
        keyed = marked | "ByClass" >> beam.Map(lambda one: (one.label, one))
        told = (
            {"chosen": classes, "marked": keyed}
            | "WithMarks" >> beam.CoGroupByKey()
            | "Unseen"
            >> beam.FlatMap(_unseen, self.protocol).with_outputs(
                "duplicates", main="roles"
            )
        )
        duplicates = (
            told.duplicates
            | "AllDuplicates" >> beam.combiners.ToList()
            | "First" >> beam.Map(lambda every: sorted(every)[:_LISTED])
        )
        return {"roles": told.roles, "duplicates": duplicates}


class _MarkDoFn(WorkshopDoFn):
    """What each picture of a slice is known by."""

    def process(self, training: TrainingSlice) -> Iterator[Marked]:
        def make() -> dict:
            return {"marks": tuple(self._marks(training))}

        work = self.workshop.work
        with tally.timed("fingerprint", len(training.chosen)):
            kept = work.kept(work.name("marks", training.digest, _FORMAT), dict, make)
        for image_id, content, fingerprint in kept["marks"]:
            yield Marked(training.label, image_id, Mark(content, fingerprint))

    def _marks(self, training: TrainingSlice) -> Iterator[tuple[str, ...]]:
        wanted = {c.uri: c for c in training.chosen}
        for found in sources.demanded(training.piece):
            if isinstance(found, InputFault) or found[0].uri not in wanted:
                continue
            try:
                image = self.workshop.decoder.decode(found[1]).image
            except PictureError:  # is told of when it is described
                continue
            yield (wanted[found[0].uri].image_id, *marks.of(found[1], image))


def _split(marked: list[Marked], protocol: Protocol) -> Iterator:
    """Roles of the images of each class, and near-duplicates."""
    marked = sorted(marked)
    if not marked:
        yield beam.pvalue.TaggedOutput("duplicates", [])
        return
    ids, labels = [m.image_id for m in marked], [m.label for m in marked]
    groups = marks.groups(ids, [m.mark for m in marked])
    if protocol.folds is not None:
        part = splits.folds(ids, groups, protocol.folds, protocol.seed, labels)
    else:
        share = protocol.holdout or 0.0
        kept = splits.holdout(ids, groups, share, protocol.seed, labels)
        part = np.where(kept, 0, LEARN)
    roles: dict[str, Roles] = {}
    for one, fold in zip(marked, part.tolist(), strict=True):
        roles.setdefault(one.label, {})[one.image_id] = fold
    yield from roles.items()
    said = [f"{m.label}: {m.image_id}" for m in marked]
    yield beam.pvalue.TaggedOutput("duplicates", _alike(said, groups)[:_LISTED])


def _alike(said: Sequence[str], groups: Int64[np.ndarray, " n"]) -> list[list[str]]:
    """Groups of near-duplicates."""
    members: dict[int, list[str]] = {}
    for name, group in zip(said, groups.tolist(), strict=True):
        members.setdefault(group, []).append(name)
    return [sorted(some) for some in members.values() if len(some) > 1]


def _given(
    keyed: tuple[str, tuple[Chosen, ...]], train: frozenset[str]
) -> tuple[str, Roles]:
    """Roles where the images to learn from are named."""
    label, chosen = keyed
    return label, {c.image_id: LEARN if c.image_id in train else 0 for c in chosen}


def _unseen(keyed: tuple[str, dict[str, Iterable]], protocol: Protocol) -> Iterator:
    """Roles by what the model of a class was learned from, or from a copy of it."""
    label, joined = keyed
    marked, seen = sorted(joined["marked"]), _learned_from(protocol, label)
    ids = [one.image_id for one in marked]
    trained = [f"\0{number}" for number in range(len(seen))]  # like no image's id
    groups = marks.groups([*ids, *trained], [*(one.mark for one in marked), *seen])
    copied = set(groups[len(ids) :].tolist())
    known = {i for i, g in zip(ids, groups.tolist(), strict=False) if g in copied}
    for chosen in joined["chosen"]:
        roles = {c.image_id: LEARN if c.image_id in known else 0 for c in chosen}
        yield label, roles
    new = [n for n, image_id in enumerate(ids) if image_id not in known]
    for some in _alike([f"{label}: {ids[n]}" for n in new], groups[new]):
        yield beam.pvalue.TaggedOutput("duplicates", some)


def _learned_from(protocol: Protocol, label: str) -> list[Mark]:
    """The marks of the images that the model of a class was learned from."""
    models = protocol.models or ""
    identity = model_store.index(models, protocol.models_number).of(label)
    if identity is None:
        return []
    return model_store.learned_from(stores.store_for(models), label, identity)
