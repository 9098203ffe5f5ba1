"""The end of a pipeline: repeated, raced and empty commits."""

import apache_beam as beam
import outputs
import runs

from belvedere.transforms import commit, commits, stores
from belvedere.transforms.manifests import Entry


def _entries(store: stores.Store, numbers: range) -> list[Entry]:
    return [Entry.of(outputs.finish(store, outputs.unit(n))) for n in numbers]


def _committed(
    uri: str,
    entries: list[Entry | int],
    run_id: str = "run-1",
    details=None,
    since: int | None = None,
):
    """Numbers of the manifests that a pipeline made, and its counters."""
    if since is None:  # the run begins here
        since = commits.Log(stores.store_for(uri)).number
    found: list[int] = []
    pipeline = runs.pipeline()
    told = pipeline | "Details" >> beam.Create([details]) if details else None
    given = pipeline | beam.Create(entries, reshuffle=False)
    made = given | commit.CommitEntries(uri, outputs.run(run_id), since, told)
    runs.collected(made, found)
    result = pipeline.run()
    result.wait_until_finish()
    counters = result.metrics().query()["counters"]
    return found, {c.key.metric.name: c.committed for c in counters}


def test_a_commit_repeated_adds_only_what_is_new(tmp_path):
    store = stores.store_for(str(tmp_path))
    first = _entries(store, range(3))
    numbers, counts = _committed(store.uri, first)
    assert numbers == [1]
    assert counts == {"annotated": 3, "refused": 3, "dead": 3, "already_done": 0}
    assert _committed(store.uri, first, "run-2") == (
        [],
        {"annotated": 0, "refused": 0, "dead": 0, "already_done": 9},
    )
    numbers, counts = _committed(store.uri, first + _entries(store, range(3, 5)))
    assert numbers == [2]
    assert (counts["annotated"], counts["already_done"]) == (2, 9)
    for manifest in commits.Log(store).manifests():
        assert manifest.tasks_in == manifest.already_done + manifest.counts.tasks
    runs.assert_sound(str(tmp_path), 15)


def test_a_commit_that_a_runner_repeats_takes_its_own_for_its_own(tmp_path):
    store = stores.store_for(str(tmp_path))
    _committed(store.uri, _entries(store, range(2)), "earlier")
    given = [*_entries(store, range(4)), 5]
    for numbers, added in (([2], 2), ([], 0)):
        made, counts = _committed(store.uri, given, "run-2", since=1)
        assert made == numbers and counts["annotated"] == added
    *_, manifest = commits.Log(store).manifests()
    assert (manifest.already_done, manifest.tasks_in) == (5 + 6, 5 + 12)


def test_a_unit_found_twice_is_committed_once(tmp_path):
    store = stores.store_for(str(tmp_path))
    (entry,) = _entries(store, range(1))
    numbers, counts = _committed(store.uri, [entry, entry, entry])
    assert numbers == [1] and counts["annotated"] == 1


def test_details_are_added_to_those_of_the_run(tmp_path):
    store = stores.store_for(str(tmp_path))
    _committed(store.uri, _entries(store, range(1)), details={"refused": {"a": "b"}})
    (manifest,) = commits.Log(store).manifests()
    assert manifest.run.details == {"refused": {"a": "b"}}


def test_nothing_to_commit_writes_nothing(tmp_path):
    assert _committed(str(tmp_path / "new"), [])[0] == []
    assert not (tmp_path / "new").exists()
