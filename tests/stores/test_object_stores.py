"""The stores of an output against emulators: commits, reading, and bad weather."""

import threading
import time

import outputs
import pytest

from belvedere.pipelines import failures
from belvedere.transforms import commits, manifests, stores, verification

SCHEMES = ("moto", "fake-gcs-server", "gcp-storage-emulator")
WITH_CONDITIONS = ("moto", "fake-gcs-server")


@pytest.fixture(params=SCHEMES)
def store(request, running, visit):
    return stores.store_for(visit(running(request.param)))


@pytest.fixture(params=WITH_CONDITIONS)
def strict(request, running, visit):
    """A store that keeps the condition of an upload."""
    return stores.store_for(visit(running(request.param)))


def test_a_name_is_created_once(strict):
    assert strict.create("records/a.json", b"first")
    assert not strict.create("records/a.json", b"second")
    assert strict.read("records/a.json") == b"first"


def test_a_large_file_is_created_once(strict):
    """Large uploads go in pieces, and lose by another error."""
    first, second = b"1" * (9 << 20), b"2" * (9 << 20)
    assert strict.create("annotations/a.parquet", first)
    assert not strict.create("annotations/a.parquet", second)
    assert strict.read("annotations/a.parquet") == first


def test_of_two_writers_at_once_one_wins(strict):
    for number in range(30):
        name, start, told = f"manifests/{number:06d}.json", threading.Barrier(2), {}

        def write(who, name=name, start=start, told=told):
            start.wait()
            told[who] = strict.create(name, who)

        writers = [threading.Thread(target=write, args=(w,)) for w in (b"a", b"b")]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        winner = [who for who, won in told.items() if won]
        assert len(told) == 2 and len(winner) == 1
        assert strict.read(name) == winner[0]


def test_of_two_committers_at_once_both_are_in_the_log(strict):
    start = threading.Barrier(2)

    def commit(who):
        for number in range(who, 10, 2):
            record = outputs.finish(strict, outputs.unit(number), f"run-{who}")
            start.wait()
            entry = manifests.Entry.of(record)
            commits.commit(commits.Log(strict), outputs.run(f"run-{who}"), [entry])

    committers = [threading.Thread(target=commit, args=(who,)) for who in range(2)]
    for committer in committers:
        committer.start()
    for committer in committers:
        committer.join()
    assert len(commits.Log(strict)) == commits.Log(strict).number == 10
    assert verification.verify(strict).sound


def test_what_can_be_made_again_is_replaced(store):
    store.replace("metrics.json", b"first")
    store.replace("metrics.json", b"second, longer")
    assert store.read("metrics.json") == b"second, longer"


def test_reading_and_listing(store):
    before = time.time()
    for name in ("records/b.json", "records/a.json", "manifests/000001.json"):
        assert store.create(name, name.encode())
    assert store.create("records/ab/c.json", b"deeper")
    assert store.read("records/a.json") == b"records/a.json"
    with store.open_read("records/a.json") as file:
        assert file.read(7) == b"records"
    found = {file.name: file for file in store.list("records")}
    assert {"records/a.json", "records/b.json"} <= set(found)
    assert "manifests/000001.json" not in found
    assert found["records/a.json"].size == len("records/a.json")
    assert before - 5 < found["records/a.json"].modified < time.time() + 5
    alone = store.find("records/a.json")
    assert (alone.name, alone.size) == ("records/a.json", len("records/a.json"))
    assert abs(alone.modified - found["records/a.json"].modified) < 2


def test_what_is_missing(store):
    assert store.find("records/a.json") is None
    assert not store.exists("records/a.json")
    assert list(store.list("records")) == []
    with pytest.raises(stores.MissingFile, match=r"records/a\.json does not exist"):
        store.read("records/a.json")
    store.create("records/b.json", b"")
    assert list(stores.read_many(store, ["records/a.json", "records/b.json"])) == [
        None,
        b"",
    ]


def test_a_bucket_that_does_not_exist(store):
    elsewhere = stores.store_for(f"{store.uri[:2]}://no-such-bucket/out")
    for use in (
        lambda: list(elsewhere.list("records")),
        lambda: elsewhere.create("records/a.json", b""),
        lambda: elsewhere.replace("records/a.json", b""),
    ):
        with pytest.raises(stores.StoreError, match="no such bucket: check its name"):
            use()


def _verbs(store):
    return {
        "read": lambda: store.read("records/a.json"),
        "look up": lambda: store.find("records/a.json"),
        "list": lambda: list(store.list("records")),
        "write": lambda: store.create("records/b.json", b"data"),
        "replace": lambda: store.replace("metrics.json", b"data"),
    }


@pytest.mark.parametrize("name", SCHEMES)
def test_a_store_that_is_gone(name, start_emulator, visit, impatient):
    emulator = start_emulator(name)
    store = stores.store_for(visit(emulator))
    assert store.create("records/a.json", b"data")
    emulator.stop()
    for verb, use in _verbs(store).items():
        with pytest.raises(stores.StoreLost, match="does not answer") as caught:
            use()
        assert "run the same command again" in str(caught.value)
        assert store.uri in str(caught.value)
        code, said = failures.verdict(caught.value)
        assert code == failures.BUG and "Traceback" not in said, verb  # tried again


@pytest.mark.parametrize("name", SCHEMES)
def test_a_slow_store_is_waited_for(name, weather):
    store, proxy = weather(name)
    names = [f"records/{number}.json" for number in range(8)]
    for one in names:
        assert store.create(one, one.encode())
    before, proxy.delay = proxy.requests, 0.3
    start = time.perf_counter()
    assert list(stores.read_many(store, names)) == [one.encode() for one in names]
    seconds = time.perf_counter() - start
    assert proxy.requests - before >= len(names)
    assert seconds < 0.3 * (proxy.requests - before)  # they were read side by side


@pytest.mark.parametrize("name", SCHEMES)
def test_answers_that_are_cut_off_are_asked_for_again(name, weather):
    store, proxy = weather(name)
    assert store.create("records/a.json", b"data" * 5000)
    for verb, use in _verbs(store).items():
        proxy.cut = 1
        if verb == "write" and name != "gcp-storage-emulator":
            # The file is there, but we were not told: it looks like another's.
            assert use() is False
            assert store.read("records/b.json") == b"data"
        else:
            use()
        assert proxy.cut == 0, verb
    proxy.cut = 2
    assert store.read("records/a.json") == b"data" * 5000


@pytest.mark.parametrize("name", SCHEMES)
def test_an_account_without_rights_is_told(name, weather):
    store, proxy = weather(name)
    assert store.create("records/a.json", b"data")
    proxy.refuse = True
    for verb, use in _verbs(store).items():
        with pytest.raises(stores.StoreError, match="check the rights") as caught:
            use()
        assert not isinstance(caught.value, stores.MissingFile), verb
        assert store.uri in str(caught.value)
        assert failures.verdict(caught.value)[0] == failures.USAGE


def test_an_account_without_credentials_is_told(running, visit, monkeypatch):
    store = stores.store_for(visit(running("moto")))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    for use in _verbs(store).values():
        with pytest.raises(stores.StoreError, match="not signed in"):
            use()
