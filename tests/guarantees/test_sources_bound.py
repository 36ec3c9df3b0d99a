"""The bound over several sources: where the thesis's fails, its terms by hand, and that it holds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from hand_made import tree
from radboost import DeepBoostClassifier, Mixtures, MultiSourceBoostClassifier
from radboost.families import Candidates
from radboost.guarantees import RHO_GRID, SourcesBound, bound, sources_bound
from radboost.guarantees.sources import TreePrices

NAMES = np.array(["east", "north", "west"])
CENTRES = np.array([0.0, -3.0, 3.0])


def drawn(n: int, seed: int, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three sources that disagree about the first column; a tenth of the labels are noise."""
    rng = np.random.default_rng(seed)
    ids = rng.choice(3, n, p=[0.4, 0.3, 0.3])
    X = rng.normal(size=(n, 3))
    X[:, 2] += CENTRES[ids]
    y = (np.where(ids == 0, -X[:, 0], X[:, 0]) > 0).astype(int)
    if n_classes == 3:
        y += X[:, 1] > 0
    return X, np.where(rng.random(n) < 0.1, rng.integers(0, n_classes, n), y), NAMES[ids]


def ready(seed: int = 1000) -> FrozenEstimator:
    """Q from rows of its own."""
    X, _, sources = drawn(1000, seed)
    return FrozenEstimator(LogisticRegression().fit(X, sources))


def fitted(
    n: int = 600, seed: int = 0, n_classes: int = 2, **parameters: Any
) -> tuple[MultiSourceBoostClassifier, np.ndarray, np.ndarray, np.ndarray]:
    X, y, sources = drawn(n, seed, n_classes)
    settings = {"domain_classifier": ready(), "n_jobs": 1, **parameters}
    return MultiSourceBoostClassifier.paper(15, **settings).fit(X, y, sources=sources), X, y, sources


# --- where the printed theorem fails


def test_the_printed_theorem_is_false() -> None:
    """Many sources with a hypothesis each, whose complexities are 0: (4.5) says below 1/3, and the error is 1/2.

    Q(k | x) = 1/p, h_k(x) = x_k, and labels that no row says anything about.
    """
    p, m, delta, rho = 1000, 50, 0.05, 2e-5
    rng = np.random.default_rng(0)
    printed = math.sqrt(math.log(p / delta) / (2 * m))
    assert printed < 1 / 3
    failed = 0
    for _ in range(5):
        X, y = rng.choice([-1.0, 1.0], size=(m, p)), rng.choice([-1.0, 1.0], size=m)
        alpha = y @ X
        alpha /= np.abs(alpha).sum()
        margin_error = float((y * (X @ alpha) / p <= rho).mean())
        X_new, y_new = rng.choice([-1.0, 1.0], size=(2000, p)), rng.choice([-1.0, 1.0], size=2000)
        error = float((y_new * (X_new @ alpha) <= 0).mean())
        failed += error > margin_error + printed + 0.05
    assert failed == 5
    ours = TreePrices(np.eye(p)[0], np.full(p, float(m)), p, 2, p).complexity_term(np.ones(1), [1], rho)
    assert ours > 1.0


# --- the numbers


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("mixtures", [None, [[0.5, 0.5, 0.0], [0.2, 0.2, 0.6]]], ids=str)
def test_the_terms_by_hand(n_classes: int, mixtures: Any) -> None:
    model, X, y, sources = fitted(n_classes=n_classes, mixtures=mixtures, family="trees")
    found = sources_bound(model, X, y, sources, rho=0.3, delta=0.1)
    scores, alpha = model.decision_function(X), np.abs(model.ensemble_.weights)
    if n_classes == 2:
        margins = np.where(y == 1, scores, -scores) / alpha.sum()
    else:
        margins = (
            np.array([row[label] - max(np.delete(row, label)) for row, label in zip(scores, y, strict=True)])
            / alpha.sum()
        )
    lines = np.eye(3) if mixtures is None else np.array(mixtures)
    counts = np.array([(sources == name).sum() for name in NAMES])
    sizes = [int((hypothesis.base.feature >= 0).sum()) for hypothesis in model.ensemble_.hypotheses]
    assert max(sizes) > 1
    a, kappa = (2, 2) if n_classes == 2 else (4, 4)
    for line, part in zip(lines, found.parts, strict=True):
        tau = math.sqrt(sum(share**2 / count for share, count in zip(line, counts, strict=True)))
        rows = int(counts[line > 0].sum())

        def price(n: int, rows: int = rows, tau: float = tau) -> float:
            trees = math.comb(2 * n, n) // (n + 1) * (2 * 3 * rows) ** n * a**n * (a - 1)
            return tau * math.sqrt(2 * math.log(3 * n * (n + 1) * trees))

        mean = sum(w * price(max(1, n)) for w, n in zip(alpha, sizes, strict=True)) / alpha.sum()
        assert part.complexity_term == pytest.approx(kappa / 0.3 * (mean + tau**2 / price(1)))
        assert part.confidence_term == pytest.approx(tau * math.sqrt(math.log(len(lines) / 0.1) / 2))
        loss = np.clip(1 - margins / 0.3, 0, 1)
        means = np.array([loss[sources == name].mean() for name in NAMES])
        assert part.margin_loss == pytest.approx(line @ means)
        assert part.n_rows == rows
        assert part.total == pytest.approx(part.margin_loss + part.complexity_term + part.confidence_term)
    assert found.total == max(part.total for part in found.parts) == found.worst.total


@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_holds_and_the_margin_loss_is_above_the_error(n_classes: int) -> None:
    X_all, y_all, s_all = drawn(20_000, 99, n_classes)
    for seed in range(3):
        model, X, y, sources = fitted(3000, seed, n_classes)
        found = sources_bound(model, X, y, sources)
        predicted = model.predict(X_all)
        for name, part in zip(NAMES, found.parts, strict=True):
            assert part.name == name
            assert part.margin_loss >= model.source_errors_[name]
            assert float((predicted != y_all)[s_all == name].mean()) <= part.total
        assert not math.isnan(found.total)


def test_it_says_something_with_many_rows() -> None:
    model, X, y, sources = fitted(40_000)
    found = sources_bound(model, X, y, sources)
    assert found.total < 0.75
    assert not found.vacuous
    text = str(found)
    assert repr(found) == text
    assert f"at most {found.total:.4f}" in text
    assert all(name in text for name in NAMES)


def test_the_best_rho_pays_for_its_choice() -> None:
    model, X, y, sources = fitted()
    found = sources_bound(model, X, y, sources)
    assert found.n_rho == len(RHO_GRID) == 32
    each = [sources_bound(model, X, y, sources, rho=part.rho, delta=0.05 / 32) for part in found.parts]
    for place, part in enumerate(found.parts):
        assert part == each[place].parts[place]


def test_weights_only_pick_another_ensemble() -> None:
    """Every row counts once in the bound, whatever it weighed in the fit."""
    model, X, y, sources = fitted()
    weights = np.random.default_rng(0).random(len(y)) * 100
    heavy = MultiSourceBoostClassifier.paper(15, domain_classifier=ready(), class_weight="balanced", n_jobs=1)
    found = sources_bound(heavy.fit(X, y, weights, sources=sources), X, y, sources, rho=0.5)
    plain = sources_bound(model, X, y, sources, rho=0.5)
    assert [part.complexity_term for part in found.parts] == pytest.approx([p.complexity_term for p in plain.parts])


def test_missing_values_and_an_empty_ensemble() -> None:
    X, y, sources = drawn(600, 0)
    X = np.column_stack([X, np.where(np.arange(600) % 3 == 0, np.nan, y)])
    of_three = FrozenEstimator(make_pipeline(FunctionTransformer(lambda rows: rows[:, :3]), ready()))
    model = MultiSourceBoostClassifier(10, domain_classifier=of_three, n_jobs=1)
    assert sources_bound(model.fit(X, y, sources=sources), X, y, sources).total > 0
    alike = np.zeros((600, 4))
    model = MultiSourceBoostClassifier(1, domain_classifier=of_three, complexity_penalty=10.0)
    with pytest.warns(UserWarning, match="empty"):
        model.fit(alike, y, sources=sources)
    with pytest.warns(UserWarning, match="599 of the 600 rows in X are copies"):
        found = sources_bound(model, alike, y, sources)
    assert isinstance(found, SourcesBound)
    assert found.vacuous
    assert all(part.margin_loss == pytest.approx(1.0) and part.complexity_term == 0.0 for part in found.parts)


def test_penalised_mixtures_are_those_of_their_corners() -> None:
    model, X, y, sources = fitted(mixtures=Mixtures([[0.5, 0.25, 0.25]], penalty=0.1))
    (part,) = sources_bound(model, X, y, sources).parts
    assert part.name == "0.5 east + 0.25 north + 0.25 west"
    assert part.n_rows == 600


# --- what is refused


def test_a_q_of_the_training_rows_is_refused(tmp_path: Any) -> None:
    import radboost

    X, y, sources = drawn(300, 0)
    for own in (None, LogisticRegression()):
        model = MultiSourceBoostClassifier(5, domain_classifier=own, n_jobs=1).fit(X, y, sources=sources)
        with pytest.raises(ValueError, match=r"learned from the training rows.*FrozenEstimator"):
            sources_bound(model, X, y, sources)
    more, _, sources_more = drawn(300, 1)
    model = MultiSourceBoostClassifier(5, n_jobs=1)
    model.fit(X, y, sources=sources, X_unlabelled=more, sources_unlabelled=sources_more)
    with pytest.raises(ValueError, match="learned from the training rows"):
        sources_bound(model, X, y, sources)
    model, X, y, sources = fitted(300)
    before = sources_bound(model, X, y, sources)
    model.save(tmp_path / "model")
    frozen = radboost.load(tmp_path / "model", domain_classifier=ready())
    assert sources_bound(frozen, X, y, sources) == before
    unknown = radboost.load(tmp_path / "model", domain_classifier=ready().estimator)
    with pytest.raises(ValueError, match="not known where it comes from"):
        sources_bound(unknown, X, y, sources)


def test_what_else_is_refused() -> None:
    model, X, y, sources = fitted(300)
    with pytest.raises(TypeError, match=r"guarantees\.sources_bound"):
        bound(model, X, y)
    with pytest.raises(TypeError, match="Expected a fitted MultiSourceBoostClassifier"):
        sources_bound(DeepBoostClassifier(5).fit(X, y), X, y, sources)
    one = MultiSourceBoostClassifier(5).fit(X, y)
    with pytest.raises(ValueError, match=r"one source.*guarantees\.bound"):
        sources_bound(one, X, y, sources)
    others = sources != "west"
    refused: list[tuple[dict[str, Any], str]] = [
        ({"X": X[others], "y": y[others], "sources": sources[others]}, "No row is of the source 'west'"),
        ({"sources": np.where(others, sources, "south")}, "the source 'south', which the model does not know"),
        ({"rho": 2.0}, r"rho must be None or a number in \(0, 1\]"),
        ({"delta": 0.0}, "delta is the probability"),
        ({"y": y[:-1]}, "300 rows and y has 299"),
        ({"y": np.where(y == 1, 5, y)}, "label 5, which is not"),
    ]
    for changes, message in refused:
        with pytest.raises(ValueError, match=message):
            sources_bound(model, **{"X": X, "y": y, "sources": sources, **changes})
    kernels, X, y, sources = fitted(200, family="kernel")
    with pytest.raises(TypeError, match="for trees whose leaves vote"):
        sources_bound(kernels, X, y, sources)
    X, y, sources = drawn(300, 0)
    X[:, 1] = np.round(X[:, 1]) + 5
    model = MultiSourceBoostClassifier(5, domain_classifier=ready(), categorical_features=[1], n_jobs=1)
    with pytest.raises(ValueError, match="columns of categories"):
        sources_bound(model.fit(X, y, sources=sources), X, y, sources)
    with pytest.raises(TypeError, match="sample_weight"):
        sources_bound(model, X, y, sources, sample_weight=np.ones(300))  # type: ignore[call-arg]


def test_a_ready_q_that_the_fit_did_not_use_is_refused() -> None:
    X, y, sources = drawn(300, 3)
    model = MultiSourceBoostClassifier.paper(3).fit(X, y, sources=sources)
    model.set_params(domain_classifier=ready())
    with pytest.raises(ValueError, match="was learned from the training rows"):
        sources_bound(model, X, y, sources)


def test_trees_with_leaves_beyond_1_are_refused() -> None:
    large = tree([(0, 0.0, 1, 0, 1.0), (-5.0,), (5.0,)], 3, 1)
    model, *rows = fitted(300, family=Candidates([large]))
    with pytest.raises(ValueError, match="a number beyond 1 in a leaf"):
        sources_bound(model, *rows)
