"""What strangers ran into: each case here once went wrong."""

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from radboost import DeepBoostClassifier, KernelFamily


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    return X, (X[:, 0] + 0.5 * rng.normal(size=120) > 0).astype(int)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine"])
def test_kernels_take_weights_for_repetition(data, kernel) -> None:
    X, y = StandardScaler().fit_transform(data[0]), data[1]
    weights = np.random.default_rng(1).integers(1, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weights)
    weighted = DeepBoostClassifier(40, family=KernelFamily(kernel)).fit(X, y, sample_weight=weights)
    repeated = DeepBoostClassifier(40, family=KernelFamily(kernel)).fit(X[copies], y[copies])
    np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))


def test_probabilities_stay_those_of_the_fit(data) -> None:
    X, y = data
    model = DeepBoostClassifier(10).fit(X, y)
    before = model.predict_proba(X)
    np.testing.assert_array_equal(model.set_params(loss="exponential").predict_proba(X), before)
    assert not np.array_equal(model.fit(X, y).predict_proba(X), before)


def test_staged_predictions_end_at_the_model(data) -> None:
    X, y = data
    model = DeepBoostClassifier(10).fit(X, y)
    assert len(list(model.staged_predict(X))) == model.n_iter_
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    np.testing.assert_array_equal(list(model.staged_predict_proba(X))[-1], model.predict_proba(X))


def test_messages_name_the_columns(data) -> None:
    frame = pd.DataFrame({"age": [1.0, 2.0] * 5, "city": ["x", "y"] * 5})
    with pytest.raises(ValueError, match="column 'city'"):
        DeepBoostClassifier(5).fit(frame, [0, 1] * 5)
    twice = pd.DataFrame(data[0][:, :2], columns=["a", "a"])
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        DeepBoostClassifier(5).fit(twice, data[1])


def test_a_question_about_missing_values_reads_as_one() -> None:
    column = np.where(np.arange(40) % 2, np.nan, 7.0)[:, None]
    text = repr(DeepBoostClassifier(20).fit(column, np.arange(40) % 2).ensemble_)
    assert "x[0] is not missing" in text
    assert "1 hypothesis with 1 split," in text
