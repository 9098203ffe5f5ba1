"""Cutting sources into slices: all of it, once, and new images disturb little."""

import os
import pathlib
import pickle

import hostile
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belvedere.transforms import sources, units
from belvedere.transforms.inputs import UNKNOWN_SIZE, Handful, Partition, Slice
from belvedere.transforms.records import Input, WorkUnit


def listed(names):
    return [Input(f"/in/cat/{name}", 1, "1", "cat") for name in sorted(names)]


def numbered(count, first=0):
    return [f"{i:06}.jpg" for i in range(first, first + count)]


def cut(names, average=64):
    return list(units.cut(listed(names), average))


def unit(piece):
    return WorkUnit("annotate", piece.inputs, ("model",), "config", piece.span).digest


def planned(uri, images=units.IMAGES):
    source = sources.detect(str(uri))
    parts = list(sources.partitions(source))
    return [piece for part in parts for piece in units.slices(part, images)]


@settings(max_examples=80, deadline=None)
@given(st.sets(st.text(max_size=8), max_size=300), st.integers(1, 40))
def test_every_image_is_in_one_slice_of_bounded_size(names, average):
    runs = cut(names, average)
    assert [item for run in runs for item in run] == listed(names)
    assert all(len(run) <= 2 * average for run in runs)
    assert all(len(run) >= max(1, average // 2) for run in runs[:-1])


@pytest.mark.parametrize("average", [1, 8, 64])
def test_slices_are_about_as_large_as_wanted(average):
    runs = cut(numbered(100 * average), average)
    assert 50 <= len(runs) <= 200


def changed(before, after):
    known = {tuple(run) for run in before}
    return sum(tuple(run) not in known for run in after)


def test_one_more_image_changes_hardly_more_than_its_own_slice():
    names = numbered(4000)
    before = cut(names)
    touched = [
        changed(before, cut([*names, f"{at:06}x.jpg"])) for at in range(0, 4000, 40)
    ]
    assert max(touched) <= 6
    assert sum(touched) / len(touched) < 2.2


def test_images_that_come_last_touch_one_old_slice():
    names = numbered(3000)
    before = {tuple(run) for run in cut(names)}
    after = {tuple(run) for run in cut([*names, *numbered(1000, 3000)])}
    assert len(before - after) <= 1


def test_images_that_go_change_little():
    names = numbered(3000)
    assert changed(cut(names), cut(names[:1500] + names[1501:])) <= 4


def test_where_to_cut_does_not_depend_on_where_the_folder_is():
    here = [len(run) for run in cut(numbered(1000))]
    moved = [item.uri.replace("/in/", "gs://else/") for item in listed(numbered(1000))]
    there = units.cut([Input(uri, 5, "9", "cat") for uri in moved], 64)
    assert [len(run) for run in there] == here


@pytest.fixture
def folder(tmp_path):
    for name in numbered(200):
        pathlib.Path(tmp_path, "cat").mkdir(exist_ok=True)
        pathlib.Path(tmp_path, "cat", name).write_bytes(b"x")
    return tmp_path


def test_planning_twice_gives_the_same_units(folder):
    assert [*map(unit, planned(folder, 8))] == [*map(unit, planned(folder, 8))]


def test_a_new_image_leaves_most_units_alone(folder):
    before = {unit(piece) for piece in planned(folder, 8)}
    (folder / "cat" / "000100x.jpg").write_bytes(b"new")
    after = {unit(piece) for piece in planned(folder, 8)}
    assert 1 <= len(after - before) <= 4
    assert len(before - after) <= 4


def test_a_changed_image_makes_its_unit_new(folder):
    before = {unit(piece) for piece in planned(folder, 8)}
    os.utime(folder / "cat" / "000100.jpg", ns=(1, 1))
    after = {unit(piece) for piece in planned(folder, 8)}
    assert len(after - before) == len(before - after) == 1


def test_one_shard_more_is_the_only_new_work(tmp_path):
    def shard(number):
        members = [(f"{number}-{i}.jpg", b"x") for i in range(20)]
        members = [
            m for i, m in enumerate(members) for m in (m, (f"{m[0][:-4]}.cls", b"c"))
        ]
        (tmp_path / f"s-{number}.tar").write_bytes(hostile.tar(members))

    for number in range(10):
        shard(number)
    before = {unit(piece) for piece in planned(tmp_path, 8)}
    shard(10)
    after = planned(tmp_path, 8)
    assert len(before) == 30
    fresh = [piece for piece in after if unit(piece) not in before]
    assert {piece.partition.uri for piece in fresh} == {f"{tmp_path}/s-10.tar"}
    assert before < {unit(piece) for piece in after}
    assert sum(piece.images for piece in fresh) == 20


def test_slices_of_a_tar_meet_without_a_gap(tmp_path):
    members = [(f"{i}.JPEG", b"x" * i * 100) for i in range(30)]
    (tmp_path / "n00000001.tar").write_bytes(hostile.tar(members))
    pieces = planned(tmp_path, 7)
    spans = [piece.span for piece in pieces]
    assert spans[0][0] == 0
    assert [stop for _, stop in spans[:-1]] == [start for start, _ in spans[1:]]
    assert [piece.images for piece in pieces] == [7, 7, 7, 7, 2]


def test_a_list_is_stamped_where_it_is_read(folder):
    rows = [b"image,class", *(f"cat/{name},cat".encode() for name in numbered(200))]
    (folder / "list.csv").write_bytes(b"\n".join([*rows, *rows[1:], b"no.jpg,cat"]))
    pieces = planned(folder / "list.csv", 8)
    assert {i.size for piece in pieces for i in piece.inputs} == {UNKNOWN_SIZE}
    stamped = [file for piece in pieces for file in units.stamped(piece).inputs]
    assert len(stamped) == 201, "what is named twice counts once"
    assert {file.size for file in stamped[:200]} == {1}
    assert stamped[200].stamp.startswith("not_found")


def test_planning_is_lazy():
    """A slice is there before the rest of the listing is seen."""

    def endless():
        number = 0
        while True:
            number += 1
            yield Input(f"/in/{number}", 1, "1", "cat")

    assert len(next(units.cut(endless(), 8))) <= 16


def test_slices_travel(folder):
    pieces = planned(folder, 8)
    assert pickle.loads(pickle.dumps(pieces)) == pieces


def test_a_slice_without_images_is_not_asked_for():
    with pytest.raises(ValueError, match="0 images per slice"):
        list(units.cut([], 0))


def test_an_empty_folder_has_no_slices(tmp_path):
    assert list(units.slices(Partition("folder", "/", str(tmp_path), "cat"))) == []


def test_a_slice_travels_small_and_comes_back():
    """All slices of an input are shuffled: 14 million images must not be gigabytes."""
    files = tuple(
        Input(f"/in/n01440764/n01440764_{n * 37}.JPEG", 110_000 + n, str(n**9), "fish")
        for n in range(64)
    )
    folder = Partition("folder", "/in", "/in/n01440764", "fish")
    piece = Slice(folder, files, None, 64)
    assert pickle.loads(pickle.dumps(piece)) == piece
    assert len(pickle.dumps(piece)) <= 40 * len(files)
    strange = Input("/in/\udcff\n\u2028é", UNKNOWN_SIZE, "", "ÿ")
    odd = Slice(folder, (strange,), (0, 1), 1)
    assert pickle.loads(pickle.dumps(odd)) == odd


def test_partitions_travel_small_and_come_back():
    """Of 20,000 classes each: alone, a partition takes five times as much."""
    every = [
        Partition("synset", "/in", f"/in/n{n:08}.tar", f"n{n:08}", "*", 51_200, str(n))
        for n in range(20_000)
    ]
    packed = [pickle.dumps(handful) for handful in units.handfuls(every)]
    assert [one for handful in packed for one in pickle.loads(handful)] == every
    assert 5 * sum(map(len, packed)) <= sum(len(pickle.dumps(one)) for one in every)
    odd = Handful([Partition("folder", "/in", "/in/\udcff\n", "\udcff\n")])
    assert pickle.loads(pickle.dumps(odd)) == odd
