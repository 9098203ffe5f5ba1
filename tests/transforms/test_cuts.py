"""A tar is walked through once; how it was cut is kept, and nothing hangs on that."""

import os
import pathlib

import faults
import hostile
import pytest

from belvedere.transforms import cuts, input_files, sources, stores, units

IMAGES = 4


@pytest.fixture
def tar(tmp_path) -> pathlib.Path:
    path = tmp_path / "in" / "n00000001.tar"
    path.parent.mkdir()
    path.write_bytes(_tar(10))
    return path


@pytest.fixture
def store(tmp_path):
    return stores.store_for(str(tmp_path / "out"))


def _tar(members: int) -> bytes:
    return hostile.tar([(f"{n:03}.jpg", b"x" * 700) for n in range(members)])


def _slices(tar: pathlib.Path, store=None) -> list:
    (partition,) = sources.partitions(sources.Source("imagenet", str(tar)))
    return list(units.slices(partition, IMAGES, store))


@pytest.fixture
def opened(monkeypatch) -> list[str]:
    """The inputs that are opened from now on."""
    names, open_read = [], input_files.open_read
    monkeypatch.setattr(
        input_files, "open_read", lambda uri: names.append(uri) or open_read(uri)
    )
    return names


def _kept(store) -> list[pathlib.Path]:
    folder = pathlib.Path(store.path(cuts.FOLDER))
    return [p for p in folder.glob("*") if not p.name.startswith(stores.TEMPORARY)]


def test_a_tar_is_walked_through_once(tar, store, opened):
    first = _slices(tar, store)
    assert [piece.images for piece in first] == [4, 4, 2]
    assert opened == [str(tar)] and len(_kept(store)) == 1
    assert _slices(tar, store) == first == _slices(tar)
    assert opened == [str(tar)] * 2  # once with the store, once without it


def test_what_is_cut_in_another_way_is_cut_anew(tar, store, opened):
    _slices(tar, store)
    (partition,) = sources.partitions(sources.Source("imagenet", str(tar)))
    assert len(list(units.slices(partition, 5, store))) == 2
    tar.write_bytes(_tar(13))
    assert sum(piece.images for piece in _slices(tar, store)) == 13
    os.utime(tar, (1, 1))
    assert sum(piece.images for piece in _slices(tar, store)) == 13
    assert len(opened) == len(_kept(store)) == 4


def test_a_broken_tar_is_not_kept(tar, store):
    tar.write_bytes(_tar(10)[:8000])
    before = _slices(tar, store)
    assert before == _slices(tar, store) and _kept(store) == []
    assert before[-1].inputs[0].stamp.startswith("tar_truncated")


@pytest.mark.parametrize("damage", [b"", b"{}", b'{"schema_version":1}', None])
def test_what_is_kept_may_be_lost_or_damaged(tar, store, damage):
    right = _slices(tar, store)
    (path,) = _kept(store)
    path.unlink() if damage is None else path.write_bytes(damage)
    assert _slices(tar, store) == right


@pytest.mark.parametrize("point", faults.POINTS)
def test_killed_while_keeping(tar, store, point):
    right = _slices(tar)

    def work():
        faults.arm(point, cuts.FOLDER, act=faults.kill)
        _slices(tar, store)

    assert faults.in_child(work) == -9
    assert len(_kept(store)) == (point == "after_link")
    assert _slices(tar, store) == right
    assert len(_kept(store)) == 1
