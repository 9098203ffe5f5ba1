"""The log: one chain, every unit once, every task counted, whoever commits at once."""

import dataclasses
import json
import pathlib
from concurrent import futures

import clouds
import faults
import outputs
import pytest

from belvedere.transforms import (
    commits,
    documents,
    manifests,
    records,
    stores,
    verification,
)
from belvedere.transforms.manifests import Entry
from belvedere.transforms.records import Counts


@pytest.fixture
def store(tmp_path):
    return stores.store_for(str(tmp_path / "out"))


def _entries(store, numbers, run_id="run-1"):
    return [Entry.of(outputs.finish(store, outputs.unit(n), run_id)) for n in numbers]


def _empty(number: int) -> Entry:
    """A unit of one task without a file."""
    return Entry(f"{number:064x}", Counts(refused=1), ())


def _commit(store, entries, run_id="run-1", already_done=0):
    return commits.commit(
        commits.Log(store), outputs.run(run_id), entries, already_done
    )


def _committed(store) -> list[str]:
    log = commits.Log(store)
    return [entry.unit for manifest in log.manifests() for entry in manifest.entries]


def _manifest(**changes):
    entries = (Entry("a" * 64, Counts(1, 2, 3), ()),)
    made = manifests.Manifest(1, "", outputs.run(), entries, 10, 4, "now")
    return dataclasses.replace(made, **changes)


def test_the_count_identity_is_enforced():
    assert _manifest().tasks_in == 4 + _manifest().counts.tasks
    for changes in ({"tasks_in": 9}, {"already_done": 5}, {"entries": ()}):
        with pytest.raises(ValueError, match="tasks_in = "):
            _manifest(**changes)
    with pytest.raises(ValueError, match="already_done is -1"):
        _manifest(already_done=-1, tasks_in=5)


def test_a_manifest_is_a_sound_value():
    entry = _manifest().entries[0]
    with pytest.raises(ValueError, match="listed twice"):
        _manifest(entries=(entry, entry), tasks_in=16)
    with pytest.raises(ValueError, match="has parent"):
        _manifest(parent="b" * 64)
    with pytest.raises(ValueError, match="has parent"):
        _manifest(number=2)


def test_a_manifest_comes_back():
    made = _manifest(
        run=outputs.run(details={"refused": {"dog": "too few"}}),
        entries=(
            Entry(
                "a" * 64,
                Counts(1, 2, 3),
                (records.DataFile("annotations/a.parquet", 3, 100, "c" * 64),),
            ),
        ),
    )
    back = manifests.parse(made.document(), 1, "x")
    assert dataclasses.replace(back, sha256="") == made
    assert json.loads(made.document())["counts"] == {
        "tasks_in": 10,
        "already_done": 4,
        "annotated": 1,
        "refused": 2,
        "dead": 3,
    }


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body["counts"].update(tasks_in=11),
        lambda body: body["counts"].update(annotated=2, tasks_in=11),
        lambda body: body["records"][0].update(dead=4),
        lambda body: body["records"][0].update(dead=-1),
        lambda body: body["records"][0].update(unit=None),
        lambda body: body["records"].append(7),
        lambda body: body["records"][0].update(
            files=[{"name": "../x", "rows": 1, "size": 1, "sha256": "0" * 64}]
        ),
        lambda body: body.update(number=2),
        lambda body: body.update(parent=None),
        lambda body: body.update(models="m"),
        lambda body: body.pop("config"),
    ],
)
def test_a_manifest_that_lies_is_damage(change):
    """Even with a right seal."""
    body = json.loads(_manifest().document())
    del body["sha256"]
    assert manifests.parse(documents.seal(body), 1, "x")
    change(body)
    with pytest.raises(documents.Damaged):
        manifests.parse(documents.seal(body), 1, "x")


def test_an_output_without_commits(store):
    log = commits.Log(store)
    assert log.number == 0 and len(log) == 0
    assert list(log.manifests()) == []


def test_commits_follow_one_another(store):
    first, second = _entries(store, [1, 2]), _entries(store, [3])
    assert _commit(store, first) == commits.Outcome((1,), 0, Counts(2, 2, 2))
    assert _commit(store, second, already_done=6).tasks_in == 9
    log = commits.Log(store)
    one, two = log.manifests()
    assert (one.number, two.number, two.parent) == (1, 2, one.sha256)
    assert (two.already_done, two.tasks_in, two.counts) == (6, 9, Counts(1, 1, 1))
    assert two.run == outputs.run()
    assert one.entries == tuple(sorted(first, key=lambda entry: entry.unit))
    assert outputs.unit(3).digest in log and log.tasks(outputs.unit(3).digest) == 3
    assert outputs.unit(4).digest not in log and log.tasks("x") == 0


def test_nothing_new_writes_nothing(store):
    entries = _entries(store, [1, 2])
    _commit(store, entries)
    before = sorted(f.name for f in store.list("manifests"))
    assert _commit(store, entries, "run-2") == commits.Outcome((), 6, Counts())
    assert _commit(store, [], "run-3", 6) == commits.Outcome((), 6, Counts())
    assert sorted(f.name for f in store.list("manifests")) == before


def test_what_others_committed_is_dropped(store):
    late = commits.Log(store)
    _commit(store, _entries(store, [1, 2]))
    outcome = commits.commit(
        late, outputs.run("run-2"), _entries(store, [2, 3], "run-2"), already_done=10
    )
    assert outcome == commits.Outcome((2,), 13, Counts(1, 1, 1))
    *_, manifest = late.manifests()
    assert (manifest.already_done, manifest.tasks_in) == (13, 16)
    assert len(_committed(store)) == len(set(_committed(store))) == 3


def test_a_lost_race_is_run_again(store, monkeypatch):
    """Others take the number between our look at the log and our write."""
    rivals = iter([[_empty(1)], [_empty(2), _empty(3)], []])
    append = commits.Log.append

    def slow(log, *rest):
        if rival := next(rivals, None):
            assert append(commits.Log(store), outputs.run("rival"), rival, 0)
        return append(log, *rest)

    monkeypatch.setattr(commits.Log, "append", slow)
    outcome = _commit(store, [_empty(n) for n in range(2, 6)])
    assert outcome == commits.Outcome((3,), 2, Counts(refused=2))
    assert sorted(_committed(store)) == [_empty(n).unit for n in range(1, 6)]


def test_a_race_lost_too_often_is_a_conflict(store, monkeypatch):
    monkeypatch.setattr(commits.Log, "append", lambda *_: False)
    monkeypatch.setattr(commits.time, "sleep", lambda _: None)
    with pytest.raises(stores.OutputConflict, match="run the same command again"):
        _commit(store, [_empty(1)])


def test_many_units_make_several_manifests(store, monkeypatch):
    monkeypatch.setattr(commits, "MAX_UNITS", 4)
    outcome = _commit(store, (_empty(n) for n in range(10)), already_done=7)
    assert outcome == commits.Outcome((1, 2, 3), 7, Counts(refused=10))
    told = [m.already_done for m in commits.Log(store).manifests()]
    assert told == [7, 0, 0]


@pytest.mark.parametrize("known_again", [7, 7 + 60])
def test_a_commit_of_several_manifests_that_is_repeated(
    store, monkeypatch, known_again
):
    """By the same run: the first time it dies after three of five manifests."""
    monkeypatch.setattr(commits, "MAX_UNITS", 2)
    _commit(store, [_empty(100)], "earlier")
    entries = [manifests.Entry(_empty(n).unit, Counts(10, 0, 0), ()) for n in range(10)]

    append, left = commits.Log.append, iter(range(3))

    def dying(*rest):
        return next(left) is not None and append(*rest)

    with monkeypatch.context() as patched, pytest.raises(StopIteration):
        patched.setattr(commits.Log, "append", dying)
        commits.commit(commits.Log(store), outputs.run("mine"), entries, 7, since=1)
    # A runner that repeats more than the commit finds what it did among what is known.
    again = entries if known_again == 7 else entries[6:]
    commits.commit(commits.Log(store), outputs.run("mine"), again, known_again, since=1)
    made = list(commits.Log(store).manifests())[1:]
    assert [one.already_done for one in made] == [7, 0, 0, 0, 0]
    assert sum(one.tasks_in for one in made) == 107
    commits.commit(commits.Log(store), outputs.run("mine"), entries, 7, since=1)
    assert commits.Log(store).number == 6


def test_two_threads_at_once(store):
    def work(run_id):
        for start in range(0, 30, 3):
            units = range(start, start + 3)
            _commit(store, _entries(store, units, run_id), run_id)

    with futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(work, ["run-1", "run-2"]))
    _assert_whole(store, 30)


def test_two_processes_at_once(store):
    """The same units, in other orders and batches."""

    def work(run_id, numbers, batch):
        for start in range(0, len(numbers), batch):
            units = numbers[start : start + batch]
            _commit(store, _entries(store, units, run_id), run_id)

    numbers = list(range(40))
    codes = faults.in_children(
        [
            lambda: work("run-1", numbers, 2),
            lambda: work("run-2", numbers[::-1], 3),
            lambda: work("run-3", numbers[20:] + numbers[:20], 5),
        ]
    )
    assert codes == [0, 0, 0]
    _assert_whole(store, 40)


def test_a_crowd_at_once(store):
    """Each adds units of its own, one by one: none may be lost."""

    def work(own):
        for number in range(15):
            outcome = _commit(store, [_empty(number), _empty(own + number)])
            assert outcome.tasks_in == 2

    codes = faults.in_children([lambda n=n: work(n) for n in (100, 200, 300)])
    assert codes == [0, 0, 0]
    wanted = [start + n for start in (0, 100, 200, 300) for n in range(15)]
    assert sorted(_committed(store)) == [_empty(n).unit for n in wanted]


def _assert_whole(store, units):
    committed = _committed(store)
    assert len(committed) == len(set(committed)) == units
    report = verification.verify(store)
    assert report.sound, report.problems
    assert report.counts == Counts(units, units, units)
    assert report.waiting == 0


@pytest.mark.parametrize("point", faults.POINTS)
def test_killed_while_committing(store, point):
    entries = _entries(store, [1, 2])

    def work():
        faults.arm(point, "manifests", act=faults.kill)
        _commit(store, entries)

    assert faults.in_child(work) == -9
    stands = point == "after_link"
    assert len(_committed(store)) == (2 if stands else 0)
    assert _commit(store, entries).manifests == (() if stands else (1,))
    assert verification.verify(store).sound


def test_a_lost_answer_does_not_commit_twice(monkeypatch):
    """The store has our manifest, but told us that the name is taken."""
    from apache_beam.io import filesystems

    held = clouds.Objects()
    monkeypatch.setattr(filesystems.FileSystems, "open", held.open)
    monkeypatch.setattr(filesystems.FileSystems, "match", held.match)
    store = stores.store_for("gs://bucket/out")

    def create(path, data):
        held.setdefault(path, data)
        return False

    monkeypatch.setattr(store, "_create", create)
    outcome = _commit(store, [_empty(1)])
    assert outcome.manifests == (1,) and outcome.counts.refused == 1


def test_rests_and_strange_files_are_passed_over(store):
    _commit(store, [_empty(1)])
    folder = pathlib.Path(store.path("manifests"))
    for name in (".tmp-1", "000002.json~", "0000002.json", "2.json", "000002 .json"):
        (folder / name).write_bytes(b"half a manif")
    assert commits.Log(store).number == 1
    assert _commit(store, [_empty(2)]).manifests == (2,)


@pytest.mark.parametrize(
    "damage, message",
    [
        (lambda folder: (folder / "000002.json").unlink(), "2 of 3 manifests"),
        (lambda folder: (folder / "000002.json").write_bytes(b"{}"), "000002.json"),
        (
            lambda folder: (folder / "000003.json").write_bytes(
                (folder / "000002.json").read_bytes()
            ),
            "000003.json",
        ),
        (
            lambda folder: (folder / "000003.json").write_bytes(
                _manifest(number=3, parent="f" * 64).document()
            ),
            "does not follow its parent",
        ),
        (
            lambda folder: (folder / "000004.json").write_bytes(
                b'{"schema_version":2}'
            ),
            "update belvedere or choose another",
        ),
    ],
)
def test_a_damaged_or_newer_log_is_a_conflict(store, monkeypatch, damage, message):
    monkeypatch.setattr(commits.time, "sleep", lambda _: None)
    for number in range(3):
        _commit(store, [_empty(number)])
    damage(pathlib.Path(store.path("manifests")))
    with pytest.raises(stores.OutputConflict, match=message):
        _commit(store, [_empty(9)])


def test_a_listing_that_misses_a_new_file_is_read_again(store, monkeypatch):
    for number in range(3):
        _commit(store, [_empty(number)])
    listings = iter([([1, 3], []), ([1, 2, 3], [])])
    monkeypatch.setattr(manifests, "listed", lambda _: next(listings))
    assert len(commits.Log(store)) == 3


@pytest.fixture
def summarized(store, monkeypatch):
    """Ten commits with a summary after every four."""
    monkeypatch.setattr(commits, "SUMMARY_EVERY", 4)
    log = commits.Log(store)
    for number in range(10):
        commits.commit(log, outputs.run(), [_empty(number)])
    return store


def _reads(store, monkeypatch):
    names, read = [], stores.LocalStore.read
    monkeypatch.setattr(
        stores.LocalStore, "read", lambda s, name: names.append(name) or read(s, name)
    )
    return names


def test_a_summary_saves_reading_the_log(summarized, monkeypatch):
    names = _reads(summarized, monkeypatch)
    log = commits.Log(summarized)
    assert sorted(names) == [
        "manifests/000008-units.json",
        "manifests/000009.json",
        "manifests/000010.json",
    ]
    assert all(_empty(n).unit in log and log.tasks(_empty(n).unit) for n in range(10))
    assert [m.number for m in log.manifests()] == list(range(1, 11))
    assert _commit(summarized, [_empty(3), _empty(10)]).manifests == (11,)


@pytest.mark.parametrize("damage", [b"", b"{}", None])
def test_a_summary_may_be_lost(summarized, damage):
    path = pathlib.Path(summarized.path("manifests/000008-units.json"))
    path.unlink() if damage is None else path.write_bytes(damage)
    log = commits.Log(summarized)
    assert (log.number, len(log)) == (10, 10)
    commits.commit(log, outputs.run(), [_empty(10), _empty(11)])
    assert len(_committed(summarized)) == 12


def test_a_summary_in_the_wrong_place_is_not_used(summarized):
    old = summarized.read("manifests/000004-units.json")
    path = pathlib.Path(summarized.path("manifests/000008-units.json"))
    path.write_bytes(old)
    assert len(commits.Log(summarized)) == 10


def test_finished_units_of_a_killed_run_are_committed_by_the_next(store):
    def work():
        faults.arm("before_write", "records", nth=3, act=faults.kill)
        _commit(store, _entries(store, range(4)))

    assert faults.in_child(work) == -9
    kept = [n for n in range(4) if records.find(store, outputs.unit(n).digest)]
    assert kept == [0, 1]
    outcome = _commit(store, _entries(store, range(4), "run-2"), "run-2")
    assert outcome.counts == Counts(4, 4, 4)
    found = [records.find(store, outputs.unit(n).digest).run_id for n in range(4)]
    assert found == ["run-1", "run-1", "run-2", "run-2"]
    assert verification.verify(store).sound


def test_tables_are_not_needed_for_a_commit(store):
    """Models go through the same log, with files of their own kind."""
    file = records.DataFile("cat-1a2b/m1/arrays.npz", 1, 3, "0" * 64)
    run = dataclasses.replace(outputs.run(), kind="train")
    entry = Entry("1" * 64, Counts(annotated=1), (file,))
    assert commits.commit(commits.Log(store), run, [entry]).manifests == (1,)
    assert [m.entries for m in commits.Log(store).manifests()] == [(entry,)]


def test_entries_travel_at_a_third_of_what_the_log_says_of_them(store):
    whole = _entries(store, range(20))
    assert len(whole[0].files) == 2
    odd = dataclasses.replace(whole[0].files[0], name="other/name.ext")
    parts = (whole[0].files[:1], (), (odd,), (odd, odd))
    some = [dataclasses.replace(whole[0], files=files) for files in parts]
    assert list(manifests.unpacked(manifests.packed(whole + some))) == whole + some
    assert list(manifests.unpacked(manifests.packed([]))) == []
    told = sum(len(documents.canonical(one.body())) for one in whole)
    assert 3 * len(manifests.packed(whole)) <= told
