"""Several ways to place the box of a class, learned and judged on the same pictures.

  full       the method
  ae_gp      appearance alone, the paper's predecessor: phi_S only, its two weights by
             the same structured learning, the same windows and features
  gp_mean    the window of highest predicted overlap mu
  gp_sure    the window of highest mu - kappa · sigma, kappa chosen in cross-validation
  location   appearance alone, and of it nothing but location and scale
  ceiling    the best candidate window, which takes the truth to know
and the `baselines`. All but the full method return a window as it is.

Paper: section 5.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from belvedere.core import localization, sight
from belvedere.core.assessment import baselines, calibration
from belvedere.core.assessment.baselines import Baseline
from belvedere.core.assessment.window_choice import Placement
from belvedere.core.class_model import Appearance, ClassModel, Settings
from belvedere.core.context import voting
from belvedere.core.context.scaling import Scaling
from belvedere.core.embedding import sampling
from belvedere.core.prediction.relation_gp import RelationGP
from belvedere.core.sight import Eyes, Samples, View
from belvedere.core.types import HYPERFEATURES, Competition, Context, P
from belvedere.core.windows import boxes

METHODS = (
    "full",
    "ae_gp",
    "gp_sure",
    "gp_mean",
    "mkl_svm",
    "uva",
    "location",
    "constant_box",
    "centre_prior",
    "whole_image",
    "ceiling",
)
KAPPAS = (0.25, 0.5, 1.0, 2.0)
_MEAN, _STD = (HYPERFEATURES.index(name) for name in ("mean_overlap", "std"))
_LOCATION_INDUCING = 100  # points in four dimensions


@dataclasses.dataclass(frozen=True, eq=False)
class Pictures:
    """Views and true boxes of pictures, by name."""

    views: Mapping[str, View]
    truths: Mapping[str, Float[np.ndarray, "_ 4"]]


@dataclasses.dataclass(frozen=True, eq=False)
class Placed:
    """A box that a method placed, its score and its IoU with the truth."""

    method: str
    image_id: str
    box: Float[np.ndarray, "4"]
    score: float
    iou: float


@dataclasses.dataclass(frozen=True, eq=False)
class Modelled:
    """A method that is a class model."""

    model: ClassModel

    def place(
        self, view: View, eyes: Eyes, context: Context | None = None
    ) -> Placement:
        found = localization.localize(view, self.model, eyes, context)
        return Placement(found.box, found.score, found.expected_iou)


def appearance_alone(
    tables: Mapping[str, Competition], appearance: Appearance, settings: Settings
) -> dict[str, Baseline]:
    """AE-GP in its three forms, from the tables that the full method learns from."""
    settings = dataclasses.replace(settings, voting=voting.NONE)
    ae_gp, _ = localization.learn_context(tables, appearance, only(settings, "score"))
    means = [_given(tables, appearance, settings, kappa) for kappa in (0.0, *KAPPAS)]
    sure = max(means[1:], key=lambda found: found[1])
    models = {"ae_gp": ae_gp, "gp_sure": sure[0], "gp_mean": means[0][0]}
    return {name: Modelled(model) for name, model in models.items()}


def only(settings: Settings, *families: str) -> Settings:
    """The settings with hyper-features of these families alone.

    Families are `global`, `local`, `consistency`, and `score`, which is phi_S.
    """
    columns = tuple(
        number
        for number, name in enumerate(HYPERFEATURES)
        if (name.split("_")[0] if number < _MEAN else "score") in families
    )
    return dataclasses.replace(
        settings, learning=dataclasses.replace(settings.learning, columns=columns)
    )


def _given(
    tables: Mapping[str, Competition],
    appearance: Appearance,
    settings: Settings,
    kappa: float,
) -> tuple[ClassModel, float]:
    """mu - kappa · sigma as a model, and its mean IoU in images not seen."""
    alpha = np.zeros(P)
    alpha[_MEAN], alpha[_STD] = 1.0, -kappa
    scores, ious = [], []
    for name in sorted(tables):
        values = tables[name].hyperfeatures @ alpha
        scores.append(values.max())
        ious.append(tables[name].ious[values.argmax()])
    held_out = np.array(scores), np.array(ious)
    promise = calibration.fit(*held_out)
    plain = Scaling(np.zeros(P), np.ones(P))
    model = ClassModel(
        appearance.maps,
        appearance.gp,
        alpha,
        plain,
        promise,
        calibration.shortfall(promise, *held_out),
        settings.consistency,
    )
    return model, float(held_out[1].mean())


def simpler(
    names: Sequence[str],
    pictures: Pictures,
    samples: Sequence[Samples],
    negatives: Sequence[Samples],
    eyes: Eyes,
    settings: Settings,
) -> dict[str, Baseline]:
    """`location` and the baselines of these names, which need no tables.

    Args:
      names: of the methods.
      pictures: to learn from.
      samples: their sampled windows.
      negatives: windows of pictures of other classes.
      eyes: how all of them were looked at.
      settings: of the full method.
    """
    learned: dict[str, Baseline] = {}
    for name in names:
        if name == "location":
            learned[name] = _location(pictures, samples, negatives, eyes, settings)
        else:
            learned[name] = baselines.train(
                name,
                pictures.views,
                pictures.truths,
                samples,
                negatives,
                eyes,
                settings.seed,
            )
    return learned


def _location(
    pictures: Pictures,
    samples: Sequence[Samples],
    negatives: Sequence[Samples],
    eyes: Eyes,
    settings: Settings,
) -> Modelled:
    points = min(settings.gp.inducing, _LOCATION_INDUCING)
    alone = dataclasses.replace(
        only(settings, "score"),
        gp=dataclasses.replace(settings.gp, inducing=points),
        voting=voting.NONE,
    )
    location = localization.learn_appearance(
        [_location_only(s) for s in samples],
        [_location_only(s) for s in negatives],
        alone,
    )
    tables = {
        name: localization.compete(
            view, pictures.truths[name], name, location, eyes, alone
        )
        for name, view in pictures.views.items()
    }
    return Modelled(localization.learn_context(tables, location, alone)[0])


def _location_only(samples: Samples) -> Samples:
    return dataclasses.replace(
        samples, features={"location": samples.features["location"]}
    )


def place(
    methods: Mapping[str, Baseline],
    view: View,
    truth: Float[np.ndarray, "T 4"],
    image_id: str,
    eyes: Eyes,
    known: tuple[RelationGP, Context] | None = None,
) -> list[Placed]:
    """The box of each method, and the ceiling, on a picture not learned from.

    Models that share an appearance are given one context of the picture, which may be
    `known`, with its Gaussian process.
    """
    windows = view.to_picture(view.windows.boxes)
    best = windows[boxes.ious(windows, truth).max(axis=1).argmax()]
    contexts = {id(known[0]): known[1]} if known else {}
    chosen = {}
    for name, method in methods.items():
        if isinstance(method, Modelled):
            gp, maps = method.model.gp, method.model.maps
            if id(gp) not in contexts:
                contexts[id(gp)] = localization.context_of(view, maps, gp, eyes)
            chosen[name] = method.place(view, eyes, contexts[id(gp)])
        else:
            chosen[name] = method.place(view, eyes)
    chosen["ceiling"] = Placement(best, 0.0, 0.0)
    return [
        Placed(
            name,
            image_id,
            found.box,
            found.expected_iou,
            float(boxes.ious(found.box[None], truth).max()),
        )
        for name, found in chosen.items()
    ]


def negatives_of(
    pictures: Pictures, count: int, eyes: Eyes, settings: sampling.SamplingSettings
) -> list[Samples]:
    """`count` windows from each picture, for exemplars of other classes."""
    return [
        sight.sample_negatives(view, name, count, eyes, settings)
        for name, view in pictures.views.items()
    ]
