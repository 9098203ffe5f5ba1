"""One configuration: every number that a result depends on, by a dotted name.

Values come from a preset, then a file, then single settings, each over the one before.
A key that does not exist is an error that names the nearest one. The configuration as
it was used is stored with each output, and its digest is part of every row.
"""

import dataclasses
import difflib
import enum
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from belvedere.core import types
from belvedere.core.appearance import registry
from belvedere.core.class_model import Settings
from belvedere.core.windows.randomized_prim import PrimSettings

PRESETS: dict[str, dict[str, Any]] = {
    "paper": {"method.kind": "paper", "method.voting.least_iou": 1.0},
    "classic": {"method.kind": "classic"},
}
DEFAULT_PRESET = "classic"
_ORDERED = (  # of each pair the first may not be below the second
    ("method.sampling.high_from", "method.sampling.middle_from"),
    ("most_images", "least_images"),
)


@dataclasses.dataclass(frozen=True)
class Sight:
    """How pictures are looked at: all that the frozen eyes depend on.

    Attributes:
      side: longest side of the frame in which the work is done, in pixels.
      windows: candidate windows of a picture.
      k: scales of the superpixels; (100, 200) adds coarser segmentations.
      features: sizes of the features.
      word_images: training pictures that the visual words are learned from.
      words_per_image: descriptors of each type that such a picture gives.
      negative_images: pictures that lend windows for exemplars to stand out from.
      negatives_per_image: windows that each of them lends.
    """

    side: int = 500
    windows: int = 1000
    k: tuple[float, ...] = (100.0,)
    features: registry.Settings = dataclasses.field(default_factory=registry.Settings)
    word_images: int = 400
    words_per_image: int = 150
    negative_images: int = 200
    negatives_per_image: int = 10

    def __post_init__(self) -> None:
        types.require_range(self, ("side", "windows"), 1)
        types.require_range(self, ("word_images", "words_per_image"), 1)
        types.require_range(self, ("negative_images", "negatives_per_image"), 1)
        types.require_positive(self, ("k",))

    def prim(self) -> PrimSettings:
        return PrimSettings(windows=self.windows, k=self.k)


@dataclasses.dataclass(frozen=True)
class Annotating:
    """All that a row depends on besides picture, class and model.

    Attributes:
      accept: a box is accepted from this expected IoU on.
    """

    accept: float = 0.5

    def __post_init__(self) -> None:
        types.require_range(self, ("accept",), 0, 1)


@dataclasses.dataclass(frozen=True)
class Configuration:
    """Everything.

    Attributes:
      sight: how pictures are looked at.
      method: how a class is learned.
      least_images: a class with fewer boxed pictures is refused.
      most_images: of a class that are learned from, chosen by hash.
      least_ceiling: a class is refused if its best windows have a lower mean IoU.
      accept: a box is accepted from this expected IoU on.
    """

    sight: Sight = dataclasses.field(default_factory=Sight)
    method: Settings = dataclasses.field(default_factory=Settings)
    least_images: int = 10
    most_images: int = 500
    least_ceiling: float = 0.5
    accept: float = 0.5

    def __post_init__(self) -> None:
        types.require_range(self, ("least_images", "most_images"), 1)
        types.require_range(self, ("least_ceiling", "accept"), 0, 1)

    @property
    def annotating(self) -> Annotating:
        return Annotating(self.accept)


def resolve(
    preset: str = DEFAULT_PRESET,
    file: Mapping[str, Any] | None = None,
    settings: Iterable[str] = (),
) -> Configuration:
    """The configuration of a preset, changed by a file and by `key=value` settings.

    >>> resolve("paper", {"sight": {"windows": 500}}, ["method.gp.inducing=200"]).accept
    0.5

    Raises:
      ValueError: a preset, key or value that does not exist, with the nearest name;
        or two values that contradict each other.
    """
    if preset not in PRESETS:
        raise ValueError(f"no preset {preset!r}{nearest(preset, PRESETS)}")
    changes = dict(PRESETS[preset])
    changes |= _flattened(file or {})
    changes |= dict(_parsed(text) for text in settings)
    chosen = changed(Configuration(), changes)
    _require_order(chosen)
    return chosen


def _require_order(chosen: Configuration) -> None:
    """Looked at when all is changed: one change after the other may cross for once."""
    values = flat(chosen)
    for high, low in _ORDERED:
        if values[high] < values[low]:
            raise ValueError(
                f"{high} = {values[high]!r} is below {low} = {values[low]!r}: change "
                "one of them"
            )


def resolve_annotating(
    file: Mapping[str, Any] | None = None, settings: Iterable[str] = ()
) -> Annotating:
    """What annotating depends on; ValueError for settings that only learning takes."""
    changes = _flattened(file or {}) | dict(_parsed(text) for text in settings)
    chosen = changed(Configuration(), changes).annotating
    for key in changes:
        if key not in flat(chosen):
            raise ValueError(
                f"{key} belongs to `belvedere train`, a model keeps what it was "
                f"learned with: annotating takes {', '.join(flat(chosen))} alone"
            )
    return chosen


def changed(configuration: Configuration, changes: Mapping[str, Any]) -> Configuration:
    """The configuration with the values of dotted keys replaced."""
    known = flat(configuration)
    for key, value in changes.items():
        if key not in known:
            raise ValueError(f"no setting {key!r}{nearest(key, known)}")
        try:
            configuration = _replaced(configuration, key.split("."), value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{key} = {value!r}: {error}") from error
    return configuration


def flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """Every setting by its dotted key, in JSON values."""
    if not dataclasses.is_dataclass(value):
        plain = value.value if isinstance(value, enum.Enum) else value
        return {prefix: list(plain) if isinstance(plain, tuple) else plain}
    result: dict[str, Any] = {}
    for field in dataclasses.fields(value):
        key = f"{prefix}.{field.name}" if prefix else field.name
        result |= flat(getattr(value, field.name), key)
    return result


def digest(value: Any) -> str:
    """Sixteen hexadecimal digits that stand for settings, in a dataclass or flat."""
    settings = value if isinstance(value, dict) else flat(value)
    text = json.dumps(settings, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def learning(configuration: Configuration) -> dict[str, Any]:
    """The settings that a model depends on, by dotted key: all but `Annotating`."""
    return {
        key: value
        for key, value in flat(configuration).items()
        if key not in flat(configuration.annotating)
    }


def _replaced(value: Any, path: list[str], new: Any) -> Any:
    if path:
        child = _replaced(getattr(value, path[0]), path[1:], new)
        return dataclasses.replace(value, **{path[0]: child})
    return _converted(value, new)


def _converted(old: Any, new: Any) -> Any:
    """`new` in the type of the value it replaces, or an error."""
    if isinstance(old, enum.Enum):
        return type(old)(new)
    if isinstance(old, tuple) and old and isinstance(new, list | tuple):
        return tuple(_converted(old[0], item) for item in new)
    if old is None:
        return tuple(new) if isinstance(new, list) else new
    if isinstance(old, float) and isinstance(new, int) and not isinstance(new, bool):
        return float(new)
    if type(new) is not type(old):
        raise TypeError(f"wanted a {type(old).__name__}")
    if isinstance(new, float) and not math.isfinite(new):
        raise ValueError("wanted a finite number")
    return new


def _flattened(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in tree.items():
        key = f"{prefix}.{name}" if prefix else name
        result |= _flattened(value, key) if isinstance(value, Mapping) else {key: value}
    return result


def _parsed(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"{text!r} is no setting, wanted key=value")
    try:
        return key.strip(), json.loads(value)
    except json.JSONDecodeError:
        return key.strip(), value.strip()


def nearest(name: str, known: Iterable[str]) -> str:
    """A question after the known name that is most like this one."""
    known = list(known)
    close = difflib.get_close_matches(name, known, 1, 0.0)
    last = [k for k in known if k.rpartition(".")[2] == name.rpartition(".")[2]]
    return f": did you mean {(last or close)[0]!r}?" if known else ""
