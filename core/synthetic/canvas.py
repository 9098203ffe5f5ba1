"""The canvas on which a scene is painted, and what stays visible of each object."""

import cv2
import numpy as np
from jaxtyping import Float, Float32, Int32, UInt8

from belvedere.core.synthetic import parts, shapes, textures

_SHIFT = 4  # contours are drawn to a sixteenth of a pixel
_FAR = 20000.0  # pixels; keeps fixed-point coordinates from overflowing

Span = tuple[slice, slice]
Alpha = UInt8[np.ndarray, "h w"]
Plane = Float32[np.ndarray, "h w"]
Row = Float32[np.ndarray, "1 w"]
Column = Float32[np.ndarray, "h 1"]


def _fixed_point(points: Float[np.ndarray, "K 2"]) -> Int32[np.ndarray, "K 2"]:
    scaled = np.maximum(np.minimum(points, _FAR), -_FAR) * (1 << _SHIFT)
    return np.rint(scaled).astype(np.int32)


class Canvas:
    """A picture in the making.

    `masks` holds, for each object added so far, how visible it is in each pixel (0 to
    255): parts painted later, other than its own, hide what they cover. `sizes` are the
    numbers of pixels in which each object would be seen if nothing hid it.
    """

    def __init__(self, width: int, height: int, light: tuple[float, float]) -> None:
        self.width, self.height = width, height
        self.pixels = np.full((height, width, 3), 128, np.uint8)
        self.masks: list[UInt8[np.ndarray, "H W"]] = []
        self.sizes: list[int] = []
        self._light = light

    def paint(self, thing: parts.Thing) -> None:
        """Paints surroundings and clutter over what is there."""
        for piece in thing:
            self._paint_part(piece)

    def add(self, thing: parts.Thing) -> None:
        """Paints an object and keeps the mask of its own parts."""
        mask = np.zeros((self.height, self.width), np.uint8)
        whole = mask.copy()
        self.masks.append(mask)
        for piece in thing:
            covered = self._paint_part(piece)
            if covered is not None and piece.own:
                span, alpha = covered
                mask[span] = np.maximum(mask[span], alpha)
                whole[span] = np.maximum(whole[span], alpha)
        self.sizes.append(int(np.count_nonzero(whole >= 128)))

    def dab(
        self, contours: Float[np.ndarray, "L K 2"], tones: Float[np.ndarray, "L 3"]
    ) -> None:
        """Many small flat convex shapes, such as leaves: quicker than parts."""
        fixed = _fixed_point(contours.reshape(-1, 2)).reshape(contours.shape)
        for points, tone in zip(fixed, tones.tolist(), strict=True):
            cv2.fillConvexPoly(self.pixels, points, tone, cv2.LINE_AA, _SHIFT)
            for mask in self.masks:
                cv2.fillConvexPoly(mask, points, 0, cv2.LINE_AA, _SHIFT)

    def shade(self, contour: shapes.Contour, strength: float, softness: float) -> None:
        """A cast shadow: darkens without hiding."""
        span = self._span(contour, 3 * softness)
        if span is None:
            return
        alpha = textures.blurred(_coverage(span, contour, (len(contour),)), softness)
        gain = 256 - (alpha.astype(np.uint16) * int(strength * 256) >> 8)
        region = self.pixels[span]
        region[...] = (region * gain[..., None]) >> 8

    def _paint_part(self, piece: parts.Part) -> tuple[Span, Alpha] | None:
        """Blends a part in; returns where and how much it covers, if it is in view."""
        points = piece.placed()
        span = self._span(points, 1)
        if span is None:
            return None
        alpha = _coverage(span, points, piece.lengths)
        self._blend(piece, points, span, alpha)
        for mask in self.masks:
            mask[span] = np.minimum(mask[span], 255 - alpha)
        return span, alpha

    def _span(self, points: shapes.Contour, margin: shapes.Real) -> Span | None:
        (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
        left, right = max(int(x0 - margin), 0), min(int(x1 + margin) + 1, self.width)
        top, bottom = max(int(y0 - margin), 0), min(int(y1 + margin) + 1, self.height)
        if left >= right or top >= bottom:
            return None
        return slice(top, bottom), slice(left, right)

    def _blend(
        self, piece: parts.Part, points: shapes.Contour, span: Span, alpha: Alpha
    ) -> None:
        """Colour planes, one after the other: numpy is slow on rows of three."""
        share, gain = self._surface(piece, points, span)
        weight = alpha.astype(np.float32) * np.float32(piece.paint.opacity / 255)
        ends = zip(piece.paint.colour, piece.paint.second, strict=True)
        for channel, (first, second) in enumerate(ends):
            plane = self.pixels[*span, channel]
            fresh = share * np.float32(second - first)
            fresh += np.float32(first)
            fresh *= gain
            np.minimum(fresh, np.float32(255), out=fresh)
            fresh -= plane
            fresh *= weight
            fresh += plane
            plane[...] = fresh + np.float32(0.5)

    def _surface(
        self, piece: parts.Part, points: shapes.Contour, span: Span
    ) -> tuple[Plane, Plane]:
        """For each pixel, the share of the second colour and the brightness."""
        paint = piece.paint
        ys = np.arange(span[0].start, span[0].stop, dtype=np.float32)[:, None]
        xs = np.arange(span[1].start, span[1].stop, dtype=np.float32)[None, :]
        size = (len(ys), xs.shape[1])
        grain = textures.noise(paint.octave, *size, paint.offset, paint.stretch)
        share = paint.pattern(*_coordinates(piece, xs, ys), grain)
        gain = self._relief(piece, points, xs, ys)
        gain *= 1 + np.float32(paint.grain) * grain
        return share, np.maximum(gain, 0, out=gain)

    def _relief(
        self, piece: parts.Part, points: shapes.Contour, xs: Row, ys: Column
    ) -> Plane:
        """Brightness of a rounded surface lit from the side: a sphere's, roughly."""
        low, high = points.min(axis=0), points.max(axis=0)
        x = (2 * xs - np.float32(low[0] + high[0])) / np.float32(high[0] - low[0] + 1)
        y = (2 * ys - np.float32(low[1] + high[1])) / np.float32(high[1] - low[1] + 1)
        relief, gloss = np.float32(piece.paint.relief), np.float32(piece.paint.gloss)
        lx, ly = np.float32(self._light[0]), np.float32(self._light[1])
        across, down = x * (lx - x / 2) * relief, y * (ly - y / 2) * relief
        gain = (1 + across) + down
        if gloss:
            gain += gloss * np.maximum((1 - (2 * x - lx) ** 2) - (2 * y - ly) ** 2, 0)
        return gain


def _coverage(span: Span, points: shapes.Contour, lengths: tuple[int, ...]) -> Alpha:
    """How much of each pixel of `span` the contours cover, 0 to 255."""
    rows, columns = span
    mask = np.zeros((rows.stop - rows.start, columns.stop - columns.start), np.uint8)
    fixed, start = _fixed_point(points - (columns.start, rows.start)), 0
    for length in lengths:
        contour = fixed[start : start + length]
        cv2.fillPoly(mask, [contour], 255, lineType=cv2.LINE_AA, shift=_SHIFT)
        start += length
    return mask


def _coordinates(piece: parts.Part, xs: Row, ys: Column) -> tuple[Plane, Plane]:
    """Pattern coordinates of the pixels: frame⁻¹, turned, in periods."""
    a, b, x0, c, d, y0 = piece.frame
    paint = piece.paint
    det = a * d - b * c
    # in design units: a pixel along x, a pixel along y, and where the pattern starts
    vectors = np.array([(d / det, -c / det), (-b / det, a / det), paint.origin])
    turned = shapes.turned(vectors, -paint.degrees) / paint.scale
    along_x, along_y, start = turned.astype(np.float32)
    dx, dy = xs - np.float32(x0), ys - np.float32(y0)
    u = (dx * along_x[0] - start[0]) + dy * along_y[0]
    v = (dx * along_x[1] - start[1]) + dy * along_y[1]
    return u, v
