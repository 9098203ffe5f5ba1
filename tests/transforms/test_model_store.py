"""Models by class and id, frozen artefacts, and what is done about damage."""

import json
import pathlib
import shutil

import pytest
import runs

from belvedere.core import archive
from belvedere.core.formats import names
from belvedere.transforms import commits, model_store, stores
from belvedere.transforms.stores import OutputConflict


@pytest.fixture
def store(tmp_path):
    shutil.copytree(runs.models(), tmp_path / "models")
    return stores.store_for(str(tmp_path / "models"))


def test_the_index_names_the_newest_model_of_each_class(store):
    index = model_store.index(store.uri)
    assert set(index.ids) == {names.slug(label) for label in runs.LABELS}
    assert index.of("zebra") == index.ids[names.slug("zebra")]
    assert index.of("unknown") is None
    assert model_store.index(store.uri, 0).ids == {}
    assert model_store.index(store.uri, index.number) == index


def test_a_log_up_to_a_manifest_is_read_once(store, monkeypatch):
    index = model_store.index(store.uri, 1)
    monkeypatch.setattr(commits, "Log", None)
    assert model_store.index(store.uri, 1) is index


def test_an_id_is_that_of_the_bytes_and_of_the_eyes(store):
    index = model_store.index(store.uri)
    for label in runs.LABELS:
        model, _ = model_store.read_model(store, label, index.of(label))
        card = json.loads(_card(store, label).read_text())
        data = archive.dump(model)
        assert model_store.model_id(data, card["eyes_id"]) == index.of(label)
        assert model_store.model_id(data, "other eyes") != index.of(label)


def _card(store, label: str) -> pathlib.Path:
    identity = model_store.index(store.uri).of(label)
    return pathlib.Path(store.uri, names.slug(label), identity, "card.json")


def test_a_model_written_again_keeps_its_card(store):
    """Another version of the program may tell more of the same model."""
    before = _card(store, "zebra").read_bytes()
    identity = model_store.index(store.uri).of("zebra")
    model, _ = model_store.read_model(store, "zebra", identity)
    card = {**json.loads(before), "more": "words"}
    files = model_store.write_model(store, "zebra", model, card)
    assert _card(store, "zebra").read_bytes() == before
    assert [file.size for file in files] == [
        store.find(file.name).size for file in files
    ]


@pytest.mark.parametrize("damage", ["model.npz", "card.json", "eyes", "other eyes"])
def test_damage_is_a_conflict(store, damage):
    folder = _card(store, "zebra").parent
    (eyes,) = pathlib.Path(store.uri, "eyes").iterdir()
    victim = eyes if "eyes" in damage else folder / damage
    data = victim.read_bytes()
    if damage == "other eyes":
        content = archive.load(data, dict)
        victim.write_bytes(archive.dump({**content, "more": 1}))
    else:
        victim.write_bytes(data[:-50])
    with pytest.raises(OutputConflict):
        model_store.read_model(store, "zebra", folder.name)


def test_negatives_seen_with_other_eyes_are_a_conflict(store):
    with pytest.raises(OutputConflict, match="eyes"):
        model_store.read_negatives(store, runs.TINY.sight, "other")


def test_frozen_eyes_stay(store):
    name = model_store.eyes_name(runs.TINY.sight)
    before = store.read(name)
    model_store.freeze_eyes(store, runs.TINY.sight, {})
    assert store.read(name) == before
