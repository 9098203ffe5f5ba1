import json

import numpy as np
import pytest

from belvedere.core.assessment import evaluation, intervals, summary


def draw(names, n=30):
    rng = np.random.default_rng(0)
    labels = np.array(["cat", "dog", "gull"] * (n // 3))
    return {
        name: evaluation.Outcome(rng.uniform(size=n), rng.normal(size=n), labels)
        for name in names
    }


def test_holds_the_figures_and_the_pairs_of_the_contract():
    outcomes = draw(["full", "ae_gp", "location"])
    found = summary.compare(outcomes, np.random.default_rng(1), resamples=50)
    assert list(found["methods"]) == ["full", "ae_gp", "location"]
    assert found["methods"]["ae_gp"] == evaluation.figures(outcomes["ae_gp"])
    assert set(found["paired"]) == {"full-ae_gp", "full-location"}
    for name in ("ae_gp", "location"):
        pair = found["paired"][f"full-{name}"]
        for statistic in ("mean_iou", "auc"):
            low, mid, high = pair[statistic]
            assert low < mid < high
            figures = found["methods"]
            assert mid == pytest.approx(
                figures["full"][statistic] - figures[name][statistic]
            )
    assert json.loads(json.dumps(found)) == found


def test_an_interval_depends_on_its_pair_alone():
    outcomes = draw(["full", "ae_gp", "location"])
    fewer = {name: outcomes[name] for name in ("location", "full")}
    every, some = (
        summary.compare(o, np.random.default_rng(1), resamples=50)
        for o in (outcomes, fewer)
    )
    pair = "full-location"
    assert every["paired"][pair] == some["paired"][pair]
    seed = int(np.random.default_rng(1).integers(2**63))
    alone = intervals.paired(
        outcomes["full"], outcomes["location"], np.random.default_rng(seed), 50
    )
    assert some["paired"][pair] == {name: list(i) for name, i in alone.items()}


def test_refuses_a_reference_that_is_not_there():
    with pytest.raises(ValueError, match="full"):
        summary.compare(draw(["ae_gp"]), np.random.default_rng(0))
