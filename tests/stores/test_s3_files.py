"""Input on s3://: what is read, told and asked for there."""

import io
import random

import apache_beam as beam
import pytest
from apache_beam.io.aws.s3filesystem import S3FileSystem
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.options.value_provider import RuntimeValueProvider

from belvedere.transforms import input_files, s3_files, sources, stores
from belvedere.transforms.inputs import InputCode, InputError

PIECE = 100
NAMES = ("a.tar", "b1.tar", "b2.tar", "c [x].tar", "x/a.tar", "x/y/a.tar", "x/é.tar")


@pytest.fixture
def placed(running, visit):
    """Puts files, by name, into a folder of their own; tells its address."""

    def place(**files: bytes) -> str:
        root = visit(running("moto"))
        for name, data in files.items():
            stores.store_for(root)._replace(f"{root}/{name}", data)
        return root

    return place


@pytest.fixture
def in_pieces(monkeypatch):
    monkeypatch.setattr(s3_files, "_PIECE", PIECE)


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 1234])
def test_an_object_is_read_as_a_local_file_is(size, placed, in_pieces):
    drawn = random.Random(size)
    data = drawn.randbytes(size)
    uri = f"{placed(a=data)}/a"
    with input_files.open_read(uri) as file, io.BytesIO(data) as local:
        for _ in range(60):
            if drawn.random() < 0.5:
                at = drawn.randrange(size + PIECE)
                assert file.seek(at) == local.seek(at)
            if drawn.random() < 0.1:
                assert file.seek(-1 * (size > 0), 2) == local.seek(-1 * (size > 0), 2)
            many = drawn.choice([1, 7, PIECE, 5 * PIECE])
            assert file.read(many) == local.read(many)
            assert file.readline(many) == local.readline(many)
        assert file.read() == local.read()
    assert input_files.read(uri, size) == data


def test_a_picture_is_one_request(weather):
    store, proxy = weather("moto")
    store._replace(f"{store.uri}/a.jpg", bytes(200_000))
    before = proxy.requests
    assert len(input_files.read(f"{store.uri}/a.jpg", sources.MAX_BYTES)) == 200_000
    assert proxy.requests - before == 1


def test_pieces_that_are_cut_off_are_asked_for_again(weather, in_pieces):
    store, proxy = weather("moto")
    data = random.Random(0).randbytes(5 * PIECE)
    store._replace(f"{store.uri}/a.tar", data)
    with input_files.open_read(f"{store.uri}/a.tar") as file:
        assert file.read(PIECE) == data[:PIECE]
        proxy.cut = 2
        assert file.read(3 * PIECE) == data[PIECE : 4 * PIECE]
        assert proxy.cut == 0
        proxy.cut = 10**6
        with pytest.raises(stores.StoreLost, match="does not answer"):
            file.read(PIECE)


def test_two_versions_are_not_read_as_one(placed, in_pieces):
    root = placed(a=b"x" * 300)
    with input_files.open_read(f"{root}/a") as file:
        assert file.read(PIECE) == b"x" * PIECE
        stores.store_for(root)._replace(f"{root}/a", b"y" * 300)
        with pytest.raises(InputError, match="was replaced while") as caught:
            file.read(PIECE)
    assert caught.value.code == InputCode.NOT_READ


def test_what_is_not_there(placed):
    root = placed(a=b"")
    for use in (input_files.describe, lambda uri: input_files.read(uri, 9)):
        for uri in (f"{root}/b", "s3://no-such-bucket/b"):
            with pytest.raises(InputError) as caught:
                use(uri)
            assert caught.value.code == InputCode.NOT_FOUND
    with pytest.raises(ValueError, match=r"no-such-bucket.* does not exist"):
        sources.detect("s3://no-such-bucket/*.tar")


@pytest.mark.parametrize(
    "pattern",
    [
        "*.tar",
        "b?.tar",
        "b[!1]*",
        "c [[]x].tar",
        "*/*",
        "**",
        "x/**.tar",
        "?*/é*",
        "z*",
    ],
)
def test_patterns_and_stamps_are_those_of_beam(pattern, placed):
    """Whatever was annotated when Beam did the reading must not be annotated again."""
    root = placed(**{name: name.encode() for name in NAMES}, **{"x/z/": b""})
    (beams,) = S3FileSystem(PipelineOptions([])).match([f"{root}/{pattern}"])
    files = sorted(
        (m.path, m.size_in_bytes, repr(float(m.last_updated_in_seconds)))
        for m in beams.metadata_list
        if not m.path.endswith("/")
    )
    found = input_files.matching(f"{root}/{pattern}")
    assert [(uri, entry.size, entry.stamp) for uri, entry in found] == files
    assert [entry for _, entry in found] == [input_files.describe(f) for f, _ in found]
    first = min((uri for uri, _ in found), default=None)
    assert input_files.first_matching(f"{root}/{pattern}") == first
    assert bool(files) == (pattern != "z*")


def test_a_store_is_there_before_a_pipeline_and_behind_it(placed, monkeypatch):
    monkeypatch.setattr(FileSystems, "_pipeline_options", None)  # as in a new process
    monkeypatch.setattr(RuntimeValueProvider, "runtime_options", None)
    root = placed(**{"cat/a.jpg": b"data"})
    for _ in "before", "behind":
        assert input_files.read(f"{root}/cat/a.jpg", 9) == b"data"
        assert input_files.describe(f"{root}/cat/a.jpg").size == 4
        assert sources.detect(root).format == "folders"
        with beam.Pipeline("DirectRunner") as pipeline:
            _ = pipeline | beam.Create([1])
