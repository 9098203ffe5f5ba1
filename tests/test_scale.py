"""The simulation of many nights, small; and the document that is reckoned from it."""

import importlib
import pathlib
import re

import pytest

from belvedere.transforms import commits, cuts, model_cache

ROOT = pathlib.Path(__file__).parents[1]
EVERY, APART = 10, 8


@pytest.fixture(scope="module")
def benchmarks():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        yield importlib.import_module


@pytest.fixture(scope="module")
def size(benchmarks):
    return benchmarks("scale").SMALL


@pytest.fixture(scope="module")
def results(benchmarks, size, tmp_path_factory) -> dict:
    """With summaries after few manifests and tars, so that there are several."""
    folder = str(tmp_path_factory.mktemp("scale"))
    run = benchmarks("scale_measures").measured
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(commits, "SUMMARY_EVERY", EVERY)
        patch.setattr(cuts, "APART", APART)
        return benchmarks("scale").simulated(folder, size, run)


def _asked(one: dict, *kinds: str) -> int:
    return sum(count for key, count in one["calls"].items() if key.startswith(kinds))


def test_every_night_does_what_is_new_and_counts_the_rest(results, size):
    before = 0
    for count, night in zip(size.nights, results["nights"]["nights"], strict=True):
        counts = night["counts"]
        assert counts["already_done"] == before
        new = count * size.images
        assert counts["annotated"] + counts["refused"] + counts["dead"] == new
        before += new


def test_a_finished_run_asks_the_log_alone(results, size):
    found = results["nights"]
    for again in (found["again"], found["again without cuts"]):
        counts = again["counts"]
        assert counts["already_done"] == size.classes * size.images
        assert counts["annotated"] == counts["refused"] == counts["dead"] == 0
        assert _asked(again, "read records", "find ", "read annotations") == 0
        assert _asked(again, "create annotations", "create records", "create man") == 0
    assert _asked(found["again"], "open shard") == 1  # to see what the folder holds
    assert _asked(found["again without cuts"], "open shard") == size.classes + 1


def test_all_rows_are_read_back_and_are_sound(results, size):
    found = results["nights"]
    tasks = size.classes * size.images
    assert sum(found["read back"]["rows"].values()) == tasks
    assert found["verify"]["problems"] == 0 and found["verify"]["tasks"] == tasks
    refused = sum(night["counts"]["refused"] for night in found["nights"])
    assert refused == size.images  # one class has no model


def test_a_night_does_not_pay_for_all_nights_before(results, size):
    first, *_, last = results["past"]
    assert last["nights"] > 20 * first["nights"]
    for night in (first, last):
        counts = night["counts"]
        assert counts["already_done"] == night["nights"] * size.images
        assert counts["annotated"] + counts["refused"] == size.images
    kinds = ("create ", "read records", "find ", "read models", "open shard")
    for kind in kinds:
        assert _asked(last, kind) == _asked(first, kind), kind
    tail = EVERY + 2  # a summary; the manifests behind it; the first
    for night in results["past"]:
        logs = night["calls"]["log"]
        assert _asked(night, "read manifests") <= logs * tail
    assert last["nights"] > 2 * EVERY
    # what is left that grows is the listing: of the shards few are looked at
    assert last["nights"] > 5 * APART
    assert _asked(last, "read cuts") <= APART + 3  # all together, the new one twice
    assert _asked(last, "stat shard") == _asked(first, "stat shard")


def test_the_index_of_models_does_not_pay_for_all_trainings(results, size):
    for one in results["models"]["index"]:
        known = size.classes - (one["trainings"] < size.classes)  # one had none
        assert one["models"] == known
        assert _asked(one, "read manifests") <= EVERY + 1
    assert results["models"]["index"][-1]["trainings"] > 2 * EVERY


def test_few_models_are_kept(results, size):
    assert results["models"]["all"]["read"] == size.models > model_cache.MODELS
    assert results["models"]["all"]["kept"] <= model_cache.MODELS


def test_folders_and_the_large_log_are_counted(results, size):
    for classes, one in zip(size.folders, results["folders"], strict=True):
        assert one["listed"] == classes * size.images
    assert results["log"]["units"] == size.log


def test_the_tables_can_be_shown(benchmarks, results, capsys):
    benchmarks("scale_show").show(results)
    assert "peak MB" in capsys.readouterr().out


def _documents() -> list[str]:
    return [
        (ROOT / "docs" / f"{name}.md").read_text() for name in ("results", "imagenet")
    ]


def test_the_document_is_what_the_measured_figures_come_to(benchmarks):
    made = benchmarks("scale_estimate").tables(*_documents())
    said = (ROOT / "docs" / "scale.md").read_text()
    for line in made.splitlines():
        assert line in said.splitlines() or not line, line


def test_the_estimate_is_that_of_dataflow_and_moves_with_the_figures(benchmarks):
    estimate = benchmarks("scale_estimate")
    results, imagenet = _documents()
    made = estimate.tables(results, imagenet)
    priced = (ROOT / "deploy" / "dataflow" / "README.md").read_text()
    rows = re.findall(
        r"^\| [\d,]{6,} \| ([\d.]+) \| [\d.]+ \| \$(\d+) \|", priced, re.M
    )
    hours = re.search(r"\*\*whole picture\*\* \| \d+ \| ([\d.]+) \| ([\d.]+) \|", made)
    prices = re.search(r"annotating \| .* to \$([\d.]+) \| .* to \$([\d.]+) \|", made)
    for n, (core_hours, price) in enumerate(rows, 1):
        assert float(hours[n]) == pytest.approx(float(core_hours), abs=0.1)
        assert float(prices[n]) == pytest.approx(float(price), abs=1)
    slower = results.replace(
        "**whole picture** | **180**", "**whole picture** | **360**"
    )
    assert estimate.tables(slower, imagenet) != made
    with pytest.raises(ValueError, match="no figure"):
        estimate.tables(results.replace("whole picture", "picture"), imagenet)
