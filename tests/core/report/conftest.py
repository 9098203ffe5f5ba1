"""A report as a run would give it: toy pictures, made-up outcomes."""

import dataclasses
import io
import shutil

import numpy as np
import pytest
from PIL import Image as PillowImage

from belvedere.core.assessment import calibration, summary
from belvedere.core.assessment.evaluation import Outcome
from belvedere.core.explanation import Explanation
from belvedere.core.report import contents, page
from belvedere.core.synthetic import scenes
from belvedere.core.types import P

LABELS = ("airplane", "cat", "convertible", "dog", "gull", "kangaroo", "pizza")
METHODS = {
    "full": (0.72, 0.8),
    "ae_gp": (0.69, 0.7),
    "mkl_svm": (0.64, 0.5),
    "uva": (0.61, 0.4),
    "location": (0.60, 0.5),
    "constant_box": (0.58, 0.0),
    "whole_image": (0.46, 0.0),
    "ceiling": (0.9, 0.0),
}


def judged(images: int, labels: tuple[str, ...], seed: int = 0) -> contents.Judged:
    """Outcomes that agree more or less with the object's size and with each other."""
    rng = np.random.default_rng(seed)
    share = rng.beta(1.4, 2, images)
    hard = rng.normal(0, 0.16, images) - 0.5 * np.maximum(0.3 - share, 0)
    names = np.array([labels[i % len(labels)] for i in range(images)])
    return contents.Judged(
        np.array([f"{names[i]}/{i:05d}.jpg" for i in range(images)]),
        names,
        {m: _outcome(m, hard, names, rng) for m in METHODS},
        share,
        rng.choice([1, 1, 1, 1, 2, 2, 3, 4, 7], images),
    )


def _outcome(method, hard, names, rng) -> Outcome:
    mean, skill = METHODS[method]
    spread = 0.2 if method == "ceiling" else 1
    ious = np.clip(mean + spread * (hard + rng.normal(0, 0.08, len(hard))), 0, 1)
    scores = skill * ious + (skill > 0) * rng.normal(0, 0.1, len(hard))
    return Outcome(ious, scores, names)


def metrics(of: contents.Judged) -> dict:
    found = summary.compare(of.outcomes, np.random.default_rng(1), resamples=100)
    for method, outcome in of.outcomes.items():
        found["methods"][method]["box_accuracy"] = {
            str(t): float((outcome.ious >= t).mean()) for t in (0.3, 0.5, 0.7)
        }
    full = of.outcomes["full"]
    promised = np.clip(full.ious + np.linspace(-0.1, 0.1, len(full.ious)), 0, 1)
    return {
        **found,
        "counts": {
            "classes": len(np.unique(of.labels)),
            "train_images": 3 * len(of.labels),
            "test_images": len(of.labels),
            "dead": 5,
            "refused": 2,
        },
        "seconds": {"describe": 912.4, "train": 301.25, "place": 88.0},
        "inference": {"windows": 933.2, "evaluated": 4.1},
        "calibration": calibration.reliability(promised, full.ious),
    }


def explanation(scene: scenes.Scene, box: np.ndarray, seed: int) -> Explanation:
    """Windows around the box and anywhere, those that overlap it close on the map."""
    rng = np.random.default_rng(seed)
    n, width, height = 900, scene.image.width, scene.image.height
    near = box + rng.normal(0, 0.12 * width, (n // 2, 4))
    centre = rng.uniform(0, 1, (n - n // 2, 2)) * (width, height)
    size = rng.uniform(0.05, 0.4, (n - n // 2, 2)) * (width, height)
    boxes = np.concatenate([near, np.hstack([centre - size, centre + size])])
    boxes[:, 0::2] = np.sort(np.clip(boxes[:, 0::2], 0, width), axis=1)
    boxes[:, 1::2] = np.sort(np.clip(boxes[:, 1::2], 0, height), axis=1)
    boxes[0] = box
    distance = np.abs(boxes - box).mean(axis=1) / width
    overlap = np.exp(-6 * distance) + rng.normal(0, 0.05, n)
    where = np.stack([overlap * 3 + rng.normal(0, 0.5, n), rng.normal(0, 1, n)], 1)
    where[overlap > 0.4, 1] *= 0.4
    order = np.argsort(-overlap)
    terms = rng.normal(0, 0.3, P)
    return Explanation(
        boxes,
        overlap,
        where,
        0,
        int(order[order != 0][0]),
        order[[5, 5, 300]].astype(np.int64),
        terms,
        terms - np.abs(rng.normal(0, 0.05, P)),
    )


def shown(label: str, seed: int, explained: bool = False) -> contents.Shown:
    scene = scenes.draw(label, seed)
    rng = np.random.default_rng(seed)
    width, height = scene.image.width, scene.image.height
    sides = np.array([width, height, width, height], np.float64)
    boxes = {
        m: np.clip(scene.boxes[0] + rng.normal(0, wide, 4) * sides, 0, sides)
        for m, wide in (("full", 0.03), ("ae_gp", 0.1))
    }
    picture = PillowImage.fromarray(scene.image.pixels)
    picture.thumbnail((360, 360))
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=80)
    return contents.Shown(
        f"{label}/{seed:05d}.jpg",
        label,
        file.getvalue(),
        width,
        height,
        scene.boxes,
        boxes,
        {"full": 0.83, "ae_gp": 0.41},
        0.78,
        0.6,
        explanation(scene, boxes["full"], seed) if explained else None,
    )


@pytest.fixture(scope="session")
def pictures() -> list[contents.Shown]:
    chosen = [scenes.CLASSES[k % len(scenes.CLASSES)] for k in range(8)]
    return [shown(label, seed, seed < 2) for seed, label in enumerate(chosen)]


@pytest.fixture(scope="session")
def evaluation(pictures) -> contents.Contents:
    of = judged(400, LABELS)
    failed = contents.DeadLetter("gull/00017.jpg", "picture ends early", "gull")
    return contents.Contents(
        "Toy world, hold-out 0.35",
        contents.Kind.EVALUATION,
        metrics(of),
        judged=of,
        gallery=(
            contents.Section("Best", tuple(pictures[:4]), "Highest IoU."),
            contents.Section("Worst", tuple(pictures[4:])),
            contents.Section("Ours against AE-GP", tuple(pictures[1:4])),
        ),
        refused=(contents.Refused("okapi", "3 boxed images, wanted 8"),),
        dead=(contents.DeadLetters("TRUNCATED", 5, (failed,)),),
        configuration={"preset": "classic", "windows.count": 1000, "seed": 0},
        ids={"config_id": "c0ffee12", "run_id": "r-01"},
    )


@pytest.fixture(scope="session")
def rendered(evaluation) -> str:
    return page.render(evaluation)


@pytest.fixture(scope="session")
def annotation(pictures) -> contents.Contents:
    rng = np.random.default_rng(2)
    expected = rng.beta(6, 3, 700)
    names = np.array([LABELS[i % len(LABELS)] for i in range(700)])
    bare = [dataclasses.replace(p, truths=np.zeros((0, 4)), ious={}) for p in pictures]
    return contents.Contents(
        "Nightly shard 12",
        contents.Kind.ANNOTATION,
        {"counts": {"tasks_in": 712, "annotated": 700, "dead": 12}},
        annotated=contents.Annotated(
            expected,
            np.maximum(expected - 0.2, 0),
            names,
            expected >= 0.6,
            "expected IoU ≥ 0.6",
        ),
        gallery=(contents.Section("Surest", tuple(bare[:3])),),
    )


@pytest.fixture(scope="session")
def chromium():
    """A browser without a window; the tests that need it are skipped without one."""
    where = shutil.which("chromium") or shutil.which("google-chrome")
    if where is None:
        pytest.skip("no chromium on this machine: pages are not opened in a browser")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as p:
        browser = p.chromium.launch(
            executable_path=where, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()
