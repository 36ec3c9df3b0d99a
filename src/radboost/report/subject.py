"""Subject of a report: a fitted model, held-out rows with its predictions, and its training rows if they are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import _safe_indexing as rows_of
from sklearn.utils.validation import check_is_fitted, column_or_1d

from radboost._numbers import are_years, listed, number_text
from radboost._tables import column_names, known_form, without_arrow
from radboost._typing import FloatArray
from radboost._validation import check_sample_weight
from radboost.estimators._predicting import labels_and_probabilities
from radboost.guarantees.holdout import predicts_numbers
from radboost.losses import QuantileLoss
from radboost.report.figures import Groups
from radboost.report.kinds import Kinds, kinds_of, value_text
from radboost.report.shapley import Contributions, contributions
from radboost.rows.hashing import Hashes, RowIndices, digest, drawn, joined, row_hashes
from radboost.rows.read import plain_labels, read_matrix, read_targets

if TYPE_CHECKING:
    from radboost.report.baselines import Baselines
    from radboost.report.scores import Score

Labels = npt.NDArray[Any]
Outputs = tuple[Labels, FloatArray | None]  # labels and probabilities, or numbers of a regressor
UNKNOWN = -1  # class id of a label that the model does not know


class Predictions(NamedTuple):
    """Predictions of a model or a baseline: class ids or numbers, and probabilities where it has them."""

    predicted: npt.NDArray[Any]
    probabilities: FloatArray | None = None


@dataclass(frozen=True)
class SubjectRows:
    """Rows with their targets."""

    X: Any  # as it was given, in a form that has columns
    y: Labels  # labels, or numbers of a regressor
    matrix: Any  # numbers as the model sees them: codes of categories, NaN where missing; dense, or sparse by columns
    weights: FloatArray | None
    class_ids: npt.NDArray[np.int64]  # indices of labels among the classes, or UNKNOWN; empty of a regressor
    given: RowIndices  # indices of the rows among those given; rows of weight 0 are left out
    numbers: npt.NDArray[np.int64] | None = None  # numbers of rows in the table they come from, from 1 on
    units: Hashes | None = None  # equal for rows that are one observation; None: for equal rows

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def hashes(self) -> Hashes:
        """Hash of the cells of each row, without its target."""
        return row_hashes(self.X)

    @cached_property
    def keys(self) -> Hashes:
        """Hash of each row with its target."""
        return joined(self.hashes, self.y)

    @cached_property
    def groups(self) -> Groups | None:
        """Observation that each row belongs to: equal rows are one. None where every row is its own."""
        units = self.hashes if self.units is None else self.units
        different, groups = np.unique(units, return_inverse=True)
        return None if len(different) == len(units) else groups.reshape(-1)

    @property
    def n_different(self) -> int:
        """Number of observations."""
        return len(self) if self.groups is None else int(self.groups.max()) + 1

    def column(self, index: int) -> FloatArray:
        if sparse.issparse(self.matrix):
            return np.asarray(self.matrix[:, [index]].toarray().ravel(), dtype=np.float64)
        return np.asarray(self.matrix[:, index], dtype=np.float64)

    def number(self, index: int) -> int:
        """Number of a row in the table it comes from, or its index among the rows given."""
        return int(self.given[index] if self.numbers is None else self.numbers[index])

    def weight(self) -> FloatArray:
        return np.ones(len(self)) if self.weights is None else self.weights

    def sample(self, most: int) -> RowIndices:
        """Indices of some rows, drawn by their content."""
        return drawn(self.keys, most)

    def take(self, rows: RowIndices) -> Any:
        """Rows in the form that the model takes."""
        return self.X if len(rows) == len(self) else rows_of(self.X, rows)


@dataclass(frozen=True)
class Subject:
    """Everything that sections compute from."""

    model: Any  # estimator; of a search the best one
    asked: Any  # estimator or search whose report this is
    test: SubjectRows
    train: SubjectRows | None
    names: tuple[str, ...]
    classes: tuple[Any, ...]  # empty of a regressor
    predicted: Labels
    probabilities: FloatArray | None
    sources: Labels | None
    context: Mapping[str, str]
    copies: Subject | None = None  # the same about held-out copies of training rows
    share_of_copies: float = 0.0  # fraction of all rows that have a copy
    given_baselines: Baselines | None = None  # None: they are fitted

    @property
    def classifies(self) -> bool:
        return len(self.classes) > 0

    @property
    def n_columns(self) -> int:
        return len(self.names)

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        return tuple(str(label) for label in self.classes)

    @property
    def categories(self) -> Mapping[int, Sequence[Any]]:
        return getattr(self.model.ensemble_, "categories", {})

    @property
    def counting(self) -> str:
        """Meaning of the numbers of rows, in words."""
        if self.test.numbers is None:
            return "rows are counted from 0, as they were given"
        return "rows have their numbers in the table they come from, counted from 1 without a header"

    @cached_property
    def seed(self) -> int:
        """Seed of random draws: the same for the same rows in any order."""
        return int(digest(np.sort(self.test.keys), self.names)[:12], 16)

    @cached_property
    def digest(self) -> str:
        """Hash of the held-out rows and their targets."""
        return digest(self.test.keys, self.names)

    @cached_property
    def baselines(self) -> Baselines:
        """Predictions that the model is compared with."""
        from radboost.report.baselines import baselines  # which needs to know what a subject is

        return baselines(self) if self.given_baselines is None else self.given_baselines

    @cached_property
    def scores(self) -> Mapping[str, Score]:
        """Scores by the names of the measures, the one that decides first."""
        from radboost.report.scores import scores_of  # as above

        return scores_of(self)

    @cached_property
    def own(self) -> Predictions:
        """Predictions of the model: class ids or numbers, and probabilities."""
        return Predictions(self.predicted_ids if self.classifies else self.predicted, self.probabilities)

    @cached_property
    def predicted_ids(self) -> npt.NDArray[np.int64]:
        """Class ids that a classifier predicts."""
        ids = {label: index for index, label in enumerate(self.classes)}
        return np.array([ids[label] for label in self.predicted.tolist()], dtype=np.int64)

    @cached_property
    def wrong(self) -> npt.NDArray[np.bool_]:
        """Mask of the held-out rows that a classifier gets wrong."""
        return np.asarray(self.predicted_ids != self.test.class_ids)

    @cached_property
    def cost(self) -> FloatArray | None:
        """Cost of predicted (columns) by true classes (rows); None where each mistake costs 1."""
        if not self.classifies or (given := getattr(self.model, "cost_", None)) is None:
            return None
        matrix = np.asarray(given, dtype=np.float64)
        return None if np.array_equal(matrix, 1.0 - np.eye(len(matrix))) else matrix

    @cached_property
    def gains(self) -> FloatArray:
        """Importances by the model itself, with the sum 1; zeros where it has none."""
        gains = np.nan_to_num(getattr(self.model, "feature_importances_", np.zeros(self.n_columns)))
        total = float(gains.sum())
        return np.asarray(gains / total if total > 0.0 else gains, dtype=np.float64)

    @cached_property
    def contributions(self) -> Contributions | str:
        """Shapley values of some held-out rows, or the reason why there are none."""
        n_outputs = len(self.classes) if len(self.classes) > 2 else 1
        return contributions(self.model, self.test.X, self.test.keys, n_outputs)

    @property
    def quantile(self) -> float | None:
        """The level of a quantile regression."""
        loss = getattr(self.model, "loss_", None)
        return float(loss.level) if isinstance(loss, QuantileLoss) else None

    def by_gain(self) -> list[int]:
        """Columns, the most important first; of equal ones the first."""
        order: list[int] = np.argsort(-self.gains, kind="stable").tolist()
        return order

    def kind(self, column: int) -> str:
        """Kind of the values of a column, in a word."""
        if column in self.categories:
            return "categories"
        if column in self.kinds:
            return {"date": "dates", "boolean": "true or false"}[self.kinds[column]]
        values = self.test.column(column)
        known = values[~np.isnan(values)]
        if len(known) and np.isin(known, (0.0, 1.0)).all():
            return "0 or 1"
        return "whole numbers" if len(known) and (known == np.rint(known)).all() else "numbers"

    @cached_property
    def kinds(self) -> Kinds:
        """Columns of dates and of truth values, where the model knows them."""
        return kinds_of(self.model, self.names)

    def value_text(self, column: int, value: float) -> str:
        """Number of a column as the table has it."""
        return value_text(self.kinds.get(column), value, partial(number_text, year=column in self.years))

    @cached_property
    def years(self) -> frozenset[int]:
        """Columns of numbers that look like years."""
        columns = [(one, self.test.column(one)) for one in range(self.n_columns) if one not in self.categories]
        return frozenset(one for one, values in columns if are_years(values[~np.isnan(values)]))


def read(
    model: Any,
    X: Any,
    y: Any,
    *,
    X_train: Any = None,
    y_train: Any = None,
    sample_weight: Any = None,
    sources: Any = None,
    row_numbers: Any = None,
    row_numbers_train: Any = None,
    context: Mapping[str, Any] | None = None,
    outputs: Outputs | None = None,
) -> Subject:
    """Check the arguments of a report, and compute the predictions; `outputs`: those that are known already."""
    estimator = _estimator(model)
    classes = () if predicts_numbers(estimator) else tuple(estimator.classes_.tolist())
    test = _rows(estimator, X, y, sample_weight, row_numbers, classes, "")
    if (X_train is None) != (y_train is None):
        raise ValueError("X_train and y_train belong together: give both, or neither.")
    needed = row_numbers is not None and X_train is not None
    if needed != (row_numbers_train is not None):
        raise ValueError(
            "row_numbers and row_numbers_train belong together where X_train is given: give both, or neither."
        )
    train = None
    if X_train is not None:
        train = _rows(estimator, X_train, y_train, None, row_numbers_train, classes, "_train")
    if sources is not None:
        sources = column_or_1d(np.asarray(without_arrow(sources)))
        n_rows = len(np.asarray(without_arrow(y)))
        if len(sources) != n_rows:
            raise ValueError(f"sources has {len(sources)} entries for {n_rows} rows; give one for each row.")
        sources = sources[test.given]
    if outputs is None:
        outputs = labels_and_probabilities(estimator, test.X) if classes else (estimator.predict(test.X), None)
    names = getattr(estimator, "feature_names_in_", None)
    names = column_names(test.X) if names is None else names
    width = int(test.matrix.shape[1])
    return Subject(
        model=estimator,
        asked=model,
        test=test,
        train=train,
        names=tuple(f"x[{index}]" if names is None else str(names[index]) for index in range(width)),
        classes=classes,
        predicted=np.asarray(outputs[0]),
        probabilities=outputs[1],
        sources=sources,
        context={} if context is None else {str(name): str(value) for name, value in context.items()},
    )


def _estimator(model: Any) -> Any:
    """Return the estimator that predicts, or refuse with a reason."""
    if isinstance(model, type) or not hasattr(model, "predict") or not hasattr(model, "fit"):
        raise TypeError(f"A report is about a fitted classifier or regressor of RadBoost; got {model!r}.")
    check_is_fitted(model)
    estimator = getattr(model, "best_estimator_", model)
    if not hasattr(estimator, "ensemble_"):
        raise TypeError(
            f"A report is about a classifier or regressor of RadBoost, and {type(model).__name__} is none. Of a "
            "pipeline pass the last step, with the rows as it sees them."
        )
    regresses = predicts_numbers(estimator)
    several = hasattr(estimator, "task_labels_") or (regresses and getattr(estimator.ensemble_, "n_outputs", 1) > 1)
    if several or not (regresses or hasattr(estimator, "classes_")):
        raise TypeError(
            f"This {type(model).__name__} predicts several targets at once, and a report is about one. Fit a model for "
            "the column of y that you want to know about."
        )
    return estimator


def _rows(
    model: Any, X: Any, y: Any, sample_weight: Any, row_numbers: Any, classes: tuple[Any, ...], suffix: str
) -> SubjectRows:
    """Check rows with their targets; `suffix` is that of the names of arguments."""
    X = _table(X, f"X{suffix}")
    labels = np.asarray(without_arrow(y))
    if labels.ndim == 2 and labels.shape[1] > 1:
        raise ValueError(
            f"y{suffix} has {labels.shape[1]} columns, and a report is about one target. Fit a model for the column "
            "that you want to know about."
        )
    labels = column_or_1d(labels)
    labels = plain_labels(labels, f"y{suffix}") if classes else read_targets(labels, f"y{suffix}")
    if X.shape[0] != len(labels):
        raise ValueError(f"X{suffix} has {X.shape[0]} rows and y{suffix} has {len(labels)}; give one for each row.")
    if not len(labels):
        raise ValueError(f"X{suffix} has no rows; a report needs at least one.")
    weights = check_sample_weight(sample_weight, len(labels))
    given = np.arange(len(labels))
    numbers = None if row_numbers is None else column_or_1d(np.asarray(without_arrow(row_numbers)))
    if numbers is not None and (len(numbers) != len(labels) or numbers.dtype.kind not in "iu"):
        raise ValueError(
            f"row_numbers{suffix} has {len(numbers)} entries of {numbers.dtype}; give a whole number for each of "
            f"{len(labels)} rows."
        )
    if weights is not None and (weights == 0.0).any():
        given = np.flatnonzero(weights)
        X, labels, weights = rows_of(X, given), labels[given], weights[given]
    accepted = {"accepted": model._accepted} if hasattr(model, "_accepted") else {}
    matrix = read_matrix(model, X, getattr(model.ensemble_, "categories", {}), **accepted)
    id_of = {label: index for index, label in enumerate(classes)}
    ids = [id_of.get(label, UNKNOWN) for label in labels.tolist()] if classes else []
    if classes and max(ids) == UNKNOWN:
        raise ValueError(
            f"y{suffix} holds {listed(dict.fromkeys(labels.tolist()), 6)}, and the classes of the model are "
            f"{listed(classes, 6)}: it knows no label of these rows. Give labels of the type and spelling of the fit."
        )
    return SubjectRows(
        X=X,
        y=labels,
        matrix=sparse.csc_array(matrix) if sparse.issparse(matrix) else matrix,
        weights=None if weights is None or (weights == weights[0]).all() else weights,
        class_ids=np.array(ids, dtype=np.int64),
        given=given,
        numbers=None if numbers is None else numbers[given].astype(np.int64),
    )


def _table(X: Any, name: str) -> Any:
    """Return rows in a form of which columns and rows can be taken."""
    X = known_form(X, name)
    if not hasattr(X, "shape"):
        flat = np.array(X)
        X = flat if flat.dtype.kind in "biuf" else np.array(X, dtype=object)
    if len(X.shape) != 2:
        raise ValueError(f"{name} must have rows and columns, and has the shape {X.shape}.")
    return sparse.csr_array(X) if sparse.issparse(X) else X
