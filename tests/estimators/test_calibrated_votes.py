"""Probabilities of three classes and more: scores are shares of votes as much as logarithms."""

from dataclasses import replace

import numpy as np
import pytest

from radboost import DeepBoostClassifier, ModelFileError, TreeOptions
from radboost.calibration import GROUND, Calibration, CalibrationRows, _Rows, fit_calibration
from radboost.rows.weights import RowWeights
from reference.softmax import soft_max as softmax

POWERFUL = Calibration(temperature=0.7, doubt=0.1, power=1.3, ground=0.02)


def judged(scores, ids, weights=None):
    return CalibrationRows(RowWeights(weights, len(ids)), ids.astype(np.uint16), scores)


def drawn(probabilities, rng):
    return (probabilities.cumsum(axis=1) < rng.random((len(probabilities), 1))).sum(axis=1).clip(max=4)


def ballots(m, seed, wrong=0.2):
    """Votes of 40 trees for five classes, two of them rare, and labels of the same probabilities, a share drawn anew.

    The truth is known: trees that vote as the labels fall have the right probabilities as their shares.
    """
    rng = np.random.default_rng(seed)
    true = rng.dirichlet([1.5, 1.0, 0.8, 0.05, 0.05], size=m)
    votes = np.array([rng.multinomial(40, row) for row in true]) * 0.15
    noisy = (1.0 - wrong) * true + wrong / 5.0
    return votes, drawn(noisy, rng), noisy


def loss_of(found, scores, ids):
    """What `fit_calibration` minimises."""
    right = found.apply(softmax, scores)[np.arange(len(ids)), ids]
    prior = 0.5 * np.log(found.temperature) ** 2 - np.log1p(-found.doubt) + found.power / 2.0
    return -np.log(np.maximum(right, 1e-12)).sum() + prior


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=400) / 3, [-1.0, 0.0, 1.0])
    return DeepBoostClassifier(20, tree_options=TreeOptions(leaves="votes"), n_jobs=1).fit(X, y), X


@pytest.mark.parametrize("seed", [0, 1])
def test_the_least_loss_of_a_grid(seed):
    scores, ids, _ = ballots(300, seed)
    found = fit_calibration(softmax, [judged(scores, ids)], 1)
    ground = GROUND * (scores.max(axis=1) - scores.min(axis=1)).mean()
    assert found.ground == pytest.approx(ground)
    grid = [
        Calibration(np.exp(log_temperature), doubt, power, ground)
        for log_temperature in np.linspace(-1.0, 4.0, 16)
        for doubt in np.linspace(0.0, 0.6, 9)
        for power in np.linspace(0.0, 3.0, 11)
    ]
    assert loss_of(found, scores, ids) <= min(loss_of(one, scores, ids) for one in grid) + 0.02


@pytest.mark.parametrize("wrong", [0.0, 1e-3, 0.3, 1.0])
def test_the_doubt_of_rows_that_were_thought_impossible(wrong):
    """The slope at 0 is as steep as a trillion, or the doubt is at the end of its interval."""
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 5, 2000)
    scores = 60.0 * np.eye(5)[ids]
    ids[: int(2000 * wrong)] = rng.integers(0, 5, int(2000 * wrong))
    rows = _Rows([judged(scores[:700], ids[:700]), judged(scores[700:], ids[700:])], 1)
    loss, doubt = rows.best_doubt(softmax(scores))
    right = softmax(scores)[np.arange(len(ids)), ids]
    grid = [
        -np.log(np.maximum((1.0 - share) * right + share / 5, 1e-12)).sum() - np.log1p(-share)
        for share in np.linspace(0.0, 0.98, 4901)
    ]
    assert loss == pytest.approx(loss_of(Calibration(doubt=doubt), scores, ids), rel=1e-8)
    assert min(grid) - 0.01 <= loss <= min(grid) + 0.02


def test_it_takes_few_steps():
    """Nested searches: each probability of a temperature is tried with some powers, and each of these with doubts."""
    scores, ids, _ = ballots(300, 0)
    asked = []

    def counting(scores):
        asked.append(len(scores))
        return softmax(scores)

    fit_calibration(counting, [judged(scores, ids)], 1)
    assert 4 <= len(asked) <= 20


def test_the_truth_is_found_where_scores_are_votes():
    """A temperature and a doubt alone cannot say that a class without votes is rare."""
    scores, ids, _ = ballots(4000, 0)
    new, _, true = ballots(4000, 1)
    found = fit_calibration(softmax, [judged(scores, ids)], 1)
    assert 0.5 < found.power < 2.0
    assert found.doubt == pytest.approx(0.2, abs=0.07)
    plain = min(
        (Calibration(np.exp(t), doubt) for t in np.linspace(-2.0, 2.0, 41) for doubt in np.linspace(0.0, 0.6, 25)),
        key=lambda one: loss_of(one, scores, ids),
    )
    distances = [
        (true * np.log(true / one.apply(softmax, new))).sum(axis=1).mean() for one in (found, plain, Calibration())
    ]
    assert distances[0] < 0.6 * distances[1] < distances[2]


def test_temperatures_need_no_votes():
    """Where scores are logarithms, probabilities are as without a power."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(6000, 5))
    true = softmax(2.0 * scores)
    found = fit_calibration(softmax, [judged(scores, drawn(true, rng))], 1)
    assert np.abs(found.apply(softmax, scores) - true).mean() < 0.01


@pytest.mark.parametrize(
    "given", [POWERFUL, replace(POWERFUL, temperature=30.0, power=8.0), Calibration(0.1, 0.9, 3.0)]
)
def test_the_most_probable_class_stays(given):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(300, 6)) * 10.0 ** rng.integers(-2, 2, size=(300, 1))
    scores[:100] = rng.integers(0, 3, size=(100, 6))  # ties
    scores[0] = 1.0
    found = given.apply(softmax, scores)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_array_equal(found.argmax(axis=1), scores.argmax(axis=1))
    # A constant for all classes changes nothing.
    np.testing.assert_allclose(given.apply(softmax, scores + 3.0), found, rtol=1e-9)


def test_scores_that_are_all_alike():
    found = fit_calibration(softmax, [judged(np.ones((30, 3)), np.arange(30) % 3)], 1)
    assert found.power == 0.0
    np.testing.assert_allclose(found.apply(softmax, np.ones((2, 3))), 1.0 / 3.0)


def test_files_refuse_what_makes_no_sense(model):
    model, X = model
    data = model.to_dict()
    kept = data["content"]["calibration"]
    assert set(kept) == {"temperature", "doubt", "power", "ground"}
    wrong = [kept | {"power": -1.0}, kept | {"ground": 0.0}]
    for one in [*wrong, kept | {"power": 1}, {key: kept[key] for key in kept if key != "ground"}]:
        data["content"]["calibration"] = one
        with pytest.raises(ModelFileError, match="calibration"):
            DeepBoostClassifier.from_dict(data)
    data["content"]["calibration"] = {"temperature": 0.5, "doubt": 0.1, "power": 0.0, "ground": 1.0}
    other = DeepBoostClassifier.from_dict(data)
    assert other.calibration_ == Calibration(0.5, 0.1)
    plain = model._probabilities(model.decision_function(X) / 0.5)
    np.testing.assert_array_equal(other.predict_proba(X), 0.9 * plain + 0.1 / 4)


def test_two_classes_have_no_power(model):
    model, X = model
    two = DeepBoostClassifier(5, n_jobs=1).fit(X, X[:, 0] + X[:, 1] ** 2 > 1.0)
    assert two.calibration_.power == 0.0
    data = two.to_dict()
    data["content"]["calibration"]["power"] = 1.0
    with pytest.raises(ModelFileError, match="three classes or more"):
        DeepBoostClassifier.from_dict(data)
