"""Supervised kernel projection as an estimator."""

import copy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import radboost
from model_files import reload
from radboost.estimators import kernel_projection
from radboost.estimators.kernel_projection import SupervisedKernelProjection
from radboost.projection.kernels import NamedKernel, PrecomputedKernel, column_kernels

# Figure 7.1: the first coordinate varies more, the second tells the classes apart.
CROSS = np.array([[-3.0, 1.0], [3.0, 1.0], [-3.0, -1.0], [3.0, -1.0]])
COLOURS = np.array([1, 1, 0, 0])


def own_kernel(A, B):
    return np.exp(-np.abs(A[:, None, 0] - B[None, :, 0]))


def two_kernels(n_rows=80, seed=0):
    """Rows whose classes are in a ring, beside columns that vary far more."""
    rng = np.random.default_rng(seed)
    X = np.hstack([rng.normal(size=(n_rows, 2)), 5.0 * rng.normal(size=(n_rows, 3))])
    return X, (np.hypot(X[:, 0], X[:, 1]) > 1.1).astype(int)


def test_figure_7_1_pca_fails_and_this_does_not(tmp_path):
    pca = make_pipeline(KernelPCA(1, kernel="linear"), LogisticRegression())
    assert pca.fit(CROSS, COLOURS).score(CROSS, COLOURS) == 0.5
    model = SupervisedKernelProjection(column_kernels(2), rank=1, alpha=0.1, inverse_sum=400.0).fit(CROSS, COLOURS)
    assert model.score(CROSS, COLOURS) == 1.0
    assert model.components_.tolist() == [[1, 0]]
    assert model.mixture_[1] > model.mixture_[0]
    np.testing.assert_array_equal(reload(model, tmp_path / "m.rad").transform(CROSS), model.transform(CROSS))


def test_it_keeps_what_tells_classes_apart():
    X, y = two_kernels()
    kernels = [NamedKernel("rbf", 0.5, columns=(0, 1)), NamedKernel("rbf", 0.01, columns=(2, 3, 4)), "linear"]
    model = SupervisedKernelProjection(kernels, rank=5).fit(X, y)
    assert model.mixture_.argmax() == 0
    new, truth = two_kernels(400, 1)
    assert model.score(new, truth) > 0.9
    assert model.transform(new).shape == (400, 5)
    assert np.all(np.diff(model.eigenvalues_) <= 0.0)
    assert np.all(np.diff(model.history_["objective"]) < 0.0)


def test_scores_are_linear_in_what_is_transformed():
    X, y = two_kernels()
    for labels in (y, y + (X[:, 0] > 0)):
        model = SupervisedKernelProjection(rank=4).fit(X, labels)
        scores = model.transform(X) @ model.coef_.T + model.intercept_
        found = model.decision_function(X)
        np.testing.assert_allclose(found if found.ndim == 2 else found[:, None], scores)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_constraints_hold():
    X, y = two_kernels()
    model = SupervisedKernelProjection(["linear", "rbf", "polynomial"], rank=4, ky_fan=0.3, inverse_sum=20.0).fit(X, y)
    assert model.eigenvalues_.sum() <= 0.3 + 1e-8
    assert np.sum(1.0 / model.mixture_) <= 20.0 + 1e-8
    assert model.mixture_.sum() <= 1.0 + 1e-8


def test_an_unlabelled_sample_gives_the_eigenfunctions():
    X, y = two_kernels(40)
    more, _ = two_kernels(200, 5)
    model = SupervisedKernelProjection(rank=3).fit(X, y, X_unlabelled=more)
    values = np.linalg.eigvalsh(more @ more.T / np.max(np.sum(more**2, axis=1)) / 200)
    linear = model.components_[model.components_[:, 0] == 0]
    for eigenvalue, (_, number) in zip(model.eigenvalues_[model.components_[:, 0] == 0], linear, strict=True):
        assert eigenvalue == pytest.approx(model.mixture_[0] * values[::-1][number])


def test_many_rows_by_landmarks(monkeypatch):
    monkeypatch.setattr(kernel_projection, "LARGEST_SAMPLE", 100)
    monkeypatch.setattr(kernel_projection, "LANDMARKS", 60)
    X, y = two_kernels(300)
    kernels = [NamedKernel("rbf", 0.5, columns=(0, 1)), NamedKernel("rbf", 0.01, columns=(2, 3, 4))]
    model = SupervisedKernelProjection(kernels, rank=5).fit(X, y)
    assert 0.0 < model.nystrom_error_[0] < 0.2
    new, truth = two_kernels(400, 1)
    assert model.score(new, truth) > 0.9
    order = np.random.default_rng(0).permutation(300)
    np.testing.assert_array_equal(clone(model).fit(X[order], y[order]).coef_, model.coef_)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_models_are_saved_without_pickle(tmp_path, n_classes):
    X, y = two_kernels(60)
    y = y + (X[:, 0] > 0) * (n_classes == 3)
    kernels = ["linear", NamedKernel("rbf", 0.3, columns=(0, 1)), NamedKernel("polynomial", degree=3)]
    model = SupervisedKernelProjection(kernels, rank=4).fit(X, y)
    model.save(tmp_path / "model.rad")
    loaded = radboost.load(tmp_path / "model.rad")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    assert loaded.get_params() == model.get_params()
    assert loaded.history_ == model.history_
    assert loaded.kinks_ == model.kinks_
    for name, value in (
        ("coef_", model.coef_[:, 1:]),
        ("mixture_", model.mixture_[1:]),
        ("components_", model.components_ + 9),
        ("_means", model._means + 1e308),
        ("_sample", model._sample + 1e308),
    ):
        damaged = copy.copy(model)
        setattr(damaged, name, value)
        damaged.save(tmp_path / "damaged.rad")
        with pytest.raises(radboost.ModelFileError):
            radboost.load(tmp_path / "damaged.rad")


def test_matrices_that_were_computed_before():
    """Rows name their objects; what is learned is what functions learn."""
    X, y = two_kernels(100)
    functions = [lambda A, B: A @ B.T, own_kernel]
    matrices = [kernel(X, X) for kernel in functions]
    numbers = np.arange(100.0)[:, None]
    by_functions = SupervisedKernelProjection(functions, rank=4).fit(X[:60], y[:60])
    model = SupervisedKernelProjection(matrices, rank=4).fit(numbers[:60], y[:60])
    np.testing.assert_allclose(
        model.decision_function(numbers[60:]), by_functions.decision_function(X[60:]), rtol=1e-4, atol=1e-6
    )
    beside = SupervisedKernelProjection([PrecomputedKernel(matrices[1], column=5), "linear"], rank=4, standardize=False)
    rows = np.hstack([X, numbers])
    beside.set_params(kernels=[beside.kernels[0], NamedKernel("linear", columns=tuple(range(5)))])
    beside.fit(rows[:60], y[:60])
    np.testing.assert_allclose(
        beside.decision_function(rows[60:]), by_functions.decision_function(X[60:]), rtol=1e-4, atol=1e-6
    )
    assert "PrecomputedKernel(100 objects)" in repr(model.ensemble_)
    for wrong in (100.0, -1.0, 0.5):
        with pytest.raises(ValueError, match=f"precomputed kernel, 0 to 99; got {wrong:g}"):
            model.predict([[wrong]])


def test_a_file_keeps_small_matrices_and_asks_for_kernels_of_ones_own(tmp_path):
    X, y = two_kernels(40)
    numbers, matrix = np.arange(40.0)[:, None], own_kernel(X, X)
    for kernels, rows, is_kept in (
        ([X @ X.T, matrix], numbers, True),
        ([X @ X.T, PrecomputedKernel(matrix)], numbers, False),
        (["linear", own_kernel], X, False),
    ):
        model = SupervisedKernelProjection(kernels, rank=3).fit(rows, y)
        model.save(tmp_path / "model.rad")
        loaded = radboost.load(tmp_path / "model.rad")
        if not is_kept:
            with pytest.raises(radboost.model_file.MissingPartError, match="set_params"):
                loaded.predict(rows)
            loaded.set_params(kernels=kernels)
        np.testing.assert_array_equal(loaded.decision_function(rows), model.decision_function(rows))


def test_units_of_columns_do_not_matter_unless_told_to():
    X, y = two_kernels(60)
    units = np.array([1e-9, 1.0, 1e6, 1e150, 1e-150])
    model = SupervisedKernelProjection(rank=4).fit(X, y)
    other = SupervisedKernelProjection(rank=4).fit(X * units, y)
    np.testing.assert_allclose(other.decision_function(X * units), model.decision_function(X), rtol=1e-5, atol=1e-5)
    as_given = SupervisedKernelProjection(rank=4, standardize=False)
    changed = clone(as_given).fit(X * [9, 1, 1, 1, 1], y).decision_function(X * [9, 1, 1, 1, 1])
    assert np.max(np.abs(changed - as_given.fit(X, y).decision_function(X))) > 0.1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"inverse_sum": 3.0}, r"p\^2 = 4 for p = 2 kernels"),
        ({"rank": 41}, "number of different rows, n_samples=40; got 41"),
        ({"kernels": ["linear", NamedKernel("linear")]}, "Kernels 0 and 1 are the same"),
        ({"kernels": [lambda A, B: -A @ B.T, "rbf"]}, "Kernel 0 is not positive semi-definite"),
        ({"ky_fan": 1e-4, "inverse_sum": 4.1}, "Raise one of them"),
        ({"alpha": 0.0}, "alpha"),
        ({"kernels": [np.ones((3, 4)), "rbf"]}, r"square matrix .* shape \(3, 4\)"),
        ({"kernels": [PrecomputedKernel(np.eye(40), column=7), "rbf"]}, "Kernel 0 looks at column 7"),
        ({"kernels": ["rbf", NamedKernel("linear", columns=(9,))]}, "Kernel 1 looks at column 9; X has 5 columns"),
    ],
)
def test_bad_input_is_refused(settings, message):
    X, y = two_kernels(40)
    with pytest.raises(ValueError, match=message):
        SupervisedKernelProjection(**settings).fit(X, y)


def test_one_kernel_is_kernel_pca_and_says_so():
    X, y = two_kernels(40)
    with pytest.warns(UserWarning, match="With one kernel .* this is KernelPCA"):
        model = SupervisedKernelProjection(["rbf"], rank=3).fit(X, y)
    assert model.mixture_[0] == pytest.approx(1.0, abs=1e-6)


def test_what_a_row_gets_does_not_depend_on_others():
    X, y = two_kernels(150)
    model = SupervisedKernelProjection(rank=4).fit(X, y)
    at_once = model.decision_function(X)
    np.testing.assert_array_equal([model.decision_function(X[k : k + 1])[0] for k in range(0, 150, 7)], at_once[::7])
    np.testing.assert_array_equal(model.decision_function(X[::-1]), at_once[::-1])
    assert "4 eigenfunctions of 2 kernels" in repr(model.ensemble_)
