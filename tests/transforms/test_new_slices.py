"""Tars that are done are counted and left alone; everything else is a slice."""

import pathlib

import hostile
import runs

from belvedere.transforms import (
    annotate,
    commits,
    input_files,
    localizing,
    model_store,
    sources,
    stores,
)
from belvedere.transforms.annotate import Wanted
from belvedere.transforms.manifests import Run
from belvedere.transforms.new_slices import DONE, ListNewSlices

RUN = Run("run", "annotate", "0", "config", {})


def _shard(folder: pathlib.Path, name: str, members: int) -> None:
    folder.mkdir(exist_ok=True)
    data = hostile.tar([(f"{n:03}.jpg", b"no picture") for n in range(members)])
    (folder / f"{name}.tar").write_bytes(data)


def _job(tmp_path: pathlib.Path, run_id: str, config: str = "config") -> localizing.Job:
    number = model_store.index(runs.models()).number
    output = str(tmp_path / "out")
    return localizing.Job(output, runs.models(), number, config, 0.5, run_id, "0.1")


def _listed(tmp_path: pathlib.Path, job: localizing.Job) -> tuple[list, list]:
    slices, done = [], []
    source = sources.Source("imagenet", str(tmp_path / "in"))
    with runs.pipeline() as p:
        found = p | ListNewSlices((source,), job, 4)
        runs.collected(found["slices"], slices)
        runs.collected(found[DONE], done)
    return sorted(slices, key=lambda s: (s.inputs, s.span)), done


def _commit(job: localizing.Job, slices: list) -> int:
    dofn = annotate._LocalizeDoFn(job)
    dofn.setup()
    made = [entry for piece in slices for entry in dofn.process(Wanted(piece))]
    dofn.teardown()
    commits.commit(commits.Log(stores.store_for(job.output)), RUN, made)
    return sum(entry.counts.tasks for entry in made)


def test_a_tar_is_left_alone_when_all_of_it_is_committed(tmp_path, monkeypatch):
    for name, members in (("n00000001", 6), ("n00000002", 9)):
        _shard(tmp_path / "in", name, members)
    first, done = _listed(tmp_path, _job(tmp_path, "1"))
    assert [s.images for s in first] == [4, 2, 4, 4, 1] and done == [0]
    half = [s for s in first if s.span[0] == 0]
    _commit(_job(tmp_path, "1"), half)
    again, done = _listed(tmp_path, _job(tmp_path, "2"))
    assert again == first and done == [0]  # a unit of each is missing
    assert _commit(_job(tmp_path, "2"), first[1:2]) == 2
    opened = []
    open_read = input_files.open_read
    monkeypatch.setattr(
        input_files, "open_read", lambda uri: opened.append(uri) or open_read(uri)
    )
    rest, done = _listed(tmp_path, _job(tmp_path, "3"))
    assert rest == first[2:] and done == [6] and opened == []
    _shard(tmp_path / "in", "n00000003", 1)
    rest, done = _listed(tmp_path, _job(tmp_path, "4"))
    assert len(rest) == 4 and done == [6] and len(opened) == 1


def test_another_configuration_or_content_is_not_done(tmp_path):
    _shard(tmp_path / "in", "n00000001", 3)
    (piece,), _ = _listed(tmp_path, _job(tmp_path, "1"))
    _commit(_job(tmp_path, "1"), [piece])
    assert _listed(tmp_path, _job(tmp_path, "2")) == ([], [3])
    assert _listed(tmp_path, _job(tmp_path, "3", "other")) == ([piece], [0])
    _shard(tmp_path / "in", "n00000001", 2)
    (changed,), done = _listed(tmp_path, _job(tmp_path, "4"))
    assert changed.images == 2 and done == [0]
