"""The method on one page.

Vezhnevets & Ferrari, "Object localization in ImageNet by looking out of the window".
An image is known to hold an object of a class; the box around it is wanted. Each image
has about 1000 candidate windows (`sight.look`), described by 54 numbers each.

Learning a class, from images whose boxes are known:
  learn_appearance  embeds windows and learns to predict their spatial relations to the
                    object: how much they overlap it, are part of it, contain it
  compete           scores each window of a training image in the context of all others,
                    by 11 hyper-features, and says how wrong it would be to choose it
  learn_context     the weights alpha that make the right window score highest
Finding the object in a new image:
  localize          the window with the highest score, found exactly

Each step takes and returns small values, so that the loop in `fit` and a pipeline on
many machines call the same ones.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from belvedere.core import sight
from belvedere.core.assessment import calibration
from belvedere.core.class_model import Appearance, ClassModel, Settings
from belvedere.core.context import hyperfeatures, inference, learning, voting
from belvedere.core.embedding import class_embedding, presets, sampling
from belvedere.core.embedding.affine import AffineMap
from belvedere.core.prediction import fitting
from belvedere.core.prediction.relation_gp import RelationGP
from belvedere.core.sight import Eyes, Samples, View
from belvedere.core.types import Competition, Context, R
from belvedere.core.windows import boxes


@dataclasses.dataclass(frozen=True, eq=False)
class Localization:
    """The box of the object and what is known of it.

    Attributes:
      box: in the picture's own frame.
      score: of the chosen window, comparable within the class.
      expected_iou: what the score promises, comparable over classes.
      iou_lower: undercut in about one box of ten.
      mean: overlap of the chosen window with the object, as predicted from its looks.
      std: the deviation of that prediction.
      contributions: of the 11 hyper-features to the score; they sum to it.
      found: the chosen window, the second best, and the certificate.
    """

    box: Float[np.ndarray, "4"]
    score: float
    expected_iou: float
    iou_lower: float
    mean: float
    std: float
    contributions: Float[np.ndarray, "P"]
    found: inference.Found


def learn_appearance(
    samples: Sequence[Samples], negatives: Sequence[Samples], settings: Settings
) -> Appearance:
    """Embedding and Gaussian process, and versions that have not seen a fold.

    Paper: section 3 and the embedding it takes from Vezhnevets & Ferrari, CVPR 2014.
    """
    samples = sorted(samples, key=lambda s: s.image_id)
    negatives = sorted(negatives, key=lambda s: s.image_id)
    windows = _training_windows(samples, negatives, settings)
    features, others = _features(samples), _features(negatives)
    embedding = class_embedding.fit(
        settings.kind, features, others, windows, settings.embedding
    )
    x, rho = embedding.inputs, windows.relations
    fitted = fitting.fit(x, rho, settings.gp, np.random.default_rng(settings.seed))
    blind = fitting.fit_without(x, rho, windows.folds, settings.gp, settings.seed)
    return Appearance(
        maps=embedding.maps,
        gp=fitted.gp,
        folds=_folds(samples, settings),
        fold_maps=embedding.fold_maps,
        fold_gps=tuple(
            blind.get(f, fitted.gp) for f in range(settings.embedding.folds)
        ),
        diagnostics={**embedding.diagnostics, "gp.bound": fitted.bound_after},
    )


def compete(
    view: View,
    truth: Float[np.ndarray, "T 4"],
    image_id: str,
    appearance: Appearance,
    eyes: Eyes,
    settings: Settings,
) -> Competition:
    """The windows of a training image as structured learning sees them.

    Paper: section 4 (hyper-features) and 4.2 (the loss, against the best candidate).
    Embedding and prediction are those that have not seen the image: in-sample means
    would make learning trust the Gaussian process too much.
    """
    fold = appearance.folds[image_id]
    maps, gp = appearance.fold_maps[fold], appearance.fold_gps[fold]
    columns = settings.learning.columns
    with_global = columns is None or min(columns) < R
    context = context_of(view, maps, gp, eyes)
    phi = hyperfeatures.of_all(context, settings.consistency, with_global)
    windows = view.windows.boxes
    truth = view.to_frame(truth)
    ious = boxes.ious(windows, truth).max(axis=1)
    best = int(ious.argmax())
    losses = 1 - boxes.ious(windows, windows[[best]])[:, 0]
    return Competition(phi, losses, ious, best, windows, truth)


def learn_context(
    competitions: Mapping[str, Competition], appearance: Appearance, settings: Settings
) -> tuple[ClassModel, learning.Learned]:
    """The weights alpha by structured learning, and what a score promises in IoU.

    Paper: section 4.2. The second value says how the learning went.
    """
    image_ids = sorted(competitions)
    learned = learning.learn(
        [competitions[i] for i in image_ids],
        np.array([appearance.folds[i] for i in image_ids]),
        settings.learning,
    )
    held_out = learned.out_of_fold
    ious = held_out.worth([competitions[i] for i in image_ids], settings.voting)
    promise = calibration.fit(held_out.scores, ious)
    model = ClassModel(
        appearance.maps,
        appearance.gp,
        learned.alpha,
        learned.scaling,
        promise,
        calibration.shortfall(promise, held_out.scores, ious),
        settings.consistency,
        settings.voting,
    )
    return model, learned


def localize(
    view: View, model: ClassModel, eyes: Eyes, context: Context | None = None
) -> Localization:
    """The window with the highest score among all of the picture, and its box.

    Paper: section 4.1, argmax_l <alpha, Phi(X, W, l)>, exactly. The box is that window,
    or what the windows around it vote for. The context of the picture under this model
    may be at hand already.
    """
    context = context or context_of(view, model.maps, model.gp, eyes)
    weights, offset = model.scaling.fold(model.alpha)
    found = inference.search(context, weights, consistency=model.consistency)
    score = found.score + offset
    windows = view.windows.boxes
    voters = voting.voters(windows, found.window, model.voting)
    scores = inference.scores(context, voters, weights, model.consistency)
    box = voting.elected(windows[found.window], windows[voters], scores, model.voting)
    expected = float(model.calibration.expected(np.array([score]))[0])
    return Localization(
        box=view.to_picture(box),
        score=score,
        expected_iou=expected,
        iou_lower=max(expected - model.shortfall, 0.0),
        mean=float(context.mean[0, found.window]),
        std=float(context.std[found.window]),
        contributions=model.alpha * model.scaling.apply(found.hyperfeatures),
        found=found,
    )


def fit(
    views: Mapping[str, View],
    truths: Mapping[str, Float[np.ndarray, "_ 4"]],
    negatives: Sequence[Samples],
    eyes: Eyes,
    settings: Settings,
) -> ClassModel:
    """Learns a class from the views and the true boxes of its images, by name."""
    samples = [
        sight.sample(views[i], truths[i], i, eyes, settings.sampling) for i in views
    ]
    appearance = learn_appearance(samples, negatives, settings)
    competitions = {
        i: compete(views[i], truths[i], i, appearance, eyes, settings) for i in views
    }
    model, _ = learn_context(competitions, appearance, settings)
    return model


def context_of(
    view: View, maps: Mapping[str, AffineMap], gp: RelationGP, eyes: Eyes
) -> Context:
    """The windows of a picture, their similarity and their predicted relations."""
    return context_among(view, sight.embed(view, maps, eyes), gp)


def context_among(view: View, x: Float[np.ndarray, "N Q"], gp: RelationGP) -> Context:
    """Likewise, from the inputs of the Gaussian process."""
    relations = gp.predict(x)
    return Context(view.windows.boxes, gp.similarity(x), relations.mean, relations.std)


def _features(samples: Sequence[Samples]) -> dict:
    return {
        name: class_embedding.stacked([s.features[name] for s in samples])
        for name in samples[0].features
    }


def _folds(samples: Sequence[Samples], settings: Settings) -> dict[str, int]:
    names = [s.image_id for s in samples]
    folds = sampling.balanced_folds(names, settings.embedding.folds, settings.seed)
    return dict(zip(names, folds.tolist(), strict=True))


def _training_windows(
    samples: Sequence[Samples], negatives: Sequence[Samples], settings: Settings
) -> presets.TrainingWindows:
    number = {s.image_id: k for k, s in enumerate((*negatives, *samples))}
    folds = _folds(samples, settings)
    sizes = [len(s.drawn) for s in samples]
    drawn = sampling.joined([s.drawn for s in samples])
    return presets.TrainingWindows(
        relations=np.concatenate([s.relations for s in samples], axis=1),
        images=np.repeat([number[s.image_id] for s in samples], sizes),
        folds=np.repeat([folds[s.image_id] for s in samples], sizes),
        exemplars=sampling.exemplars(drawn.strata, drawn.lots, settings.exemplars),
        negative_images=np.repeat(
            [number[s.image_id] for s in negatives], [len(s.drawn) for s in negatives]
        ),
    )
