"""The demo: from drawn pictures through both pipelines to a sheet and figures."""

import json

import numpy as np
import pytest
import runs
from PIL import Image

from belvedere.core import localization
from belvedere.pipelines import demo, failures, toy_data

IMAGES = 9


@pytest.fixture
def told(tmp_path, tiny):
    options = ["--classes", 2, "--images", IMAGES, "--set", "least_images=6"]
    return ["demo", "--output", tmp_path / "out", *options, *tiny]


@pytest.fixture
def learned(monkeypatch) -> list[set[str]]:
    """The feature types of each appearance that is learned."""
    found: list[set[str]] = []
    learn = localization.learn_appearance

    def counted(samples, *rest):
        found.append(set(samples[0].features))
        return learn(samples, *rest)

    monkeypatch.setattr(localization, "learn_appearance", counted)
    return found


METHODS = {
    *("full", "ae_gp", "gp_sure", "gp_mean"),
    *("constant_box", "centre_prior", "whole_image", "ceiling"),
}


def test_the_demo_ends_with_a_report_and_figures(belvedere, told, learned, tmp_path):
    said = belvedere(*told)
    assert said.code == failures.DONE
    assert sorted(map(len, learned)) == [6, 6]  # nothing is learned twice
    folder = tmp_path / "out" / "evaluation"
    metrics = json.loads((folder / "metrics.json").read_text())
    assert set(metrics["methods"]) == METHODS
    judged = metrics["methods"]["full"]["per_class"]
    assert [figures["images"] for figures in judged.values()] == [IMAGES // 3] * 2
    ceiling = metrics["methods"]["ceiling"]["mean_iou"]
    assert 0 < metrics["methods"]["full"]["mean_iou"] <= ceiling
    assert set(metrics["paired"]) == {f"full-{m}" for m in METHODS - {"full"}}
    sheet = np.asarray(Image.open(tmp_path / "out" / "sheet.png"))
    assert sheet.std() > 10
    assert "report.html" in said.out and "ae_gp" in said.out
    page = (folder / "report.html").read_text()
    assert "<svg" in page and "data:image/jpeg" in page
    _figures_are_those_of_the_output(tmp_path / "out", metrics)
    before = runs.files(tmp_path)
    again = belvedere(*told)
    assert again.code == failures.DONE
    found = json.loads((folder / "metrics.json").read_text())
    assert found["methods"] == metrics["methods"]
    after = runs.files(tmp_path)
    changed = {"metrics.json", "report.html", "sheet.png", "split.csv"}
    for name in before:
        if name.rpartition("/")[2] not in changed:
            assert after[name] == before[name]
    new = after.keys() - before.keys()
    assert all("/evaluations/" in name for name in new) and len(new) == 1


def _figures_are_those_of_the_output(output, metrics):
    truths = demo._truths(output / f"toys-2x{IMAGES}", toy_data.TRUTH)
    assert (output / f"toys-2x{IMAGES}" / toy_data.BOXES).exists()
    ious = []
    for row in runs.rows(output):
        x, y, width, height = row["bbox"]
        best = max(
            _iou((x, y, x + width, y + height), box) for box in truths[row["image_id"]]
        )
        ious.append(best)
    assert metrics["methods"]["full"]["mean_iou"] == pytest.approx(np.mean(ious))


def _iou(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    inside = max(width, 0) * max(height, 0)
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
    return inside / (sum(areas) - inside)
