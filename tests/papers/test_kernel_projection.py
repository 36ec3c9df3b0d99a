"""The comparison of supervised kernel projection: rivals that are what they say, equal tuning, an honest report."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import SVC

from papers.harness import run
from papers.kernel_projection import (
    METHODS,
    STUDIES,
    base_kernels,
    learn_mixture,
    make_half,
    pair_duals,
)

STUDY, FIGURE = STUDIES
FACTS = {"projection": "sonar", "fold": 0, "n_train": 40, "n_test": 30, "inner_folds": 2, "seed": 0}


def noisy_kernels(n_rows=60, n_classes=2, seed=0):
    """Kernels of single columns, of which only the second knows the classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, 4))
    X[:, 1] = y + 0.2 * rng.normal(size=n_rows)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return np.array([np.outer(column, column) for column in X.T]), y


def test_all_methods_try_as_many_settings():
    assert {len(method.settings) for method in METHODS.values()} == {12}
    for method in METHODS.values():
        assert len({tuple(setting.items()) for setting in method.settings}) == 12
    single = METHODS["best kernel + SVM"].settings
    assert {setting["kernel"] for setting in single} == set(range(len(base_kernels(3))))


def test_the_mixture_learner_is_at_the_grids_minimum():
    kernels, y = noisy_kernels(40)
    kernels = kernels[:2] + 0.05 * np.eye(len(y))

    def objective(first: float) -> float:
        svm = SVC(C=1.0, kernel="precomputed", tol=1e-6).fit(first * kernels[0] + (1.0 - first) * kernels[1], y)
        dual = pair_duals(svm, len(y))[0]
        mixed = first * kernels[0] + (1.0 - first) * kernels[1]
        return float(np.abs(dual).sum() - 0.5 * dual @ mixed @ dual)

    found = learn_mixture(kernels, y, 1.0, 1.0)
    best = min(objective(first) for first in np.linspace(0.0, 1.0, 201))
    assert found.objective[-1] <= best * 1.005
    assert objective(found.weights[0]) == pytest.approx(found.objective[-1], rel=1e-3)


def test_pair_duals_are_those_of_the_pairs_alone():
    kernels, y = noisy_kernels(45, 3)
    K = kernels.sum(axis=0) + np.eye(45)
    duals = pair_duals(SVC(kernel="precomputed", tol=1e-8).fit(K, y), 45)
    for line, (a, b) in zip(duals, ((0, 1), (0, 2), (1, 2)), strict=True):
        pair = np.flatnonzero((y == a) | (y == b))
        alone = pair_duals(SVC(kernel="precomputed", tol=1e-8).fit(K[np.ix_(pair, pair)], y[pair]), len(pair))[0]
        np.testing.assert_allclose(np.abs(line[pair]), np.abs(alone), atol=1e-5)
        assert not line[np.setdiff1d(np.arange(45), pair)].any()


@pytest.mark.slow
def test_every_method_learns_what_is_easy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    half = make_half(X, (X[:, 0] > 0.0).astype(int), 60)
    train, test = np.arange(60), np.arange(60, 120)
    for name, method in METHODS.items():
        setting = {key: 4 if key == "rank" else value for key, value in method.settings[6].items()}
        predicted = method.learn(half, setting, train, test)
        assert np.mean(predicted != half.y[test]) < 0.2, name


def test_a_small_run(folder: str):
    wanted = STUDY.wanted(["sonar"], quick=True)
    assert [facts["method"] for facts in wanted] == list(METHODS)
    assert len(STUDY.wanted()) == 7 * 5 * len(METHODS)
    rivals = [facts | FACTS for facts in wanted if facts["method"] != "projection"]
    kernel_pca, *others = run(STUDY, rivals, data_dir=folder)
    facts = kernel_pca.facts | {"method": "projection"}
    ours = replace(kernel_pca, facts=facts, result=kernel_pca.result | {"error": 0.125})
    rows = STUDY.rows([ours, kernel_pca, *others])
    assert [row[0] for row in rows] == ["sonar", "mean error", "mean rank", "directions", "seconds"]
    assert rows[0][1] == "0.1250 (0.0000)"
    assert [bool(cell) for cell in rows[3]] == [True, True, True, False, False, False]


def test_the_picture_of_figure_7_1():
    outcomes = run(FIGURE, FIGURE.wanted())
    (_, blind), (_, kept) = FIGURE.rows(outcomes)
    assert float(blind.rstrip("%")) > 40
    assert float(kept.rstrip("%")) < 2
    _, _, seeing = FIGURE.draw(outcomes).axes
    assert seeing.texts[0].get_text() == f"best threshold: {float(kept.rstrip('%')):.0f}% wrong"
