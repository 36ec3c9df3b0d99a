"""The bound of fitted models against the same arithmetic done again, and what it refuses."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import radboost
from radboost import DeepBoostClassifier, KernelFamily, RGBClassifier, SoftmaxBoostClassifier, TreeOptions
from radboost.guarantees import MarginBound, bound, margins
from radboost.guarantees.bounds import BY_SIZE, MARGIN_BOUND, every_statement
from reference.data import smooth, smooth_classes


def log_trees(n: int, m: int, d: float, answers: int = 2, bits: int = 0) -> float:
    """docs/theory.md, (7g)."""
    shapes = math.log(math.comb(2 * n, n) / (n + 1))
    return shapes + n * math.log(d * m * answers) + math.log(answers - 1) + bits * math.log(2)


def data(n_classes: int, m: int = 400) -> tuple[np.ndarray, np.ndarray]:
    return smooth(3, m=m) if n_classes == 2 else smooth_classes(3, m=m)


def sizes(model) -> list[int]:
    return [max(int((tree.feature >= 0).sum()), 1) for tree in model.ensemble_.hypotheses]


def statements(model, X, y, rho: float, delta: float) -> dict[str, MarginBound]:
    """By what they are called; Theorem 1 has the name of its paper."""
    found = every_statement(model, X, y, (rho,), delta)
    assert bound(model, X, y, rho=rho, delta=delta) == min(found, key=lambda one: one.total)
    return {one.theorem if one.theorem in (MARGIN_BOUND, BY_SIZE) else "Theorem 1": one for one in found}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_all_statements_by_hand(n_classes: int) -> None:
    """(7b), (7f) and (7h), or (11c), (11d) and (11h), each with a third of delta."""
    X, y = data(n_classes)
    m, d = X.shape
    model = DeepBoostClassifier(15, max_depth=3, complexity_penalty=0.01).fit(X, y)
    rho, delta, c = 0.4, 0.1, n_classes
    times = 1.0 if c == 2 else 2 * math.sqrt(1 - 1 / c)
    price = [times * math.sqrt(2 * log_trees(n, m, d, c) / m) for n in sizes(model)]
    alpha = np.abs(model.ensemble_.weights) / np.abs(model.ensemble_.weights).sum()
    level = max(1 if n == 1 else n + 1 for n in sizes(model))
    always = math.log(2) + (math.log(3) if c > 2 else 0.0)
    choices = math.log(level * (level + 1)) + always
    first = 2 / rho * max(price) + math.sqrt((math.log(3 / delta) + choices) / (2 * m))
    second = math.inf
    for s in rho * 2.0 ** -np.arange(2, 9):
        for n in np.unique(np.ceil(2 * np.linspace(0.2, 32, 400) / s**2)):
            log_multisets = sum(math.log((n + k) / k) for k in range(1, level))
            chance = math.sqrt((math.log(21 / delta) + choices + log_multisets) / (2 * m))
            second = min(second, 2 / (rho - 2 * s) * float(alpha @ price) + c * math.exp(-n * s**2 / 2) + chance)
    found = statements(model, X, y, rho, delta)
    assert found[MARGIN_BOUND].total - found[MARGIN_BOUND].margin_error == pytest.approx(first)
    assert found["Theorem 1"].total - found["Theorem 1"].margin_error == pytest.approx(second, rel=1e-3)
    assert (found[MARGIN_BOUND].n_families, found["Theorem 1"].n_families) == (1, level)
    words = {n: math.log(2 if n == 1 else (n + 1) * (n + 2)) for n in {1, *sizes(model)}}
    own = {n: times * math.sqrt(2 * (log_trees(n, m, d, c) + words[n]) / m) for n in words}
    mean = float(alpha @ [own[n] for n in sizes(model)]) + (1 if c == 2 else 4) / (m * own[1])
    third = 2 / rho * mean + math.sqrt((math.log(3 / delta) + always) / (2 * m))
    ramp = np.minimum(1, np.maximum(0, 1 - margins(model, X, y) / rho)).mean()
    assert found[BY_SIZE].margin_error == pytest.approx(ramp)
    assert found[BY_SIZE].total == pytest.approx(ramp + third)
    assert found[BY_SIZE].margin_error == found[MARGIN_BOUND].margin_error < found["Theorem 1"].margin_error
    assert f"trees of at most {max(sizes(model))} splits" in str(found[BY_SIZE])


def test_stump_pairs_have_a_count_of_their_own() -> None:
    X, y = smooth(4, m=500)
    model = DeepBoostClassifier.paper(20, family="stump_pairs").fit(X, y)
    found = statements(model, X, y, 0.5, 0.1)
    result, pairs = found[MARGIN_BOUND], 2 * math.log(500 * X.shape[1]) + 4 * math.log(2)
    assert result.complexity == pytest.approx(math.sqrt(2 * pairs / 500))
    assert result.confidence_term == pytest.approx(math.sqrt((math.log(60) + math.log(6)) / 1000))
    assert result.hypotheses == "stump pairs"
    rest = 1 / (500 * math.sqrt(2 * (log_trees(1, 500, X.shape[1]) + math.log(2)) / 500))
    assert found[BY_SIZE].complexity <= math.sqrt(2 * (pairs + math.log(6)) / 500) + rest


def test_missing_values_double_the_columns() -> None:
    X, y = smooth(5, m=400)
    model = DeepBoostClassifier.paper(10, family="stumps").fit(X, y)
    m, d = X.shape
    for columns in (d, 2 * d):
        result = statements(model, X, y, 0.5, 0.1)[MARGIN_BOUND]
        assert result.complexity == pytest.approx(math.sqrt(2 * log_trees(1, m, columns) / m))
        # Whether values are missing has half of delta each, and so have the two statements.
        assert result.confidence_term == pytest.approx(math.sqrt(math.log(40) / (2 * m)))
        X[0, 0] = np.nan


def with_categories(m: int = 600) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 6, m), rng.integers(0, 40, m), rng.standard_normal(m)]).astype(float)
    noise = rng.random(m) < 0.1
    return X, (((X[:, 0] % 2 == 0) & (X[:, 2] > -0.5)) ^ noise).astype(int)


def test_categories_are_counted_in_the_sample() -> None:
    """Bits of the columns that are asked about, three times the chance, and a share for how often they are."""
    X, y = with_categories()
    m, d = X.shape
    model = DeepBoostClassifier.paper(3, max_depth=2, categorical_features=[0, 1]).fit(X, y)
    asked = [0, 0]
    for tree in model.ensemble_.hypotheses:
        features = tree.feature[tree.category_nodes].tolist()
        asked = [max(one, features.count(column)) for column, one in enumerate(asked)]
    n = max(sizes(model))
    bits = sum(sorted([39] * asked[1] + [5] * asked[0], reverse=True)[:n])
    assert asked[0] > 0
    result = bound(model, X, y, rho=0.5, delta=0.1)
    assert result.theorem == "margin bound of one class"
    assert result.complexity == pytest.approx(math.sqrt(2 * log_trees(n, m, d, bits=bits) / m))
    choices = math.log((n + 1) * (n + 2)) + sum(math.log((k + 1) * (k + 2)) for k in asked)
    # Two of the second form of (7a), three statements, and whether values are missing.
    assert result.confidence_term == pytest.approx(3 * math.sqrt((math.log(2 * 3 * 2 / 0.1) + choices) / (2 * m)))
    assert BY_SIZE not in statements(model, X, y, 0.5, 0.1)
    numeric = DeepBoostClassifier.paper(3, max_depth=2).fit(X, y)
    assert bound(numeric, X, y, rho=0.5).confidence_term < result.confidence_term / 2


def test_too_many_categories_are_refused() -> None:
    rng = np.random.default_rng(1)
    X = np.column_stack([np.arange(600) % 300, rng.standard_normal(600)])
    y = (X[:, 0] < 100).astype(int)
    with pytest.warns(UserWarning, match="255 most frequent"):
        model = DeepBoostClassifier.paper(2, max_depth=1, categorical_features=[0]).fit(X, y)
    with pytest.raises(ValueError, match="Column 0 has 255 categories or more"):
        bound(model, X, y)


def test_kernels_must_be_fixed_in_advance() -> None:
    X, y = smooth(6, m=150)

    def fitted(family) -> DeepBoostClassifier:
        return DeepBoostClassifier(10, family=family, step="line_search", learning_rate=1.0).fit(X, y)

    for family in ("kernel", KernelFamily(kernel="laplacian")):
        with pytest.raises(ValueError, match=r"computed from the training rows.*Give gamma as a number"):
            bound(fitted(family), X, y)
    result = bound(fitted(KernelFamily(gamma=0.5)), X, y, rho=0.5, delta=0.1)
    expected = 2 / 0.5 / math.sqrt(150) + math.sqrt(math.log(10) / 300)
    assert result.total - result.margin_error == pytest.approx(expected)
    assert bound(fitted(KernelFamily(kernel="cosine")), X, y).hypotheses == "a kernel"

    def own(centres: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return np.exp(-np.abs(centres[:, None] - rows[None]).sum(axis=2))

    model = fitted(KernelFamily(kernel=own))
    with pytest.raises(ValueError, match="positive_definite = True"):
        bound(model, X, y)
    own.positive_definite = True
    model.set_params(family=KernelFamily(kernel=own, gamma=1.0))
    assert bound(model, X, y).total > 0


def test_trees_beside_kernels_pay_for_both() -> None:
    X, y = smooth(7, m=150)
    family = ["stumps", KernelFamily(gamma=0.5, n_centres=40)]
    model = DeepBoostClassifier(30, family=family, step="line_search", learning_rate=1.0).fit(X, y)
    kinds = {type(one).__name__ for one in model.ensemble_.hypotheses}
    assert kinds == {"Tree", "KernelHypothesis"}
    result = bound(model, X, y, rho=0.5, delta=0.1)
    if result.n_draws == 0:
        both = math.sqrt(2 * log_trees(1, 150, X.shape[1]) / 150) + 1 / math.sqrt(150)
        assert result.complexity == pytest.approx(both)
        assert result.confidence_term == pytest.approx(math.sqrt((math.log(30) + 4 * math.log(2)) / 300))
    else:
        assert result.n_families == 2
        assert 1 / math.sqrt(150) < result.complexity < math.sqrt(2 * log_trees(1, 150, X.shape[1]) / 150)


@pytest.mark.parametrize(
    "model",
    [
        DeepBoostClassifier(5, objective="max"),
        DeepBoostClassifier(5, complexity_penalty=0.01, tree_options=TreeOptions(leaves="rated")),
        RGBClassifier(5),
        SoftmaxBoostClassifier(5),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_kind_of_leaves_with_several_classes(model) -> None:
    """No kind costs more than numbers anywhere in [-1, 1], and none less than half of a vote."""
    X, y = smooth_classes(8, m=400)
    result = bound(model.fit(X, y), X, y, rho=0.5)
    c, n = len(model.classes_), max(sizes(model))
    d = X.shape[1]
    most = math.sqrt(c) * math.sqrt(2 * (log_trees(n, 400, d) + (n + 1) * c * math.log(2)) / 400)
    assert math.sqrt(2 * math.log(400 * d) / 400) / 2 < result.complexity < most


def test_what_a_look_at_the_data_chooses_is_paid_for_by_the_size_of_the_trees() -> None:
    X, y = smooth(9, m=1200)
    looked = DeepBoostClassifier(random_state=0).fit(X, y)
    result = statements(looked, X, y, 0.5, 0.1)[MARGIN_BOUND]
    n = max(sizes(looked))
    assert result.confidence_term == pytest.approx(math.sqrt((math.log(60) + math.log((n + 1) * (n + 2))) / 2400))
    assert f"at most {n} splits" in result.hypotheses


def test_a_model_that_is_loaded_has_the_same_bound(tmp_path: Path) -> None:
    X, y = with_categories()
    model = DeepBoostClassifier(10, categorical_features=[0, 1]).fit(X, y)
    model.save(tmp_path / "model")
    assert bound(radboost.load(tmp_path / "model"), X, y) == bound(model, X, y)
