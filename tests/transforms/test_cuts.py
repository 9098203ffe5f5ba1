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


def _many(tar: pathlib.Path, count: int) -> list[str]:
    """Digests of so many tars, made where there are none; their sizes differ."""
    tar.unlink(missing_ok=True)
    digests = []
    for n in range(count):
        path = tar.with_name(f"n{n + 2:08}.tar")
        if not path.exists():
            path.write_bytes(_tar(n % 7 + 1))
        (partition,) = sources.partitions(sources.Source("imagenet", str(path)))
        digests.append(cuts.digest(units.tar_of(partition), partition.kind, IMAGES))
    return digests


def _cut_all(tar: pathlib.Path, store) -> None:
    for partition in sources.partitions(sources.Source("imagenet", str(tar.parent))):
        list(units.slices(partition, IMAGES, store))


@pytest.fixture
def read(monkeypatch) -> list[str]:
    """The files of outputs that are read from now on."""
    names, read = [], stores.LocalStore.read
    monkeypatch.setattr(
        stores.LocalStore, "read", lambda s, name: names.append(name) or read(s, name)
    )
    return names


def test_cuts_of_many_tars_are_read_from_one_file(tar, store, read):
    digests = _many(tar, cuts.APART + 8)
    assert cuts.known(store, "source", digests) == {}
    _cut_all(tar, store)
    first = cuts.known(store, "source", digests)
    assert list(first) == digests
    for n, found in enumerate(first.values()):
        assert sum(images for _, _, images in found) == n % 7 + 1
    read.clear()
    assert cuts.known(store, "source", digests) == first and len(read) == 1
    assert cuts.known(store, "another", digests[:3]) == dict(list(first.items())[:3])
    read.clear()
    assert cuts.known(store, "source", digests[5:]) == dict(list(first.items())[5:])
    assert len(read) == 1


def test_a_few_tars_that_came_since_are_read_one_by_one(tar, store, read):
    before = _many(tar, cuts.APART + 1)
    _cut_all(tar, store)
    cuts.known(store, "source", before)
    digests = _many(tar, cuts.APART + 4)
    _cut_all(tar, store)
    read.clear()
    assert len(cuts.known(store, "source", digests)) == len(digests)
    assert len(read) == 1 + 3  # all together, and each that is new


@pytest.mark.parametrize("damage", [b"", b"{}", None])
def test_what_stands_together_may_be_lost_or_damaged(tar, store, damage):
    digests = _many(tar, cuts.APART + 1)
    _cut_all(tar, store)
    right = cuts.known(store, "source", digests)
    (path,) = [path for path in _kept(store) if path.name.startswith("all-")]
    path.unlink() if damage is None else path.write_bytes(damage)
    assert cuts.known(store, "source", digests) == right
