"""Small work units with rows, for tests of how an output is kept."""

from belvedere.core import types
from belvedere.transforms import manifests, records, stores, tables


def unit(number: int = 0, model: str = "m1", **changes) -> records.WorkUnit:
    inputs = tuple(
        records.Input(f"/pictures/cat/{number}-{i}.jpg", 1000 + i, "etag", "cat")
        for i in range(3)
    )
    return records.WorkUnit("annotate", inputs, (model,), "config-1", **changes)


def row(uri: str, label: str = "cat", model: str = "m1", **changes) -> dict:
    values = {
        "image_id": uri,
        "image_uri": uri,
        "image_sha256": "0" * 64,
        "width": 640,
        "height": 480,
        "exif_orientation": 1,
        "label": label,
        "bbox": [10.0, 20.0, 100.5, 50.25],
        "score": 0.5,
        "accepted": True,
        "status": "annotated",
        "contributions": [0.1] * types.P,
        "model_id": model,
    }
    return values | changes


def refused(uri: str, label: str = "cat") -> dict:
    return {
        "image_id": uri,
        "image_uri": uri,
        "label": label,
        "accepted": False,
        "status": "refused",
    }


def dead(uri: str, label: str | None = "cat") -> dict:
    return {
        "image_uri": uri,
        "label": label,
        "stage": "decode",
        "code": "truncated",
        "message": "ends early",
        "attempts": 1,
    }


def finish(
    store: stores.Store, work: records.WorkUnit, run_id: str = "run-1"
) -> records.Record:
    """One box, one refusal, one dead letter."""
    first, second, third = (file.uri for file in work.inputs)
    boxed = row(first, model=work.models[0])
    return tables.finish(
        store, work, [boxed, refused(second)], [dead(third)], run_id, "0.1"
    )


def run(run_id: str = "run-1", **changes) -> manifests.Run:
    return manifests.Run(
        run_id, "annotate", "0.1", "config-1", {"seed": 0}, ("m1",), **changes
    )
