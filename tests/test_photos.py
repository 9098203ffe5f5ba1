"""The document of the photographs: from made-up verdicts, without the photographs."""

import argparse
import importlib
import json
import pathlib
import re

import numpy as np
import pytest

from belvedere.core.assessment.verdicts import Verdict

ROOT = pathlib.Path(__file__).parents[1]
METHODS = ("full", "ae_gp", "mkl_svm", "uva", "location", "constant_box")
GAINS = dict(zip(METHODS, (0.15, 0.1, 0.05, 0.0, -0.1, -0.2), strict=True))


@pytest.fixture(scope="module")
def photos():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        photos = importlib.import_module("photos")
        patch.setattr(photos, "RESAMPLES", 100)
        yield photos


def verdict(label: str, methods=METHODS, n: int = 12) -> Verdict:
    rng = np.random.default_rng(len(label))
    hard = rng.uniform(0.4, 0.8, n)
    ious = {m: np.clip(hard + GAINS.get(m, 0.1), 0, 1) for m in methods}
    scores = {m: np.round(iou + rng.normal(0, 0.05, n), 1) for m, iou in ious.items()}
    return Verdict(
        label,
        0,
        40,
        tuple(f"{label}/{i}" for i in range(n)),
        {m: np.zeros((n, 4)) for m in methods},
        scores,
        ious,
        own_scores=rng.normal(size=n),
        uncentred=rng.normal(size=n),
        iou_lower=ious["full"] - 0.1,
        windows=np.full(n, 900),
        evaluated=np.full(n, 4),
    )


@pytest.fixture(scope="module")
def written(photos, tmp_path_factory):
    """The document and the figures, of both presets and of the third run."""
    folder = tmp_path_factory.mktemp("photos")
    labels = (*photos.PROTOTYPE, "airplane", "church")
    found = {preset: [verdict(label) for label in labels] for preset in photos.PRESETS}
    parts = ("full", "ae_gp", f"without_{photos.CROSS}")
    found[photos.CROSS] = [verdict(label, parts) for label in photos.CROSS_CLASSES]
    options = argparse.Namespace(folds=5, most=100, output=folder)
    photos._write(found, 60.0, options)
    results = json.loads((folder / "results.json").read_text())
    return (folder / "results.md").read_text(), results


def tables(document: str) -> dict[str, list[list[str]]]:
    found = {}
    for section in document.split("\n### ")[1:]:
        heading, _, body = section.partition("\n")
        rows = [line for line in body.splitlines() if line.startswith("|")]
        found[heading] = [row.strip("|").split("|") for row in rows]
    return found


def test_every_row_has_a_cell_for_each_column(written):
    for heading, rows in tables(written[0]).items():
        assert len(rows) > 2, heading
        assert len({len(row) for row in rows}) == 1, heading


def test_each_goal_has_its_interval_for_each_group_and_preset(written):
    goals = tables(written[0])["Goals"]
    assert len(goals[0]) == 1 + 3 * 2
    assert len(goals) == 2 + 7
    for row in goals[2:]:
        for cell in row[1:]:
            assert re.fullmatch(r" [+-]?[\d.]+( times)? \[.*, .*\] ", cell), row


def test_returned_is_compared_as_a_difference_and_as_a_ratio(written):
    document, results = written
    of = results["all"]["classic"]
    returned = [of["methods"][m]["returned_at_0.75"] for m in ("full", "ae_gp")]
    low, mid, high = of["times_ae_gp"]["returned_at_0.75"]
    assert mid == pytest.approx(returned[0] / returned[1])
    assert 1 < low <= mid <= high
    assert f"{mid:.2f} times [{low:.2f}, {high:.2f}]" in document
    row = next(
        r for r in tables(document)["All classes, preset `classic`"] if "uva" in r[0]
    )
    less = returned[0] - of["methods"]["uva"]["returned_at_0.75"]
    assert row[6].strip().startswith(f"{less:+.3f} [")


def test_rankings_are_compared_with_intervals(written):
    rows = tables(written[0])[
        "What images are ranked by, all classes, preset `classic`"
    ]
    for row in rows[3:]:
        assert row[5].count("[") == row[6].count("[") == 1
        assert row[5].strip().startswith("+"), "a random order is worse"


def test_the_prototype_is_held_against_the_mean_over_its_classes(written):
    document, results = written
    of = results["all"]["classic"]["methods"]["full"]["per_class"]
    wanted = np.mean(
        [of[label]["mean_iou"] for label in results["prototype"]["classes"]]
    )
    low, mid, high = results["prototype"]["classic"]
    assert mid == pytest.approx(wanted)
    assert low < mid < high
    assert f"`classic` {mid:.3f} [{low:.3f}, {high:.3f}], `paper` {mid:.3f}" in document


def test_without_a_class_of_the_prototype_nothing_is_held_against_it(photos):
    assert photos._prototype([verdict("cat"), verdict("dog")]) is None
