"""Archives: the same files as the standard library finds, and an end to every trick."""

import io
import tarfile

import hostile
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import formats as oracle

from belvedere.transforms import tars
from belvedere.transforms.inputs import InputCode, InputError
from belvedere.transforms.tars import Archive

FORMATS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)
END = bytes(1024)


def contents(data, start=0, stop=None):
    archive = Archive(io.BytesIO(data), start)
    return [(m.name, archive.read(1 << 20)) for m in archive.members(stop)]


def codes(data):
    """The faults of an archive: of its members, and its own."""
    found = []
    try:
        for member in Archive(io.BytesIO(data)).members():
            found.append(member.fault and member.fault[0])
    except InputError as error:
        found.append(error.code)
    return found


part = st.text("abcé🦝 .-<'", min_size=1, max_size=40).filter(lambda p: p.strip("."))
path = st.lists(part, min_size=1, max_size=6).map("/".join)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(path, st.binary(max_size=1500)), max_size=6),
    st.sampled_from(FORMATS),
)
def test_the_files_are_those_of_the_standard_library(members, format):
    try:
        data = hostile.tar(members, format)
    except ValueError:  # ustar cannot hold every long name
        return
    assert contents(data) == oracle.tar_files(data)


def test_a_slice_can_be_read_from_where_it_begins():
    members = [(f"{'long' * 50}/{i:03}é.jpg", bytes([i]) * i * 7) for i in range(40)]
    for format in FORMATS[1:]:
        data = hostile.tar(members, format)
        starts = [m.start for m in Archive(io.BytesIO(data)).members()]
        assert contents(data, starts[13], starts[29]) == members[13:29]
        assert contents(data, starts[13]) == members[13:]


def test_reading_is_optional():
    data = hostile.tar([("a", b"x" * 700), ("b", b"y" * 3), ("c", b"")])
    archive = Archive(io.BytesIO(data))
    read = [archive.read(99) for m in archive.members() if m.name != "a"]
    assert read == [b"yyy", b""]


def test_a_member_can_be_too_large():
    archive = Archive(io.BytesIO(hostile.tar([("a", b"x" * 700), ("b", b"y")])))
    members = archive.members()
    next(members)
    with pytest.raises(InputError) as caught:
        archive.read(699)
    assert caught.value.code == InputCode.TOO_MANY_BYTES
    assert next(members).name == "b" and archive.read(699) == b"y"


def test_links_and_devices_are_named_not_followed():
    file = io.BytesIO()
    kinds = (tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE)
    with tarfile.open(fileobj=file, mode="w") as archive:
        for number, kind in enumerate((*kinds, tarfile.DIRTYPE, tarfile.REGTYPE)):
            info = tarfile.TarInfo(f"{number}.jpg")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    wanted = ["tar_link", "tar_link", "tar_special", "tar_special", None]
    assert codes(file.getvalue()) == wanted  # the folder is passed over


def test_sparse_files_are_passed_over():
    content = hostile.padded(b"data")
    old = hostile.tar_header(b"sparse.jpg", 4, b"S") + content
    extended = bytearray(hostile.tar_header(b"sparse.jpg", 4, b"S", bytes(137) + b"\1"))
    more = bytes(504) + b"\1" + bytes(7) + bytes(512)
    good = hostile.tar_header(b"good.jpg", 4) + content
    assert codes(old + good + END) == ["tar_sparse", None]
    assert codes(bytes(extended) + more + content + good + END) == ["tar_sparse", None]
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("sparse.jpg")
        info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.realsize": "99999"}
        archive.addfile(info)
    assert codes(file.getvalue()) == ["tar_sparse"]


@pytest.mark.parametrize(
    "name",
    [
        "../a.jpg",
        "a/../../b.jpg",
        "/etc/passwd",
        "a\nb.jpg",
        "x" * 4096,
        "a\x1b[2J.jpg",
    ],
)
def test_names_that_lead_elsewhere(name):
    data = hostile.tar([(name, b"1"), ("good.jpg", b"2")])
    assert codes(data) == ["bad_name", None]


def test_names_that_are_not_utf_8():
    data = hostile.tar_header(b"caf\xe9.jpg", 0) + hostile.tar_header(b"", 0) + END
    assert codes(data) == ["bad_name", "bad_name"]


def test_an_endless_name_is_not_read():
    """An extended header may claim any length; what it holds is skipped unread."""
    size = 3 << 20
    for kind in (b"L", b"x"):
        name = hostile.tar_header(b"././@LongLink", size, kind) + bytes(size)
        data = name + hostile.tar_header(b"a.jpg", 0) + END
        assert codes(data) == ["bad_name"]
    claim = hostile.tar_header(b"././@LongLink", 1 << 35, b"L")
    assert codes(claim + b"short") == ["tar_truncated"]


@pytest.mark.parametrize(
    "record",
    [
        b"0 a=b\n",
        b"9999 path=x\n",
        b"8 path\n",
        b"x path=y\n",
        b"-7 a=b\n",
        b"12 size=-4\n",
    ],
)
def test_pax_records_that_make_no_sense(record):
    data = hostile.tar_header(b"pax", len(record), b"x") + hostile.padded(record)
    assert codes(data + hostile.tar_header(b"a", 0) + END) == ["tar_corrupt"]


def test_sizes_that_make_no_sense():
    header = bytearray(hostile.tar_header(b"a.jpg", 0))
    for size in (
        b"\xff" * 12,
        b"\x80" + b"\xff" * 11,
        b"99999999999\0",
        b"-1\0".ljust(12),
    ):
        header[124:136] = size
        header[148:156] = b" " * 8
        header[148:156] = b"%06o\0 " % sum(header)
        assert codes(bytes(header) + END) == ["tar_corrupt"]


def test_large_sizes_in_base_256():
    header = bytearray(hostile.tar_header(b"a.jpg", 0))
    header[124:136] = b"\x80" + (5).to_bytes(11, "big")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    assert contents(bytes(header) + hostile.padded(b"hello") + END) == [
        ("a.jpg", b"hello")
    ]


def test_a_cut_archive_gives_what_it_has():
    members = [(f"{i}.jpg", bytes(600)) for i in range(3)]
    data = hostile.tar(members, tarfile.USTAR_FORMAT)
    one = 512 + 1024
    assert codes(data[: 2 * one]) == [None, None, "tar_truncated"]
    assert codes(data[: 2 * one + 100]) == [None, None, "tar_truncated"]
    archive = Archive(io.BytesIO(data[: 2 * one - 600]))
    members = archive.members()
    assert archive.read(next(members).size) == bytes(600)
    next(members)
    with pytest.raises(InputError):
        archive.read(600)


def test_damage_in_the_middle_is_noticed():
    data = bytearray(hostile.tar([("a", b"1"), ("b", b"2")], tarfile.USTAR_FORMAT))
    data[1024] ^= 1
    assert codes(bytes(data)) == [None, "tar_corrupt"]


@pytest.mark.parametrize("magic", [b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\0"])
def test_compressed_archives_are_named(magic):
    assert codes(magic + bytes(1000)) == ["tar_compressed"]


def test_members_are_counted(monkeypatch):
    monkeypatch.setattr(tars, "MAX_MEMBERS", 3)
    data = hostile.tar([(str(i), b"") for i in range(5)])
    assert codes(data) == [None] * 3 + ["tar_too_many_members"]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_damage_comes_to_an_end(data):
    archive = bytearray(hostile.tar([("a" * 120, b"x" * 700), ("b.jpg", b"y")]))
    for _ in range(data.draw(st.integers(1, 8))):
        place = data.draw(st.integers(0, len(archive) - 1))
        archive[place] = data.draw(st.integers(0, 255))
    assert len(codes(bytes(archive))) < 30
