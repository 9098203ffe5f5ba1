"""What `belvedere diff` says of two tables that were written to differ."""

import json

import numpy as np
import outputs
import pytest

from belvedere.core.windows import boxes
from belvedere.pipelines import changes, diff, failures, voice
from belvedere.transforms import commits, manifests, model_store, stores, tables

BOX = [10.0, 20.0, 100.0, 50.0]
NEAR = [10.0, 20.0, 100.0, 51.0]
AWAY = [60.0, 20.0, 100.0, 50.0]
FAR = [400.0, 300.0, 100.0, 50.0]


def _write(folder, annotations, dead=(), number=0, model="m1"):
    store = stores.store_for(str(folder))
    work = outputs.unit(number, model)
    record = tables.finish(store, work, annotations, dead, f"run-{number}", "0.1")
    entry = manifests.Entry.of(record)
    commits.commit(commits.Log(store), outputs.run(f"run-{number}"), [entry])
    return str(folder)


def _row(uri, box=BOX, accepted=True, label="cat", **changes):
    return outputs.row(uri, label, bbox=box, accepted=accepted, **changes)


@pytest.fixture
def both(tmp_path):
    """Two outputs with a task or two for everything that can happen."""
    old = [
        _row("same"),
        _row("near"),
        _row("away"),
        _row("far", label="dog"),
        _row("gains", accepted=False),
        _row("withdraws"),
        _row("gone", label="eel"),
        outputs.refused("learned"),
        _row("forgotten"),
        _row("dies"),
    ]
    new = [
        _row("same"),
        _row("near", NEAR),
        _row("away", AWAY),
        _row("far", FAR, label="dog"),
        _row("gains", AWAY),
        _row("withdraws", accepted=False),
        _row("new"),
        _row("learned"),
        outputs.refused("forgotten"),
        _row("revives"),
    ]
    dead = [outputs.dead("revives"), outputs.dead("broken.tar", None)]
    return (
        _write(tmp_path / "old", old, dead),
        _write(tmp_path / "new", new, [outputs.dead("dies"), dead[1]]),
    )


def _tasks(document, kind):
    return [change["image_uri"] for change in document["changes"][kind]]


def _diff(*told, **changes):
    return diff.main(diff.Options(*told, **changes), voice.Voice(quiet=True))


def test_every_task_is_told_for_what_became_of_it(both):
    document = _diff(*both)
    assert _tasks(document, "moved") == ["far", "away", "gains"]
    assert sorted(_tasks(document, "gained")) == ["gains", "learned", "revives"]
    assert sorted(_tasks(document, "withdrew")) == ["dies", "forgotten", "withdraws"]
    assert _tasks(document, "new") == ["new"]
    assert _tasks(document, "gone") == ["gone"]
    assert document["unchanged"] == 3  # same, near and the broken tar
    assert document["tasks"] == 11
    assert document["per_class"]["dog"] == {
        "tasks": 1,
        "moved": 1,
        "gained": 0,
        "withdrew": 0,
        "new": 0,
        "gone": 0,
    }
    assert document["per_class"]["eel"]["gone"] == 1
    states = {
        change["image_uri"]: (change["before"], change["after"])
        for kind in changes.KINDS
        for change in document["changes"][kind]
    }
    assert states["dies"] == ("accepted", "dead")
    assert states["learned"] == ("refused", "accepted")
    assert states["gains"] == ("boxed", "accepted")
    assert states["new"] == ("absent", "accepted")
    assert states["gone"] == ("accepted", "absent")


def test_the_other_way_round(both):
    there, back = _diff(*both), _diff(*reversed(both))
    for kind, mirrored in (
        *(("moved", "moved"), ("gained", "withdrew"), ("withdrew", "gained")),
        *(("new", "gone"), ("gone", "new")),
    ):
        assert sorted(_tasks(there, kind)) == sorted(_tasks(back, mirrored))
        assert there[kind] == back[mirrored]
    assert there["unchanged"] == back["unchanged"]


def test_the_threshold_and_the_length_of_the_lists(both):
    assert _diff(*both, iou=0.0)["moved"] == 0
    exact = _diff(*both, iou=1.0)
    assert _tasks(exact, "moved") == ["far", "away", "gains", "near"]
    short = _diff(*both, iou=1.0, shown=2)
    assert _tasks(short, "moved") == ["far", "away"]
    assert short["moved"] == 4 and short["per_class"] == exact["per_class"]


def test_overlaps_are_those_of_core():
    rng = np.random.default_rng(0)
    a, b = (rng.uniform(1, 20, (50, 4)) for _ in range(2))
    corners = [np.hstack([x[:, :2], x[:, :2] + x[:, 2:]]) for x in (a, b)]
    wanted = np.diag(boxes.ious(*corners))
    assert wanted.any()
    np.testing.assert_allclose(changes.overlaps(a, b), wanted)
    assert changes.overlaps(a[:1], np.full((1, 4), np.nan)) == 0
    assert changes.overlaps(a[:1], a[:1]) == 1


def test_many_tasks_against_a_dictionary(tmp_path):
    rng = np.random.default_rng(1)
    sides = [
        {
            f"{n}": _row(f"{n}", rng.choice([BOX, AWAY]).tolist(), rng.random() < 0.5)
            for n in rng.permutation(300)[:200]
        }
        for _ in range(2)
    ]
    folders = []
    for name, side in zip(("a", "b"), sides, strict=True):
        rows = list(side.values())
        for number in range(4):
            part = rows[50 * number : 50 * number + 50]
            folders.append(_write(tmp_path / name, part, number=number))
    document = _diff(folders[0], folders[-1], shown=1000)
    old, new = sides
    shared = old.keys() & new.keys()
    moved = {n for n in shared if old[n]["bbox"] != new[n]["bbox"]}
    gained = {n for n in shared if new[n]["accepted"] > old[n]["accepted"]}
    assert moved and gained
    assert set(_tasks(document, "moved")) == moved
    assert set(_tasks(document, "gained")) == gained
    assert set(_tasks(document, "new")) == new.keys() - old.keys()
    assert set(_tasks(document, "gone")) == old.keys() - new.keys()
    assert document["tasks"] == len(shared)


def test_one_output_under_two_sets_of_models(tmp_path, monkeypatch):
    rows = [_row("a"), _row("b"), _row("c")]
    output = _write(tmp_path / "out", rows)
    moved = [_row("a", FAR, model="m2"), _row("b", model="m2")]
    _write(tmp_path / "out", moved, number=1, model="m2")
    asked = []

    def index(folder, number=None):
        asked.append((folder, number))
        name = {1: "m1", 2: "m2"}[number]
        return model_store.ModelIndex(folder, number, {"cat": name})

    monkeypatch.setattr(model_store, "index", index)
    document = _diff(output, output, "models@1", "models@2")
    assert asked == [("models", 1), ("models", 2)]
    assert _tasks(document, "moved") == ["a"]
    assert _tasks(document, "gone") == ["c"] and document["unchanged"] == 1
    newest = _diff(output, output, "models@1")
    assert _tasks(newest, "moved") == ["a"] and newest["gone"] == 0


def test_what_cannot_be_compared(tmp_path, both):
    with pytest.raises(failures.Mistake, match="holds no annotations"):
        _diff(both[0], str(tmp_path / "nowhere"))
    with pytest.raises(failures.Mistake, match="two outputs"):
        _diff(both[0], both[0])
    with pytest.raises(failures.Mistake, match="--iou is 90"):
        _diff(*both, iou=90)
    with pytest.raises(failures.Mistake, match="holds no models"):
        _diff(*both, models_old=str(tmp_path / "nowhere"))
    with pytest.raises(failures.Mistake, match="is no folder"):
        _diff(both[0], "ftp://x/y")


def test_what_is_said(both, capsys):
    diff.main(diff.Options(*both), voice.Voice())
    said = capsys.readouterr().out
    assert "11 tasks in both, 3 of them unchanged: 3 moved, 3 gained" in said
    assert said.index("Moved: 3") < said.index("far") < said.index("Gained: 3")
    document = diff.main(diff.Options(*both), voice.Voice(as_json=True))
    assert json.loads(capsys.readouterr().out) == document
    diff.main(diff.Options(*both), voice.Voice(quiet=True))
    assert capsys.readouterr().out == ""
