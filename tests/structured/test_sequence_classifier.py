"""The chain that is trained on the loss it is judged by."""

import pickle
import subprocess
import sys
from unittest.mock import patch

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import radboost
from radboost.structured import (
    SequenceClassifier,
    Transducer,
    cross_entropy,
    edit_distance,
    expected_loss,
    hamming,
    loss_value,
    ngram,
    smith_waterman,
    transducer_loss,
)
from radboost.structured.automata import LossCache
from radboost.structured.chains import ChainShape
from radboost.structured.decoding import best_strings, least_expected_loss, marginals
from radboost.structured.training import SequenceObjective
from structured_tools import all_strings

LOSSES = ("hamming", "edit_distance", "smith_waterman", "ngram", "cross_entropy")


def hidden_chains(n, seed=0, n_labels=3, n_symbols=5):
    """Sequences from a hidden Markov model, of different lengths."""
    rng = np.random.default_rng(seed)
    transition = 4.0 * np.eye(n_labels) + rng.random((n_labels, n_labels))
    transition /= transition.sum(axis=1, keepdims=True)
    emission = rng.dirichlet(0.4 * np.ones(n_symbols), n_labels)
    X, y = [], []
    for _ in range(n):
        labels = [int(rng.integers(n_labels))]
        while len(labels) < rng.integers(4, 9):
            labels.append(int(rng.choice(n_labels, p=transition[labels[-1]])))
        y.append(np.array(labels))
        X.append(np.array([rng.choice(n_symbols, p=emission[label]) for label in labels]))
    return X, y


# --- the parts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3])
def test_potentials_are_sums_of_weights(order):
    rng = np.random.default_rng(order)
    shape = ChainShape(3, 4, order)
    weights, features = rng.normal(size=shape.n_weights), rng.normal(size=(5, 4))
    emissions, substrings = shape.split(weights)
    strings, _, scores = all_strings(shape.potentials(weights, features), order)
    for string, score in zip(strings[::7], scores[::7], strict=True):
        expected = sum(features[s] @ emissions[string[s]] for s in range(5))
        for k in range(1, order + 1):
            table = substrings[k - 1].reshape((3,) * k)
            expected += sum(table[tuple(string[s - k + 1 : s + 1])] for s in range(k - 1, 5))
        assert score == pytest.approx(expected)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_are_those_of_the_objective(loss, order):
    rng = np.random.default_rng(4)
    X, y = hidden_chains(4)
    shape = ChainShape(3, 5, order)
    objective = SequenceObjective(
        shape,
        [np.eye(5)[x] for x in X],
        [labels.astype(np.int32) for labels in y],
        np.array([0.1, 0.2, 0.3, 0.4]),
        loss=SequenceClassifier(loss)._read_parameters(),
        alpha=0.3,
        max_states=100_000,
        threshold=None,
        n_jobs=1,
    )
    weights = rng.normal(size=shape.n_weights)
    objective.value_and_gradient(weights, chosen=[0])  # an estimate, which is not kept
    value, gradient = objective.value_and_gradient(weights)
    with patch.object(SequenceObjective, "terms", side_effect=AssertionError("computed again")):
        assert objective.value(weights) == value
    for k in rng.choice(shape.n_weights, 12, replace=False):
        step = np.zeros_like(weights)
        step[k] = 1e-5
        values = [objective.value_and_gradient(weights + sign * step)[0] for sign in (-1.0, 1.0)]
        assert gradient[k] == pytest.approx((values[1] - values[0]) / 2e-5, abs=1e-6)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_best_strings_are_those_of_all(order):
    rng = np.random.default_rng(order)
    for length in (1, 2, 5):
        potentials = rng.normal(size=(length, 3**order))
        strings, _, scores = all_strings(potentials, order)
        ranked = strings[np.argsort(-scores, kind="stable")]
        n_best = min(7, len(strings))
        np.testing.assert_array_equal(best_strings(potentials, order, n_best), ranked[:n_best])
        assert len(best_strings(potentials, order, 10_000)) == len(strings)


def test_marginals_are_sums_over_all_strings():
    potentials = np.random.default_rng(0).normal(size=(4, 9))
    strings, _, scores = all_strings(potentials, 2)
    chances = np.exp(scores - np.logaddexp.reduce(scores))
    expected = [[chances[strings[:, s] == label].sum() for label in range(3)] for s in range(4)]
    np.testing.assert_allclose(marginals(potentials, 2, LossCache()), expected)


@pytest.mark.parametrize(("loss", "n_candidates"), [(hamming(), 5), (edit_distance(), 10_000)], ids=repr)
def test_decoding_by_expected_loss_is_the_best_of_all_strings(loss, n_candidates):
    rng = np.random.default_rng(2)
    n_other = 0
    for _ in range(20):
        potentials = rng.normal(size=(4, 9))
        found = least_expected_loss(loss, potentials, 2, n_candidates, LossCache())
        strings, _, scores = all_strings(potentials, 2)
        losses = [expected_loss(loss, string, potentials, order=2)[0] for string in strings]
        assert expected_loss(loss, found, potentials, order=2)[0] == pytest.approx(min(losses))
        n_other += bool((found != strings[np.argmax(scores)]).any())
    assert n_other > 3


# --- the estimator ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_it_learns_and_no_round_raises_the_objective(loss):
    X, y = hidden_chains(60)
    model = SequenceClassifier(loss, window=1, n_rounds=15).fit(X[:40], y[:40])
    objective = model.history_["objective"]
    assert np.all(np.diff(objective) <= 1e-9)
    places = np.mean(np.concatenate([a == b for a, b in zip(model.predict(X[40:]), y[40:], strict=True)]))
    assert places > 0.6
    assert model.score(X[40:], y[40:]) == pytest.approx(-model.losses(X[40:], y[40:]).mean())
    np.testing.assert_allclose([p.sum(axis=1) for p in model.predict_marginals(X[:1])], 1.0)
    assert model.coef_.shape == (3, 15)
    assert [table.shape for table in model.transition_] == [(3,), (3, 3)]


def test_the_objective_bounds_the_loss():
    """(6.1) is at least L(prediction, y) - L(y, y), on average: Cortes et al. 2016, Lemma 4."""
    X, y = hidden_chains(40)
    for loss in (edit_distance(), smith_waterman(), ngram(2)):
        model = SequenceClassifier(loss, alpha=0.0, n_rounds=10).fit(X, y)
        own = np.mean([loss_value(loss, labels, labels, 3) for labels in y])
        assert model.losses(X, y).mean() - own <= model.history_["objective"][-1] + model.objective_error_


def test_cross_entropy_is_a_conditional_random_field():
    X, y = hidden_chains(12)
    model = SequenceClassifier(cross_entropy(), alpha=0.01).fit(X, y)
    likelihood = 0.0
    for x, labels in zip(X, y, strict=True):
        strings, _, scores = all_strings(model.decision_function([x])[0], 2)
        true = np.flatnonzero((strings == labels).all(axis=1))[0]
        likelihood += scores[true] - np.logaddexp.reduce(scores)
    penalty = 0.005 * (np.sum(model.coef_**2) + sum(np.sum(table**2) for table in model.transition_))
    assert model.history_["objective"][-1] == pytest.approx(penalty - likelihood / len(X))


@pytest.mark.slow
def test_descent_on_a_few_sequences_comes_near_the_minimum():
    X, y = hidden_chains(60)
    exact = SequenceClassifier("edit_distance", alpha=0.01, n_rounds=300).fit(X, y)
    descent = SequenceClassifier(
        "edit_distance", alpha=0.01, solver="sgd", n_rounds=40, learning_rate=2.0, random_state=0
    ).fit(X, y)
    start = np.log(3.0) * np.mean([len(labels) for labels in y])
    assert descent.history_["objective"][-1] < exact.history_["objective"][-1] + 0.05 * start
    again = clone(descent).fit(X, y)
    np.testing.assert_array_equal(descent.coef_, again.coef_)


@pytest.mark.parametrize("solver", ["lbfgs", "sgd"])
def test_neither_order_nor_threads_nor_repetitions_matter(solver):
    X, y = hidden_chains(12)
    settings = {"loss": "edit_distance", "n_rounds": 5, "solver": solver, "random_state": 3, "max_states": 300}
    model = SequenceClassifier(**settings, n_jobs=1).fit(X, y)
    order = np.random.default_rng(0).permutation(12)
    shuffled = SequenceClassifier(**settings, n_jobs=2).fit([X[k] for k in order], [y[k] for k in order])
    np.testing.assert_array_equal(model.coef_, shuffled.coef_)
    weights = np.array([2, 1, 0, 3] * 3)
    weighted = SequenceClassifier(**settings).fit(X, y, sample_weight=weights)
    copies = [k for k, times in enumerate(weights) for _ in range(times)]
    repeated = SequenceClassifier(**settings).fit([X[k] for k in copies], [y[k] for k in copies])
    np.testing.assert_array_equal(weighted.coef_, repeated.coef_)


def test_stop_reasons():
    X, y = hidden_chains(10)
    assert SequenceClassifier(n_rounds=2).fit(X, y).stop_reason_ == "n_rounds"
    assert SequenceClassifier(alpha=1.0, tol=1e-3).fit(X, y).stop_reason_ == "tol"
    assert SequenceClassifier(alpha=1.0, tol=0.0, n_rounds=5000).fit(X, y).stop_reason_ == "no_progress"


def test_unseen_labels_keep_the_symbols_of_a_transducer():
    arcs = [(0, a, b, 0.0 if a == b else 1.0 + 9.0 * (b == 2), 0) for a in range(3) for b in range(3)]
    own = transducer_loss(Transducer("tropical", 1, arcs, {0: 0.0}, {0: 0.0}))
    model = SequenceClassifier(own, order=1).fit(["pq", "pp"], ["bc", "bb"])
    assert "".join(model.predict(["ppp"])[0]) == "bbb"
    assert model.losses(["ppp"], ["cba"]).tolist() == [11.0]  # b for c costs 1, for the unseen a 10


def test_errors_name_the_sequence_that_was_given():
    arcs = [(0, a, b, float(a != b), 0) for a in range(3) for b in range(3) if (a, b) != (0, 2)]
    own = transducer_loss(Transducer("tropical", 1, arcs, {0: 0.0}, {0: 0.0}))
    with pytest.raises(ValueError, match="Sequence 1: The loss of a string"):
        SequenceClassifier(own, order=1).fit(["q", "a", "bb"], ["x", "z", "yy"])
    with pytest.raises(ValueError, match="Sequence 1 of X"):
        SequenceClassifier().fit([[], [0.5]], ["", "x"], sample_weight=[0.0, 1.0])


def test_features_of_ones_own_are_supplied_again(tmp_path):
    X, y = hidden_chains(8)
    model = SequenceClassifier(n_rounds=3, features=lambda x: np.eye(5)[x]).fit(X, y)
    model.save(tmp_path / "model.rad")
    loaded = radboost.load(tmp_path / "model.rad")
    with pytest.raises(radboost.model_file.MissingPartError, match="set_params"):
        loaded.predict(X)
    loaded.set_params(features=model.features)
    np.testing.assert_array_equal(np.concatenate(loaded.predict(X)), np.concatenate(model.predict(X)))


def test_few_states_are_said():
    X, y = hidden_chains(10)
    exact = SequenceClassifier("smith_waterman", n_rounds=3).fit(X, y)
    assert exact.exact_
    assert exact.objective_error_ < 1e-9
    merged = SequenceClassifier("smith_waterman", n_rounds=3, max_states=18).fit(X, y)
    assert not merged.exact_
    assert merged.objective_error_ > 0.01


def test_kinds_of_sequences():
    X, y = hidden_chains(20)
    numbers = SequenceClassifier(n_rounds=5, window=1).fit(X, y)
    texts = SequenceClassifier(n_rounds=5, window=1).fit(
        ["".join("abcde"[k] for k in x) for x in X], [["lmu"[k] for k in labels] for labels in y]
    )
    np.testing.assert_array_equal(numbers.coef_, texts.coef_)
    assert texts.classes_.tolist() == ["l", "m", "u"]
    matrices = SequenceClassifier(n_rounds=5, window=1).fit([np.eye(5)[x] for x in X], y)
    np.testing.assert_allclose(numbers.coef_, matrices.coef_, atol=1e-6)
    functions = SequenceClassifier(n_rounds=5, window=1, features=lambda x: np.eye(5)[x]).fit(X, y)
    np.testing.assert_array_equal(functions.coef_, matrices.coef_)
    unseen = numbers.predict([np.array([9, 0, 9])])[0]
    assert len(unseen) == 3


def test_one_label_and_one_place():
    model = SequenceClassifier("edit_distance").fit(["a", "ab"], ["x", "xx"])
    assert "".join(model.predict(["abba"])[0]) == "xxxx"
    assert model.losses(["ab"], ["zx"]).tolist() == [1.0]


def test_models_are_saved_without_pickle(tmp_path):
    X, y = hidden_chains(3)
    for loss in ("smith_waterman", edit_distance(1.0, 2.0, 3.0), ngram(3, 0.5)):
        model = SequenceClassifier(loss, decoding="expected_loss", n_candidates=3, n_rounds=2, max_states=200).fit(X, y)
        model.save(tmp_path / "model.rad")
        loaded = radboost.load(tmp_path / "model.rad")
        for one, other in zip(model.predict(X), loaded.predict(X), strict=True):
            np.testing.assert_array_equal(one, other)
        assert loaded.get_params() == model.get_params()
        assert loaded.score(X, y) == model.score(X, y)
        assert loaded.history_ == model.history_
        copied = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(copied.coef_, model.coef_)
    script = f"import radboost; print(type(radboost.load({str(tmp_path / 'model.rad')!r})).__name__)"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "SequenceClassifier"


def test_a_transducer_of_ones_own_is_asked_for_again(tmp_path):
    arcs = [(0, a, b, float(a != b), 0) for a in range(3) for b in range(3)]
    own = transducer_loss(Transducer("tropical", 1, arcs, {0: 0.0}, {0: 0.0}))
    X, y = hidden_chains(10)
    model = clone(SequenceClassifier(own, n_rounds=3)).fit(X, y)
    model.save(tmp_path / "own.rad")
    loaded = radboost.load(tmp_path / "own.rad")
    np.testing.assert_array_equal(np.concatenate(loaded.predict(X)), np.concatenate(model.predict(X)))
    with pytest.raises(TypeError, match="not stored"):
        loaded.score(X, y)
    assert loaded.set_params(loss=own).score(X, y) == model.score(X, y)


def test_damaged_files_are_refused(tmp_path):
    X, y = hidden_chains(5)
    model = SequenceClassifier(n_rounds=2).fit(X, y)
    for weights, message in ((model._weights[:-1], "weights"), (model._weights + 1e300, r"no number below 1e\+100")):
        model._weights = weights
        model.save(tmp_path / "model.rad")
        with pytest.raises(radboost.ModelFileError, match=message):
            radboost.load(tmp_path / "model.rad")


SEQUENCES = (["ab", "ba"], ["xy", "yx"])


@pytest.mark.parametrize(
    ("settings", "data", "message"),
    [
        ({"loss": "bleu"}, SEQUENCES, "Unknown loss 'bleu'"),
        ({"order": 0}, SEQUENCES, "order"),
        ({"alpha": -1.0}, SEQUENCES, "alpha"),
        ({"solver": "adam"}, SEQUENCES, "'lbfgs', 'sgd'"),
        ({"decoding": "beam"}, SEQUENCES, "'viterbi', 'expected_loss'"),
        ({"max_states": 3}, SEQUENCES, "at least 6 for strings of length 2"),
        ({"threshold": -1.0}, SEQUENCES, "threshold"),
        ({"n_candidates": 0}, SEQUENCES, "n_candidates"),
        ({"learning_rate": 0.0}, SEQUENCES, "learning_rate"),
        ({}, ([], []), "same number of sequences, at least one; got 0 and 0"),
        ({}, (["ab"], ["xy", "x"]), "got 1 and 2"),
        ({}, (["ab", ""], ["xy", ""]), "Sequence 1 of X must be a text"),
        ({}, (["ab"], ["x"]), "Sequence 0 has 2 positions in X and 1 labels in y"),
        ({}, ([np.full((2, 2), np.nan)], ["xy"]), "finite numbers"),
        ({}, ([[0.5, 1.5]], ["xy"]), "Sequence 0 of X"),
        ({"order": 8}, ([np.arange(20)], [np.arange(20)]), "lower order or window"),
    ],
)
def test_bad_input_is_refused(settings, data, message):
    with pytest.raises(ValueError, match=message):
        SequenceClassifier(**settings).fit(*data)


def test_wrong_types_are_refused():
    model = SequenceClassifier(n_rounds=1).fit(*SEQUENCES)
    matrices = SequenceClassifier(n_rounds=2).fit([np.eye(2)], ["xy"])
    for call, error, message in (
        (lambda: model.fit("abc", "xyz"), TypeError, "X must be a list with an entry for each sequence; got a str"),
        (lambda: model.predict("ab"), TypeError, r"got a str\. Put one sequence into a list"),
        (lambda: model.fit(["ab"], [["a", 1]]), ValueError, "all of them integers, all texts, or all booleans"),
        (lambda: model.score(["ab"], [[1, 2]]), TypeError, "labels of the type int64; the model has <U1"),
        (lambda: SequenceClassifier(features=3).fit(*SEQUENCES), TypeError, "features must be a function"),
        (lambda: SequenceClassifier().predict(["ab"]), NotFittedError, None),
        (lambda: model.predict([[1, 2]]), TypeError, "consists of integers; the model was fitted with texts"),
        (lambda: matrices.predict([np.eye(3)]), ValueError, "3 numbers at each position; the model was fitted with 2"),
        (lambda: SequenceClassifier(max_iter=3), TypeError, "n_rounds"),
    ):
        with pytest.raises(error, match=message):
            call()


def test_steps_that_diverge_say_what_to_lower():
    X, y = hidden_chains(10)
    with pytest.raises(ValueError, match=r"grow without bound.* Lower learning_rate"):
        SequenceClassifier("edit_distance", solver="sgd", learning_rate=1e200, n_rounds=20, alpha=1.0).fit(X, y)
