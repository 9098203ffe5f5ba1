"""kill -9 at named points and at random times; two runs at once; what is new is done.

The killed process is the launcher, which on the runner in this process is the worker
too. A part runs with the suite; `-m slow` adds up to more than a hundred kills.
"""

import pathlib
import random
import shutil
import signal
import time

import faults
import pytest
import runs

from belvedere.pipelines import annotate, toy_data, train
from belvedere.transforms import model_store, records, stores

ANNOTATE_FOLDERS = ("annotations", "records", "manifests")
TRAIN_FOLDERS = (
    *("words", "eyes", "views", "negatives", "appearances", "tables"),
    *("records", "manifests"),
)
SOME_OF_ANNOTATE = (
    runs.Kill("before_write", "annotations", 2),
    runs.Kill("half_written", "records", 3),
    runs.Kill("before_link", "manifests"),
    runs.Kill("after_link", "manifests"),
)
SOME_OF_TRAIN = (
    runs.Kill("after_link", "appearances"),
    runs.Kill("half_written", "records", 2),
)


def _all(folders: tuple[str, ...], nths: tuple[int, ...], but: tuple) -> list:
    every = [
        runs.Kill(point, folder, nth)
        for folder in folders
        for point in faults.POINTS
        for nth in nths
        if folder != "manifests" or nth == 1
    ]
    return [pytest.param(k, marks=pytest.mark.slow) for k in every if k not in but]


def _finished(uri: pathlib.Path) -> dict[str, int]:
    """The units that have a valid record, with their numbers of tasks."""
    store = stores.store_for(str(uri))
    names = [pathlib.Path(file.name).stem for file in store.list(records.FOLDER)]
    found = [records.find(store, n) for n in names if not n.startswith(".tmp-")]
    return {record.unit.digest: record.counts.tasks for record in found if record}


def _assert_kept(before: dict, folder: pathlib.Path) -> None:
    """No file was written again, changed or removed."""
    after = runs.files(folder)
    assert {name: after.get(name) for name in before} == before


def _annotate_on(output: pathlib.Path) -> None:
    """Repeats the command: it does the rest, and only that."""
    done, before = _finished(output), runs.files(output)
    counts = runs.Child(annotate.main, runs.annotation(output)).finish()
    assert counts["stages"].get("localize", 0) == runs.TASKS - sum(done.values())
    _assert_kept(before, output)
    assert runs.rows(output) == runs.rows(runs.output())
    runs.assert_sound(output, runs.TASKS)


def _train_on(models: pathlib.Path) -> None:
    done, before = _finished(models), runs.files(models)
    work = models.parent / f"{models.name}-work"
    kept = runs.files(work)
    counts = runs.Child(train.main, runs.training(models)).finish()
    assert counts["stages"].get("context", 0) == len(runs.LABELS) - len(done)
    _assert_kept(before, models)
    _assert_kept(kept, work)
    assert runs.model_bytes(models) == runs.model_bytes(runs.models())
    runs.assert_sound(models, len(runs.LABELS))


@pytest.mark.parametrize(
    "kill", [*SOME_OF_ANNOTATE, *_all(ANNOTATE_FOLDERS, (1, 4), SOME_OF_ANNOTATE)]
)
def test_annotate_killed_at_a_point_goes_on_from_there(tmp_path, kill):
    child = runs.Child(annotate.main, runs.annotation(tmp_path / "output"), kill)
    assert child.wait() == -signal.SIGKILL
    _annotate_on(tmp_path / "output")


@pytest.mark.parametrize(
    "kill", [*SOME_OF_TRAIN, *_all(TRAIN_FOLDERS, (1,), SOME_OF_TRAIN)]
)
def test_train_killed_at_a_point_goes_on_from_there(tmp_path, kill):
    child = runs.Child(train.main, runs.training(tmp_path / "models"), kill)
    assert child.wait() == -signal.SIGKILL
    _train_on(tmp_path / "models")


@pytest.mark.slow
@pytest.mark.parametrize("nth", range(1, 25, 2))
def test_train_killed_at_any_write_goes_on_from_there(tmp_path, nth):
    point = faults.POINTS[nth // 2 % len(faults.POINTS)]
    told = runs.training(tmp_path / "models")
    child = runs.Child(train.main, told, runs.Kill(point, nth=nth))
    assert child.wait() in (-signal.SIGKILL, 0)  # there may be fewer writes
    _train_on(tmp_path / "models")


def _seeds(few: int, many: int) -> list:
    slow = [pytest.param(n, marks=pytest.mark.slow) for n in range(few, many)]
    return [*range(few), *slow]


@pytest.mark.parametrize("seed", _seeds(1, 12))
def test_annotate_killed_at_random_times_ends_the_same(tmp_path, seed):
    assert _killed(annotate.main, runs.annotation(tmp_path / "output"), seed, 4)
    _annotate_on(tmp_path / "output")


@pytest.mark.parametrize("seed", _seeds(0, 9))
def test_train_killed_at_random_times_ends_the_same(tmp_path, seed):
    assert _killed(train.main, runs.training(tmp_path / "models"), seed, 3)
    _train_on(tmp_path / "models")


def _killed(main, told, seed: int, times: int) -> int:
    """Starts a command several times over; how often it was killed before its end."""
    rng, whole = random.Random(seed), runs.seconds(main)
    waits = sorted(rng.uniform(0.0, 0.6 * whole) for _ in range(times))
    return sum(runs.Child(main, told).kill_after(wait) for wait in waits)


def test_two_runs_at_once_commit_every_task_once(tmp_path):
    told = runs.annotation(tmp_path / "output")
    both = [runs.Child(annotate.main, told) for _ in range(2)]
    counts = [child.finish() for child in both]
    assert sum(c["annotated"] for c in counts) == runs.TASKS
    assert all(c["annotated"] + c["already_done"] == runs.TASKS for c in counts)
    runs.assert_sound(tmp_path / "output", runs.TASKS)
    assert runs.rows(tmp_path / "output") == runs.rows(runs.output())


@pytest.mark.slow
def test_two_trainings_at_once_make_each_model_once(tmp_path):
    told = runs.training(tmp_path / "models")
    both = [runs.Child(train.main, told) for _ in range(2)]
    counts = [child.finish() for child in both]
    assert sum(c["annotated"] for c in counts) == len(runs.LABELS)
    runs.assert_sound(tmp_path / "models", len(runs.LABELS))
    assert runs.model_bytes(tmp_path / "models") == runs.model_bytes(runs.models())


def test_a_finished_command_repeated_writes_nothing():
    for main, told, folder in (
        (train.main, runs.training(pathlib.Path(runs.models())), runs.models()),
        (annotate.main, runs.annotation(pathlib.Path(runs.output())), runs.output()),
    ):
        before = runs.files(runs.session())
        counts = runs.Child(main, told, per_slice=64).finish()
        assert counts["annotated"] == counts["refused"] == counts["dead"] == 0
        assert counts["already_done"] > 0
        assert not set(counts["stages"]) & {"describe", "look", "words", "write"}
        after = {n: f for n, f in runs.files(runs.session()).items() if "/" in n}
        assert after == {n: f for n, f in before.items() if "/" in n}, folder


def test_only_what_is_new_is_computed(tmp_path):
    """A new class folder, then new images in an old one, among others."""
    of, output = tmp_path / "world", tmp_path / "output"
    shutil.copytree(runs.world() / "images" / "zebra", of / "images" / "zebra")
    told = runs.annotation(output, of=of)
    first = runs.Child(annotate.main, told).finish()
    assert first["stages"]["localize"] == 12
    shutil.copytree(runs.world() / "images" / "car", of / "images" / "car")
    second = runs.Child(annotate.main, told).finish()
    assert second["stages"]["localize"] == 12
    assert (second["annotated"], second["already_done"]) == (12, 12)
    shutil.copy(of / "images/car/00000.jpg", of / "images" / "car" / "zz-last.jpg")
    third = runs.Child(annotate.main, told).finish()
    assert 1 <= third["stages"]["localize"] <= 7  # the slice that it falls into
    assert len(runs.rows(output)) == 25
    uris = [row["image_uri"] for row in runs.rows(output)]
    assert len(set(uris)) == 25


def test_another_model_annotates_everything_again_and_old_rows_stay(tmp_path):
    output, models = tmp_path / "output", tmp_path / "models"
    shutil.copytree(runs.models(), models)
    told = runs.annotation(output, models=str(models))
    runs.Child(annotate.main, told).finish()
    old = model_store.index(str(models))
    before = runs.rows(output)
    _retrained(models)
    new = model_store.index(str(models))
    assert set(new.ids) == set(old.ids)
    assert not set(new.ids.values()) & set(old.ids.values())
    counts = runs.Child(annotate.main, told).finish()
    assert counts["annotated"] == counts["stages"]["localize"] == runs.TASKS
    assert {r["model_id"] for r in runs.rows(output)} == set(new.ids.values())
    assert runs.rows(output, models=list(old.ids.values())) == before


def _retrained(models: pathlib.Path) -> None:
    """Other boxes for some images: other models, seen with the same eyes."""
    boxes = models.parent / "boxes.csv"
    lines = (runs.world() / "boxes.csv").read_text().splitlines()
    kept = [line for line in lines if "/00000.jpg" not in line]
    here = [line.replace("images/", f"{runs.world()}/images/", 1) for line in kept]
    boxes.write_text("\n".join(here) + "\n")
    told = runs.training(models, boxes=str(boxes))
    assert runs.Child(train.main, told).finish()["annotated"] == len(runs.LABELS)


def test_a_new_class_leaves_the_models_of_the_others_as_they_are(tmp_path):
    of, models = tmp_path / "world", tmp_path / "models"
    shutil.copytree(runs.world(), of)
    told = runs.training(models, of=of)
    runs.Child(train.main, told).finish()
    before, old = runs.files(models), model_store.index(str(models)).ids
    toy_data.write(of, ("ball",), runs.BOXED, 0)
    boxes = (of / "boxes.csv").read_text().splitlines()
    told_before = (runs.world() / "boxes.csv").read_text().splitlines()
    (of / "boxes.csv").write_text("\n".join(told_before + boxes[1:]) + "\n")
    counts = runs.Child(train.main, told).finish()
    assert (counts["annotated"], counts["already_done"]) == (1, len(runs.LABELS))
    assert counts["stages"]["describe"] == runs.BOXED
    assert counts["stages"]["context"] == 1
    _assert_kept(before, models)
    new = model_store.index(str(models)).ids
    assert {slug: new[slug] for slug in old} == old and len(new) == len(old) + 1


@pytest.mark.slow
def test_the_work_folder_may_go_between_runs(tmp_path):
    models, work = tmp_path / "models", tmp_path / "models-work"
    kill = runs.Kill("before_write", "tables", 2)
    child = runs.Child(train.main, runs.training(models), kill)
    assert child.wait() == -signal.SIGKILL
    shutil.rmtree(work)
    _train_on(models)


def test_the_work_folder_may_go_at_any_time_during_a_run(tmp_path):
    models, work = tmp_path / "models", tmp_path / "models-work"
    child = runs.Child(train.main, runs.training(models))
    deleted = 0
    while child._process.is_alive():
        deleted += work.exists()
        shutil.rmtree(work, ignore_errors=True)
        time.sleep(0.02)
    counts = child.finish()
    assert deleted > 3
    assert counts["annotated"] == len(runs.LABELS)
    assert runs.model_bytes(models) == runs.model_bytes(runs.models())


def test_what_is_in_the_log_is_known_without_its_records(tmp_path):
    """A night asks nothing of the units of past nights, one by one."""
    output = tmp_path / "output"
    shutil.copytree(runs.output(), output)
    shutil.rmtree(output / "records")
    before = runs.files(output)
    told = runs.annotation(output)
    counts = runs.Child(annotate.main, told, per_slice=64).finish()
    assert (counts["annotated"], counts["already_done"]) == (0, runs.TASKS)
    assert runs.files(output) == before
