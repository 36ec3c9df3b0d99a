"""What a report is about: a fitted model, the rows it is judged on, and those it learned from where they are given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, column_or_1d

from radboost._numbers import are_years, number_text
from radboost._tables import column_names, column_values, known_form, without_arrow
from radboost._typing import FloatArray
from radboost._validation import check_sample_weight
from radboost.guarantees.holdout import predicts_numbers
from radboost.losses import QuantileLoss
from radboost.report.figures import Groups
from radboost.report.kinds import Kinds, kinds_of, value_text
from radboost.report.shapley import Contributions, contributions
from radboost.rows.contents import Hashes, Places, digest, drawn, joined, row_hashes, take_rows
from radboost.rows.read import is_missing, plain_labels, read_matrix, read_targets

if TYPE_CHECKING:
    from radboost.report.baselines import Baselines

Labels = npt.NDArray[Any]
UNKNOWN = -1  # the place of a label that the model does not know


@dataclass(frozen=True)
class Part:
    """Rows with their targets."""

    X: Any  # as it was given, in a form that has columns
    y: Labels  # labels, or numbers of a regressor
    matrix: Any  # numbers as the model sees them: places of categories, NaN where missing; dense, or sparse by columns
    weights: FloatArray | None
    class_ids: npt.NDArray[np.int64]  # places of labels among the classes, UNKNOWN for others; empty of a regressor
    given: Places  # where the rows were among those given; rows of weight 0 are left out
    numbers: npt.NDArray[np.int64] | None = None  # where rows stand in the table they come from, from 1 on
    units: Hashes | None = None  # equal for rows that are one observation; None: for equal rows

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def hashes(self) -> Hashes:
        """Of the cells of rows, without targets."""
        return row_hashes(self.X)

    @cached_property
    def keys(self) -> Hashes:
        """Of rows and their targets."""
        return joined(self.hashes, self.y)

    @cached_property
    def groups(self) -> Groups | None:
        """The observation that each row belongs to: equal rows are one, and say no more than one of them."""
        units = self.hashes if self.units is None else self.units
        different, found = np.unique(units, return_inverse=True)
        return None if len(different) == len(units) else found.reshape(-1)

    @property
    def n_different(self) -> int:
        """How many observations there are."""
        return len(self) if self.groups is None else int(self.groups.max()) + 1

    def column(self, place: int) -> FloatArray:
        if sparse.issparse(self.matrix):
            return np.asarray(self.matrix[:, [place]].toarray().ravel(), dtype=np.float64)
        return np.asarray(self.matrix[:, place], dtype=np.float64)

    def number(self, place: int) -> int:
        """What a row is called: its number in the table it comes from, or its place here."""
        return int(self.given[place] if self.numbers is None else self.numbers[place])

    def weight(self) -> FloatArray:
        return np.ones(len(self)) if self.weights is None else self.weights

    def sample(self, most: int) -> Places:
        """Places of some rows, drawn by their content."""
        return drawn(self.keys, most)

    def take(self, places: Places) -> Any:
        """Rows in the form that the model takes."""
        return self.X if len(places) == len(self) else take_rows(self.X, places)


@dataclass(frozen=True)
class Subject:
    """All that sections compute from."""

    model: Any  # that answers; of a search the best estimator
    asked: Any  # what the report was asked of
    test: Part
    train: Part | None
    names: tuple[str, ...]
    classes: tuple[Any, ...]  # empty of a regressor
    predicted: Labels
    probabilities: FloatArray | None
    sources: Labels | None
    context: Mapping[str, str]
    copies: Subject | None = None  # the same about held-out copies of training rows, which say something else
    share_of_copies: float = 0.0  # of all rows, those that have a copy

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
        """What the numbers of rows mean."""
        if self.test.numbers is None:
            return "rows are counted from 0, as they were given"
        return "rows have their numbers in the table they come from, counted from 1 without a line of names"

    @cached_property
    def seed(self) -> int:
        """For draws that are the same in every run on the same rows, in any order."""
        return int(digest(np.sort(self.test.keys), self.names)[:12], 16)

    @cached_property
    def digest(self) -> str:
        """Of the held-out rows and their targets."""
        return digest(self.test.keys, self.names)

    @cached_property
    def baselines(self) -> Baselines:
        """What the model is compared with."""
        from radboost.report.baselines import baselines  # which needs to know what a subject is

        return baselines(self)

    @cached_property
    def answer_ids(self) -> npt.NDArray[np.int64]:
        """The answers of a classifier, as places of classes."""
        places = {label: place for place, label in enumerate(self.classes)}
        return np.array([places[label] for label in self.predicted.tolist()], dtype=np.int64)

    @cached_property
    def wrong(self) -> npt.NDArray[np.bool_]:
        """Held-out rows that a classifier gets wrong."""
        return np.asarray(self.answer_ids != self.test.class_ids)

    @cached_property
    def cost(self) -> FloatArray | None:
        """What answers cost (columns) by the true class (lines), where the model was told and it is not 1 for each."""
        return cost_of(self.model) if self.classifies else None

    @cached_property
    def truth_probability(self) -> FloatArray:
        """What the model gave the true class of each held-out row; 0 to one that it does not know."""
        assert self.probabilities is not None
        found = np.zeros(len(self.test))
        known = np.flatnonzero(self.test.class_ids != UNKNOWN)
        found[known] = self.probabilities[known, self.test.class_ids[known]]
        return found

    @cached_property
    def gains(self) -> FloatArray:
        """Importances by the model itself, as shares; zeros where it has none."""
        found = np.asarray(getattr(self.model, "feature_importances_", np.zeros(self.n_columns)), dtype=np.float64)
        found = np.nan_to_num(found)
        total = found.sum()
        return found / total if total > 0.0 else found

    @cached_property
    def contributions(self) -> Contributions | str:
        """Shapley values of some held-out rows, or why there are none."""
        n_outputs = len(self.classes) if len(self.classes) > 2 else 1
        return contributions(self.model, self.test.X, self.test.keys, n_outputs)

    @property
    def quantile(self) -> float | None:
        """The level of a quantile regression."""
        loss = getattr(self.model, "loss_", None)
        return float(loss.level) if isinstance(loss, QuantileLoss) else None

    def by_gain(self) -> list[int]:
        """Columns, the most important first; of equal ones the first."""
        found: list[int] = np.argsort(-self.gains, kind="stable").tolist()
        return found

    def kind(self, place: int) -> str:
        """What a column holds, in a word."""
        if place in self.categories:
            return "categories"
        if place in self.kinds:
            return {"date": "dates", "boolean": "true or false"}[self.kinds[place]]
        values = self.test.column(place)
        known = values[~np.isnan(values)]
        if len(known) and np.isin(known, (0.0, 1.0)).all():
            return "0 or 1"
        return "whole numbers" if len(known) and (known == np.rint(known)).all() else "numbers"

    @cached_property
    def kinds(self) -> Kinds:
        """Columns of dates and of truth values, where the model knows them."""
        return kinds_of(self.model, self.names)

    def value_text(self, place: int, value: float) -> str:
        """A number of a column as the table has it."""
        return value_text(self.kinds.get(place), value, partial(number_text, year=place in self.years))

    @cached_property
    def years(self) -> frozenset[int]:
        """Columns of numbers that look like years."""
        columns = [(place, self.test.column(place)) for place in range(self.n_columns) if place not in self.categories]
        return frozenset(place for place, values in columns if are_years(values[~np.isnan(values)]))

    def cell(self, row: int, place: int) -> str:
        """A held-out cell as it was given, or as the table has it that the model was fitted to."""
        if place in self.kinds:
            value = float(self.test.column(place)[row])
            return "missing" if np.isnan(value) else self.value_text(place, value)
        if place in self.years and not np.isnan(self.test.column(place)[row]):
            return self.value_text(place, float(self.test.column(place)[row]))
        if sparse.issparse(self.test.X):
            return _cell_text(self.test.X[[row]][:, [place]].toarray()[0, 0])
        return _cell_text(column_values(take_rows(self.test.X, [row]), place)[0])


def cost_of(model: Any) -> FloatArray | None:
    """The costs that a classifier was fitted with; None where every mistake costs 1."""
    found = getattr(model, "cost_", None)
    if found is None:
        return None
    matrix = np.asarray(found, dtype=np.float64)
    return None if np.array_equal(matrix, 1.0 - np.eye(len(matrix))) else matrix


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
) -> Subject:
    """Checks what a report is asked of, and has the model answer."""
    answering = _answering(model)
    numbers = predicts_numbers(answering)
    classes = () if numbers else tuple(answering.classes_.tolist())
    test = _numbered(_part(answering, X, y, sample_weight, classes, ""), row_numbers, len(y), "row_numbers")
    if (X_train is None) != (y_train is None):
        raise ValueError("X_train and y_train belong together: give both, or neither.")
    needed = row_numbers is not None and X_train is not None
    if needed != (row_numbers_train is not None):
        raise ValueError(
            "row_numbers and row_numbers_train belong together where X_train is given: give both, or neither."
        )
    train = None
    if X_train is not None:
        train = _part(answering, X_train, y_train, None, classes, "_train")
        train = _numbered(train, row_numbers_train, len(y_train), "row_numbers_train")
    names = getattr(answering, "feature_names_in_", None)
    given = column_names(test.X)
    titles = names if names is not None else given if given is not None else None
    width = int(test.matrix.shape[1])
    return Subject(
        model=answering,
        asked=model,
        test=test,
        train=train,
        names=tuple(f"x[{place}]" if titles is None else str(titles[place]) for place in range(width)),
        classes=classes,
        predicted=np.asarray(answering.predict(test.X)),
        probabilities=_probabilities(answering, test.X),
        sources=None if sources is None else _sources(sources, len(np.asarray(without_arrow(y))))[test.given],
        context={} if context is None else {str(name): str(value) for name, value in context.items()},
    )


def _answering(model: Any) -> Any:
    """What predicts; with words where there is none to report on."""
    if isinstance(model, type) or not hasattr(model, "predict") or not hasattr(model, "fit"):
        raise TypeError(f"A report is about a fitted classifier or regressor of RadBoost; got {model!r}.")
    check_is_fitted(model)
    answering = getattr(model, "best_estimator_", model)
    if not hasattr(answering, "ensemble_"):
        raise TypeError(
            f"A report is about a classifier or regressor of RadBoost, and {type(model).__name__} is none. Of a "
            "pipeline pass the last step, with the rows as it sees them."
        )
    numbers = predicts_numbers(answering)
    several = hasattr(answering, "task_labels_") or (numbers and getattr(answering.ensemble_, "n_outputs", 1) > 1)
    if several or not (numbers or hasattr(answering, "classes_")):
        raise TypeError(
            f"This {type(model).__name__} answers several targets at once, and a report is about one. Fit a model for "
            "the column of y that you want to know about."
        )
    return answering


def _part(model: Any, X: Any, y: Any, sample_weight: Any, classes: tuple[Any, ...], suffix: str) -> Part:
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
    if weights is not None and (weights == 0.0).any():
        given = np.flatnonzero(weights)
        X, labels, weights = take_rows(X, given), labels[given], weights[given]
    accepted = {"accepted": model._accepted} if hasattr(model, "_accepted") else {}
    matrix = read_matrix(model, X, getattr(model.ensemble_, "categories", {}), **accepted)
    places = {label: place for place, label in enumerate(classes)}
    ids = [places.get(label, UNKNOWN) for label in labels.tolist()] if classes else []
    if classes and max(ids) == UNKNOWN:
        raise ValueError(
            f"y{suffix} holds {_some(dict.fromkeys(labels.tolist()))}, and the classes of the model are "
            f"{_some(classes)}: it knows no label of these rows. Give labels of the type and spelling of the fit."
        )
    return Part(
        X=X,
        y=labels,
        matrix=sparse.csc_array(matrix) if sparse.issparse(matrix) else matrix,
        weights=None if weights is None or (weights == weights[0]).all() else weights,
        class_ids=np.array(ids, dtype=np.int64),
        given=given,
    )


def _some(labels: Iterable[Any], most: int = 6) -> str:
    """The first labels, as Python writes them."""
    every = list(labels)
    return ", ".join(map(repr, every[:most])) + (f" and {len(every) - most} more" if len(every) > most else "")


def _numbered(part: Part, numbers: Any, n_given: int, name: str) -> Part:
    if numbers is None:
        return part
    found = column_or_1d(np.asarray(without_arrow(numbers)))
    if len(found) != n_given or found.dtype.kind not in "iu":
        raise ValueError(
            f"{name} has {len(found)} entries of {found.dtype}; give a whole number for each of {n_given} rows."
        )
    return replace(part, numbers=found.astype(np.int64)[part.given])


def _table(X: Any, name: str) -> Any:
    """Rows in a form of which columns and rows can be taken."""
    X = known_form(X, name)
    if not hasattr(X, "shape"):
        flat = np.array(X)
        X = flat if flat.dtype.kind in "biuf" else np.array(X, dtype=object)
    if len(X.shape) != 2:
        raise ValueError(f"{name} must have rows and columns, and has the shape {X.shape}.")
    return sparse.csr_array(X) if sparse.issparse(X) else X


def _probabilities(model: Any, X: Any) -> FloatArray | None:
    if not hasattr(model, "predict_proba"):
        return None
    return np.asarray(model.predict_proba(X), dtype=np.float64)


def _sources(sources: Any, n_rows: int) -> Labels:
    found: Labels = column_or_1d(np.asarray(without_arrow(sources)))
    if len(found) != n_rows:
        raise ValueError(f"sources has {len(found)} entries for {n_rows} rows; give one for each row.")
    return found


def _cell_text(value: Any) -> str:
    if is_missing(value):
        return "missing"
    if isinstance(value, float | np.floating):
        found = float(value)
        return number_text(found) if abs(found) >= 1e6 else f"{found:.6g}"
    return str(value)
