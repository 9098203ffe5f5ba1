"""Judging on images that were not learned from, and what is written of it."""

import csv
import dataclasses
import io
import json
import pathlib
import shutil
import sys
import tarfile
import time

import apache_beam as beam
import numpy as np
import pytest
import runs
from PIL import Image

from belvedere.core import archive, configuration
from belvedere.core.assessment.comparison import Placed
from belvedere.core.report.contents import Shown
from belvedere.pipelines import (
    evaluate,
    evaluation_page,
    evaluation_words,
    failures,
    launching,
    report,
    toy_data,
)
from belvedere.transforms import model_store, telling_pictures
from belvedere.transforms.roles import Protocol

QUICK = {"full", "ae_gp", "gp_sure", "gp_mean"}
FIXED = {"constant_box", "centre_prior", "whole_image", "ceiling"}


@pytest.fixture(scope="module")
def boxed(tmp_path_factory) -> pathlib.Path:
    """Two classes with boxes; of one picture a smaller and a mirrored copy."""
    folder = tmp_path_factory.mktemp("boxed")
    toy_data.write(folder, runs.LABELS, 12, 0)
    rows = (folder / toy_data.BOXES).read_text().splitlines()
    for line in list(rows):
        if line.startswith("images/car/00003"):
            sides = line.split(",")[2:]
            half = ",".join(str(int(side) // 2) for side in sides)
            rows.append(f"images/car/half.jpg,car,{half}")
    picture = Image.open(folder / "images/car/00003.jpg")
    small = picture.resize((picture.width // 2, picture.height // 2))
    small.save(folder / "images/car/half.jpg", quality=70)
    (folder / toy_data.BOXES).write_text("\n".join(rows) + "\n")
    return folder


def _options(boxed, folder, protocol, **more) -> evaluate.Options:
    return evaluate.Options(
        (str(boxed / "images"),),
        str(boxed / toy_data.BOXES),
        str(folder / "out"),
        str(folder / "work"),
        protocol,
        runs.TINY,
        **more,
    )


@pytest.fixture(scope="module")
def held_out(boxed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("held-out")
    options = _options(boxed, folder, Protocol(holdout=0.35, with_baselines=True))
    return folder, options, evaluate.main(options)


def _parts(folder: pathlib.Path) -> dict[str, str]:
    with (folder / "out" / "split.csv").open(newline="") as file:
        return {row["image"]: row["part"] for row in csv.DictReader(file)}


def test_images_are_held_out_class_by_class(held_out, boxed):
    folder, _, found = held_out
    parts = _parts(folder)
    assert len(parts) == 25 and set(parts.values()) == {"train", "test"}
    for label in runs.LABELS:
        of = [part for name, part in parts.items() if name.startswith(f"{label}/")]
        assert abs(of.count("test") - 0.35 * len(of)) <= 1
    judged = {i for verdict in found.verdicts for i in verdict.image_ids}
    assert judged == {name for name, part in parts.items() if part == "test"}
    for verdict in found.verdicts:
        mine = [n for n in parts if n.startswith(f"{verdict.label}/")]
        assert verdict.learned_from == sum(parts[n] == "train" for n in mine)


def test_near_duplicates_are_on_one_side_and_told(held_out):
    folder, _, found = held_out
    parts = _parts(folder)
    assert parts["car/00003.jpg"] == parts["car/half.jpg"]
    groups = found.document["near_duplicates"]
    assert groups == [["car: car/00003.jpg", "car: car/half.jpg"]]
    assert found.metrics["counts"]["near_duplicates"] == 1
    page = (folder / "out" / "report.html").read_text()
    assert "car: car/00003.jpg, car: car/half.jpg</bdi>" in page


def test_every_method_is_judged_on_every_test_image(held_out):
    _, _, found = held_out
    methods = found.metrics["methods"]
    assert methods.keys() == QUICK | FIXED | {"mkl_svm", "uva", "location"}
    for figures in methods.values():
        images = [of["images"] for of in figures["per_class"].values()]
        assert sum(images) == found.metrics["counts"]["test_images"]
        assert figures["mean_iou"] <= methods["ceiling"]["mean_iou"] + 1e-12
        assert figures["box_accuracy"]["0.5"] == figures["corloc"]
    assert found.metrics["paired"].keys() == {
        f"full-{name}" for name in methods if name != "full"
    }


def test_ious_are_those_of_the_boxes(held_out, boxed):
    _, _, found = held_out
    truths: dict[str, list] = {}
    with (boxed / toy_data.BOXES).open(newline="") as file:
        for row in csv.DictReader(file):
            sides = [float(row[k]) for k in ("xmin", "ymin", "xmax", "ymax")]
            truths.setdefault(row["image"].removeprefix("images/"), []).append(sides)
    for verdict in found.verdicts:
        for method, ious in verdict.ious.items():
            for k, name in enumerate(verdict.image_ids):
                box = verdict.boxes[method][k]
                wanted = max(_iou(box, truth) for truth in truths[name])
                assert ious[k] == pytest.approx(wanted, abs=1e-9)


def _iou(a, b) -> float:
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    inside = np.prod(np.maximum(sides, 0))
    areas = [(c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)]
    return inside / (sum(areas) - inside)


def test_a_repeat_judges_nothing_again(held_out, monkeypatch):
    folder, options, found = held_out
    before = runs.files(folder)

    def forbidden(*_):
        raise AssertionError("judged again")

    monkeypatch.setattr("belvedere.transforms.examiner.Examiner._judged", forbidden)
    again = evaluate.main(options)
    assert again.metrics["methods"] == found.metrics["methods"]
    exams = len(found.verdicts)
    for one, resumed in ((found, 0), (again, exams)):
        assert one.metrics["counts"]["exams"] == exams
        assert one.metrics["counts"]["exams_resumed"] == resumed
    assert "2 of 2 exams were done before" in "\n".join(evaluation_words.lines(again))
    after = runs.files(folder)
    changed = {"metrics.json", "report.html", "split.csv"}
    for name, content in before.items():
        assert after[name] == content or name.rpartition("/")[2] in changed


def test_seconds_are_counted_once(boxed, tmp_path):
    start = time.perf_counter()
    found = evaluate.main(_options(boxed, tmp_path, Protocol(holdout=0.35)))
    spent = found.metrics["seconds"]
    assert {"judge", "learn", "rest of the exams"} <= spent.keys()
    assert sum(spent.values()) <= time.perf_counter() - start


@pytest.mark.slow
def test_the_work_folder_can_go(held_out, boxed, tmp_path):
    folder, _, found = held_out
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    shutil.rmtree(tmp_path / "work")
    shutil.rmtree(tmp_path / "out" / "judged")
    again = evaluate.main(
        _options(boxed, tmp_path, Protocol(holdout=0.35, with_baselines=True))
    )
    assert again.metrics["methods"] == found.metrics["methods"]


def test_the_report_shows_pictures_curve_and_reasons(held_out):
    folder, _, found = held_out
    page = (folder / "out" / "report.html").read_text()
    assert "<svg" in page and "data:image/jpeg" in page
    for label in runs.LABELS:
        assert label in page
    assert "MKL-SVM" in page and "UVA" in page
    written = json.loads((folder / "out" / "metrics.json").read_text())
    assert written["methods"] == found.metrics["methods"]


def test_pictures_added_change_what_words_are_learned_from(tmp_path):
    """As in a fresh work folder: nothing is left of the earlier split."""
    world, kept = tmp_path / "world", Protocol(holdout=0.35)
    toy_data.write(world, runs.LABELS, 9, 0)
    lines = (world / toy_data.BOXES).read_text().splitlines()
    late = [f"/{k:05}.jpg" for k in (0, 2, 5)]
    early = [line for line in lines if not any(name in line for name in late)]
    (world / toy_data.BOXES).write_text("\n".join(early) + "\n")
    evaluate.main(_options(world, tmp_path, kept))
    (world / toy_data.BOXES).write_text("\n".join(lines) + "\n")
    grown = evaluate.main(_options(world, tmp_path, kept))
    fresh = evaluate.main(_options(world, tmp_path / "fresh", kept))
    assert len(early) < len(lines)
    assert grown.metrics["methods"] == fresh.metrics["methods"]


@pytest.mark.slow
def test_two_processes_judge_alike(held_out, boxed, tmp_path):
    _, _, found = held_out
    protocol = Protocol(holdout=0.35, with_baselines=True)
    both = evaluate.main(_options(boxed, tmp_path, protocol, workers=2))
    assert both.metrics["methods"] == found.metrics["methods"]


def test_in_folds_every_image_is_judged_once(boxed, tmp_path):
    found = evaluate.main(_options(boxed, tmp_path, Protocol(folds=2)))
    judged = [i for verdict in found.verdicts for i in verdict.image_ids]
    assert len(judged) == len(set(judged)) == 25
    assert {verdict.fold for verdict in found.verdicts} == {0, 1}
    assert set(_parts(tmp_path).values()) == {"fold 0", "fold 1"}


def test_given_models_are_judged_on_what_they_have_not_seen(tmp_path):
    world = runs.world()
    options = evaluate.Options(
        (str(world / "images"),),
        str(world / toy_data.TRUTH),
        str(tmp_path / "out"),
        str(tmp_path / "work"),
        Protocol(models=runs.models()),
        runs.TINY,
    )
    found = evaluate.main(options)
    number = found.document["protocol"]["models_number"]
    assert number == model_store.index(runs.models()).number
    judged = {i for verdict in found.verdicts for i in verdict.image_ids}
    parts = _parts(tmp_path)
    assert {name for name, part in parts.items() if part == "test"} == judged
    assert set(parts.values()) == {"seen", "test"}
    assert found.metrics["counts"]["seen"] == len(runs.LABELS) * runs.BOXED
    rows = {row["image_id"]: row for row in runs.rows(runs.output())}
    assert len(judged) == len(runs.LABELS) * runs.UNBOXED
    for verdict in found.verdicts:
        for k, name in enumerate(verdict.image_ids):
            x, y, width, height = rows[name]["bbox"]
            box = [x, y, x + width, y + height]
            assert verdict.boxes["full"][k] == pytest.approx(box)
            assert verdict.scores["full"][k] == rows[name]["expected_iou"]


def test_models_are_those_there_were_when_it_began(tmp_path):
    """Before the first commit there was no model, and nothing had been seen."""
    world = runs.world()
    options = evaluate.Options(
        (str(world / "images"),),
        str(world / toy_data.TRUTH),
        str(tmp_path / "out"),
        str(tmp_path / "work"),
        Protocol(models=runs.models(), models_number=0),
        runs.TINY,
    )
    found = evaluate.main(options)
    assert set(found.refused.values()) == {"there is no model of this class"}
    assert found.metrics["counts"]["seen"] == 0


def test_nothing_is_judged_if_the_models_have_seen_it_all(belvedere, tiny, tmp_path):
    world = runs.world()
    told = ["--images", world / "images", "--boxes", world / toy_data.BOXES]
    said = belvedere(
        *("evaluate", *told, "--output", tmp_path / "out", *tiny),
        *("--models", runs.models()),
    )
    assert said.code == failures.REFUSED
    images = len(runs.LABELS) * runs.BOXED
    assert f"all {images} boxed images were learned from by these models" in said.err
    assert set(_parts(tmp_path).values()) == {"seen"}


def test_copies_of_what_a_model_was_learned_from_are_not_new(tmp_path):
    """Elsewhere, under other names, one half of them compressed anew."""
    world, moved = runs.world(), tmp_path / "moved"
    lines = ["image,class,xmin,ymin,xmax,ymax"]
    with (world / toy_data.TRUTH).open(newline="") as file:
        rows = list(csv.DictReader(file))
    pictures = sorted({row["image"] for row in rows})
    for row in rows:
        number = pictures.index(row["image"])
        name = f"images/{row['class']}/copy-{number}.jpg"
        target = moved / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if number % 2:
            Image.open(world / row["image"]).save(target, quality=80)
        else:
            shutil.copy(world / row["image"], target)
        corners = [row[k] for k in ("xmin", "ymin", "xmax", "ymax")]
        lines.append(",".join([name, row["class"], *corners]))
    (moved / "boxes.csv").write_text("\n".join(lines) + "\n")
    options = evaluate.Options(
        (str(moved / "images"),),
        str(moved / "boxes.csv"),
        str(tmp_path / "out"),
        str(tmp_path / "work"),
        Protocol(models=runs.models()),
        runs.TINY,
    )
    judged = [v.image_ids for v in evaluate.main(options).verdicts]
    assert [len(ids) for ids in judged] == [runs.UNBOXED] * len(runs.LABELS)


def test_a_class_that_cannot_be_learned_is_told(boxed, tmp_path):
    shutil.copytree(boxed, tmp_path, dirs_exist_ok=True)
    lines = (tmp_path / toy_data.BOXES).read_text().splitlines()
    zebras = [line for line in lines if ",zebra," in line]
    kept = [line for line in lines if ",zebra," not in line] + zebras[:4]
    (tmp_path / toy_data.BOXES).write_text("\n".join(kept) + "\n")
    found = evaluate.main(_options(tmp_path, tmp_path, Protocol(holdout=0.35)))
    (refused,) = [verdict for verdict in found.verdicts if verdict.refused]
    assert refused.label == "zebra" and "at least 5" in refused.refused
    assert found.metrics["counts"]["refused"] == len(refused.image_ids) > 0
    assert "at least 5" in (tmp_path / "out" / "report.html").read_text()


def test_a_class_is_refused_as_in_training(boxed, tmp_path):
    """The windows are far from hopeless, but not what is asked for here."""
    options = _options(boxed, tmp_path, Protocol(holdout=0.35))
    strict = configuration.changed(runs.TINY, {"least_ceiling": 0.999})
    found = evaluate.main(dataclasses.replace(options, configuration=strict))
    assert found.refused.keys() == set(runs.LABELS)
    for reason in found.refused.values():
        assert "the windows miss the object" in reason


def test_a_class_without_test_images_is_refused(boxed, tmp_path):
    """Of one class all is learned from, of the other nothing; a box has no image."""
    shutil.copytree(boxed, tmp_path, dirs_exist_ok=True)
    with (tmp_path / toy_data.BOXES).open("a") as file:
        file.write("images/car/none.jpg,car,1,1,9,9\n")
    zebras = [f"zebra/{file.name}" for file in (boxed / "images/zebra").iterdir()]
    options = _options(tmp_path, tmp_path, Protocol(train=frozenset(zebras)))
    found = evaluate.main(dataclasses.replace(options, classes=frozenset(["zebra"])))
    assert found.refused == {"zebra": "no picture is left to judge on"}
    assert found.metrics["counts"]["dead"] == 0, "the missing picture is no zebra"


def test_classes_that_cannot_be_learned_end_as_in_training(belvedere, tiny, tmp_path):
    toy_data.write(tmp_path / "world", ("zebra",), 6, 0)
    boxes = tmp_path / "world" / toy_data.BOXES
    said = belvedere(
        *("evaluate", "--images", tmp_path / "world" / "images", "--boxes", boxes),
        *("--output", tmp_path / "out", "--holdout", 0.35, *tiny),
    )
    assert said.code == failures.REFUSED
    assert "refused: zebra: no images of other classes" in said.out


def test_too_many_unusable_inputs_are_a_failure(held_out, belvedere, monkeypatch):
    _, options, found = held_out
    counts = found.metrics["counts"] | {"dead": 5}
    spoiled = dataclasses.replace(found, metrics=found.metrics | {"counts": counts})
    monkeypatch.setattr(evaluate, "main", lambda _: spoiled)
    told = ["--images", *options.images, "--boxes", options.boxes, "--holdout", 0.35]
    for more, code in (
        ((), failures.TOO_MANY_DEAD),
        (("--max-dead", 0.1), failures.TOO_MANY_DEAD),
        (("--max-dead", 0.2), failures.DONE),
    ):
        said = belvedere("evaluate", *told, "--output", options.output, *more)
        assert said.code == code


def test_a_failure_costs_one_image_or_one_method(boxed, tmp_path, monkeypatch):
    from belvedere.core import localization
    from belvedere.core.assessment import baselines, comparison

    first = []
    localize = localization.localize

    def localized(view, *rest):
        if not first or view.windows is first[0]:
            first.append(view.windows)
            raise RuntimeError("this picture")
        return localize(view, *rest)

    def unlearnable(name, *_):
        raise ValueError(f"no {name} today")

    place, spoiled = comparison.place, []

    def placed(methods, view, truth, image_id, *rest):
        spoiled.append(image_id)
        if image_id == spoiled[0]:
            raise RuntimeError("that picture")
        return place(methods, view, truth, image_id, *rest)

    monkeypatch.setattr(localization, "localize", localized)
    monkeypatch.setattr(comparison, "place", placed)
    monkeypatch.setattr(baselines, "train", unlearnable)
    options = _options(boxed, tmp_path, Protocol(holdout=0.35))
    found = evaluate.main(dataclasses.replace(options, classes=frozenset(["zebra"])))
    assert found.metrics["methods"].keys() == QUICK | {"ceiling"}
    assert "no whole_image today" in found.metrics["missing"]["whole_image, zebra"]
    tested = [n for n, p in _parts(tmp_path).items() if "zebra" in n and p == "test"]
    counts, (verdict,) = found.metrics["counts"], found.verdicts
    assert counts["test_images"] == len(tested) - 2 == len(verdict.image_ids)
    (dead, full, why), (left_out, other, also) = verdict.failed
    assert {dead, left_out} == set(tested) - set(verdict.image_ids)
    assert (full, why) == ("full", "RuntimeError: this picture") and counts["dead"] == 1
    assert left_out == spoiled[0] and also.endswith("that picture")
    assert "ae_gp" in other and counts["left_out"] == 1
    page = (tmp_path / "out" / "report.html").read_text()
    assert "this picture" in page and "that picture" in page
    assert page.count("no whole_image today") == 1
    assert "Methods not compared" in page and "method_not_compared" not in page
    said = "\n".join(evaluation_words.lines(found))
    assert "whole_image is not compared: it could not be learned for 1 of 1" in said
    assert "1 inputs unusable" in said and "1 images left out" in said


def test_building_the_graph_warns_of_nothing(boxed, tmp_path, monkeypatch, caplog):
    """As Beam does of type hints that it does not understand."""

    def built(build, *_) -> None:
        build(beam.Pipeline())
        raise failures.Mistake("that is all")

    monkeypatch.setattr(launching, "launch", built)
    with pytest.raises(failures.Mistake, match="that is all"):
        evaluate.main(_options(boxed, tmp_path, Protocol(holdout=0.35)))
    assert not [r for r in caplog.records if r.levelname == "WARNING"]


def test_the_command_prints_a_table(belvedere, boxed, tiny, tmp_path):
    told = ["--images", boxed / "images", "--boxes", boxed / toy_data.BOXES]
    said = belvedere(
        *("evaluate", *told, "--output", tmp_path / "out", "--holdout", 0.4, *tiny),
        *("--classes", "car"),
    )
    assert said.code == failures.DONE
    assert "ae_gp" in said.out and "report.html" in said.out
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert metrics["methods"]["full"]["per_class"].keys() == {"car"}


@pytest.mark.parametrize(
    ("ways", "said"),
    [
        ((), "one of --models, --holdout and --folds"),
        (("--holdout", "0.3", "--folds", "3"), "one of --models"),
        (("--holdout", "1.5"), "between 0 and 1"),
        (("--folds", "1"), "2 or more"),
        (("--models", "nowhere"), "holds no models"),
        (("--models", "nowhere", "--baselines"), "--baselines needs --holdout"),
    ],
)
def test_ways_that_cannot_be_meant(belvedere, boxed, tmp_path, ways, said):
    told = ["--images", boxed / "images", "--boxes", boxed / toy_data.BOXES]
    found = belvedere("evaluate", *told, "--output", tmp_path / "out", *ways)
    assert found.code == failures.USAGE
    assert said in found.err


def test_the_split_is_drawn_by_the_seed_of_the_method(
    belvedere, boxed, tmp_path, monkeypatch
):
    seeds = []
    monkeypatch.setattr(
        evaluate, "command", lambda told, *_: seeds.append(told.protocol.seed)
    )
    told = ["--images", boxed / "images", "--boxes", boxed / toy_data.BOXES]
    told += ["--output", tmp_path, "--holdout", 0.3]
    for more in (("--seed", 5), ("--set", "method.seed=5")):
        assert belvedere("evaluate", *told, *more).code == failures.DONE
    assert seeds == [5, 5]


def test_a_class_that_is_not_there_is_named(belvedere, boxed, tmp_path):
    told = ["--images", boxed / "images", "--boxes", boxed / toy_data.BOXES]
    told += ["--output", tmp_path / "o", "--holdout", 0.3, "--classes", "car,zebar"]
    said = belvedere("evaluate", *told)
    assert said.code == failures.USAGE
    assert "no class 'zebar' with boxes: did you mean 'zebra'?" in said.err
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("missing", ["torch", "gpytorch"])
@pytest.mark.parametrize("command", ["train", "run", "evaluate"])
def test_what_learning_needs_is_there_before_it_begins(
    belvedere, boxed, tmp_path, monkeypatch, command, missing
):
    monkeypatch.setitem(sys.modules, missing, None)
    told = ["--images", boxed / "images", "--boxes", boxed / toy_data.BOXES]
    told += ["--models" if command == "train" else "--output", tmp_path / "o"]
    told += ["--folds", 2] if command == "evaluate" else []
    said = belvedere(command, *told, "--set", "method.gp.objective=fitc")
    assert said.code == failures.USAGE
    assert f"needs {missing}: pip install 'belvedere[train]'" in said.err


def test_borderline_is_where_boxes_begin_to_be_accepted(tmp_path):
    expected = np.linspace(0, 1, 21)
    box = np.array([0.0, 0.0, 5.0, 5.0])
    placed = [Placed("full", f"{e:.2f}", box, e, 0.5 + e / 10) for e in expected]
    told = telling_pictures._telling({"full": placed}, 0.7)
    assert {"0.70", "0.65"} <= told and "0.50" not in told
    known = (
        "car",
        b"\xff\xd8\xff",
        9,
        9,
        np.zeros((0, 4)),
        {"full": box},
        {"full": 0.5},
    )
    shown = [Shown(p.image_id, *known, p.score) for p in placed]
    (borderline,) = (
        s for s in evaluation_page._sections(shown, 0.7) if s.name == "Borderline"
    )
    assert borderline.pictures[0].image_id == "0.70"
    assert "0.7," in borderline.note
    chosen = report._telling(expected, 0.7)["Borderline"]
    assert expected[chosen[0]] == pytest.approx(0.7)


def test_an_annotation_run_has_a_report(belvedere, tmp_path):
    shutil.copytree(runs.output(), tmp_path / "out")
    said = belvedere("report", "--output", tmp_path / "out")
    assert said.code == failures.DONE and "report.html" in said.out
    page = (tmp_path / "out" / "report.html").read_text()
    assert "data:image/jpeg" in page and "zebra" in page
    assert "accepted (expected IoU ≥ " in page


def test_a_report_needs_annotations(belvedere, tmp_path):
    said = belvedere("report", "--output", tmp_path)
    assert said.code == failures.USAGE and "belvedere annotate" in said.err


SYNSETS = {"n02391049": "zebra", "n02958343": "car"}


@pytest.fixture
def imagenet(tmp_path) -> pathlib.Path:
    """A miniature: a tar of pictures and a folder of XML for each synset."""
    toy_data.write(tmp_path / "world", runs.LABELS, 12, 0)
    rows: dict[str, list[list[str]]] = {}
    with (tmp_path / "world" / toy_data.BOXES).open(newline="") as file:
        for name, label, *box in list(csv.reader(file))[1:]:
            rows.setdefault(f"{label}/{pathlib.Path(name).stem}", []).append(box)
    (tmp_path / "tars").mkdir()
    for synset, label in SYNSETS.items():
        (tmp_path / "xml" / synset).mkdir(parents=True)
        with tarfile.open(tmp_path / "tars" / f"{synset}.tar", "w") as tar:
            for file in sorted((tmp_path / "world" / "images" / label).iterdir()):
                name = f"{synset}_{int(file.stem)}"
                data = file.read_bytes()
                member = tarfile.TarInfo(f"{name}.JPEG")
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
                xml = _xml(name, synset, rows[f"{label}/{file.stem}"])
                (tmp_path / "xml" / synset / f"{name}.xml").write_text(xml)
    return tmp_path


def _xml(name: str, synset: str, boxes: list[list[str]]) -> str:
    """As ImageNet has it: corners that count from one and belong to the box."""
    objects = "".join(
        f"<object><name>{synset}</name><bndbox><xmin>{int(x0) + 1}</xmin>"
        f"<ymin>{int(y0) + 1}</ymin><xmax>{x1}</xmax><ymax>{y1}</ymax></bndbox>"
        "</object>"
        for x0, y0, x1, y1 in boxes
    )
    return (
        f"<annotation><folder>{synset}</folder><filename>{name}</filename>"
        f"{objects}</annotation>"
    )


def test_the_papers_experiment_in_miniature(imagenet, belvedere, tiny):
    said = belvedere(
        *("evaluate", "--images", imagenet / "tars", "--boxes", imagenet / "xml"),
        *("--holdout", 0.35, "--baselines", "--output", imagenet / "out", *tiny),
    )
    assert said.code == failures.DONE, said.err
    metrics = json.loads((imagenet / "out" / "metrics.json").read_text())
    assert metrics["methods"]["full"]["per_class"].keys() == SYNSETS.keys()
    assert metrics["counts"]["test_images"] == 8
    assert metrics["counts"]["dead"] == 0
    judged = list((imagenet / "out" / "judged").iterdir())
    for file in judged:
        content = archive.load(file.read_bytes(), dict)
        assert content["verdict"].objects.min() >= 1
