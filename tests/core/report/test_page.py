import dataclasses
import html
import math
import re

import numpy as np
import pytest

from belvedere.core.report import contents, page, sentences, wording
from belvedere.core.report.contents import Contents, Kind

HOSTILE = (
    "<script>alert(1)</script>",
    "\"onload='x",
    "a\nb\r\x00",
    "🦓👩‍🔬 zebra",
    "\u202egpj.exe",
    "x" * 4096,
    "{{ 7 * 7 }}",
    "../../etc",
    "]]>--><!--",
    "a\udcff",
)


def hostile(evaluation: Contents, pictures) -> Contents:
    """Every name of a report replaced by something that should not be run."""
    figures = {"images": 3, "mean_iou": 0.5, "corloc": 0.5}
    method = {"mean_iou": 0.5, "per_class": dict.fromkeys(HOSTILE, figures)}
    gallery = tuple(
        contents.Section(
            name,
            (dataclasses.replace(pictures[k % 8], image_id=name, label=name),),
            name,
        )
        for k, name in enumerate(HOSTILE)
    )
    letters = tuple(
        contents.DeadLetters(name, 1, (contents.DeadLetter(name, name, name),))
        for name in HOSTILE
    )
    return dataclasses.replace(
        evaluation,
        title=HOSTILE[0],
        metrics={
            "methods": {"full": method, HOSTILE[0]: method},
            "seconds": dict.fromkeys(HOSTILE, 1.0),
            "counts": dict.fromkeys(HOSTILE, 1),
        },
        gallery=gallery,
        refused=tuple(contents.Refused(name, name) for name in HOSTILE),
        not_compared=tuple(contents.NotCompared(n, n, n) for n in HOSTILE),
        dead=letters,
        near_duplicates=(HOSTILE,),
        configuration={name: name for name in HOSTILE},
        ids={name: name for name in HOSTILE},
    )


def contrast(one: str, other: str) -> float:
    """Of two colours #rrggbb, as WCAG 2 defines it."""

    def luminance(colour):
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [
            p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
        ]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    low, high = sorted(luminance(colour) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def test_lines_stand_out_in_light_and_dark():
    style = page._text("style.css")
    themes = [
        dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", root))
        for root in re.findall(r":root \{(.*?)\}", style, re.S)
    ]
    assert len(themes) == 2 and themes[0].keys() == themes[1].keys()
    lines = set(re.findall(r"--m: var\(--(\w+)\)", style))
    lines |= {"ink", "soft", "gain", "loss", "focus", "second", "support"}
    assert {"full", "whole_image", "x"} <= lines
    for theme in themes:
        for line in lines:
            for ground in ("paper", "card", "wash"):
                assert contrast(theme[line], theme[ground]) >= 3, (line, ground)


def test_the_name_of_a_figure_comes_before_it(evaluation, annotation):
    for one in (evaluation, annotation):
        made = page.render(one)
        groups = re.findall(r"<div>(<d[td][^>]*>.*?)</div>", made, re.S)
        assert len(groups) > 10
        for group in groups:
            order = re.findall(r"<(d[td])", group)
            assert order[0] == "dt" and "dt" not in order[1:], group


def test_near_duplicates_are_named_within_bounds(evaluation):
    groups = tuple((f"a{k}", f"b{k}") for k in range(1000))
    long = tuple(f"copy-{k}" for k in range(50))
    many = dataclasses.replace(evaluation, near_duplicates=(long, *groups))
    told = page.render(many)
    assert "a0, b0" in told and "copy-19 and 30 more" in told
    assert "a998, b998" not in told and "200 groups of 1,001" in told
    assert 'id="near-duplicates"' not in page.render(evaluation)


def test_methods_not_compared_are_no_failed_tasks(evaluation):
    dropped = contents.NotCompared("mkl_svm", "okapi", "too few windows")
    told = page.render(dataclasses.replace(evaluation, not_compared=(dropped,)))
    (table,) = re.findall(r'<table[^>]*id="not-compared".*?</table>', told, re.S)
    assert "Methods not compared" in table
    for said in ("okapi", "too few windows"):
        assert said in table
    assert "Methods not compared" not in page.render(evaluation)


def test_same_contents_same_bytes(evaluation, annotation):
    for one in (evaluation, annotation):
        assert page.render(one) == page.render(one)


def test_the_page_needs_nothing_else(rendered):
    made = rendered
    assert not re.search(r"(?:src|href)=\"(?!data:|#)", made)
    assert "://" not in made and "@import" not in made and "url(" in made
    assert set(re.findall(r"url\(([^)]*)\)", made)) == {"#curve-clip"}
    assert not re.search(r"<[^>]* (style|on\w+)=", made)


def test_names_are_escaped(evaluation, pictures):
    made = page.render(hostile(evaluation, pictures))
    made.encode("utf-8")
    assert made.count("<script>") == 1
    assert "onload='x" not in made and "onload=&#39;x" in made
    assert "\u202e" not in made and "\x00" not in made
    assert "{{ 7 * 7 }}" in made and "🦓👩‍🔬 zebra" in made


def test_long_names_are_whole_in_a_title_only(evaluation, pictures):
    made = page.render(hostile(evaluation, pictures))
    longest = "x" * 4096
    assert f'title="{longest}"' in made
    assert longest not in re.sub(r'title="[^"]*"', "", made)


def test_pictures_are_left_out_to_keep_the_size(evaluation, rendered):
    whole = len(rendered.encode())
    sizes = [len(p.jpeg) for s in evaluation.gallery for p in s.pictures]
    limit = whole - sum(sizes) // 2
    made = page.render(evaluation, limit)
    assert len(made.encode()) <= limit
    told = re.findall(r"(\d+) of (\d+) pictures are left out", made)
    assert told and all(int(some) <= int(of) for some, of in told)
    missing = sum(int(some) for some, _ in told)
    assert made.count('<figure class="tile">') == len(sizes) - missing
    assert "left out" not in page.render(evaluation, whole)


def test_the_first_pictures_of_each_section_stay_longest(evaluation, rendered):
    whole = len(rendered.encode())
    made = page.render(evaluation, whole - 40_000)
    walls = made.split('<section class="wall">')[1:]
    assert len(walls) == len(evaluation.gallery)
    left = [wall.count('<figure class="tile">') for wall in walls]
    assert max(left) - min(left) <= 1


def test_explanations_go_with_their_pictures(evaluation, rendered):
    made = rendered
    assert set(re.findall(r'href="#(why-\d+)"', made)) == set(
        re.findall(r'<article class="reason" id="(why-\d+)"', made)
    )
    bare = dataclasses.replace(evaluation, gallery=())
    small = page.render(evaluation, len(page.render(bare)) + 4000)
    assert "<article" not in small and 'class="tile"' not in small


def test_a_limit_that_cannot_be_kept_is_an_error(evaluation):
    with pytest.raises(ValueError, match="without any picture"):
        page.render(evaluation, 1000)


def test_a_picture_that_occurs_twice_is_held_once(evaluation, rendered):
    made = rendered
    pictures = {p.jpeg for s in evaluation.gallery for p in s.pictures}
    assert made.count("data:image/jpeg") == len(pictures)
    uses = re.findall(r'<use href="#([^"]*)"', made)
    assert uses and set(uses) <= set(re.findall(r'<image id="([^"]*)"', made))


def test_ids_are_unique_and_links_lead_somewhere(evaluation, annotation):
    for one in (evaluation, annotation):
        made = page.render(one)
        ids = re.findall(r' id="([^"]*)"', made)
        assert len(ids) == len(set(ids))
        assert set(re.findall(r'href="#([^"]*)"', made)) <= set(ids)


def test_missing_figures_are_dashes(evaluation):
    methods = {
        "full": {"mean_iou": math.nan, "per_class": {"a": {"images": 2}}},
        "ae_gp": {},
    }
    paired = {"full-ae_gp": {"mean_iou": [math.nan] * 3}}
    metrics = {"methods": methods, "paired": paired}
    made = page.render(dataclasses.replace(evaluation, metrics=metrics))
    shown = made.split("</style>")[1].split("<script>")[0]
    assert "nan" not in re.sub(r"base64,[^\"]*", "", shown).lower()
    row = re.search(r'<th scope="row"[^>]*><bdi dir="auto">AE-GP.*?</tr>', made, re.S)
    assert row[0].count(f">{wording.DASH}<") == 9


def test_nothing_judged_and_nothing_annotated_are_said():
    empty = page.render(Contents("t", Kind.EVALUATION, {}))
    assert "No picture could be judged." in empty
    none = np.zeros(0)
    annotated = contents.Annotated(
        none, none, none.astype(str), none.astype(bool), "none"
    )
    for given in (None, annotated):
        made = page.render(Contents("t", Kind.ANNOTATION, {}, annotated=given))
        assert "No picture got a box." in made


def test_the_summary_says_what_the_intervals_say(evaluation):
    figures = {"mean_iou": 0.7149, "returned_at_0.75": 0.78, "corloc": 0.8, "auc": 0.8}
    paired = {"mean_iou": [-0.01, 0.018, 0.03], "auc": [0.01, 0.02, 0.03]}
    metrics = {
        "methods": {"full": figures, "ae_gp": figures},
        "paired": {"full-ae_gp": paired},
    }
    found = sentences.summary(dataclasses.replace(evaluation, metrics=metrics))
    assert "mean IoU 0.71;" in found.paragraphs[0]
    assert "78% of the pictures can be returned" in found.paragraphs[0]
    told = {c.statistic: c.verdict for c in found.comparisons}
    assert told == {
        "mean IoU": "no difference shown",
        "area under the curve": "better",
    }


def test_the_summary_tells_the_accepted_boxes_from_all(annotation):
    expected = annotation.annotated.expected_iou
    mean, accepted = expected.mean(), expected[expected >= 0.6].mean()
    said = sentences.summary(annotation).paragraphs[0]
    assert f"with a mean expected IoU of {mean:.2f}." in said
    share = f"{(expected >= 0.6).mean():.0%}"
    assert f"{share} are accepted (expected IoU ≥ 0.6); their" in said
    assert said.endswith(f"mean expected IoU is {accepted:.2f}.")
    assert f"{mean:.2f}" != f"{accepted:.2f}"
    none = dataclasses.replace(
        annotation.annotated, accepted=np.zeros(len(expected), bool)
    )
    said = sentences.summary(dataclasses.replace(annotation, annotated=none))
    assert said.paragraphs[0].endswith("None is accepted (expected IoU ≥ 0.6).")


def test_an_explanation_has_a_page_of_its_own(pictures):
    made = page.render_explanation(pictures[0])
    found = pictures[0].explanation
    lead = float(found.contributions.sum() - found.runner_up_contributions.sum())
    assert f"a lead of {lead:.3f}" in html.unescape(made)
    assert made.count('<rect x="') >= 22
    with pytest.raises(ValueError, match="no explanation"):
        page.render_explanation(pictures[-1])


def test_without_a_runner_up_there_is_no_second_bar(pictures):
    alone = dataclasses.replace(pictures[0].explanation, runner_up=-1)
    made = page.render_explanation(dataclasses.replace(pictures[0], explanation=alone))
    body = made.split("</style>")[1].split("<script>")[0]
    assert "b-second" not in body and "unner-up" not in body


@pytest.mark.parametrize(
    "change, fault",
    [
        ({"jpeg": b"GIF89a"}, "not a JPEG"),
        ({"width": 0}, "no pixels"),
        ({"truths": np.full((1, 4), np.nan)}, "NaN"),
        ({"boxes": {"full": np.zeros(4) + np.inf}}, "infinite"),
    ],
)
def test_unusable_pictures_are_refused(pictures, change, fault):
    with pytest.raises(ValueError, match=fault):
        dataclasses.replace(pictures[0], **change)


def test_windows_of_an_explanation_must_exist(pictures):
    wrong = dataclasses.replace(pictures[0].explanation, chosen=900)
    with pytest.raises(ValueError, match="not all among 900"):
        dataclasses.replace(pictures[0], explanation=wrong)


def test_contents_fit_their_kind(evaluation, annotation):
    with pytest.raises(ValueError, match="no judged"):
        dataclasses.replace(annotation, judged=evaluation.judged)
    with pytest.raises(ValueError, match="no annotated"):
        dataclasses.replace(evaluation, annotated=annotation.annotated)
