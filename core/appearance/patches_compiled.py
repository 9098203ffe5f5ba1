# mypy: ignore-errors
"""Descriptors of patches of 4x4 spatial bins, put together from a lattice."""

import numba
import numpy as np

BINS = 4  # spatial bins of a patch, a side


@numba.njit(cache=True, nogil=True, error_model="numpy")
def describe(nodes, rows, columns, step, apart, clip, length, flat, out):
    """Normalised descriptors, rounded to integers.

    Args:
      nodes: float32 [., ., C], a lattice.
      rows, columns: of the grid of descriptors.
      step: from one descriptor to the next, in nodes.
      apart: from one spatial bin to the next, in nodes.
      clip: largest share of the length that one number may have.
      length: of a descriptor.
      flat: a patch whose raw numbers are no longer than this becomes zero.
      out: int16 [rows·columns, 16·C], filled.
    """
    channels = nodes.shape[2]
    lines = nodes.reshape(len(nodes), -1)
    patch = np.empty(out.shape[1], np.float32)
    for i in range(rows):
        for j in range(columns):
            _gather(lines, i * step, j * step * channels, apart, channels, patch)
            _normalise(patch, clip, length, flat, out[i * columns + j])


@numba.njit(cache=True, nogil=True)
def _gather(lines, i, begin, apart, channels, patch):
    """Copies 4x4 nodes, whole rows of them where neighbours are one apart."""
    together = BINS if apart == 1 else 1
    run = together * channels
    start = 0
    for a in range(BINS):
        line = lines[i + a * apart]
        for b in range(0, BINS, together):
            source = line[begin + b * apart * channels :]
            target = patch[start : start + run]
            for c in range(run):
                target[c] = source[c]
            start += run


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc"})
def _normalise(patch, clip, length, flat, out):
    """L2, clipped, L2 again, times `length`; the sums may be taken in any order."""
    total = np.float32(0)
    for d in range(len(patch)):
        total += patch[d] * patch[d]
    raw = np.sqrt(total)
    if raw <= flat:
        out[:] = 0
        return
    ceiling = np.float32(clip * raw)
    total = np.float32(0)
    for d in range(len(patch)):
        patch[d] = max(min(patch[d], ceiling), -ceiling)
        total += patch[d] * patch[d]
    factor = np.float32(length / np.sqrt(total))
    for d in range(len(patch)):
        out[d] = np.int16(np.floor(patch[d] * factor + np.float32(0.5)))
