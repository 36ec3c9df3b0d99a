"""The oracles of several classes against each other, against differences, and against the binary ones."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import binning, deepboost, growth, losses, multiclass, multiclass_boosters, multiclass_convex, splits
from reference import multiclass_boost as boost
from reference import multiclass_growth as trees
from reference.data import smooth, smooth_classes, tiny, tiny_classes
from reference.multiclass import ABSTAIN, NAMES, Objective, Sums, make_objective, vertex
from reference.multiclass_audit import audit

PHI = {name: losses.LOSSES[name] for name in ("exponential", "logistic", "smooth_hinge")}
PAIRS = [(name, loss) for name in NAMES for loss in PHI if name != "compsum" or loss == "logistic"]
ALL = pytest.mark.parametrize(("name", "loss"), PAIRS)


def somewhere(seed: int, m: int = 9, n_classes: int = 4, scale: float = 1.0) -> tuple[Sums, np.ndarray, np.ndarray]:
    """Scores, labels and weights at random; the margins of MaxSum are free numbers too."""
    rng = np.random.default_rng(seed)
    at = Sums(scale * rng.normal(size=(m, n_classes)), scale * rng.normal(size=m))
    return at, rng.integers(0, n_classes, m), rng.random(m) + 0.2


@ALL
def test_edges_are_derivatives(name: str, loss: str) -> None:
    """Along any hypothesis F' = -(S / m) edge, by differences; where labels do not tie Max is smooth as well."""
    for seed in range(5):
        at, y, w = somewhere(seed)
        objective = make_objective(name, PHI[loss], y, w, 4)
        h = np.random.default_rng(seed + 99).random((9, 4))
        slope = losses.numeric_derivative(
            lambda eta, o=objective, a=at, d=h: np.array([o.value(a.moved(float(e), d, o.y)) for e in eta]),
            np.zeros(1),
            1e-5,
        )
        edge = objective.edge(at, h)
        assert edge == pytest.approx(objective.edge(at, h, shrinking=True))
        assert -objective.normaliser(at) / objective.m * edge == pytest.approx(slope[0], rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("loss", sorted(PHI))
def test_one_sided_derivatives_of_max(loss: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        f = rng.integers(0, 2, (8, 4)) / 2.0
        at = Sums(f, np.zeros(8))
        objective = make_objective("max", PHI[loss], rng.integers(0, 4, 8), rng.random(8), 4)
        h = vertex(rng.integers(-1, 4, 8), 4)
        S, step = objective.normaliser(at) / objective.m, 1e-7
        right = (objective.value(at.moved(step, h, objective.y)) - objective.value(at)) / step
        left = (objective.value(at) - objective.value(at.moved(-step, h, objective.y))) / step
        assert right == pytest.approx(-S * objective.edge(at, h), abs=1e-5)
        assert left == pytest.approx(-S * objective.edge(at, h, shrinking=True), abs=1e-5)
        assert objective.edge(at, h) <= objective.edge(at, h, shrinking=True) + 1e-15


@ALL
def test_gradients_add_up_to_edges(name: str, loss: str) -> None:
    """Also at ties, for answers of every kind; rows of g sum to zero for Sum and CompSum, D to one."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        at = Sums(rng.integers(0, 2, (8, 3)) / 2.0, rng.normal(size=8))
        objective = make_objective(name, PHI[loss], rng.integers(0, 3, 8), rng.random(8), 3)
        for shrinking in (False, True):
            g = objective.gradients(at, shrinking)
            answers = rng.integers(-1, 3, 8)
            by_hand = sum(g[i, c] for i, c in enumerate(answers) if c != ABSTAIN)
            assert by_hand == pytest.approx(objective.edge(at, vertex(answers, 3), shrinking), abs=1e-14)
        weights = objective.row_weights(at)
        assert weights.sum() == pytest.approx(1)
        g = objective.gradients(at)
        np.testing.assert_allclose(g[np.arange(8), objective.y], weights, rtol=1e-12)
        if name in ("sum", "compsum"):
            np.testing.assert_allclose(g.sum(axis=1), 0, atol=1e-15)
        if name == "maxsum":
            np.testing.assert_allclose(np.abs(g), weights[:, None] * np.ones(3), rtol=1e-12)


def test_gradients_of_max_as_the_rules_of_active_labels() -> None:
    y = np.array([0, 0, 0])
    at = Sums(np.array([[0.0, 1, 1], [0.0, 1, 0.5], [3.0, 0, 0]]), np.zeros(3))
    objective = make_objective("max", PHI["exponential"], y, None, 3)
    D = np.exp([2.0, 2.0, -2.0])
    D = D / D.sum()
    growing = [[D[0], -D[0], -D[0]], [D[1], -D[1], 0], [D[2], -D[2], -D[2]]]
    shrinking = [[D[0], 0, 0], [D[1], -D[1], 0], [D[2], 0, 0]]
    np.testing.assert_allclose(objective.gradients(at), growing, atol=1e-15)
    np.testing.assert_allclose(objective.gradients(at, True), shrinking, atol=1e-15)


@ALL
def test_fast_value(name: str, loss: str) -> None:
    at, y, w = somewhere(3, m=12, scale=3.0)
    objective = make_objective(name, PHI[loss], y, w, 4)
    assert multiclass.mean_loss(name, PHI[loss], at.f, at.s, y, w) == pytest.approx(objective.value(at), rel=1e-13)


def test_objectives_bound_each_other() -> None:
    """(16), and CompSum between Max and Sum, at scores that hypotheses made."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 4, 10)
        at = multiclass.start(10, 4)
        for _ in range(5):
            at = at.moved(rng.random(), vertex(rng.integers(-1, 4, 10), 4), y)
        for loss in ("exponential", "logistic"):
            value = {n: make_objective(n, PHI[loss], y, None, 4).value(at) for n in ("sum", "maxsum", "max")}
            assert value["sum"] / 3 <= value["max"] + 1e-12
            assert value["max"] <= min(value["sum"], value["maxsum"]) + 1e-12
        comp = make_objective("compsum", PHI["logistic"], y, None, 4).value(at)
        assert value["max"] - 1e-12 <= comp <= value["sum"] + 1e-12


@pytest.mark.parametrize(("name", "loss"), [p for p in PAIRS if p[0] in ("sum", "compsum")])
def test_probabilities_make_scores_optimal(name: str, loss: str) -> None:
    for seed in range(5):
        f = np.random.default_rng(seed).normal(size=4)
        p = multiclass.population_probabilities(name, PHI[loss], f)
        assert np.all(p > 0)
        objective = make_objective(name, PHI[loss], np.arange(4), p, 4)
        here = objective.value(Sums(np.tile(f, (4, 1)), np.zeros(4)))
        for seed_of_step in range(20):
            g = f + 0.1 * np.random.default_rng(seed_of_step).normal(size=4)
            assert here <= objective.value(Sums(np.tile(g, (4, 1)), np.zeros(4))) + 1e-12


def test_probabilities_in_closed_form() -> None:
    """Errata 32."""
    f = np.array([0.3, -1.0, 0.8, 0.0])
    A = np.exp(f)
    np.testing.assert_allclose(
        multiclass.population_probabilities("sum", PHI["exponential"], f), A**2 / np.sum(A**2), rtol=1e-9
    )
    p = A * (A + np.e * (A.sum() - A))
    np.testing.assert_allclose(
        multiclass.population_probabilities("compsum", PHI["logistic"], f), p / p.sum(), rtol=1e-9
    )


def sample_of(X: np.ndarray, y: np.ndarray, objective: Objective, at: Sums) -> trees.ClassSample:
    columns, codes = binning.bin_matrix(X)
    return trees.sample_at(objective, at, columns, codes.tolist())


def walked(seed: int, name: str, loss: str, X: np.ndarray, y: np.ndarray, n_classes: int) -> tuple[Objective, Sums]:
    """An objective after a few steps on a grid, as boosting would leave it."""
    rng = np.random.default_rng(seed)
    objective = make_objective(name, PHI[loss], y, rng.integers(1, 4, len(y)), n_classes)
    at = multiclass.start(len(y), n_classes)
    for _ in range(3):
        at = at.moved(rng.integers(1, 9) / 8, vertex(rng.integers(-1, n_classes, len(y)), n_classes), y)
    return objective, at


@ALL
@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_stump_by_growth_is_the_best_of_all_stumps(name: str, loss: str, missing: float) -> None:
    for seed in range(4):
        X, y = tiny_classes(seed, m=10, missing=missing)
        for objective, at in (
            walked(seed, name, loss, X, y, 3),
            (walked(seed, name, loss, X, y, 3)[0], multiclass.start(10, 3)),
        ):
            grown = trees.grow_layers(sample_of(X, y, objective, at), 1, "edge", tie=1e-14)
            best, answers = trees.best_stump_edge(objective, at, X)
            assert grown[0].edge == pytest.approx(best, abs=1e-12)
            assert objective.edge(at, vertex(np.array(answers), 3)) == pytest.approx(best, abs=1e-12)
            assert best >= 0


@pytest.mark.parametrize("criterion", ["edge", "gini"])
def test_trees_grow_cut_and_predict_alike(criterion: str) -> None:
    for seed, missing in itertools.product(range(5), (0.0, 0.2)):
        X, y = tiny_classes(seed, m=24, d=3, missing=missing)
        objective, at = walked(seed, NAMES[seed % 4], "logistic", X, y, 3)
        sample = sample_of(X, y, objective, at)
        layers = trees.grow_layers(sample, 4, criterion, tie=1e-14 if criterion == "edge" else 0)
        for tree in layers:
            assert trees.predict(tree, X) == tree.train_answer
            assert tree.edge == pytest.approx(objective.edge(at, vertex(np.array(tree.train_answer), 3)), abs=1e-12)
            assert tree.n_nodes == 2 * tree.n_splits + 1
        if criterion == "edge":
            assert multiclass.falls([-t.edge for t in layers], 1e-12)
        every = trees.grow_best_first(sample, 10**6, 4, criterion, tie=1e-14 if criterion == "edge" else 0)
        assert growth.by_path(every[-1]) == growth.by_path(layers[-1])
        assert [t.n_splits for t in every] == list(range(every[0].n_splits, every[-1].n_splits + 1))
        assert trees.grow_best_first(sample, 3, 4, criterion, tie=1e-14 if criterion == "edge" else 0) == every[:2]


def test_gini_is_the_fall_of_the_weighted_impurity() -> None:
    X, y = tiny_classes(3, m=16)
    objective, at = walked(3, "sum", "exponential", X, y, 3)
    sample = sample_of(X, y, objective, at)

    def impurity(rows: list[int]) -> float:
        mass = sum(sample.mass[i] for i in rows)
        shares = [sum(sample.mass[i] for i in rows if y[i] == c) / mass for c in range(3)]
        return mass * (1 - sum(p * p for p in shares))

    scored = []
    for feature in range(2):
        for question in trees.questions(sample, feature, sample.rows):
            left, right = trees.parts(sample, sample.rows, question)
            scored.append((impurity(left) + impurity(right), trees.split_score(sample, sample.rows, question, "gini")))
    best = trees.best_split(sample, sample.rows, "gini")
    assert best is not None
    assert best.score == max(s for _, s in scored) == min(scored)[1]


def test_leaves_answer_abstain_or_follow_their_parent() -> None:
    assert trees.best_answer([0, 5, 5], 0) == 1
    assert trees.best_answer([-1, -2, -1], 0) == ABSTAIN
    assert trees.best_answer([0, -2, -1], 2) == ABSTAIN
    assert trees.best_answer([0, 0, 0], 2) == 2


@given(st.integers(0, 10**6), st.sampled_from(["edge", "gini"]), st.sampled_from(sorted(PHI)), st.sampled_from(NAMES))
def test_two_classes_grow_the_binary_trees(seed: int, criterion: str, loss: str, name: str) -> None:
    if name == "compsum":
        loss = "logistic"
    X, y = smooth(seed, m=20, d=3) if seed % 2 else tiny(seed, m=20)
    w = np.random.default_rng(seed).random(20) + 0.5
    classes = (y > 0).astype(int)
    objective = make_objective(name, PHI[loss], classes, w, 2)
    at = multiclass.start(20, 2)
    f = np.zeros(20)
    rng = np.random.default_rng(seed)
    for _ in range(2):
        answers, eta = rng.integers(0, 2, 20), rng.integers(1, 9) / 8
        at, f = at.moved(eta, vertex(answers, 2), classes), f + eta * (2 * answers - 1)
    D, S = deepboost.distribution(PHI[loss], f, y, w)
    assert objective.normaliser(at) == pytest.approx(S)
    assert objective.value(at) == pytest.approx(np.sum(w * PHI[loss].value(1 - y * f)) / w.sum())
    columns, codes = binning.bin_matrix(X)
    binary = growth.grow_layers(
        splits.make_sample(columns, codes.tolist(), D.tolist(), y.tolist(), w.tolist()), 3, criterion, tie=1e-10
    )
    ours = trees.grow_layers(
        sample_of(X, classes, objective, at), 3, criterion, tie=1e-10 if criterion == "edge" else 0
    )
    assert [t.n_splits for t in ours] == [t.n_splits for t in binary]
    for mine, theirs in zip(ours, binary, strict=True):
        assert mine.edge == pytest.approx(theirs.edge, abs=1e-9)
        assert [2 * v - 1 for v in mine.train_answer] == theirs.train_value


def settings_of(name: str, **changes: Any) -> boost.Settings:
    return boost.Settings(**{"rounds": 8, "objective": name, "max_depth": 2, **changes})


@ALL
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_naive_loop_descends(name: str, loss: str, rate: float) -> None:
    for seed, (lam, beta) in enumerate([(0.0, 0.0), (0.02, 0.0), (0.0, 0.02)]):
        X, y = tiny_classes(seed, missing=0.1)
        for family in ("stumps", "trees", "stump_pairs"):
            settings = settings_of(name, loss=loss, lam=lam, beta=beta, family=family, learning_rate=rate)
            run = boost.fit(X, y, settings)
            begin = make_objective(name, PHI[loss], y).value(multiclass.start(len(y), 3))
            assert multiclass.falls([begin, *run.objectives], 1e-12)
            assert run.objectives or name == "max"
            assert all(member.alpha >= 0 for member in run.members)
            total = sum((member.alpha * member.h for member in run.members), np.zeros((len(y), 3)))
            np.testing.assert_allclose(total, run.at.f, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("step", ["closed_form", "line_search"])
def test_naive_loop_with_two_classes_is_naive_deepboost(name: str, loss: str, step: str) -> None:
    """Errata 10. The first rounds, before a weight would cross zero: weights of one sign stop there."""
    if name == "compsum" and loss == "exponential":
        return
    for seed in range(3):
        X, y = smooth(seed, m=30, d=3)
        w = np.random.default_rng(seed).random(30) + 0.5
        plain = {"rounds": 6, "loss": loss, "lam": 0.003, "beta": 0.002, "max_depth": 2}
        theirs = deepboost.fit(X, y, deepboost.Settings(**plain, step="line_search" if name == "max" else step), w)
        ours = boost.fit(X, (y > 0).astype(int), boost.Settings(**plain, objective=name, step=step), w)
        assert len(ours.steps) == len(theirs.steps) == 6
        np.testing.assert_allclose(ours.objectives, theirs.objectives, rtol=1e-5)
        np.testing.assert_allclose(ours.at.f[:, 1] - ours.at.f[:, 0], theirs.scores, atol=2e-5)


@pytest.mark.parametrize("seed", range(3))
def test_naive_loop_is_adaboost_mr(seed: int) -> None:
    X, y = tiny_classes(seed, m=12)
    w = np.random.default_rng(seed).random(12) + 0.5
    theirs = multiclass_boosters.adaboost_mr(X, y, 6, 3, w)
    ours = boost.fit(X, y, settings_of("sum", rounds=6, family="stumps", loss="exponential"), w)
    assert len(theirs) == 6
    assert all(eta > 0 for _, _, eta in ours.steps)
    np.testing.assert_allclose([eta for _, _, eta in ours.steps], [r.alpha for r in theirs], atol=1e-5)
    np.testing.assert_allclose(ours.at.f, theirs[-1].scores, atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_naive_loop_is_additive_multinomial_regression(seed: int) -> None:
    X, y = smooth_classes(seed, m=25, d=2)
    w = np.random.default_rng(seed).random(25) + 0.5
    theirs = multiclass_boosters.additive_multinomial(X, y, 10, 3, w)
    ours = boost.fit(X, y, settings_of("compsum", rounds=10, family="stumps", loss="logistic"), w)
    assert len(theirs) == 10
    np.testing.assert_allclose([eta for _, _, eta in ours.steps], [r.alpha for r in theirs], atol=1e-5)
    np.testing.assert_allclose(ours.at.f, theirs[-1].scores, atol=1e-5)
    assert ours.objectives[-1] == pytest.approx(multiclass_boosters.logistic_loss(theirs[-1].scores, y, w), abs=1e-5)


@given(
    seed=st.integers(0, 10**6),
    pair=st.sampled_from(PAIRS),
    family=st.sampled_from(["stumps", "trees", "stump_pairs"]),
    criterion=st.sampled_from(["edge", "gini"]),
    growth_order=st.sampled_from(["layers", "best_first"]),
    rate=st.sampled_from([1.0, 0.3]),
    step=st.sampled_from(["closed_form", "line_search"]),
    penalties=st.sampled_from([(0.0, 0.0), (0.003, 0.0), (0.01, 0.02)]),
)
def test_audit_passes_the_naive_loop(
    seed: int,
    pair: tuple[str, str],
    family: str,
    criterion: str,
    growth_order: str,
    rate: float,
    step: str,
    penalties: tuple[float, float],
) -> None:
    X, y = tiny_classes(seed, m=11, missing=0.1)
    w = np.random.default_rng(seed).integers(1, 4, 11).astype(float)
    settings = settings_of(
        pair[0],
        rounds=5,
        loss=pair[1],
        family=family,
        criterion=criterion,
        growth=growth_order,
        learning_rate=rate,
        step=step,
        lam=penalties[0],
        beta=penalties[1],
    )
    run = boost.fit(X, y, settings, w)
    found = audit(
        X, y, w, settings, run.steps, [m.tree for m in run.members], [m.r for m in run.members], 3, search=True
    )
    np.testing.assert_allclose(found.objectives, run.objectives, rtol=1e-10)
    np.testing.assert_allclose(found.at.f, run.at.f, atol=1e-12)


def test_audit_catches_a_wrong_choice_and_a_wrong_step() -> None:
    X, y = tiny_classes(1, m=14)
    settings = settings_of("sum", rounds=4, loss="logistic", lam=0.003)
    run = boost.fit(X, y, settings)
    hypotheses, complexities = [m.tree for m in run.members], [m.r for m in run.members]
    w = np.ones(14)
    (t, j, eta), *rest = run.steps
    for broken in ([(t, j, eta * 1.001), *rest], [rest[0], *rest[1:]], [(t, j, -eta)]):
        with pytest.raises(AssertionError):
            audit(X, y, w, settings, broken, hypotheses, complexities, 3, search=True)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "loss"), [p for p in PAIRS if p[0] != "max" and p[1] != "smooth_hinge"])
def test_naive_loop_reaches_the_optimum(name: str, loss: str) -> None:
    """Theorem 2, over all stumps of a tiny problem."""
    X, y = tiny_classes(2, m=9, levels=3)
    objective = make_objective(name, PHI[loss], y)
    H = multiclass_convex.dictionary(trees.all_stump_answers(X, 3), 3)
    best = multiclass_convex.minimise(objective, H, np.full(len(H), 0.05))
    assert best.violation < 1e-6
    at = multiclass.start(9, 3)
    for alpha, h in zip(best.alpha, H, strict=True):
        at = at.moved(alpha, h, y)
    assert objective.value(at) + 0.05 * best.alpha.sum() == pytest.approx(best.value, rel=1e-12)
    run = boost.fit(X, y, settings_of(name, rounds=300, loss=loss, family="stumps", beta=0.05, step="line_search"))
    assert run.objectives[-1] == pytest.approx(best.value, abs=5e-3)
    assert run.objectives[-1] >= best.value - 1e-9


def stuck_points() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Data on which no stump lowers Max from 0, though two together do.

    h1 answers by the first column, h2 by the second, class 0 for a zero and class 1 for a one. Where they agree they
    are right; where they disagree they are wrong with different labels, which costs Max only one of the two.
    """
    even = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), np.array([0, 1, 2, 2])
    cells = [((0, 0), [0] * 3), ((1, 1), [1] * 3), ((0, 1), [2, 2, 3, 3]), ((1, 0), [2, 2, 3, 3])]
    X = np.array([x for x, labels in cells for _ in labels])
    return {"even": even, "strict": (X, np.array([c for _, labels in cells for c in labels]))}


@pytest.mark.parametrize("kind", ["even", "strict"])
@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_a_stuck_point_of_max(kind: str, loss: str) -> None:
    X, y = stuck_points()[kind]
    X = X.astype(float)
    n_classes = int(y.max()) + 1
    objective = make_objective("max", PHI[loss], y)
    at = multiclass.start(len(y), n_classes)
    edges = [objective.edge(at, vertex(np.array(a), n_classes)) for a in trees.all_stump_answers(X, n_classes)]
    assert max(edges) <= 1e-15
    if kind == "strict":
        assert sum(e > -1e-12 for e in edges) == 1  # only the one that abstains everywhere
    both = vertex(X[:, 0], n_classes) + vertex(X[:, 1], n_classes)
    assert objective.value(at.moved(0.1, both, y)) < objective.value(at) - 0.01
    run = boost.fit(X, y, settings_of("max", loss=loss, family="stumps"))
    assert run.converged
    assert not run.steps
