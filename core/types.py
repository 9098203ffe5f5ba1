"""The values that flow between the rooms.

Letters, used in every shape: N windows of an image, Q inputs of the Gaussian process,
M inducing points, R = 3 relations, P = 11 hyper-features.
Shapes and finiteness are checked once, where a value is made.
"""

import dataclasses
import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Float32, UInt8

RELATIONS = ("overlap", "part", "container")
HYPERFEATURES = (
    *(f"global_{r}" for r in RELATIONS),
    *(f"local_{r}" for r in RELATIONS),
    *(f"consistency_{r}" for r in RELATIONS),
    "mean_overlap",
    "std",
)
R = len(RELATIONS)
P = len(HYPERFEATURES)
LARGEST_SEED = 2**32 - 1  # that all generators of random numbers take


def require_shape(name: str, array: np.ndarray, *shape: int | None) -> None:
    """Raises ValueError unless `array` is finite and of `shape` (None = any length)."""
    fits = array.ndim == len(shape) and all(
        wanted is None or wanted == got
        for wanted, got in zip(shape, array.shape, strict=True)
    )
    if not fits:
        raise ValueError(f"{name} has shape {array.shape}, wanted {shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds NaN or infinite values")


def require_range(
    settings: object,
    names: Sequence[str],
    least: int,
    most: int | float = math.inf,
) -> None:
    """Raises ValueError unless these fields lie in a range; of a tuple, all items."""
    wanted = f"{least} or more" if most == math.inf else f"{least} to {most}"
    _require(settings, names, lambda item: least <= item <= most, wanted)


def require_positive(settings: object, names: Sequence[str]) -> None:
    """Raises ValueError unless these fields are finite and above 0; of tuples, all."""
    _require(settings, names, lambda item: 0 < item < math.inf, "above 0")


def _require(
    settings: object, names: Sequence[str], fits: Callable[[float], bool], wanted: str
) -> None:
    for name in names:
        value = getattr(settings, name)
        items = value if isinstance(value, tuple) else (value,)
        if not items or not all(map(fits, items)):
            raise ValueError(f"{name} is {value}, wanted {wanted}")


@dataclasses.dataclass(frozen=True, eq=False)
class Image:
    """An upright picture."""

    pixels: UInt8[np.ndarray, "H W 3"]

    def __post_init__(self) -> None:
        if self.pixels.dtype != np.uint8:
            raise ValueError(f"pixels are {self.pixels.dtype}, wanted uint8")
        require_shape("pixels", self.pixels, None, None, 3)
        if 0 in self.pixels.shape:
            raise ValueError(f"an image of shape {self.pixels.shape} has no pixels")

    @property
    def height(self) -> int:
        return int(self.pixels.shape[0])

    @property
    def width(self) -> int:
        return int(self.pixels.shape[1])


@dataclasses.dataclass(frozen=True, eq=False)
class Windows:
    """Candidate windows of one image: half-open boxes (x0, y0, x1, y1) in pixels."""

    boxes: Float[np.ndarray, "N 4"]
    width: int
    height: int

    def __post_init__(self) -> None:
        if self.boxes.dtype != np.float64:
            raise ValueError(f"boxes are {self.boxes.dtype}, wanted float64")
        require_shape("boxes", self.boxes, None, 4)
        if (self.boxes[:, :2] >= self.boxes[:, 2:]).any():
            raise ValueError("a window has no area")

    def __len__(self) -> int:
        return len(self.boxes)


@dataclasses.dataclass(frozen=True, eq=False)
class Prediction:
    """What the Gaussian process says of each window: relation to the unseen object."""

    mean: Float[np.ndarray, "R N"]
    std: Float[np.ndarray, "N"]

    def __post_init__(self) -> None:
        require_shape("mean", self.mean, R, None)
        require_shape("std", self.std, self.mean.shape[1])
        if (self.std < 0).any():
            raise ValueError("a standard deviation is negative")


@dataclasses.dataclass(frozen=True, eq=False)
class Context:
    """All that the score of a window depends on: X, W, M and Sigma of the paper.

    The appearance similarity K is symmetric, in [0, 1], and float32 by definition: the
    exact score is the float64 sum over these float32 numbers.
    """

    boxes: Float[np.ndarray, "N 4"]
    kernel: Float32[np.ndarray, "N N"]
    mean: Float[np.ndarray, "R N"]
    std: Float[np.ndarray, "N"]

    def __post_init__(self) -> None:
        n = len(self.boxes)
        if n == 0:
            raise ValueError("an image without windows cannot be searched")
        require_shape("boxes", self.boxes, n, 4)
        require_shape("kernel", self.kernel, n, n)
        require_shape("mean", self.mean, R, n)
        require_shape("std", self.std, n)
        if self.kernel.dtype != np.float32:
            raise ValueError(f"kernel is {self.kernel.dtype}, wanted float32")
        if (self.boxes[:, :2] >= self.boxes[:, 2:]).any():
            raise ValueError("a window has no area")

    def __len__(self) -> int:
        return len(self.boxes)


@dataclasses.dataclass(frozen=True, eq=False)
class Competition:
    """The windows of a training image as structured learning sees them.

    `losses` are 1 - IoU with the best candidate, number `best`; `ious` are those with
    the true box, for judging what a choice is worth; `boxes` and `truth`, which only a
    vote on the chosen window asks for, are the windows and the true boxes.
    """

    hyperfeatures: Float[np.ndarray, "N P"]
    losses: Float[np.ndarray, "N"]
    ious: Float[np.ndarray, "N"]
    best: int
    boxes: Float[np.ndarray, "N 4"] | None = None
    truth: Float[np.ndarray, "T 4"] | None = None

    def __post_init__(self) -> None:
        n = len(self.hyperfeatures)
        require_shape("hyperfeatures", self.hyperfeatures, n, None)
        require_shape("losses", self.losses, n)
        require_shape("ious", self.ious, n)
        if self.boxes is not None:
            require_shape("boxes", self.boxes, n, 4)
        if not 0 <= self.best < n:
            raise ValueError(f"best candidate {self.best} is not one of {n} windows")
