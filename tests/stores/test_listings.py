"""A folder in a bucket is listed no deeper than it is asked for."""

import pytest

from belvedere.transforms import input_files, sources, stores

EVERY = pytest.mark.parametrize(
    "name", ["gcp-storage-emulator", "fake-gcs-server", "moto"]
)
FILES = ("in/cat/a.jpg", "in/cat/x/c.jpg", "in/dog/b.jpg", "in/notes.txt")


@pytest.fixture
def placed(running, visit):
    """A bucket with some files in folders, one of them a mere mark of a folder."""

    def place(name: str) -> str:
        root = visit(running(name))
        store = stores.store_for(root)
        for file in FILES:
            store._replace(f"{root}/{file}", file.encode())
        store._replace(f"{root}/in/dog/", b"")
        return root

    return place


@EVERY
def test_files_and_folders_of_one_level(placed, name):
    root = placed(name)
    assert [one.name for one in input_files.files(f"{root}/in")] == ["notes.txt"]
    assert input_files.folders(f"{root}/in") == ["cat", "dog"]
    assert [one.name for one in input_files.files(f"{root}/in/dog")] == ["b.jpg"]
    assert input_files.folders(f"{root}/in/cat") == ["x"]
    assert not input_files.folders(f"{root}/nothing")


@EVERY
def test_a_file_looks_the_same_in_a_listing_and_alone(placed, name):
    root = placed(name)
    (listed,) = input_files.files(f"{root}/in/cat")
    assert listed == input_files.describe(f"{root}/in/cat/a.jpg")


@EVERY
def test_a_source_is_told_without_listing_its_pictures(placed, name, monkeypatch):
    from apache_beam.io.filesystems import FileSystems

    root = placed(name)
    monkeypatch.delattr(FileSystems, "match")  # goes through all below a prefix
    found = sources.detect(f"{root}/in")
    assert found.format == "folders"
    assert [p.label for p in sources.partitions(found)] == ["cat", "dog"]


@EVERY
def test_patterns_of_folders_and_files(placed, name):
    root = placed(name)
    assert input_files.matching_folders(f"{root}/in/c*") == [f"{root}/in/cat"]
    assert input_files.matching_folders(f"{root}/i?/*/x") == [f"{root}/in/cat/x"]
    assert input_files.first_matching(f"{root}/in/*/*") == f"{root}/in/cat/a.jpg"
    assert input_files.first_matching(f"{root}/in/dog/*") == f"{root}/in/dog/b.jpg"
    assert input_files.first_matching(f"{root}/in/*.tar") is None
