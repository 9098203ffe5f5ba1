"""`belvedere retry`: tries the dead letters of an output again, and nothing else.

Where the images and models are is told by the manifest of the run that failed. The same
pipeline does the work, with the models of that run; its graph holds a key of 16 bytes
for each dead letter.
"""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

from belvedere.core.configuration import Annotating
from belvedere.pipelines import annotate, launching
from belvedere.pipelines.failures import Mistake, opening
from belvedere.pipelines.launching import Counts
from belvedere.pipelines.progress import Watch
from belvedere.transforms import commits, committed, documents, stores, tables
from belvedere.transforms.inputs import InputCode
from belvedere.transforms.manifests import Manifest, Run
from belvedere.transforms.schemas import ANNOTATIONS, DEAD_LETTERS, TASK
from belvedere.transforms.sources import Source

Task = tuple[str, str]  # (uri, label), as the tables spell them
# Of a tar they say that it was not read at all, or not to its end.
_UNREAD = (InputCode.NOT_READ, InputCode.NOT_FOUND)


@dataclasses.dataclass(frozen=True)
class Options:
    """What the command was told."""

    output: str
    workers: int = 1
    beam_options: Sequence[str] = ()
    watch: Watch = dataclasses.field(default_factory=Watch)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How the tasks that were tried again ended, and what is left.

    Attributes:
      counts: of the tasks that were tried, one of each run before.
      tried: how many dead letters there were.
      dead: how many there are now, without those that are gone.
      gone: dead letters of what the input does not hold any more, or names otherwise:
        a folder that could not be listed and now has pictures.
      tasks: of the output.
    """

    counts: tuple[Counts, ...]
    tried: int
    dead: int
    gone: int
    tasks: int


def main(options: Options) -> Outcome:
    """Tries all current dead letters again."""
    launching.must_wait("retry", options.beam_options)
    with opening():
        store = stores.store_for(options.output)
    log = commits.Log(store)
    if not log.number:
        raise Mistake(f"{store.uri} holds no output: check --output")
    before = _dead(log)
    groups = _grouped(log, before)
    counts = tuple(
        annotate.main(_again(options, run, {task: before[task] for task in tasks}))
        for run, tasks in groups
    )
    log.refresh()
    left = _dead(log)
    gone = [task for task, letter in left.items() if letter == before.get(task)]
    dead = len(left) - len(gone)
    boxed = committed.rows(log, ANNOTATIONS, columns=["label"])
    tasks = len(left) + sum(map(len, boxed))
    return Outcome(counts, len(before), dead, len(gone), tasks)


class Letter(NamedTuple):
    """How often a task was tried, and why it failed."""

    attempts: int
    code: str


def _dead(log: commits.Log) -> dict[Task, Letter]:
    """The current dead letters."""
    found = committed.rows(log, DEAD_LETTERS, columns=[*TASK, *Letter._fields])
    return {
        (row["image_uri"], row["label"] or ""): Letter(row["attempts"], row["code"])
        for table in found
        for row in table.to_pylist()
    }


def _grouped(
    log: commits.Log, dead: dict[Task, Letter]
) -> list[tuple[Run, frozenset[Task]]]:
    """The dead letters by how they are to be tried again and how often they were."""
    runs: dict[str, Run] = {}
    home: dict[Task, str] = {}
    for manifest in log.manifests():
        run = manifest.run
        alike = documents.digest([dict(run.details), run.config_id])
        runs[alike] = run
        home |= {task: alike for task in _tasks(log.store, manifest) if task in dead}
    groups: dict[tuple[str, int], set[Task]] = {}
    for task, alike in home.items():
        groups.setdefault((alike, dead[task].attempts), set()).add(task)
    return [
        (runs[alike], frozenset(groups[alike, attempt]))
        for alike, attempt in sorted(groups)
    ]


def _tasks(store: stores.Store, manifest: Manifest) -> list[Task]:
    """The dead letters of a manifest."""
    files = [
        file.name
        for entry in manifest.entries
        for file in entry.files
        if file.name.startswith(f"{DEAD_LETTERS}/")
    ]
    found = []
    for name, data in zip(files, stores.read_many(store, files), strict=True):
        table = tables.decode(DEAD_LETTERS, data or b"", store.path(name), [*TASK])
        found += [(row["image_uri"], row["label"] or "") for row in table.to_pylist()]
    return found


def _again(options: Options, run: Run, dead: dict[Task, Letter]) -> annotate.Options:
    try:
        images = tuple(Source(*source) for source in run.details["images"])
        models, number = run.details["models"], run.details["models_number"]
        chosen = Annotating(run.config["accept"])
    except (KeyError, TypeError, ValueError) as error:
        raise Mistake(
            f"{options.output}: its manifest does not say how to repeat run "
            f"{run.run_id} ({error}): run `belvedere annotate` on the input again"
        ) from error
    return annotate.Options(
        images,
        models,
        options.output,
        chosen,
        models_number=number,
        tasks=frozenset(committed.key(*task) for task in dead),
        unread=frozenset(
            committed.key(*task) for task, one in dead.items() if one.code in _UNREAD
        ),
        attempt=max(one.attempts for one in dead.values()),
        workers=options.workers,
        beam_options=options.beam_options,
        watch=options.watch,
    )
