"""What the things of the toy world are made of: a paint for each part."""

import dataclasses

import numpy as np
from jaxtyping import Float

from belvedere.core.synthetic import chance, colours, textures


@dataclasses.dataclass(frozen=True, eq=False)
class Paint:
    """How a part looks.

    `scale` is the period of the pattern in the units in which the part is designed,
    `degrees` the pattern's direction there; `grain` is how much noise of which `octave`
    mottles the part; `relief` is how round it looks under the scene's light.
    """

    colour: Float[np.ndarray, "3"]
    second: Float[np.ndarray, "3"]
    pattern: textures.Pattern = textures.plain
    scale: float = 1.0
    degrees: float = 0.0
    origin: tuple[float, float] = (0.0, 0.0)
    grain: float = 0.15
    octave: int = 0
    stretch: int = 1
    relief: float = 0.25
    gloss: float = 0.0
    opacity: float = 1.0
    offset: tuple[int, int] = (0, 0)

    def darker(self, gain: float) -> "Paint":
        """The same paint in the shade, as on the far side of a body."""
        return dataclasses.replace(
            self,
            colour=colours.scaled(self.colour, gain),
            second=colours.scaled(self.second, gain),
        )

    def aligned(self, degrees: float) -> "Paint":
        """The same paint with its pattern in another direction."""
        return dataclasses.replace(self, degrees=degrees)


def paint(
    rng: np.random.Generator, colour: Float[np.ndarray, "3"], **settings: object
) -> Paint:
    """A paint of one colour, unless `settings` say more, with noise of its own."""
    values: dict[str, object] = {
        "colour": colour,
        "second": colours.near(colour, rng, 25.0),
        "octave": int(rng.integers(0, 3)),
        "offset": tuple(int(k) for k in rng.integers(0, 4096, 2)),
    }
    return Paint(**(values | settings))  # type: ignore[arg-type]


def fur(rng: np.random.Generator, colour: Float[np.ndarray, "3"]) -> Paint:
    """Short hair: fine grain, round relief."""
    return paint(rng, colour, grain=0.22, relief=0.35, octave=int(rng.integers(0, 2)))


def metal(rng: np.random.Generator, colour: Float[np.ndarray, "3"]) -> Paint:
    """Lacquered or bare metal: smooth, with a highlight."""
    return paint(rng, colour, grain=0.05, octave=2, relief=0.3, gloss=0.35)


def rubber(rng: np.random.Generator) -> Paint:
    """Tyres, grips and soles: dark and dull."""
    shade = colours.near(np.full(3, rng.uniform(25, 60)), rng, 8.0)
    return paint(rng, shade, grain=0.25, octave=0, relief=0.15)


def glass(rng: np.random.Generator) -> Paint:
    """A window pane seen from outside: it mirrors sky over ground."""
    sky = colours.in_hue(rng, 0.52, 0.65)
    return paint(
        rng,
        colours.scaled(sky, 1.2),
        second=colours.scaled(sky, 0.35),
        pattern=textures.patches,
        octave=3,
        relief=0.2,
        grain=0.1,
    )


def skin(rng: np.random.Generator) -> Paint:
    """Human skin of any shade."""
    shade = colours.from_hsv(
        rng.uniform(0.04, 0.09), rng.uniform(0.25, 0.6), rng.uniform(0.3, 0.95)
    )
    return paint(rng, shade, grain=0.07, octave=1, relief=0.35)


_WEAVES = (
    textures.plain,
    textures.plain,
    textures.straight_stripes,
    textures.checks,
    textures.spots,
    textures.patches,
)


def cloth(rng: np.random.Generator, palette: colours.Palette, scale: float) -> Paint:
    """Plain, striped, chequered, dotted or blotched; `scale` is the usual period."""
    return paint(
        rng,
        palette.pick(rng),
        second=palette.pick(rng),
        pattern=chance.one_of(rng, _WEAVES),
        scale=scale * rng.uniform(0.6, 1.6),
        degrees=chance.one_of(rng, (0.0, 90.0, 45.0)),
        octave=2,
        relief=0.35,
    )


def wood(rng: np.random.Generator, scale: float, degrees: float = 0.0) -> Paint:
    """Boards `scale` wide with a grain along them."""
    tone = colours.in_hue(rng, 0.05, 0.12)
    return paint(
        rng,
        tone,
        second=colours.scaled(tone, 0.5),
        pattern=textures.planks,
        scale=scale,
        degrees=degrees,
        octave=1,
        stretch=6,
        relief=0.15,
        grain=0.2,
    )


def leaf(rng: np.random.Generator) -> Paint:
    """One leaf, or grass, or a caterpillar's supper."""
    return paint(rng, colours.leafy(rng), grain=0.2, relief=0.3)


def stone(rng: np.random.Generator, palette: colours.Palette) -> Paint:
    """Rock, plaster or earth."""
    tone = palette.shared(rng)
    return paint(
        rng,
        tone,
        second=colours.scaled(tone, rng.uniform(0.5, 1.4)),
        pattern=textures.patches,
        octave=int(rng.integers(1, 4)),
        grain=0.3,
        relief=0.35,
    )
