"""SVMs with the histogram intersection kernel, and their fast evaluation.

k(g, h) = sum_i min(g_i, h_i), so the output of an SVM is a sum over bins,

  f(h) = sum_i f_i(h_i) + b,   f_i(t) = sum_s beta_s min(t, s_i)   (support vectors s).

Learning is exact, on the Gram matrix. Each f_i is then read at 33 knots (0, and from
0.0001 to 1 by equal factors) and taken as straight between them, which it is where no
support vector lies (Maji, Berg & Malik 2008, whom Uijlings et al. follow): a window
costs one lookup for each word in it, however many support vectors there are. On
photographs the outputs differ from the exact ones by 3% of their deviation.

Paper: section 5, "UVA"; Uijlings et al. 2013.
"""

import dataclasses
import math

import numpy as np
import scipy.sparse
from jaxtyping import Bool, Float, Float32, Int64

from belvedere.core.appearance.bag_of_words import BagOfWords, WordMap
from belvedere.core.assessment import intersection_compiled

_FACTORS = 31
_LEAST = 1e-4
_RATE = _FACTORS / -math.log(_LEAST)
KNOTS = np.concatenate([[0.0], _LEAST ** np.linspace(1, 0, _FACTORS + 1)])


@dataclasses.dataclass(frozen=True, eq=False)
class IntersectionSvm:
    """The functions of the bins at `KNOTS`, and b."""

    table: Float32[np.ndarray, "D 33"]
    offset: float

    def outputs(self, histograms: scipy.sparse.csr_matrix) -> Float[np.ndarray, "n"]:
        """Of histograms whose square roots are given, as `read` gives them."""
        rows = _parts(shares(histograms))
        return self.offset + intersection_compiled.outputs(
            *rows, self.table, KNOTS, _RATE
        )

    def of_windows(
        self, kind: BagOfWords, description: WordMap, boxes: Float[np.ndarray, "N 4"]
    ) -> Float[np.ndarray, "N"]:
        """outputs(kind.read(description, boxes)), fast."""
        if len(self.table) != kind.length:
            raise ValueError(f"a table of {len(self.table)} bins for {kind.length}")
        grid, vocabulary = description.grid, len(kind.codebook)
        across, down = grid.bounds(boxes, 1)
        sizes = (across[:, 1] - across[:, 0]) * (down[:, 1] - down[:, 0])
        each = 1 / (np.maximum(sizes, 1) * len(kind.recipe.levels))
        result = np.full(len(boxes), self.offset)
        first = 0
        for cells in kind.recipe.levels:
            across, down = grid.bounds(boxes, cells)
            intersection_compiled.add_outputs(
                description.words,
                across,
                down,
                vocabulary,
                first,
                each,
                self.table,
                KNOTS,
                _RATE,
                result,
            )
            first += vocabulary * cells**2
        return result


def fit(
    histograms: scipy.sparse.csr_matrix,
    gram: Float[np.ndarray, "n n"],
    positive: Bool[np.ndarray, "n"],
    rows: Int64[np.ndarray, "r"],
    cost: float,
) -> IntersectionSvm:
    """The SVM learned from the windows `rows`, positives and negatives weighing alike.

    Args:
      histograms: square roots of n histograms.
      gram: of their kernel, as `gram` gives it.
      positive: which of them are positives.
      rows: which to learn from; both kinds must be among them.
      cost: C of the hinge loss.
    """
    labels = positive[rows]
    if not labels.any() or labels.all():
        raise ValueError(f"{labels.sum()} of {len(labels)} windows are positives")
    from sklearn.svm import SVC

    machine = SVC(C=cost, kernel="precomputed", class_weight="balanced", tol=0.01)
    machine.fit(gram[np.ix_(rows, rows)], labels)
    support = shares(histograms[rows[machine.support_]])
    table = intersection_compiled.tables(
        *_parts(support), machine.dual_coef_[0], KNOTS, support.shape[1]
    )
    return IntersectionSvm(table, float(machine.intercept_[0]))


def kernel(
    a: scipy.sparse.csr_matrix, b: scipy.sparse.csr_matrix
) -> Float[np.ndarray, "n m"]:
    """sum_i min(a_i, b_i) for all pairs of histograms whose square roots are given."""
    rows, columns = _parts(shares(a)), _parts(shares(b).tocsc())
    return intersection_compiled.kernel(*rows, *columns, b.shape[0])


def gram(histograms: scipy.sparse.csr_matrix) -> Float[np.ndarray, "n n"]:
    """kernel(histograms, histograms), in half the time."""
    rows = shares(histograms)
    return intersection_compiled.gram(*_parts(rows), *_parts(rows.tocsc()))


def shares(roots: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    """Histograms from their square roots, float64, without empty bins."""
    plain = roots.astype(np.float64).power(2).tocsr()
    plain.eliminate_zeros()
    return plain


def _parts(
    compressed: scipy.sparse.csr_matrix | scipy.sparse.csc_matrix,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return compressed.indptr, compressed.indices, compressed.data
