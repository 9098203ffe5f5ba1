"""The records of classes: a model and its card, or a refusal and its reason."""

import hashlib
import json
from typing import Any, NamedTuple

from belvedere.core.context import learning
from belvedere.core.formats import names
from belvedere.core.types import RELATIONS
from belvedere.transforms import documents, model_store, records, stores
from belvedere.transforms.lessons import Job, Learnt
from belvedere.transforms.manifests import Entry
from belvedere.transforms.records import Counts, DataFile, Record, WorkUnit


class Refusal(NamedTuple):
    """A class that was not learned, why, and the record that says so."""

    label: str
    reason: str
    entry: Entry


def learned(job: Job, label: str, unit: WorkUnit, learnt: Learnt) -> Entry:
    """Writes the model of a class, its card and its record."""
    eyes_id, negatives_id = unit.models
    card = {
        "eyes": model_store.eyes_name(job.configuration.sight),
        "eyes_id": eyes_id,
        "negatives_id": negatives_id,
        "images": len(learnt.marks),
        "learned_from": sorted(" ".join(mark) for mark in learnt.marks),
        "images_chosen": len(unit.inputs),
        "relations": RELATIONS,
        "diagnostics": dict(learnt.appearance.diagnostics),
        **_learning(learnt.learned),
    }
    store = stores.store_for(job.models)
    files = model_store.write_model(store, label, learnt.model, card)
    return _published(job, unit, files, Counts(annotated=1))


def _learning(learned: learning.Learned) -> dict[str, Any]:
    held_out = learned.out_of_fold
    return {
        "alpha": learned.alpha.tolist(),
        "gamma": learned.gamma,
        "gammas": [list(pair) for pair in learned.table],
        "converged": learned.converged,
        "duality_gap": learned.solution.gap,
        "mean_iou_out_of_fold": float(held_out.ious.mean()),
        "calibration_images": len(held_out.ious),
    }


def refused(job: Job, label: str, unit: WorkUnit, reason: str) -> Refusal:
    """Writes a card that says why a class was not learned, and its record."""
    card = {"label": label, "refused": reason}
    data = json.dumps(card, indent=1, sort_keys=True).encode()
    digest = hashlib.sha256(data).hexdigest()
    folder = f"{names.slug(label)}/refused-{unit.digest[:16]}-{digest[:8]}"
    file = DataFile(f"{folder}/{model_store.CARD}", 1, len(data), digest)
    stores.store_for(job.models).create(file.name, data)
    return Refusal(label, reason, _published(job, unit, (file,), Counts(refused=1)))


def known(job: Job, label: str, unit: WorkUnit) -> Entry | Refusal | None:
    """How this class ended before, if it did."""
    store = stores.store_for(job.models)
    record = records.find(store, unit.digest)
    if record is None or not record.counts.refused:
        return Entry.of(record) if record else None
    card = json.loads(store.read(record.files[0].name))
    return Refusal(label, card["refused"], Entry.of(record))


def _published(
    job: Job, unit: WorkUnit, files: tuple[DataFile, ...], counts: Counts
) -> Entry:
    record = Record(unit, files, counts, job.run_id, job.code_version, documents.now())
    return Entry.of(records.publish(stores.store_for(job.models), record))
