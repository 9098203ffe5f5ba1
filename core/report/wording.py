"""How the report says numbers and names.

Names come from data and may hold anything: what would reorder, break or hide the text
around it is spelled out, long names are shortened in view and whole in their title.
"""

import math
import numbers
import re
from collections.abc import Sequence
from typing import NamedTuple

DASH = "–"  # noqa: RUF001
MINUS = "−"  # noqa: RUF001

METHODS = {
    "full": "full method",
    "ae_gp": "AE-GP",
    "gp_mean": "GP mean",
    "gp_sure": "GP mean less deviation",
    "mkl_svm": "MKL-SVM",
    "uva": "UVA",
    "location": "location and scale",
    "centre_prior": "centre prior",
    "constant_box": "constant box",
    "whole_image": "whole image",
    "ceiling": "ceiling",
    "cell_ridge": "cell ridge",
    "cam": "CAM",
}
_LAST = ("ceiling",)  # not a rival: it knows the truth
_IN_VIEW = 56  # characters
_WHOLE = 8192

# Control characters, lone surrogates, line separators, bidirectional controls.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\ufeff\ufffe\uffff"
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


class Name(NamedTuple):
    """A name from data: as it stands in view, and whole (empty if that is the same)."""

    view: str
    whole: str


def plain(text: object) -> str:
    """Text with every character that is not seen spelled out.

    >>> plain("a" + chr(10) + "b" + chr(0x202E))
    'a\\\\nb\\\\u202e'
    """
    return _UNSEEN.sub(
        lambda found: found[0].encode("unicode_escape").decode("ascii"), str(text)
    )


def name(text: object, most: int = _IN_VIEW) -> Name:
    """A name fit for the page; of a long one the beginning and the end are in view."""
    whole = plain(text)
    if len(whole) <= most:
        return Name(whole, "")
    tail = most // 3
    return Name(f"{whole[: most - tail - 1]}…{whole[-tail:]}", whole[:_WHOLE])


def method(key: str) -> Name:
    """A method as the page calls it.

    >>> method("without_context").view
    'without context'
    """
    return name(METHODS.get(key, key.replace("_", " ")))


def ordered(methods: Sequence[str]) -> list[str]:
    """Methods in the order of METHODS, unknown ones after them, the ceiling last."""
    known = [m for m in METHODS if m not in _LAST]
    places = {m: number for number, m in enumerate(known)}
    places |= {m: len(known) + 1 for m in _LAST}
    return sorted(methods, key=lambda m: (places.get(m, len(known)), m))


def known(value: object) -> float | None:
    """`value` if it is a finite number, else None."""
    if not isinstance(value, numbers.Real) or not math.isfinite(value):
        return None
    return float(value)


def number(value: object, digits: int = 2) -> str:
    """0.71, or a dash for what is not a finite number."""
    if (given := known(value)) is None:
        return DASH
    return _unsigned_zero(f"{given:,.{digits}f}")


def signed(value: object, digits: int = 3) -> str:
    """+0.018, with a sign unless it rounds to zero."""
    if (given := known(value)) is None:
        return DASH
    return _unsigned_zero(f"{given:+.{digits}f}")


def percent(value: object, digits: int = 0) -> str:
    """71%."""
    if (given := known(value)) is None:
        return DASH
    return _unsigned_zero(f"{given * 100:.{digits}f}") + "%"


def _unsigned_zero(text: str) -> str:
    if not text.strip("+-0.,"):
        return text.lstrip("+-")
    return text.replace("-", MINUS)


def count(value: object, of: str = "") -> str:
    """1,234, with `of` and its plural if given ("picture", "class")."""
    text = number(value, 0)
    if not of:
        return text
    plural = of + ("es" if of.endswith(("s", "x")) else "s")
    return f"{text} {of if value == 1 else plural}"


def ends(interval: object) -> tuple[float, float, float] | None:
    """(low, mid, high) of an interval, None unless all are finite numbers."""
    if not isinstance(interval, Sequence) or len(interval) != 3:
        return None
    low, mid, high = (known(end) for end in interval)
    if low is None or mid is None or high is None:
        return None
    return low, mid, high


def verdict(interval: object) -> str:
    """What an interval [low, mid, high] of a difference says."""
    if (found := ends(interval)) is None:
        return "not known"
    low, _, high = found
    if low > 0:
        return "better"
    return "worse" if high < 0 else "no difference shown"


def classes(methods: Sequence[str]) -> dict[str, str]:
    """Classes of the style sheet, by method; unknown ones share four in turn."""
    unknown = [m for m in ordered(methods) if m not in METHODS]
    numbered = {m: f"m-x{number % 4}" for number, m in enumerate(unknown)}
    return {m: numbered.get(m, f"m-{m}") for m in ordered(methods)}
