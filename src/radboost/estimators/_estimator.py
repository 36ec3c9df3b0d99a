"""Base class of all estimators: parameters, model files, exports, report."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import fields, replace
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from radboost._typing import FloatArray
from radboost.estimators._naming import CHECKED, advice_on_name, check_methods, check_names, parameters_of
from radboost.export.c_code import c_code
from radboost.export.onnx_graph import onnx_model
from radboost.export.parts import Exported, ExportedOutput, ScoreSum, refuse_model
from radboost.export.treelite_model import treelite_model
from radboost.model_file import from_plain, save_model, to_plain
from radboost.rows.read import dense_rows, read_matrix
from radboost.trees import TreeOptions

if TYPE_CHECKING:
    import onnx
    import treelite

Model = TypeVar("Model")
Given = ParamSpec("Given")
Result = TypeVar("Result")

OPTION = "tree_options__"  # prefix of tree options among the parameters


def of_one_fit(method: Callable[Concatenate[Model, Given], Result]) -> Callable[Concatenate[Model, Given], Result]:
    """Decorator: a method that reads several attributes of a fitted estimator sees those of one fit.

    `fit` replaces the dict of the attributes as a whole, perhaps in another thread and between two of the reads. The
    method gets an estimator with the dict at the time of the call. Unknown arguments raise an error with the name that
    this library uses.
    """

    @wraps(method)
    def with_one_dict(self: Model, /, *arguments: Given.args, **named: Given.kwargs) -> Result:
        check_names(method, self, named)
        view = object.__new__(type(self))
        view.__dict__ = self.__dict__
        return method(view, *arguments, **named)

    setattr(with_one_dict, CHECKED, True)
    return with_one_dict


class Estimator(BaseEstimator):
    """Base of all estimators: parameters with checked names, model files, exports and the report."""

    # Fields of TreeOptions that the estimator uses; empty: it has no parameter `tree_options`.
    _tree_options_read: ClassVar[tuple[str, ...]] = ()
    # Argument of `family` for the size of its trees, for advice in messages.
    _family_of_size: ClassVar[str] = "family=Trees(max_depth=...)"
    # Kind of the model in files: a key of `radboost.model_file.models.KINDS`.
    _kind_of_file: ClassVar[str]
    # Parameters that predictions need; never user-defined objects, which files do not store.
    _always_stored: ClassVar[tuple[str, ...]] = ("n_jobs",)

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(**others)
        check_methods(cls)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Names of parameters, for scikit-learn's `get_params` and `clone`."""
        return sorted(parameters_of(cls))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters as in scikit-learn; options of trees have names such as "tree_options__max_bins"."""
        parameters: dict[str, Any] = super().get_params(deep)
        options = parameters.get("tree_options")
        if deep and isinstance(options, TreeOptions):
            parameters |= {f"{OPTION}{one.name}": getattr(options, one.name) for one in fields(options)}
        return parameters

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters as in scikit-learn; "tree_options__max_bins" replaces one option of the trees."""
        known = parameters_of(type(self))
        for given, value in parameters.items():
            if given.partition("__")[0] not in known:
                raise ValueError(advice_on_name(type(self), "__init__", given, value))
        options = {given.removeprefix(OPTION): value for given, value in parameters.items() if given.startswith(OPTION)}
        if options:
            parameters = {given: value for given, value in parameters.items() if not given.startswith(OPTION)}
            before = parameters.get("tree_options", self.tree_options)
            if before is not None and not isinstance(before, TreeOptions):
                raise TypeError(f"tree_options must be a radboost.TreeOptions or None; got {before!r}.")
            try:  # a new object: further estimators may have the old one
                parameters["tree_options"] = replace(before or TreeOptions(), **options)
            except TypeError as error:  # an unknown name
                raise ValueError(str(error)) from None
        return super().set_params(**parameters)  # type: ignore[no-any-return]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file for `radboost.load`, without pickle (docs/developers/model-file.md)."""
        save_model(self._view_of_fit(), path)

    def to_dict(self) -> dict[str, Any]:
        """The model as a dict that JSON can write; `from_dict` makes an equal model of it."""
        return to_plain(self._view_of_fit())

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The fitted model that `to_dict` gave, with the same scores to the last bit.

        Nothing in the dict is run, and it is checked like a model file: a damaged or forged one is a `ModelFileError`.
        """
        return from_plain(data, cls.__name__)  # type: ignore[no-any-return]

    def to_onnx(self, *, probabilities: bool = True) -> onnx.ModelProto:
        """The model as an ONNX graph in double precision; needs the extra `radboost[export]`.

        The input "X" is a matrix of doubles, as `rows_for_export` makes it. The outputs are "label", "probabilities"
        (unless `probabilities` is False) and "scores" of a classifier, and "prediction" and "scores" of a regressor.
        """
        return onnx_model(self._exported(), probabilities)

    def to_treelite(self) -> treelite.Model:
        """The model as one of Treelite, in double precision; needs the extra `radboost[export]`.

        It gives the scores of a classifier and the predictions of a regressor, of rows as `rows_for_export` makes them.
        """
        return treelite_model(self._exported())

    def to_c(self, name: str = "model", *, probabilities: bool = True) -> str:
        """The model as the text of one file of C99 that needs no library.

        It has the function `void NAME_scores(const double *x, double *scores)`. A classifier also has
        `int NAME_predict(const double *x)`, the index of the label in `classes_`, and, unless `probabilities` is False,
        `void NAME_probabilities(const double *x, double *probabilities)`. A regressor has
        `double NAME_predict(const double *x)`. Rows are those that `rows_for_export` makes.
        """
        return c_code(self._exported(), name, probabilities)

    def rows_for_export(self, X: Any) -> FloatArray:
        """X as exported models take it: doubles, categories as their index in `categories_`, NaN where missing."""
        model = self._view_of_fit()
        categories = getattr(model.ensemble_, "categories", {})
        accepted = {} if not hasattr(model, "_accepted") else {"accepted": model._accepted}
        rows = dense_rows(read_matrix(model, X, categories, **accepted))
        return np.ascontiguousarray(rows, dtype=np.float64)

    def report(
        self,
        X: Any,
        y: Any,
        path: str | os.PathLike[str] | None = None,
        *,
        X_train: Any = None,
        y_train: Any = None,
        sample_weight: Any = None,
        sources: Any = None,
        row_numbers: Any = None,
        row_numbers_train: Any = None,
        context: Mapping[str, Any] | None = None,
        title: str | None = None,
        overwrite: bool = False,
    ) -> Any:
        """Report on the model's quality on held-out rows, its errors and their causes: an HTML file, or plain values.

        Parameters
        ----------
        X, y : held-out rows and their targets
            Rows that the model has not learned from, and that no setting was chosen by.
        path : name of an HTML file, or None
            None writes nothing. The file needs no network and holds its numbers as JSON.
        X_train, y_train : the rows that the model learned from, or None
            For the bound, fair baselines, copies of training rows among the held-out ones, and wrong labels.
        sample_weight : array or None
            Of the held-out rows.
        sources : array or None
            The source of each held-out row; errors are then shown by source.
        row_numbers, row_numbers_train : arrays of whole numbers, or None
            Where the rows stand in the table they come from, counted from 1; None to count them from 0 as given.
        context : dict of texts, or None
            What else the page should say, such as the name of a data file.
        title : str or None
            The heading; None for the name of the estimator.
        overwrite : bool
            Whether a file that is there may be replaced.

        Returns
        -------
        radboost.report.Report
            The sections of the report as plain values, the same for the same rows.
        """
        options = {
            "X_train": X_train,
            "y_train": y_train,
            "sample_weight": sample_weight,
            "sources": sources,
            "row_numbers": row_numbers,
            "row_numbers_train": row_numbers_train,
            "context": context,
            "title": title,
        }
        reports = import_module("radboost.report")  # above the estimators in the order of imports
        if path is None:
            return reports.build(self, X, y, **options)
        return reports.write(self, X, y, path, overwrite=overwrite, **options)

    def _view_of_fit(self) -> Any:
        """Copy with the attributes of one fit, unaffected by a fit in another thread."""
        model = copy(self)
        check_is_fitted(model)
        return model

    def _exported(self) -> Exported:
        model = self._view_of_fit()
        return Exported(type(model).__name__, model._exported_scores(), model._exported_output())

    def _exported_scores(self) -> ScoreSum:
        """Scores as a sum of trees and products; ExportError if they are not such a sum."""
        refuse_model(type(self).__name__, "its scores are no sum of trees or columns")

    def _exported_output(self) -> ExportedOutput:
        """Outputs that are computed from the scores."""
        refuse_model(type(self).__name__, "its answers are no labels or numbers made of scores")

    def _parameters_of_fit(self) -> dict[str, Any]:
        """Parameters that predictions depend on, with their values in the fit; a file keeps these."""
        return {}

    def _take_given_parameters(self) -> None:
        """Called after the parameters of a loaded model are set."""

    def _take_parameters_of_fit(self) -> None:
        """Called after parameters and labels from a file are set."""

    def _arrays_of_fit(self) -> dict[str, npt.NDArray[Any]]:
        """Other arrays that predictions depend on; a file keeps these as well."""
        return {}

    def _take_arrays_of_fit(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Set attributes from the arrays of `_arrays_of_fit` in a file."""
