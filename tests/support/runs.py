"""Whole runs of the two pipelines on a tiny toy world, and how to break them.

`world`, `models` and `output` are made once per session and must not be changed.
`Child` runs a command in a process of its own, forked from a server in which everything
slow (imports, compiled code) has been done, so that it can be killed and run again in
seconds. It has one worker: gRPC, which more would need, does not survive a fork.
"""

import atexit
import contextlib
import dataclasses
import functools
import json
import multiprocessing
import os
import pathlib
import pickle
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing import forkserver
from typing import Any

import apache_beam as beam
import faults

from belvedere.core import configuration
from belvedere.pipelines import annotate, launching, toy_data, train
from belvedere.transforms import (
    box_sources,
    commits,
    committed,
    lessons,
    model_store,
    new_slices,
    schemas,
    sources,
    stores,
    training_images,
    verification,
)
from belvedere.transforms.training_slices import TrainingSlice

LABELS = ("zebra", "car")
BOXED, UNBOXED = 8, 4
TASKS = len(LABELS) * (BOXED + UNBOXED)
TINY = configuration.resolve("classic", toy_data.QUICK)


@functools.cache
def session() -> pathlib.Path:
    """A folder that is gone when the session is."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="belvedere-test-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@functools.cache
def world() -> pathlib.Path:
    """`images/<class>/*.jpg`, `boxes.csv` and `truth.csv`."""
    toy_data.write(session() / "world", LABELS, BOXED, UNBOXED)
    return session() / "world"


@functools.cache
def models() -> str:
    """The models of the toy classes, learned without disturbance."""
    told = training(session() / "models", session() / "work")
    counts = Child(train.main, told, per_slice=64).finish()
    assert counts["annotated"] == len(LABELS), counts
    return str(session() / "models")


@functools.cache
def output() -> str:
    """The annotations of the toy world, made without disturbance."""
    told = annotation(session() / "output")
    counts = Child(annotate.main, told, per_slice=64).finish()
    assert counts["annotated"] == TASKS, counts
    return str(session() / "output")


@functools.cache
def seconds(main: Callable) -> float:
    """How long a command takes on the toy world, in work units of a few images."""
    make = training if main is train.main else annotation
    told = make(session() / f"timed-{main.__module__}")
    start = time.perf_counter()
    Child(main, told).finish()
    return time.perf_counter() - start


def training(
    to: pathlib.Path, work: pathlib.Path | None = None, **changes: Any
) -> train.Options:
    """The command that learns the toy world, or another that is laid out like it."""
    of = pathlib.Path(changes.pop("of", world()))
    work = work or to.parent / f"{to.name}-work"
    told = {"images": (str(of / "images"),), "boxes": str(of / "boxes.csv")} | changes
    return train.Options(models=str(to), work=str(work), configuration=TINY, **told)


def annotation(to: pathlib.Path, **changes: Any) -> annotate.Options:
    """The command that annotates the toy world."""
    of = pathlib.Path(changes.pop("of", world()))
    told = {"images": (str(of / "images"),), "models": models()} | changes
    return annotate.Options(output=str(to), configuration=TINY.annotating, **told)


def job(folder: pathlib.Path) -> lessons.Job:
    """A training job into `folder`."""
    return lessons.Job(str(folder / "models"), str(folder / "work"), TINY, "run", "0.1")


@functools.cache
def training_slices() -> tuple[TrainingSlice, ...]:
    """The boxed images of the toy world, as training reads them."""
    return chosen_slices(str(world() / "images"), str(world() / "boxes.csv"))


def chosen_slices(images: str, boxes: str) -> tuple[TrainingSlice, ...]:
    found: list[TrainingSlice] = []
    with pipeline() as p:
        slices = p | training_images.ListSlices((sources.detect(images),))
        choose = training_images.ChooseTrainingImages(box_sources.detect(boxes), 100)
        chosen = (slices | choose)["classes"] | beam.FlatMapTuple(lambda _, c: c)
        collected(chosen | training_images.CutTraining(slices), found)
    return tuple(sorted(found, key=lambda s: (s.label, s.chosen[0].image_id)))


def pipeline(*options: str) -> beam.Pipeline:
    """On the runner that the commands use; behind each `with` stands a run."""
    return beam.Pipeline(
        launching._IN_PROCESS,
        beam.options.pipeline_options.PipelineOptions(list(options)),
    )


def collected(values: beam.PCollection, into: list) -> None:
    """Puts what is in a collection into a list of this process."""
    _LISTS[id(into)] = into
    values | f"Collect {id(into)}" >> beam.Map(_append, id(into))


_LISTS: dict[int, list] = {}


def _append(value: Any, number: int) -> None:
    _LISTS[number].append(value)


@contextlib.contextmanager
def images_per_slice(count: int) -> Iterator[None]:
    """Cuts the input into other work units."""
    makes = [
        one.__init__ for one in (training_images.ListSlices, new_slices.ListNewSlices)
    ]
    before = [make.__defaults__ for make in makes]
    for make in makes:
        make.__defaults__ = (count, *make.__defaults__[1:])
    try:
        yield
    finally:
        for make, defaults in zip(makes, before, strict=True):
            make.__defaults__ = defaults


def rows(
    uri: str, table: str = schemas.ANNOTATIONS, models: list[str] | None = None
) -> list[dict]:
    """The current rows of an output in order of task, without `run_id`."""
    log = commits.Log(stores.store_for(str(uri)))
    found = [
        {name: value for name, value in row.items() if name != "run_id"}
        for part in committed.rows(log, table, models=models)
        for row in part.to_pylist()
    ]
    return sorted(found, key=lambda row: (row["image_uri"], row["label"] or ""))


def model_bytes(uri: str) -> dict[str, bytes]:
    """The model of each class in force, and the shared artefacts."""
    store, index = stores.store_for(str(uri)), model_store.index(str(uri))
    names = [f"{slug}/{identity}/model.npz" for slug, identity in index.ids.items()]
    names += [f.name for kind in ("eyes", "negatives") for f in store.list(kind)]
    return {name: store.read(name) for name in names if "/.tmp-" not in name}


def files(folder: pathlib.Path | str) -> dict[str, tuple[int, int, int]]:
    """Each file of a folder, with what changes when it is written again."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file():
            status = path.stat()
            said = (status.st_ino, status.st_mtime_ns, status.st_size)
            found[str(path.relative_to(folder))] = said
    return found


def assert_sound(uri: str, tasks: int) -> None:
    """The output is whole, and every task was committed exactly once."""
    store = stores.store_for(str(uri))
    report = verification.verify(store)
    assert report.problems == ()
    assert report.waiting == 0
    assert report.counts.tasks == tasks
    for manifest in commits.Log(store).manifests():
        assert manifest.tasks_in == manifest.already_done + manifest.counts.tasks


@dataclasses.dataclass(frozen=True)
class Kill:
    """Where in a run the process kills itself: see `faults`."""

    point: str
    folder: str = ""
    nth: int = 1


class Child:
    """A command in a process of its own."""

    def __init__(
        self,
        main: Callable,
        options: Any,
        kill: Kill | None = None,
        per_slice: int = 3,
    ) -> None:
        self._told = pathlib.Path(tempfile.mkstemp(dir=session())[1])
        arguments = (main, options, kill, per_slice, str(self._told))
        self._process = _server().Process(target=_run, args=arguments, daemon=True)
        self._process.start()

    def kill_after(self, seconds: float) -> bool:
        """kill -9, and True, if it has not ended by then."""
        self._process.join(seconds)
        if self._process.exitcode is not None:
            return False
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.join()
        return True

    def wait(self, seconds: float = 120) -> int:
        """The exit code, -9 if it was killed."""
        self._process.join(seconds)
        assert self._process.exitcode is not None, "the command does not end"
        return self._process.exitcode

    def finish(self) -> dict[str, Any]:
        """Waits for the end, which must be a good one; counts, and items by stage."""
        assert self.wait() == 0, self._told.read_text()
        return json.loads(self._told.read_text())


@functools.cache
def _server() -> multiprocessing.context.ForkServerContext:
    """Where processes are forked; the path of this folder goes by the environment."""
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(["warmed"])
    os.environ["PYTHONPATH"] = str(pathlib.Path(__file__).parent)
    forkserver.ensure_running()
    del os.environ["PYTHONPATH"]
    return server


def _run(
    main: Callable, options: Any, kill: Kill | None, per_slice: int, told: str
) -> None:
    if kill:
        faults.arm(kill.point, kill.folder, kill.nth, faults.kill)
    with images_per_slice(per_slice):
        counts = main(options)
    stages = {name: stage.items for name, stage in counts.stages.items()}
    keys = ("annotated", "refused", "dead", "already_done")
    said = {key: getattr(counts, key) for key in keys}
    said |= {"stages": stages, "counters": dict(counts.counters)}
    pathlib.Path(told).write_text(json.dumps(said))


class Unlucky(Exception):
    """What every element meets once."""


def failing_once(main: Callable) -> Callable:
    """The command, run again and again while each element of each DoFn fails once."""
    return functools.partial(_failing_once, main)


def _failing_once(main: Callable, options: Any) -> launching.Counts:
    met: set[tuple[str, str]] = set()
    for kind in _dofns():
        kind.process = _unlucky(kind.__name__, kind.process, met)
    for _ in range(200):
        try:
            counts = main(options)
        except Exception as error:
            assert "Unlucky" in repr(error), error
            continue
        assert len(met) > 3, "nothing has failed"
        return counts
    raise AssertionError("it fails for ever")


def _unlucky(name: str, process: Callable, met: set) -> Callable:
    """`process` that does its work, and then loses it, the first time."""

    @functools.wraps(process)
    def wrapped(self: beam.DoFn, element: Any, *side: Any) -> Iterator:
        made = list(process(self, element, *side))
        task = (name, repr(element)[:5000])
        if task not in met:
            met.add(task)
            raise Unlucky(name)
        yield from made

    return wrapped


def weighing(main: Callable) -> Callable:
    """The command, which then tells the bytes that each DoFn sent on, as counters."""
    return functools.partial(_weighing, main)


def _weighing(main: Callable, options: Any) -> launching.Counts:
    weights: dict[str, int] = {}
    for kind in _dofns():
        kind.process = _weighed(kind.__name__, kind.process, weights)
    return dataclasses.replace(main(options), counters=weights)


def _weighed(name: str, process: Callable, weights: dict[str, int]) -> Callable:
    @functools.wraps(process)
    def wrapped(self: beam.DoFn, element: Any, *side: Any) -> Iterator:
        for made in process(self, element, *side):
            value = getattr(made, "value", made)
            weights[name] = weights.get(name, 0) + len(pickle.dumps(value))
            yield made

    return wrapped


def _dofns() -> list[type[beam.DoFn]]:
    """Those of the pipelines."""
    from belvedere.transforms import annotate, commit, eyes, train

    return [
        kind
        for module in (annotate, commit, eyes, train)
        for kind in vars(module).values()
        if isinstance(kind, type)
        and issubclass(kind, beam.DoFn)
        and kind.__module__ == module.__name__
    ]
