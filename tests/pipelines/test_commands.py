"""Each command on the toy world."""

import csv
import json
import shutil

import numpy as np
import pytest
import runs
from PIL import Image

from belvedere.core import types
from belvedere.pipelines import failures, toy_data
from belvedere.transforms import commits, model_store, schemas, stores


def _rows(output, table=schemas.ANNOTATIONS):
    return {row["image_id"]: row for row in runs.rows(output, table)}


def test_run_learns_from_boxed_images_and_annotates_the_others(
    belvedere, tiny, tmp_path
):
    world, output = runs.world(), tmp_path / "o"
    told = ["run", "--images", world / "images", "--boxes", world / toy_data.BOXES]
    said = belvedere(*told, "--output", output, *tiny)
    assert said.code == failures.DONE
    assert "2 classes in: 2 learned" in said.out and "zebra" in said.out
    wanted = len(runs.LABELS) * runs.UNBOXED
    assert f"{wanted} images in: {wanted} annotated" in said.out
    whole = {row["image_id"]: row for row in runs.rows(runs.output())}
    found = _rows(output)
    assert len(found) == wanted
    assert all(found[name] == whole[name] for name in found)
    assert "data:image/jpeg" in (output / "report.html").read_text()
    before = runs.files(tmp_path)
    again = belvedere(*told, "--output", output, *tiny, "--log-format", "json")
    assert again.code == failures.DONE
    told_again = [json.loads(line) for line in again.out.splitlines()]
    assert told_again[1]["already_done"] == wanted
    assert told_again[2]["report"].endswith("report.html")
    assert runs.files(tmp_path) == before
    told = ["annotate", "--images", world / "images", "--models", output / "models"]
    told += ["--boxes", world / toy_data.BOXES, "--output", output]
    plain = belvedere(*told, "--log-format", "json").document
    assert (plain["already_done"], plain["annotated"]) == (wanted, 0)
    (manifest,) = commits.Log(stores.store_for(str(output))).manifests()
    assert manifest.run.config == {"accept": 0.5}


def test_no_class_that_can_be_learned_is_exit_code_4(belvedere, tiny, tmp_path):
    world, models = runs.world(), tmp_path / "m"
    told = ["train", "--images", world / "images", "--boxes", world / toy_data.BOXES]
    told += ["--models", models, *tiny]
    said = belvedere(*told, "--set", "least_images=50")
    assert said.code == failures.REFUSED
    assert "8 images with boxes, at least 50 are needed" in " ".join(said.out.split())
    said = belvedere(*told, "--classes", "car,zebar")
    assert said.code == failures.USAGE
    assert "no class 'zebar' with boxes: did you mean 'zebra'?" in said.err


def test_boxes_of_scaled_copies_are_taken_when_asked(belvedere, tiny, tmp_path):
    world, boxes = runs.world(), tmp_path / "boxes.csv"
    with (world / toy_data.BOXES).open(newline="") as file:
        head, *rows = csv.reader(file)
    with boxes.open("w", newline="") as file:
        csv.writer(file).writerow([*head, "width", "height"])
        for name, label, *sides in rows:
            size = Image.open(world / name).size
            twice = [2 * float(side) for side in (*sides, *size)]
            csv.writer(file).writerow(
                [world / name, label, *twice[:4], *map(int, twice[4:])]
            )
    told = ["train", "--images", world / "images", "--boxes", boxes, *tiny]
    told += ["--models", tmp_path / "m", "--log-format", "json"]
    assert belvedere(*told).code == failures.REFUSED
    assert belvedere(*told, "--boxes-rescale").code == failures.DONE
    ids = model_store.index(str(tmp_path / "m")).ids
    assert ids == model_store.index(runs.models()).ids


def test_sides_that_count_from_0_in_xml_are_counted(belvedere, tiny, tmp_path):
    for folder, low in (("car", 0), ("zebra", 1)):
        (tmp_path / folder).mkdir()
        corners = {"xmin": low, "ymin": low, "xmax": 50, "ymax": 50}
        box = "".join(f"<{k}>{v}</{k}>" for k, v in corners.items())
        (tmp_path / folder / "00009.xml").write_text(
            f"<annotation><filename>00009.jpg</filename><object><name>{folder}</name>"
            f"<bndbox>{box}</bndbox></object></annotation>"
        )
    told = ["--images", runs.world() / "images", "--boxes", tmp_path, *tiny]
    line = "2 sides of boxes say 0 in XML that counts from 1"
    assert line in belvedere("plan", *told).out
    assert line in belvedere("train", *told, "--models", tmp_path / "m").out
    told += ["--models", runs.models(), "--output", tmp_path / "o"]
    said = belvedere("evaluate", *told, "--log-format", "json")
    assert said.document["counts"]["zero_based_sides"] == 2


def test_boxes_that_fit_no_image_are_told(belvedere, tiny, tmp_path):
    boxes = tmp_path / "boxes.csv"
    boxes.write_text("image,class,xmin,ymin,xmax,ymax\nno.jpg,car,1,1,5,5\n")
    told = ["train", "--images", runs.world() / "images", "--boxes", boxes]
    said = belvedere(*told, "--models", tmp_path / "m", *tiny)
    assert said.code == failures.REFUSED
    assert "no image has a box; 1 boxes or images are unusable" in said.err


def test_dead_letters_are_counted_and_tried_again(belvedere, world, tmp_path):
    spoiled = [world / "images" / "car" / "00009.jpg"]
    spoiled += [world / "images" / "zebra" / f"0000{n}.jpg" for n in (2, 4)]
    good = [file.read_bytes() for file in spoiled]
    for file, data in zip(spoiled, good, strict=True):
        file.write_bytes(data[:500])
    output = tmp_path / "o"
    told = ["annotate", "--images", world / "images", "--models", runs.models()]
    said = belvedere(*told, "--output", output)
    assert said.code == failures.TOO_MANY_DEAD
    assert "3 dead" in said.out and "3 truncated" in said.out
    assert "belvedere retry" in said.out
    runs.assert_sound(output, runs.TASKS)
    said = belvedere("retry", "--output", output)
    assert said.code == failures.TOO_MANY_DEAD
    assert "3 still are" in said.out
    letters = runs.rows(output, schemas.DEAD_LETTERS)
    assert [row["attempts"] for row in letters] == [2, 2, 2]
    spoiled[0].write_bytes(good[0])
    spoiled[1].unlink()
    said = belvedere("retry", "--output", output, "--max-dead", 0.5)
    assert said.code == failures.DONE
    assert "1 are no longer dead, 1 still are, of 24 images" in said.out
    assert "1 could not be tried: the picture is gone" in said.out
    spoiled[2].unlink()
    said = belvedere("retry", "--output", output)
    assert said.code == failures.DONE  # nothing is left that could be tried
    assert "0 are no longer dead, 0 still are, of 24 images" in said.out
    whole, found = _rows(runs.output()), _rows(output)
    assert found.keys() == whole.keys() - {"zebra/00002.jpg", "zebra/00004.jpg"}
    assert found["car/00009.jpg"]["bbox"] == whole["car/00009.jpg"]["bbox"]
    assert belvedere("verify", "--output", output).code == failures.DONE


def test_max_dead_allows_dead_letters(belvedere, world, tmp_path):
    (world / "images" / "car" / "00009.jpg").write_bytes(b"rubbish")
    told = ["annotate", "--images", world / "images", "--models", runs.models()]
    told += ["--output", tmp_path / "o", "--classes", "car"]
    assert belvedere(*told, "--max-dead", 0.1).code == failures.DONE


@pytest.mark.parametrize("mixed", [False, True])
def test_classes_and_limit_choose_tasks(belvedere, tmp_path, mixed):
    images = runs.world() / "images"
    if mixed:
        images = tmp_path / "list.csv"
        rows = [
            (file, file.parent.name) for file in sorted(runs.world().rglob("*.jpg"))
        ]
        with images.open("w", newline="") as file:
            csv.writer(file).writerows([("image", "class"), *rows])
    told = ["annotate", "--images", images, "--models", runs.models()]
    for limit in (2, 5):
        output = tmp_path / "o"
        some = ["--classes", "zebra", "--limit", limit, "--output", output]
        assert belvedere(*told, *some).code == failures.DONE
        found = runs.rows(output)
        assert [row["label"] for row in found] == ["zebra"] * limit
    whole = {row["image_uri"]: row for row in runs.rows(runs.output())}
    for row in found:
        same = whole[row["image_uri"]]
        assert all(row[key] == same[key] for key in row if key != "image_id")


def test_a_picture_alone_is_as_in_a_batch(belvedere, tmp_path):
    row = _rows(runs.output())["car/00009.jpg"]
    drawn = tmp_path / "box.png"
    told = ["annotate", row["image_uri"], "--class", "car", "--models", runs.models()]
    said = belvedere(*told, "--draw", drawn, "--log-format", "json")
    assert said.code == failures.DONE
    alone = said.document
    assert set(alone) >= {"bbox", "score", "expected_iou", "contributions"}
    shared = alone.keys() & row.keys() - {"image_id"}
    assert {key: alone[key] for key in shared} == {key: row[key] for key in shared}
    picture = np.asarray(Image.open(drawn))
    plain = np.asarray(Image.open(row["image_uri"]))
    changed = np.argwhere((picture != plain).any(axis=2))
    x, y, width, height = row["bbox"]
    edges = [*changed.min(axis=0), *(changed.max(axis=0) + 1)]
    assert edges == pytest.approx([y, x, y + height, x + width], abs=1)


def test_a_picture_alone_is_explained(belvedere):
    row = _rows(runs.output())["car/00009.jpg"]
    told = ["annotate", row["image_uri"], "--class", "car", "--models", runs.models()]
    said = belvedere(*told)
    assert said.code == failures.DONE
    for name in types.HYPERFEATURES:
        assert name in said.out
    assert f"{row['expected_iou']:.3f}" in said.out


def test_verify_tells_problems(belvedere, tmp_path):
    assert belvedere("verify", "--output", runs.output()).code == failures.DONE
    assert belvedere("verify", "--output", runs.models()).code == failures.DONE
    shutil.copytree(runs.output(), tmp_path / "o")
    file = next((tmp_path / "o" / "annotations").iterdir())
    file.write_bytes(file.read_bytes()[:-1])
    said = belvedere("verify", "--output", tmp_path / "o")
    assert said.code == failures.CONFLICT
    assert file.name in said.out and "1 problems" in said.out
    said = belvedere("verify", "--output", tmp_path / "o", "--log-format", "json")
    assert said.document["sound"] is False
    assert len(said.document["problems"]) == 1


def test_plan_counts_without_opening_a_picture(belvedere, tiny, world):
    for file in (world / "images").rglob("*.jpg"):
        file.write_bytes(b"")
    with (world / toy_data.BOXES).open("a") as file:
        file.write("images/car/nobody.jpg,car,1,1,5,5\n")
    (world / "images" / "dog").mkdir()
    (world / "images" / "dog" / "1.jpg").touch()
    told = ["plan", "--images", world / "images", "--boxes", world / toy_data.BOXES]
    plan = belvedere(*told, *tiny, "--log-format", "json").document
    images = runs.BOXED + runs.UNBOXED
    known = {"images": images, "boxed": runs.BOXED, "refused": ""}
    assert {label: plan["classes"][label] for label in runs.LABELS} == {
        label: known for label in runs.LABELS
    }
    assert "0 with boxes" in plan["classes"]["dog"]["refused"]
    assert plan["homeless"] == 1
    assert plan["training_seconds"] > 0 and plan["annotating_seconds"] >= 0
    said = belvedere(*told, *tiny, "--set", "least_images=50")
    assert "50 are needed" in said.out and "1 boxed images are not there" in said.out


def test_schema_prints_both_tables(belvedere):
    said = belvedere("schema", "--log-format", "json")
    assert said.code == failures.DONE
    for name, schema in schemas.SCHEMAS.items():
        columns = [column["name"] for column in json.loads(said.out)[name]]
        assert columns == schema.names
    assert "contributions" in belvedere("schema").out


def test_a_class_that_was_chosen_need_not_be_done_again(belvedere, tmp_path):
    told = ["annotate", "--images", runs.world() / "images", "--models", runs.models()]
    told += ["--output", tmp_path / "o", "--log-format", "json"]
    of_class = runs.TASKS // len(runs.LABELS)
    assert belvedere(*told, "--classes", "zebra").document["annotated"] == of_class
    assert belvedere(*told).document["already_done"] == of_class
