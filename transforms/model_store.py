"""Where models live, and the artefacts that all classes share.

  eyes/<digest of the settings>.npz       visual words, learned once and then frozen
  negatives/<digest of the settings>.npz  windows of all classes, likewise
  <class slug>/<model id>/model.npz       a class
  <class slug>/<model id>/card.json       what it was learned from, and how well
  records/, manifests/                    as in an output

A model's id is the digest of its bytes and of its eyes. The eyes and negatives are
created if absent: who comes later uses what is there, so that a new class leaves the
models of the others as they are.
"""

import contextlib
import dataclasses
import functools
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from belvedere.core import archive, configuration, sight
from belvedere.core.appearance import registry
from belvedere.core.appearance.codebooks import Codebook
from belvedere.core.class_model import ClassModel
from belvedere.core.configuration import Sight
from belvedere.core.formats import names
from belvedere.core.sight import Eyes, Samples
from belvedere.transforms import commits, documents, stores
from belvedere.transforms.marks import Mark
from belvedere.transforms.records import DataFile
from belvedere.transforms.stores import OutputConflict, Store

MODEL, CARD = "model.npz", "card.json"


@dataclasses.dataclass(frozen=True)
class ModelIndex:
    """The newest model of each class in a log of commits, by slug; ids alone."""

    uri: str
    number: int
    ids: Mapping[str, str]

    def of(self, label: str) -> str | None:
        """The id of the model of a class, None if there is none."""
        return self.ids.get(names.slug(label))

    @functools.cached_property
    def digest(self) -> str:
        """Stands for the whole set; asked for by each slice of mixed classes."""
        return documents.digest(sorted(self.ids.items()))[:16]


def index(uri: str, number: int | None = None) -> ModelIndex:
    """Reads the log of a model store, up to a manifest or to its end."""
    if number is not None:
        return _index_at(uri, number)
    log = commits.Log(stores.store_for(uri))
    return ModelIndex(uri, log.number, log.models)


@functools.lru_cache(maxsize=4)
def _index_at(uri: str, number: int) -> ModelIndex:
    """Read once per process: what was committed stays, and each exam asks for it."""
    return ModelIndex(uri, number, commits.Log(stores.store_for(uri), number).models)


def artefact_id(data: bytes) -> str:
    """The id of frozen eyes or negatives, from their bytes."""
    return hashlib.sha256(data).hexdigest()[:16]


def model_id(data: bytes, eyes_id: str) -> str:
    """The id of a model, from its bytes and the id of its eyes."""
    return hashlib.sha256(eyes_id.encode() + data).hexdigest()[:16]


def read_model(
    store: Store,
    label: str,
    identity: str,
    eyes_of: Callable[[Store, str], tuple[Eyes, str]] | None = None,
) -> tuple[ClassModel, Eyes]:
    """A model and the eyes it was learned with.

    Args:
      store: of the models.
      label: the class.
      identity: of the model.
      eyes_of: reads eyes by name, `read_eyes` by default.

    Raises:
      OutputConflict: one of them is damaged, or of another version.
    """
    folder = f"{names.slug(label)}/{identity}"
    data, card = store.read(f"{folder}/{MODEL}"), store.read(f"{folder}/{CARD}")
    with _conflicts(store.path(folder)):
        said = json.loads(card)
        if model_id(data, said["eyes_id"]) != identity:
            raise ValueError("its content has another id")
        model = archive.load(data, ClassModel)
    eyes, eyes_id = (eyes_of or read_eyes)(store, said["eyes"])
    if eyes_id != said["eyes_id"]:
        raise OutputConflict(
            f"{store.path(said['eyes'])} is not what {label!r} was learned with"
        )
    return model, eyes


def learned_from(store: Store, label: str, identity: str) -> list[Mark]:
    """The marks of the images that a model was learned from, from its card.

    Raises:
      OutputConflict: the card is damaged, or of another version.
    """
    folder = f"{names.slug(label)}/{identity}"
    with _conflicts(store.path(folder)):
        said = json.loads(store.read(f"{folder}/{CARD}"))["learned_from"]
        return [Mark(*text.split(" ")) for text in said]


@contextlib.contextmanager
def _conflicts(where: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError) as error:
        raise OutputConflict(
            f"{where} is damaged or not ours ({error}): restore it, or train into "
            "another folder"
        ) from error


def write_model(
    store: Store, label: str, model: ClassModel, card: dict[str, Any]
) -> tuple[DataFile, ...]:
    """Writes a model and its card; returns the files for the record."""
    data = archive.dump(model)
    identity = model_id(data, card["eyes_id"])
    folder = f"{names.slug(label)}/{identity}"
    text = json.dumps(
        {**card, "label": label, "model_id": identity}, indent=1, sort_keys=True
    )
    return tuple(
        _written(store, f"{folder}/{name}", content)
        for name, content in ((MODEL, data), (CARD, text.encode()))
    )


def _written(store: Store, name: str, data: bytes) -> DataFile:
    """The file as it stands: a card may have been there before, in other words."""
    if not store.create(name, data):
        data = store.read(name)
    return DataFile(name, 1, len(data), hashlib.sha256(data).hexdigest())


def eyes_name(settings: Sight) -> str:
    return f"eyes/{configuration.digest(settings)}.npz"


def freeze_eyes(
    store: Store, settings: Sight, codebooks: Mapping[str, Codebook]
) -> None:
    """Writes the codebooks, unless there are some for these settings."""
    flat = json.dumps(configuration.flat(settings), sort_keys=True)
    data = archive.dump({"sight": flat, "codebooks": dict(codebooks)})
    store.create(eyes_name(settings), data)


def read_eyes(store: Store, name: str) -> tuple[Eyes, str]:
    """Eyes as they were frozen, and their id; OutputConflict if they are damaged."""
    data = store.read(name)
    with _conflicts(store.path(name)):
        content = archive.load(data, dict)
        base = configuration.Configuration()
        changes = {f"sight.{k}": v for k, v in json.loads(content["sight"]).items()}
        settings = configuration.changed(base, changes).sight
        features = registry.feature_types(content["codebooks"], settings.features)
        eyes = sight.Eyes(features, settings.prim(), settings.side)
    return eyes, artefact_id(data)


def negatives_name(settings: Sight) -> str:
    return f"negatives/{configuration.digest(settings)}.npz"


def freeze_negatives(
    store: Store, settings: Sight, eyes_id: str, pool: Sequence[tuple[str, Samples]]
) -> None:
    """Writes windows with the class of their image, unless there are some already."""
    ordered = sorted(pool, key=lambda pair: (pair[1].image_id, pair[0]))
    data = archive.dump(
        {
            "eyes_id": eyes_id,
            "labels": tuple(label for label, _ in ordered),
            "samples": tuple(samples for _, samples in ordered),
        }
    )
    store.create(negatives_name(settings), data)


def read_negatives(
    store: Store, settings: Sight, eyes_id: str
) -> list[tuple[str, Samples]]:
    """Windows with the class of their image, as these eyes saw them."""
    name = negatives_name(settings)
    data = store.read(name)
    with _conflicts(store.path(name)):
        content = archive.load(data, dict)
        if content["eyes_id"] != eyes_id:
            raise ValueError(f"seen with eyes {content['eyes_id']}, wanted {eyes_id}")
        return list(zip(content["labels"], content["samples"], strict=True))
