"""`explain` says of a picture what `annotate` decided, and why."""

import dataclasses
import json
import pathlib
import re

import numpy as np
import pytest
import runs
from PIL import Image as PillowImage

from belvedere.core import types
from belvedere.pipelines import explain
from belvedere.pipelines.failures import Mistake
from belvedere.pipelines.voice import Voice


@pytest.fixture(scope="module")
def row():
    """What `annotate` wrote of a picture."""
    return next(r for r in runs.rows(runs.output()) if r["label"] == "car")


@pytest.fixture
def options(row, tmp_path):
    page = tmp_path / "page.html"
    return explain.Options(row["image_uri"], "car", runs.models(), page)


def test_it_explains_the_box_of_annotate(row, options):
    told = explain.main(options, Voice(quiet=True))
    for key in ("bbox", "score", "expected_iou", "iou_lower", "model_id", "candidates"):
        assert told[key] == row[key]
    assert list(told["contributions"]) == list(types.HYPERFEATURES)
    assert list(told["contributions"].values()) == row["contributions"]
    second = told["runner_up"]
    assert second["bbox"] == row["runner_up_bbox"]
    assert second["score"] == pytest.approx(row["runner_up_score"], abs=1e-9)
    assert sum(second["contributions"].values()) == second["score"]
    assert list(told["supporters"]) == list(types.RELATIONS)


def test_the_table_holds_both_boxes(options, capsys):
    told = explain.main(options, Voice())
    lines = capsys.readouterr().out.splitlines()
    for name in types.HYPERFEATURES:
        (line,) = [one for one in lines if name in re.split(r"[^\w]+", one)]
        chosen = told["contributions"][name]
        second = told["runner_up"]["contributions"][name]
        said = [float(n) for n in re.findall(r"[+-]\d+\.\d+", line)]
        assert said == pytest.approx([chosen, second, chosen - second], abs=6e-5)
    (line,) = [one for one in lines if "score" in one]
    assert f"{told['score']:+.4f}" in line
    assert f"{told['runner_up']['score']:+.4f}" in line
    assert any(str(options.output) in one for one in lines)


def test_the_page_stands_alone_and_names_the_class(options, capsys):
    told = explain.main(options, Voice(as_json=True))
    assert json.loads(capsys.readouterr().out) == told
    page = pathlib.Path(told["page"]).read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "car" in page and "data:image/jpeg;base64," in page
    assert not re.search(r"(src|href)\s*=\s*.https?:", page)


def test_no_page_unless_it_is_asked_for(options):
    told = explain.main(dataclasses.replace(options, output=None), Voice(quiet=True))
    assert told["page"] is None
    assert not options.output.exists()


def test_a_picture_of_one_pixel_has_no_runner_up(options, tmp_path, capsys):
    dot = tmp_path / "dot.png"
    PillowImage.fromarray(np.full((1, 1, 3), 90, np.uint8)).save(dot)
    told = explain.main(dataclasses.replace(options, picture=str(dot)), Voice())
    assert told["runner_up"] is None
    out = capsys.readouterr().out
    assert "runner-up" not in out and "global_overlap" in out
    assert options.output.exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"label": "cow"}, "no model of 'cow', but car, zebra"),
        ({"picture": "nowhere.jpg"}, "nowhere.jpg"),
        ({"output": pathlib.Path("/nowhere/page.html")}, "/nowhere/page.html cannot"),
        ({"models": "nothing-here"}, "holds no models"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_mistakes_are_told(options, change, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Mistake, match=said):
        explain.main(dataclasses.replace(options, **change), Voice(quiet=True))


def test_what_is_no_picture_is_told(options, tmp_path):
    file = tmp_path / "noise.jpg"
    file.write_bytes(b"\xff\xd8\xff" + bytes(100))
    with pytest.raises(Mistake, match=r"noise\.jpg"):
        explain.main(dataclasses.replace(options, picture=str(file)), Voice())
