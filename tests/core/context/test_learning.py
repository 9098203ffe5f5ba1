import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import structured_svm as oracle

from belvedere.core.context import (
    hyperfeatures,
    inference,
    learning,
    problems,
    structured_svm,
)
from belvedere.core.context.scaling import Moments, Scaling
from belvedere.core.types import Competition, Context
from belvedere.core.windows import boxes, relations

TIGHT = structured_svm.Settings(eps=1e-10, tolerance=1e-12)


def draw(seed, n=12, windows=20, p=4, noise=1.0):
    """Competitions whose first two hyper-features tell of the overlap, +2 and -1."""
    rng = np.random.default_rng(seed)
    tell = np.array([2.0, -1.0, *np.zeros(p - 2)])
    drawn = []
    for size in rng.integers(1, windows + 1, n):
        ious = rng.uniform(size=size)
        best = int(ious.argmax())
        losses = np.minimum(1, abs(ious - ious[best]) * rng.uniform(1, 1.3, size))
        table = ious[:, None] * tell + noise * rng.normal(size=(size, p))
        table = table * np.geomspace(0.01, 10, p) + np.arange(p)
        drawn.append(Competition(table, losses, ious, best))
    return drawn


def fitted(tables):
    return Moments.of(tables).scaling()


def problem_of(competitions, scaling=None):
    """The problem of all images; hyper-features as they are without a scaling."""
    p = competitions[0].hyperfeatures.shape[1]
    tables = problems.Tables.of(competitions, np.arange(p))
    scaling = scaling or Scaling(np.zeros(p), np.ones(p))
    return problems.WindowProblem(tables, scaling, np.arange(len(competitions)))


def draw_context(seed, n=25):
    """Windows around an object at (30, 30, 70, 70), with a noisy prediction."""
    rng = np.random.default_rng(seed)
    centres, sides = rng.uniform(20, 80, (n, 2)), rng.uniform(10, 40, (n, 2))
    windows = np.concatenate([centres - sides / 2, centres + sides / 2], 1)
    rho = relations.to_object(windows, np.array([[30.0, 30, 70, 70]]))
    mean = np.clip(rho + 0.1 * rng.normal(size=rho.shape), 0, 1)
    gaps = np.square(mean[:, :, None] - mean[:, None, :]).sum(axis=0)
    kernel = np.exp(-gaps).astype(np.float32)
    return Context(windows, kernel, mean, rng.uniform(0.1, 0.3, n))


def compete(context, table):
    ious = relations.to_object(context.boxes, np.array([[30.0, 30, 70, 70]]))[0]
    best = int(ious.argmax())
    losses = 1 - boxes.ious(context.boxes, context.boxes[[best]])[:, 0]
    return Competition(table, losses, ious, best)


class TestScaling:
    @given(seed=st.integers(0, 10**6))
    @settings(max_examples=15, deadline=None)
    def test_equals_the_loop_over_windows(self, seed):
        tables = [c.hyperfeatures for c in draw(seed, n=4, windows=6)]
        scaling = fitted(tables)
        centre, deviation = oracle.scaling(tables)
        assert scaling.centre == pytest.approx(centre, rel=1e-9, abs=1e-12)
        if sum(map(len, tables)) > len(tables):
            assert scaling.scale == pytest.approx(deviation, rel=1e-9)

    def test_a_large_image_weighs_no_more_than_a_small_one(self):
        tables = [np.zeros((99, 1)), np.ones((1, 1))]
        scaling = fitted(tables)
        assert scaling.centre == pytest.approx([0.5])
        assert scaling.scale == pytest.approx([0.5])

    def test_a_constant_hyperfeature_keeps_its_scale(self):
        tables = [np.full((7, 2), 0.1) * [1, 3] for _ in range(3)]
        tables[0][0, 1] = 0
        scaling = fitted(tables)
        assert scaling.scale[0] == 1
        assert 0 < scaling.scale[1] < 1
        zero = fitted([np.zeros((3, 2))])
        assert (zero.scale == 1).all()

    def test_small_numbers_are_not_taken_for_constant(self):
        table = 1e-20 * np.array([[1.0], [-1.0]])
        assert fitted([table]).scale == pytest.approx([1e-20])

    def test_fold_gives_the_same_scores(self):
        rng = np.random.default_rng(0)
        scaling = Scaling(rng.normal(size=5), rng.uniform(0.1, 9, 5))
        alpha, phi = rng.normal(size=5), rng.normal(size=(8, 5))
        weights, offset = scaling.fold(alpha)
        assert phi @ weights + offset == pytest.approx(scaling.apply(phi) @ alpha)

    def test_refuses_a_scale_that_is_not_positive(self):
        with pytest.raises(ValueError, match="positive"):
            Scaling(np.zeros(2), np.array([1.0, 0.0]))


class TestProblems:
    @given(seed=st.integers(0, 10**6), scaled=st.booleans())
    @settings(max_examples=25, deadline=None)
    def test_most_violated_equals_looking_at_each_window(self, seed, scaled):
        competitions = draw(seed, n=5, windows=7)
        scaling = fitted([c.hyperfeatures for c in competitions])
        problem = problem_of(competitions, scaling if scaled else None)
        alpha = np.random.default_rng(seed).normal(size=4)
        answers, joints, losses = problem.most_violated(alpha)
        for i, c in enumerate(competitions):
            table = scaling.apply(c.hyperfeatures) if scaled else c.hyperfeatures
            wanted = oracle.most_violated((table, c.losses, c.best), alpha)
            assert answers[i] == wanted
            assert problem.truth(i) == pytest.approx(table[c.best])
            if wanted >= 0:
                assert joints[i] == pytest.approx(table[wanted])
                assert losses[i] == c.losses[wanted]

    def test_equal_windows_go_to_the_lowest_index_wherever_they_lie(self):
        rng = np.random.default_rng(3)
        window, alpha = rng.normal(size=11), rng.normal(size=11)
        for size in range(2, 40):
            c = Competition(
                np.tile(window, (size, 1)), np.ones(size), np.ones(size), size - 1
            )
            problem = problem_of([c, c])
            assert problem.most_violated(alpha).answers.tolist() == [0, 0]

    def test_the_best_candidate_does_not_compete(self):
        table = np.array([[0.0], [9.0], [1.0]])
        c = Competition(table, np.array([1.0, 0.0, 0.5]), np.ones(3), 1)
        problem = problem_of([c])
        assert problem.most_violated(np.array([5.0])).answers.tolist() == [2]
        assert problem.most_violated(np.array([-5.0])).answers.tolist() == [0]

    def test_a_single_window_has_no_competitor(self):
        c = Competition(np.ones((1, 2)), np.zeros(1), np.ones(1), 0)
        problem = problem_of([c])
        answers, _, losses = problem.most_violated(np.ones(2))
        assert (answers.tolist(), losses.tolist()) == ([-1], [-np.inf])
        assert structured_svm.solve(problem, 1.0).primal == 0

    @pytest.mark.parametrize("seed", range(4))
    def test_the_exact_search_finds_the_same_constraints(self, seed):
        contexts = [draw_context(10 * seed + k) for k in range(4)]
        tables = [hyperfeatures.of_all(context) for context in contexts]
        competitions = [compete(c, t) for c, t in zip(contexts, tables, strict=True)]
        alpha = np.random.default_rng(seed).normal(size=11)
        found = problem_of(competitions).most_violated(alpha)
        for i, (context, c) in enumerate(zip(contexts, competitions, strict=True)):
            extra = c.losses.copy()
            extra[c.best] = -np.inf
            searched = inference.search(context, alpha, extra, wanted=1)
            assert found.answers[i] == searched.window
            assert (found.joints[i] == searched.hyperfeatures).all()

    def test_the_competitions_are_left_as_they_were(self):
        (c,) = draw(1, n=1)
        before = c.losses.copy()
        problem_of([c])
        assert (c.losses == before).all()


def cross_validation_in_a_loop(competitions, folds, choice):
    """(table, selected, scores) by solving each fold and gamma from nothing."""
    table, chosen = [], {}
    for value in choice.gammas:
        selected = np.zeros(len(folds), int)
        scores = np.zeros(len(folds))
        for fold in set(folds.tolist()):
            inside = [c for c, f in zip(competitions, folds, strict=True) if f != fold]
            scaling = Scaling(*oracle.scaling([c.hyperfeatures for c in inside]))
            images = [
                (scaling.apply(c.hyperfeatures), c.losses, c.best) for c in inside
            ]
            alpha = oracle.all_constraints(images, value / len(inside))
            for i in np.flatnonzero(folds == fold):
                values = scaling.apply(competitions[i].hyperfeatures) @ alpha
                selected[i], scores[i] = values.argmax(), values.max()
        ious = [c.ious[s] for c, s in zip(competitions, selected, strict=True)]
        table.append((value, np.mean(ious)))
        chosen[value] = selected, scores, ious
    return table, chosen


class TestLearn:
    def test_equals_a_loop_over_folds_and_gammas(self):
        competitions, folds = draw(21), np.arange(12) % 3
        choice = learning.Settings(gammas=(0.1, 3.0, 100.0), solver=TIGHT)
        learned = learning.learn(competitions, folds, choice)
        table, chosen = cross_validation_in_a_loop(competitions, folds, choice)
        assert np.array(learned.table) == pytest.approx(np.array(table))
        best = max(table, key=lambda row: (row[1], -row[0]))[0]
        assert learned.gamma == pytest.approx(best / 12)
        for i, fold in enumerate(folds):  # with the gamma that the other folds choose
            elsewhere = [
                (np.mean([chosen[g][2][j] for j in np.flatnonzero(folds != fold)]), -g)
                for g in choice.gammas
            ]
            selected, scores, ious = chosen[-max(elsewhere)[1]]
            assert learned.out_of_fold.selected[i] == selected[i]
            assert learned.out_of_fold.scores[i] == pytest.approx(scores[i], abs=1e-5)
            assert learned.out_of_fold.ious[i] == pytest.approx(ious[i])
        centre, scale = oracle.scaling([c.hyperfeatures for c in competitions])
        images = [
            ((c.hyperfeatures - centre) / scale, c.losses, c.best) for c in competitions
        ]
        wanted = oracle.all_constraints(images, learned.gamma)
        assert learned.alpha == pytest.approx(wanted, abs=1e-5)
        assert learned.converged

    def test_recovers_a_separable_world(self):
        competitions = draw(31, n=20, windows=30, noise=0.001)
        learned = learning.learn(competitions, np.arange(20) % 5)
        assert learned.alpha[0] > 0 > learned.alpha[1]
        weights, offset = learned.scaling.fold(learned.alpha)
        for i, c in enumerate(competitions):
            scores = c.hyperfeatures @ weights + offset
            assert c.ious[scores.argmax()] > c.ious.max() - 0.01
            assert learned.out_of_fold.ious[i] > c.ious.max() - 0.01

    def test_scale_and_shift_of_hyperfeatures_change_nothing(self):
        plain = draw(41)
        moved = [
            Competition(c.hyperfeatures * [1, 50, 0.3, 7] + 5, c.losses, c.ious, c.best)
            for c in plain
        ]
        choice = learning.Settings(solver=TIGHT)
        one, other = (
            learning.learn(c, np.arange(12) % 4, choice) for c in (plain, moved)
        )
        assert other.alpha == pytest.approx(one.alpha, abs=1e-5)
        assert other.gamma == one.gamma
        assert (other.out_of_fold.selected == one.out_of_fold.selected).all()

    def test_a_subset_of_hyperfeatures(self):
        competitions, folds = draw(51), np.arange(12) % 3
        choice = learning.Settings(columns=(3, 1), solver=TIGHT)
        learned = learning.learn(competitions, folds, choice)
        alone = learning.learn(
            [
                Competition(c.hyperfeatures[:, [3, 1]], c.losses, c.ious, c.best)
                for c in competitions
            ],
            folds,
            learning.Settings(solver=TIGHT),
        )
        assert learned.alpha[[3, 1]] == pytest.approx(alone.alpha, abs=1e-9)
        assert (learned.alpha[[0, 2]] == 0).all()
        assert learned.scaling.centre.shape == (4,)
        assert learned.table == alone.table
        assert learned.out_of_fold.scores == pytest.approx(alone.out_of_fold.scores)

    @pytest.mark.parametrize("n", [2, 3])
    def test_few_images(self, n):
        learned = learning.learn(draw(61, n=n), np.arange(n))
        assert learned.converged
        assert np.isfinite(learned.alpha).all()
        assert learned.out_of_fold.scores.shape == (n,)

    def test_equal_windows_give_no_weights_the_smallest_gamma_and_the_first_window(
        self,
    ):
        c = Competition(np.ones((5, 3)), np.linspace(0, 1, 5), np.linspace(1, 0, 5), 0)
        learned = learning.learn([c] * 4, np.arange(4) % 2)
        assert learned.alpha == pytest.approx(np.zeros(3), abs=1e-9)
        assert learned.gamma == pytest.approx(0.1 / 4)
        assert (learned.out_of_fold.selected == 0).all()
        assert learned.out_of_fold.scores == pytest.approx(np.zeros(4), abs=1e-9)

    def test_zero_losses_give_no_weights(self):
        competitions = [
            Competition(c.hyperfeatures, 0 * c.losses, c.ious, c.best) for c in draw(71)
        ]
        learned = learning.learn(competitions, np.arange(12) % 2)
        assert (learned.alpha == 0).all()
        assert learned.converged

    def test_too_few_passes_are_said_even_of_the_cross_validation(self):
        hurried = learning.Settings(solver=structured_svm.Settings(passes=2))
        assert not learning.learn(draw(81), np.arange(12) % 2, hurried).converged

    @pytest.mark.parametrize("folds", [[0], [0, 0], [0, 1, 2]])
    def test_refuses_folds_that_leave_nothing_out(self, folds):
        with pytest.raises(ValueError, match="fold"):
            learning.learn(draw(1, n=min(len(folds), 2)), np.array(folds))

    def test_refuses_what_cannot_be_learned_from(self):
        with pytest.raises(ValueError, match="at least one"):
            learning.learn([], np.zeros(0, np.int64))
        mixed = [*draw(1, n=1, p=3), *draw(2, n=1, p=4)]
        with pytest.raises(ValueError, match="one number"):
            learning.learn(mixed, np.arange(2))
        for columns in ((4,), (-1,), ()):
            with pytest.raises(ValueError, match="columns"):
                learning.learn(
                    draw(1), np.arange(12), learning.Settings(columns=columns)
                )

    @pytest.mark.parametrize("gammas", [(), (1.0, 1.0), (0.0, 1.0), (2.0, 1.0)])
    def test_refuses_senseless_gammas(self, gammas):
        with pytest.raises(ValueError, match="increasing"):
            learning.Settings(gammas=gammas)

    def test_refuses_repeated_columns(self):
        with pytest.raises(ValueError, match="distinct"):
            learning.Settings(columns=(1, 1))


def test_learned_weights_do_better_than_their_parts():
    competitions = draw(91, n=30, windows=40, noise=0.3)
    folds = np.arange(30) % 5

    def worth(columns):
        choice = learning.Settings(gammas=(10.0,), columns=columns)
        return learning.learn(competitions, folds, choice).out_of_fold.ious.mean()

    assert worth(None) > max(worth((column,)) for column in range(4))
