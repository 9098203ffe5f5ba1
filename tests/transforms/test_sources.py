"""Sources of images and boxes, by content; whatever cannot be read is one fault."""

import io
import os
import pathlib
import tarfile

import hostile
import pytest

from belvedere.core.formats.box_rows import BoxRow
from belvedere.transforms import (
    box_sources,
    cloud_listings,
    input_files,
    samples,
    sources,
    units,
)
from belvedere.transforms.inputs import ImageRef, InputFault

PICTURE = hostile.encoded(hostile.gradient(3, 4))


def place(root, *files):
    for name, content in files:
        path = pathlib.Path(root, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def everything(uri, forced=None, images=units.IMAGES, max_bytes=1 << 20):
    """All that a source holds, planned and read as the pipeline does it."""
    source = sources.detect(str(uri), forced)
    return [
        found
        for partition in sources.partitions(source)
        for piece in units.slices(partition, images)
        for found in sources.read(units.stamped(piece), max_bytes)
    ]


def images(found):
    return [f[0] for f in found if not isinstance(f, InputFault)]


def faults(found):
    return [(f.code, f.label) for f in found if isinstance(f, InputFault)]


@pytest.fixture
def folders(tmp_path):
    place(tmp_path, ("cat/b.jpg", PICTURE), ("cat/a.jpg", b"aa"), ("dog/a.jpg", b"d"))
    return tmp_path


def test_a_folder_per_class(folders):
    found = everything(folders)
    root = str(folders)
    assert found == [
        (ImageRef("cat/a.jpg", f"{root}/cat/a.jpg", "cat"), b"aa"),
        (ImageRef("cat/b.jpg", f"{root}/cat/b.jpg", "cat"), PICTURE),
        (ImageRef("dog/a.jpg", f"{root}/dog/a.jpg", "dog"), b"d"),
    ]


def test_image_ids_do_not_depend_on_how_the_source_is_spelled(folders, monkeypatch):
    wanted = everything(folders)
    monkeypatch.chdir(folders.parent)
    for spelling in (folders.name, f"./{folders.name}/", f"file://{folders}"):
        assert everything(spelling) == wanted


def test_what_lies_beside_pictures_is_left_alone(folders):
    place(
        folders,
        *((f"cat/{name}", b"x") for name in (".DS_Store", "Thumbs.db", "a.xml")),
        ("cat/nested/c.jpg", PICTURE),
        (".cache/c.jpg", PICTURE),
        ("README.md", b"x"),
    )
    assert len(everything(folders)) == 3


def test_odd_names_are_tried(folders):
    place(folders, ("cat/no extension", b"x"), ("cat/🦝<script>.heic", b"x"))
    assert len(images(everything(folders))) == 5


def test_unusable_names_are_faults(folders):
    place(folders, ("cat/new\nline.jpg", b"x"), ("bad\nclass/a.jpg", b"x"))
    place(os.fsencode(folders).decode(), ("dog/caf\udce9.jpg", b"x"))
    found = everything(folders)
    assert len(images(found)) == 3
    codes = sorted(code for code, _ in faults(found))
    assert codes == ["bad_name"] * 3
    for fault in found:
        if isinstance(fault, InputFault):
            assert "\n" not in fault.uri
            fault.uri.encode()


def test_pipes_and_dangling_links_do_not_stop_reading(folders):
    os.mkfifo(folders / "cat" / "pipe.jpg")
    os.symlink("/nonexistent", folders / "cat" / "gone.jpg")
    os.symlink(folders / "cat" / "a.jpg", folders / "cat" / "link.jpg")
    assert len(images(everything(folders))) == 4


def test_files_that_are_too_large_are_faults(folders):
    found = everything(folders, max_bytes=10)
    assert faults(found) == [("too_many_bytes", "cat")]


def test_a_folder_that_goes_missing_is_one_fault(folders):
    (partition, *_) = sources.partitions(sources.detect(str(folders)))
    gone = partition._replace(uri=partition.uri + "-gone")
    (piece,) = units.slices(gone)
    (fault,) = sources.read(piece)
    assert (fault.code, fault.label) == ("not_found", "cat")


def test_a_file_that_goes_missing_is_one_fault(folders):
    (partition, *_) = sources.partitions(sources.detect(str(folders)))
    (piece,) = units.slices(partition)
    (folders / "cat" / "a.jpg").unlink()
    found = list(sources.read(piece))
    assert faults(found) == [("not_found", "cat")] and len(images(found)) == 1


def test_pictures_by_a_pattern(folders):
    place(folders, ("cat/c.png", b"c"))
    found = images(everything(folders / "*" / "*.jpg"))
    assert [ref.image_id for ref in found] == ["cat/a.jpg", "cat/b.jpg", "dog/a.jpg"]
    assert [ref.label for ref in found] == ["cat", "cat", "dog"]
    assert len(images(everything(folders / "c*" / "*"))) == 3


def test_a_folder_whose_name_looks_like_a_pattern(tmp_path):
    place(tmp_path, ("[x]*/cat/a.jpg", PICTURE))
    assert len(images(everything(tmp_path / "[x]*"))) == 1


def test_a_csv_list(folders):
    rows = b"image,class\ncat/a.jpg,cat\n../elsewhere/b.jpg,dog\ncat/a.jpg,pet\n"
    place(folders.parent, ("elsewhere/b.jpg", b"b"))
    place(folders, ("list.csv", rows + b"cat/a.jpg,cat\nnone.jpg,cat\ncat,cat\n"))
    found = everything(folders / "list.csv")
    assert [(ref.image_id, ref.label) for ref in images(found)] == [
        ("cat/a.jpg", "cat"),
        (f"{folders.parent}/elsewhere/b.jpg", "dog"),
        ("cat/a.jpg", "pet"),
    ]
    assert faults(found) == [("not_found", "cat"), ("not_a_file", "cat")]


def test_bad_rows_of_a_list_are_faults_with_their_line(folders):
    rows = (
        b"class,image\ncat,cat/a.jpg\ncat\ndog,\xe9.jpg\n,cat/a.jpg\n" + b"x" * 3000000
    )
    place(folders, ("list.csv", rows))
    found = everything(folders / "list.csv")
    assert len(images(found)) == 1
    told = [f for f in found if isinstance(f, InputFault)]
    assert {f.code for f in told} == {"bad_row"}
    assert told[0].uri.endswith("list.csv#line 3")
    assert told[1].message.startswith("bad_encoding")


def test_a_list_may_name_a_pipe(folders):
    os.mkfifo(folders / "pipe")
    place(folders, ("list.csv", b"image,class\npipe,cat\n/dev/zero,cat\n"))
    found = everything(folders / "list.csv")
    assert faults(found) == [("not_a_file", "cat")] * 2


WEBDATASET = [
    ("train/000.cls", b"cat\n"),
    ("train/000.jpg", b"0"),
    ("train/001.JPG", b"1"),
    ("train/001.json", b'{"label": 7, "caption": "x"}'),
    ("train/002.seg.png", b"mask"),
    ("train/002.png", b"2"),
    ("train/002.txt", "été".encode()),
]


def test_webdataset_shards(tmp_path):
    place(tmp_path, ("a-0.tar", hostile.tar(WEBDATASET)))
    found = everything(tmp_path)
    assert [(ref.image_id, ref.label, data) for ref, data in found] == [
        ("a-0.tar/train/000.jpg", "cat", b"0"),
        ("a-0.tar/train/001.JPG", "7", b"1"),
        ("a-0.tar/train/002.png", "été", b"2"),
    ]
    assert found[0][0].uri == f"{tmp_path}/a-0.tar/train/000.jpg"


@pytest.mark.parametrize("per_slice", [1, 2, 3])
def test_samples_are_not_torn_apart(tmp_path, per_slice):
    place(tmp_path, ("a.tar", hostile.tar(WEBDATASET)))
    assert everything(tmp_path, images=per_slice) == everything(tmp_path)


@pytest.mark.parametrize(
    ("members", "wanted"),
    [
        ([("1.jpg", b"1")], "label_missing"),
        ([("1.jpg", b"1"), ("1.cls", b" ")], "label_missing"),
        ([("1.jpg", b"1"), ("1.cls", b"\xff\xfe")], "label_missing"),
        ([("1.jpg", b"1"), ("1.json", b"[" * 100_000)], "label_missing"),
        ([("1.jpg", b"1"), ("1.json", b'{"label": [1]}')], "label_missing"),
        ([("1.jpg", b"1"), ("1.json", b"9" * 5000)], "label_missing"),
        ([("1.jpg", b"1"), ("1.cls", b"x" * (2 << 20))], "label_missing"),
        ([("1.jpg", b"1"), ("1.cls", b"a\nb")], "bad_label"),
        ([("1.jpg", b"1"), ("1.txt", b"x" * 4096)], "bad_label"),
        ([("1.heic", b"1"), ("1.cls", b"cat")], "picture_missing"),
        ([("1.jpg", b"1" * 2000), ("1.cls", b"cat")], "too_many_bytes"),
        ([("../1.jpg", b"1"), ("../1.cls", b"cat")], "bad_name"),
    ],
)
def test_samples_that_cannot_be_used_are_one_fault_each(tmp_path, members, wanted):
    good = [("good.jpg", b"2"), ("good.cls", b"dog")]
    place(tmp_path, ("a.tar", hostile.tar([*members, *good])))
    found = everything(tmp_path, max_bytes=1000)
    assert [code for code, _ in faults(found)] == [wanted]
    assert [ref.label for ref in images(found)] == ["dog"]


def test_samples_without_picture_and_class_are_passed_over(tmp_path):
    members = [("readme.md", b"x"), ("1.mp4", b"x"), *WEBDATASET]
    place(tmp_path, ("a.tar", hostile.tar(members)))
    assert len(everything(tmp_path)) == 3


def test_imagenet_tars(tmp_path):
    members = [("n01440764_1.JPEG", b"1"), ("n01440764_2.JPEG", b"2"), ("a.xml", b"")]
    place(tmp_path, ("n01440764.tar", hostile.tar(members)))
    place(tmp_path, ("n01443537.tar", hostile.tar([("x.JPEG", b"3")])))
    found = everything(tmp_path, images=1)
    assert [(ref.image_id, ref.label, data) for ref, data in found] == [
        ("n01440764.tar/n01440764_1.JPEG", "n01440764", b"1"),
        ("n01440764.tar/n01440764_2.JPEG", "n01440764", b"2"),
        ("n01443537.tar/x.JPEG", "n01443537", b"3"),
    ]


def test_the_format_can_be_forced(tmp_path):
    place(tmp_path, ("cats.tar", hostile.tar([("1.jpg", b"1")])))
    with pytest.raises(ValueError, match="--images-format imagenet"):
        sources.detect(str(tmp_path))
    found = everything(tmp_path / "cats.tar", "imagenet")
    assert [ref.label for ref in images(found)] == ["cats"]


def test_tars_by_a_pattern(tmp_path):
    for name in ("a-1.tar", "a-0.tar", "b-0.tar"):
        place(tmp_path, (f"in/{name}", hostile.tar(WEBDATASET)))
    found = images(everything(tmp_path / "in" / "a-*.tar"))
    assert [ref.image_id.partition("/")[0] for ref in found][::3] == [
        "a-0.tar",
        "a-1.tar",
    ]


def test_references_are_those_of_reading_without_the_bytes(tmp_path, folders):
    place(tmp_path, ("shards/a.tar", hostile.tar(WEBDATASET)))
    place(
        tmp_path, ("sets/n00000001.tar", hostile.tar([("1.JPEG", b"1"), ("../2", b"")]))
    )
    place(folders, ("cat/new\nline.jpg", b""))
    for uri in ("shards", "sets", "."):
        source = sources.detect(str(tmp_path / uri))
        for partition in sources.partitions(source):
            for piece in units.slices(partition, 2):
                read = list(sources.read(piece))
                refs = list(sources.references(piece))
                assert refs == [f if isinstance(f, InputFault) else f[0] for f in read]


def test_hostile_members_cost_one_fault_each(tmp_path):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE):
            info = tarfile.TarInfo("x.JPEG")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        for name in ("../up.JPEG", "a\nb.JPEG", "inner.tar", "good.JPEG"):
            info = tarfile.TarInfo(name)
            info.size = 1
            archive.addfile(info, io.BytesIO(b"1"))
    place(tmp_path, ("n00000001.tar", file.getvalue()))
    found = everything(tmp_path)
    wanted = [
        "tar_link",
        "tar_link",
        "tar_special",
        "bad_name",
        "bad_name",
        "tar_nested",
    ]
    assert [code for code, _ in faults(found)] == wanted
    assert len(images(found)) == 1


def test_a_cut_tar_gives_what_it_has_and_one_fault_per_loss(tmp_path):
    members = [(f"{i}.JPEG", bytes(1500)) for i in range(10)]
    data = hostile.tar(members, tarfile.USTAR_FORMAT)
    place(tmp_path, ("n00000001.tar", data[: 6 * 2048 + 700]))
    found = everything(tmp_path, images=4, max_bytes=1 << 20)
    assert len(images(found)) == 6
    assert [f.code for f in found if isinstance(f, InputFault)] == ["tar_truncated"] * 2
    assert found[-1].uri.endswith(".tar"), "the archive itself is named, once"


def test_a_tar_that_is_none_is_one_fault(tmp_path):
    place(tmp_path, ("n00000001.tar", b"\x1f\x8b" + bytes(2000)))
    (fault,) = everything(tmp_path)
    assert fault.code == "tar_compressed"
    place(tmp_path, ("n00000001.tar", b"garbage" * 1000))
    (fault,) = everything(tmp_path)
    assert fault.code == "tar_corrupt"


def test_a_tar_with_too_many_members_is_read_as_far_as_allowed(tmp_path, monkeypatch):
    monkeypatch.setattr("belvedere.transforms.tars.MAX_MEMBERS", 5)
    members = [(f"{i}.JPEG", b"x") for i in range(9)]
    place(tmp_path, ("n00000001.tar", hostile.tar(members)))
    found = everything(tmp_path, images=2)
    assert len(images(found)) == 5
    assert [code for code, _ in faults(found)] == ["tar_too_many_members"]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([], "neither class folders nor tars"),
        ([("a.jpg", PICTURE)], "neither class folders nor tars"),
        ([("a.tar", b""), ("cat/a.jpg", b"")], "say which"),
    ],
)
def test_folders_that_are_no_source(tmp_path, files, said):
    place(tmp_path, *files)
    with pytest.raises(ValueError, match=said):
        sources.detect(str(tmp_path))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (PICTURE, "is a picture"),
        (b"hello", "neither a tar nor a CSV"),
        (b"image,klass\n", "lacks \\['class'\\]"),
    ],
)
def test_files_that_are_no_source(tmp_path, content, said):
    place(tmp_path, ("file", content))
    with pytest.raises(ValueError, match=said):
        sources.detect(str(tmp_path / "file"))


@pytest.mark.parametrize("uri", ["/nonexistent", "/nonexistent/*", "", "http://a/b"])
def test_sources_that_are_not_there(uri):
    with pytest.raises(ValueError):
        sources.detect(uri)
    with pytest.raises(ValueError):
        sources.detect(uri, forced="coco")


def test_is_picture_name():
    assert samples.is_picture_name("a/b.heic") and samples.is_picture_name("b")
    assert not samples.is_picture_name("a/.b.jpg")
    assert not samples.is_picture_name("a/B.XML")


@pytest.mark.parametrize(
    ("folder", "path", "wanted"),
    [
        ("/data", "a.jpg", "/data/a.jpg"),
        ("/data", "../a.jpg", "/a.jpg"),
        ("/data", "/other/a.jpg", "/other/a.jpg"),
        ("/data", "gs://bucket/a.jpg", "gs://bucket/a.jpg"),
        ("gs://bucket", "x/./a.jpg", "gs://bucket/x/a.jpg"),
        ("gs://bucket/lists", "../../../a.jpg", "gs://bucket/a.jpg"),
        ("s3://bucket/lists", "/a.jpg", "s3://bucket/a.jpg"),
    ],
)
def test_paths_of_a_list(folder, path, wanted):
    assert input_files.resolve(folder, path) == wanted


class _Bucket:
    """Beam's view of an object store, kept in a local folder."""

    def __new__(cls, folder):
        from apache_beam.io import filesystem

        class Bucket(filesystem.FileSystem):
            def _path(self, uri):
                return folder / uri.removeprefix("gs://bucket").lstrip("/")

            def has_dirs(self):
                return False

            def _list(self, prefix):
                for path in sorted(f for f in folder.rglob("*") if f.is_file()):
                    uri = f"gs://bucket/{path.relative_to(folder).as_posix()}"
                    if uri.startswith(prefix):
                        yield self.metadata(uri)

            def metadata(self, uri):
                stat = self._path(uri).stat()
                if not self._path(uri).is_file():
                    raise filesystem.BeamIOError("404 no such object")
                return filesystem.FileMetadata(uri, stat.st_size, stat.st_mtime)

            def open(self, uri, mime_type="", compression_type="auto"):
                assert compression_type == filesystem.CompressionTypes.UNCOMPRESSED
                return open(self._path(uri), "rb")

        unused = {n: None for n in Bucket.__abstractmethods__}
        return type("Bucket", (Bucket,), unused)(None)


@pytest.fixture
def bucket(tmp_path, monkeypatch):
    from apache_beam.io.filesystems import FileSystems

    store = _Bucket(tmp_path)
    monkeypatch.setattr(FileSystems, "get_filesystem", staticmethod(lambda _: store))
    monkeypatch.setattr(input_files, "_level", lambda uri: _level(uri, store))
    return tmp_path


def _level(uri: str, store) -> cloud_listings.Level:
    """What a store says when it stops at the next slash."""
    found = [f.path.removeprefix(f"{uri}/") for f in store._list(f"{uri}/")]
    here = [name for name in found if "/" not in name]
    looked_up = {name: store.metadata(f"{uri}/{name}") for name in here}
    files = [
        cloud_listings.File(name, m.size_in_bytes, m.last_updated_in_seconds)
        for name, m in looked_up.items()
    ]
    return cloud_listings.Level(files, list({n.split("/")[0] for n in found} - {*here}))


def test_remote_folders_read_as_local_ones(bucket):
    names = ("in/cat/a.jpg", "in/cat/[b]*.jpg", "in/cat/x/c.jpg", "in/d?g/a.jpg")
    place(bucket, *((name, name.encode()) for name in names), ("in/top.txt", b""))
    found = everything("gs://bucket/in/")
    local = everything(bucket / "in")
    assert [(ref.image_id, ref.label) for ref in images(found)] == [
        (ref.image_id, ref.label) for ref in images(local)
    ]
    assert [data for _, data in found] == [data for _, data in local]
    assert found[0][0].uri == "gs://bucket/in/cat/[b]*.jpg"
    by_pattern = images(everything("gs://bucket/in/c*/a*"))
    assert [ref.image_id for ref in by_pattern] == ["cat/a.jpg"]


def test_remote_tars_and_lists(bucket):
    place(bucket, ("tars/a-0.tar", hostile.tar(WEBDATASET)), ("in/a.jpg", PICTURE))
    place(bucket, ("in/list.csv", b"image,class\na.jpg,cat\nno.jpg,cat\n"))
    assert len(images(everything("gs://bucket/tars", images=1))) == 3
    assert len(images(everything("gs://bucket/tars/*.tar"))) == 3
    found = everything("gs://bucket/in/list.csv")
    assert len(images(found)) == 1 and faults(found) == [("not_found", "cat")]
    with pytest.raises(ValueError, match="neither class folders"):
        sources.detect("gs://bucket/nothing")


BOXES = (
    b"image,class,xmin,ymin,xmax,ymax\ncat/a.jpg,cat,0,0,3,3\ncat/a.jpg,cat,x,0,3,3\n"
)


def boxes(uri, forced=None):
    source = box_sources.detect(str(uri), forced)
    return source, [
        found
        for partition in box_sources.partitions(source)
        for found in box_sources.read(partition)
    ]


def test_boxes_of_a_csv_find_their_image(folders):
    place(folders, ("boxes.csv", BOXES))
    source, ((key, row), fault) = boxes(folders / "boxes.csv")
    keys = {
        box_sources.image_key(r, source.format) for r in images(everything(folders))
    }
    assert key in keys and isinstance(row, BoxRow)
    assert (fault.code, fault.label) == ("bad_number", "cat")
    assert fault.uri.endswith("boxes.csv#line 3")


def xml(name, label):
    corners = "<xmin>1</xmin><ymin>1</ymin><xmax>3</xmax><ymax>3</ymax>"
    box = f"<object><name>{label}</name><bndbox>{corners}</bndbox></object>"
    return f"<annotation><filename>{name}</filename>{box}</annotation>".encode()


def test_boxes_of_xml_files_find_their_image(tmp_path):
    files = [("n01/n01_1.xml", xml("n01_1", "n01")), ("n01_2.xml", xml("%s", "n01"))]
    place(tmp_path, *((f"xml/{name}", data) for name, data in files))
    place(tmp_path, ("xml/bad.xml", b"<!DOCTYPE x>"), ("xml/note.txt", b"x"))
    place(tmp_path, ("boxes.tar", hostile.tar([*files, ("bad.xml", b"<")])))
    members = [("n01_1.JPEG", b"1"), ("n01_2.JPEG", b"2")]
    place(tmp_path, ("in/n01.tar", hostile.tar(members)))
    wanted = {
        box_sources.image_key(ref, "voc")
        for ref in images(everything(tmp_path / "in", "imagenet"))
    }
    for uri, code in (("xml", "xml_entities"), ("boxes.tar", "xml_malformed")):
        source, found = boxes(tmp_path / uri)
        assert source.format == "voc"
        assert {f[0] for f in found if not isinstance(f, InputFault)} == wanted
        assert [c for c, _ in faults(found)] == [code]


def test_sources_of_boxes_that_are_none(tmp_path):
    place(tmp_path, ("a.csv", b"image,class\n"), ("b.csv", b"xmin,image\n"))
    with pytest.raises(ValueError, match="neither a CSV of boxes"):
        box_sources.detect(str(tmp_path / "a.csv"))
    with pytest.raises(ValueError, match="lacks"):
        box_sources.detect(str(tmp_path / "b.csv"))
    with pytest.raises(ValueError, match="no format of boxes"):
        box_sources.detect(str(tmp_path), "yolo")
    with pytest.raises(ValueError, match="cannot be read"):
        box_sources.detect(str(tmp_path / "nothing"))
