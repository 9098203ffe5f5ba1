"""`belvedere retry`: tries the dead letters of an output again, and nothing else.

Where the images and models are is told by the manifest of the run that failed. The same
pipeline does the work, with the models of that run; its graph holds a key of 16 bytes
for each dead letter.
"""

import dataclasses
from collections.abc import Sequence

from belvedere.core.configuration import Annotating
from belvedere.pipelines import annotate, launching
from belvedere.pipelines.failures import Mistake, opening
from belvedere.pipelines.launching import Counts
from belvedere.pipelines.progress import Watch
from belvedere.transforms import commits, committed, documents, stores, tables
from belvedere.transforms.manifests import Manifest, Run
from belvedere.transforms.schemas import ANNOTATIONS, DEAD_LETTERS, TASK
from belvedere.transforms.sources import Source

Task = tuple[str, str]  # (uri, label), as the tables spell them


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
      dead: how many there are now.
      tasks: of the output.
    """

    counts: tuple[Counts, ...]
    tried: int
    dead: int
    tasks: int

    @property
    def gone(self) -> int:
        """Dead letters that the input does not hold any more."""
        return self.tried - sum(counts.tasks for counts in self.counts)


def main(options: Options) -> Outcome:
    """Tries all current dead letters again."""
    launching.must_wait("retry", options.beam_options)
    with opening():
        store = stores.store_for(options.output)
    log = commits.Log(store)
    if not log.number:
        raise Mistake(f"{store.uri} holds no output: check --output")
    groups = _grouped(log)
    counts = tuple(
        annotate.main(_again(options, run, attempt, tasks))
        for run, attempt, tasks in groups
    )
    log.refresh()
    dead = len(_dead(log))
    boxed = committed.rows(log, ANNOTATIONS, columns=["label"])
    tried = sum(len(tasks) for _, _, tasks in groups)
    return Outcome(counts, tried, dead, dead + sum(map(len, boxed)))


def _dead(log: commits.Log) -> dict[Task, int]:
    """The current dead letters, and how often each was tried."""
    found = committed.rows(log, DEAD_LETTERS, columns=[*TASK, "attempts"])
    return {
        (row["image_uri"], row["label"] or ""): row["attempts"]
        for table in found
        for row in table.to_pylist()
    }


def _grouped(log: commits.Log) -> list[tuple[Run, int, frozenset[Task]]]:
    """The dead letters by how they are to be tried again and how often they were."""
    dead = _dead(log)
    runs: dict[str, Run] = {}
    home: dict[Task, str] = {}
    for manifest in log.manifests():
        run = manifest.run
        alike = documents.digest([dict(run.details), run.config_id])
        runs[alike] = run
        home |= {task: alike for task in _tasks(log.store, manifest) if task in dead}
    groups: dict[tuple[str, int], set[Task]] = {}
    for task, alike in home.items():
        groups.setdefault((alike, dead[task]), set()).add(task)
    return [
        (runs[alike], attempt, frozenset(groups[alike, attempt]))
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


def _again(
    options: Options, run: Run, attempt: int, tasks: frozenset[Task]
) -> annotate.Options:
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
        tasks=frozenset(committed.key(*task) for task in tasks),
        attempt=attempt,
        workers=options.workers,
        beam_options=options.beam_options,
        watch=options.watch,
    )
