"""The full method without one of its parts, learned again: what each part adds.

  global, local, consistency   without these hyper-features
  context                      without all three of them: phi_S alone, then the vote
  voting                       the chosen window itself
  cross_prediction             alpha and promise learned from what the Gaussian process
                               says of windows it has seen

Paper: section 5 compares with `ae_gp`, which is without context and without the vote.
"""

import dataclasses
from collections.abc import Callable, Mapping

from belvedere.core import localization
from belvedere.core.assessment import comparison
from belvedere.core.class_model import Appearance, Settings
from belvedere.core.context import voting
from belvedere.core.types import Competition

FAMILIES = ("global", "local", "consistency")
CROSS_PREDICTION = "cross_prediction"
PARTS = (*FAMILIES, "context", "voting", CROSS_PREDICTION)


def without(
    part: str,
    tables: Mapping[str, Competition],
    appearance: Appearance,
    settings: Settings,
    seen: Callable[[], Mapping[str, Competition]],
) -> comparison.Modelled:
    """The method that lacks `part`, one of `PARTS`.

    Args:
      part: what to do without.
      tables: of the training images, as the full method learns from them.
      appearance: of the class.
      settings: of the full method.
      seen: makes the tables as they are without cross-prediction, where wanted.
    """
    if part == "voting":
        settings = dataclasses.replace(settings, voting=voting.NONE)
    elif part == "context":
        settings = comparison.only(settings, "score")
    elif part in FAMILIES:
        settings = comparison.only(settings, *({*FAMILIES, "score"} - {part}))
    elif part == CROSS_PREDICTION:
        tables = seen()
    else:
        raise ValueError(f"no part {part!r}, wanted one of {PARTS}")
    model, _ = localization.learn_context(tables, appearance, settings)
    return comparison.Modelled(model)


def blind_to_nothing(appearance: Appearance) -> Appearance:
    """The appearance in which every fold is predicted by what has seen it."""
    folds = len(appearance.fold_maps)
    return dataclasses.replace(
        appearance,
        fold_maps=(appearance.maps,) * folds,
        fold_gps=(appearance.gp,) * folds,
    )
