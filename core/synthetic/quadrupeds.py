"""Four-legged animals of the toy world: the zebra, and its double, the hound.

They look to the right; the scene mirrors and turns them.
"""

import dataclasses

import numpy as np

from belvedere.core.synthetic import chance, colours, materials, parts, shapes, textures


@dataclasses.dataclass(frozen=True)
class _Build:
    """Proportions of a four-legged animal whose trunk is 1 long."""

    leg: float
    neck: float
    head: float
    girth: float
    ear: float


def _leg(
    rng: np.random.Generator, x: float, build: _Build, swing: float, hind: bool
) -> shapes.Contour:
    bend = rng.uniform(5, 30) * (1 if hind else -1)
    headings = [90 + swing - bend / 2, 90 + swing + bend, 90 + swing * 0.5]
    lengths = [build.leg * share for share in (0.42, 0.4, 0.18)]
    joints = shapes.path((x, 0.1), headings, lengths)
    return shapes.limb(joints, np.array([0.085, 0.05, 0.032, 0.038]))


def _legs(
    rng: np.random.Generator, build: _Build, stride: float
) -> list[shapes.Contour]:
    """Far hind, far fore, near hind, near fore."""
    places = ((0.14, True), (0.84, False), (0.1, True), (0.8, False))
    return [
        _leg(rng, x, build, rng.uniform(-stride, stride), hind) for x, hind in places
    ]


def _trunk(girth: float) -> shapes.Contour:
    outline = shapes.curve(
        (-0.08, 0.1), (0.02, -0.85), (0.25, -1.0), (0.5, -0.85), (0.78, -1.1),
        (0.97, -0.7), (0.98, 0.45), (0.8, 1.0), (0.5, 1.15), (0.2, 0.95), (0.0, 0.7),
    )  # fmt: skip
    return outline * np.array([1.0, girth])


def _face(
    rng: np.random.Generator, build: _Build, coat: materials.Paint, nod: float
) -> parts.Thing:
    """Around the origin, looking along `nod` (degrees); the head tells the animal."""
    line = shapes.path((0.0, 0.0), [nod, nod + 4], [build.head * 0.5] * 2)
    skull = shapes.limb(line, np.array([0.085, 0.065, 0.05]))
    ear = shapes.bar((0.0, 0.0), (build.ear, 0.0), 0.08, 0.024)
    ears = [shapes.turned(ear, nod + lean) for lean in (-115, -140)]
    eye = shapes.turned(shapes.ellipse(0.25 * build.head, -0.025, 0.014), nod)
    nose = shapes.ellipse(0, 0, 0.05, 0.045) + line[-1]
    return [
        parts.part(coat.aligned(nod), *ears, skull),
        parts.part(materials.rubber(rng), nose, eye),
    ]


def _front(
    rng: np.random.Generator, build: _Build, coat: materials.Paint, pitch: float
) -> parts.Thing:
    """Mane and neck rising at `pitch` (degrees), and the head."""
    line = shapes.path((0.84, -0.02), [pitch, pitch + 6], [build.neck * 0.6] * 2)
    crest = line + shapes.turned(np.array([[0.0, -0.085]]), pitch)
    neck = shapes.limb(line, np.array([0.15, 0.11, 0.08]))
    face = _face(rng, build, coat, pitch + rng.uniform(60, 95))
    x, y = line[-1].tolist()
    return [
        parts.part(materials.rubber(rng), shapes.limb(crest, 0.035)),
        parts.part(coat.aligned(pitch), neck),
        *parts.moved(face, parts.affine(shift=(x, y))),
    ]


def _tail(rng: np.random.Generator, coat: materials.Paint) -> parts.Thing:
    line = shapes.path((-0.03, -0.05), [115, 95], [0.2, rng.uniform(0.1, 0.25)])
    tuft = shapes.limb(line[1:], np.array([0.025, 0.015]))
    return [
        parts.part(coat, shapes.limb(line, np.array([0.03, 0.02, 0.03]))),
        parts.part(materials.rubber(rng), tuft),
    ]


def _quadruped(
    rng: np.random.Generator, build: _Build, coat: materials.Paint
) -> parts.Thing:
    """Standing, walking or running, with its head up, level or down to graze."""
    legs = _legs(rng, build, chance.one_of(rng, (8.0, 20.0, 38.0)))
    pitch = chance.one_of(rng, (-60.0, -60.0, -35.0, -35.0, 35.0))
    across = coat.aligned(90.0)
    return [
        parts.part(across.darker(0.7), *legs[:2]),
        *_tail(rng, coat),
        parts.part(across, *legs[2:]),
        parts.part(coat, _trunk(build.girth)),
        *_front(rng, build, coat, pitch + rng.uniform(-12, 12)),
    ]


def zebra(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    """Uniform stripes from rump to head: windows on it look alike, its ends do not."""
    pale = colours.from_hsv(
        rng.uniform(0.05, 0.15), rng.uniform(0, 0.3), rng.uniform(0.6, 0.95)
    )
    dark = colours.from_hsv(
        rng.uniform(0.0, 0.12), rng.uniform(0.1, 0.5), rng.uniform(0.08, 0.3)
    )
    coat = dataclasses.replace(
        materials.fur(rng, pale),
        second=dark,
        pattern=textures.stripes,
        scale=rng.uniform(0.07, 0.13),
        octave=3,
    )
    build = _Build(
        leg=rng.uniform(0.5, 0.66),
        neck=rng.uniform(0.36, 0.5),
        head=rng.uniform(0.26, 0.32),
        girth=rng.uniform(0.2, 0.26),
        ear=0.12,
    )
    return _quadruped(rng, build, coat)


def hound(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    """The zebra's double, plain or blotched: only ever a distractor."""
    coat = materials.fur(rng, colours.in_hue(rng, 0.04, 0.13))
    if chance.coin(rng):
        coat = dataclasses.replace(
            coat, second=palette.shared(rng), pattern=textures.patches, octave=3
        )
    build = _Build(
        leg=rng.uniform(0.35, 0.6),
        neck=rng.uniform(0.18, 0.3),
        head=rng.uniform(0.24, 0.34),
        girth=rng.uniform(0.14, 0.22),
        ear=0.16,
    )
    return _quadruped(rng, build, coat)
