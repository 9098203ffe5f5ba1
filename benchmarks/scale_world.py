"""A world without images for `scale.py`: shards, folders, models and rows.

Shards are ImageNet tars of one class with empty members. A row is drawn from the digest
of the image's id, in place of localizing; one task in 2048 becomes a dead letter.
"""

import hashlib
import pathlib
import tarfile
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from belvedere.core import configuration
from belvedere.core.appearance import registry
from belvedere.core.appearance.codebooks import Codebook
from belvedere.core.assessment.calibration import Calibration
from belvedere.core.class_model import ClassModel
from belvedere.core.context.scaling import Scaling
from belvedere.core.embedding.affine import AffineMap
from belvedere.core.formats import names
from belvedere.core.prediction.relation_gp import RelationGP
from belvedere.core.types import P, R
from belvedere.transforms import commits, localizing, model_store, stores
from belvedere.transforms.manifests import Entry, Run
from belvedere.transforms.records import Counts, DataFile

SETTINGS = configuration.Configuration()
_BOXES = ("bbox", "window_bbox", "runner_up_bbox")
_NUMBERS = (
    *("score", "expected_iou", "iou_lower", "gp_mean", "gp_std", "bound_left"),
    "runner_up_score",
)


def label(number: int) -> str:
    return f"n{number:08d}"


def write_shards(folder: pathlib.Path, numbers: Iterable[int], images: int) -> None:
    """A tar for each class, all of one content."""
    folder.mkdir(parents=True, exist_ok=True)
    members = (tarfile.TarInfo(f"{n:06d}.JPEG") for n in range(images))
    content = b"".join(m.tobuf(tarfile.USTAR_FORMAT) for m in members) + bytes(1024)
    for number in numbers:
        (folder / f"{label(number)}.tar").write_bytes(content)


def write_folders(folder: pathlib.Path, numbers: Iterable[int], images: int) -> None:
    """A folder of empty files for each class."""
    for number in numbers:
        home = folder / label(number)
        home.mkdir(parents=True)
        for n in range(images):
            (home / f"{n:06d}.JPEG").touch()


def row(self: localizing.Localizer, found: Any) -> dict[str, Any]:
    """In place of `Localizer.row`: what it returns, without looking at a picture."""
    ref, _ = found
    bits = hashlib.shake_128(ref.image_id.encode()).digest(
        8 * (4 * len(_BOXES) + 8 + P)
    )
    if bits[0] == 0 and bits[1] < 32:
        return self._dead(ref, "decode", "truncated", "ends early")
    known = {
        "image_id": ref.image_id,
        "image_uri": ref.uri,
        "image_sha256": bits[:32].hex(),
        "width": 500,
        "height": 375,
        "exif_orientation": 1,
        "label": ref.label,
        "config_id": self.job.config_id,
    }
    identity = self.index.of(ref.label)
    if identity is None:
        return {**known, "status": "refused", "accepted": False}
    values = (np.frombuffer(bits, np.uint64) / 2.0**64).tolist()
    boxes = {
        name: [500 * v for v in values[4 * n : 4 * n + 4]]
        for n, name in enumerate(_BOXES)
    }
    return {
        **known,
        **boxes,
        **dict(zip(_NUMBERS, values[12:], strict=False)),
        "accepted": values[13] >= self.job.accept,
        "accept_rule": localizing.RULE.format(self.job.accept),
        "status": "annotated",
        "candidates": 1000,
        "windows_evaluated": 4,
        "contributions": values[-P:],
        "model_id": identity,
    }


def commit_models(uri: str, numbers: Iterable[int], version: int = 0) -> None:
    """Commits a model of each class, of which only the name exists."""
    commits.commit(
        commits.Log(stores.store_for(uri)),
        Run(f"train-{version}", "train", "0", "c", configuration.flat(SETTINGS)),
        (_trained(number, version) for number in numbers),
    )


def _trained(number: int, version: int) -> Entry:
    digest = hashlib.sha256(f"{number} {version}".encode()).hexdigest()
    folder = f"{names.slug(label(number))}/{digest[:16]}"
    files = tuple(
        DataFile(f"{folder}/{name}", 1, 1000, digest)
        for name in (model_store.MODEL, model_store.CARD)
    )
    return Entry(digest, Counts(annotated=1), files)


def write_models(uri: str, count: int) -> tuple[dict[str, str], int]:
    """Models of the real shape with random numbers; their ids, and the size of one."""
    store, rng = stores.store_for(uri), np.random.default_rng(0)
    sight = SETTINGS.sight
    model_store.freeze_eyes(store, sight, dict(_codebooks(rng)))
    eyes_name = model_store.eyes_name(sight)
    eyes, eyes_id = model_store.read_eyes(store, eyes_name)
    card = {"eyes": eyes_name, "eyes_id": eyes_id}
    ids, size = {}, 0
    for number in range(count):
        model = _model(rng, {n: kind.length for n, kind in eyes.features.items()})
        model_file, _ = model_store.write_model(store, label(number), model, card)
        ids[label(number)] = model_file.name.split("/")[1]
        size = model_file.size
    return ids, size


def _codebooks(rng: np.random.Generator) -> Iterator[tuple[str, Codebook]]:
    for name, recipe in registry.recipes(SETTINGS.sight.features).items():
        leaves = rng.integers(0, 100, (recipe.words, recipe.local.length), np.int16)
        starts = np.arange(0, recipe.words + 1, 32, dtype=np.int64)
        yield name, Codebook(name, leaves[::32], leaves, starts)


def _model(rng: np.random.Generator, lengths: dict[str, int]) -> ClassModel:
    wide, points = SETTINGS.method.embedding.dimensions, SETTINGS.method.gp.inducing
    maps = {
        name: AffineMap(
            rng.random((length, min(wide, length)), np.float32),
            np.zeros(min(wide, length)),
        )
        for name, length in lengths.items()
    }
    inputs = sum(len(one.offset) for one in maps.values())
    gp = RelationGP(
        rng.random((points, inputs)),
        np.ones(inputs),
        1.0,
        0.1,
        rng.random((R, points)),
        rng.random((points, points)),
    )
    scaling = Scaling(np.zeros(P), np.ones(P))
    line = Calibration(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    return ClassModel(maps, gp, np.ones(P), scaling, line, 0.1)
