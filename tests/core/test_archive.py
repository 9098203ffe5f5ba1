import dataclasses
import io
import json

import numpy as np
import pytest
import scipy.sparse
import toys

from belvedere.core import archive, localization, sight
from belvedere.core.class_model import ClassModel
from belvedere.core.sight import Samples, View
from belvedere.core.types import Competition


@pytest.fixture(scope="module")
def model():
    own = toys.pictures("zebra", 0, 6)
    settings = toys.settings("classic")
    return localization.fit(
        own.views, own.truths, toys.negatives("zebra"), toys.eyes(), settings
    )


def _same(a, b):
    if dataclasses.is_dataclass(a):
        assert type(a) is type(b)
        for field in dataclasses.fields(a):
            _same(getattr(a, field.name), getattr(b, field.name))
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            _same(a[key], b[key])
    elif scipy.sparse.issparse(a):
        assert (a != b).nnz == 0
    elif isinstance(a, np.ndarray):
        np.testing.assert_array_equal(a, b, strict=True)
    else:
        assert a == b


def test_a_model_comes_back_as_it_was_and_finds_the_same_box(model):
    data = archive.dump(model)
    again = archive.load(data, ClassModel)
    _same(model, again)
    assert archive.dump(again) == data
    view = toys.view("zebra/9")
    one = localization.localize(view, model, toys.eyes())
    two = localization.localize(view, again, toys.eyes())
    assert one.score == two.score


def test_views_samples_and_competitions_come_back_as_they_were():
    view = toys.view("zebra/1")
    truth = toys.world()["zebra/1"].boxes
    samples = sight.sample(view, truth, "zebra/1", toys.eyes(), toys.SETTINGS.sampling)
    table = Competition(np.ones((3, 11)), np.zeros(3), np.zeros(3), 1)
    for value, kind in ((view, View), (samples, Samples), (table, Competition)):
        _same(value, archive.load(archive.dump(value), kind))


def test_another_kind_is_refused(model):
    with pytest.raises(ValueError, match="holds a ClassModel, wanted View"):
        archive.load(archive.dump(model), View)


@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip at all" * 9])
def test_foreign_bytes_are_refused(data):
    with pytest.raises(ValueError, match=r"damaged|pickled|allow_pickle"):
        archive.load(data, ClassModel)


def test_a_damaged_archive_is_refused(model):
    data = bytearray(archive.dump(model))
    data[len(data) // 2] ^= 0xFF
    with pytest.raises(ValueError):
        archive.load(bytes(data), ClassModel)


def test_an_archive_with_changed_bytes_is_refused_and_no_more():
    data = archive.dump({"a": np.arange(6.0), "b": (1, "text", None)})
    rng = np.random.default_rng(0)
    refused = 0
    for number in range(4000):
        changed = bytearray(data)
        for at in rng.integers(0, len(data), 1 + number % 2):
            changed[at] ^= int(rng.integers(1, 256))
        try:
            archive.load(bytes(changed), dict)
        except ValueError:
            refused += 1
    assert refused > 3000  # the others hit what nobody reads


def test_an_unknown_class_is_never_made():
    tree = {
        "version": archive.VERSION,
        "value": {"class": "Popen", "fields": {"args": {"plain": "true"}}},
    }
    buffer = io.BytesIO()
    np.savez(buffer, tree=np.frombuffer(json.dumps(tree).encode(), np.uint8))
    with pytest.raises(ValueError, match="Popen"):
        archive.load(buffer.getvalue(), ClassModel)


def test_a_newer_version_is_refused():
    buffer = io.BytesIO()
    text = json.dumps({"version": archive.VERSION + 1, "value": {"plain": 1}})
    np.savez(buffer, tree=np.frombuffer(text.encode(), np.uint8))
    with pytest.raises(ValueError, match="version"):
        archive.load(buffer.getvalue(), int)


def test_objects_cannot_be_archived():
    for value in (object(), np.array([object()]), [1, 2]):
        with pytest.raises(ValueError, match="cannot be archived"):
            archive.dump(value)
