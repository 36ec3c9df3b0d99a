"""Estimator for sequences: a linear chain trained on a loss between whole strings of labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from radboost._progress import progress_bar
from radboost._validation import (
    check_choice,
    check_integer,
    check_random_state,
    check_real,
    check_sample_weight,
    check_verbose,
    resolve_n_jobs,
    seed_from,
)
from radboost.estimators._describing import Unexplained
from radboost.model_file import NotStored, storable_estimator
from radboost.structured.automata import LossCache, check_budget, loss_value
from radboost.structured.chains import ChainShape
from radboost.structured.decoding import best_strings, least_expected_loss, marginals
from radboost.structured.features import Observations, read_observations, symbols_of
from radboost.structured.losses import Hamming, StringCrossEntropy, StringLoss, get_string_loss
from radboost.structured.training import LARGEST_WEIGHT, SequenceObjective, by_descent, by_lbfgs

SOLVERS = ("lbfgs", "sgd")
DEFAULT_STATES = 5_000  # budget of an automaton of losses
DECODINGS = ("viterbi", "expected_loss")


@storable_estimator
class SequenceClassifier(Unexplained):
    """Labels for the positions of sequences, by a linear chain trained on a loss between whole strings of labels.

    It minimizes (6.1) of Storcheus (PhD thesis, NYU 2021, chapter 6), a convex bound of the loss. Weighted automata sum
    over all strings of labels, each with the exponential of its loss and score. With "cross_entropy" it is a
    conditional random field.

    Parameters
    ----------
    loss : str or loss
        "hamming", "edit_distance", "smith_waterman", "ngram", "cross_entropy"; or made by the functions of these
        names in `radboost.structured` with costs of their own, or by `transducer_loss`.
    order : int
        q: number of consecutive labels that have a score together.
    alpha : float
        Penalty on half the squared norm of the weights.
    window : int
        Number of neighbors on each side whose features a position has.
    features : callable or None
        From a sequence to a matrix of numbers with a row for each position. None: symbols as indicators, matrices as
        they are.
    solver : {"lbfgs", "sgd"}
        L-BFGS on all sequences, or descent on `batch_size` sequences in steps of `learning_rate` / sqrt(t).
    n_rounds : int
        Iterations at most, or passes over the sequences.
    tol : float
        L-BFGS stops where no component of the gradient is larger.
    batch_size, learning_rate : int, float
        Of "sgd".
    decoding : {"viterbi", "expected_loss"}
        Predict the string with the highest score, or the one with the least expected loss under the model: for the
        Hamming loss over all strings, for others over the `n_candidates` strings with the highest scores.
    n_candidates : int
        Of "expected_loss".
    max_states, threshold : int, float or None
        The budget of the automaton of each training string's losses (`gradient_terms`). None: none for n-gram and
        Hamming losses, 5,000 states for others.
    n_jobs : int or None
        Threads. The model does not depend on it.
    random_state : int, RandomState instance or None
        Of the order of sequences in "sgd".
    verbose : int
        Whether to show the progress.

    Attributes
    ----------
    classes_ : array
        The labels; their indices are the symbols of a transducer of your own.
    coef_ : array of shape (n_classes, n_features)
        The weights of features at the position of a label.
    transition_ : list of arrays
        The weights of one label, of two in a row, and so on up to `order`, with an axis for each label.
    exact_ : bool
        Whether the losses of all strings were known exactly. If not, the model minimizes (6.1) with losses in the
        middle of their certified bounds.
    objective_error_ : float
        Largest difference of the true F at these weights from the one that was minimized.
    history_ : dict of lists
        "objective" after each round, and for "sgd" an estimate by all sequences.
    stop_reason_ : str
        "tol", "n_rounds", or "no_progress" where no step lowers the objective any more.

    Examples
    --------
    >>> from radboost.structured import SequenceClassifier
    >>> X = ["the cat sat", "a cat ran", "the dog sat"]
    >>> y = ["ddd nnn vvv", "d nnn vvv", "ddd nnn vvv"]
    >>> model = SequenceClassifier("hamming", order=2, window=1).fit(X, y)
    >>> "".join(model.predict(["a dog sat"])[0])
    'd nnn vvv'
    """

    _kind_of_file: ClassVar[str] = "sequences"
    _why_unexplained: ClassVar[str] = "it answers with whole strings of labels."

    def __init__(
        self,
        loss: StringLoss | str = "hamming",
        *,
        order: int = 2,
        alpha: float = 1e-3,
        window: int = 0,
        features: Callable[[Any], Any] | None = None,
        solver: str = "lbfgs",
        n_rounds: int = 100,
        tol: float = 1e-5,
        batch_size: int = 16,
        learning_rate: float = 0.5,
        decoding: str = "viterbi",
        n_candidates: int = 10,
        max_states: int | None = None,
        threshold: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.order = order
        self.alpha = alpha
        self.window = window
        self.features = features
        self.solver = solver
        self.n_rounds = n_rounds
        self.tol = tol
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.decoding = decoding
        self.n_candidates = n_candidates
        self.max_states = max_states
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Sequence[Any], y: Sequence[Any], sample_weight: Any = None) -> Self:
        """Learn from sequences and their labels, one for each position, and a weight for each sequence."""
        loss = self._read_parameters()
        sequences, labels = _paired(X, y)
        weights = check_sample_weight(sample_weight, len(sequences))
        weights = np.ones(len(sequences)) if weights is None else weights
        kept = np.flatnonzero(weights > 0.0)
        observations = read_observations(sequences, kept, self.window, self.features)
        strings = [_read_labels(labels[k], f"Sequence {k} of y") for k in kept]
        if len({string.dtype.kind for string in strings}) > 1:
            raise TypeError("y has labels of several kinds, texts and integers, say; give them all as texts.")
        classes = np.unique(np.concatenate(strings))
        features = [observations.matrix(sequences[k], f"Sequence {k} of X") for k in kept]
        for k, matrix, string in zip(kept, features, strings, strict=True):
            if matrix.shape[0] != len(string):
                raise ValueError(
                    f"Sequence {k} has {matrix.shape[0]} positions in X and {len(string)} labels in y; there must be a "
                    "label for each position."
                )
        targets = [np.searchsorted(classes, string).astype(np.int32) for string in strings]
        longest = max(map(len, targets))
        max_states = self._budget(loss, longest)
        shape = ChainShape(len(classes), observations.n_features, self.order)
        if shape.n_weights > 10**8:
            raise ValueError(
                f"order={self.order} with {len(classes)} labels and {observations.n_features} features asks for "
                f"{shape.n_weights:,} weights; lower order or window."
            )
        features, targets, parts, first = _distinct(features, targets, weights[kept])
        objective = SequenceObjective(
            shape,
            features,
            targets,
            parts,
            loss=loss,
            alpha=self.alpha,
            max_states=max_states,
            threshold=self.threshold,
            n_jobs=resolve_n_jobs(self.n_jobs),
            numbers=[int(kept[index]) for index in first],
        )
        solution, history, reason = self._solve(objective)
        self._loss: StringLoss | None = loss
        self._observations, self._shape = observations, shape
        self.classes_ = classes
        self._take_weights(solution)
        self.history_, self.stop_reason_, self.n_iter_ = history, reason, max(1, len(history["objective"]))
        exact, errors = objective.certificates(solution)
        self.exact_, self.objective_error_ = all(exact), float(np.dot(parts, errors))
        return self

    def _budget(self, loss: StringLoss, length: int) -> int:
        return check_budget(loss, self.max_states, self.threshold, length, DEFAULT_STATES)[0]

    def _solve(self, objective: SequenceObjective) -> tuple[NDArray[np.float64], dict[str, list[float]], str]:
        history: dict[str, list[float]] = {"objective": []}
        with progress_bar(self.n_rounds, self.verbose) as advance:

            def report(weights: NDArray[np.float64]) -> None:
                history["objective"].append(objective.value(weights))
                advance({"objective": history["objective"][-1]})

            if self.solver == "lbfgs":
                weights, reason = by_lbfgs(objective, self.n_rounds, self.tol, report)
            else:
                weights, reason = by_descent(
                    objective,
                    self.n_rounds,
                    batch_size=self.batch_size,
                    learning_rate=self.learning_rate,
                    rng=np.random.default_rng(seed_from(self.random_state)),
                    report=report,
                )
        return weights, history, reason

    def _read_parameters(self) -> StringLoss:
        loss = get_string_loss(self.loss)
        check_integer("order", self.order, 1, 8)
        check_real("alpha", self.alpha, low=0.0)
        check_integer("window", self.window, 0, 1000)
        if self.features is not None and not callable(self.features):
            raise TypeError(f"features must be a function of a sequence, or None; got {self.features!r}.")
        check_choice("solver", self.solver, SOLVERS)
        check_choice("decoding", self.decoding, DECODINGS)
        check_integer("n_rounds", self.n_rounds, 1)
        check_real("tol", self.tol, low=0.0)
        check_integer("batch_size", self.batch_size, 1)
        check_real("learning_rate", self.learning_rate, low=0.0, open_low=True)
        check_integer("n_candidates", self.n_candidates, 1, 10_000)
        check_random_state(self.random_state)
        check_verbose(self.verbose)
        resolve_n_jobs(self.n_jobs)
        return loss

    def _take_weights(self, weights: NDArray[np.float64]) -> None:
        self._weights = weights
        self.coef_, substrings = self._shape.split(weights)
        size = len(self.classes_)
        self.transition_ = [table.reshape((size,) * (k + 1)) for k, table in enumerate(substrings)]

    def decision_function(self, X: Sequence[Any]) -> list[NDArray[np.float64]]:
        """Scores of substrings of `order` labels at each position of each sequence, as in `gradient_terms`."""
        check_is_fitted(self)
        observations = self._observations
        if isinstance(observations.function, NotStored):  # of a loaded model, which may have got it again since
            observations = replace(observations, function=self.features)
        matrices = [observations.matrix(sequence, f"Sequence {k} of X") for k, sequence in enumerate(_listed("X", X))]
        return [self._shape.potentials(self._weights, matrix) for matrix in matrices]

    def predict(self, X: Sequence[Any]) -> list[NDArray[Any]]:
        """The labels of each sequence."""
        decoding = check_choice("decoding", self.decoding, DECODINGS)
        scores, order = self.decision_function(X), self._shape.order
        if decoding == "viterbi":
            strings = [best_strings(one, order)[0] for one in scores]
        else:
            kept, loss = LossCache(0), self._loss_of_fit()
            strings = [
                least_expected_loss(
                    loss,
                    one,
                    order,
                    self.n_candidates,
                    kept,
                    max_states=self._budget(loss, len(one)),
                    threshold=self.threshold,
                )
                for one in scores
            ]
        return [self.classes_[string] for string in strings]

    def predict_marginals(self, X: Sequence[Any]) -> list[NDArray[np.float64]]:
        """Probabilities of labels at each position of each sequence, for strings with odds exp(score)."""
        kept = LossCache()
        return [marginals(one, self._shape.order, kept) for one in self.decision_function(X)]

    def losses(self, X: Sequence[Any], y: Sequence[Any]) -> NDArray[np.float64]:
        """The loss of the prediction for each sequence; the Hamming loss for a model trained by cross-entropy."""
        check_is_fitted(self)
        _, labels = _paired(X, y)
        trained = self._loss_of_fit()
        loss = Hamming() if isinstance(trained, StringCrossEntropy) else trained
        losses = []
        for k, string in enumerate(self.predict(X)):
            true = _read_labels(labels[k], f"Sequence {k} of y")
            if true.dtype.kind != self.classes_.dtype.kind:
                fitted = self.classes_.dtype
                raise TypeError(f"Sequence {k} of y has labels of the type {true.dtype}; the model has {fitted}.")
            # Labels that the model has never seen come after those that it knows, which keep their numbers.
            unseen = np.setdiff1d(true, self.classes_)
            number_of = {label: number for number, label in enumerate([*self.classes_.tolist(), *unseen.tolist()])}
            predicted, wanted = ([number_of[label] for label in one.tolist()] for one in (string, true))
            losses.append(loss_value(loss, predicted, wanted, len(number_of)))
        return np.array(losses)

    def score(self, X: Sequence[Any], y: Sequence[Any]) -> float:
        """Minus the mean of `losses`: larger is better."""
        return -float(np.mean(self.losses(X, y)))

    def _loss_of_fit(self) -> StringLoss:
        return get_string_loss(self.loss) if self._loss is None else self._loss

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def _parameters_of_fit(self) -> dict[str, Any]:
        return {"order": self._shape.order, "window": self._observations.window}

    def _take_fit(self, known: NDArray[Any] | None, n_values: int, weights: NDArray[np.float64]) -> None:
        """Take the content of a model file."""
        # A transducer of the user's own is not stored: it is asked for where it is needed.
        self._loss = None if isinstance(self.loss, NotStored) else get_string_loss(self.loss)
        function = self.features if known is None else None
        self._observations = Observations(known, n_values, self.window, function)
        self._shape = ChainShape(len(self.classes_), self._observations.n_features, self.order)
        if weights.shape != (self._shape.n_weights,):
            raise ValueError(f"there are {weights.size} weights, not {self._shape.n_weights}")
        if not (np.abs(weights) < LARGEST_WEIGHT).all():
            raise ValueError(f"a weight is no number below {LARGEST_WEIGHT:g}")
        self._take_weights(weights)


def _listed(name: str, sequences: Any) -> list[Any]:
    """A list, an array or a Series of sequences as a list."""
    listed = hasattr(sequences, "__len__") and hasattr(sequences, "__iter__") and getattr(sequences, "ndim", 1) > 0
    if not listed or isinstance(sequences, str | bytes | Mapping) or hasattr(sequences, "columns"):
        raise TypeError(
            f"{name} must be a list with an entry for each sequence; got a {type(sequences).__name__}. Put one "
            "sequence into a list: [sequence]."
        )
    return list(sequences)


def _paired(X: Any, y: Any) -> tuple[list[Any], list[Any]]:
    sequences, labels = _listed("X", X), _listed("y", y)
    if len(sequences) != len(labels) or len(sequences) == 0:
        raise ValueError(
            f"X and y must have the same number of sequences, at least one; got {len(sequences)} and {len(labels)}."
        )
    return sequences, labels


def _read_labels(labels: Any, name: str) -> NDArray[Any]:
    """A text is a sequence of its characters."""
    array = symbols_of(labels)
    if array is None:
        raise ValueError(
            f"{name} must be a sequence of at least one label: all of them integers, all texts, or all booleans; got "
            f"{repr(labels)[:80]}."
        )
    return array


def _distinct(
    features: list[Any], targets: list[NDArray[np.int32]], weights: NDArray[np.float64]
) -> tuple[list[Any], list[NDArray[np.int32]], NDArray[np.float64], list[int]]:
    """Different sequences, sorted by content, with their parts of the total weight, and their first indices."""
    # So the model depends neither on the order of the sequences nor on whether they are repeated or weighted.
    first: dict[tuple[bytes, ...], int] = {}
    totals: dict[tuple[bytes, ...], list[float]] = {}
    for k, (matrix, target) in enumerate(zip(features, targets, strict=True)):
        content = (matrix.data, matrix.indices, matrix.indptr) if hasattr(matrix, "indptr") else (matrix,)
        key = (target.tobytes(), *(np.ascontiguousarray(part).tobytes() for part in content))
        first.setdefault(key, k)
        totals.setdefault(key, []).append(float(weights[k]))
    keys = sorted(first)
    sums = np.array([math.fsum(totals[key]) for key in keys])
    indices = [first[key] for key in keys]
    return [features[k] for k in indices], [targets[k] for k in indices], sums / math.fsum(sums), indices
