"""The measurements of `scale.py`, each of one thing the product does."""

import collections
import os
import pathlib
import time
from collections.abc import Callable

import scale_world
from scale_meter import Meter

from belvedere.core import configuration
from belvedere.pipelines import annotate, launching
from belvedere.transforms import annotate as sink
from belvedere.transforms import (
    commits,
    committed,
    input_files,
    localizing,
    model_cache,
    model_store,
    new_slices,
    records,
    schemas,
    stores,
    tables,
    training_images,
    units,
    verification,
)
from belvedere.transforms.inputs import Partition
from belvedere.transforms.manifests import Entry, Run
from belvedere.transforms.records import Counts, DataFile
from belvedere.transforms.sources import Source

FOLDERS = {"annotations", "dead_letters", "records", "manifests", "cuts"}


def measured(told: dict) -> dict:
    """Runs one thing; what it took, in all and in parts."""
    with Meter() as meter:
        _watch(meter)
        start, cpu = time.perf_counter(), time.process_time()
        found = MEASURES[told["what"]](**{k: v for k, v in told.items() if k != "what"})
        took = {
            "seconds": time.perf_counter() - start,
            "cpu_seconds": time.process_time() - cpu,
            "peak_mb": _peak(),
        }
    return {**took, **found, **meter.document()}


def _watch(meter: Meter) -> None:
    meter.put(localizing.Localizer, "row", scale_world.row)
    meter.time(units, "slices", "list")
    meter.time(commits, "commit", "commit")
    meter.time(commits.Log, "refresh", "log")
    meter.time(model_store, "index", "index")
    meter.time(records, "find", "records")
    meter.time(tables, "finish", "write")
    for name, verb in (("_open", "read"), ("_create", "create"), ("_find", "find")):
        meter.count(stores.LocalStore, name, lambda path, verb=verb: _told(verb, path))
    meter.time(input_files, "open_read", "open shard")
    meter.time(input_files, "describe", "stat shard")


def _told(verb: str, path: str) -> str:
    folder = os.path.basename(os.path.dirname(path))
    return f"{verb} {folder if folder in FOLDERS else 'models'}"


def _peak() -> float:
    """Peak resident memory of this process, in MB."""
    status = pathlib.Path("/proc/self/status").read_text()
    line = next(one for one in status.splitlines() if one.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _options(images: str, models: str, output: str) -> annotate.Options:
    return annotate.Options((images,), models, output, scale_world.SETTINGS.annotating)


def night(images: str, models: str, output: str) -> dict:
    """The command, as a scheduler would run it."""
    counts = annotate.main(_options(images, models, output))
    keys = ("annotated", "refused", "dead", "already_done")
    log = pathlib.Path(output, "manifests").iterdir()
    newest = max(file for file in log if len(file.stem) == 6)
    return {
        "counts": {key: getattr(counts, key) for key in keys},
        "manifest_bytes": newest.stat().st_size,
    }


def past(
    images: str,
    models: str,
    output: str,
    first: int,
    last: int,
    per_night: int,
    each: int,
) -> dict:
    """Nights that only have to have been: planner, sink and log without Beam."""
    options = _options(images, models, output)
    index = annotate.indexed(models)
    run = annotate._run(options, (Source("imagenet", images),), index)
    accept = options.configuration.accept
    job = localizing.Job(
        *(output, models, index.number, run.config_id, accept),
        *(run.run_id, run.code_version),
    )
    dofn = sink._LocalizeDoFn(job)
    dofn.setup()
    for night in range(first, last):
        numbers = range(night * per_night, (night + 1) * per_night)
        scale_world.write_shards(pathlib.Path(images), numbers, each)
        labels = [scale_world.label(number) for number in numbers]
        entries = [entry for label in labels for entry in _entries(dofn, images, label)]
        commits.commit(commits.Log(dofn.store), run, entries)
        source = Source("imagenet", images)
        collections.deque(new_slices.looked_up(dofn.store, source, units.IMAGES), 0)
    dofn.teardown()
    return {}


def _entries(dofn: sink._LocalizeDoFn, images: str, label: str) -> list[Entry]:
    partition = Partition("synset", images, f"{images}/{label}.tar", label)
    pieces = units.slices(partition, units.IMAGES, dofn.store)
    return [entry for piece in pieces for entry in dofn.process(sink.Wanted(piece))]


def read(output: str) -> dict:
    """Reads the current rows through the manifests."""
    log = commits.Log(stores.store_for(output))
    columns = [*schemas.TASK, "bbox", "accepted"]
    found = {
        name: sum(len(part) for part in committed.rows(log, name, some))
        for name, some in ((schemas.ANNOTATIONS, columns), (schemas.DEAD_LETTERS, None))
    }
    return {"rows": found}


def verify(output: str) -> dict:
    report = verification.verify(stores.store_for(output))
    return {"problems": len(report.problems), "tasks": report.counts.tasks}


def plan(images: str) -> dict:
    """The listing of the command, to its slices, on the runner in this process."""
    found = annotate.sources.detect(images)

    def build(pipeline: annotate.beam.Pipeline) -> None:
        pipeline | "List" >> training_images.ListSlices((found,), alone=True)

    counts = launching.launch(build)
    return {"listed": counts.stages[training_images.LISTED].items}


def log(uri: str, units: int) -> dict:
    """A log of very many units: its manifests, its summary, and opening it."""
    store = stores.store_for(uri)
    run = Run(
        "r", "annotate", "0", "c", configuration.flat(scale_world.SETTINGS.annotating)
    )
    start = time.perf_counter()
    outcome = commits.commit(commits.Log(store), run, map(_unit, range(units)))
    committing = time.perf_counter() - start
    start = time.perf_counter()
    opened = len(commits.Log(store))
    return {
        "units": opened,
        "manifests": len(outcome.manifests),
        "commit_seconds": committing,
        "open_seconds": time.perf_counter() - start,
        "sizes": {
            file.name.partition("/")[2]: file.size for file in store.list("manifests")
        },
    }


def _unit(number: int) -> Entry:
    digest = f"{number:064x}"
    file = DataFile(tables.file_name("annotations", digest, digest), 64, 30_000, digest)
    return Entry(digest, Counts(annotated=64), (file,))


def index(models: str) -> dict:
    """The models in force, and asking for each."""
    found = model_store.index(models)
    start = time.perf_counter()
    labels = [scale_world.label(number) for number in range(len(found.ids) + 1)]
    known = sum(found.of(label) is not None for label in labels)
    return {"models": known, "lookup_seconds": time.perf_counter() - start}


def cache(models: str, ids: dict[str, str]) -> dict:
    """Reads models through the cache of a worker."""
    kept = model_cache.ModelCache(models)
    for label, identity in ids.items():
        kept.get(label, identity)
    return {"read": len(ids), "kept": len(kept.models.kept)}


MEASURES: dict[str, Callable[..., dict]] = {
    function.__name__: function
    for function in (night, past, read, verify, plan, log, index, cache)
}
