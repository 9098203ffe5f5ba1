import numpy as np
import pytest
import scipy.sparse
import toys

from belvedere.core import localization, sight
from belvedere.core.embedding import class_embedding


@pytest.fixture(scope="module")
def samples():
    own = toys.pictures("zebra", 0, 8)
    return [
        sight.sample(v, own.truths[n], n, toys.eyes(), toys.SETTINGS.sampling)
        for n, v in own.views.items()
    ]


@pytest.mark.parametrize("kind", ["paper", "classic"])
def test_inputs_are_five_embeddings_beside_location_and_scale(samples, kind):
    settings = toys.settings(kind)
    learned = localization.learn_appearance(samples, toys.negatives("zebra"), settings)
    assert learned.gp.inducing.shape[1] == 5 * settings.embedding.dimensions + 4
    x = sight.embed(toys.view("zebra/9"), learned.maps, toys.eyes())
    assert x.shape == (len(toys.view("zebra/9").windows), learned.gp.inducing.shape[1])


def test_location_is_standardised_over_the_training_windows(samples):
    settings = toys.settings("paper")
    learned = localization.learn_appearance(samples, toys.negatives("zebra"), settings)
    raw = class_embedding.stacked([s.features["location"] for s in samples])
    values = learned.maps["location"].apply(raw)
    np.testing.assert_allclose(values.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(values.std(axis=0), 1, rtol=1e-5)


def test_embedding_a_window_alone_equals_embedding_it_among_others(samples):
    settings = toys.settings("classic")
    learned = localization.learn_appearance(samples, toys.negatives("zebra"), settings)
    view, eyes = toys.view("zebra/9"), toys.eyes()
    for name, part in learned.maps.items():
        kind, seen = eyes.features[name], view.descriptions[name]
        together = kind.project(seen, view.windows.boxes, part.matrix, part.offset)
        for k in (0, 17):
            alone = kind.project(
                seen, view.windows.boxes[[k]], part.matrix, part.offset
            )
            np.testing.assert_array_equal(alone[0], together[k])


def test_stacking_keeps_sparse_sparse():
    rows = [scipy.sparse.csr_matrix(np.eye(3, dtype=np.float32)) for _ in range(2)]
    assert scipy.sparse.issparse(class_embedding.stacked(rows))
    assert class_embedding.stacked(rows).shape == (6, 3)
    dense = class_embedding.stacked([np.eye(2), np.eye(2)])
    assert dense.shape == (4, 2)
