# mypy: ignore-errors
"""Loops of the intersection kernel: Gram matrices, tables, lookups."""

import numba
import numpy as np

from belvedere.core.appearance import bag_of_words_compiled

SMALL = 32  # counts below are looked up


@numba.njit(cache=True, nogil=True)
def kernel(ends, columns, values, column_ends, rows, by_column, width):
    """sum over bins of min(g, h) for all pairs of two sets of histograms.

    Args:
      ends, columns, values: the first set, m histograms, in compressed sparse rows.
      column_ends, rows, by_column: the second set in compressed sparse columns.
      width: how many the second set has.
    """
    result = np.zeros((len(ends) - 1, width), np.float64)
    for n in range(len(ends) - 1):
        sums = result[n]
        for p in range(ends[n], ends[n + 1]):
            low, high = column_ends[columns[p]], column_ends[columns[p] + 1]
            here, others = rows[low:high], by_column[low:high]
            for q in range(high - low):
                sums[here[q]] += min(values[p], others[q])
    return result


@numba.njit(cache=True, nogil=True)
def gram(ends, columns, values, column_ends, rows, by_column):
    """`kernel` of a set with itself, each pair computed once.

    A histogram that has been done leaves the heads of its columns behind.
    """
    result = np.zeros((len(ends) - 1, len(ends) - 1), np.float64)
    heads = column_ends[:-1].copy()
    for n in range(len(ends) - 1):
        sums = result[n]
        for p in range(ends[n], ends[n + 1]):
            low, high = heads[columns[p]], column_ends[columns[p] + 1]
            here, others = rows[low:high], by_column[low:high]
            for q in range(high - low):
                sums[here[q]] += min(values[p], others[q])
            heads[columns[p]] += 1
        result[n:, n] = sums[n:]
    return result


@numba.njit(cache=True, nogil=True)
def tables(ends, columns, values, weights, knots, length):
    """For each bin, sum over histograms n of weights[n] · min(knot, h_n), float32.

    Args:
      ends, columns, values: the histograms in compressed sparse rows.
      weights: float64, one for each.
      knots: float64 [K], rising from 0.
      length: number of bins.
    """
    result = np.zeros((length, len(knots)), np.float64)
    for n in range(len(ends) - 1):
        for p in range(ends[n], ends[n + 1]):
            sums = result[columns[p]]
            for k in range(len(knots)):
                sums[k] += weights[n] * min(knots[k], values[p])
    return result.astype(np.float32)


@numba.njit(cache=True, nogil=True)
def place(share, log_share, knots, rate):
    """The number of the knot below `share`, and how far it is to the next, in parts.

    The first knot is 0, the others rise by a factor of exp(1 / rate), the last is 1.
    """
    last = len(knots) - 1
    k = min(max(int(last + log_share * rate), 0), last - 1)
    return k, np.float32((share - knots[k]) / (knots[k + 1] - knots[k]))


@numba.njit(cache=True, nogil=True)
def outputs(ends, columns, values, table, knots, rate):
    """The sum over bins for each histogram, given in compressed sparse rows."""
    result = np.zeros(len(ends) - 1)
    for n in range(len(result)):
        for p in range(ends[n], ends[n + 1]):
            k, part = place(values[p], np.log(values[p]), knots, rate)
            row = table[columns[p]]
            result[n] += row[k] + part * (row[k + 1] - row[k])
    return result


@numba.njit(cache=True, nogil=True)
def add_outputs(
    words, across, down, vocabulary, first, shares, table, knots, rate, out
):
    """out[n] += the sum over the bins of window n, without its histogram.

    Places between the knots are worked out once for each small count of a window.

    Args:
      words, vocabulary, first: as in `bag_of_words_compiled.histogram`.
      across, down: int64 [N, G + 1].
      shares: float64 [N], what one descriptor is worth in the window's histogram.
      table: float32 [D, K].
      knots: float64 [K].
      rate: as in `place`.
      out: float64 [N].
    """
    counts = np.zeros(vocabulary, np.int32)
    room = words.size + 1
    rows, roots = np.empty(room, np.uint32), np.empty(room, np.float32)
    logs = np.log(np.maximum(np.arange(room), 1))
    small = min(room, SMALL)
    knot, parts = np.empty(small, np.int64), np.empty(small, np.float32)
    for n in range(len(out)):
        size = bag_of_words_compiled.histogram(
            words, across[n], down[n], vocabulary, first, counts, rows, roots, 0
        )
        share, log_share = shares[n], np.log(shares[n])
        for count in range(small):
            knot[count], parts[count] = place(
                count * share, logs[count] + log_share, knots, rate
            )
        total = 0.0
        for t in range(size):
            count = int(roots[t] * roots[t] + np.float32(0.5))
            if count < small:
                k, part = knot[count], parts[count]
            else:
                k, part = place(count * share, logs[count] + log_share, knots, rate)
            row = table[rows[t]]
            total += row[k] + part * (row[k + 1] - row[k])
        out[n] += total
