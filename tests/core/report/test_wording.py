import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belvedere.core.report import wording


@given(st.text(max_size=300))
def test_nothing_unseen_is_left_in_a_name(text):
    shown = wording.plain(text)
    shown.encode("utf-8")
    assert not set(shown) & set("\x00\n\r\t\x1b\u2028\u202e\u2066\u200f\x85")


@given(st.text(alphabet=st.characters(categories=["L", "N", "S"]), max_size=300))
def test_a_name_without_unseen_characters_is_kept(text):
    assert wording.plain(text) == text


@given(st.text(max_size=5000), st.integers(8, 80))
def test_long_names_are_short_in_view_and_whole_in_their_title(text, most):
    name = wording.name(text, most)
    assert len(name.view) <= most
    if len(wording.plain(text)) > most:
        assert name.whole == wording.plain(text)[: len(name.whole)]
        assert name.view.startswith(name.whole[: most // 2])
        assert name.view[-1] == wording.plain(text)[-1]
    else:
        assert name == (wording.plain(text), "")


def test_lone_surrogates_can_be_written():
    assert wording.plain("a\udcffb").encode("utf-8") == b"a\\udcffb"


@pytest.mark.parametrize("value", [None, math.nan, math.inf, "x", [1]])
def test_what_is_not_a_number_is_a_dash(value):
    for say in (wording.number, wording.signed, wording.percent, wording.count):
        assert say(value) == wording.DASH


def test_numbers():
    assert wording.number(0.7149) == "0.71"
    assert wording.number(-0.0) == "0.00"
    assert wording.signed(0.0004) == "0.000"
    assert wording.signed(-0.0004) == "0.000"
    assert wording.signed(-0.02) == f"{wording.MINUS}0.020"
    assert wording.percent(0.355) in ("35%", "36%")
    assert wording.count(1, "class") == "1 class"
    assert wording.count(1234, "class") == "1,234 classes"
    assert wording.count(2, "picture") == "2 pictures"


@pytest.mark.parametrize(
    "interval, verdict",
    [
        ([0.001, 0.02, 0.04], "better"),
        ([-0.04, -0.02, -0.001], "worse"),
        ([-0.001, 0.02, 0.04], "no difference shown"),
        ([0.0, 0.02, 0.04], "no difference shown"),
        ([math.nan, 0.02, 0.04], "not known"),
        (None, "not known"),
    ],
)
def test_a_difference_needs_an_interval_without_zero(interval, verdict):
    assert wording.verdict(interval) == verdict


def test_methods_have_an_order_and_looks_of_their_own():
    given_methods = ["ceiling", "zeta", "ae_gp", "alpha", "full"]
    assert wording.ordered(given_methods) == [
        "full",
        "ae_gp",
        "alpha",
        "zeta",
        "ceiling",
    ]
    looks = wording.classes(given_methods)
    assert len(set(looks.values())) == len(given_methods)
