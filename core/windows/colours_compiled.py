# mypy: ignore-errors
"""The pixel loops of the colour conversions; see colours.py.

Planes are flat: one row of numbers for each of R, G and B. Every value but LAB is
exact: a quotient of small integers, cut off after a float32 division that cannot reach
the next integer, because the quotient is at least 1/1020 away from it.
"""

import numba
import numpy as np

_BINS = 4096
_FIRST_GUESS = np.cbrt((np.arange(_BINS + 1) + 0.5) / _BINS)


@numba.njit(inline="always")
def _lab_function(t):
    """f(t): the cube root, with a straight line near black.

    Two steps of Halley's rule from a tabled guess leave a relative error below 1e-15
    and, unlike a library's cube root, are the same on every machine.
    """
    y = _FIRST_GUESS[np.int32(t * _BINS)]
    cube = y * y * y
    y *= (cube + 2.0 * t) / (2.0 * cube + t)
    cube = y * y * y
    y *= (cube + 2.0 * t) / (2.0 * cube + t)
    return y if t > 0.008856 else 7.787 * t + 0.137931


@numba.njit(cache=True, nogil=True, error_model="numpy")
def lab(planes, out):
    """CIE LAB of linear RGB, each channel rounded to 8 bits."""
    red, green, blue = planes[0], planes[1], planes[2]
    lightness, a, b = out[0], out[1], out[2]
    for i in range(red.size):
        r, g, s = np.int32(red[i]), np.int32(green[i]), np.int32(blue[i])
        x = np.int32(412453 * r + 357580 * g + 180423 * s) / (255.0 * 950456)
        y = np.int32(212671 * r + 715160 * g + 72169 * s) / (255.0 * 1000000)
        z = np.int32(19334 * r + 119193 * g + 950227 * s) / (255.0 * 1088754)
        fx, fy, fz = _lab_function(x), _lab_function(y), _lab_function(z)
        light = 116.0 * fy - 16.0 if y > 0.008856 else 903.3 * y
        lightness[i] = np.uint8(np.int32(2.55 * light + 0.5))
        a[i] = np.uint8(np.int32(500.0 * (fx - fy) + 128.5))
        b[i] = np.uint8(np.int32(200.0 * (fy - fz) + 128.5))


@numba.njit(inline="always")
def _stretch(values, out):
    """Maps the smallest value to 0 and the largest to 255, a constant to 0."""
    low, high = np.int32(values[0]), np.int32(values[0])
    for i in range(values.size):
        low, high = min(low, np.int32(values[i])), max(high, np.int32(values[i]))
    span = np.float32(high - low if high > low else 1)
    for i in range(values.size):
        out[i] = np.uint8(np.int32(np.float32(255 * (values[i] - low)) / span))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def opponent(planes, out):
    """R - G, R + G - 2B and R + G + B, each stretched to 0..255 and cut off.

    The factors 1/√2, 1/√6 and 1/√3 of the definition cancel in the stretching.
    """
    red, green, blue = planes[0], planes[1], planes[2]
    values = np.empty(red.size, np.int32)
    for i in range(red.size):
        values[i] = np.int32(red[i]) - np.int32(green[i])
    _stretch(values, out[0])
    for i in range(red.size):
        values[i] = np.int32(red[i]) + np.int32(green[i]) - 2 * np.int32(blue[i])
    _stretch(values, out[1])
    for i in range(red.size):
        values[i] = np.int32(red[i]) + np.int32(green[i]) + np.int32(blue[i])
    _stretch(values, out[2])


@numba.njit(cache=True, nogil=True, error_model="numpy")
def rg(planes, out):
    """255 R/S, 255 G/S and S/3 with S = R + G + B, cut off; black gives 0."""
    red, green, blue = planes[0], planes[1], planes[2]
    first, second, third = out[0], out[1], out[2]
    for i in range(red.size):
        r, g = np.int32(red[i]), np.int32(green[i])
        total = r + g + np.int32(blue[i])
        divisor = np.float32(total if total > 0 else 1)
        first[i] = np.uint8(np.int32(np.float32(255 * r) / divisor))
        second[i] = np.uint8(np.int32(np.float32(255 * g) / divisor))
        third[i] = np.uint8(np.int32(np.float32(total) / np.float32(3)))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def hsv(planes, out):
    """Hexcone hue (360° = 255), saturation and value, rounded; grey has hue 0."""
    red, green, blue = planes[0], planes[1], planes[2]
    hue, saturation, value = out[0], out[1], out[2]
    for i in range(red.size):
        r, g, b = np.int32(red[i]), np.int32(green[i]), np.int32(blue[i])
        high, low = max(r, g, b), min(r, g, b)
        span = high - low
        # turn = hue in degrees / 60 · span
        turn = g - b + (6 * span if g < b else 0)
        turn = (
            turn if high == r else (b - r + 2 * span if high == g else r - g + 4 * span)
        )
        divisor = np.float32(2 * span if span > 0 else 1)
        hue[i] = np.uint8(np.int32(np.float32(85 * turn + span) / divisor))
        divisor = np.float32(2 * high if high > 0 else 1)
        saturation[i] = np.uint8(np.int32(np.float32(510 * span + high) / divisor))
        value[i] = np.uint8(high)
