"""The learner knows of answers, not of windows; so do these tests."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import structured_svm as oracle

from belvedere.core.context import structured_svm

TIGHT = structured_svm.Settings(eps=1e-10, tolerance=1e-12)


@dataclasses.dataclass
class Written:
    """A problem whose answers are written out."""

    images: list

    def __len__(self):
        return len(self.images)

    def truth(self, i):
        joints, _, right = self.images[i]
        return joints[right]

    def most_violated(self, alpha):
        each = []
        for i, (joints, losses, _) in enumerate(self.images):
            y = oracle.most_violated(self.images[i], alpha)
            each.append(
                (y, joints[y], losses[y]) if y >= 0 else (y, self.truth(i), -np.inf)
            )
        answers, joints, losses = zip(*each, strict=True)
        return structured_svm.Violations(
            np.array(answers), np.stack(joints), np.array(losses)
        )


def draw(seed, n=6, answers=8, p=3, signal=1.0):
    """Images of 1 to `answers` answers; joint features fall with the loss."""
    rng = np.random.default_rng(seed)
    images = []
    for size in rng.integers(1, answers + 1, n):
        losses, right = rng.uniform(size=size), int(rng.integers(size))
        losses[right] = 0
        joints = rng.normal(size=(size, p)) - signal * losses[:, None]
        images.append((joints, losses, right))
    return images


cases = given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 6),
    p=st.integers(1, 5),
    gamma=st.sampled_from([1e-3, 0.1, 1.0, 30.0]),
    signal=st.sampled_from([0.0, 1.0, 5.0]),
)


@cases
@settings(max_examples=40, deadline=None)
def test_primal_is_true_never_below_dual_and_the_gap_keeps_its_promise(
    seed, n, p, gamma, signal
):
    images = draw(seed, n=n, p=p, signal=signal)
    solution = structured_svm.solve(Written(images), gamma)
    assert solution.converged
    assert solution.primal == pytest.approx(
        oracle.primal(images, solution.alpha, gamma), rel=1e-12
    )
    assert solution.slacks == pytest.approx(oracle.slacks(images, solution.alpha))
    rounding = 1e-12 * (1 + solution.primal)
    assert solution.gap >= -rounding
    assert solution.gap <= n * gamma * 1e-3 + 1e-6 * (1 + solution.primal)


@cases
@settings(max_examples=15, deadline=None)
def test_equals_the_plain_program_over_all_constraints(seed, n, p, gamma, signal):
    images = draw(seed, n=n, p=p, signal=signal)
    if all(len(losses) == 1 for _, losses, _ in images):
        images = draw(seed + 1, n=2, p=p, signal=signal)
    solution = structured_svm.solve(Written(images), gamma, TIGHT)
    wanted = oracle.all_constraints(images, gamma)
    assert solution.converged
    assert solution.alpha == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("gamma", [0.01, 0.3, 10.0])
@pytest.mark.parametrize("signal", [0.0, 2.0])
def test_equals_the_one_slack_formulation(gamma, signal):
    images = draw(7, n=8, signal=signal)
    n_slack = structured_svm.solve(Written(images), gamma, TIGHT)
    one_slack = oracle.one_slack(images, len(images) * gamma)
    assert n_slack.primal == pytest.approx(
        oracle.primal(images, one_slack, gamma), rel=1e-7
    )
    assert n_slack.alpha == pytest.approx(one_slack, abs=1e-4)


def test_active_constraints_hold_alpha_in_place():
    images = draw(3, n=10)
    solution = structured_svm.solve(Written(images), 0.5, TIGHT)
    pull, spent = np.zeros(3), np.zeros(len(images))
    for i, y, multiplier in solution.active:
        joints, losses, right = images[i]
        pull += multiplier * (joints[y] - joints[right])
        spent[i] += multiplier
        hinge = losses[y] + solution.alpha @ (joints[y] - joints[right])
        assert hinge == pytest.approx(solution.slacks[i], abs=1e-6)
    assert solution.alpha == pytest.approx(-pull, abs=1e-5)
    assert (spent <= 0.5 + 1e-9).all()
    assert spent[solution.slacks > 1e-6] == pytest.approx(0.5, abs=1e-5)


def test_objective_grows_and_slacks_fall_with_gamma():
    images = draw(5, n=10)
    gammas = [0.01, 0.1, 1.0, 10.0]
    path = structured_svm.solve_path(Written(images), gammas)
    slacks = [solution.slacks.sum() for solution in path]
    assert all(a >= b - 0.02 for a, b in itertools.pairwise(slacks))
    assert slacks[0] > slacks[-1] + 0.1
    norms = [solution.alpha @ solution.alpha for solution in path]
    assert norms[0] < norms[-1]


def test_a_path_gives_the_solutions_of_its_steps():
    problem = Written(draw(11, n=8))
    gammas = [0.01, 0.1, 1.0, 10.0]
    for gamma, step in zip(
        gammas, structured_svm.solve_path(problem, gammas, TIGHT), strict=True
    ):
        alone = structured_svm.solve(problem, gamma, TIGHT)
        assert step.gamma == gamma
        assert step.converged
        assert step.alpha == pytest.approx(alone.alpha, abs=1e-5)


def test_a_path_saves_passes():
    problem = Written(draw(17, n=20, answers=40))
    gammas = [0.1, 0.2, 0.4]
    path = structured_svm.solve_path(problem, gammas)
    alone = [structured_svm.solve(problem, gamma) for gamma in gammas]
    for step, wanted in zip(path[1:], alone[1:], strict=True):
        assert step.passes < wanted.passes


def test_no_loss_no_weights():
    images = [(joints, 0 * losses, y) for joints, losses, y in draw(2)]
    solution = structured_svm.solve(Written(images), 1.0)
    assert (solution.alpha == 0).all()
    assert solution.primal == solution.dual == 0
    assert solution.active == ()
    assert solution.converged


def test_images_without_a_wrong_answer_teach_nothing():
    lonely = (np.ones((1, 3)), np.zeros(1), 0)
    images = draw(4)
    alone = structured_svm.solve(Written([lonely]), 1.0)
    assert (alone.alpha == 0).all()
    assert alone.primal == 0
    both = structured_svm.solve(Written([lonely, *images]), 1.0, TIGHT)
    without = structured_svm.solve(Written(images), 1.0, TIGHT)
    assert both.slacks[0] == 0
    assert both.alpha == pytest.approx(without.alpha, abs=1e-5)


def test_equal_answers_cost_their_loss():
    losses = np.array([0, 0.25, 1.0])
    images = [(np.ones((3, 2)), losses, 0)] * 4
    solution = structured_svm.solve(Written(images), 0.5)
    assert solution.alpha == pytest.approx(np.zeros(2), abs=1e-9)
    assert solution.slacks == pytest.approx(np.ones(4))
    assert solution.primal == pytest.approx(2)
    assert solution.gap == pytest.approx(0, abs=1e-6)


def test_too_few_passes_are_said():
    problem = Written(draw(9, n=20, answers=40))
    stopped = structured_svm.solve(problem, 10.0, structured_svm.Settings(passes=2))
    done = structured_svm.solve(problem, 10.0)
    assert not stopped.converged
    assert stopped.passes == 2
    assert stopped.gap > done.gap
    assert stopped.primal >= stopped.dual
    assert stopped.dual <= done.primal
    assert done.converged


def test_a_violated_constraint_is_not_hidden_by_a_gap_within_the_promise():
    lonely = (np.ones((1, 3)), np.zeros(1), 0)
    problem = Written([*draw(9), *[lonely] * 500])
    hurried = structured_svm.Settings(eps=0.05, passes=1)
    solution = structured_svm.solve(problem, 1.0, hurried)
    assert solution.gap < len(problem) * 0.05
    assert not solution.converged


def test_order_of_images_does_not_matter():
    images = draw(13, n=9)
    order = np.random.default_rng(0).permutation(9)
    plain = structured_svm.solve(Written(images), 1.0, TIGHT)
    shuffled = structured_svm.solve(Written([images[i] for i in order]), 1.0, TIGHT)
    assert shuffled.alpha == pytest.approx(plain.alpha, abs=1e-6)
    assert shuffled.slacks == pytest.approx(plain.slacks[order], abs=1e-6)


def test_the_problem_is_asked_once_a_pass():
    class Counted(Written):
        calls = 0

        def most_violated(self, alpha):
            self.calls += 1
            return super().most_violated(alpha)

    counted = Counted(draw(15))
    assert structured_svm.solve(counted, 1.0).passes == counted.calls > 1


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.inf, np.nan])
def test_refuses_a_senseless_gamma(gamma):
    with pytest.raises(ValueError, match="gamma"):
        structured_svm.solve(Written(draw(0)), gamma)


def test_refuses_no_images_and_senseless_settings():
    with pytest.raises(ValueError, match="at least one"):
        structured_svm.solve(Written([]), 1.0)
    for fault in ({"eps": 0.0}, {"passes": 0}, {"tolerance": -1.0}):
        with pytest.raises(ValueError, match="positive"):
            structured_svm.Settings(**fault)
