# mypy: ignore-errors
"""Counting of words in the cells of windows, and the projection of the counts."""

import numba
import numpy as np

from belvedere.core.appearance import projection_compiled


@numba.njit(cache=True, nogil=True)
def histogram(words, across, down, vocabulary, first, counts, rows, values, size):
    """Appends the square roots of a window's word counts to `rows` and `values`.

    Args:
      words: uint16 [., .], the map of words.
      across, down: int64 [G + 1], where the cells of the window begin, and the end.
      vocabulary: number of words.
      first: row of the first word of the first cell.
      counts: int32 [vocabulary], all zero; zero again afterwards.
      rows: uint32, row of each word found, cell by cell, in order of appearance.
      values: float32, square root of its count.
      size: number of entries so far.

    Returns:
      The new number of entries.
    """
    for i in range(len(down) - 1):
        for j in range(len(across) - 1):
            here, roots = rows[size:], values[size:]
            found = 0
            for y in range(down[i], down[i + 1]):
                for word in words[y, across[j] : across[j + 1]]:
                    seen = counts[word]
                    here[found] = word  # overwritten by the next one unless new
                    found += seen == 0
                    counts[word] = seen + 1
            for t in range(found):
                word = here[t]
                roots[t] = np.sqrt(np.float32(counts[word]))
                counts[word] = 0
                here[t] = first + word
            size += found
            first += vocabulary
    return size


@numba.njit(cache=True, nogil=True)
def add_projections(words, across, down, vocabulary, first, slabs, out):
    """out[n] += sum over cells and words of sqrt(count) · slabs[:, row of the word].

    Args:
      words, vocabulary, first: as in `histogram`.
      across, down: int64 [N, G + 1].
      slabs: float32 [S, D, LANES], the matrix.
      out: float32 [N, S, LANES].
    """
    counts = np.zeros(vocabulary, np.int32)
    room = words.size + 1 + projection_compiled.ROWS
    rows, values = np.empty(room, np.uint32), np.empty(room, np.float32)
    for n in range(len(out)):
        size = histogram(
            words, across[n], down[n], vocabulary, first, counts, rows, values, 0
        )
        projection_compiled.add_rows(rows, values, size, slabs, out[n])


@numba.njit(cache=True, nogil=True)
def collect(words, across, down, vocabulary, first, room):
    """The histograms of windows as the three arrays of a CSR matrix, unsorted.

    Args:
      words, vocabulary, first: as in `histogram`.
      across, down: int64 [N, G + 1].
      room: number of descriptors in all windows together.
    """
    counts = np.zeros(vocabulary, np.int32)
    rows, values = np.empty(room + 1, np.uint32), np.empty(room + 1, np.float32)
    ends = np.zeros(len(across) + 1, np.int64)
    for n in range(len(across)):
        ends[n + 1] = histogram(
            words, across[n], down[n], vocabulary, first, counts, rows, values, ends[n]
        )
    return values[: ends[-1]], rows[: ends[-1]].astype(np.int64), ends
