"""Imported once by the server that `runs.Child` forks from: pays for what is slow.

No Beam pipeline may run here: its threads would not live on in a forked process.
"""

import numpy as np
import runs

from belvedere.core import localization, sight
from belvedere.core.appearance import registry, vocabulary
from belvedere.core.synthetic import scenes
from belvedere.transforms import workers

workers.prepare_trainer(runs.TINY.method.gp.needs_torch)


def _learn_and_localize() -> None:
    drawn = [scenes.draw(label, n) for label in runs.LABELS for n in range(runs.BOXED)]
    chosen = runs.TINY.sight
    small = [sight.in_frame(scene.image, chosen.side) for scene in drawn]
    words = [
        vocabulary.sample(image, str(n), chosen.words_per_image, chosen.features)
        for n, image in enumerate(small)
    ]
    books = vocabulary.learn(words, chosen.features)
    types = registry.feature_types(books, chosen.features)
    eyes = sight.Eyes(types, chosen.prim(), chosen.side)
    views = {str(n): sight.look(s.image, eyes) for n, s in enumerate(drawn)}
    truths = {str(n): np.array(s.boxes) for n, s in enumerate(drawn)}
    method = runs.TINY.method
    own = [str(n) for n in range(runs.BOXED)]
    negatives = [
        sight.sample_negatives(view, name, 5, eyes, method.sampling)
        for name, view in views.items()
        if name not in own
    ]
    mine = ({n: views[n] for n in own}, {n: truths[n] for n in own})
    model = localization.fit(*mine, negatives, eyes, method)
    localization.localize(views[own[0]], model, eyes)


_learn_and_localize()
