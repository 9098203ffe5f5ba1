import dataclasses

import numpy as np
import pytest

from belvedere.core import archive
from belvedere.core.assessment import evaluation, verdicts
from belvedere.core.assessment.verdicts import Verdict


def _verdict(label, fold, n, seed, methods=("full", "ae_gp")) -> Verdict:
    rng = np.random.default_rng(seed)
    ious = {m: rng.random(n) for m in methods}
    return Verdict(
        label,
        fold,
        learned_from=10 + fold,
        image_ids=tuple(f"{label}/{fold}/{k}" for k in range(n)),
        boxes={m: rng.random((n, 4)) for m in methods},
        scores={m: rng.random(n) for m in methods},
        ious=ious,
        own_scores=rng.normal(size=n),
        uncentred=rng.normal(size=n),
        iou_lower=rng.random(n) / 2,
        windows=rng.integers(500, 1000, n),
        evaluated=rng.integers(1, 20, n),
        object_share=rng.random(n),
        objects=rng.integers(1, 3, n),
    )


@pytest.fixture
def some() -> list[Verdict]:
    return [
        _verdict("dog", 1, 5, 1),
        _verdict("cat", 0, 4, 2, ("ae_gp", "full", "uva")),
        _verdict("dog", 0, 6, 3),
        Verdict("owl", 0, 3, ("owl/1", "owl/2"), refused="3 images with boxes"),
    ]


def _metrics(some):
    return verdicts.metrics(some, np.random.default_rng(0), resamples=50)


def test_figures_are_over_the_images_of_all_classes(some):
    figures = _metrics(some)["methods"]
    assert list(figures) == ["full", "ae_gp"], "what all have in common, in order"
    for method, of in figures.items():
        ious = [iou for v in some if not v.refused for iou in v.ious[method]]
        assert of["mean_iou"] == pytest.approx(np.mean(ious))
        assert of["per_class"]["dog"]["images"] == 11
        for wanted, share in of["box_accuracy"].items():
            reached = [iou >= float(wanted) for iou in ious]
            assert share == pytest.approx(np.mean(reached))


def test_counts_tell_what_was_learned_judged_and_refused(some):
    assert _metrics(some)["counts"] == {
        "classes": 2,
        "train_images": 20,  # both classes of fold 0
        "test_images": 15,
        "refused": 2,
    }


def test_promises_are_counted(some):
    found = _metrics(some)
    kept = [
        iou >= low
        for v in some
        if not v.refused
        for iou, low in zip(v.ious["full"], v.iou_lower, strict=True)
    ]
    assert found["iou_lower_kept"] == pytest.approx(np.mean(kept))
    assert sum(one["images"] for one in found["calibration"]) == 15


def test_the_order_of_verdicts_does_not_matter(some):
    assert _metrics(some) == _metrics(some[::-1])


def test_a_method_that_is_missing_is_told(some):
    some[0] = dataclasses.replace(some[0], missing={"uva": "no negatives"})
    assert _metrics(some)["missing"] == {"uva, dog": "no negatives"}


@pytest.mark.parametrize("field", ["own_scores", "uncentred"])
def test_other_scores_rank_the_same_boxes(some, field):
    judged = verdicts.judged_only(some)
    raw, full = verdicts.ranked_by(judged, field), verdicts.outcomes(judged)["full"]
    kept = [getattr(v, field) for v in judged]
    assert (raw.scores == np.concatenate(kept)).all()
    assert (raw.ious == full.ious).all() and (raw.scores != full.scores).any()
    assert evaluation.mean_iou(raw) == evaluation.mean_iou(full)


def test_nothing_judged_is_no_figures(some):
    found = _metrics(some[-1:])
    assert found["methods"] == {} and found["counts"]["refused"] == 2


def test_a_verdict_survives_its_file(some):
    again = archive.load(archive.dump(some[0]), Verdict)
    assert again.image_ids == some[0].image_ids
    assert (again.boxes["full"] == some[0].boxes["full"]).all()


def test_verdicts_that_do_not_fit_are_refused(some):
    with pytest.raises(ValueError, match="same methods"):
        dataclasses.replace(some[0], scores={})
    with pytest.raises(ValueError, match="boxes of full"):
        dataclasses.replace(some[0], image_ids=("one",))
