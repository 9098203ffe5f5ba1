"""A file appears whole and once, on every store, whoever is killed meanwhile."""

import errno
import io
import os
import pathlib
import pickle
import sys
import threading
import types

import clouds
import faults
import pytest

from belvedere.transforms import cloud_stores, s3_files, stores

HOSTILE = (
    "../x.json",
    "records/../../x.json",
    "records/..",
    "/etc/x.json",
    "",
    ".",
    "records/",
    "records//x.json",
    "records/.hidden",
    "records/x\0.json",
    "records/x.json\n",
    "records\\x.json",
    "records/~x",
    "records/ümlaut.json",
    "records/*.json",
    "a/b/c/d/e.json",
    "records/" + "a" * 4096,
)


@pytest.fixture
def local(tmp_path):
    return stores.store_for(str(tmp_path / "out"))


def _names(folder: pathlib.Path) -> list[str]:
    return sorted(p.name for p in folder.rglob("*") if p.is_file())


def test_a_name_is_created_once(local):
    assert local.create("records/a.json", b"first")
    assert not local.create("records/a.json", b"second")
    assert local.read("records/a.json") == b"first"
    assert [(f.name, f.size) for f in local.list("records")] == [("records/a.json", 5)]
    assert local.find("records/a.json").size == 5
    assert _names(pathlib.Path(local.uri)) == ["a.json"]


def test_what_is_missing(local):
    assert not local.exists("records/a.json")
    assert list(local.list("records")) == []
    with pytest.raises(stores.MissingFile, match="does not exist"):
        local.read("records/a.json")
    with pytest.raises(stores.MissingFile):
        local.open_read("records/a.json")


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: repr(name[:20]))
def test_hostile_names_are_refused(local, tmp_path, name):
    for use in (
        local.read,
        local.find,
        local.open_read,
        lambda n: local.create(n, b""),
    ):
        with pytest.raises(ValueError, match="cannot be a file name"):
            use(name)
    with pytest.raises(ValueError):
        list(local.list(name))
    assert _names(tmp_path) == []


@pytest.mark.parametrize(
    "uri",
    ["", "gs://", "gs:///x", "gs://b/*", "ftp://x/y", "file://x", "a\0b", "s3://"],
)
def test_what_is_no_folder(uri):
    with pytest.raises(ValueError, match="is no folder"):
        stores.store_for(uri)


def test_addresses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert stores.store_for("out/").uri == str(tmp_path / "out")
    assert stores.store_for("file:///data/out").path("a/b.json") == "/data/out/a/b.json"
    assert stores.store_for("/").path("a.json") == "/a.json"
    assert stores.store_for("gs://bucket/out/").path("a") == "gs://bucket/out/a"
    assert stores.store_for("s3://bucket").path("a") == "s3://bucket/a"
    assert isinstance(stores.store_for("s3://bucket"), cloud_stores.S3Store)
    again = pickle.loads(pickle.dumps(stores.store_for("gs://bucket/out")))
    assert again.path("a") == "gs://bucket/out/a"


def test_one_of_many_writers_wins(local):
    start, won = threading.Barrier(8), []

    def write(number):
        start.wait()
        if local.create("manifests/000001.json", b"%d" % number * 1000):
            won.append(number)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert local.read("manifests/000001.json") == b"%d" % won[0] * 1000


@pytest.mark.parametrize("point", faults.POINTS)
def test_a_killed_writer_leaves_all_or_nothing(local, point):
    def write():
        faults.arm(point, act=faults.kill)
        local.create("records/a.json", b"0123456789")

    assert faults.in_child(write) == -9
    stands = point == "after_link"
    assert local.exists("records/a.json") == stands
    left = [f for f in local.list("records") if stores.TEMPORARY in f.name]
    assert [f.size for f in left] == {
        "before_write": [],
        "half_written": [5],
        "before_link": [10],
        "after_link": [10],
    }[point]
    assert local.create("records/a.json", b"0123456789") != stands
    assert local.read("records/a.json") == b"0123456789"


@pytest.mark.parametrize(
    "number, message",
    [
        (errno.ENOSPC, "the disk is full: free some space"),
        (errno.EACCES, "permission denied"),
        (errno.EROFS, "read-only"),
        (errno.EIO, "cannot write"),
    ],
)
def test_errors_say_what_to_do(local, monkeypatch, number, message):
    def fail(_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(stores.StoreError, match=message) as caught:
        local.create("records/a.json", b"data")
    assert local.path("records/a.json") in str(caught.value)
    assert list(local.list("records")) == []


def test_without_hard_links(local, monkeypatch):
    def fail(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", fail)
    with pytest.raises(stores.StoreError, match="no hard links"):
        local.create("records/a.json", b"data")
    assert list(local.list("records")) == []


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "out").write_bytes(b"")
    store = stores.store_for(str(tmp_path / "out"))
    with pytest.raises(stores.StoreError, match="choose another folder"):
        store.create("records/a.json", b"data")


def test_bugs_stay_bugs(local):
    with pytest.raises(TypeError):
        local.create("records/a.json", "text")


def test_many_files_come_in_order(local, monkeypatch):
    monkeypatch.setattr(stores, "_AHEAD", 3)
    for number in range(0, 20, 2):
        local.create(f"records/{number}.json", b"%d" % number)
    names = [f"records/{number}.json" for number in range(20)]
    wanted = [b"%d" % n if n % 2 == 0 else None for n in range(20)]
    assert list(stores.read_many(local, names)) == wanted


@pytest.fixture
def objects(monkeypatch):
    from apache_beam.io import filesystems

    held = clouds.Objects()
    monkeypatch.setattr(filesystems.FileSystems, "open", held.open)
    monkeypatch.setattr(filesystems.FileSystems, "match", held.match)
    return held


@pytest.fixture
def google(objects, monkeypatch):
    with clouds.google_server(objects) as server:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", server.url)
        cloud_stores._storage_client.cache_clear()
        yield server
    cloud_stores._storage_client.cache_clear()


def test_google_creates_once(google, objects):
    store = stores.store_for("gs://bucket/out")
    assert store.create("records/a.json", b"first")
    assert not store.create("records/a.json", b"second")
    assert objects == {"gs://bucket/out/records/a.json": b"first"}
    assert store.read("records/a.json") == b"first"
    assert [f.name for f in store.list("records")] == ["records/a.json"]
    assert store.exists("records/a.json") and not store.exists("records/b.json")
    with pytest.raises(stores.MissingFile):
        store.read("records/b.json")


def test_google_loses_an_answer(google, objects):
    google.statuses = [503]
    store = stores.store_for("gs://bucket/out")
    assert not store.create("records/a.json", b"mine")
    assert google.uploads == 2
    assert store.read("records/a.json") == b"mine"


def test_google_refuses(google):
    google.statuses = [403]
    with pytest.raises(stores.StoreError, match="check the rights of the account"):
        stores.store_for("gs://bucket/out").create("records/a.json", b"data")


def test_google_refuses_to_replace(google, objects):
    """An account that may create and not delete: the name is taken, no more."""
    store = stores.store_for("gs://bucket/out")
    assert store.create("records/a.json", b"first")
    google.statuses = [403]
    assert not store.create("records/a.json", b"second")
    assert objects == {"gs://bucket/out/records/a.json": b"first"}


def test_google_large_upload_that_lost(google, monkeypatch):
    """The client raises another error where an upload goes in pieces."""
    from google.cloud.storage import Blob
    from google.cloud.storage.exceptions import InvalidResponse

    answer = types.SimpleNamespace(status_code=412)

    def upload(*_, **options):
        assert options["if_generation_match"] == 0
        raise InvalidResponse(answer)

    monkeypatch.setattr(Blob, "upload_from_string", upload)
    store = stores.store_for("gs://bucket/out")
    assert not store.create("records/a.json", b"data")
    answer.status_code = 500
    with pytest.raises(stores.StoreError):
        store.create("records/a.json", b"data")


class _ClientError(Exception):
    def __init__(self, status, code=""):
        super().__init__(f"HTTP {status} {code}")
        self.response = {
            "ResponseMetadata": {"HTTPStatusCode": status},
            "Error": {"Code": code},
        }


_ClientError.__module__ = "botocore.exceptions"


class _Amazon:
    """A boto3 client that keeps its objects here; `.statuses` are answers to give."""

    def __init__(self):
        self.statuses, self.objects = [], {}

    def put_object(self, Bucket, Key, Body, IfNoneMatch=None):
        taken = IfNoneMatch == "*" and (Bucket, Key) in self.objects
        self._answer(412 if taken else 200)
        self.objects[Bucket, Key] = Body

    def get_object(self, Bucket, Key):
        self._answer(200 if (Bucket, Key) in self.objects else 404)
        return {"Body": io.BytesIO(self.objects[Bucket, Key])}

    def _answer(self, status):
        status = self.statuses.pop(0) if self.statuses else status
        if status != 200:
            raise _ClientError(status)


@pytest.fixture
def amazon(monkeypatch):
    client = _Amazon()
    session = types.SimpleNamespace(client=lambda service, config: client)
    modules = {
        "boto3": types.SimpleNamespace(
            session=types.SimpleNamespace(Session=lambda: session)
        ),
        "botocore": types.SimpleNamespace(),
        "botocore.config": types.SimpleNamespace(Config=dict),
        "botocore.exceptions": types.SimpleNamespace(
            ClientError=_ClientError,
            IncompleteReadError=OSError,
            HTTPClientError=OSError,
        ),
    }
    modules["botocore"].exceptions = modules["botocore.exceptions"]
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(s3_files.time, "sleep", lambda _: None)
    s3_files.client.cache_clear()
    yield client
    s3_files.client.cache_clear()


def test_amazon_creates_once(amazon):
    store = stores.store_for("s3://bucket/out")
    assert store.create("records/a.json", b"first")
    assert not store.create("records/a.json", b"second")
    assert store.read("records/a.json") == b"first"
    with pytest.raises(stores.MissingFile):
        store.open_read("records/b.json")
    store.replace("records/a.json", b"second")
    assert store.read("records/a.json") == b"second"


def test_amazon_refuses(amazon):
    amazon.statuses = [403]
    with pytest.raises(stores.StoreError, match="check the rights of the account"):
        stores.store_for("s3://bucket/out").create("records/a.json", b"data")


def test_amazon_conflict_is_no_answer(amazon):
    amazon.statuses = [409, 409]
    store = stores.store_for("s3://bucket/out")
    assert store.create("records/a.json", b"mine")
    amazon.statuses = [409, 412]
    assert not store.create("records/a.json", b"other")
    amazon.statuses = [409] * 20
    with pytest.raises(stores.StoreError, match="do not end"):
        store.create("records/b.json", b"data")
    amazon.statuses = [500]
    with pytest.raises(stores.StoreLost, match="HTTP 500"):
        store.create("records/b.json", b"data")


def test_amazon_without_its_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "boto3", None)
    s3_files.client.cache_clear()
    with pytest.raises(stores.StoreError, match="pip install boto3"):
        stores.store_for("s3://bucket/out").create("records/a.json", b"data")
