"""Slow twins of the structured SVM: every constraint written out, image by image.

An image is (joints [N, P], losses [N], right: int); all other answers are wrong.
"""

import cvxpy
import numpy as np

_TIGHT = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}


def hinges(image, alpha):
    """loss(y) + <alpha, joint(y) - joint(right)> of each wrong answer y."""
    joints, losses, right = image
    return [
        losses[y] + alpha @ (joints[y] - joints[right])
        for y in range(len(joints))
        if y != right
    ]


def slacks(images, alpha):
    return [max([0.0, *hinges(image, alpha)]) for image in images]


def primal(images, alpha, gamma):
    return alpha @ alpha / 2 + gamma * sum(slacks(images, alpha))


def most_violated(image, alpha):
    """The first wrong answer of largest loss + score, by looking at each."""
    joints, losses, right = image
    winner, largest = -1, -np.inf
    for y in range(len(joints)):
        value = losses[y] + sum(
            a * phi for a, phi in zip(alpha, joints[y], strict=True)
        )
        if y != right and value > largest:
            winner, largest = y, value
    return winner


def all_constraints(images, gamma):
    """alpha of the plain QP over all constraints."""
    alpha = cvxpy.Variable(images[0][0].shape[1])
    xi = cvxpy.Variable(len(images), nonneg=True)
    rows = [
        hinge <= xi[i]
        for i, image in enumerate(images)
        for hinge in hinges(image, alpha)
    ]
    objective = cvxpy.sum_squares(alpha) / 2 + gamma * cvxpy.sum(xi)
    cvxpy.Problem(cvxpy.Minimize(objective), rows).solve(cvxpy.CLARABEL, **_TIGHT)
    return alpha.value


def one_slack(images, c, eps=1e-10):
    """alpha of min 1/2 ||alpha||² + c · xi, one slack for all images together.

    A constraint averages one answer of each image, the right one included.
    """
    planes, values = [], []
    solution = np.zeros(images[0][0].shape[1])
    for _ in range(500):
        plane, value = _average_of_most_violated(images, solution)
        slack = max(
            [0.0, *(v + solution @ p for p, v in zip(planes, values, strict=True))]
        )
        if value + solution @ plane <= slack + eps:
            return solution
        planes.append(plane)
        values.append(value)
        alpha, xi = cvxpy.Variable(len(solution)), cvxpy.Variable(nonneg=True)
        rows = np.array(planes) @ alpha + np.array(values) <= xi
        objective = cvxpy.Minimize(cvxpy.sum_squares(alpha) / 2 + c * xi)
        cvxpy.Problem(objective, [rows]).solve(cvxpy.CLARABEL, **_TIGHT)
        solution = alpha.value
    raise AssertionError("the cutting planes of the oracle did not close")


def _average_of_most_violated(images, alpha):
    plane, value = np.zeros(len(alpha)), 0.0
    for joints, losses, right in images:
        y = most_violated((joints, losses, right), alpha)
        hinge = losses[y] + alpha @ (joints[y] - joints[right]) if y >= 0 else 0
        if hinge > 0:
            plane += (joints[y] - joints[right]) / len(images)
            value += losses[y] / len(images)
    return plane, value


def scaling(tables):
    """Mean and deviation of a window drawn from a drawn image."""
    p = tables[0].shape[1]
    centre, variance = np.zeros(p), np.zeros(p)
    for table in tables:
        for row in table:
            centre += row / len(table) / len(tables)
    for table in tables:
        for row in table:
            variance += (row - centre) ** 2 / len(table) / len(tables)
    return centre, np.sqrt(variance)
