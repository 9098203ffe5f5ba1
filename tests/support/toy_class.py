"""A toy class with enough pictures to learn baselines from and to judge them on."""

import functools

import toys

from belvedere.core import sight
from belvedere.core.assessment.comparison import Pictures
from belvedere.core.synthetic import scenes

LEARNED, JUDGED = 16, 14


@functools.cache
def scene(label: str, seed: int) -> scenes.Scene:
    return scenes.draw(label, seed)


@functools.cache
def view(label: str, seed: int) -> sight.View:
    return sight.look(scene(label, seed).image, toys.eyes())


def pictures(label: str, first: int, last: int) -> Pictures:
    seeds = range(first, last)
    return Pictures(
        {f"{label}/{seed}": view(label, seed) for seed in seeds},
        {f"{label}/{seed}": scene(label, seed).boxes for seed in seeds},
    )


def learned(label: str) -> Pictures:
    return pictures(label, 0, LEARNED)


def judged(label: str) -> Pictures:
    return pictures(label, LEARNED, LEARNED + JUDGED)


@functools.cache
def samples(label: str) -> tuple[sight.Samples, ...]:
    known = learned(label)
    return tuple(
        sight.sample(
            known.views[name],
            known.truths[name],
            name,
            toys.eyes(),
            toys.SETTINGS.sampling,
        )
        for name in known.views
    )


def negatives(label: str) -> tuple[sight.Samples, ...]:
    return tuple(toys.negatives(label))
