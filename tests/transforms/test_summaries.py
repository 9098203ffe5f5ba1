"""Summaries of the log: what they hold, when they are left, and that none is needed."""

import dataclasses
import pathlib

import faults
import outputs
import pytest

from belvedere.transforms import (
    commits,
    documents,
    manifests,
    model_store,
    stores,
    verification,
)
from belvedere.transforms.manifests import Entry
from belvedere.transforms.records import Counts, DataFile


@pytest.fixture
def store(tmp_path):
    return stores.store_for(str(tmp_path / "models"))


def _model(number: int, label: str, identity: str) -> Entry:
    name = f"{label}/{identity}/{model_store.MODEL}"
    file = DataFile(name, 1, 3, "0" * 64)
    return Entry(f"{number:064x}", Counts(annotated=1), (file,))


def _train(store, numbers, **changes) -> None:
    """A commit for each number: a model of one of three classes."""
    run = dataclasses.replace(outputs.run(), kind="train", **changes)
    for n in numbers:
        log = commits.Log(store)
        commits.commit(log, run, [_model(n, f"class-{n % 3}", f"m{n}")])


def _reads(monkeypatch) -> list[str]:
    names, read = [], stores.LocalStore.read
    monkeypatch.setattr(
        stores.LocalStore, "read", lambda s, name: names.append(name) or read(s, name)
    )
    return names


def _newest(count: int) -> dict[str, str]:
    return {f"class-{n % 3}": f"m{n}" for n in range(count)}


def test_the_index_of_models_reads_on_from_a_summary(store, monkeypatch):
    monkeypatch.setattr(commits, "SUMMARY_EVERY", 5)
    _train(store, range(12))
    names = _reads(monkeypatch)
    assert model_store.index(store.uri).ids == _newest(12)
    assert sorted(names) == [
        "manifests/000010-units.json",
        "manifests/000011.json",
        "manifests/000012.json",
    ]


@pytest.mark.parametrize("number", [0, 1, 4, 5, 7, 12])
def test_the_index_as_it_was_after_any_manifest(store, monkeypatch, number):
    monkeypatch.setattr(commits, "SUMMARY_EVERY", 5)
    _train(store, range(12))
    index = model_store.index(store.uri, number)
    assert (index.number, dict(index.ids)) == (number, _newest(number))
    assert len(commits.Log(store, number)) == number


def _as_an_older_program_wrote(store, number: int) -> None:
    path = pathlib.Path(store.path(manifests.summary_name(number)))
    body = documents.unseal(path.read_bytes(), "x")
    del body["sha256"], body["models"]
    path.write_bytes(documents.seal(body))


def test_a_summary_without_models_is_sound_and_not_used(store, monkeypatch):
    monkeypatch.setattr(commits, "SUMMARY_EVERY", 5)
    _train(store, range(7))
    _as_an_older_program_wrote(store, 5)
    assert model_store.index(store.uri).ids == _newest(7)
    found = verification.verify(store).problems
    assert not [one for one in found if one.code == "summary"]
    _train(store, [7])
    assert manifests.listed(store)[1] == [5, 8]
    assert manifests.read_summary(store, 8).models == _newest(8)


def test_a_summary_with_other_models_is_wrong(store, monkeypatch):
    monkeypatch.setattr(commits, "SUMMARY_EVERY", 5)
    _train(store, range(5))
    right = manifests.read_summary(store, 5)
    wrong = dataclasses.replace(right, models={**right.models, "class-0": "m9"})
    path = pathlib.Path(store.path(manifests.summary_name(5)))
    path.unlink()
    manifests.summarize(store, wrong)
    found = verification.verify(store).problems
    assert [one.file for one in found if one.code == "summary"] == [
        manifests.summary_name(5)
    ]


def test_large_manifests_are_summed_up_sooner(store, monkeypatch):
    """Such as those that name 20,000 models; not before they outweigh the summary."""
    monkeypatch.setattr(commits, "SUMMARY_BYTES", 30_000)
    many = tuple(f"{n:016x}" for n in range(500))  # 10 kB in each
    _train(store, range(10), models=many)
    assert manifests.listed(store)[1] == [3, 6, 9]
    monkeypatch.setattr(commits, "_UNIT_BYTES", 1_000_000)
    _train(store, range(10, 20), models=many)
    assert manifests.listed(store)[1] == [3, 6, 9]


@pytest.mark.parametrize("point", faults.POINTS)
def test_killed_between_manifest_and_summary(store, monkeypatch, point):
    monkeypatch.setattr(commits, "SUMMARY_EVERY", 3)
    _train(store, range(2))

    def work():
        faults.arm(point, "manifests", nth=2, act=faults.kill)
        _train(store, [2])

    assert faults.in_child(work) == -9
    assert model_store.index(store.uri).ids == _newest(3)
    assert manifests.listed(store) == ([1, 2, 3], [3] if point == "after_link" else [])
    _train(store, [3])
    assert max(manifests.listed(store)[1]) == (3 if point == "after_link" else 4)
    assert model_store.index(store.uri).ids == _newest(4)
