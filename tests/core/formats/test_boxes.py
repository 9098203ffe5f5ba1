"""Boxes from CSV and XML: to the pixel, and one fault per bad row."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import formats as oracle

from belvedere.core.formats import box_csv, box_rows, csv_rows, image_csv, voc_xml
from belvedere.core.formats.box_rows import BoxRow
from belvedere.core.formats.faults import RowCode, RowFault
from belvedere.core.formats.pictures import Header

HEADER = "image,class,xmin,ymin,xmax,ymax,width,height,source"


def parsed(*rows, header=HEADER):
    return list(box_csv.parse([header + "\n", *(f"{row}\n" for row in rows)]))


def code(row):
    assert isinstance(row, RowFault), row
    assert row.message and row.where
    return row.code


def test_a_csv_row_is_a_box():
    (row,) = parsed("images/a b.jpg,garbage truck,1,2.5,30,40,60,50,me")
    wanted = ("images/a b.jpg", "garbage truck", (1.0, 2.5, 30.0, 40.0), 60, 50)
    assert (row.image, row.label, row.box, row.width, row.height) == wanted


def test_columns_are_found_by_name():
    (row,) = parsed("4,3,2,1,cat,a.jpg", header="YMAX, xmax,ymin,xmin,class,image")
    assert row.box == (1, 2, 3, 4) and row.width is None


def test_size_is_optional_row_by_row():
    rows = parsed("a,c,1,2,3,4,,,", "a,c,1,2,3,4,0,0,", "a,c,1,2,3,4,9,8,")
    assert [(r.width, r.height) for r in rows] == [(None, None), (None, None), (9, 8)]


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        ("a,c,1,2,3", RowCode.BAD_ROW),
        ('"a"b,c,1,2,3,4,,,', RowCode.BAD_ROW),
        ("a,c,1,2,x,4,,,", RowCode.BAD_NUMBER),
        ("a,c,1,2,,4,,,", RowCode.BAD_NUMBER),
        ("a,c,1,2,nan,4,,,", RowCode.BAD_NUMBER),
        ("a,c,1,2,inf,4,,,", RowCode.BAD_NUMBER),
        ("a,c,1,2,1_0,4,,,", RowCode.BAD_NUMBER),
        ("a,c,1,2,٣,4,,,", RowCode.BAD_NUMBER),
        ("a,c,1,2,3,4,9,,", RowCode.BAD_NUMBER),
        ("a,c,1,2,3,4,9.5,8,", RowCode.BAD_NUMBER),
        ("a,c,1,2,3,4,inf,8,", RowCode.BAD_NUMBER),
        ("a,c,3,2,1,4,,,", RowCode.BAD_BOX),
        ("a,c,1,2,1,4,,,", RowCode.BAD_BOX),
        (",c,1,2,3,4,,,", RowCode.BAD_NAME),
        ('"a\nb",c,1,2,3,4,,,', RowCode.BAD_NAME),
        ("a,,1,2,3,4,,,", RowCode.BAD_LABEL),
        (f"a,{'c' * 4096},1,2,3,4,,,", RowCode.BAD_LABEL),
        ("a\ufffd,c,1,2,3,4,,,", RowCode.BAD_ENCODING),
        (f"{'a' * 200_000},c,1,2,3,4,,,", RowCode.BAD_ROW),
    ],
)
def test_a_bad_row_costs_one_row(row, wanted):
    before, bad, after = parsed("a,c,1,2,3,4,,,", row, "b,c,1,2,3,4,,,")
    assert code(bad) == wanted
    assert before.image == "a" and after.image == "b"


def test_faults_say_their_line():
    rows = parsed("a,c,1,2,3,4,,,", "", "a,c,9,2,3,4,,,")
    assert rows[1].where == "line 4"
    assert (rows[1].image, rows[1].label) == ("a", "c")


@pytest.mark.parametrize(
    "header", ["", "image,class", "image,image,class,xmin,ymin,xmax"]
)
def test_a_wrong_header_is_the_user_s_mistake(header):
    with pytest.raises(ValueError, match="wanted image,class"):
        parsed(header=header)


def test_bytes_are_decoded_line_by_line():
    lines = [b"\xef\xbb\xbfimage,class\n", b"a.jpg,caf\xc3\xa9\n", b"b.jpg,caf\xe9\n"]
    good, bad = image_csv.parse(csv_rows.decoded(lines))
    assert good == image_csv.ListedImage("a.jpg", "café")
    assert code(bad) == RowCode.BAD_ENCODING


def xml(*objects, size="<size><width>60</width><height>50</height></size>", name="a"):
    inside = "".join(
        f"<object><name>{label}</name><bndbox>"
        + "".join(
            f"<{c}>{v}</{c}>"
            for c, v in zip(("xmin", "ymin", "xmax", "ymax"), box, strict=True)
        )
        + "</bndbox></object>"
        for label, box in objects
    )
    text = f"<annotation><filename>{name}</filename>{size}{inside}</annotation>"
    return text.encode()


def test_xml_is_one_based_and_inclusive():
    data = xml(("dog", (1, 1, 60, 50)), ("cat", (5, 6, 5, 6)))
    whole, pixel = voc_xml.parse(data, "x.xml")
    assert whole.box == (0, 0, 60, 50) and (whole.width, whole.height) == (60, 50)
    assert pixel.box == (4, 5, 5, 6) and pixel.label == "cat"
    assert whole.zero_based == pixel.zero_based == 0


def test_a_zero_is_read_as_zero_based_on_that_side_and_counted():
    rows = voc_xml.parse(xml(("d", (0, 3, 9, 9)), ("d", (0, 0, 9, 9))), "x.xml")
    assert [(r.box, r.zero_based) for r in rows] == [
        ((0, 2, 9, 9), 1),
        ((0, 0, 9, 9), 2),
    ]


@pytest.mark.parametrize("name", ["", "%s"])
def test_an_unnamed_image_goes_by_the_xml_file(name):
    (row,) = voc_xml.parse(xml(("d", (1, 1, 2, 2)), name=name), "n01/n01_7.xml")
    assert row.image == "n01_7"


def test_parts_of_objects_are_not_objects():
    part = "<part><name>head</name><bndbox><xmin>1</xmin></bndbox></part></object>"
    data = xml(("dog", (1, 1, 9, 9))).replace(b"</object>", part.encode())
    assert [row.label for row in voc_xml.parse(data, "x")] == ["dog"]


def test_one_bad_object_costs_one_object():
    data = xml(("d", (1, 1, "x", 9)), ("", (1, 1, 9, 9)), ("d", (9, 9, 1, 1)))
    data = data.replace(
        b"</annotation>", b"<object><name>d</name></object></annotation>"
    )
    rows = list(voc_xml.parse(data, "x"))
    wanted = [
        RowCode.BAD_NUMBER,
        RowCode.BAD_LABEL,
        RowCode.BAD_BOX,
        RowCode.BAD_NUMBER,
    ]
    assert [code(row) for row in rows] == wanted
    assert rows[2].where == "object 3"


BOMB = b"""<?xml version="1.0"?><!DOCTYPE annotation [<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><annotation>&b;</annotation>"""
OUTSIDE = b"""<!doctype x [<!ENTITY f SYSTEM "file:///etc/passwd">]>
<annotation><filename>&f;</filename></annotation>"""


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (BOMB, RowCode.XML_ENTITIES),
        (OUTSIDE, RowCode.XML_ENTITIES),
        (BOMB.decode().encode("utf-16"), RowCode.BAD_ENCODING),
        (BOMB.decode().encode("cp037"), RowCode.BAD_ENCODING),
        (b"", RowCode.XML_MALFORMED),
        (b"<annotation>", RowCode.XML_MALFORMED),
        (b"<html/>", RowCode.XML_MALFORMED),
        (b"\xff\xd8\xff", RowCode.BAD_ENCODING),
        (b"<annotation>&undefined;</annotation>", RowCode.XML_MALFORMED),
        (b" " * (voc_xml.MAX_BYTES + 1), RowCode.XML_TOO_LARGE),
    ],
)
def test_a_bad_file_costs_one_fault(data, wanted):
    (fault,) = voc_xml.parse(data, "x.xml")
    assert code(fault) == wanted


def test_a_declared_encoding_does_not_smuggle_entities():
    """Only UTF-8 is read, whatever the file says of itself."""
    hidden = BOMB.replace(b"?>", b' encoding="utf-7"?>', 1).replace(b"<!", b"+ADwAIQ-")
    (fault,) = voc_xml.parse(hidden, "x.xml")
    assert code(fault) == RowCode.XML_MALFORMED


def test_deep_nesting_is_survived():
    data = b"<annotation>" + b"<a>" * 100_000 + b"</a>" * 100_000 + b"</annotation>"
    assert list(voc_xml.parse(data, "x")) == []


def row_of(box, width=None, height=None, **more):
    corners = tuple(map(float, box))
    return BoxRow("a.jpg", "cat", corners, width, height, "line 2", **more)


def picture(width, height, orientation=1):
    return Header("JPEG", "RGB", width, height, orientation)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_boxes_in_the_upright_frame_stay(orientation):
    upright = (40, 60) if orientation >= 5 else (60, 40)
    box = (1, 2, 30, 35)
    for size in ((None, None), upright):
        row = row_of(box, *size)
        found = box_rows.upright(row, picture(60, 40, orientation))
        assert found.tolist() == list(box)


@pytest.mark.parametrize("orientation", [5, 6, 7, 8])
def test_boxes_of_the_stored_frame_are_turned(orientation):
    mask = np.zeros((40, 60), bool)
    mask[2:35, 1:50] = True
    row = row_of((1, 2, 50, 35), 60, 40)
    found = box_rows.upright(row, picture(60, 40, orientation))
    assert found.tolist() == oracle.bounds(oracle.turned(mask, orientation))


def test_boxes_that_fit_no_frame_are_faults():
    row = row_of((1, 2, 50, 35), 120, 80)
    fault = box_rows.upright(row, picture(60, 40, 6))
    assert code(fault) == RowCode.FRAME_MISMATCH
    assert (fault.image, fault.label, fault.where) == ("a.jpg", "cat", "line 2")


@settings(max_examples=80, deadline=None)
@given(
    st.integers(200, 4000), st.integers(200, 4000), st.integers(2, 9), st.integers(1, 8)
)
def test_rescaled_copies_are_accepted_when_asked(wide, high, parts, orientation):
    """A copy whose sides are rounded either way, turned or not."""
    small = (wide * parts // 10, -(-high * parts // 10))
    stated = (wide, high)
    stored = small[::-1] if orientation >= 5 else small
    row = row_of((0.1 * wide, 0.2 * high, 0.5 * wide, high), *stated)
    assert isinstance(box_rows.upright(row, picture(*stored, orientation)), RowFault)
    row = dataclasses.replace(row, rescale=True)
    box = box_rows.upright(row, picture(*stored, orientation))
    wanted = np.multiply([0.1, 0.2, 0.5, 1], np.tile(small, 2))
    assert np.allclose(box, wanted)


def test_another_shape_is_not_a_scale():
    row = row_of((1, 2, 50, 35), 120, 90, rescale=True)
    fault = box_rows.upright(row, picture(60, 40))
    assert code(fault) == RowCode.FRAME_MISMATCH


def test_a_rescaled_stored_frame_is_scaled_and_turned():
    row = row_of((0, 0, 60, 80), 120, 80, rescale=True)
    box = box_rows.upright(row, picture(60, 40, 6))
    assert box.tolist() == [0, 0, 40, 30]


@pytest.mark.parametrize("box", [(-1, 0, 5, 5), (0, 0, 61, 5), (0, 0, 5, 40.5)])
def test_boxes_outside_are_faults(box):
    assert code(box_rows.upright(row_of(box), picture(60, 40))) == RowCode.BOX_OUTSIDE
