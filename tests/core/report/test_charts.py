import math
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import assessment as judging
from oracles import report as oracle

from belvedere.core.assessment import evaluation
from belvedere.core.assessment.evaluation import Outcome
from belvedere.core.report import (
    appearance_map,
    contents,
    curves,
    gains,
    page,
    promises,
    svg,
)

shares = st.lists(st.floats(0, 1), min_size=1, max_size=60)


def of(ious, scores, share=None, objects=None):
    n = len(ious)
    labels = np.array(["a"] * n)
    outcome = Outcome(np.array(ious), np.array(scores, np.float64), labels)
    flat = Outcome(np.array(ious), np.zeros(n), labels)
    return contents.Judged(
        np.arange(n).astype(str),
        labels,
        {"full": outcome, "ae_gp": flat},
        np.full(n, 0.5) if share is None else np.array(share),
        np.ones(n, np.int64) if objects is None else np.array(objects),
    )


def test_text_in_a_drawing_is_escaped():
    made = svg.element("text", "<b>", x=1.50, class_='"')
    assert made == '<text x="1.5" class="&#34;">&lt;b&gt;</text>'


@given(st.floats(-1e6, 1e6))
def test_coordinates_are_close_and_short(value):
    text = svg.decimal(value)
    assert abs(float(text) - value) <= 0.0501
    assert not text.startswith("-0") or float(text) != 0
    assert not re.search(r"\.\d*0$", text)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_numbers_of_the_curve_are_the_means_of_what_is_returned(data):
    ious = data.draw(shares)
    n = len(ious)
    scores = data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    table = curves.curve(of(ious, scores)).table
    for row in table.rows:
        wanted = judging.curve(ious, scores)
        returned = math.ceil(row[0].value * n - 1e-9)
        assert row[1].value == pytest.approx(wanted[returned - 1][1])
        assert row[2].value == pytest.approx(np.mean(ious))


@pytest.mark.parametrize("n", [36, 1000])
@pytest.mark.parametrize("levels", [3, 10, 10**6])
def test_the_line_the_dot_and_the_figures_agree(n, levels):
    rng = np.random.default_rng(n + levels)
    ious = rng.uniform(0.4, 1, n)
    scores = np.round(levels * (ious + rng.uniform(-0.1, 0.1, n)))
    judged = of(ious, scores)
    drawn = curves.curve(judged).drawing
    told = evaluation.figures(judged.outcomes["full"])
    way = re.search(r'd="M([^"]+)" class="line m-full"', drawn)[1]
    line = np.array([step.split() for step in way.split("L")], float)
    dot = re.search(r'class="dot m-full" cx="([\d.]+)" cy="([\d.]+)"', drawn)
    dot_x, dot_y = (float(place) for place in dot.groups())
    marked = float(re.search(r'd="M[\d.]+ ([\d.]+)[^"]*" class="marked"', drawn)[1])
    left, right = line[0, 0], line[-1, 0]
    assert 0 < told["returned_at_0.75"] < 1
    assert dot_x == pytest.approx(
        left + told["returned_at_0.75"] * (right - left), abs=0.1
    )
    assert dot_y == pytest.approx(np.interp(dot_x, *line.T), abs=0.1)
    assert dot_y <= marked + 0.1  # on paper, higher is less
    assert (line[line[:, 0] > dot_x + 0.1, 1] >= marked - 0.1).all()
    below = (line[0, 1] - line[:, 1]) / (line[0, 1] - line[-1, 1])  # shares of a fall
    top, end = evaluation.curve(judged.outcomes["full"]).means[[0, -1]]
    heights = top + below * (end - top)
    area = np.trapezoid(heights, line[:, 0]) / (right - left)
    assert area == pytest.approx(told["auc"], abs=0.01)


def test_a_method_without_scores_is_a_level_line():
    drawn = curves.curve(of([0.2, 0.9, 0.7], [3, 2, 1])).drawing
    way = re.search(r'd="(M[^"]+)" class="line m-ae_gp"', drawn)[1]
    heights = {step.split()[1] for step in way[1:].split("L")}
    assert len(heights) == 1


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=50))
def test_interval_of_a_group(values):
    values = np.round(values, 3)
    if values.std() == 0:
        assert gains.half_width(values) == pytest.approx(0, abs=1e-12)
        return
    low, high = oracle.interval_of_mean(values)
    assert gains.half_width(values) == pytest.approx((high - low) / 2)


def test_groups_by_number_of_objects_hold_every_picture():
    rng = np.random.default_rng(0)
    objects = rng.integers(1, 9, 80)
    ious = rng.uniform(0, 1, 80)
    found = gains.by_objects(of(ious, ious, objects=objects))
    wanted = oracle.group_means(ious, ["1234"[min(k, 4) - 1] for k in objects])
    assert sum(g.images for g in found) == 80
    assert [g.means["full"] for g in found] == pytest.approx(
        [wanted[k] for k in "1234"]
    )


def test_groups_by_size_are_told_apart_at_their_edges():
    share = [0.0, 0.049, 0.05, 0.5, 0.75, 1.0]
    found = gains.by_size(of([0.5] * 6, [0] * 6, share=share))
    assert [g.images for g in found] == [2, 1, 1, 2]
    assert gains.half_width(np.array([0.3])) is None


def test_only_differences_that_are_shown_are_coloured():
    group = gains.Group("a", 9, {}, 0.02, 0.01)
    unsure = gains.Group("b", 9, {}, 0.02, 0.03)
    single = gains.Group("c", 1, {}, -0.2, None)
    worse = gains.Group("d", 9, {}, -0.2, 0.1)
    table = gains.figure("k", "h", "x", [group, unsure, single, worse]).table
    assert [row[2].class_ for row in table.rows] == ["gain", "", "", "loss"]


def test_few_pictures_do_not_set_the_scale_of_differences():
    many = gains.Group("many", 40, {}, 0.03, 0.05)
    two = gains.Group("two", 2, {}, 0.12, 1.8)
    one = gains.Group("one", 1, {}, -0.1, None)
    made = gains.figure("k", "h", "x", [many, two, one])
    assert ">+0.15</text>" in made.drawing and ">+2" not in made.drawing
    whiskers = re.findall(r'd="M\S+ (\S+)L\S+ (\S+)" class="whisker"', made.drawing)
    frame = [
        float(y)
        for y in re.findall(r'd="M92 (\S+)L\S+ \S+" class="grid"', made.drawing)
    ]
    assert len(whiskers) == 2, "one picture has no interval"
    assert all(float(y) in frame for y in whiskers[1]), "cut at the frame"
    assert "single picture has none" in made.caption
    assert "fewer than 10 pictures may leave" in made.caption
    assert "\u22121.000 to +1.000" in str(made.table.rows[1])
    alone = gains.figure("k", "h", "x", [many])
    assert "single" not in alone.caption and "leave" not in alone.caption


def test_calibration_says_on_which_side_it_errs():
    bins = [{"predicted": 0.6, "observed": 0.5, "images": 3}]
    assert "0.100 below" in promises.calibration(bins).caption
    assert promises.calibration([{"predicted": math.nan, "observed": 1}]) is None
    assert promises.calibration([]) is None
    assert "91.0% of the boxes keep" in promises.calibration(bins, 0.91).caption
    assert "keep their" not in promises.calibration(bins).caption


def test_the_line_of_calibration_leaves_out_groups_of_few_pictures():
    def drawn(*images):
        bins = [
            {"predicted": 0.1 * (k + 1), "observed": 0.5, "images": n}
            for k, n in enumerate(images)
        ]
        drawing = str(promises.calibration(bins).drawing)
        lines = re.findall(r'd="M([^"]*)"[^>]*class="line m-full', drawing)
        return drawing.count("<circle"), [line.count("L") + 1 for line in lines]

    def said(*images):
        bins = [{"predicted": 0.1, "observed": 0.5, "images": n} for n in images]
        return promises.calibration(bins).caption

    assert "The solid line joins" in said(2, 50, 60)
    assert "solid line" not in said(2, 3) and "fewer than 10" in said(2, 3)
    assert drawn(2, 50, 60, 70) == (4, [3])
    assert drawn(2, 50) == (2, [])  # a line needs two ends


@given(st.floats(1, 1e7))
def test_the_top_of_a_histogram_has_round_quarters(value):
    top = promises.nice_ceiling(value)
    assert value <= top <= max(4, 3 * value)
    assert (top / 4).is_integer()


def test_every_box_of_a_run_is_in_the_histogram(annotation):
    table = promises.histogram(annotation.annotated).table
    assert sum(r[1].value + r[2].value for r in table.rows) == 700
    assert sum(r[1].value for r in table.rows) == annotation.annotated.accepted.sum()


def test_colours_of_the_map_rise_with_the_overlap():
    overlap = np.random.default_rng(0).normal(size=50)
    steps = appearance_map.steps(overlap)
    assert (np.diff(steps[np.argsort(overlap)]) >= 0).all()
    assert set(steps) <= set(range(appearance_map.STEPS))
    assert steps.min() == 0 and steps.max() == appearance_map.STEPS - 1
    assert (appearance_map.steps(np.ones(4)) == 0).all()


def test_every_drawing_has_words_for_it(evaluation, annotation):
    for one in (evaluation, annotation):
        drawings = re.findall(r"<svg.*?</svg>", page.render(one), re.S)
        told = [d for d in map(ElementTree.fromstring, drawings) if d.get("role")]
        assert len(told) >= 5
        for drawing in told:
            title, description = drawing[0], drawing[1]
            assert drawing.get("role") == "img"
            assert drawing.get("aria-labelledby") == f"{title.get('id')} " + (
                description.get("id")
            )
            assert title.text and description.text
        hidden = [d for d in map(ElementTree.fromstring, drawings) if d not in told]
        assert all(d.get("aria-hidden") for d in hidden if d.get("role") is None)


def test_no_coordinate_is_lost(rendered):
    drawn = "".join(re.findall(r"<svg.*?</svg>", rendered, re.S))
    for attribute in re.findall(r' (?:d|x|y|cx|cy|r|width)="([^"]*)"', drawn):
        assert "nan" not in attribute and "inf" not in attribute
