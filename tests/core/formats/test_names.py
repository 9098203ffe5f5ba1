"""Names from the data: what is refused, and what folder names are made of them."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belvedere.core.formats import names


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300))
def test_a_slug_is_always_a_plain_name(label):
    slug = names.slug(label)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug)
    assert len(slug) <= 60


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=5), unique=True, max_size=20))
def test_different_labels_have_different_slugs(labels):
    assert len({names.slug(label) for label in labels}) == len(labels)


@pytest.mark.parametrize("pair", ["Cat cat", "a.b a_b", "- class", "é e"])
def test_labels_that_look_alike_do_not_share_a_folder(pair):
    first, second = map(names.slug, pair.split())
    assert first != second


@pytest.mark.parametrize("label", ["cat", "n02099601", "日本", "🦝", "<b>", "a, b"])
def test_usable_labels(label):
    assert names.label_fault(label) is None


@pytest.mark.parametrize(
    "label", ["", "  ", "a\nb", "a\0b", "x" * 4096, "\udce9", "a\u2028b", "\ufffd"]
)
def test_unusable_labels(label):
    fault = names.label_fault(label)
    assert fault and fault.isascii() and "\n" not in fault and len(fault) < 300


@pytest.mark.parametrize("name", ["", "a\nb.jpg", "x" * 1025, "é" * 513, "\udcff.jpg"])
def test_unusable_names(name):
    assert names.name_fault(name)


def test_usable_names():
    for name in ("a.jpg", "n1/b c.JPEG", "🦝.png", "x" * 1024):
        assert names.name_fault(name) is None
